"""What was read of a site in one cluster, as values, and how API objects become these values.

Instants are in seconds, 0 where unknown.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from berth.core import labels
from berth.core.holders import holder_of_object
from berth.core.jsonvalues import TimetableError, instant_or_none, parse_instant, parse_mapping, part
from berth.core.labels import BERTH_FIELD_MANAGERS, OCCURRENCE
from berth.core.leases import PoolLease
from berth.core.objectreading import is_job_finished, last_written
from berth.core.objects import CAPACITY_BUFFER, DEPLOYMENT, NODE_POOL, ObjectKind, is_terminating
from berth.core.poolobjects import PoolObject, read_pool
from berth.core.record import RECORD_KEY, OccurrenceRecord
from berth.core.sessions import Recognition, Session
from berth.core.state import TimetableObject
from berth.core.timetable import (
    TIMETABLE_KEY,
    VERSION,
    Override,
    Timetable,
    TimetablePool,
    parse_overrides,
    parse_timetable,
    unknown_classes,
)
from berth.findings import LiveFinding
from berth.live.expected import template_json
from berth.live.kubeobject import ClusterError, KubeObject, value_at
from berth.live.overbooking import OverbookedNode
from berth.manifests.rbac import Access
from berth.plugins.numbers.fieldpatches import field_manager
from berth.plugins.rehearsals.obstacles import containers
from berth.plugins.rehearsals.rehearsalrecord import parse_rehearsals
from berth.plugins.slots.slots import PENDING, Slot, parse_slot

SCALER = "scaler"  # the container that reads and writes; the main one has the name of its role
RESTART_GRACE = 60  # seconds for which a scaler that is restarted in place still counts as running


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

    def finding(self, code: str, message: str, fix: str, subject: str = "") -> LiveFinding:
        return LiveFinding(code, self.cluster, subject, message, fix)


class WaitReason(NamedTuple):
    """Why a pod does not run, from the scheduler or the kubelet. `reason` is one word."""

    reason: str
    message: str

    @property
    def sentence(self) -> str:
        text = f"{self.reason}: {self.message}".removesuffix(": ")
        return text if text.endswith(".") else f"{text}."

    @property
    def lacks_node(self) -> bool:
        return self.reason in ("Unschedulable", "SchedulingGated")


class LivePool(NamedTuple):
    """The Deployment, CapacityBuffer or NodePool of a pool, or the object of somebody else.

    `scaled_by` is the field manager that last wrote replicas, empty if the API server does not tell: it
    tells no time of a write to the scale. `refused`: why no more pods are created, since `refused_at`.
    `short_since`: when it became unavailable. `template` is JSON. `tells_ready`: somebody tells which of its
    seats are ready.
    """

    name: str
    reservation: str
    resource_class: str
    replicas: float  # or another number, in the units of the pool
    ready: int
    scaled_by: str
    kind: ObjectKind = DEPLOYMENT
    refused: WaitReason | None = None
    refused_at: int = 0
    template: str = ""
    short_since: int = 0
    tells_ready: bool = True
    is_mislabeled: bool = False  # its labels do not say which reservation it belongs to

    @classmethod
    def of(cls, found: PoolObject, reservation: str, scaled_by: str) -> "LivePool":
        kind, name = found.number.object_kind, found.ref.name
        pool = cls(name, reservation, found.resource_class, found.replicas, found.ready, scaled_by, kind)
        return pool._replace(tells_ready=found.tells_ready)

    @property
    def is_scaled_by_others(self) -> bool:
        return bool(self.scaled_by) and self.scaled_by not in BERTH_FIELD_MANAGERS


class LiveNumber(NamedTuple):
    """A number of somebody else that a reservation asks for or holds.

    Without an `object`, `problem` says in half a sentence what is missing, and what to do; or `unread` why
    nobody knows.
    """

    reservation: str
    pool: TimetablePool
    object: PoolObject | None = None  # with the note about it while Berth holds it
    problem: tuple[str, str] | None = None
    unread: str = ""

    @property
    def is_held(self) -> bool:
        return self.object is not None and self.object.held is not None

    @property
    def live_pool(self) -> LivePool | None:
        """The object, as those of other pools."""
        if self.object is None:
            return None
        scaled_by = field_manager(self.object.tree or {}, self.object.number.path, ())
        found = LivePool.of(self.object, self.reservation, scaled_by)
        return found._replace(resource_class=self.pool.resource_class)


class WaitingPlaceholder(NamedTuple):
    """A placeholder that is not ready: Pending, or no longer running on its node."""

    reservation: str
    resource_class: str
    since: int
    trouble: WaitReason | None
    is_pending: bool = True
    name: str = ""
    node: str = ""
    images: tuple[str, ...] = ()  # that have to be on the node before it is ready


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

    def serves_at(self, now: int) -> bool:
        return self.down_since is None or now - self.down_since < RESTART_GRACE


class LiveRecord(NamedTuple):
    """The record of a reservation, last written at `changed`, and its rehearsals."""

    reservation: str
    changed: int
    rehearsals: tuple[OccurrenceRecord, ...] = ()


class IgnoredConfigMap(NamedTuple):
    """A ConfigMap that has the labels of a timetable or record, and not the name."""

    name: str
    reservation: str
    role: str


class LiveGrants(NamedTuple):
    """Who may do what in some namespaces.

    `roles` are by namespace and name, `bindings` too: the role, and the accounts with their namespaces.
    `unread` are namespaces in which they cannot be listed, `missing` those that do not exist.
    """

    roles: Mapping[tuple[str, str], frozenset[Access]] = {}
    bindings: Mapping[tuple[str, str], tuple[str, frozenset[tuple[str, str]]]] = {}
    unread: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()


class LiveJob(NamedTuple):
    name: str
    reservation: str
    role: str
    active: bool
    failure: WaitReason | None  # of a Job that has failed for good
    created: int = 0
    is_over: bool = False


class LiveCronJob(NamedTuple):
    name: str
    reservation: str
    role: str
    suspended: bool
    created: int
    last_success: int


class LiveTimetable(NamedTuple):
    """The timetable of a reservation, last written at `changed`.

    `read` is None if there is none or it is `malformed`. `bad_override` describes an invalid override;
    `overrides` are valid.
    """

    reservation: str = ""
    read: Timetable | None = None
    malformed: str = ""
    is_newer: bool = False  # than what this version of Berth can read
    overrides: Mapping[str, Override] = {}
    bad_override: str = ""
    changed: int = 0


NO_TIMETABLE = LiveTimetable()


class LiveSlot(NamedTuple):
    """A slot.

    `trouble`: why it waits or has ended, from the scheduler, since `changed`. `is_seen`: the scheduler has
    processed it.
    """

    reservation: str
    resource_class: str
    is_persistent: bool
    held: Slot
    is_seen: bool
    trouble: WaitReason | None
    changed: int
    node: str = ""
    size: Mapping[str, str] = {}  # what it holds


class ClusterFacts(NamedTuple):
    """What was read in a cluster.

    `code` are the names of the ConfigMaps with in-cluster code. `sessions` are the active ones, or the reason
    why they are unknown. `slots` is None if the site says that there is no Koordinator, or if they
    cannot be listed.
    """

    timetables: tuple[LiveTimetable, ...] = ()
    pools: tuple[LivePool, ...] = ()  # objects of Berth that hold seats
    cronjobs: tuple[LiveCronJob, ...] = ()
    jobs: tuple[LiveJob, ...] = ()
    pods: tuple[LivePod, ...] = ()
    waiting: tuple[WaitingPlaceholder, ...] = ()
    code: frozenset[str] = frozenset()
    sessions: Mapping[Recognition, tuple[Session, ...] | str] = {}
    slots: tuple[LiveSlot, ...] | None = None
    slots_refused: ClusterError | None = None  # why they cannot be listed
    unread: Mapping[str, str] = {}  # Reservations of anybody that the scheduler cannot parse, and why
    unset: tuple[str, ...] = ()  # Reservations of others, by name, that hold something by no allocatePolicy
    # What could not be made, by kind and name of the maker, and when; none if Events cannot be listed.
    refusals: Mapping[tuple[str, str], tuple[str, int]] = {}
    by_namespace: Mapping[str, Mapping[str, int]] = {}  # CronJobs and Deployments, in the whole cluster
    overbooked: tuple[OverbookedNode, ...] = ()  # with slots; none if nodes or pods cannot be listed
    records: tuple[LiveRecord, ...] = ()
    leases: Mapping[str, PoolLease] = {}  # by name
    ignored: tuple[IgnoredConfigMap, ...] = ()
    grants: LiveGrants = LiveGrants()
    other_sites: tuple[str, ...] = ()  # that have CronJobs in the namespace
    numbers: tuple[LiveNumber, ...] = ()  # of somebody else

    @property
    def readable(self) -> tuple[Timetable, ...]:
        """The timetables that could be parsed."""
        return tuple(timetable.read for timetable in self.timetables if timetable.read)


_FRACTION = re.compile(r"\.\d+Z$")
_STARTING = ("ContainerCreating", "PodInitializing")  # reasons of containers that do not wait for a person
_MAX_MESSAGE = 300
_SINCE = "lastTransitionTime"
_KUBECTL_APPLY = "kubectl-client-side-apply"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # by it, as JSON


def live_timetable(found: TimetableObject) -> LiveTimetable:
    read = _read_timetable(found.text, found.override)
    return read._replace(reservation=found.ref.reservation, changed=found.changed)


@lru_cache(maxsize=4096)
def _read_timetable(text: str, override: str) -> LiveTimetable:
    """Read a timetable and its overrides. Cached for `--watch`."""
    found = LiveTimetable()
    try:
        found = found._replace(overrides=parse_overrides(override))
    except TimetableError as error:
        found = found._replace(bad_override=str(error))
    try:
        read = parse_timetable(text)
    except TimetableError as error:
        return found._replace(malformed=str(error), is_newer=_is_newer(text))
    unknown = unknown_classes(found.overrides, [pool.resource_class for pool in read.pools])
    return found._replace(read=read, bad_override=found.bad_override or unknown)


def _is_newer(text: str) -> bool:
    try:
        version = parse_mapping(text, TIMETABLE_KEY).get("version")
    except TimetableError:
        return False
    return isinstance(version, int) and version > VERSION


def parse_live_record(item: KubeObject) -> LiveRecord:
    """Parse the ConfigMap of a record."""
    name = label(item, labels.RESERVATION)
    records = parse_rehearsals(str((item.get("data") or {}).get(RECORD_KEY, "")))
    rehearsals = tuple(record for record in records if record.occurrence.startswith(f"{name}/"))
    return LiveRecord(name, last_written(item), rehearsals)


def parse_ignored(item: KubeObject) -> IgnoredConfigMap:
    role = labels.RECORD if label(item, labels.ROLE) == labels.RECORD else labels.TIMETABLE
    return IgnoredConfigMap(_name(item), label(item, labels.RESERVATION), role)


def parse_deployment(item: KubeObject) -> LivePool:
    refused = _condition(item, "ReplicaFailure", "True")
    return _pool(DEPLOYMENT, item)._replace(
        refused=_wait_reason(refused),
        refused_at=_since(refused),
        short_since=_since(_condition(item, "Available", "False")),
    )


def parse_node_pool(item: KubeObject) -> LivePool:
    """Parse a NodePool with a fixed number of nodes."""
    return _pool(NODE_POOL, item)._replace(resource_class=label(item, labels.CLASS))


def parse_buffer(item: KubeObject, templates: Mapping[str, str]) -> LivePool:
    """Parse a CapacityBuffer. `templates` are those of the PodTemplates, by name.

    A condition may be of a moment ago, when the number was another one.
    """
    pool, unready = _pool(CAPACITY_BUFFER, item), _condition(item, "Provisioning", "False")
    refused = _condition(item, "ReadyForProvisioning", "False") or _condition(item, "LimitedByQuotas", "True")
    provisioning = _condition(item, "Provisioning", "True") or unready
    observed = (provisioning or {}).get("observedGeneration")
    is_stale = observed not in (None, item["metadata"].get("generation"))
    if refused is None and (provisioning is None or is_stale):
        written = max((str(entry.get("time") or "") for entry in _entries_of_replicas(item)), default="")
        refused = {"reason": "NotSeen", "message": "the autoscaler has not looked at it", _SINCE: written}
    return pool._replace(
        refused=_wait_reason(refused),
        refused_at=_since(refused),
        template=templates.get(pool.name, ""),
        short_since=_since(unready),
        tells_ready=pool.tells_ready and not is_stale,
    )


def _pool(kind: ObjectKind, item: KubeObject) -> LivePool:
    """Parse what all kinds have in common, as the cluster does."""
    found = read_pool(holder_of_object(kind.name, item["metadata"]["name"]), item)
    pool = LivePool.of(found, label(item, labels.RESERVATION), _writer_of_replicas(item))
    return pool._replace(template=template_json(item))


def _writer_of_replicas(item: KubeObject) -> str:
    """Return the owner of the replicas. A write to the scale takes them from all others.

    `kubectl apply` also owns the default that the API server set when it created an object without replicas.
    Then nobody has scaled it.
    """
    applied = (item["metadata"].get("annotations") or {}).get(_LAST_APPLIED, "")
    writers = [
        (entry.get("subresource") == "scale", seconds_of(entry.get("time")), str(entry.get("manager", "")))
        for entry in _entries_of_replicas(item)
        if entry.get("manager") != _KUBECTL_APPLY or '"replicas":' in applied
    ]
    return max(writers, default=(False, 0, ""))[2]


def _entries_of_replicas(item: KubeObject) -> Iterator[KubeObject]:
    """Yield the managed fields of the owners of the replicas."""
    for entry in item["metadata"].get("managedFields") or ():
        if "f:replicas" in (value_at(entry, "fieldsV1", "f:spec") or ()):
            yield entry


def parse_cronjob(item: KubeObject) -> LiveCronJob:
    return LiveCronJob(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        value_at(item, "spec", "suspend") is True,
        seconds_of(item["metadata"].get("creationTimestamp")),
        seconds_of(value_at(item, "status", "lastSuccessfulTime")),
    )


def parse_job(item: KubeObject) -> LiveJob:
    return LiveJob(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        bool(value_at(item, "status", "active")),
        _wait_reason(_condition(item, "Failed", "True")),
        seconds_of(item["metadata"].get("creationTimestamp")),
        is_job_finished(item),
    )


def parse_refusal(event: KubeObject) -> tuple[str, int]:
    """Return why an object could not make what it makes, such as the pod of a Job, and when."""
    times = event.get("lastTimestamp"), event.get("eventTime"), value_at(event, "series", "lastObservedTime")
    message = _one_line(event.get("message")).rpartition("Error creating: ")[2].removesuffix(".")
    return message, max(map(seconds_of, times))


def parse_pod(item: KubeObject) -> LivePod:
    return LivePod(
        _name(item),
        label(item, labels.RESERVATION),
        label(item, labels.ROLE),
        value_at(item, "status", "phase") or "",
        max((container.get("restartCount", 0) for container in containers(item)), default=0),
        _why_not(item),
        _down_since(item),
    )


def _down_since(pod: KubeObject) -> int | None:
    """Return since when the scaler of the pod has been down, None while the pod serves.

    Return 0 for a pod that does not serve and will not go on: only the scaler is restarted in place, and only
    if it had worked for a while. One that could not be started at all has started at the epoch.
    """
    if part(pod, "status").get("phase") != "Running" or is_terminating(pod):
        return 0
    running = {status.get("name") for status in containers(pod) if "running" in part(status, "state")}
    if {OCCURRENCE, SCALER} <= running:
        return None
    scaler = next((container for container in containers(pod) if container.get("name") == SCALER), {})
    ended = part(scaler, "state", "terminated") or part(scaler, "lastState", "terminated")
    since, until = (instant_or_none(ended.get(key)) for key in ("startedAt", "finishedAt"))
    return until if OCCURRENCE in running and since and until and until - since >= RESTART_GRACE else 0


def parse_waiting(item: KubeObject) -> WaitingPlaceholder:
    """Parse a placeholder that is not ready."""
    is_pending = value_at(item, "status", "phase") == "Pending"
    created = seconds_of(item["metadata"].get("creationTimestamp"))
    return WaitingPlaceholder(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        created if is_pending else _since(_condition(item, "Ready", "False")),
        _why_not(item),
        is_pending,
        _name(item),
        value_at(item, "spec", "nodeName") or "",
        _warmed(item),
    )


def _warmed(item: KubeObject) -> tuple[str, ...]:
    """Return the images that a placeholder mounts or runs first, so that it waits for them."""
    spec = item["spec"]
    mounted = {
        mount["name"] for each in spec.get("containers") or () for mount in each.get("volumeMounts") or ()
    }
    volumes = [
        volume for volume in spec.get("volumes") or () if volume["name"] in mounted and "image" in volume
    ]
    images = [volume["image"]["reference"] for volume in volumes]
    return *images, *(container["image"] for container in spec.get("initContainers") or ())


def is_unready(item: KubeObject) -> bool:
    return _condition(item, "Ready", "False") is not None


def parse_live_slot(item: KubeObject) -> LiveSlot:
    """Parse a slot. Without a status, the scheduler has not processed it."""
    status = item.get("status") or {}
    conditions = status.get("conditions") or ()
    not_so = next((condition for condition in conditions if condition.get("status") == "False"), None)
    is_seen = bool(conditions or status.get("nodeName") or status.get("phase") not in (None, PENDING))
    return LiveSlot(
        label(item, labels.RESERVATION),
        label(item, labels.CLASS),
        bool(label(item, labels.PERSISTENT)),
        parse_slot(item),
        is_seen,
        _wait_reason(not_so),
        _since(not_so),
        str(status.get("nodeName") or ""),
        status.get("allocatable") or {},
    )


def label(item: KubeObject, key: str) -> str:
    value = (item["metadata"].get("labels") or {}).get(key, "")
    return value if isinstance(value, str) else ""


def _why_not(item: KubeObject) -> WaitReason | None:
    """Return why a pod does not run. The kubelet's reason is preferred to the scheduler's."""
    for container in containers(item):
        state = value_at(container, "state", "waiting")
        if state and state.get("reason") not in (None, *_STARTING):
            return _wait_reason(state)
    return _wait_reason(_condition(item, "PodScheduled", "False"))


def _condition(item: KubeObject, kind: str, value: str) -> KubeObject | None:
    for condition in value_at(item, "status", "conditions") or ():
        if (condition.get("type"), condition.get("status")) == (kind, value):
            matching: KubeObject = condition
            return matching
    return None


def _wait_reason(state: KubeObject | None) -> WaitReason | None:
    if state is None:
        return None
    return WaitReason(str(state.get("reason") or "Unknown"), _one_line(state.get("message")))


def _one_line(message: object) -> str:
    return " ".join(str(message or "").split())[:_MAX_MESSAGE]


def _since(condition: KubeObject | None) -> int:
    return seconds_of((condition or {}).get(_SINCE))


def _name(item: KubeObject) -> str:
    return str(item["metadata"]["name"])


def seconds_of(text: object) -> int:
    """Parse a time; fractions are dropped. 0 if it is not a time."""
    try:
        return parse_instant(_FRACTION.sub("Z", text)) if isinstance(text, str) else 0
    except ValueError:
        return 0
