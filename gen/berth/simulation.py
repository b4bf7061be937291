"""Simulate the target of a pool for sessions that come and go.

The code of the scaler (formula, target, attribution, grace period) is driven by events, without a clock.
All sessions are of one resource class and match the reservation.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from berth.core.claims import ClaimCounts, CompetingReservation, SessionCounter, open_claims
from berth.core.sessions import Claim, Session, ranked
from berth.core.target import desired_state, full_count, peer_targets
from berth.core.timetable import Override, Timetable, TimetableOccurrence, TimetablePool, active_occurrences

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
    `come`, `leave`, or stop counting (`wait over`); or only the `clock` changes a target. A rehearsal only
    opens and ends.
    """

    kind: str
    occurrence: str = ""
    number: int = 0


class SimulationStep(NamedTuple):
    """The state from an instant on.

    `active` sessions are present; `waiting` ones left and still count; `targets` are those of the given
    behaviors.
    """

    at: int
    active: int
    waiting: int
    targets: tuple[int, ...]
    events: tuple[SimulationEvent, ...]


class SimulationSetup(NamedTuple):
    """A pool with all occurrences of its reservation, and the grace period of sessions.

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
    sessions = _SimulatedSessions(plan, first, last)
    agenda = _agenda(sessions.occurrences, plan.pool.match.handover, changes, first, last)
    for at, of_others in _agenda(_shared_occurrences(plan), 0, (), first, last).items():
        agenda.setdefault(at, []).extend(of_others)
    waits = {change.at + plan.stabilization_seconds for change in changes if change.number < 0}
    times = sorted({first, *agenda, *(at for at in waits if at <= last)})
    steps: list[SimulationStep] = []
    for now, until in pairwise([*times, last + 1]):
        events = sessions.advance(now, agenda.get(now, ()))
        if now < first:
            continue
        targets = sessions.targets(behaviors, now)
        if not steps or events or targets != steps[-1].targets:
            why = events or ((SimulationEvent(CLOCK),) if steps else ())
            steps.append(SimulationStep(now, sessions.active, sessions.waiting, targets, why))
        for at in _moments(lambda at: sessions.targets(behaviors, at), now, until):
            moved = sessions.targets(behaviors, at)
            steps.append(
                SimulationStep(at, sessions.active, sessions.waiting, moved, (SimulationEvent(CLOCK),))
            )
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
    """The sessions, and the occurrences they count for."""

    def __init__(self, plan: SimulationSetup, first: int, last: int) -> None:
        self._pool, match = plan.pool, plan.pool.match
        count = full_count(plan.pool.resource_class)
        near = (
            occurrence
            for occurrence in plan.occurrences
            if occurrence.open <= last and first <= occurrence.end + match.handover
        )
        self.occurrences = tuple(occurrence for occurrence in near if count(occurrence))
        self._timetable = Timetable("", False, (plan.pool,), self.occurrences)
        self._peers = plan.peers
        # A session that matches all selectors of the reservation.
        namespace = match.namespaces[0] if match.namespaces else ""
        self._usual = Session("", namespace, 0, dict(match.labels), dict(match.annotations), match.template)
        self._counter = SessionCounter(plan.stabilization_seconds, lambda session, _: session.template)
        self._here = deque[str]()
        self._arrived = 0
        self._counts = ClaimCounts({}, {})

    @property
    def active(self) -> int:
        return sum(self._counts.here.values())

    @property
    def waiting(self) -> int:
        return sum(self._counts.counted.values()) - self.active

    def advance(self, now: int, happening: Iterable[SimulationEvent]) -> tuple[SimulationEvent, ...]:
        """Advance to `now` and return all events then."""
        waited = self.waiting
        self._counts = self._counter.counts(now)
        over = waited - self.waiting
        if claims := self._claims(now):  # without claims, sessions keep the last ones
            self._counter.set_claims(claims)
        events = (*((SimulationEvent(WAIT_OVER, number=over),) if over else ()), *happening)
        for event in events:
            if event.kind == COME:
                self._come(event.number, now)
            elif event.kind == LEAVE:
                for _ in range(event.number):
                    self._counter.leave(self._here.popleft(), now)
        self._counts = self._counter.counts(now)
        return events

    def _claims(self, now: int) -> tuple[Claim, ...]:
        name = self._pool.resource_class
        attended = tuple(occurrence for occurrence in self.occurrences if not occurrence.rehearses)
        own = CompetingReservation("", ((name, self._pool.match),), attended)
        claims = ranked(open_claims([own], name, now).values())
        return () if all(claim.is_over for claim in claims) else claims

    def _come(self, number: int, now: int) -> None:
        for _ in range(number):
            self._arrived += 1
            session = self._usual._replace(id=str(self._arrived), created=now)
            self._here.append(session.id)
            self._counter.arrive(session, now)

    def targets(self, behaviors: Iterable[str], now: int) -> tuple[int, ...]:
        """Return the targets of the behaviors, valid until the next advance."""
        return tuple(self._target(behavior, now) for behavior in behaviors)

    def _target(self, behavior: str, now: int) -> int:
        timetable = self._timetable
        if behavior:  # instead of what each occurrence has
            rows = tuple(occurrence._replace(behavior=behavior) for occurrence in self.occurrences)
            timetable = timetable._replace(occurrences=rows)
        peers = peer_targets(self._pool, ((peer, {}) for peer in self._peers), now)
        wanted = desired_state(timetable, self._pool, now, self._counts.counted, None, peers).target
        return wanted.replicas if wanted.is_open else self._target_of_peers(now)

    def _target_of_peers(self, now: int) -> int:
        """Return the number as the first of those sets it that hold it."""
        for timetable in self._peers:
            others: list[tuple[Timetable, dict[str, Override]]] = [
                (peer, {}) for peer in self._peers if peer is not timetable
            ]
            for pool in timetable.pools:
                peers = peer_targets(pool, others, now)
                wanted = desired_state(timetable, pool, now, None, None, peers).target
                if pool.key == self._pool.key and wanted.is_open:
                    return wanted.replicas
        return 0
