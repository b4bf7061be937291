"""What records say about rehearsals, and what rehearsals propose."""

from collections.abc import Mapping

import pytest
from berth.core.record import OccurrenceRecord, Points
from berth.cost.attendance import ClassSummary, attendances
from berth.cost.proposals import EARLIER, LATER, NO_ROOM, Asked, proposals
from berth.cost.rehearsalresults import RehearsalResult, rehearsal_results

HOUR, WEEK = 3600, 168 * 3600
LEAD = 60 * 60
NOW = Asked(100, 60, 5)
LATEST = 10**9


def record(
    number: int, ready: Mapping[str, Points], faults: tuple[str, ...] = (), **promised: int
) -> OccurrenceRecord:
    """A rehearsal with a lead of an hour; instants are minutes after its begin."""
    opens = number * WEEK
    curves = {name: tuple((opens + 60 * at, count) for at, count in points) for name, points in ready.items()}
    counts = promised or {"small": 100}
    whole = {
        name: next((at for at, count in curves.get(name, ()) if count >= most), None)
        for name, most in counts.items()
    }
    known = [at for at in whole.values() if at is not None]
    occurrence = f"course/{number}"
    return OccurrenceRecord(
        f"{occurrence}/rehearsal",
        counts,
        max(known) if len(known) == len(whole) else None,
        window=(opens, opens, opens + LEAD),
        targets={name: ((opens, most),) for name, most in counts.items()},
        rehearses=occurrence,
        ready=curves,
        faults=faults,
    )


def took(number: int, minutes: int, faults: tuple[str, ...] = (), seats: int = 100) -> RehearsalResult:
    ready = {"small": ((minutes, seats),)}
    (result,) = rehearsal_results([record(number, ready, faults, small=seats)], 5, LATEST)
    return result


def test_each_class_has_what_was_ready_and_what_was_missing() -> None:
    ready = {"small": ((5, 40), (9, 100)), "large": ((20, 3),)}
    found = rehearsal_results([record(1, ready, ("no room",), small=100, large=5)], 5, LATEST)

    assert [
        (
            rehearsal_result.resource_class,
            rehearsal_result.ready,
            rehearsal_result.missing,
            rehearsal_result.seconds,
        )
        for rehearsal_result in found
    ] == [
        ("large", 3, 2, None),
        ("small", 100, 0, 9 * 60),
    ]


def test_one_that_still_runs_has_no_result() -> None:
    running = record(1, {"small": ((5, 40),)})

    assert rehearsal_results([running], 5, WEEK + LEAD - 1) == []
    assert len(rehearsal_results([running], 5, WEEK + LEAD)) == 1
    assert len(rehearsal_results([record(1, {"small": ((5, 100),)})], 5, WEEK + 300)) == 1  # it ended early


def test_a_rehearsal_is_no_date() -> None:
    """Nobody came, so it must not look like a date without sessions."""
    assert attendances([record(number, {"small": ((5, 100),)}) for number in range(9)], 5, ()) == []


def of(*results: RehearsalResult) -> list[tuple[str, int, int]]:
    found = proposals(ClassSummary("course", "small", ()), NOW, results)
    return [(proposal.code, proposal.before, proposal.after) for proposal in found]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        pytest.param([took(1, 58)], [], id="late-once"),
        pytest.param([took(1, 58), took(2, 57)], [(EARLIER, 60, 65)], id="late-twice"),
        pytest.param([took(1, 58), took(2, 57, ("no answer",))], [], id="faults-teach-nothing"),
        pytest.param([took(1, 58, seats=50), took(2, 58, seats=50)], [], id="half-of-the-seats"),
        pytest.param([took(n, 20) for n in range(7)], [], id="in-time-seven-times"),
        pytest.param([took(n, 20) for n in range(8)], [(LATER, 60, 30)], id="in-time-eight-times"),
    ],
)
def test_a_lead_takes_as_many_rehearsals_as_dates(
    results: list[RehearsalResult], expected: list[tuple[str, int, int]]
) -> None:
    assert of(*results) == expected


def test_only_the_last_rehearsal_of_an_occurrence_says_that_there_is_no_room() -> None:
    (failed,) = rehearsal_results([record(1, {"small": ((9, 80),)}, ("no room",))], 5, LATEST)

    assert of(failed) == [(NO_ROOM, 100, 100)]
    assert of(failed, took(2, 20)._replace(rehearses=failed.rehearses)) == []
    (found,) = proposals(ClassSummary("course", "small", ()), NOW, [failed])
    assert "20 more" in found.advice
    assert "no room" in found.why
    assert not found.is_edit


def group(name: str, opens: int, seats: int, ready: int) -> RehearsalResult:
    """The rehearsal of one of two groups of the same date."""
    rehearsed = record(1, {"small": ((9, ready),)}, ("no room",) if ready < seats else (), small=seats)
    shift = opens - WEEK
    whole = next(iter(rehearsed.ready["small"]))[0] + shift if ready >= seats else None
    occurrence = f"course/1~{name}"
    changed = rehearsed._replace(
        occurrence=f"{occurrence}/rehearsal",
        rehearses=occurrence,
        window=(opens, opens, opens + LEAD),
        ready_at=whole,
    )
    (result,) = rehearsal_results([changed], 5, LATEST)
    return result


@pytest.mark.parametrize("later", [-60, 0, 60])
def test_a_group_that_succeeded_does_not_hide_one_that_failed(later: int) -> None:
    failed, succeeded = group("regular", WEEK, 100, 80), group("slow", WEEK + later, 7, 7)

    for results in ((failed, succeeded), (succeeded, failed)):
        (found,) = proposals(ClassSummary("course", "small", ()), NOW, results)
        assert (found.code, found.before) == (NO_ROOM, 100)
        assert "1~regular" in found.why


def test_each_group_that_failed_is_told() -> None:
    results = group("regular", WEEK, 100, 80), group("slow", WEEK, 7, 6)

    found = proposals(ClassSummary("course", "small", ()), NOW, results)
    assert [proposal.advice for proposal in found if "20 more" in proposal.advice] == [found[0].advice]
    assert [proposal.advice for proposal in found if "1 more" in proposal.advice] == [found[1].advice]


def test_what_was_rehearsed_and_is_over_needs_no_room() -> None:
    failed = group("regular", WEEK, 100, 80)
    over = failed.as_lead._replace(id=failed.rehearses, end=failed.end + HOUR)
    found = proposals(ClassSummary("course", "small", (over,)), NOW, [failed])

    assert NO_ROOM not in [proposal.code for proposal in found]
