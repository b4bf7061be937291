"""A simulation tells every instant at which something changes, and what the scaler would set there."""

from collections.abc import Sequence

import pytest
from berth.core.sessions import Match
from berth.core.timetable import BEHAVIORS, TimetableOccurrence
from berth.simulation import (
    CLOCK,
    COME,
    ENDS,
    HANDED_OVER,
    LEAVE,
    OPENS,
    STARTS,
    WAIT_OVER,
    SessionChange,
    SimulationEvent,
    SimulationSetup,
    SimulationStep,
    simulate,
)

from tests.cases import Case, read
from tests.runtime.timetables import at, clock
from tests.simulating import held, plan
from tests.touching import CASES as TOUCHING
from tests.touching import scene

FORMULA = [case for case in read("formula") if "count" in case]
POOLS = [case for case in read("pools") if "targets" in case]
MORNING = TimetableOccurrence("a", at("08:30"), at("09:00"), at("13:00"), (("small", 25),))
DAY = (at("00:00"), at("23:59"))


def occurrence(name: str, start: str, end: str, count: int, lead: int = 30) -> TimetableOccurrence:
    return TimetableOccurrence(name, at(start) - lead * 60, at(start), at(end), (("small", count),))


def changes(text: str) -> list[SessionChange]:
    """`08:55+10 11:00-3`, UTC."""
    return [SessionChange(at(one[:-3]), int(one[-3:])) for one in text.split()]


def told(steps: Sequence[SimulationStep]) -> list[tuple[object, ...]]:
    return [(clock(step.at), step.active, *step.targets) for step in steps]


@pytest.mark.parametrize("case", FORMULA, ids=lambda case: str(case["id"]))
def test_the_cases_of_the_formula_have_the_expected_targets(case: Case) -> None:
    start, end = case.get("window", "09:00-12:00").split("-")
    one = occurrence("a", start, end, int(case["count"]), int(case.get("lead", 30)))
    hours = [f"{hour:02}:00" for hour in range(int(start[:2]), int(end[:2]) + 1)]
    expected = case["at_each_hour"] if "at_each_hour" in case else [case["target"]]

    steps = simulate(
        plan(one), [SessionChange(one.open - 60, int(case["active"]))], (case["behavior"],), *DAY
    )

    moments = hours if "at_each_hour" in case else [case["at"]]
    assert [str(held(steps, at(moment))) for moment in moments] == expected


@pytest.mark.parametrize("case", POOLS, ids=lambda case: str(case["id"]))
def test_the_cases_of_pools_have_the_expected_targets(case: Case) -> None:
    occurrences = [
        occurrence(str(number), one["start"], one["end"], int(one["count"]), int(one["lead"]))
        for number, one in enumerate(case["occurrences"])
    ]
    active = int(case.get("active", 0))
    sessions = [SessionChange(at("07:00"), active)] if active else []

    steps = simulate(plan(*occurrences), sessions, (case["behavior"],), *DAY)

    assert {moment: str(held(steps, at(moment))) for moment in case["targets"]} == case["targets"]


def test_every_instant_with_a_change_has_a_step_and_its_reasons() -> None:
    steps = simulate(
        plan(MORNING), changes("08:55+10 09:20+08 11:00-03"), BEHAVIORS[:3], MORNING.open, MORNING.end
    )

    assert told(steps) == [
        ("08:30:00", 0, 25, 25, 25),
        ("08:55:00", 10, 15, 15, 25),
        ("09:00:00", 10, 15, 15, 25),
        ("09:08:01", 10, 15, 14, 25),
        ("09:20:00", 18, 7, 6, 25),
        ("09:51:26", 18, 7, 5, 25),
        ("10:25:43", 18, 7, 4, 25),
        ("11:00:00", 15, 7, 4, 25),
        ("11:00:30", 15, 10, 5, 25),
        ("11:12:01", 15, 10, 4, 25),
        ("11:36:01", 15, 10, 3, 25),
        ("12:00:01", 15, 10, 2, 25),
        ("12:24:01", 15, 10, 1, 25),
        ("12:48:01", 15, 10, 0, 25),
        ("13:00:00", 15, 0, 0, 0),
    ]
    assert [step.events for step in steps if step.events != (SimulationEvent(CLOCK),)] == [
        (SimulationEvent(OPENS, "a"),),
        (SimulationEvent(COME, number=10),),
        (SimulationEvent(STARTS, "a"),),
        (SimulationEvent(COME, number=8),),
        (SimulationEvent(LEAVE, number=3),),
        (SimulationEvent(WAIT_OVER),),
        (SimulationEvent(ENDS, "a"),),
    ]


def test_all_events_of_one_instant_are_one_step() -> None:
    second = occurrence("b", "13:00", "14:00", 5, lead=0)

    steps = simulate(plan(MORNING, second), changes("09:00+02 09:00-01 09:00+01"), ("maintain",), *DAY)

    assert [(clock(step.at), step.targets, step.events) for step in steps[2:4]] == [
        (
            "09:00:00",
            (23,),
            (
                SimulationEvent(STARTS, "a"),
                SimulationEvent(COME, number=2),
                SimulationEvent(LEAVE, number=1),
                SimulationEvent(COME, number=1),
            ),
        ),
        (
            "13:00:00",
            (3,),
            (SimulationEvent(ENDS, "a"), SimulationEvent(OPENS, "b"), SimulationEvent(STARTS, "b")),
        ),
    ]


def test_a_seat_that_a_session_returns_is_requested_again_after_the_wait() -> None:
    for wait, expected in ((0, [20, 23]), (30, [20, 20, 23]), (3600, [20, 20, 23])):
        steps = simulate(plan(MORNING, wait=wait), changes("09:10+05 09:20-03"), ("maintain",), *DAY)
        told_of = [step.targets[0] for step in steps if at("09:10") <= step.at < MORNING.end]

        assert told_of == expected
        assert held(steps, at("09:20") + max(wait - 1, 0)) == (20 if wait else 23)
        assert held(steps, at("09:20") + wait) == 23


def test_an_arrival_during_the_wait_replaces_a_departure() -> None:
    """So nothing is asked for, and when the wait would be over, there is nothing to tell."""
    steps = simulate(plan(MORNING), changes("09:10+05 09:20-02 09:20:10+02"), ("maintain",), *DAY)

    assert told(steps)[-4:] == [
        ("09:10:00", 5, 20),
        ("09:20:00", 3, 20),
        ("09:20:10", 5, 20),
        ("13:00:00", 5, 0),
    ]


def test_an_ended_occurrence_does_not_affect_which_arrival_replaces_a_departure() -> None:
    """Where earlier sessions are ignored, what is open decides who can stand for whom, as in the scaler."""
    inner = occurrence("b", "10:00", "11:00", 2, lead=0)
    late = plan(MORNING, inner, match=Match(ignores_earlier=True))

    steps = simulate(late, changes("09:10+05 11:30-03 11:30:10+03"), ("maintain",), *DAY)

    assert told(steps)[-4:] == [
        ("11:00:00", 5, 20),
        ("11:30:00", 2, 20),
        ("11:30:10", 5, 20),
        ("13:00:00", 5, 0),
    ]


def test_a_clock_step_can_fall_on_the_instant_at_which_a_wait_would_end() -> None:
    moves = changes("08:55+10 09:07:31-01 09:07:40+01")

    steps = simulate(plan(MORNING), moves, ("reduce",), MORNING.open, MORNING.end)

    assert [(clock(step.at), step.targets, step.events) for step in steps[5:6]] == [
        ("09:08:01", (14,), (SimulationEvent(CLOCK),))
    ]


def test_an_occurrence_that_ends_at_the_first_opening_is_reported() -> None:
    before = occurrence("z", "06:00", "08:30", 3)

    steps = simulate(plan(before, MORNING), [], ("maintain",), MORNING.open, MORNING.end)

    assert (steps[0].targets, steps[0].events) == (
        (25,),
        (SimulationEvent(ENDS, "z"), SimulationEvent(OPENS, "a")),
    )


def test_a_wait_that_ends_after_the_last_occurrence_has_no_step() -> None:
    steps = simulate(plan(MORNING), changes("09:10+05 12:59:50-02"), ("maintain",), MORNING.open, MORNING.end)

    assert told(steps)[-2:] == [("12:59:50", 3, 20), ("13:00:00", 3, 0)]


@pytest.mark.parametrize(
    ("ignores_earlier", "expected"),
    [
        (False, [("08:30:00", 4, 21), ("08:40:00", 10, 15), ("09:00:00", 10, 15), ("10:00:00", 8, 15)]),
        (True, [("08:30:00", 0, 25), ("08:40:00", 6, 19), ("09:00:00", 6, 19), ("10:00:00", 6, 19)]),
    ],
    ids=["counted", "ignored"],
)
def test_sessions_from_before_the_opening_are_counted_or_ignored_as_declared(
    ignores_earlier: bool, expected: list[tuple[str, int, int]]
) -> None:
    """The first to come are the first to leave."""
    narrowed = plan(
        MORNING, match=Match(("jhub",), (("course", "x"),), (("a", "b"),), "template", ignores_earlier)
    )

    steps = simulate(
        narrowed, changes("08:00+04 08:40+06 10:00-02"), ("maintain",), MORNING.open, MORNING.end
    )

    assert [(clock(step.at), step.active, step.targets[0]) for step in steps[:4]] == expected


def test_a_session_that_fits_two_occurrences_counts_once() -> None:
    """The one that ends first; above its count, for the other."""
    first, second = occurrence("a", "09:00", "11:00", 5), occurrence("b", "09:00", "12:00", 5)

    steps = simulate(plan(first, second), changes("09:10+07"), ("maintain",), *DAY)

    assert {clock(step.at): step.targets[0] for step in steps} == {
        "00:00:00": 0,
        "08:30:00": 10,
        "09:00:00": 10,
        "09:10:00": 3,
        "11:00:00": 0,
        "12:00:00": 0,
    }


def test_occurrences_outside_or_without_seats_of_the_class_are_left_out() -> None:
    other = MORNING._replace(id="b", seats=(("huge", 3),))
    later = occurrence("c", "15:00", "16:00", 9)

    steps = simulate(plan(MORNING, other, later), [], ("none",), MORNING.open, MORNING.end)

    assert [step.events for step in steps] == [
        (SimulationEvent(OPENS, "a"),),
        (SimulationEvent(STARTS, "a"),),
        (SimulationEvent(ENDS, "a"),),
    ]


def test_a_behavior_gives_the_same_targets_alone_and_with_others() -> None:
    moves = changes("08:55+10 09:20+08 11:00-03")
    together = simulate(plan(MORNING), moves, BEHAVIORS, *DAY)

    for place, behaviour in enumerate(BEHAVIORS):
        alone = simulate(plan(MORNING), moves, (behaviour,), *DAY)

        assert [held(alone, step.at) for step in together] == [step.targets[place] for step in together]


@pytest.mark.parametrize(
    "case", [one for one in TOUCHING if "sessions" in one], ids=lambda one: str(one["id"])
)
def test_touching_windows_have_the_targets_computed_by_hand(case: Case) -> None:
    found = scene(case)
    (pool,) = found.timetable.pools
    setup = SimulationSetup(pool, found.timetable.occurrences, 0)
    steps = simulate(setup, found.changes or (), [pool.behavior], *DAY)

    assert found.targets == {moment: held(steps, at(moment)) for moment in found.targets}


def test_a_handover_is_reported_at_its_end() -> None:
    rows = occurrence("a", "08:00", "10:00", 25), occurrence("b", "10:00", "12:00", 25)
    steps = simulate(plan(*rows, match=Match(handover=900)), changes("08:00+25"), ["maintain"], *DAY)

    assert told(steps)[2:] == [
        ("08:00:00", 25, 0),
        ("09:30:00", 25, 25),
        ("10:00:00", 25, 25),
        ("10:15:00", 25, 0),
        ("12:00:00", 25, 0),
    ]
    assert steps[-2].events == (SimulationEvent(HANDED_OVER, "a"),)
