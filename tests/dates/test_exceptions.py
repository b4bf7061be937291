"""`except`, `moved`, `extra` and calendars: what they do, which one wins, and what is told when they miss."""

from datetime import date

import pytest
from berth.dates.expansion import Skipped
from berth.dates.recurrence import expand
from berth.schema.calendardocument import ClosedDates
from berth.schema.values import Except, Move

from tests.cases import SEATS, calendar, entry, extra, move, recurrence, reservation, text, told, without
from tests.saying import finding

WEEKLY = entry("09:00-10:00", 1)
MARCH = "2026-03-02/2026-03-29"
MONDAYS = ("2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23")


@pytest.mark.parametrize(
    ("exceptions", "expected"),
    [
        ((without("2026-03-09"),), ["02", "16", "23"]),
        ((without("2026-03-03/2026-03-16"),), ["02", "23"]),
        ((without("2026-03-09", "09:00"), without("2000-01-01/2026-03-02")), ["16", "23"]),
        ((without("2026-03-09"), without("2026-03-09")), ["02", "16", "23"]),
        ((without("2026-03-01/2026-03-22", "09:00"),), ["23"]),
    ],
    ids=["date", "range", "with-start-and-long-range", "twice", "range-with-start"],
)
def test_except_removes_dates(exceptions: tuple[Except, ...], expected: list[str]) -> None:
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, excepts=exceptions)
    expansion = expand(reservation(when), {})

    assert expansion.problems == ()
    assert expected == [occurrence.date[8:] for occurrence in expansion.occurrences]


def test_moved_wins_over_calendars_and_except_is_named_before_calendars() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        WEEKLY,
        entry("14:00-15:00", 1),
        days=MARCH,
        calendars=("first", "second"),
        excepts=(without("2026-03-09", "09:00"),),
        moves=(move("2026-03-09", "2026-03-10", "14:00"), move("2026-03-16", "2026-03-17", "09:00")),
    )
    calendars = {
        "first": calendar("first", "2026-03-09", "2026-03-16"),
        "second": calendar("second", "2026-03-16/2026-03-23", title="Break"),
    }
    expansion = expand(reservation(when), calendars)

    assert expansion.problems == ()
    assert [occurrence.id[-8:] for occurrence in expansion.occurrences] == [
        "02T09:00",
        "02T14:00",
        "09T14:00",
        "16T09:00",
    ]
    assert [
        Skipped("course/2026-03-09T09:00", "2026-03-09", "except"),
        Skipped("course/2026-03-16T14:00", "2026-03-16", "calendar first"),
        Skipped("course/2026-03-23T09:00", "2026-03-23", "calendar second: Break"),
        Skipped("course/2026-03-23T14:00", "2026-03-23", "calendar second: Break"),
    ] == list(expansion.skipped)


@pytest.mark.parametrize(
    ("moved", "start", "end"),
    [
        (move("2026-03-09", "2026-03-11"), "2026-03-11T09:00:00Z", "2026-03-11T10:00:00Z"),
        (move("2026-03-09", "2026-03-09", at="11:00"), "2026-03-09T11:00:00Z", "2026-03-09T12:00:00Z"),
        (move("2026-03-09", "2026-03-09", end="12:00"), "2026-03-09T09:00:00Z", "2026-03-09T12:00:00Z"),
        (move("2026-03-09", "2026-03-09", end="08:00"), "2026-03-09T09:00:00Z", "2026-03-10T08:00:00Z"),
        (
            move("2026-03-09", "2027-01-01", "09:00", at="10:00", end="10:00", end_day=2),
            "2027-01-01T10:00:00Z",
            "2027-01-03T10:00:00Z",
        ),
    ],
    ids=["day", "start", "end", "overnight", "all"],
)
def test_a_move_changes_only_the_parts_that_it_names(moved: Move, start: str, end: str) -> None:
    when = recurrence("weekly", "UTC", WEEKLY, days="2026-03-09", moves=(moved,))
    one = expand(reservation(when), {}).occurrences[0]

    assert (start, end, "course/2026-03-09T09:00") == (text(one.start), text(one.end), one.id)


def test_a_moved_occurrence_keeps_its_clock_times_across_a_clock_change() -> None:
    when = recurrence(
        "once",
        "Europe/Zurich",
        entry("01:00-06:00"),
        days="2026-03-25",
        moves=(move("2026-03-25", "2026-03-29"),),
    )
    one = expand(reservation(when), {}).occurrences[0]

    assert one.end - one.start == 4 * 3600


def test_an_extra_may_take_the_place_of_an_occurrence_that_is_left_out() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        WEEKLY,
        days=MARCH,
        excepts=(without("2026-03-09"),),
        extras=(extra("2026-03-09", "09:00-12:00"),),
    )
    expansion = expand(reservation(when), {})

    assert expansion.problems == ()
    assert expansion.occurrences[1].marks == ("extra",)


def test_a_date_may_be_moved_out_of_a_range_that_is_left_out() -> None:
    left_out, moves = without("2026-03-02/2026-03-16"), (move("2026-03-09", "2026-03-10"),)
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, excepts=(left_out,), moves=moves)

    assert told(expand(reservation(when), {})) == []


@pytest.mark.parametrize(
    "item", [without("2026-03-09"), without("2026-03-09", "09:00")], ids=["date", "start"]
)
def test_an_occurrence_in_except_and_in_moved_is_an_error_at_both_entries(item: Except) -> None:
    moves = (move("2026-03-23", "2026-03-24"), move("2026-03-09", "2026-03-10"))
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, excepts=(item,), moves=moves)

    assert told(expand(reservation(when), {})) == [
        finding("B048 except.0", "2026-03-09 at 09:00", "moved[1]", "one of the two"),
        finding("B048 moved.1", "2026-03-09 at 09:00", "except[0]", "one of the two"),
    ]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"calendars": ("holidays",)}, "calendar holidays: Break"),
        ({"excepts": (without("2026-03-09/2026-03-10"),)}, "except"),
    ],
    ids=["calendar", "range"],
)
def test_other_seats_do_not_bring_back_an_occurrence_that_is_left_out(
    more: dict[str, object], reason: str
) -> None:
    seats = move("2026-03-09", "2026-03-09")._replace(seats=(("small", 120),))
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, moves=(seats,), **more)
    expansion = expand(reservation(when), {"holidays": calendar("holidays", "2026-03-09", title="Break")})

    assert told(expansion) == [finding("B053 moved.0", "2026-03-09 at 09:00", reason)]
    assert [occurrence.date[8:] for occurrence in expansion.occurrences] == ["02", "16", "23"]
    assert [one.reason for one in expansion.skipped if one.date == "2026-03-09"] == [reason]


def test_other_seats_contradict_an_exception_for_the_same_date() -> None:
    seats = move("2026-03-09", "2026-03-09")._replace(seats=(("small", 120),))
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, excepts=(without("2026-03-09"),), moves=(seats,))

    assert [one[:4] for one in told(expand(reservation(when), {}))] == ["B048", "B048"]


def test_marks_say_whether_the_time_or_the_seats_differ() -> None:
    many = (("small", 120),)
    moves = (
        move("2026-03-02", "2026-03-02")._replace(seats=many),
        move("2026-03-09", "2026-03-10")._replace(seats=many),
        move("2026-03-16", "2026-03-16", at="09:00"),
        move("2026-03-23", "2026-03-23", end="12:00")._replace(seats=SEATS),
    )
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, moves=moves)
    marks = [occurrence.marks for occurrence in expand(reservation(when), {}).occurrences]
    suspended = [occurrence.marks for occurrence in expand(reservation(when, suspend=True), {}).occurrences]

    assert marks == [("otherSeats",), ("moved", "otherSeats"), (), ("moved",)]
    assert suspended == [(*mark, "suspended") for mark in marks]


def test_except_for_another_start_of_the_date_does_not_contradict_a_move() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        WEEKLY,
        entry("14:00-15:00", 1),
        days="2026-03-09",
        excepts=(without("2026-03-09", "14:00"),),
        moves=(move("2026-03-09", "2026-03-10", "09:00"),),
    )

    assert told(expand(reservation(when), {})) == []


# -- what is wrong


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"excepts": (without("2026-03-10"),)}, finding("B045 except.0", "2026-03-10")),
        (
            {"excepts": (without("2026-03-09"), without("2026-03-16", "10:00"))},
            finding("B045 except.1", "2026-03-16", "10:00"),
        ),
        (
            {"excepts": (without("2026-03-10/2026-03-15"),)},
            finding("B045 except.0", "2026-03-10", "2026-03-15"),
        ),
        ({"moves": (move("2026-03-10", "2026-03-11"),)}, finding("B045 moved.0.date", "2026-03-10")),
        (
            {"moves": (move("2026-03-09", "2026-03-11", "10:00"),)},
            finding("B045 moved.0.date", "2026-03-09", "10:00"),
        ),
        (
            {"moves": (move("2026-03-09", "2026-03-11"), move("2026-03-09", "2026-03-12", "09:00"))},
            finding("B048 moved.1", "2026-03-09", "09:00", "moved[0]"),
        ),
        ({"moves": (move("2026-03-09", "2026-03-11", at="10:00", end="10:00"),)}, "B024 moved.0.to.endTime"),
        (
            {"extras": (extra("2026-03-10", "17:00-17:00"),)},
            finding("B024 extra.0.endTime", "24 hours", "endDay: 1"),
        ),
        (
            {"extras": (extra("2026-03-09", "09:00-12:00"),)},
            finding("B049 extra.0.startTime", "2026-03-09 09:00", "schedule[0]", "09:00-10:00"),
        ),
    ],
    ids=[
        "except-on-another-date",
        "except-at-another-time",
        "except-between",
        "moved-on-another-date",
        "moved-at-another-time",
        "moved-twice",
        "moved-to-no-length",
        "extra-of-no-length",
        "extra-with-the-same-id",
    ],
)
def test_an_exception_that_does_not_fit_gets_its_finding(more: dict[str, object], expected: str) -> None:
    expansion = expand(reservation(recurrence("weekly", "UTC", WEEKLY, days=MARCH, **more)), {})

    assert expected == next(one for one in told(expansion) if not one.startswith("B031"))


def test_a_move_on_a_date_with_two_occurrences_gets_the_finding_b047() -> None:
    when = recurrence(
        "weekly",
        "UTC",
        entry("14:00-15:00", 1),
        WEEKLY,
        days=MARCH,
        moves=(move("2026-03-09", "2026-03-10"),),
    )

    expected = finding("B047 moved.0", "2026-03-09")
    assert [expected] == told(expand(reservation(when), {}))


def test_a_move_of_an_occurrence_with_an_ambiguous_id_gets_the_finding_b049() -> None:
    """A calendar leaves out the longer one only, so nothing else tells them apart."""
    when = recurrence(
        "weekly",
        "UTC",
        WEEKLY,
        entry("09:00-13:00", 1),
        days=MARCH,
        calendars=("lunch",),
        moves=(move("2026-03-09", "2026-03-10"),),
    )
    hours = [ClosedDates(day, day, since=12 * 60) for day in map(date.fromisoformat, MONDAYS)]
    calendars = {"lunch": calendar("lunch")._replace(dates=tuple(hours))}

    expected = finding("B049 moved.0", "2026-03-09 at 09:00", "name: extra-time")
    assert told(expand(reservation(when), calendars)) == [expected]
    apart = when._replace(moves=())
    assert told(expand(reservation(apart), calendars)) == []
