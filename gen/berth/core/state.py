"""The state of a site as the sweep reads it from the API server, grouped by reservation.

Only objects with the labels of the site and of a reservation are included: the sweep changes nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from berth.core.jsonvalues import Tree
from berth.core.objects import (
    DEPLOYMENT,
    JOB,
    SLOT,
    ImagePullFailure,
    ObjectKind,
    mounted_config_maps,
    serves_at,
)
from berth.core.poolobjects import HeldValue, ObjectRef, PoolObject
from berth.core.serving import ServingProof, is_fresh
from berth.core.slots import AVAILABLE, Slot
from berth.core.target import PoolTarget
from berth.core.timetable import TimetablePool

T = TypeVar("T")
ORPHANED_SINCE = "berth.dev/gone-since"
TARGET_KEY = "target.json"  # of the data of its ConfigMap


class JobObject(NamedTuple):
    ref: ObjectRef
    is_finished: bool
    mounts: frozenset[str] = frozenset()  # names of ConfigMaps; none once it is finished


class CronJobObject(NamedTuple):
    ref: ObjectRef
    template: Tree  # of its Jobs

    @property
    def mounts(self) -> frozenset[str]:
        return mounted_config_maps(self.template)


class OtherObject(NamedTuple):
    """An object that is only kept or removed."""

    ref: ObjectRef


class RecordObject(NamedTuple):
    """A ConfigMap with the record of occurrences, which outlives its reservation."""

    ref: ObjectRef
    changed: int  # when anybody last wrote to it, by the clock of the API server
    proof: ServingProof | None = None  # that a pod serves
    ended: Mapping[str, int] = {}  # when rehearsals were over before their time, by id


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


class Inventory(NamedTuple):
    """The content of the inventory ConfigMap `name`."""

    name: str
    names: frozenset[str] | None  # of reservations; None: nobody knows, as of the others
    persistent: Mapping[str, frozenset[str]] | None = None  # the names of slots, by reservation
    objects: frozenset[tuple[str, str]] | None = None  # kinds and names


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
    pods: tuple[PodObject, ...] = ()  # of its Jobs
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
    jobs = {(item.ref.reservation, item.ref.uid) for item in ours if isinstance(item, JobObject)}
    groups: dict[str, list[SiteObject]] = {"": []}
    for item in sorted(ours, key=lambda item: item.ref.name):
        # Some accounts can give pods the labels of any reservation, but no other owner.
        is_claimed = isinstance(item, PodObject) and (item.ref.reservation, item.owner_uid) not in jobs
        if not is_claimed or listed.get(JOB) is None:
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
