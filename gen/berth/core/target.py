"""How many placeholders a pool should have at an instant, and when that changes next.

Pure functions of a timetable, an instant and what was observed: two programs with the same observations make
the same decision. `placeholders` is the formula for one occurrence, `target` the sum for a pool.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from berth.core.timetable import (
    OVERLAPS,
    Buffer,
    Override,
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    active_occurrences,
    override_target,
)


def placeholders(
    behavior: str | Buffer, count: int, active: int, window: tuple[int, int, int], now: int
) -> int:
    """Return how many placeholders an occurrence needs for `count` seats and `active` sessions.

    `window` is open, start and end in seconds. The result is 0 before open and from end on. `none` returns
    all seats regardless of sessions, `maintain` the free seats, `reduce` a share of the free seats that falls
    from 1 at the start to 0 at the end, rounded half up, and a buffer its percentage of the sessions, rounded
    up, at least its minimum and at most `count`.
    """
    opens, start, end = window
    if not opens <= now < end:
        return 0
    if behavior == "none":
        return count
    if isinstance(behavior, Buffer):
        return min(count, max(behavior.minimum, -(-active * behavior.percent // 100)))
    spare = max(count - active, 0)
    if behavior != "reduce" or now <= start:
        return spare
    return (2 * spare * (end - now) + (end - start)) // (2 * (end - start))


def full_count(resource_class: str) -> Callable[[TimetableOccurrence], int]:
    """Return a function for the seats of an occurrence in the pool of a class, ignoring sessions."""
    return lambda occurrence: occurrence.count(resource_class)


def open_now(occurrences: Iterable[TimetableOccurrence], now: int) -> tuple[TimetableOccurrence, ...]:
    """Return the occurrences that are open at `now`."""
    return tuple(item for item in occurrences if item.open <= now < item.end)


def target(
    occurrences: Iterable[TimetableOccurrence],
    now: int,
    seats: Callable[[TimetableOccurrence], int],
    overlap: str = "sum",
) -> int:
    """Return the target of a pool at `now`.

    It is the sum (or maximum) over the started occurrences, and during the lead of an occurrence at least the
    one over those that will run at its start. So free seats of back-to-back occurrences do not double, and
    overlapping ones add up before the second starts.

    For example, 25 seats from 08:00 to 10:00 and 25 from 10:00 to 12:00, each with half an hour of lead, are
    25 seats from 07:30 to 12:00 if nobody comes. `seats` is called for open occurrences only. A rehearsal
    asks for seats of its own, also during the lead of another occurrence.
    """
    asked = [(item, seats(item)) for item in open_now(occurrences, now)]
    classes = [(item, count) for item, count in asked if not item.rehearses]

    def running_at(instant: int) -> int:
        return OVERLAPS[overlap](count for item, count in classes if item.start <= instant < item.end)

    running = [running_at(max(now, item.start)) for item, _ in classes]
    counts = [min(running) if overlap == "min" else max(running)] if running else []
    counts += [count for item, count in asked if item.rehearses]
    return OVERLAPS[overlap](counts) if counts else 0


def next_change(occurrences: Iterable[TimetableOccurrence], now: int) -> int | None:
    """Return the next instant after `now` at which an occurrence opens, starts or ends."""
    return min(
        (instant for item in occurrences for instant in (item.open, item.start, item.end) if instant > now),
        default=None,
    )


def opens_within(
    occurrences: Iterable[TimetableOccurrence], now: int, seconds: int
) -> TimetableOccurrence | None:
    """Return the first occurrence that is closed at `now` and opens at most `seconds` later."""
    coming = (item for item in occurrences if now < item.open <= now + seconds)
    return min(coming, key=lambda item: (item.open, item.id), default=None)


# The desired state of a pool.


EARLY_START = 120  # seconds: a run that comes this early waits, because clocks differ


def pools_to_reconcile(
    known: Mapping[str, TimetablePool], named: Iterable[TimetablePool]
) -> dict[str, TimetablePool]:
    """Return the pools to reconcile, by key.

    `known` are the pools that were reconciled before, `named` those of the current timetable. If the backend
    of a pool changes, what the previous backend has left is a pool of its own that no timetable names. Only
    one reconciler acts on a Deployment: the one for the current timetable.
    """
    pools = {}
    for pool in known.values():
        for holder in pool.holder.leftovers():
            left = pool._replace(holder=holder)
            pools[left.key] = left
    for pool in named:
        pools[pool.key] = pool
        for holder in pool.holder.leftovers():
            if holder.key(pool.name) != pool.key:
                pools.pop(holder.key(pool.name), None)
    return pools


class PoolTarget(NamedTuple):
    """What a pool should have at an instant, and the open occurrences that request it."""

    pool: TimetablePool
    replicas: int
    occurrences: tuple[str, ...]
    sessions: int | None = None  # that count for these or hand over to them; None: nobody asked or knows
    override: int | None = None  # what a person has set instead
    is_shared: bool = False  # other reservations ask for the same number

    @property
    def is_open(self) -> bool:
        """Whether anything asks for seats, be it for 0 of them."""
        return bool(self.occurrences) or self.override is not None


class DesiredState(NamedTuple):
    """The target of a pool, and what it was computed from."""

    target: PoolTarget
    timetable: Timetable
    now: int
    sessions: Mapping[str, int] | None = None
    until: int = 0  # when the override of the class is over


def pool_target(
    timetable: Timetable,
    pool: TimetablePool,
    now: int,
    sessions: Mapping[str, int] | None = None,
    override: int | None = None,
) -> PoolTarget:
    """Return what a pool should have; nothing for a pool that the timetable does not name.

    `sessions` is the number of sessions that were attributed to each of `counted_occurrences`, by id.
    Occurrences without a number get their full count.
    """
    if all(pool.key != known.key for known in timetable.pools):
        return PoolTarget(pool, 0, ())
    counted, told = counted_occurrences(active_occurrences(timetable), pool, now), sessions or {}
    asking = tuple(item.id for item in counted if now < item.end)
    counting = {item.id for item in counted if now < item.end and not item.rehearses}
    known = sum(told.get(item.id, 0) for item in counted) if told and told.keys() >= counting else None
    seats = _seats(pool, now, shared_sessions(pool, counted, told))
    wanted = target(counted, now, seats, pool.overlap) if override is None else override
    return PoolTarget(pool, wanted, asking, known, override)


def counted_occurrences(
    occurrences: Iterable[TimetableOccurrence], pool: TimetablePool, now: int
) -> tuple[TimetableOccurrence, ...]:
    """Return the occurrences of the pool to which sessions are attributed.

    These are the open ones, and those that are over and hand over to an open one. A rehearsal counts none and
    hands over nothing.
    """
    seats, handover = full_count(pool.resource_class), pool.match.handover
    near = [
        item
        for item in occurrences
        if item.open <= now < item.end + (0 if item.rehearses else handover) and seats(item)
    ]
    last = max((item.start for item in near if now < item.end and not item.rehearses), default=0)
    return tuple(item for item in near if now < item.end or item.end <= last)


def shared_sessions(
    pool: TimetablePool, occurrences: Sequence[TimetableOccurrence], sessions: Mapping[str, int]
) -> dict[str, int]:
    """Return how many sessions count for each occurrence: its own, and those that others share with it."""
    return {
        item.id: sum(sessions.get(other.id, 0) for other in occurrences if pool.shares(item, other))
        for item in occurrences
        if item.id in sessions
    }


def _seats(
    pool: TimetablePool, now: int, sessions: Mapping[str, int]
) -> Callable[[TimetableOccurrence], int]:
    full = full_count(pool.resource_class)

    def seats(item: TimetableOccurrence) -> int:
        if item.id not in sessions:
            return full(item)
        behavior: str | Buffer = item.behavior or pool.behavior
        if behavior == "buffer" and pool.buffer:
            behavior = pool.buffer
        return placeholders(behavior, full(item), sessions[item.id], (item.open, item.start, item.end), now)

    return seats


def desired_state(  # noqa: PLR0913, PLR0917
    timetable: Timetable,
    pool: TimetablePool,
    now: int,
    sessions: Mapping[str, int] | None = None,
    overrides: Mapping[str, Override] = {},
    peers: Iterable[PoolTarget] = (),
) -> DesiredState:
    """Return the desired state of a pool at `now`.

    `peers` is what other reservations ask of the same number.
    """
    sessions = None if pool.peers else sessions  # others cannot know them, and must want the same
    name = pool.resource_class
    wanted = pool_target(timetable, pool, now, sessions, override_target(overrides, name, now))
    if asking := [peer for peer in peers if peer.is_open]:
        overlap = max(pool.overlap, *(peer.pool.overlap for peer in asking))  # "sum" if any says so
        own = (wanted.replicas,) if wanted.is_open else ()
        replicas = OVERLAPS[overlap]((*own, *(peer.replicas for peer in asking)))
        wanted = wanted._replace(replicas=replicas, is_shared=True)
    until = overrides[name].until if name in overrides else 0
    return DesiredState(wanted, timetable, now, sessions, until)


def grows_with_sessions(occurrences: Iterable[TimetableOccurrence], pool: TimetablePool) -> bool:
    """Return whether sessions that come may raise the target: nothing is to wait then."""
    return any((item.behavior or pool.behavior) == "buffer" for item in occurrences)


class Stabilizer:
    """Keeps a pool from being raised for a session that left a moment ago, because sessions are restarted.

    A target is the least of the last seconds in which nothing but sessions has changed.
    """

    def __init__(self) -> None:
        self._seen: list[tuple[float, DesiredState]] = []  # until when, ascending by time and by target
        self._basis: object = None

    def settle(self, desired: DesiredState, now: float, seconds: float) -> DesiredState:
        """Return the desired state that holds now; an unknown number of sessions is not waited for."""
        timetable = desired.timetable
        if grows_with_sessions(timetable.occurrences, desired.target.pool):
            return desired
        change = next_change(active_occurrences(timetable), desired.now)
        basis = timetable, desired.target.override, change, desired.sessions is None
        if basis != self._basis:
            self._basis, self._seen = basis, []
        if self._seen:  # the last one has held until now
            self._seen[-1] = now, self._seen[-1][1]
        # A clock that was set back makes no target last longer.
        self._seen = [(at, seen) for at, seen in self._seen if now - seconds < at <= now]
        while self._seen and self._seen[-1][1].target.replicas >= desired.target.replicas:
            self._seen.pop()
        self._seen.append((now, desired))
        return self._seen[0][1]

    def next_change(self, seconds: float) -> float | None:
        """Return when a target that is lower than later ones stops to hold."""
        return self._seen[0][0] + seconds if len(self._seen) > 1 else None
