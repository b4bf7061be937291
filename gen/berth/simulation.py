"""Simulate the target of a pool for sessions that come and go.

The code of the scaler (formula, target, attribution) is driven by events, without a clock. A session that
left raises no target for the site's `stabilizationSeconds`.
All sessions are of one resource class and match the reservation.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from berth.core.claims import CompetingReservation, count_sessions, open_claims
from berth.core.sessions import Claim, Session, ranked
from berth.core.target import desired_state, full_count, grows_with_sessions
from berth.core.timetable import (
    MAX_TARGET,
    Override,
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    active_occurrences,
)
from berth.plugins.numbers.peers import peer_targets

OPENS, STARTS, ENDS = "opens", "starts", "ends"
HANDED_OVER = "has handed over"
COME, LEAVE, WAIT_OVER, CLOCK = "come", "leave", "wait over", "clock"


class SessionChange(NamedTuple):
    """Sessions that come at an instant, or leave if the number is negative."""

    at: int
    number: int


class SimulationEvent(NamedTuple):
    """The cause of a step.

    An occurrence `opens`, `starts`, `ends` or `has handed over` its sessions to the next; sessions
    `come` or `leave`; the `wait` of some that left is `over`; or only the `clock` changes a target. A
    rehearsal only opens and ends.
    """

    kind: str
    occurrence: str = ""
    number: int = 0


class SimulationStep(NamedTuple):
    """The state from an instant on.

    `active` sessions are present; `targets` are those of the given behaviors.
    """

    at: int
    active: int
    targets: tuple[int, ...]
    events: tuple[SimulationEvent, ...]


class SimulationSetup(NamedTuple):
    """A pool with all occurrences of its reservation, and how long a session that left raises no target.

    `peers` are the timetables of other reservations that hold the same number.
    """

    pool: TimetablePool
    occurrences: tuple[TimetableOccurrence, ...]
    stabilization_seconds: int
    peers: tuple[Timetable, ...] = ()


def simulate(
    plan: SimulationSetup, changes: Sequence[SessionChange], behaviors: Sequence[str], first: int, last: int
) -> list[SimulationStep]:
    """Return a step for `first` and for each instant up to `last` (inclusive) at which anything changes.

    `changes` are sorted by time and may begin before `first`. The first session to come is the first to
    leave; never more leave than are present. An empty behavior is that of the timetable.
    """
    sessions = _SimulatedSessions(plan, behaviors, first, last)
    agenda = _agenda(sessions.occurrences, plan.pool.match.handover, changes, first, last)
    for at, of_others in _agenda(_shared_occurrences(plan), 0, (), first, last).items():
        agenda.setdefault(at, []).extend(of_others)
    waits = {change.at + plan.stabilization_seconds for change in changes if change.number < 0}
    times = sorted({first, *agenda, *(at for at in waits if at <= last)})
    steps: list[SimulationStep] = []
    for now, until in pairwise([*times, last + 1]):
        events = tuple(agenda.get(now, ()))
        sessions.advance(now, events)
        if now < first:
            continue
        targets = sessions.targets(now)
        if not steps or events or targets != steps[-1].targets:
            is_raised = steps and any(new > old for new, old in zip(targets, steps[-1].targets, strict=True))
            cause = SimulationEvent(WAIT_OVER if is_raised and now in waits else CLOCK)
            steps.append(SimulationStep(now, sessions.active, targets, events or ((cause,) if steps else ())))
        for at in _moments(sessions.targets, now, until):
            moved = sessions.targets(at)
            steps.append(SimulationStep(at, sessions.active, moved, (SimulationEvent(CLOCK),)))
    return steps


def _shared_occurrences(plan: SimulationSetup) -> tuple[TimetableOccurrence, ...]:
    """Return when other reservations hold the number."""
    return tuple(
        occurrence
        for timetable in plan.peers
        for pool in timetable.pools
        if pool.key == plan.pool.key
        for occurrence in active_occurrences(timetable)
        if occurrence.count(pool.resource_class)
    )


def _agenda(
    occurrences: Collection[TimetableOccurrence],
    handover: int,
    changes: Iterable[SessionChange],
    first: int,
    last: int,
) -> dict[int, list[SimulationEvent]]:
    """Return the given events by instant."""
    agenda: dict[int, list[SimulationEvent]] = {}
    for occurrence in occurrences:
        until = occurrence.end + handover
        follows = any(
            occurrence.end <= next_.start and next_.open < until < next_.end and not next_.rehearses
            for next_ in occurrences
        )
        hands_over = handover and follows and not occurrence.rehearses
        handed_over = [(until, HANDED_OVER)] if hands_over else []
        for at, kind in (
            (occurrence.end, ENDS),
            *handed_over,
            (occurrence.open, OPENS),
            *([] if occurrence.rehearses else [(occurrence.start, STARTS)]),
        ):
            if first <= at <= last:
                agenda.setdefault(at, []).append(SimulationEvent(kind, occurrence.id))
    for change in changes:
        if change.at <= last:
            kind = COME if change.number > 0 else LEAVE
            agenda.setdefault(change.at, []).append(SimulationEvent(kind, number=abs(change.number)))
    return agenda


def _moments(value: Callable[[int], tuple[int, ...]], now: int, until: int) -> Iterator[int]:
    """Yield where `value` changes between two instants, both exclusive. It never returns to an old value."""
    while value(until - 1) != (before := value(now)):
        now += 1 + bisect_left(range(now + 1, until), True, key=lambda at: value(at) != before)
        yield now


class _SimulatedSessions:
    """The sessions, the occurrences they count for, and the targets."""

    def __init__(self, plan: SimulationSetup, behaviors: Sequence[str], first: int, last: int) -> None:
        self._pool, match = plan.pool, plan.pool.match
        count = full_count(plan.pool.resource_class)
        near = (
            occurrence
            for occurrence in plan.occurrences
            if occurrence.open <= last and first <= occurrence.end + match.handover
        )
        self.occurrences = tuple(occurrence for occurrence in near if count(occurrence))
        self._timetable = Timetable("", False, (plan.pool,), self.occurrences)
        self._peers, self._behaviors, self._seconds = plan.peers, behaviors, plan.stabilization_seconds
        # A session that matches all selectors of the reservation.
        namespace = match.namespaces[0] if match.namespaces else ""
        self._usual = Session("", namespace, 0, dict(match.labels), dict(match.annotations), match.template)
        self._here = deque[Session]()
        self._counts: dict[str, int] = {}
        self._claims: tuple[Claim, ...] = ()
        self._lows: list[tuple[int, tuple[int, ...]]] = []  # until when, and the targets that held before

    @property
    def active(self) -> int:
        return sum(self._counts.values())

    def advance(self, now: int, events: Sequence[SimulationEvent]) -> None:
        """Advance to `now`, at which these events happen."""
        if any(event.kind in (OPENS, STARTS, ENDS, HANDED_OVER) for event in events):
            self._lows = []
        elif any(event.kind == LEAVE for event in events):
            self._lows.append((now + self._seconds, self._lows_of(now)))
        for event in events:
            if event.kind == COME:
                self._here.extend(self._usual._replace(created=now) for _ in range(event.number))
            for _ in range(event.number if event.kind == LEAVE else 0):
                self._here.popleft()
        self._claims = self._open_claims(now) or self._claims  # without claims, sessions keep the last ones
        self._counts = count_sessions(self._here, self._claims)

    def targets(self, now: int) -> tuple[int, ...]:
        """Return the targets of the behaviors, valid until the next advance."""
        lows = [low for until, low in self._lows if now < until]
        found = tuple(self._target(behavior, now) for behavior in self._behaviors)
        return tuple(map(min, zip(found, *lows, strict=True)))

    def _lows_of(self, now: int) -> tuple[int, ...]:
        """Return the targets that hold on for a while when sessions leave."""
        ends = [self._with(behavior).occurrences for behavior in self._behaviors]
        return tuple(
            MAX_TARGET if grows_with_sessions(rows, self._pool) else target
            for rows, target in zip(ends, self.targets(now), strict=True)
        )

    def _with(self, behavior: str) -> Timetable:
        """Return the timetable with a behavior instead of what each occurrence has; empty: as it is."""
        rows = self.occurrences
        if behavior:
            rows = tuple(occurrence._replace(behavior=behavior) for occurrence in rows)
        return self._timetable._replace(occurrences=rows)

    def _open_claims(self, now: int) -> tuple[Claim, ...]:
        name = self._pool.resource_class
        attended = tuple(occurrence for occurrence in self.occurrences if not occurrence.rehearses)
        own = CompetingReservation("", ((name, self._pool.match),), attended)
        claims = ranked(open_claims([own], name, now).values())
        return () if all(claim.is_over for claim in claims) else claims

    def _target(self, behavior: str, now: int) -> int:
        timetable = self._with(behavior)
        peers = peer_targets(self._pool, ((peer, {}) for peer in self._peers), now)
        wanted = desired_state(timetable, self._pool, now, self._counts, peers=peers).target
        return wanted.replicas if wanted.is_open else self._target_of_peers(now)

    def _target_of_peers(self, now: int) -> int:
        """Return the number as the first of those sets it that hold it."""
        for timetable in self._peers:
            others: list[tuple[Timetable, dict[str, Override]]] = [
                (peer, {}) for peer in self._peers if peer is not timetable
            ]
            for pool in timetable.pools:
                peers = peer_targets(pool, others, now)
                wanted = desired_state(timetable, pool, now, peers=peers).target
                if pool.key == self._pool.key and wanted.is_open:
                    return wanted.replicas
        return 0
