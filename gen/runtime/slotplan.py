"""What is to be done about the slots of a pool. Pure: slots as they were seen in, writes out.

A slot that a session uses stays for as long as anything of its pool is open; when nothing is, all go.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from gen.runtime.slot import AVAILABLE, OVER, Slot, name_of
from gen.runtime.slotdemand import Demand
from gen.runtime.timetable import Slots

PATIENCE = 60  # seconds that a slot of a new shape may be Pending before one of the old makes room for it
GATHERING = 60  # seconds for which seats that were handed over wait for the others


class Home(NamedTuple):
    """Where the placeholders of the pool are; by that they are known as owners."""

    namespace: str
    deployment: str

    def sessions(self, slot: Slot) -> int:
        """How many own the slot."""
        ours = f"{self.deployment}-"
        placeholders = sum(
            owner.namespace == self.namespace and owner.name.startswith(ours) for owner in slot.owners
        )
        return len(slot.owners) - placeholders


class Census(NamedTuple):
    """The slots of a pool, each in one of these."""

    pending: tuple[Slot, ...] = ()
    free: tuple[Slot, ...] = ()
    handed: tuple[Slot, ...] = ()  # placeholders alone own them
    used: tuple[Slot, ...] = ()
    dead: tuple[Slot, ...] = ()  # they hold nothing any more
    going: tuple[Slot, ...] = ()
    owners: Mapping[str, int] = MappingProxyType({})  # how many sessions own one in use, by its uid
    taken: frozenset[str] = frozenset()  # names that are of no use to us, besides those of these slots

    @property
    def spare(self) -> int:
        """Those that hold a seat that no session has, or will."""
        return len(self.pending) + len(self.free) + len(self.handed)

    @property
    def living(self) -> tuple[Slot, ...]:
        return (*self.pending, *self.free, *self.handed, *self.used)

    @property
    def standing(self) -> tuple[Slot, ...]:
        """All that nobody has removed yet."""
        return (*self.living, *self.dead)

    @property
    def names(self) -> set[str]:
        return {slot.name for slot in (*self.standing, *self.going)}

    def of_shape(self, slots: Slots) -> "Census":
        """Those that are as one would be made now."""

        def ours(some: tuple[Slot, ...]) -> tuple[Slot, ...]:
            return tuple(slot for slot in some if slot.name == name_of(slots, slot.ordinal))

        pending, free, handed, used, dead, going = (ours(some) for some in self[:6])
        return Census(pending, free, handed, used, dead, going, self.owners, self.taken)


class Plan(NamedTuple):
    make: tuple[str, ...] = ()  # names
    renew: tuple[Slot, ...] = ()  # whose end is another one now, or which no placeholder is to take any more
    remove: tuple[Slot, ...] = ()  # if they are still as they were seen
    drop: tuple[Slot, ...] = ()  # whatever has become of them
    expires: int = 0  # of those that are made and renewed

    @property
    def writes(self) -> int:
        return len(self.make) + len(self.renew) + len(self.remove) + len(self.drop)


def census(slots: Iterable[Slot], home: Home) -> Census:
    found: dict[str, list[Slot]] = {kind: [] for kind in Census._fields[:6]}
    owners = {}
    for slot in sorted(slots, key=lambda slot: (slot.hash, slot.ordinal, slot.name)):
        sessions = home.sessions(slot)
        if slot.is_going:
            kind = "going"
        elif slot.phase in OVER:
            kind = "dead"
        elif slot.phase != AVAILABLE:
            kind = "pending"
        elif sessions:
            kind = "used"
            owners[slot.uid] = sessions
        else:
            kind = "handed" if slot.owners else "free"
        found[kind].append(slot)
    pending, free, handed, used, dead, going = (tuple(some) for some in found.values())
    return Census(pending, free, handed, used, dead, going, owners)


def placeholders(found: Census, slots: Slots, wanted: int, replicas: int, now: float) -> int:
    """How many are to stand beside the slots: those that make room for what is missing, until all of them
    have handed it over, or those that have been waited for long enough.

    All of them go then, and the rest is asked for again once they have left: it cannot be said which go. Of a
    Deployment that asks for fewer, those that still wait for a node go first, and these are the wrong ones.
    Those that were sent away leave one after the other; if more were asked for meanwhile, they would come
    again. And none is asked for that could take a free slot.
    """
    ours = found.of_shape(slots)
    missing, handed = wanted - len(ours.free), ours.handed
    if missing <= 0:
        return 0
    if handed:
        waited = now - min(slot.created for slot in handed)
        if len(handed) >= missing or waited >= GATHERING or not replicas:
            return 0
    return min(missing, replicas) if any(slot.is_to_close for slot in found.free) else missing


def plan(found: Census, slots: Slots, demand: Demand, now: float, ready: int = 0) -> Plan:
    """`ready` placeholders are there to hand over, where placeholders come first."""
    if demand.expires is None:
        return Plan(drop=found.standing)
    ours = found.of_shape(slots)
    room = demand.wanted
    if slots.placeholders:
        room = len(ours.free) + min(max(demand.wanted - len(ours.free), 0), ready)
    removed = (*_surplus(ours, demand.kept), *_outdated(found, ours, demand.kept, now))
    gone = {slot.name for slot in removed}
    return Plan(
        _names(slots, max(0, room - ours.spare), found.names | found.taken),
        tuple(
            slot
            for slot in found.living
            if (slot.expires != demand.expires or slot.is_to_close) and slot.name not in gone
        ),
        removed,
        found.dead,
        demand.expires,
    )


def _surplus(ours: Census, kept: int) -> tuple[Slot, ...]:
    """Those that hold nothing yet go first, then the last ones. What was handed over waits for its
    placeholder to go.
    """
    number = max(0, ours.spare - kept)
    return (*reversed(ours.pending), *reversed(ours.free))[:number]


def _outdated(found: Census, ours: Census, kept: int, now: float) -> tuple[Slot, ...]:
    """Of other shapes: each stays until one of the new shape holds its seat, or has waited for long enough
    for the room that the old one takes.
    """
    new = set(ours.names)
    pending, free, handed = (
        tuple(slot for slot in some if slot.name not in new)
        for some in (found.pending, found.free, found.handed)
    )
    waiting = sum(now - slot.created >= PATIENCE for slot in ours.pending)
    stay = max(0, kept - len(ours.free) - len(ours.handed) - waiting)
    number = max(0, len(free) + len(handed) - stay)
    return (*pending, *reversed(free))[: len(pending) + number]


def _names(slots: Slots, number: int, taken: Collection[str]) -> tuple[str, ...]:
    """The lowest ordinals that are free."""
    found: list[str] = []
    ordinal = 0
    while len(found) < number:
        name = name_of(slots, ordinal)
        if name not in taken:
            found.append(name)
        ordinal += 1
    return tuple(found)
