"""Slots: Koordinator Reservations that hold one seat each, how many a pool needs, and what to change.

Reservations are cluster-scoped and have no owner, so labels identify a slot. Its name contains its ordinal
and the hash of its shape. Everything here is pure: slots as observed in, planned writes out.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from berth.core.decisions import DesiredState, PoolTarget, pool_target
from berth.core.holders import SlotSpec
from berth.core.instants import instant_text, parse_instant
from berth.core.jsonvalues import Tree
from berth.core.labels import CLASS, PERSISTENT, RESERVATION, ROLE, SITE
from berth.core.target import full_count, open_now
from berth.core.timetable import TimetableOccurrence, TimetablePool, active_occurrences

AVAILABLE, PENDING = "Available", "Pending"
FINISHED_PHASES = ("Succeeded", "Failed")
# With `expires`, the earlier of the two ends a slot. These let `expires` decide, whatever clocks there are:
MAX_TTL = 876_600 * 3600  # seconds, a hundred years; what Go cannot read stops Koordinator for everybody
TTL_MARGIN = 3600  # seconds that a slot may stand longer by its `ttl`, which the server's clock begins


class SlotOwner(NamedTuple):
    """A pod that owns a slot."""

    namespace: str
    name: str


class Slot(NamedTuple):
    """A slot, as read from the API server."""

    name: str
    uid: str
    version: str
    created: int
    expires: int | None  # None: it does not say, or says nothing that we would write
    phase: str
    owners: tuple[SlotOwner, ...]
    is_terminating: bool = False  # it has been deleted, and is not away yet
    closed: str = ""  # its `owners` in JSON without our placeholders, where those may still take it

    @property
    def is_to_close(self) -> bool:
        """Whether the slot is available but still allows placeholders as owners."""
        return bool(self.closed) and self.phase == AVAILABLE

    @property
    def hash(self) -> str:
        return self.name.rpartition("-")[2]

    @property
    def ordinal(self) -> int:
        said = self.name.rpartition("-")[0].rpartition("-")[2]
        return int(said) if said.isascii() and said.isdigit() else -1


def parse_slot(tree: Tree) -> Slot:
    """Parse a Reservation. Raises KeyError, TypeError or ValueError if it is malformed."""
    metadata, spec, status = (_part(tree, key) for key in ("metadata", "spec", "status"))
    owners = status.get("currentOwners")
    return Slot(
        str(metadata["name"]),
        str(metadata["uid"]),
        str(metadata["resourceVersion"]),
        parse_instant(str(metadata["creationTimestamp"])),
        _instant(spec.get("expires")),
        str(status.get("phase") or PENDING),
        tuple(_parse_owner(one) for one in owners) if isinstance(owners, list) else (),
        "deletionTimestamp" in metadata,
        _closed_owners(_part(metadata, "labels"), spec.get("owners")),
    )


def slot_name(slots: SlotSpec, ordinal: int) -> str:
    return f"{slots.name}-{ordinal}-{slots.hash}"


def slot_selector(slots: SlotSpec) -> str:
    """Return the label selector of all slots of the pool, of any shape, except persistent ones."""
    labels = _part(_part(slots.shape, "metadata"), "labels")
    ours = [f"{key}={labels[key]}" for key in (SITE, RESERVATION, CLASS, ROLE)]
    return ",".join((*ours, f"!{PERSISTENT}"))


def slot_object(slots: SlotSpec, name: str, now: int, expires: int) -> Tree:
    """Return the Reservation to create."""
    metadata, spec = _part(slots.shape, "metadata"), _part(slots.shape, "spec")
    return {"metadata": {**metadata, "name": name}, "spec": {**spec, **slot_lifetime(now, expires)}}


def slot_lifetime(created: int, expires: int) -> Tree:
    """Return the fields that limit how long a slot exists.

    Without a `ttl`, Koordinator removes a Reservation after a day. The `ttl` counts from creation and has a
    margin for clock differences.
    """
    minutes = max(0, -(-(expires - created) // 60))
    return {"expires": instant_text(expires), "ttl": go_duration(min(60 * minutes, MAX_TTL) + TTL_MARGIN)}


def go_duration(seconds: int) -> str:
    """Format seconds as Go does: `2h5m0s`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    said = f"{minutes}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"
    return f"{hours}h{said}" if hours else said


def _parse_owner(tree: object) -> SlotOwner:
    found = tree if isinstance(tree, dict) else {}
    return SlotOwner(str(found.get("namespace", "")), str(found.get("name", "")))


def _closed_owners(labels: Tree, owners: object) -> str:
    """Return the owners without placeholders, which have the labels of the pool."""
    ours = {key: labels.get(key) for key in (SITE, RESERVATION, CLASS)}
    found = [one for one in owners if isinstance(one, dict)] if isinstance(owners, list) else []
    others = [one for one in found if _part(_part(one, "labelSelector"), "matchLabels") != ours]
    return json.dumps(others) if 0 < len(others) < len(found) else ""


def _instant(said: object) -> int | None:
    try:
        return parse_instant(str(said))
    except ValueError:
        return None


def _part(tree: Tree, key: str) -> Tree:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


MAX_LOOK_GAP = 15.0  # seconds without a look, after which nothing is known of the time between


class SlotDemand(NamedTuple):
    """How many free slots a pool needs and may keep."""

    target: PoolTarget  # whose replicas are the free slots that are wanted
    kept: int  # the most free slots that stay; not less than wanted
    expires: int | None  # when the last of the open occurrences ends; None: nothing is open

    @property
    def wanted(self) -> int:
        return self.target.replicas


def slot_demand(desired: DesiredState, owners: int, settled: int) -> SlotDemand:
    """Return the demand for slots.

    `owners` sessions own slots of the pool; `settled` sessions own none and had enough time to take one.
    """
    pool, now = desired.target.pool, desired.now
    if all(pool.key != known.key for known in desired.timetable.pools):
        return SlotDemand(desired.target, 0, None)
    asking, told = open_occurrences(desired), reported_sessions(desired)
    counted = _redistribute(told, asking, max(sum(told.values()), owners), pool)
    had = _redistribute(told, asking, min(sum(counted.values()), owners + settled), pool)
    override = desired.target.override
    ends = [item.end for item in asking] + ([] if override is None else [desired.until])
    return SlotDemand(
        pool_target(desired.timetable, pool, now, counted, override),
        pool_target(desired.timetable, pool, now, had, override).replicas,
        max(ends, default=None),
    )


def open_occurrences(desired: DesiredState) -> list[TimetableOccurrence]:
    """Return the open occurrences of the pool by end, including those without seats."""
    found = open_now(active_occurrences(desired.timetable), desired.now)
    named = [
        item for item in found if any(name == desired.target.pool.resource_class for name, _ in item.seats)
    ]
    return sorted(named, key=lambda item: (item.end, item.start, item.id))


def reported_sessions(desired: DesiredState) -> dict[str, int]:
    """Return the reported sessions by occurrence; 0 where unknown."""
    return {item.id: (desired.sessions or {}).get(item.id, 0) for item in open_occurrences(desired)}


def _redistribute(
    told: Mapping[str, int], asking: Sequence[TimetableOccurrence], total: int, pool: TimetablePool
) -> dict[str, int]:
    """Adjust the sessions to the total: fill occurrences in order, or remove from the last ones first."""
    found, full = dict(told), full_count(pool.resource_class)
    more = total - sum(found.values())
    for item in asking:
        room = min(max(full(item) - found[item.id], 0), max(more, 0))
        found[item.id] += room
        more -= room
    for item in reversed(asking):
        fewer = min(found[item.id], max(-more, 0))
        found[item.id] -= fewer
        more += fewer
    if asking:
        found[asking[0].id] += max(more, 0)
    return found


class SessionDebounce:
    """Counts sessions without a slot that had `seconds` to take one since observation began.

    A session that comes while others take their slots cannot be distinguished, so the count may be low.
    """

    def __init__(self) -> None:
        # Since when there have been so many at least that own none, all that took one until then added.
        self._lows: list[tuple[float, int]] = []
        self._since = self._last = 0.0
        self._owners: Mapping[str, int] = {}
        self._came = 0

    def look(self, now: float, sessions: int, owners: Mapping[str, int], seconds: float) -> int:
        """Add an observation. `owners` is the number of sessions that own each slot, by uid."""
        if not (self._lows and 0 <= now - self._last <= MAX_LOOK_GAP):
            self._lows, self._came, self._since = [], 0, now
            self._owners = owners
        self._came += sum(max(0, n - self._owners.get(uid, 0)) for uid, n in owners.items())
        self._owners, self._last = owners, now
        level = max(0, sessions - sum(owners.values())) + self._came
        while self._lows and self._lows[-1][1] > level:
            self._lows.pop()
        if not self._lows or self._lows[-1][1] < level:
            self._lows.append((now, level))
        while len(self._lows) > 1 and self._lows[1][0] <= now - seconds:
            del self._lows[0]
        return max(0, self._lows[0][1] - self._came) if now - self._since >= seconds else 0


PENDING_SECONDS = (
    60  # seconds that a slot of a new shape may be Pending before one of the old makes room for it
)
HANDOVER_SECONDS = 60  # seconds for which seats that were handed over wait for the others


class PlaceholderOwner(NamedTuple):
    """Identifies the placeholders of the pool among the owners of slots."""

    namespace: str
    deployment: str

    def sessions(self, slot: Slot) -> int:
        """Return how many sessions own the slot."""
        ours = f"{self.deployment}-"
        placeholders = sum(
            owner.namespace == self.namespace and owner.name.startswith(ours) for owner in slot.owners
        )
        return len(slot.owners) - placeholders


class SlotCounts(NamedTuple):
    """The slots of a pool, each in exactly one of these groups."""

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
        """The number of slots that no session uses."""
        return len(self.pending) + len(self.free) + len(self.handed)

    @property
    def living(self) -> tuple[Slot, ...]:
        return (*self.pending, *self.free, *self.handed, *self.used)

    @property
    def present(self) -> tuple[Slot, ...]:
        """All slots that have not been removed yet."""
        return (*self.living, *self.dead)

    @property
    def names(self) -> set[str]:
        return {slot.name for slot in (*self.present, *self.going)}

    def of_shape(self, slots: SlotSpec) -> "SlotCounts":
        """Return the slots that have the current shape."""

        def ours(some: tuple[Slot, ...]) -> tuple[Slot, ...]:
            return tuple(slot for slot in some if slot.name == slot_name(slots, slot.ordinal))

        pending, free, handed, used, dead, going = (ours(some) for some in self[:6])
        return SlotCounts(pending, free, handed, used, dead, going, self.owners, self.taken)


class SlotPlan(NamedTuple):
    """The planned writes to the slots of a pool."""

    make: tuple[str, ...] = ()  # names
    renew: tuple[Slot, ...] = ()  # whose end is another one now, or which no placeholder is to take any more
    remove: tuple[Slot, ...] = ()  # if they are still as they were seen
    drop: tuple[Slot, ...] = ()  # whatever has become of them
    expires: int = 0  # of those that are made and renewed

    @property
    def writes(self) -> int:
        return len(self.make) + len(self.renew) + len(self.remove) + len(self.drop)


def count_slots(slots: Iterable[Slot], home: PlaceholderOwner) -> SlotCounts:
    """Group the slots of a pool by their state."""
    found: dict[str, list[Slot]] = {kind: [] for kind in SlotCounts._fields[:6]}
    owners = {}
    for slot in sorted(slots, key=lambda slot: (slot.hash, slot.ordinal, slot.name)):
        sessions = home.sessions(slot)
        if slot.is_terminating:
            kind = "going"
        elif slot.phase in FINISHED_PHASES:
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
    return SlotCounts(pending, free, handed, used, dead, going, owners)


def bridging_placeholders(found: SlotCounts, slots: SlotSpec, wanted: int, replicas: int, now: float) -> int:
    """Return how many placeholders should exist beside the slots.

    Placeholders hold the missing seats until all of them have handed over or have waited long enough. Then
    all are removed, and the rest is requested again once they have left: when a Deployment is scaled down,
    the pods that still wait for a node go first, and these are the wrong ones. Removed placeholders leave one
    after the other; if more were requested meanwhile, they would return. No placeholder is requested that
    could take a free slot.
    """
    ours = found.of_shape(slots)
    missing, handed = wanted - len(ours.free), ours.handed
    if missing <= 0:
        return 0
    if handed:
        waited = now - min(slot.created for slot in handed)
        if len(handed) >= missing or waited >= HANDOVER_SECONDS or not replicas:
            return 0
    return min(missing, replicas) if any(slot.is_to_close for slot in found.free) else missing


def plan_slots(
    found: SlotCounts, slots: SlotSpec, demand: SlotDemand, now: float, ready: int = 0
) -> SlotPlan:
    """Return the writes that bring the slots to the demand.

    `ready` placeholders can hand over, where placeholders come first.
    """
    if demand.expires is None:
        return SlotPlan(drop=found.present)
    ours = found.of_shape(slots)
    room = demand.wanted
    if slots.placeholders:
        room = len(ours.free) + min(max(demand.wanted - len(ours.free), 0), ready)
    removed = (*_surplus(ours, demand.kept), *_outdated(found, ours, demand.kept, now))
    gone = {slot.name for slot in removed}
    return SlotPlan(
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


def _surplus(ours: SlotCounts, kept: int) -> tuple[Slot, ...]:
    """Return the slots to remove: pending ones first, then the last. Handed-over ones wait for their
    placeholder.
    """
    number = max(0, ours.spare - kept)
    return (*reversed(ours.pending), *reversed(ours.free))[:number]


def _outdated(found: SlotCounts, ours: SlotCounts, kept: int, now: float) -> tuple[Slot, ...]:
    """Return slots of other shapes that can go.

    Each stays until a slot of the current shape holds its seat, or has waited long enough for its room.
    """
    new = set(ours.names)
    pending, free, handed = (
        tuple(slot for slot in some if slot.name not in new)
        for some in (found.pending, found.free, found.handed)
    )
    waiting = sum(now - slot.created >= PENDING_SECONDS for slot in ours.pending)
    stay = max(0, kept - len(ours.free) - len(ours.handed) - waiting)
    number = max(0, len(free) + len(handed) - stay)
    return (*pending, *reversed(free))[: len(pending) + number]


def _names(slots: SlotSpec, number: int, taken: Collection[str]) -> tuple[str, ...]:
    """Return names with the lowest free ordinals."""
    found: list[str] = []
    ordinal = 0
    while len(found) < number:
        name = slot_name(slots, ordinal)
        if name not in taken:
            found.append(name)
        ordinal += 1
    return tuple(found)
