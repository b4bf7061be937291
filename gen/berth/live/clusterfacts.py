"""What was read of a site in one cluster, as values, and how API objects become these values.

Instants are in seconds, 0 where unknown.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from berth.core import labels
from berth.core.instants import parse_instant
from berth.core.objects import containers, pod_down_since
from berth.core.sessions import Recognition, Session
from berth.core.slots import AVAILABLE, PENDING
from berth.core.slots import Slot as Held
from berth.core.slots import parse_slot as held
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY
from berth.live.expected import template_json
from berth.runtime.apiclient import BERTH_FIELD_MANAGERS


class ClusterLocation(NamedTuple):
    """A cluster of the site, its namespace, and its kubeconfig context (None inside the cluster)."""

    cluster: str
    namespace: str
    context: str | None

    def kubectl(self, command: str, *, namespaced: bool = True) -> str:
        """Return a command that a person can paste."""
        context = f" --context={self.context}" if self.context else ""
        namespace = f" --namespace={self.namespace}" if namespaced else ""
        return f"kubectl{context}{namespace} {command}"


class WaitReason(NamedTuple):
    """Why a pod does not run, from the scheduler or the kubelet. `reason` is one word."""

    reason: str
    message: str


class LivePool(NamedTuple):
    """The Deployment or NodePool of a pool.

    `scaled_by` is the field manager that last wrote replicas, empty if the API server does not tell: it
    tells no time of a write to the scale. `refused`: why no more pods are created, since `refused_at`.
    `short_since`: when it became unavailable. `template` is JSON.
    """

    name: str
    reservation: str
    resource_class: str
    replicas: int
    ready: int
    scaled_by: str
    is_nodes: bool = False
    refused: WaitReason | None = None
    refused_at: int = 0
    template: str = ""
    short_since: int = 0

    @property
    def is_scaled_by_others(self) -> bool:
        return bool(self.scaled_by) and self.scaled_by not in BERTH_FIELD_MANAGERS


class WaitingPlaceholder(NamedTuple):
    """A placeholder that is not ready: Pending, or no longer running on its node."""

    reservation: str
    resource_class: str
    since: int
    trouble: WaitReason | None
    is_pending: bool = True
    name: str = ""
    node: str = ""


class LivePod(NamedTuple):
    """A pod of Berth that is not a placeholder and has not succeeded.

    `down_since` is None while it serves.
    """

    name: str
    reservation: str
    role: str
    phase: str
    restarts: int
    trouble: WaitReason | None
    down_since: int | None


class LiveJob(NamedTuple):
    name: str
    reservation: str
    role: str
    active: bool
    failure: WaitReason | None  # of a Job that has failed for good
    created: int = 0
    is_over: bool = False


class CreationRefusal(NamedTuple):
    """An Event: the object `name` could not make what it makes, such as the pod of a Job."""

    kind: str
    name: str
    message: str
    at: int


class LiveCronJob(NamedTuple):
    name: str
    reservation: str
    role: str
    suspended: bool
    created: int
    last_success: int


class LiveTimetable(NamedTuple):
    """The ConfigMap of a timetable, last written at `changed`. `text` and `override` are None if missing."""

    name: str
    reservation: str
    text: str | None
    override: str | None
    changed: int


class LiveSlot(NamedTuple):
    """A slot.

    `trouble`: why it waits or has ended, from the scheduler, since `changed`. `is_seen`: the scheduler has
    processed it.
    """

    reservation: str
    resource_class: str
    is_persistent: bool
    held: Held
    is_seen: bool
    trouble: WaitReason | None
    changed: int


class UnreadableReservation(NamedTuple):
    """A Reservation of anybody that Koordinator's scheduler cannot parse."""

    name: str
    why: str


class ListRefused(NamedTuple):
    """Reservations could not be listed. `status` is the HTTP status, 0 without one."""

    status: int
    message: str


class ClusterFacts(NamedTuple):
    """What was read in a cluster.

    `code` are the names of the ConfigMaps with in-cluster code. `sessions` are the active ones, or the reason
    why they are unknown. `slots` is None if the site says that there is no Koordinator.
    """

    timetables: tuple[LiveTimetable, ...] = ()
    deployments: tuple[LivePool, ...] = ()
    cronjobs: tuple[LiveCronJob, ...] = ()
    jobs: tuple[LiveJob, ...] = ()
    pods: tuple[LivePod, ...] = ()
    waiting: tuple[WaitingPlaceholder, ...] = ()
    code: frozenset[str] = frozenset()
    sessions: Mapping[Recognition, tuple[Session, ...] | str] = {}
    slots: tuple[LiveSlot, ...] | ListRefused | None = None
    unread: tuple[UnreadableReservation, ...] = ()
    unset: tuple[str, ...] = ()  # Reservations of others, by name, that hold something by no allocatePolicy
    refusals: tuple[CreationRefusal, ...] = ()  # none if Events cannot be listed
    by_namespace: Mapping[str, Mapping[str, int]] = {}  # CronJobs and Deployments, in the whole cluster


KubeObject = dict[str, Any]

_FRACTION = re.compile(r"\.\d+Z$")
_STARTING = ("ContainerCreating", "PodInitializing")  # reasons of containers that do not wait for a person
_MAX_MESSAGE = 300


def parse_live_timetable(item: KubeObject) -> LiveTimetable:
    """Parse the ConfigMap of a timetable."""
    data, notes = item.get("data") or {}, item["metadata"].get("annotations") or {}
    times = [seconds_of(entry.get("time")) for entry in item["metadata"].get("managedFields") or ()]
    return LiveTimetable(
        _name(item),
        label(item, labels.RESERVATION),
        data.get(TIMETABLE_KEY),
        notes.get(OVERRIDE),
        max(times, default=0),
    )


def parse_deployment(item: KubeObject) -> LivePool:
    """Parse a Deployment. The server leaves out numbers that are zero."""
    refused = _condition(item, "ReplicaFailure", "True")
    unavailable = _condition(item, "Available", "False") or {}
    return LivePool(
        _name(item),
        label(item, labels.RESERVATION),
        _at(item, "spec", "selector", "matchLabels", labels.CLASS) or "",
        _at(item, "spec", "replicas") or 0,
        _at(item, "status", "readyReplicas") or 0,
        _writer_of_replicas(item),
        refused=None if refused is None else _wait_reason(refused),
        refused_at=seconds_of((refused or {}).get("lastTransitionTime")),
        template=template_json(item),
        short_since=seconds_of(unavailable.get("lastTransitionTime")),
    )


def parse_node_pool(item: KubeObject) -> LivePool:
    """Parse a NodePool with a fixed number of nodes."""
    return LivePool(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        _at(item, "spec", "replicas") or 0,
        _at(item, "status", "nodes") or 0,
        _writer_of_replicas(item),
        is_nodes=True,
        template=template_json(item),
    )


def has_replicas(item: KubeObject) -> bool:
    """Return whether a NodePool has a fixed number of nodes."""
    return _at(item, "spec", "replicas") is not None


def _writer_of_replicas(item: KubeObject) -> str:
    """Return the owner of the replicas. A write to the scale takes them from all others."""
    writers = [
        (entry.get("subresource") == "scale", seconds_of(entry.get("time")), str(entry.get("manager", "")))
        for entry in item["metadata"].get("managedFields") or ()
        if "f:replicas" in (_at(entry, "fieldsV1", "f:spec") or ())
    ]
    return max(writers, default=(False, 0, ""))[2]


def parse_cronjob(item: KubeObject) -> LiveCronJob:
    return LiveCronJob(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        _at(item, "spec", "suspend") is True,
        seconds_of(item["metadata"].get("creationTimestamp")),
        seconds_of(_at(item, "status", "lastSuccessfulTime")),
    )


def parse_job(item: KubeObject) -> LiveJob:
    failure = _condition(item, "Failed", "True")
    return LiveJob(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        bool(_at(item, "status", "active")),
        None if failure is None else _wait_reason(failure),
        seconds_of(item["metadata"].get("creationTimestamp")),
        failure is not None or _condition(item, "Complete", "True") is not None,
    )


def parse_refusal(item: KubeObject) -> CreationRefusal:
    """Parse an Event of the reason FailedCreate."""
    times = [item.get("lastTimestamp"), item.get("eventTime"), _at(item, "series", "lastObservedTime")]
    return CreationRefusal(
        _at(item, "involvedObject", "kind") or "",
        _at(item, "involvedObject", "name") or "",
        _wait_reason(item).message.rpartition("Error creating: ")[2].removesuffix("."),
        max(map(seconds_of, times)),
    )


def parse_pod(item: KubeObject) -> LivePod:
    return LivePod(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        _at(item, "status", "phase") or "",
        max((one.get("restartCount", 0) for one in containers(item)), default=0),
        _why_not(item),
        pod_down_since(item),
    )


def parse_waiting(item: KubeObject) -> WaitingPlaceholder:
    """Parse a placeholder that is not ready."""
    is_pending = _at(item, "status", "phase") == "Pending"
    ready = _condition(item, "Ready", "False") or {}
    began = item["metadata"].get("creationTimestamp") if is_pending else ready.get("lastTransitionTime")
    return WaitingPlaceholder(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        seconds_of(began),
        _why_not(item),
        is_pending,
        _name(item),
        _at(item, "spec", "nodeName") or "",
    )


def is_unready(item: KubeObject) -> bool:
    return _condition(item, "Ready", "False") is not None


def parse_live_slot(item: KubeObject) -> LiveSlot:
    """Parse a slot. Without a status, the scheduler has not processed it."""
    status = item.get("status") or {}
    conditions = status.get("conditions") or ()
    not_so = next((one for one in conditions if one.get("status") == "False"), None)
    is_seen = bool(conditions or status.get("nodeName") or status.get("phase") not in (None, PENDING))
    return LiveSlot(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        bool(label(item, labels.PERSISTENT)),
        held(item),
        is_seen,
        None if not_so is None else _wait_reason(not_so),
        seconds_of((not_so or {}).get("lastTransitionTime")),
    )


def has_no_policy(item: KubeObject) -> bool:
    """Return whether a Reservation with resources has no allocatePolicy."""
    return _at(item, "status", "phase") == AVAILABLE and not _at(item, "spec", "allocatePolicy")


def label(item: KubeObject, key: str) -> str:
    value = (item["metadata"].get("labels") or {}).get(key, "")
    return value if isinstance(value, str) else ""


def _why_not(item: KubeObject) -> WaitReason | None:
    """Return why a pod does not run. The kubelet's reason is preferred to the scheduler's."""
    for one in containers(item):
        state = _at(one, "state", "waiting")
        if state and state.get("reason") not in (None, *_STARTING):
            return _wait_reason(state)
    unscheduled = _condition(item, "PodScheduled", "False")
    return None if unscheduled is None else _wait_reason(unscheduled)


def _condition(item: KubeObject, kind: str, value: str) -> KubeObject | None:
    for one in _at(item, "status", "conditions") or ():
        if (one.get("type"), one.get("status")) == (kind, value):
            found: KubeObject = one
            return found
    return None


def _wait_reason(said: KubeObject) -> WaitReason:
    message = " ".join(str(said.get("message") or "").split())
    return WaitReason(str(said.get("reason") or "Unknown"), message[:_MAX_MESSAGE])


def _name(item: KubeObject) -> str:
    return str(item["metadata"]["name"])


def _at(tree: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def seconds_of(text: object) -> int:
    """Parse a time; fractions are dropped. 0 if it is not a time."""
    try:
        return parse_instant(_FRACTION.sub("Z", text)) if isinstance(text, str) else 0
    except ValueError:
        return 0
