"""The state of a site as the sweep reads it from the API server, grouped by reservation.

Only objects with the labels of the site and of a reservation are included: the sweep changes nothing else.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from berth.core.instants import parse_instant
from berth.core.inventory import KEY, Inventory, PersistentSlots
from berth.core.inventory import parse_inventory as read_inventory
from berth.core.jsonvalues import Tree
from berth.core.labels import AFFINITY, CLASS, CODE, OCCURRENCE, PERSISTENT, RECORD, RESERVATION, ROLE, SITE
from berth.core.labels import SLOT as SLOT_ROLE
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NODE_POOL,
    POD,
    SLOT,
    ObjectKind,
    containers,
    is_pod_starting,
    is_terminating,
    pod_down_since,
    serves_at,
)
from berth.core.slots import AVAILABLE, Slot, parse_slot
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY

T = TypeVar("T")
ORPHANED_SINCE = "berth.dev/gone-since"
IMAGE_PULL_REASONS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
)


class ObjectRef(NamedTuple):
    """Identity and metadata of an object of any kind."""

    kind: str
    name: str
    uid: str
    reservation: str
    created: int
    is_terminating: bool = False  # it has been deleted, and is not away yet
    orphaned_since: str = ""  # what the sweep has written on it


class PoolObject(NamedTuple):
    """A Deployment, or a NodePool with a fixed number of nodes."""

    ref: ObjectRef
    replicas: int
    ready: int
    resource_version: str

    def is_newer_than(self, other: "PoolObject") -> bool:
        """Return whether it was read later; False if the versions do not tell."""
        versions = self.resource_version, other.resource_version
        return all(one.isdigit() for one in versions) and int(versions[0]) > int(versions[1])

    resource_class: str = ""  # as its selector says; a NodePool has none


class JobObject(NamedTuple):
    ref: ObjectRef
    is_finished: bool
    mounts: frozenset[str] = frozenset()  # names of ConfigMaps


class CronJobObject(NamedTuple):
    ref: ObjectRef
    template: Tree  # of its Jobs

    @property
    def account(self) -> str:
        """The ServiceAccount of its pods."""
        return str(_at(self.template, "spec", "template", "spec").get("serviceAccountName", ""))


class SweepCronJob(NamedTuple):
    """A CronJob of no reservation."""

    template: Tree


class CodeMap(NamedTuple):
    """An immutable ConfigMap with the code of some release."""

    ref: ObjectRef


class ImagePullFailure(NamedTuple):
    """Why a container does not start."""

    image: str
    reason: str
    message: str

    def said(self) -> str:
        """Return the failure as text."""
        return f"its image {self.image} cannot be pulled: {self.reason}: {self.message}"


class PodObject(NamedTuple):
    ref: ObjectRef
    owner: str  # the name of what made it
    owner_uid: str
    down_since: int | None  # None: it serves
    is_starting: bool
    trouble: ImagePullFailure | None
    account: str = ""  # its ServiceAccount

    def serves(self, now: int) -> bool:
        return serves_at(self.down_since, now)


class TimetableObject(NamedTuple):
    """A ConfigMap with a timetable."""

    ref: ObjectRef
    text: str
    override: str
    changed: int  # when anybody last wrote to it


class SlotObject(NamedTuple):
    """A slot and its metadata."""

    ref: ObjectRef
    resource_class: str
    is_persistent: bool  # git holds it, and no window
    slot: Slot

    @property
    def is_held(self) -> bool:
        """Whether it holds a seat for a window."""
        return self.slot.phase == AVAILABLE and not self.is_persistent and not self.slot.is_terminating


StateObject = (
    TimetableObject
    | Inventory
    | CodeMap
    | PoolObject
    | CronJobObject
    | SweepCronJob
    | JobObject
    | PodObject
    | ObjectRef
    | SlotObject
)


class SiteState(NamedTuple):
    """Everything the sweep has read of a site."""

    site: str
    sources: tuple[TimetableObject, ...] = ()
    deployments: tuple[PoolObject, ...] = ()
    cronjobs: tuple[CronJobObject, ...] = ()
    jobs: tuple[JobObject, ...] = ()
    pods: tuple[PodObject, ...] = ()  # of occurrences
    rights: tuple[ObjectRef, ...] = ()  # accounts, Roles, RoleBindings, records, and what only people read
    prunes: bool = False  # nobody else removes what has left git
    inventory: frozenset[str] | None = None  # the reservations that git has; None: nobody knows
    persistent: PersistentSlots | None = None  # the slots that git has; None: nobody knows
    unread: frozenset[str] = frozenset()  # kinds of which the list is missing
    slots: tuple[SlotObject, ...] | None = None  # None: nobody looked, or they could not be read
    namespace: str = ""  # of all that is in one
    listed: frozenset[tuple[str, str]] | None = None  # kind and name of what git has; None: nobody knows
    code: tuple[CodeMap, ...] = ()
    mounted: frozenset[str] = frozenset()  # ConfigMaps that CronJobs and Jobs that are not finished mount


def site_state(
    site: str,
    found: Mapping[ObjectKind, Iterable[StateObject] | None],
    prunes: bool = False,
    inventory: str = "",
    namespace: str = "",
) -> SiteState:
    """Combine lists into a state.

    `found` has the objects of each kind, None if they could not be listed; `inventory` is the name of a
    ConfigMap.
    """
    everything = [fact for some in found.values() for fact in some or ()]
    named = [fact for fact in everything if isinstance(fact, Inventory) and fact.name == inventory]
    git = named[0] if named else Inventory(inventory, None)

    def of(kind: type[T]) -> tuple[T, ...]:
        return tuple(fact for fact in everything if isinstance(fact, kind))

    return SiteState(
        site,
        of(TimetableObject),
        of(PoolObject),
        of(CronJobObject),
        of(JobObject),
        of(PodObject),
        of(ObjectRef),
        prunes,
        git.names,
        git.persistent,
        frozenset(kind.name for kind, some in found.items() if some is None),
        of(SlotObject) if found.get(SLOT) is not None else None,
        namespace,
        git.objects,
        of(CodeMap),
        frozenset(name for fact in everything for name in _mounts(fact)),
    )


def _mounts(fact: StateObject) -> Iterable[str]:
    """Return the names of the ConfigMaps that pods of a CronJob or unfinished Job mount."""
    if isinstance(fact, CronJobObject | SweepCronJob):
        return _mounted_config_maps(fact.template)
    return fact.mounts if isinstance(fact, JobObject) and not fact.is_finished else ()


def _mounted_config_maps(job: Tree) -> frozenset[str]:
    volumes = _list(_at(job, "spec", "template", "spec"), "volumes")
    return frozenset(str(_at(volume, "configMap").get("name", "")) for volume in volumes)


def parse_object(site: str, kind: ObjectKind, tree: Tree) -> StateObject | None:
    """Parse an object; None if it is not Berth's.

    Raises KeyError, TypeError, ValueError or AttributeError if it is malformed.
    """
    ref = _parse_ref(site, kind, tree)
    if not ref.reservation:
        return _parse_of_site(site, kind, ref, tree)
    make = _PARSERS.get(kind)
    return make(ref, tree) if make else ref


def _parse_of_site(site: str, kind: ObjectKind, ref: ObjectRef, tree: Tree) -> StateObject | None:
    """Parse an object of no reservation."""
    if kind is CONFIG_MAP and KEY in _at(tree, "data"):
        return read_inventory(ref.name, _at(tree, "data"))
    labels = _at(tree, "metadata", "labels")
    if labels.get(SITE) == site and kind is CONFIG_MAP and labels.get(ROLE) == CODE:
        return CodeMap(ref)
    return SweepCronJob(_at(tree, "spec", "jobTemplate")) if kind is CRON_JOB else None


def _parse_ref(site: str, kind: ObjectKind, tree: Tree) -> ObjectRef:
    """Parse the metadata; the reservation is empty where the object is not of one of the site."""
    metadata = _at(tree, "metadata")
    labels = _at(metadata, "labels")
    reservation = str(labels.get(RESERVATION) or "") if labels.get(SITE) == site else ""
    created = parse_instant(str(metadata["creationTimestamp"]))
    name, uid = str(metadata["name"]), str(metadata["uid"])
    orphaned_since = str(_at(metadata, "annotations").get(ORPHANED_SINCE, ""))
    return ObjectRef(kind.name, name, uid, reservation, created, is_terminating(tree), orphaned_since)


def _parse_timetable(ref: ObjectRef, tree: Tree) -> TimetableObject | ObjectRef:
    """Parse a ConfigMap. The record, and one that only people read, are not timetables."""
    metadata = _at(tree, "metadata")
    if _at(metadata, "labels").get(ROLE) in (AFFINITY, RECORD):
        return ref
    notes = _at(metadata, "annotations")
    written = [
        parse_instant(str(entry["time"])) for entry in _list(metadata, "managedFields") if "time" in entry
    ]
    return TimetableObject(
        ref,
        str(_at(tree, "data").get(TIMETABLE_KEY, "")),
        str(notes.get(OVERRIDE, "")),
        max(written, default=ref.created),
    )


# In the status of what is scaled. Karpenter counts nodes as they come, before their kubelets are ready.
_READY = {DEPLOYMENT: "readyReplicas", NODE_POOL: "nodes"}


def read_pool(kind: ObjectKind, tree: Tree) -> PoolObject:
    """Read a Deployment or NodePool, whoever's it is. Raises KeyError, TypeError or ValueError."""
    metadata = _at(tree, "metadata")
    ref = ObjectRef(kind.name, str(metadata["name"]), str(metadata.get("uid", "")), "", 0)
    return _parse_pool(kind, ref, tree)


def _parse_pool(kind: ObjectKind, ref: ObjectRef, tree: Tree) -> PoolObject:
    version = str(_at(tree, "metadata")["resourceVersion"])
    ready = _at(tree, "status").get(_READY[kind], 0)  # at zero the server leaves it out
    name = str(_at(tree, "spec", "selector", "matchLabels").get(CLASS, ""))
    return PoolObject(ref, _number(_at(tree, "spec")["replicas"]), _number(ready), version, name)


def _parse_deployment(ref: ObjectRef, tree: Tree) -> PoolObject:
    return _parse_pool(DEPLOYMENT, ref, tree)


def _parse_node_pool(ref: ObjectRef, tree: Tree) -> PoolObject | None:
    """Parse a NodePool; None if its number of nodes is not fixed."""
    return _parse_pool(NODE_POOL, ref, tree) if "replicas" in _at(tree, "spec") else None


def _parse_job(ref: ObjectRef, tree: Tree) -> JobObject | None:
    """Parse a Job; None if neither a CronJob of Berth nor the sweep has made it."""
    if _at(tree, "metadata", "labels").get(ROLE) != OCCURRENCE:
        return None
    conditions = _list(_at(tree, "status"), "conditions")
    ends = [one for one in conditions if one["type"] in ("Complete", "Failed") and one["status"] == "True"]
    return JobObject(ref, bool(ends), _mounted_config_maps(tree))


def _parse_pod(ref: ObjectRef, tree: Tree) -> PodObject:
    owner = next(iter(_list(_at(tree, "metadata"), "ownerReferences")), {})
    return PodObject(
        ref,
        str(owner.get("name", "")),
        str(owner.get("uid", "")),
        pod_down_since(tree),
        is_pod_starting(tree),
        next((found for one in containers(tree) if (found := _pull_failure(one))), None),
        str(_at(tree, "spec").get("serviceAccountName", "")),
    )


def _pull_failure(container: Tree) -> ImagePullFailure | None:
    waiting = _at(container, "state", "waiting")
    reason = str(waiting.get("reason", ""))
    if reason not in IMAGE_PULL_REASONS:
        return None
    return ImagePullFailure(str(container.get("image", "")), reason, str(waiting.get("message", "")))


def _parse_slot_object(ref: ObjectRef, tree: Tree) -> SlotObject | None:
    """Parse a slot; None if it only has the labels."""
    labels = _at(tree, "metadata", "labels")
    if labels.get(ROLE) != SLOT_ROLE:
        return None
    return SlotObject(ref, str(labels.get(CLASS, "")), PERSISTENT in labels, parse_slot(tree))


_PARSERS: Mapping[ObjectKind, Callable[[ObjectRef, Tree], StateObject | None]] = {
    CONFIG_MAP: _parse_timetable,
    DEPLOYMENT: _parse_deployment,
    NODE_POOL: _parse_node_pool,
    CRON_JOB: lambda ref, tree: CronJobObject(ref, _at(tree, "spec", "jobTemplate")),
    JOB: _parse_job,
    POD: _parse_pod,
    SLOT: _parse_slot_object,
}


def _at(tree: Tree, *path: str) -> Tree:
    """Return the object below these keys, empty without one."""
    for key in path:
        below = tree.get(key) or {}
        if not isinstance(below, dict):
            raise TypeError(f"{key} is not an object")
        tree = below
    return tree


def _list(tree: Tree, key: str) -> list[Tree]:
    found = tree.get(key) or []
    if not isinstance(found, list):
        raise TypeError(f"{key} is not a list")
    return found


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number")
    return value


class ReservationState(NamedTuple):
    """All objects of one reservation, by kind, sorted by name."""

    reservation: str
    sources: tuple[TimetableObject, ...]
    deployments: tuple[PoolObject, ...]
    cronjobs: tuple[CronJobObject, ...]
    jobs: tuple[JobObject, ...]
    pods: tuple[PodObject, ...]
    rights: tuple[ObjectRef, ...]
    slots: tuple[SlotObject, ...] = ()

    def is_served(self, now: int) -> bool:
        """Return whether a pod serves it. One of another ServiceAccount, of version 0.1.0, may do nothing."""
        account = self.cronjob.account if self.cronjob else ""
        return any(pod.serves(now) and account in ("", pod.account) for pod in self.pods)

    @property
    def cronjob(self) -> CronJobObject | None:
        """A CronJob to start Jobs from. Any will do: they differ only in their schedule."""
        return next((one for one in self.cronjobs if not one.ref.is_terminating), None)

    @property
    def subjects(self) -> list[ObjectRef]:
        """The objects that get Events: the Deployments, or the timetable without any.

        Events of cluster-scoped objects are hard to find.
        """
        found = [one.ref for one in self.deployments if one.ref.kind == DEPLOYMENT.name]
        return found or [one.ref for one in self.sources]

    def refs(self) -> list[ObjectRef]:
        """Return all objects except pods, which follow their owners, and slots, which are cluster-scoped."""
        found = [*(one.ref for one in self.sources), *(one.ref for one in self.deployments), *self.rights]
        return [*found, *(one.ref for one in self.cronjobs), *(one.ref for one in self.jobs)]


class _HasRef(Protocol):
    @property
    def ref(self) -> ObjectRef: ...


K = TypeVar("K", bound=_HasRef)


def reservation_states(facts: SiteState) -> list[ReservationState]:
    """Group the state by reservation, sorted by name."""
    sources, deployments = _by_reservation(facts.sources), _by_reservation(facts.deployments)
    cronjobs, jobs, pods = (
        _by_reservation(facts.cronjobs),
        _by_reservation(facts.jobs),
        _by_reservation(facts.pods),
    )
    rights: dict[str, tuple[ObjectRef, ...]] = {}
    for ref in sorted(facts.rights):
        rights[ref.reservation] = (*rights.get(ref.reservation, ()), ref)
    slots = _by_reservation(facts.slots or ())
    names = {*sources, *deployments, *cronjobs, *jobs, *pods, *rights, *slots}
    return [
        ReservationState(
            name,
            sources.get(name, ()),
            deployments.get(name, ()),
            cronjobs.get(name, ()),
            jobs.get(name, ()),
            pods.get(name, ()),
            rights.get(name, ()),
            slots.get(name, ()),
        )
        for name in sorted(names)
    ]


def _by_reservation(found: Iterable[K]) -> dict[str, tuple[K, ...]]:
    groups: dict[str, list[K]] = {}
    for one in sorted(found, key=lambda one: one.ref.name):
        groups.setdefault(one.ref.reservation, []).append(one)
    return {name: tuple(group) for name, group in groups.items()}
