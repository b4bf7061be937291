"""Kubernetes objects, as the API server sends them, to facts. Pure; whatever is left out has its zero."""

import re
from collections.abc import Mapping
from typing import Any

from gen.live.facts import CronJob, Deployment, Job, Pod, Slot, Timetable, Trouble, Waiting
from gen.live.podtemplate import kept
from gen.runtime import labels
from gen.runtime.api import TIMETABLE_KEY
from gen.runtime.instant import instant
from gen.runtime.override import ANNOTATION as OVERRIDE
from gen.runtime.serving import containers, is_serving
from gen.runtime.slot import AVAILABLE, PENDING
from gen.runtime.slot import slot as held

Object = dict[str, Any]

_FRACTION = re.compile(r"\.\d+Z$")
_STARTING = ("ContainerCreating", "PodInitializing")  # reasons of containers that do not wait for a person
_LONGEST = 300


def timetable(item: Object) -> Timetable:
    data, notes = item.get("data") or {}, item["metadata"].get("annotations") or {}
    times = [time_of(entry.get("time")) for entry in item["metadata"].get("managedFields") or ()]
    return Timetable(
        _name(item),
        label(item, labels.RESERVATION),
        data.get(TIMETABLE_KEY),
        notes.get(OVERRIDE),
        max(times, default=0),
    )


def deployment(item: Object) -> Deployment:
    """At zero the server leaves numbers of the status out."""
    by, at = _last_writer_of_replicas(item)
    refused = _condition(item, "ReplicaFailure", "True")
    return Deployment(
        _name(item),
        label(item, labels.RESERVATION),
        _at(item, "spec", "selector", "matchLabels", labels.CLASS) or "",
        _at(item, "spec", "replicas") or 0,
        _at(item, "status", "readyReplicas") or 0,
        by,
        at,
        refused=None if refused is None else _trouble(refused),
        refused_at=time_of((refused or {}).get("lastTransitionTime")),
        template=kept(item),
    )


def node_pool(item: Object) -> Deployment:
    """Of a fixed number of nodes."""
    by, at = _last_writer_of_replicas(item)
    return Deployment(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        _at(item, "spec", "replicas") or 0,
        _at(item, "status", "nodes") or 0,
        by,
        at,
        is_nodes=True,
        template=kept(item),
    )


def has_replicas(item: Object) -> bool:
    """Not of a NodePool whose nodes follow pods."""
    return _at(item, "spec", "replicas") is not None


def _last_writer_of_replicas(item: Object) -> tuple[str, int]:
    writers = [
        (time_of(entry.get("time")), entry.get("manager", ""))
        for entry in item["metadata"].get("managedFields") or ()
        if "f:replicas" in (_at(entry, "fieldsV1", "f:spec") or ())
    ]
    at, by = max(writers, default=(0, ""))
    return by, at


def cronjob(item: Object) -> CronJob:
    return CronJob(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        _at(item, "spec", "suspend") is True,
        time_of(item["metadata"].get("creationTimestamp")),
        time_of(_at(item, "status", "lastSuccessfulTime")),
    )


def job(item: Object) -> Job:
    failure = _condition(item, "Failed", "True")
    return Job(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        bool(_at(item, "status", "active")),
        None if failure is None else _trouble(failure),
    )


def pod(item: Object) -> Pod:
    return Pod(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        _at(item, "status", "phase") or "",
        max((one.get("restartCount", 0) for one in containers(item)), default=0),
        _why_not(item),
        is_serving(item),
    )


def waiting(item: Object) -> Waiting:
    """Of a placeholder that is not ready."""
    is_pending = _at(item, "status", "phase") == "Pending"
    ready = _condition(item, "Ready", "False") or {}
    began = item["metadata"].get("creationTimestamp") if is_pending else ready.get("lastTransitionTime")
    return Waiting(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        time_of(began),
        _why_not(item),
        is_pending,
    )


def is_unready(item: Object) -> bool:
    return _condition(item, "Ready", "False") is not None


def slot(item: Object) -> Slot:
    """A Reservation that the scheduler has not looked at has no status at all."""
    status = item.get("status") or {}
    conditions = status.get("conditions") or ()
    not_so = next((one for one in conditions if one.get("status") == "False"), None)
    is_seen = bool(conditions or status.get("nodeName") or status.get("phase") not in (None, PENDING))
    return Slot(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        bool(label(item, labels.STANDING)),
        held(item),
        is_seen,
        None if not_so is None else _trouble(not_so),
        time_of((not_so or {}).get("lastTransitionTime")),
    )


def has_no_policy(item: Object) -> bool:
    """Of a Reservation that holds something."""
    return _at(item, "status", "phase") == AVAILABLE and not _at(item, "spec", "allocatePolicy")


def label(item: Object, key: str) -> str:
    value = (item["metadata"].get("labels") or {}).get(key, "")
    return value if isinstance(value, str) else ""


def _why_not(item: Object) -> Trouble | None:
    """What the kubelet says of a container is nearer to the cause than what the scheduler said before."""
    for one in containers(item):
        state = _at(one, "state", "waiting")
        if state and state.get("reason") not in (None, *_STARTING):
            return _trouble(state)
    unscheduled = _condition(item, "PodScheduled", "False")
    return None if unscheduled is None else _trouble(unscheduled)


def _condition(item: Object, kind: str, value: str) -> Object | None:
    for one in _at(item, "status", "conditions") or ():
        if (one.get("type"), one.get("status")) == (kind, value):
            found: Object = one
            return found
    return None


def _trouble(said: Object) -> Trouble:
    message = " ".join(str(said.get("message") or "").split())
    return Trouble(str(said.get("reason") or "Unknown"), message[:_LONGEST])


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])


def _at(tree: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def time_of(text: object) -> int:
    """Seconds; of a time with a fraction, its full seconds. 0 for what is no time."""
    try:
        return instant(_FRACTION.sub("Z", text)) if isinstance(text, str) else 0
    except ValueError:
        return 0
