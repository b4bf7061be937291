"""The state of a site as the sweep reads it from the API server, grouped by reservation.

Only objects with the labels of the site and of a reservation are included: the sweep changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from berth.core.jsonvalues import Tree
from berth.core.labels import PLUGINS
from berth.core.leases import PoolLease
from berth.core.objectnames import pool as pool_name
from berth.core.objects import DEPLOYMENT, SLOT, ObjectKind, ObjectRef, mounted_config_maps
from berth.core.poolobjects import HeldValue, PoolObject
from berth.core.target import PoolTarget
from berth.core.timetable import TimetablePool, note_name

if TYPE_CHECKING:
    from berth.plugins.slots.slots import Slot

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
    | OtherObject
    | RecordObject
    | SlotObject
    | TargetObject
)
StateObject = SiteObject | Inventory | HeldValue | PoolLease


class ReservationState(NamedTuple):
    """All objects of one reservation, by kind, sorted by name."""

    reservation: str
    timetables: tuple[TimetableObject, ...] = ()
    pools: tuple[PoolObject, ...] = ()
    cronjobs: tuple[CronJobObject, ...] = ()
    jobs: tuple[JobObject, ...] = ()
    slots: tuple[SlotObject, ...] = ()
    others: tuple[OtherObject, ...] = ()  # accounts, Roles, RoleBindings, and what only people read
    records: tuple[RecordObject, ...] = ()
    targets: tuple[TargetObject, ...] = ()

    @property
    def cronjob(self) -> CronJobObject | None:
        """A CronJob to start Jobs from. Any will do: they differ only in their schedule."""
        return next((cronjob for cronjob in self.cronjobs if not cronjob.ref.is_terminating), None)

    @property
    def subjects(self) -> list[ObjectRef]:
        """The objects that get Events: the Deployments, or the timetable without any.

        Events of cluster-scoped objects are hard to find.
        """
        deployments = [pool.ref for pool in self.pools if pool.ref.kind == DEPLOYMENT.name]
        return deployments or [timetable.ref for timetable in self.timetables]

    def refs(self) -> list[ObjectRef]:
        """Return what is removed with it: not slots, and not its record."""
        pools: tuple[SiteObject, ...] = (*self.timetables, *self.pools)
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
    leases: Mapping[str, PoolLease] = {}  # by name
    plugins: frozenset[str] = frozenset(PLUGINS)  # the packages of the code that the cluster has

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

    def is_led(self, names: Iterable[str], now: int) -> bool:
        """Return whether one of these Leases is valid: a scaler writes its pool."""
        found = (self.leases.get(name) for name in names)
        return any(lease.is_valid(now) for lease in found if lease)

    def are_left_led(self, state: ReservationState, now: int) -> bool:
        """Return whether a scaler still writes a pool of a reservation that may have no timetable."""
        names = {pool.ref.name for pool in state.pools}
        names |= {pool_name(state.reservation, slot.resource_class) for slot in state.slots}
        names |= {note_name(target.in_timetable) for target in state.targets}
        return self.is_led(names, now)

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
        fields = ReservationState._fields[1 : 6 if self.knows_slots else 5]
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
    leases = {fact.name: fact for fact in everything if isinstance(fact, PoolLease)}
    ours = [fact for fact in everything if not isinstance(fact, Inventory | HeldValue | PoolLease)]
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
        leases=leases,
    )
