"""The state of a site as the sweep reads it from the API server, grouped by reservation.

Only objects with the labels of the site and of a reservation are included: the sweep changes nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from berth.core import labels, objectnames
from berth.core.fields import field_value
from berth.core.holders import REPLICAS, HeldNumber, holder_of_object, parse_number
from berth.core.jsonvalues import (
    TimetableError,
    Tree,
    instant_or_none,
    parse_instant,
    parse_mapping,
    part,
    parts,
)
from berth.core.labels import CLASS, OCCURRENCE, PERSISTENT, RESERVATION, ROLE, SITE
from berth.core.objects import (
    CAPACITY_BUFFER,
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
from berth.core.obstacles import Obstacle, buffer_obstacle, deployment_obstacle, node_pool_obstacle
from berth.core.record import RECORD_KEY, ended_rehearsals, parse_rehearsals
from berth.core.serving import PROOF_KEY, PROVES, ServingProof, is_fresh, parse_proof
from berth.core.slots import AVAILABLE, Slot, parse_slot
from berth.core.target import PoolTarget
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY, TimetablePool

T = TypeVar("T")
ORPHANED_SINCE = "berth.dev/gone-since"
TARGET_KEY, HELD_KEY = "target.json", "held.json"  # of the data of their ConfigMaps
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


class HeldValue(NamedTuple):
    """The ConfigMap in which Berth notes that it holds a number of somebody else."""

    ref: ObjectRef
    version: str
    before: object  # what stood there before; None: nothing
    uid: str  # of the object: what was there before in another one is of no use; empty: nobody knows
    since: int  # when it was last written, by the clock of the writer; 0: nobody knows


class PoolObject(NamedTuple):
    """An object with a number that is held: Berth's, or somebody else's."""

    ref: ObjectRef
    replicas: float  # or another number, in the units of the holder; 0 where it is missing
    ready: int
    resource_version: str
    resource_class: str = ""  # as its selector or label says; a NodePool has none
    tells_ready: bool = True  # somebody says how many are ready
    obstacle: Obstacle | None = None  # why there are fewer than replicas, as far as it says so
    number: HeldNumber = REPLICAS
    tree: Tree | None = None  # of somebody else's object
    held: HeldValue | None = None  # of such a number, while Berth holds it

    @property
    def is_noted(self) -> bool:
        """Whether the note is about this very object."""
        return self.held is not None and self.held.uid in ("", self.ref.uid)


class JobObject(NamedTuple):
    ref: ObjectRef
    is_finished: bool
    mounts: frozenset[str] = frozenset()  # names of ConfigMaps; none once it is finished


class CronJobObject(NamedTuple):
    ref: ObjectRef
    template: Tree  # of its Jobs

    @property
    def mounts(self) -> frozenset[str]:
        return _mounts(self.template)


class OtherObject(NamedTuple):
    """An object that is only kept or removed."""

    ref: ObjectRef


class RecordObject(NamedTuple):
    """A ConfigMap with the record of occurrences, which outlives its reservation."""

    ref: ObjectRef
    changed: int  # when anybody last wrote to it, by the clock of the API server
    proof: ServingProof | None = None  # that a pod serves
    ended: Mapping[str, int] = {}  # when rehearsals were over before their time, by id


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
    proves: bool = False  # it writes proofs that it serves

    def serves(self, now: int) -> bool:
        return serves_at(self.down_since, now)


class TargetObject(NamedTuple):
    """An immutable ConfigMap that says which number of somebody else a pool holds."""

    ref: ObjectRef
    in_timetable: TimetablePool  # as its timetable would have it


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


# The inventory ConfigMap says what is in git where nothing but the sweep prunes: the reservations, the
# persistent slots, and the CronJobs but the first of each reservation. Timetables tell of all other objects.
_NAMES_KEY, _SLOTS_KEY, _OBJECTS_KEY = "reservations.txt", "slots.txt", "objects.txt"
_MAX_SLOTS = 100_000  # slots of a pool, which no line of ours exceeds


class Inventory(NamedTuple):
    """The content of the inventory ConfigMap `name`."""

    name: str
    names: frozenset[str] | None  # of reservations; None: nobody knows, as of the others
    persistent: Mapping[str, frozenset[str]] | None = None  # the names of slots, by reservation
    objects: frozenset[tuple[str, str]] | None = None  # kinds and names


def parse_inventory(name: str, data: Mapping[str, object]) -> Inventory:
    """Parse the data of the inventory ConfigMap. Empty or invalid text gives None."""
    texts = [str(data.get(key) or "").strip() for key in (_NAMES_KEY, _SLOTS_KEY, _OBJECTS_KEY)]
    names, slots, objects = (list(_lines(text)) for text in texts)
    are_names = texts[0] and all(len(words) == 1 and _is_name(words[0]) for words in names)
    are_objects = texts[2] and all(len(words) == 2 for words in objects)
    return Inventory(
        name,
        frozenset(words[0] for words in names) if are_names else None,
        _parse_slots(slots) if texts[1] else None,
        frozenset((words[0], words[1]) for words in objects) if are_objects else None,
    )


def _lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each line that is neither empty nor a comment (#)."""
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("#"):
            yield line.split()


def _is_name(word: str) -> bool:
    return word.isascii() and word.replace("-", "").isalnum() and word == word.lower()


def _parse_slots(lines: Iterable[list[str]]) -> dict[str, frozenset[str]] | None:
    """Parse lines of a reservation, the begin and the end of the names of its slots, and their number."""
    by_reservation: dict[str, frozenset[str]] = {}
    for words in lines:
        if len(words) != 4 or not (words[3].isascii() and words[3].isdigit()):
            return None
        reservation, slots, digest, count = words
        names = (f"{slots}-{ordinal}-{digest}" for ordinal in range(min(int(count), _MAX_SLOTS)))
        by_reservation[reservation] = by_reservation.get(reservation, frozenset()).union(names)
    return by_reservation


SiteObject = (
    TimetableObject
    | PoolObject
    | CronJobObject
    | JobObject
    | PodObject
    | OtherObject
    | RecordObject
    | SlotObject
    | TargetObject
)
StateObject = SiteObject | Inventory | HeldValue


class ReservationState(NamedTuple):
    """All objects of one reservation, by kind, sorted by name."""

    reservation: str
    timetables: tuple[TimetableObject, ...] = ()
    deployments: tuple[PoolObject, ...] = ()
    cronjobs: tuple[CronJobObject, ...] = ()
    jobs: tuple[JobObject, ...] = ()
    pods: tuple[PodObject, ...] = ()  # of occurrences
    slots: tuple[SlotObject, ...] = ()
    others: tuple[OtherObject, ...] = ()  # accounts, Roles, RoleBindings, and what only people read
    records: tuple[RecordObject, ...] = ()
    targets: tuple[TargetObject, ...] = ()

    def running(self, now: int) -> tuple[PodObject, ...]:
        """Return the pods that run."""
        return tuple(pod for pod in self.pods if pod.serves(now))

    @property
    def written(self) -> int:
        """When its record was last written; 0 without one."""
        return max((record.changed for record in self.records), default=0)

    @property
    def proof(self) -> ServingProof | None:
        return next((record.proof for record in self.records), None)

    @property
    def ended(self) -> Mapping[str, int]:
        """When rehearsals were over before their time, by id."""
        return next((record.ended for record in self.records), {})

    @property
    def cronjob(self) -> CronJobObject | None:
        """A CronJob to start Jobs from. Any will do: they differ only in their schedule."""
        return next((cronjob for cronjob in self.cronjobs if not cronjob.ref.is_terminating), None)

    @property
    def subjects(self) -> list[ObjectRef]:
        """The objects that get Events: the Deployments, or the timetable without any.

        Events of cluster-scoped objects are hard to find.
        """
        deployments = [
            deployment.ref for deployment in self.deployments if deployment.ref.kind == DEPLOYMENT.name
        ]
        return deployments or [timetable.ref for timetable in self.timetables]

    def refs(self) -> list[ObjectRef]:
        """Return what is removed with it: not pods, which follow their owners, slots, and its record."""
        pools: tuple[SiteObject, ...] = (*self.timetables, *self.deployments)
        return [item.ref for item in (*pools, *self.others, *self.cronjobs, *self.jobs)]


def _reservation_state(name: str, objects: Sequence[SiteObject]) -> ReservationState:
    def of(kind: type[T]) -> tuple[T, ...]:
        return tuple(item for item in objects if isinstance(item, kind))

    return ReservationState(
        name,
        of(TimetableObject),
        of(PoolObject),
        of(CronJobObject),
        of(JobObject),
        of(PodObject),
        of(SlotObject),
        of(OtherObject),
        of(RecordObject),
        of(TargetObject),
    )


class NumberUse(NamedTuple):
    """What a reservation asks of a number of somebody else."""

    reservation: str
    target: PoolTarget
    is_named: bool  # by its timetable, and not only by what git has applied

    @property
    def key(self) -> str:
        return self.target.pool.key


class SiteState(NamedTuple):
    """Everything the sweep has read of a site."""

    site: str
    reservations: tuple[ReservationState, ...] = ()  # sorted by name
    prunes: bool = False  # nobody else removes what has left git
    git: Inventory = Inventory("", None)
    unread: frozenset[str] = frozenset()  # kinds of which the list is missing
    knows_slots: bool = False  # somebody looked, and they could be read
    namespace: str = ""  # of all that is in one
    code: tuple[OtherObject, ...] = ()  # immutable ConfigMaps with the code of some release
    mounted: frozenset[str] = frozenset()  # ConfigMaps that CronJobs and Jobs that are not finished mount
    held: Mapping[str, HeldValue] = {}  # notes about numbers of somebody else, by name
    uses: tuple[NumberUse, ...] = ()  # of such numbers at the look, as `number_uses` returns them
    numbers: Mapping[str, PoolObject] = {}  # by key: those that were read and exist
    unread_numbers: frozenset[str] = frozenset()  # keys
    server_time: int = 0  # by the clock of the API server; 0: it is the time of the decision
    doubted: Mapping[str, int] | None = None
    """When the records of reservations were written whose proofs were old at the first look; None: this is
    the first look, at which an old proof only gives reason to look again.
    """

    def reads(self, *kinds: ObjectKind) -> bool:
        """Return whether all these kinds could be listed."""
        return self.unread.isdisjoint(kind.name for kind in kinds)

    @property
    def has_inventory(self) -> bool:
        """Whether removal can be decided: by an inventory, and with all lists complete."""
        return self.prunes and self.git.names is not None and not self.unread

    def is_in_git(self, reservation: str) -> bool:
        return reservation in (self.git.names or ())

    def is_persistent(self, reservation: str) -> bool:
        """Return whether git has the reservation with persistent slots, and no windows."""
        return self.is_in_git(reservation) and reservation in (self.git.persistent or {})

    def is_orphaned(self, reservation: str) -> bool:
        """Return whether git has no windows of the reservation."""
        is_named = self.is_in_git(reservation) and not self.is_persistent(reservation)
        return self.has_inventory and not is_named

    def is_served(self, state: ReservationState, now: int, resource_class: str = "") -> bool:
        """Return whether a pod serves the pool of a class, or without one any pool of the reservation."""
        running = state.running(now)
        if not running or not all(pod.proves for pod in running):
            return bool(running)
        if state.proof is None or not self._is_proof_new(state, now):
            return self.doubted is None or state.reservation not in self.doubted
        return state.proof.covers(resource_class)

    def is_doubtful(self, state: ReservationState, now: int) -> bool:
        """Return whether pods run that should prove that they work, and have not done so lately."""
        running = state.running(now)
        is_proven = state.proof is not None and self._is_proof_new(state, now)
        return bool(running) and all(pod.proves for pod in running) and not is_proven

    def _is_proof_new(self, state: ReservationState, now: int) -> bool:
        """Return whether the record was written lately, or since the first look."""
        before = None if self.doubted is None else self.doubted.get(state.reservation)
        is_new = before is not None and state.written != before
        return is_new or is_fresh(state.written, self.server_time or now)

    def number_of(self, reservation: str, pool: TimetablePool) -> PoolObject | None:
        """Return the object with somebody else's number as a pool of the reservation reads it."""
        number, found = pool.holder.foreign, self.numbers.get(pool.key)
        if number is None or found is None or found.tree is None:
            return None
        stands = read_pool(number, found.tree)
        return stands._replace(ref=stands.ref._replace(reservation=reservation), held=found.held)

    @property
    def asked(self) -> frozenset[str]:
        """The keys of numbers of somebody else that are open."""
        return frozenset(use.key for use in self.uses if use.target.is_open)

    def subjects(self, ref: ObjectRef) -> list[ObjectRef]:
        """Return the objects that get an Event about an object: the Deployment itself, or those of all."""
        subjects = (
            reservation.subjects
            for reservation in self.reservations
            if reservation.reservation == ref.reservation
        )
        return [ref] if ref.kind == DEPLOYMENT.name else next(subjects, [])

    def counts(self) -> dict[str, int]:
        """Return how many objects were read of the kinds that a person looks for."""
        fields = ReservationState._fields[1 : 7 if self.knows_slots else 6]
        return {
            field: sum(len(getattr(reservation, field)) for reservation in self.reservations)
            for field in fields
        }


def site_state(
    site: str,
    listed: Mapping[ObjectKind, Iterable[StateObject] | None],
    prunes: bool = False,
    inventory: str = "",
    namespace: str = "",
) -> SiteState:
    """Combine lists into a state.

    `listed` has the objects of each kind, None if they could not be listed; `inventory` is the name of a
    ConfigMap.
    """
    everything = [fact for some in listed.values() for fact in some or ()]
    named = [fact for fact in everything if isinstance(fact, Inventory) and fact.name == inventory]
    notes = {fact.ref.name: fact for fact in everything if isinstance(fact, HeldValue)}
    ours = [fact for fact in everything if not isinstance(fact, Inventory | HeldValue)]
    groups: dict[str, list[SiteObject]] = {"": []}
    for item in sorted(ours, key=lambda item: item.ref.name):
        groups.setdefault(item.ref.reservation, []).append(item)
    code = tuple(item for item in groups.pop("") if isinstance(item, OtherObject))
    return SiteState(
        site,
        tuple(_reservation_state(name, group) for name, group in sorted(groups.items())),
        prunes,
        named[0] if named else Inventory(inventory, None),
        frozenset(kind.name for kind, some in listed.items() if some is None),
        listed.get(SLOT) is not None,
        namespace,
        code,
        frozenset[str]().union(
            *(item.mounts for item in ours if isinstance(item, CronJobObject | JobObject))
        ),
        notes,
    )


def parse_object(site: str, kind: ObjectKind, tree: Tree) -> StateObject | None:
    """Parse an object; None if it is not Berth's.

    Raises KeyError, TypeError or ValueError if it is malformed.
    """
    metadata, labels_of = part(tree, "metadata"), part(tree, "metadata", "labels")
    is_ours = labels_of.get(SITE) == site
    ref = ObjectRef(
        kind.name,
        str(metadata["name"]),
        str(metadata["uid"]),
        str(labels_of.get(RESERVATION) or "") if is_ours else "",
        parse_instant(str(metadata["creationTimestamp"])),
        is_terminating(tree),
        str(part(metadata, "annotations").get(ORPHANED_SINCE, "")),
    )
    if kind is CONFIG_MAP and objectnames.is_held(ref.name):
        return parse_held(ref, tree)
    if ref.reservation or kind is CRON_JOB:
        parse = _PARSERS.get(kind)
        return parse(ref, tree) if parse else OtherObject(ref)
    if kind is CONFIG_MAP and _NAMES_KEY in (data := part(tree, "data")):
        return parse_inventory(ref.name, data)
    return OtherObject(ref) if is_ours and kind is CONFIG_MAP and labels_of.get(ROLE) == labels.CODE else None


def _parse_config_map(ref: ObjectRef, tree: Tree) -> StateObject | None:
    """Parse a ConfigMap. The record, and one that only people read, are not timetables.

    Labels do not make a timetable, record or target of one: their names do.
    """
    role, resource_class = (part(tree, "metadata", "labels").get(key) for key in (ROLE, CLASS))
    if role == labels.AFFINITY:
        return OtherObject(ref)
    if role == labels.TARGET:
        return _parse_target(ref, str(resource_class), part(tree, "data"))
    changed = last_written(tree) or ref.created
    if role == labels.RECORD:
        is_ours = objectnames.is_record(ref.name, ref.reservation)
        return _parse_record(ref, changed, part(tree, "data")) if is_ours else None
    if not objectnames.is_timetable(ref.name, ref.reservation):
        return None
    return TimetableObject(
        ref,
        str(part(tree, "data").get(TIMETABLE_KEY, "")),
        str(part(tree, "metadata", "annotations").get(OVERRIDE, "")),
        changed,
    )


def _parse_target(ref: ObjectRef, resource_class: str, data: Tree) -> TargetObject | None:
    pool, said = objectnames.pool(ref.reservation, resource_class), str(data.get(TARGET_KEY))
    try:
        number = parse_number(parse_mapping(said, TARGET_KEY), TARGET_KEY)
    except TimetableError:
        return None
    is_ours = ref.name == objectnames.target(pool, said)
    return TargetObject(ref, TimetablePool(resource_class, pool, "none", holder=number)) if is_ours else None


def parse_held(ref: ObjectRef, tree: Tree) -> HeldValue:
    """Parse the note about a number of somebody else that is held.

    If it is malformed, what was there before is not a number: nobody knows it.
    """
    try:
        data = parse_mapping(str(part(tree, "data").get(HELD_KEY)), HELD_KEY)
    except TimetableError:
        data = {"before": {}}
    metadata = part(tree, "metadata")
    ref = ref._replace(uid=str(metadata.get("uid", "")), name=str(metadata["name"]))
    uid, since = str(data.get("uid", "")), instant_or_none(str(data.get("since"))) or 0
    return HeldValue(ref, str(metadata.get("resourceVersion", "")), data.get("before"), uid, since)


def last_written(tree: Tree) -> int:
    """Return when anybody last wrote to an object, by the clock of the API server; 0 if it does not tell."""
    entries = parts(tree, "metadata", "managedFields")
    return max((parse_instant(str(entry["time"])) for entry in entries if "time" in entry), default=0)


def _parse_record(ref: ObjectRef, changed: int, data: Tree) -> RecordObject:
    ended = ended_rehearsals(parse_rehearsals(str(data.get(RECORD_KEY, ""))))
    return RecordObject(ref, changed, parse_proof(data.get(PROOF_KEY)), ended)


_OBSTACLES = {DEPLOYMENT.name: deployment_obstacle, NODE_POOL.name: node_pool_obstacle}


def read_pool(number: HeldNumber, tree: Tree) -> PoolObject:
    """Read an object with a number, whoever's it is. Raises KeyError, TypeError or ValueError."""
    metadata = part(tree, "metadata")
    ref = ObjectRef(number.object_kind.name, str(metadata["name"]), str(metadata.get("uid", "")), "", 0)
    if number.foreign:
        # Events are about objects of Berth, whatever this one is called.
        ref = ref._replace(kind=f"{ref.kind} {metadata.get('namespace', '')}".strip())
        return _read_number(ref, number, tree)._replace(tree=tree)
    return _parse_buffer(ref, tree) if number.object_kind is CAPACITY_BUFFER else _parse_pool(ref, tree)


def _read_number(ref: ObjectRef, number: HeldNumber, tree: Tree) -> PoolObject:
    value, ready = field_value(tree, number.path), field_value(tree, number.ready) if number.ready else None
    is_number = isinstance(value, int) or number.foreign
    replicas = 0 if number.foreign and value is None else number.units(value) if is_number else None
    tells_ready = bool(number.ready) and isinstance(ready or 0, int)  # at zero the server leaves it out
    if replicas is None or not (tells_ready or number.foreign):
        raise TypeError(f"{value!r} or {ready!r} is not a number")
    return PoolObject(
        ref,
        replicas,
        int(str(ready or 0)) if tells_ready else 0,
        str(part(tree, "metadata")["resourceVersion"]),
        tells_ready=tells_ready,
        number=number,
    )


def _parse_pool(ref: ObjectRef, tree: Tree) -> PoolObject:
    name = str(part(tree, "spec", "selector", "matchLabels").get(CLASS, ""))
    obstacle = _OBSTACLES[ref.kind](tree) if ref.kind in _OBSTACLES else None
    pool = _read_number(ref, holder_of_object(ref.kind, ref.name), tree)
    return pool._replace(resource_class=name, obstacle=obstacle)


def _parse_buffer(ref: ObjectRef, tree: Tree) -> PoolObject:
    """Parse a CapacityBuffer. Only Karpenter tells whether there are nodes; cluster-autoscaler's condition of
    the same type means that it has asked for some.
    """
    provisioning = next(
        (
            condition
            for condition in parts(tree, "status", "conditions")
            if condition["type"] == "Provisioning"
        ),
        {},
    )
    is_ready = provisioning.get("reason") == "FitsExistingCapacity" and provisioning["status"] == "True"
    is_current = provisioning.get("observedGeneration") == part(tree, "metadata").get("generation")
    ready = part(tree, "status").get("replicas", 0) if is_ready and is_current else 0
    pool = _parse_pool(ref, {**tree, "status": {"replicas": ready}})
    name = str(part(tree, "metadata", "labels").get(CLASS, ""))
    is_told, obstacle = provisioning.get("reason") != "FakePodsInjected", buffer_obstacle(tree, pool.ready)
    return pool._replace(resource_class=name, tells_ready=is_told, obstacle=obstacle)


def _of_reservation(pool: PoolObject) -> PoolObject | None:
    """Return the pool; None if its name is not that of its reservation and class, whatever its labels."""
    expected = objectnames.pool(pool.ref.reservation, pool.resource_class)
    return pool if pool.ref.name == expected else None


def _parse_node_pool(ref: ObjectRef, tree: Tree) -> PoolObject | None:
    """Parse a NodePool; None if its number of nodes is not fixed."""
    return _parse_pool(ref, tree) if "replicas" in part(tree, "spec") else None


def _parse_job(ref: ObjectRef, tree: Tree) -> JobObject | None:
    """Parse a Job; None if neither a CronJob of Berth nor the sweep has made it."""
    if part(tree, "metadata", "labels").get(ROLE) != OCCURRENCE:
        return None
    is_finished = is_job_finished(tree)
    return JobObject(ref, is_finished, frozenset() if is_finished else _mounts(tree))


def is_job_finished(tree: Tree) -> bool:
    ends = (
        condition
        for condition in parts(tree, "status", "conditions")
        if condition["type"] in ("Complete", "Failed")
    )
    return any(condition["status"] == "True" for condition in ends)


def _mounts(job: Tree) -> frozenset[str]:
    """Return the names of the ConfigMaps that the pods of a Job or of its template mount."""
    volumes = parts(job, "spec", "template", "spec", "volumes")
    return frozenset(str(part(volume, "configMap").get("name", "")) for volume in volumes)


def _parse_pod(ref: ObjectRef, tree: Tree) -> PodObject:
    owner = next(iter(parts(tree, "metadata", "ownerReferences")), {})
    return PodObject(
        ref,
        str(owner.get("name", "")),
        str(owner.get("uid", "")),
        pod_down_since(tree),
        is_pod_starting(tree),
        next(pull_failures(tree), None),
        PROVES in part(tree, "metadata", "annotations"),
    )


def pull_failures(pod: Tree) -> Iterator[ImagePullFailure]:
    """Yield the containers of a pod whose images cannot be pulled."""
    for container in containers(pod):
        waiting = part(container, "state", "waiting")
        reason = str(waiting.get("reason", ""))
        if reason in IMAGE_PULL_REASONS:
            yield ImagePullFailure(str(container.get("image", "")), reason, str(waiting.get("message", "")))


def _parse_slot(ref: ObjectRef, tree: Tree) -> SlotObject | None:
    """Parse a slot; None if it only has the labels."""
    found = part(tree, "metadata", "labels")
    if found.get(ROLE) != labels.SLOT:
        return None
    return SlotObject(ref, str(found.get(CLASS, "")), PERSISTENT in found, parse_slot(tree))


_PARSERS: Mapping[ObjectKind, Callable[[ObjectRef, Tree], StateObject | None]] = {
    CONFIG_MAP: _parse_config_map,
    DEPLOYMENT: lambda ref, tree: _of_reservation(_parse_pool(ref, tree)),
    CAPACITY_BUFFER: lambda ref, tree: _of_reservation(_parse_buffer(ref, tree)),
    NODE_POOL: _parse_node_pool,
    CRON_JOB: lambda ref, tree: CronJobObject(ref, part(tree, "spec", "jobTemplate")),
    JOB: _parse_job,
    POD: _parse_pod,
    SLOT: _parse_slot,
}
