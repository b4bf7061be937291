"""What records say about dates that are over."""

from berth.core.record import OccurrenceRecord
from berth.cost.attendance import attendances, summaries, within

HOUR = 3600


def record(number: int, **more: object) -> OccurrenceRecord:
    """From number * 10 hours, half an hour of lead and two hours."""
    opens = number * 10 * HOUR
    window = (opens, opens + 1800, opens + 9000)
    values = {"promised": {"small": 10}, "window": window, "targets": {"small": ((opens, 10),)}, **more}
    return OccurrenceRecord(f"course/{number}", **values)  # type: ignore[arg-type]


def test_each_class_of_a_record_is_a_row_in_order_of_time() -> None:
    both = record(1, promised={"small": 10, "gpu": 2}, peak={"gpu": 1}, shortfalls={"gpu": {"lost": 2}})
    found = attendances([record(2), both], 5, ())

    assert [
        (attendance.id, attendance.resource_class, attendance.promised, attendance.peak, attendance.missing)
        for attendance in found
    ] == [
        ("course/1", "gpu", 2, 1, 2),
        ("course/1", "small", 10, None, 0),
        ("course/2", "small", 10, None, 0),
    ]


def test_late_is_what_was_ready_after_it_was_due() -> None:
    (one,) = attendances([record(1, ready_at=10 * HOUR + 1800 - 240)], 5, ())
    (early,) = attendances([record(1, ready_at=10 * HOUR)], 5, ())

    assert (one.due, one.late, early.late) == (10 * HOUR + 1500, 60, 0)


def test_a_record_without_times_is_left_out() -> None:
    assert attendances([record(1, window=None)], 5, ()) == []


def test_no_time_of_a_pool_counts_twice() -> None:
    """The lead of the second lies in the first, and both have seen the whole pool."""
    first = record(1)
    opens = 10 * HOUR + 7200
    second = record(
        2, window=(opens, opens + 1800, opens + 9000), targets={"small": ((opens, 10), (opens + 3600, 4))}
    )
    found = attendances([second, first], 5, ())

    assert [attendance.unused for attendance in found] == [10 * 9000, 10 * 1800 + 4 * 5400]


def test_nobody_knows_who_uses_whole_nodes() -> None:
    assert [attendance.unused for attendance in attendances([record(1)], 5, {"course"})] == [None]


def test_only_dates_that_are_over_and_in_the_range_count() -> None:
    rows = attendances([record(number) for number in range(1, 6)], 5, ())
    end = rows[2].end

    assert [one.id for one in within(rows, None, None, end)] == ["course/1", "course/2", "course/3"]
    assert [one.id for one in within(rows, None, None, end - 1)] == ["course/1", "course/2"]
    assert [one.id for one in within(rows, rows[1].open, rows[2].open, 10**9)] == ["course/2"]
    assert [one.id for one in within(rows, rows[0].end - 1, rows[0].end, 10**9)] == ["course/1"]


def test_a_summary_knows_only_what_all_dates_know() -> None:
    (known,) = summaries(attendances([record(1, peak={"small": 3}), record(2)], 5, ()))
    (unknown,) = summaries(attendances([record(1), record(2, targets={})], 5, ()))

    assert (known.peak, known.unused) == (3, 2 * 10 * 9000)
    assert (unknown.peak, unknown.unused) == (None, None)
