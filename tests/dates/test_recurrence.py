"""Occurrences as the format states them: their types, where windows end, how many there may be."""

from berth.dates.expansion import Expansion, Occurrence, Skipped
from berth.dates.recurrence import MOST, expand

from tests.cases import calendar, entry, extra, move, recurrence, reservation, tabled, text, told, without
from tests.saying import finding, lines

ONE_YEAR = "2026-01-01/2026-12-31"
WEEKLY = entry("09:00-10:00", 1)
MARCH = "2026-03-02/2026-03-29"  # Mondays: 2, 9, 16, 23


# -- one whole expansion


def test_an_expansion_has_all_fields_of_occurrences_and_skipped_dates() -> None:
    when = recurrence(
        "weekly",
        "Europe/Zurich",
        entry("09:00-13:00", 1),
        entry("22:00-01:00", 4, seats=(("small", 5), ("huge", 1))),
        days="2026-03-30/2026-04-12",
        calendars=("holidays", "unknown"),
        excepts=(without("2026-04-09"),),
        extras=(extra("2026-04-07", "09:00-13:00"),),
    )
    calendars = {"holidays": calendar("holidays", "2026-04-06/2026-04-07", title="Easter break")}
    zone, small = "Europe/Zurich", (("small", 25),)
    monday = Occurrence(
        reservation="course",
        id="course/2026-03-30T09:00",
        open=1774852200,
        start=1774854000,
        end=1774868400,
        seats=small,
        zone=zone,
        marks=("suspended",),
        date="2026-03-30",
    )
    thursday = monday._replace(
        id="course/2026-04-02T22:00",
        open=1775158200,
        start=1775160000,
        end=1775170800,
        seats=(("small", 5), ("huge", 1)),
        marks=("overnight", "suspended"),
        date="2026-04-02",
    )
    added = monday._replace(
        id="course/2026-04-07T09:00",
        open=1775543400,
        start=1775545200,
        end=1775559600,
        marks=("extra", "onHoliday", "suspended"),
        date="2026-04-07",
    )
    skipped = (
        Skipped("course/2026-04-06T09:00", "2026-04-06", "calendar holidays: Easter break"),
        Skipped("course/2026-04-09T22:00", "2026-04-09", "except"),
    )

    assert Expansion((monday, thursday, added), skipped, ()) == expand(
        reservation(when, lead=30, suspend=True), calendars
    )


def test_marks_are_in_a_fixed_order() -> None:
    when = recurrence(
        "once",
        "Europe/Zurich",
        entry("09:00-10:00"),
        days="2026-03-30",
        calendars=("days",),
        moves=(move("2026-03-30", "2026-03-29", at="02:30", end="02:30", end_day=210),),
    )
    expansion = expand(reservation(when, suspend=True), {"days": calendar("days", "2026-03-29")})

    assert expansion.occurrences[0].marks == ("gap", "fold", "overnight", "moved", "onHoliday", "suspended")


# -- types


def test_daily_includes_both_of_its_dates_and_all_dates_between() -> None:
    when = recurrence("daily", "UTC", entry("09:00-10:00"), days="2026-02-27/2026-03-02")

    assert [o.date[5:] for o in expand(reservation(when), {}).occurrences] == [
        "02-27",
        "02-28",
        "03-01",
        "03-02",
    ]


def test_dates_in_several_ranges_occur_once() -> None:
    days = "2026-05-03/2026-05-05,2026-05-01,2026-05-04/2026-05-06,2026-05-01"
    when = recurrence("dates", "UTC", entry("09:00-10:00"), days=days)

    expected = ["2026-05-01", "2026-05-03", "2026-05-04", "2026-05-05", "2026-05-06"]
    assert expected == [occurrence.date for occurrence in expand(reservation(when), {}).occurrences]


def test_once_over_several_days_takes_equal_times_and_ignores_weekdays() -> None:
    when = recurrence("once", "UTC", entry("09:00-09:00", 7), days="2026-05-04/2026-05-06")
    one = expand(reservation(when), {}).occurrences[0]

    assert (text(one.start), text(one.end)) == ("2026-05-04T09:00:00Z", "2026-05-06T09:00:00Z")


@tabled("dates")
def test_an_entry_ends_at_the_expected_instant(hours: str, end_day: int | None, expected: str) -> None:
    when = recurrence("dates", "UTC", entry(hours, end_day=end_day), days="2026-05-04")

    assert expected == text(expand(reservation(when), {}).occurrences[0].end)


def test_an_unknown_zone_gives_an_empty_expansion_without_problems() -> None:
    when = recurrence("daily", "Europe/Zürich", entry("09:00-10:00"), days=ONE_YEAR)

    assert Expansion((), (), ()) == expand(reservation(when), {})


# -- what is wrong


def test_a_problem_names_its_document() -> None:
    when = recurrence("weekly", "UTC", WEEKLY, days="2026-03-03/2026-03-08")

    (problem,) = expand(reservation(when), {}).problems
    assert problem[:4] == ("B042", "reservations/course.yaml", 0, ("spec", "recurrence"))
    assert lines([problem]) == [finding("B042 spec.recurrence", "Monday", "2026-03-03", "2026-03-08")]


def test_exceptions_that_leave_no_occurrences_are_an_error() -> None:
    when = recurrence("weekly", "UTC", WEEKLY, days=MARCH, calendars=("spring",))
    expansion = expand(reservation(when), {"spring": calendar("spring", "2026-01-01/2026-06-30")})

    assert len(expansion.skipped) == 4
    assert told(expansion) == ["B042 spec.recurrence"]


def test_a_date_on_a_holiday_is_named_with_the_holiday() -> None:
    when = recurrence(
        "dates", "UTC", entry("09:00-10:00"), days="2026-02-16/2026-02-16", calendars=("spring",)
    )
    (problem,) = expand(reservation(when), {"spring": calendar("spring", "2026-02-16/2026-02-16")}).problems

    assert "2026-02-16 (calendar spring" in problem.message


def test_an_entry_without_dates_is_reported() -> None:
    when = recurrence(
        "weekly", "UTC", WEEKLY, entry("09:00-10:00", 3, 6), days="2026-03-02/2026-03-17", interval=3
    )
    expansion = expand(reservation(when._replace(last=when.last and when.last.replace(day=3))), {})

    assert told(expansion) == [finding("B040 schedule.1", "2026-03-02", "2026-03-03")]


def test_windows_without_length_are_reported_and_nothing_is_expanded() -> None:
    when = recurrence(
        "daily",
        "UTC",
        entry("09:00-10:00"),
        entry("10:00-10:00"),
        days=ONE_YEAR,
        extras=(extra("2026-03-01", "10:00-09:00", 0),),
    )
    expansion = expand(reservation(when), {})

    assert expansion.occurrences == ()
    assert told(expansion) == ["B024 schedule.1.endTime", "B024 extra.0.endTime"]


# -- how many


def test_two_thousand_occurrences_are_allowed_and_one_more_is_not() -> None:
    days = "2020-01-01/2025-06-22"  # 2,000 days
    two_thousand = recurrence("daily", "UTC", entry("09:00-10:00"), days=days)
    one_more = two_thousand._replace(extras=(extra("2026-01-01", "09:00-10:00"),))
    one_less = one_more._replace(excepts=(without("2020-02-29"),))

    assert len(expand(reservation(two_thousand), {}).occurrences) == MOST
    assert len(expand(reservation(one_less), {}).occurrences) == MOST
    assert told(expand(reservation(one_more), {})) == [finding("B044 spec.recurrence", "2,001", "2,000")]


def test_twenty_thousand_dates_before_exceptions_are_allowed() -> None:
    schedule = [entry(f"{hour:02}:00-{hour:02}:30") for hour in range(8, 18)]
    when = recurrence("daily", "UTC", *schedule, days="2020-01-01/2025-06-22")
    few = when._replace(excepts=(without("2020-01-08/2025-06-22"),))
    more = few._replace(schedule=(*schedule, entry("20:00-21:00")))

    assert len(expand(reservation(few), {}).occurrences) == 70
    assert told(expand(reservation(more), {})) == [finding("B044 spec.recurrence", "22,000", "2,000")]


def test_millions_of_occurrences_are_counted_but_not_created() -> None:
    schedule = [entry(f"{i // 60:02}:{i % 60:02}-24:00") for i in range(100)]
    when = recurrence("daily", "UTC", *schedule, days="2000-01-01/2099-12-31")
    expansion = expand(reservation(when), {})

    assert (expansion.occurrences, expansion.skipped) == ((), ())
    assert told(expansion) == [finding("B044 spec.recurrence", "3,652,500", "2,000")]
