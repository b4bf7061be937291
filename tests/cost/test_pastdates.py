"""What records say about dates and rehearsals that are over."""

from collections.abc import Mapping

import pytest
from berth.core.record import OccurrenceRecord, Points
from berth.cost.pastdates import PastDate, past_dates
from berth.cost.proposals import Asked, opening_proposals, seat_proposals

HOUR, WEEK = 3600, 168 * 3600
LEAD = 60 * 60
NOW = Asked(100, 60, 5)
LATEST = 10**9


def record(number: int, **more: object) -> OccurrenceRecord:
    """From number * 10 hours, half an hour of lead and two hours."""
    opens = number * 10 * HOUR
    window = (opens, opens + 1800, opens + 9000)
    values = {"promised": {"small": 10}, "window": window, "targets": {"small": ((opens, 10),)}, **more}
    return OccurrenceRecord(f"course/{number}", **values)  # type: ignore[arg-type]


def test_each_class_of_a_record_is_a_row_in_order_of_time() -> None:
    both = record(1, promised={"small": 10, "gpu": 2}, peak={"gpu": 1}, shortfalls={"gpu": {"lost": 2}})
    found = past_dates([record(2), both], 5, LATEST)

    assert [(one.id, one.resource_class, one.promised, one.peak, one.missing) for one in found] == [
        ("course/1", "small", 10, None, 0),
        ("course/1", "gpu", 2, 1, 2),
        ("course/2", "small", 10, None, 0),
    ]


def test_a_date_is_late_by_the_time_from_due_to_ready() -> None:
    (one,) = past_dates([record(1, ready_at=10 * HOUR + 1800 - 240)], 5, LATEST)
    (early,) = past_dates([record(1, ready_at=10 * HOUR)], 5, LATEST)

    assert (one.due, one.late, early.late) == (10 * HOUR + 1500, 60, 0)


def test_records_without_times_or_before_their_end_are_left_out() -> None:
    assert past_dates([record(1, window=None)], 5, LATEST) == []
    assert past_dates([record(1)], 5, 10 * HOUR + 8999) == []
    assert len(past_dates([record(1)], 5, 10 * HOUR + 9000)) == 1


def test_unused_time_of_a_pool_counts_once_and_only_within_the_window() -> None:
    """The lead of the second lies in the first, and both have seen the whole pool."""
    first = record(1, targets={"small": ((0, 10),)})
    opens = 10 * HOUR + 7200
    curve = ((opens, 10), (opens + 3600, 4), (LATEST, 99))
    second = record(2, window=(opens, opens + 1800, opens + 9000), targets={"small": curve})
    unknown = record(3, targets={})
    found = past_dates([unknown, second, first], 5, LATEST)

    assert [date.unused for date in found] == [10 * 9000, 10 * 1800 + 4 * 5400, None]


def rehearsal(
    number: int,
    ready: Mapping[str, Points],
    faults: tuple[str, ...] = (),
    group: str = "",
    later: int = 0,
    **promised: int,
) -> OccurrenceRecord:
    """A rehearsal with a lead of an hour; instants are minutes after its begin."""
    opens = number * WEEK + later
    curves = {name: tuple((opens + 60 * at, count) for at, count in points) for name, points in ready.items()}
    counts = promised or {"small": 100}
    whole = [
        next((at for at, count in curves.get(name, ()) if count >= most), None)
        for name, most in counts.items()
    ]
    known = [at for at in whole if at is not None]
    occurrence = f"course/{number}{group}"
    return OccurrenceRecord(
        f"try/{number}{group}",
        counts,
        max(known) if len(known) == len(whole) else None,
        window=(opens, opens, opens + LEAD),
        targets={name: ((opens, most),) for name, most in counts.items()},
        rehearses=occurrence,
        ready=curves,
        faults=faults,
    )


def took(number: int, minutes: int, faults: tuple[str, ...] = (), seats: int = 100) -> PastDate:
    (date,) = past_dates([rehearsal(number, {"small": ((minutes, seats),)}, faults, small=seats)], 5, LATEST)
    return date


def test_each_class_of_a_rehearsal_has_its_ready_time_and_missing_seats() -> None:
    ready = {"small": ((5, 40), (9, 100)), "large": ((20, 3),)}
    found = past_dates([rehearsal(1, ready, ("no room",), small=100, large=5)], 5, LATEST)

    assert [(one.reservation, one.resource_class, one.missing, one.ready, one.peak) for one in found] == [
        ("course", "small", 0, WEEK + 9 * 60, None),
        ("course", "large", 2, None, None),
    ]


def test_a_running_rehearsal_has_no_result() -> None:
    running = rehearsal(1, {"small": ((5, 40),)})

    assert past_dates([running], 5, WEEK + LEAD - 1) == []
    assert len(past_dates([running], 5, WEEK + LEAD)) == 1
    assert len(past_dates([rehearsal(1, {"small": ((5, 100),)})], 5, WEEK + 300)) == 1  # it ended early


def of(*dates: PastDate) -> list[tuple[str, int, int]]:
    found = [*seat_proposals(dates, NOW), *opening_proposals(dates, NOW)]
    return [(proposal.code, proposal.before, proposal.after) for proposal in found]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        pytest.param([took(1, 58)], [], id="late-once"),
        pytest.param([took(1, 58), took(2, 57)], [("B212", 60, 65)], id="late-twice"),
        pytest.param([took(1, 58), took(2, 57, ("no answer",))], [], id="faults-teach-nothing"),
        pytest.param([took(1, 58, seats=50), took(2, 58, seats=50)], [], id="half-of-the-seats"),
        pytest.param([took(n, 20) for n in range(7)], [], id="in-time-seven-times"),
        pytest.param([took(n, 20) for n in range(8)], [("B213", 60, 30)], id="in-time-eight-times"),
    ],
)
def test_a_proposal_for_a_lead_needs_as_many_rehearsals_as_dates(
    dates: list[PastDate], expected: list[tuple[str, int, int]]
) -> None:
    """And none of them is a date to which nobody came."""
    assert of(*dates) == expected


def test_only_the_last_rehearsal_of_a_future_date_reports_missing_room() -> None:
    (failed,) = past_dates([rehearsal(1, {"small": ((9, 80),)}, ("no room",))], 5, LATEST)
    over = failed._replace(id=failed.rehearses, rehearses="", end=failed.end + HOUR)

    assert of(failed) == [("B215", 100, 100)]
    assert of(failed, took(2, 20)._replace(rehearses=failed.rehearses)) == []
    assert of(failed, over) == []
    (found,) = opening_proposals([failed], NOW)
    assert "20 more" in found.advice
    assert found.advice.endswith("berth rehearse course 1 --at INSTANT")
    assert "no room" in found.why


@pytest.mark.parametrize("later", [-60, 0, 60])
@pytest.mark.parametrize("ready", [6, 7])
def test_each_group_that_failed_is_reported(later: int, ready: int) -> None:
    """One that succeeded hides none."""
    regular = rehearsal(1, {"small": ((9, 80),)}, ("no room",), "~regular")
    slow = rehearsal(1, {"small": ((9, ready),)}, (), "~slow", later, small=7)
    found = opening_proposals(past_dates([regular, slow], 5, LATEST), NOW)

    assert {proposal.why.partition(" of 1~")[2].partition(":")[0] for proposal in found} == {
        "regular",
        *(["slow"] if ready < 7 else []),
    }
