"""`recurrence`: what each type says, and every way in which its parts contradict each other."""

from datetime import date

import pytest
from berth.schema.entry import StandardSeats
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.values import Entry, Except, Extra, Move, Recurrence, Scaling, Seats

from tests.saying import Value, ask, said, weekly

FIRST, LAST = date(2026, 2, 2), date(2026, 2, 28)
SEATS: Seats = (("small", 25),)
USUAL = Scaling(30, "maintain")
TIMES = {"startTime": "09:00", "endTime": "13:00"}
ONCE = {"type": "once", "startDate": "2026-03-06", "endDate": "2026-03-08"}
DAILY = {"type": "daily", "startDate": "2026-02-02", "endDate": "2026-02-28"}


def made(value: Value) -> Recurrence:
    checked, problems = ask(RecurrenceSpec, value)
    assert problems == []
    recurrence: Recurrence = checked.recurrence(StandardSeats(SEATS, (USUAL,), USUAL))
    return recurrence


def test_whatever_is_left_out_has_its_default() -> None:
    assert made(weekly()) == Recurrence(
        type="weekly",
        zone="",
        first=FIRST,
        last=LAST,
        dates=(),
        interval=1,
        schedule=(Entry((1,), 540, 780, None, SEATS),),
        calendars=(),
        excepts=(),
        moves=(),
        extras=(),
    )


def test_every_field_can_be_written() -> None:
    own = [
        {"resourceClass": "huge", "placeholderCount": 5},
        {"resourceClass": "small", "placeholderCount": 1},
    ]
    value = weekly(
        {"dayOfWeek": "mon", **TIMES, "endDay": 2},
        {"daysOfWeek": ["thu", 3, "wed"], **TIMES, "placeholderCount": 200},
        {"dayOfWeek": 5, "startTime": "00:00", "endTime": "24:00", "seats": own},
        timeZone="Europe/Zurich",
        interval=2,
        calendars=["holidays"],
        **{"except": ["2026-02-09", {"from": "2026-02-16", "to": "2026-02-20"}]},
        moved=[
            {"date": "2026-02-16", "startTime": "09:00", "to": {"date": "2026-02-17"}},
            {"date": "2026-02-23", "to": {"startTime": "10:00", "endTime": "09:00", "endDay": 1}},
            {"date": "2026-02-25", "to": {"placeholderCount": 120}},
            {"date": "2026-02-26", "to": {"seats": own}},
        ],
        extra=[{"date": "2026-03-02", **TIMES, "endDay": 0, "placeholderCount": 3}],
    )

    assert made(value) == Recurrence(
        type="weekly",
        zone="Europe/Zurich",
        first=FIRST,
        last=LAST,
        dates=(),
        interval=2,
        schedule=(
            Entry((1,), 540, 780, 2, SEATS),
            Entry((3, 4), 540, 780, None, (("small", 200),)),
            Entry((5,), 0, 1440, None, (("huge", 5), ("small", 1))),
        ),
        calendars=("holidays",),
        excepts=(
            Except(date(2026, 2, 9), date(2026, 2, 9), None),
            Except(date(2026, 2, 16), date(2026, 2, 20), None),
        ),
        moves=(
            Move(date(2026, 2, 16), 540, date(2026, 2, 17), None, None, None),
            Move(date(2026, 2, 23), None, None, 600, 540, 1),
            Move(date(2026, 2, 25), None, None, None, None, None, None, (("small", 120),)),
            Move(date(2026, 2, 26), None, None, None, None, None, None, (("huge", 5), ("small", 1))),
        ),
        extras=(Extra(date(2026, 3, 2), 540, 780, 0, (("small", 3),)),),
    )


def test_once_may_end_on_another_day_at_the_same_time_and_ignores_weekdays() -> None:
    found = made({**ONCE, "schedule": [{"dayOfWeek": 1, "startTime": "17:00", "endTime": "17:00"}]})

    assert (found.first, found.last) == (date(2026, 3, 6), date(2026, 3, 8))
    assert found.schedule == (Entry((), 1020, 1020, None, SEATS),)


def test_once_on_one_day_may_say_on_which_day_it_ends() -> None:
    one_day = {**ONCE, "endDate": "2026-03-06", "schedule": [{**TIMES, "endDay": 1}]}

    assert made(one_day).schedule == (Entry((), 540, 780, 1, SEATS),)


def test_dates_has_dates_and_ranges_and_no_other_span() -> None:
    dates = ["2026-02-02", {"from": "2026-02-04", "to": "2026-02-06"}]
    found = made({"type": "dates", "dates": dates, "schedule": [TIMES]})

    assert (found.first, found.last) == (None, None)
    assert found.dates == ((FIRST, FIRST), (date(2026, 2, 4), date(2026, 2, 6)))


def test_terms_stand_for_the_first_and_the_last_date() -> None:
    found = made({"type": "daily", "within": ["spring", "autumn"], "schedule": [TIMES]})

    assert (found.first, found.last, found.within) == (None, None, ("spring", "autumn"))
    assert found.has_unknown_dates


def test_the_dates_of_machines_are_those_of_a_capacity() -> None:
    found = made({"type": "capacity", "cloudCapacity": "gpu"})

    assert (found.capacity, found.usable, found.first, found.last) == ("gpu", (), None, None)
    assert [line.seats for line in found.lines] == [SEATS]
    assert found.has_unknown_dates


MACHINES: Value = {"type": "capacity", "cloudCapacity": "gpu"}
TOLD: dict[str, tuple[Value, list[str]]] = {
    "machines-without-a-capacity": ({"type": "capacity"}, ["B011"]),
    "a-capacity-of-another-type": (weekly(cloudCapacity="gpu"), ["B016 cloudCapacity @key"]),
    "machines-with-a-name-that-is-none": ({**MACHINES, "cloudCapacity": "GPU"}, ["B019 cloudCapacity"]),
    "machines-with-dates-of-other-types": (
        {
            **MACHINES,
            "startDate": "2026-02-02",
            "endDate": "2026-02-02",
            "within": ["spring"],
            "dates": ["2026-02-02"],
            "interval": 2,
            "schedule": [TIMES],
        },
        [
            "B016 dates @key",
            "B016 endDate @key",
            "B016 interval @key",
            "B016 schedule @key",
            "B016 startDate @key",
            "B016 within @key",
        ],
    ),
    "machines-with-exceptions": (
        {
            **MACHINES,
            "calendars": ["holidays"],
            "except": ["2026-02-02"],
            "moved": [{"date": "2026-02-02", "to": {"placeholderCount": 3}}],
            "extra": [{"date": "2026-02-02", **TIMES}],
        },
        [
            "B016 calendars @key",
            "B016 except @key",
            "B016 extra @key",
            "B016 moved @key",
        ],
    ),
    "type-missing": ({"startDate": "2026-02-02", "schedule": [TIMES]}, ["B011"]),
    "type-unknown": ({"type": "monthly", "schedule": []}, ["B012 schedule", "B014 type"]),
    "span-missing": (
        {"type": "weekly", "dates": ["2026-02-02"], "schedule": [TIMES]},
        ["B011 schedule.0", "B011", "B011", "B016 dates @key"],
    ),
    "span-of-dates": (
        {"type": "dates", "startDate": "2026-02-02", "endDate": "2026-02-01", "interval": 2},
        ["B011", "B011", "B016 endDate @key", "B016 interval @key", "B016 startDate @key"],
    ),
    "no-dates": ({"type": "dates", "dates": [], "schedule": [TIMES]}, ["B012 dates"]),
    "dates-backwards": (
        {"type": "dates", "dates": [{"from": "2026-02-03", "to": "2026-02-02"}], "schedule": [TIMES]},
        ["B024 dates.0.to"],
    ),
    "backwards-with-an-interval": (
        {**DAILY, "endDate": "2026-02-01", "interval": 2, "schedule": [TIMES]},
        ["B016 interval @key", "B024 endDate"],
    ),
    "faults-in-several-places": (
        {**DAILY, "timeZone": "Mars", "schedule": [{"endTime": 13}]},
        ["B011 schedule.0", "B018 schedule.0.endTime", "B021 timeZone"],
    ),
    "interval": (weekly(interval=0), ["B012 interval"]),
    "weekdays-that-nobody-looks-at": (
        {**DAILY, "schedule": [{"dayOfWeek": 1, "daysOfWeek": [2], **TIMES}]},
        ["B029 schedule.0.dayOfWeek @key", "B029 schedule.0.daysOfWeek @key"],
    ),
    "two-weekdays": (weekly({"dayOfWeek": 1, "daysOfWeek": [2], **TIMES}), ["B016 schedule.0"]),
    "a-misspelt-weekday-is-not-missing": (
        weekly({"dayOfweek": 1, **TIMES}),
        ["B010 schedule.0.dayOfweek @key"],
    ),
    "all-of-several-entries": (
        weekly({**TIMES}, {"dayOfWeek": 1, "startTime": "09:00", "endTime": "09:00"}),
        ["B011 schedule.0", "B024 schedule.1.endTime"],
    ),
    "no-entry-and-no-weekday": (
        weekly("09:00", {"dayOfWeek": 8, **TIMES}),  # type: ignore[arg-type] # faulty on purpose
        ["B012 schedule.1.dayOfWeek", "B013 schedule.0"],
    ),
    "once-with-an-end-day": (
        {**ONCE, "schedule": [{**TIMES, "endDay": 1}, {"startTime": "09:00", "endTime": "09:00"}]},
        ["B016 schedule.0.endDay @key"],
    ),
    "once-on-one-day-without-length": (
        {**ONCE, "endDate": "2026-03-06", "schedule": [{"startTime": "09:00", "endTime": "09:00"}]},
        ["B024 schedule.0.endTime"],
    ),
    "once-without-its-dates": (
        {"type": "once", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        ["B011", "B011"],
    ),
    "once-with-faulty-dates": (
        {**ONCE, "endDate": "x", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        ["B017 endDate"],
    ),
    "moved-with-a-lead": (
        weekly(moved=[{"date": "2026-02-02", "to": {"placeholderCount": 3, "leadTimeMinutes": 60}}]),
        ["B010 moved.0.to.leadTimeMinutes @key"],
    ),
    "moved-to-nothing": (
        weekly(moved=[{"date": "2026-02-02", "to": {"endDay": 1}}]),
        ["B011 moved.0.to"],
    ),
    "moved-with-a-class-twice": (
        weekly(moved=[{"date": "2026-02-02", "to": {"seats": [{"resourceClass": "small"}] * 2}}]),
        ["B016 moved.0.to.seats.1.resourceClass"],
    ),
    "terms-with-dates": (
        weekly(within=["spring"], dates=["2026-02-02"]),
        ["B016 dates @key", "B016 endDate @key", "B016 startDate @key"],
    ),
    "terms-of-once": ({**ONCE, "within": ["spring"], "schedule": [TIMES]}, ["B016 within @key"]),
    "terms-of-dates": (
        {"type": "dates", "dates": ["2026-02-02"], "within": ["spring"], "schedule": [TIMES]},
        ["B016 within @key"],
    ),
    "no-terms": ({"type": "daily", "within": [], "schedule": [TIMES]}, ["B012 within"]),
    "one-term-twice": (
        {"type": "daily", "within": ["spring", "spring"], "schedule": [TIMES]},
        ["B016 within.1"],
    ),
    "no-schedule": ({**DAILY, "schedule": "09:00"}, ["B013 schedule"]),
    "a-schedule-of-another-name": ({**DAILY, "shedule": [TIMES]}, ["B010 shedule @key"]),
    "a-date-without-hours-and-no-schedule": (
        {"type": "dates", "dates": [{"date": "2026-02-02", **TIMES}, "2026-02-03"]},
        ["B011"],
    ),
    "half-the-hours-of-a-date": (
        {"type": "dates", "schedule": [TIMES], "dates": [{"date": "2026-02-02", "startTime": "09:00"}]},
        ["B011 dates.0"],
    ),
    "seats-for-a-date-without-hours": (
        {"type": "dates", "schedule": [TIMES], "dates": [{"date": "2026-02-02", "placeholderCount": 5}]},
        ["B011 dates.0", "B011 dates.0"],
    ),
    "hours-of-a-date-without-length": (
        {"type": "dates", "dates": [{"date": "2026-02-02", "startTime": "09:00", "endTime": "09:00"}]},
        ["B024 dates.0.endTime"],
    ),
    "a-date-and-a-range": (
        {"type": "dates", "schedule": [TIMES], "dates": [{"date": "2026-02-02", "to": "2026-02-03"}]},
        ["B016 dates.0"],
    ),
    "dates-of-an-entry-outside-of-the-recurrence": (
        weekly({"dayOfWeek": 1, **TIMES, "from": "2026-02-01", "until": "2026-03-01"}),
        ["B016 schedule.0.from", "B016 schedule.0.until"],
    ),
    "dates-of-an-entry-backwards": (
        weekly({"dayOfWeek": 1, **TIMES, "from": "2026-02-10", "until": "2026-02-09"}),
        ["B024 schedule.0.until"],
    ),
    "a-single-window-has-no-part": (
        {**ONCE, "schedule": [{**TIMES, "from": "2026-03-06", "until": "2026-03-08"}]},
        ["B016 schedule.0.from @key", "B016 schedule.0.until @key"],
    ),
    "weeks-of-another-type": (
        {**DAILY, "schedule": [{**TIMES, "weeks": "odd"}, {**TIMES, "monthly": {"week": 1}}]},
        ["B016 schedule.0.weeks @key", "B016 schedule.1.monthly @key"],
    ),
    "weeks-of-every-second-week": (
        weekly(
            {"dayOfWeek": 1, **TIMES, "weeks": [6]},
            {"dayOfWeek": 1, **TIMES, "monthly": {"week": -1}},
            interval=2,
        ),
        ["B016 schedule.0.weeks @key", "B016 schedule.1.monthly @key"],
    ),
    "weeks-of-each-month": (
        weekly({"dayOfWeek": 1, **TIMES, "weeks": "even", "monthly": {"week": 1}}),
        ["B016 schedule.0"],
    ),
    "weeks-that-no-year-has": (
        weekly(
            {"dayOfWeek": 1, **TIMES, "weeks": [0, 54]},
            {"dayOfWeek": 1, **TIMES, "weeks": []},
            {"dayOfWeek": 1, **TIMES, "weeks": "third"},
            {"dayOfWeek": 1, **TIMES, "weeks": 7.5},
            {"dayOfWeek": 1, **TIMES, "monthly": {"week": 0}},
            {"dayOfWeek": 1, **TIMES, "monthly": {"week": "1"}},
        ),
        [
            "B012 schedule.0.weeks.0",
            "B012 schedule.0.weeks.1",
            "B012 schedule.1.weeks",
            "B012 schedule.4.monthly.week",
            "B013 schedule.3.weeks",
            "B013 schedule.5.monthly.week",
            "B014 schedule.2.weeks",
        ],
    ),
    "names-that-are-no-labels": (
        weekly(
            {"dayOfWeek": 1, **TIMES, "name": "Extra time"},
            moved=[{"date": "2026-02-09", "name": "a~b", "to": {"date": "2026-02-10"}}],
        ),
        ["B019 moved.0.name", "B019 schedule.0.name"],
    ),
}


@pytest.mark.parametrize(("value", "problems"), TOLD.values(), ids=TOLD)
def test_every_fault_of_a_recurrence_is_told_at_once(value: Value, problems: list[str]) -> None:
    assert sorted(problems) == said(RecurrenceSpec, value)
