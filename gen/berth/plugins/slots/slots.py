"""Slots: Koordinator Reservations that hold one seat each, how many a pool needs, and what to change. Pure.

Reservations are cluster-scoped and have no owner, so labels identify a slot. Its name contains its ordinal
and the hash of its shape.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count, islice
from types import MappingProxyType
from typing import NamedTuple

from berth.core.jsonvalues import Tree, instant_or_none, instant_text, parse_instant, part, parts
from berth.core.labels import CLASS, PERSISTENT, RESERVATION, ROLE, SITE
from berth.core.objects import condition_message, is_terminating
from berth.core.target import DesiredState, PoolTarget, counted_occurrences, full_count, open_now, pool_target
from berth.core.timetable import TimetableOccurrence, TimetablePool, active_occurrences
from berth.plugins.slots.slotspec import SlotSpec

ALLOCATED = "scheduling.koordinator.sh/reservation-allocated"  # annotation of a pod: its slot
AVAILABLE, PENDING = "Available", "Pending"
FINISHED_PHASES = ("Succeeded", "Failed")
MAX_TTL = 876_600 * 3600  # seconds, a hundred years; Koordinator stops at a duration that Go cannot parse
TTL_MARGIN = 3600  # seconds by which `ttl` exceeds `expires`, because clocks differ; the earlier one counts


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
    expires: int | None  # None: absent or malformed
    phase: str
    owners: tuple[SlotOwner, ...]  # pods that use it
    is_terminating: bool = False
    closed: str = ""  # spec.owners in JSON without our placeholders, if it still allows them
    node: str = ""
    refusal: str = ""  # why it is Pending

    @property
    def is_to_close(self) -> bool:
        """Whether the slot is Available and still allows placeholders as owners."""
        return bool(self.closed) and self.phase == AVAILABLE

    @property
    def hash(self) -> str:
        return self.name.rpartition("-")[2]

    @property
    def ordinal(self) -> int:
        digits = self.name.rpartition("-")[0].rpartition("-")[2]
        return int(digits) if digits.isascii() and digits.isdigit() else -1


def parse_slot(tree: Tree) -> Slot:
    """Parse a Reservation. Raises KeyError, TypeError or ValueError if it is malformed."""
    metadata, spec, status = (part(tree, key) for key in ("metadata", "spec", "status"))
    return Slot(
        str(metadata["name"]),
        str(metadata["uid"]),
        str(metadata["resourceVersion"]),
        parse_instant(str(metadata["creationTimestamp"])),
        instant_or_none(spec.get("expires")),
        str(status.get("phase") or PENDING),
        tuple(
            SlotOwner(str(owner.get("namespace", "")), str(owner.get("name", "")))
            for owner in parts(status, "currentOwners")
        ),
        is_terminating(tree),
        _closed_owners(part(metadata, "labels"), parts(spec, "owners")),
        str(status.get("nodeName") or ""),
        condition_message(tree, "Scheduled", "False") or "",
    )


def slot_name(slots: SlotSpec, ordinal: int) -> str:
    return f"{slots.name}-{ordinal}-{slots.hash}"


def slot_selector(slots: SlotSpec) -> str:
    """Return the label selector of all slots of the pool, of any shape, except persistent ones."""
    labels = part(slots.shape, "metadata", "labels")
    ours = [f"{key}={labels[key]}" for key in (SITE, RESERVATION, CLASS, ROLE)]
    return ",".join((*ours, f"!{PERSISTENT}"))


def slot_object(slots: SlotSpec, name: str, now: int, expires: int) -> Tree:
    """Return the Reservation to create."""
    metadata = {**part(slots.shape, "metadata"), "name": name}
    return {"metadata": metadata, "spec": {**part(slots.shape, "spec"), **slot_lifetime(now, expires)}}


def slot_lifetime(created: int, expires: int) -> Tree:
    """Return the fields that end a slot. Without a `ttl`, Koordinator ends a Reservation after a day."""
    minutes = max(0, -(-(expires - created) // 60))
    return {"expires": instant_text(expires), "ttl": go_duration(min(60 * minutes, MAX_TTL) + TTL_MARGIN)}


def go_duration(seconds: int) -> str:
    """Format seconds as Go does: `2h5m0s`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    text = f"{minutes}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"
    return f"{hours}h{text}" if hours else text


def _closed_owners(labels: Tree, owners: Sequence[Tree]) -> str:
    """Return the owners without placeholders, which have the labels of the pool."""
    ours = {key: labels.get(key) for key in (SITE, RESERVATION, CLASS)}
    others = [owner for owner in owners if part(owner, "labelSelector", "matchLabels") != ours]
    return json.dumps(others) if 0 < len(others) < len(owners) else ""


MAX_LOOK_GAP = 15.0  # seconds without an observation after which counting starts again


class SlotDemand(NamedTuple):
    """How many slots without a session a pool needs and may keep."""

    target: PoolTarget  # its replicas are the wanted slots
    kept: int  # at least as many as wanted
    expires: int | None  # when the last open occurrence ends; None: nothing is open

    @property
    def wanted(self) -> int:
        return self.target.replicas

    @property
    def is_open(self) -> bool:
        return self.expires is not None


def slot_demand(desired: DesiredState, owners: int, settled: int) -> SlotDemand:
    """Return the demand for slots; none where something else holds the pool.

    `owners` sessions own slots of the pool; `settled` sessions own none and had enough time to take one.
    """
    pool, now = desired.target.pool, desired.now
    if pool.holder.slots is None or all(pool.key != known.key for known in desired.timetable.pools):
        return SlotDemand(desired.target, 0, None)
    taking, reported = _taking(desired), reported_sessions(desired)
    counted = _redistribute(reported, taking, max(sum(reported.values()), owners), pool)
    had = _redistribute(reported, taking, min(sum(counted.values()), owners + settled), pool)
    override = desired.target.override
    ends = [item.end for item in open_occurrences(desired)] + ([] if override is None else [desired.until])
    wanted = pool_target(desired.timetable, pool, now, counted, override)
    return SlotDemand(
        wanted,
        max(wanted.replicas, pool_target(desired.timetable, pool, now, had, override).replicas),
        max(ends, default=None),
    )


def open_occurrences(desired: DesiredState) -> list[TimetableOccurrence]:
    """Return the open occurrences of the pool by end, including those without seats."""
    occurrences = open_now(active_occurrences(desired.timetable), desired.now)
    named = [
        item
        for item in occurrences
        if any(name == desired.target.pool.resource_class for name, _ in item.seats)
    ]
    return sorted(named, key=lambda item: (item.end, item.start, item.id))


def reported_sessions(desired: DesiredState) -> dict[str, int]:
    """Return the reported sessions by occurrence; 0 where unknown."""
    return {item.id: (desired.sessions or {}).get(item.id, 0) for item in _taking(desired)}


def _taking(desired: DesiredState) -> list[TimetableOccurrence]:
    """Return the occurrences that sessions count for: the open ones after those that hand over to them."""
    occurrences, now = active_occurrences(desired.timetable), desired.now
    counted = counted_occurrences(occurrences, desired.target.pool, now)
    return [*(item for item in counted if item.end <= now), *open_occurrences(desired)]


def _redistribute(
    reported: Mapping[str, int], asking: Sequence[TimetableOccurrence], total: int, pool: TimetablePool
) -> dict[str, int]:
    """Adjust the sessions to the total: fill occurrences in order, or remove from the last ones first."""
    counts, full = dict(reported), full_count(pool.resource_class)
    more = total - sum(counts.values())
    for item in asking:
        room = min(max(full(item) - counts[item.id], 0), max(more, 0))
        counts[item.id] += room
        more -= room
    for item in reversed(asking):
        fewer = min(counts[item.id], max(-more, 0))
        counts[item.id] -= fewer
        more += fewer
    if asking:
        counts[asking[0].id] += max(more, 0)
    return counts


class SessionDebounce:
    """Counts sessions that have had no slot for `seconds`.

    A session that comes while others take their slots cannot be distinguished, so the count may be low.
    """

    def __init__(self) -> None:
        # Minimum since each time of: sessions without a slot, plus all that have taken one so far.
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


PENDING_SECONDS = 30  # a slot that is Pending for longer was refused, and is tried again after minutes only
TRIAL_SECONDS = 5  # in which a slot becomes Available if there is room
HANDOVER_SECONDS = 60  # for which slots that have taken over from a placeholder wait for the others
MAX_RETRIES = 8  # slots that are made again at once


class PlaceholderOwner(NamedTuple):
    """Identifies the placeholders of the pool among the owners of slots."""

    namespace: str
    pool: str

    def sessions(self, slot: Slot) -> int:
        """Return how many sessions own the slot."""
        prefix = f"{self.pool}-"
        return sum(
            owner.namespace != self.namespace or not owner.name.startswith(prefix) for owner in slot.owners
        )


class SlotCounts(NamedTuple):
    """The slots of a pool, each in exactly one of these groups."""

    pending: tuple[Slot, ...] = ()
    free: tuple[Slot, ...] = ()
    handed: tuple[Slot, ...] = ()  # only placeholders own them, or may at any moment
    used: tuple[Slot, ...] = ()
    dead: tuple[Slot, ...] = ()  # Succeeded or Failed: they hold nothing
    going: tuple[Slot, ...] = ()  # terminating
    owners: Mapping[str, int] = MappingProxyType({})  # sessions that own a used slot, by its uid
    taken: frozenset[str] = frozenset()  # other names that cannot be used

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


class SlotPlan(NamedTuple):
    """The planned writes to the slots of a pool, each group by priority."""

    make: tuple[str, ...] = ()  # names
    renew: tuple[Slot, ...] = ()  # get another end, or no longer allow placeholders
    remove: tuple[Slot, ...] = ()  # only if they have not changed since
    drop: tuple[Slot, ...] = ()  # even if they have
    expires: int = 0  # of those that are made or renewed
    is_busy: bool = False  # the next plan is due soon

    @property
    def writes(self) -> int:
        return len(self.make) + len(self.renew) + len(self.remove) + len(self.drop)


def count_slots(slots: Iterable[Slot], home: PlaceholderOwner) -> SlotCounts:
    """Group the slots of a pool by their state."""
    groups: dict[str, list[Slot]] = {kind: [] for kind in SlotCounts._fields[:6]}
    owners = {}
    for slot in sorted(slots, key=lambda slot: (slot.hash, slot.ordinal, slot.name)):
        if slot.is_terminating:
            kind = "going"
        elif slot.phase in FINISHED_PHASES:
            kind = "dead"
        elif slot.phase != AVAILABLE:
            kind = "pending"
        elif sessions := home.sessions(slot):
            kind = "used"
            owners[slot.uid] = sessions
        else:
            # The status names a placeholder only after the slot is Available; then the slot is closed.
            kind = "handed" if slot.owners or slot.is_to_close else "free"
        groups[kind].append(slot)
    pending, free, handed, used, dead, going = (tuple(some) for some in groups.values())
    return SlotCounts(pending, free, handed, used, dead, going, owners)


def bridging_placeholders(counts: SlotCounts, wanted: int, replicas: int, now: float) -> int:
    """Return how many placeholders should exist beside the slots.

    They hold the missing seats until each has handed over to a slot, or until HANDOVER_SECONDS have passed.
    Then all are removed, and the rest is requested again after they have left, because a Deployment that is
    scaled down removes first the pods that still wait for a node. No placeholder is requested that could take
    a free slot.
    """
    missing = wanted - len(counts.free)
    if missing <= 0:
        return 0
    if counts.handed:
        waited = now - min(slot.created for slot in counts.handed)
        if len(counts.handed) >= missing or waited >= HANDOVER_SECONDS or not replicas:
            is_told = all(slot.owners for slot in counts.handed)  # who has to leave a slot before it goes
            return 0 if is_told else replicas
    is_open = any(slot.is_to_close and not slot.owners for slot in counts.handed)
    return min(missing, replicas) if is_open else missing


def plan_slots(
    counts: SlotCounts, slots: SlotSpec, demand: SlotDemand, now: float, ready: int = 0
) -> SlotPlan:
    """Return the next writes that bring the slots to the demand; there may be more after them.

    `ready` placeholders can hand over, where placeholders come first. Missing slots are made at once. Free
    slots of another shape are replaced one at a time: one is removed, and when it is gone a new one is made,
    because Koordinator does not try a slot again when another one goes. If the new slot is not Available
    after PENDING_SECONDS, the next old one is removed. For the same reason, slots that stay Pending are made
    again under other names.
    """
    if demand.expires is None:
        return SlotPlan(drop=counts.present)
    is_new = {slot: slot.name == slot_name(slots, slot.ordinal) for slot in counts.living}
    pending = sorted(filter(is_new.get, counts.pending), key=lambda slot: (slot.created, -slot.ordinal))
    unplaced = [slot for slot in counts.pending if not is_new[slot]]
    old = [slot for slot in reversed(counts.free) if not is_new[slot]]
    held = len(counts.free) + len(counts.handed) + len(pending)
    is_trying = any(now - slot.created < PENDING_SECONDS for slot in pending)
    again: list[Slot] = []
    if held > demand.kept:
        extra = [*pending, *old, *filter(is_new.get, reversed(counts.free))]
        removed = unplaced + extra[: held - demand.kept]
    elif old:
        may_replace = held == demand.kept and not is_trying and not counts.handed
        removed = unplaced + old[:may_replace]
    else:
        if not (is_trying or unplaced or counts.dead):
            again = _to_try_again(pending, [slot for slot in counts.living if is_new[slot]])
        removed = unplaced + again
    missing = max(0, demand.wanted - len(counts.free))
    room = min(missing, ready) if slots.placeholders else missing
    make = _names(
        slots,
        room - len(counts.handed) - len(pending) + len(again),
        counts.names | counts.taken,
    )
    renew = tuple(
        slot
        for slot in counts.living
        if (slot.expires != demand.expires or slot.is_to_close) and slot not in removed
    )
    is_tried = any(now - slot.created < TRIAL_SECONDS for slot in pending)
    is_busy = bool(again) or bool(old and (removed or make or is_tried))
    return SlotPlan(make, renew, tuple(removed), counts.dead, demand.expires, is_busy)


def _to_try_again(pending: Sequence[Slot], ours: Iterable[Slot]) -> list[Slot]:
    """Return the slots to make again: the oldest, and more if a slot made after them has found room."""
    placed = max((slot.created for slot in ours if slot.phase == AVAILABLE), default=0)
    return [slot for slot in pending if slot.created < placed][:MAX_RETRIES] or list(pending[:1])


def _names(slots: SlotSpec, number: int, taken: Collection[str]) -> tuple[str, ...]:
    """Return names with the lowest free ordinals."""
    names = (name for ordinal in count() if (name := slot_name(slots, ordinal)) not in taken)
    return tuple(islice(names, max(0, number)))
