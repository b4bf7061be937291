"""Any history of sessions gives what the formula says, asked directly and second by second."""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

from berth.core.claims import count_sessions
from berth.core.sessions import Claim, Match, Session, ranked
from berth.core.target import Stabilizer, desired_state, open_now
from berth.core.timetable import BEHAVIORS, Timetable, TimetableOccurrence
from berth.simulation import CLOCK, SessionChange, SimulationEvent, simulate
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulating import BUFFER, POOL, held, plan

# Small whole numbers stand for seconds, so that every instant can be asked.
LAST = 60
ROWS = st.tuples(
    st.integers(0, 10),
    st.integers(0, 30),
    st.integers(1, 20),
    st.integers(1, 12),
)


def occurrence(name: str, row: tuple[int, int, int, int]) -> TimetableOccurrence:
    lead, opens, length, count = row
    start = opens + lead
    return TimetableOccurrence(name, opens, start, start + length, (("small", count),))


OCCURRENCES = st.lists(ROWS, min_size=1, max_size=3).map(
    lambda rows: tuple(occurrence(str(n), row) for n, row in enumerate(rows))
)


@st.composite
def histories(draw: st.DrawFn) -> list[SessionChange]:
    """In order; never do more leave than are there."""
    moves, there = [], 0
    for moment in sorted(draw(st.lists(st.integers(0, LAST), max_size=12))):
        number = draw(st.integers(-there, 15).filter(bool))
        there += number
        moves.append(SessionChange(moment, number))
    return moves


def stabilized(
    occurrences: tuple[TimetableOccurrence, ...], moves: Sequence[SessionChange], wait: int, rule: str
) -> list[int]:
    """The target at each instant as the scaler finds it that looks every second, and at each session."""
    rows = tuple(one._replace(behavior=rule) for one in occurrences)
    timetable = Timetable("", False, (POOL,), rows)
    stabilizer, there, found = Stabilizer(), deque[Session](), []

    def look(now: int) -> int:
        claims = ranked(
            Claim(one.id, *one[1:4], one.seats[0][1], Match()) for one in open_now(occurrences, now)
        )
        counts = count_sessions(there, claims)
        desired = desired_state(timetable, POOL, now, counts)
        return stabilizer.settle(desired, now, wait).target.replicas

    for now in range(LAST + 1):
        if not any(now in one[1:4] for one in occurrences):  # else sessions and windows change at once
            look(now)
        for move in (move for move in moves if move.at == now):
            for _ in range(abs(move.number)):
                if move.number > 0:
                    there.append(Session("", "", now))
                else:
                    there.popleft()
        found.append(look(now))
    return found


@given(OCCURRENCES, histories(), st.integers(0, 20))
@settings(max_examples=150)
def test_the_target_is_that_of_the_scaler_at_every_instant_of_any_history(
    occurrences: tuple[TimetableOccurrence, ...], moves: list[SessionChange], wait: int
) -> None:
    steps = simulate(plan(*occurrences, wait=wait), moves, BEHAVIORS, 0, LAST)

    for place, rule in enumerate(BEHAVIORS):
        expected = stabilized(occurrences, moves, wait, rule)
        assert [held(steps, now, place) for now in range(LAST + 1)] == expected, rule


@given(OCCURRENCES.map(lambda some: some[0]), histories(), st.integers(0, 20))
@settings(max_examples=150)
def test_targets_keep_the_promise_and_are_zero_outside_of_the_window(
    one: TimetableOccurrence, moves: list[SessionChange], wait: int
) -> None:
    """What a session leaves behind is missing for the wait, and for no longer."""
    steps = simulate(plan(one, wait=wait), moves, BEHAVIORS, 0, LAST)

    for step in steps:
        maintain, reduce, none, buffer = step.targets
        if one.open <= step.at < one.end:
            seats = one.count("small")
            assert wait or maintain + step.active >= seats
            assert 0 <= reduce <= maintain <= none == seats
            assert min(seats, BUFFER.minimum) <= buffer <= seats
        else:
            assert step.targets == (0, 0, 0, 0)


@given(OCCURRENCES, histories(), st.integers(0, 20))
@settings(max_examples=100)
def test_steps_ascend_with_events_and_a_clock_event_alone_changes_a_target(
    occurrences: tuple[TimetableOccurrence, ...], moves: list[SessionChange], wait: int
) -> None:
    steps = simulate(plan(*occurrences, wait=wait), moves, BEHAVIORS, 0, LAST)

    assert [step.at for step in steps] == sorted({step.at for step in steps})
    assert all(step.events for step in steps[1:])
    for before, step in pairwise(steps):
        if step.events == (SimulationEvent(CLOCK),):
            assert step.targets != before.targets
            assert step.active == before.active
