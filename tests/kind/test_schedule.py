"""`recurrence`: what each type says, and every way in which its parts contradict each other."""

from datetime import date

import pytest

from gen.kind.schedule import RECURRENCE, recurrence
from gen.model import Entry, Except, Extra, Move, Recurrence, Seats
from tests.saying import Value, ask, said, weekly

FIRST, LAST = date(2026, 2, 2), date(2026, 2, 28)
SEATS: Seats = (("small", 25),)
TIMES = {"startTime": "09:00", "endTime": "13:00"}
ONCE = {"type": "once", "startDate": "2026-03-06", "endDate": "2026-03-08"}
DAILY = {"type": "daily", "startDate": "2026-02-02", "endDate": "2026-02-28"}


def made(value: Value) -> Recurrence:
    checked, problems = ask(RECURRENCE, value)
    assert problems == []
    return recurrence(checked, SEATS)


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
            Move(date(2026, 2, 23), None, date(2026, 2, 23), 600, 540, 1),
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


TOLD: dict[str, tuple[Value, list[str]]] = {
    "type-missing": (
        {"startDate": "2026-02-02", "schedule": [TIMES]},
        ['B011 : type is missing. Add type: one of once, daily, weekly, dates.'],
    ),
    "type-unknown": (
        {"type": "monthly", "schedule": []},
        [
            'B014 type: "monthly" is not one of once, daily, weekly, dates. '
            "Write one of once, daily, weekly, dates.",
            "B012 schedule: the list is empty. Write at least one item.",
        ],
    ),
    "span-missing": (
        {"type": "weekly", "dates": ["2026-02-02"], "schedule": [TIMES]},
        [
            "B011 : startDate is missing. Add startDate: a date.",
            "B011 : endDate is missing. Add endDate: a date.",
            "B016 dates @key: type weekly takes no dates. Remove it, or write type: dates.",
            "B011 schedule.0: an entry of type weekly needs its weekday. Add dayOfWeek or daysOfWeek.",
        ],
    ),
    "span-of-dates": (
        {"type": "dates", "startDate": "2026-02-02", "endDate": "2026-02-01", "interval": 2},
        [
            "B011 : schedule is missing. Add schedule: a list.",
            "B016 startDate @key: type dates takes no startDate. Remove it, or change the type.",
            "B016 endDate @key: type dates takes no endDate. Remove it, or change the type.",
            "B011 : dates is missing. Add dates: a list of dates.",
            "B016 interval @key: type dates takes no interval. Remove it, or write type: weekly.",
        ],
    ),
    "no-dates": (
        {"type": "dates", "dates": [], "schedule": [TIMES]},
        ["B012 dates: the list is empty. Write at least one item."],
    ),
    "dates-backwards": (
        {"type": "dates", "dates": [{"from": "2026-02-03", "to": "2026-02-02"}], "schedule": [TIMES]},
        [
            "B024 dates.0.to: the range ends on 2026-02-02, before it begins on 2026-02-03. "
            "Write the later date in `to`."
        ],
    ),
    "backwards-with-other-faults": (
        {**DAILY, "endDate": "2026-02-01", "interval": 2, "timeZone": "Mars", "schedule": [{"endTime": 13}]},
        [
            'B021 timeZone: "Mars" is not a time zone of the tz database. '
            "Write a name such as Europe/Zurich or UTC.",
            'B018 schedule.0.endTime: 13 is not a time of day. Write "13:00".',
            'B011 schedule.0: startTime is missing. Add startTime: a time of day.',
            "B024 endDate: 2026-02-01 is before startDate 2026-02-02. Write a date on or after startDate.",
            "B016 interval @key: type daily takes no interval. Remove it, or write type: weekly.",
        ],
    ),
    "interval": (
        weekly(interval=0),
        ["B012 interval: 0 is below 1. Write a whole number from 1 to 52."],
    ),
    "weekdays-that-nobody-looks-at": (
        {**DAILY, "schedule": [{"dayOfWeek": 1, "daysOfWeek": [2], **TIMES}]},
        [
            "B029 schedule.0.dayOfWeek @key: type daily does not look at weekdays. "
            "Remove it, or write type: weekly.",
            "B029 schedule.0.daysOfWeek @key: type daily does not look at weekdays. "
            "Remove it, or write type: weekly.",
        ],
    ),
    "two-weekdays": (
        weekly({"dayOfWeek": 1, "daysOfWeek": [2], **TIMES}),
        ["B016 schedule.0: two keys say the weekday. Keep dayOfWeek or daysOfWeek."],
    ),
    "a-misspelt-weekday-is-not-missing": (
        weekly({"dayOfweek": 1, **TIMES}),
        ["B010 schedule.0.dayOfweek @key: this key is unknown. Did you mean dayOfWeek or daysOfWeek?"],
    ),
    "all-of-several-entries": (
        weekly({**TIMES}, "09:00", {"dayOfWeek": 8, "startTime": "09:00", "endTime": "09:00"}),  # type: ignore[arg-type] # faulty on purpose
        [
            'B013 schedule.1: "09:00" is not a mapping. Write a mapping.',
            "B012 schedule.2.dayOfWeek: 8 is above 7. "
            "Write a weekday: 1 (Monday) to 7, or a name such as mon.",
            "B011 schedule.0: an entry of type weekly needs its weekday. Add dayOfWeek or daysOfWeek.",
            "B028 schedule.2.endTime: the end equals the start. "
            "Write a later time; for a whole day add endDay: 1.",
        ],
    ),
    "once-with-an-end-day": (
        {**ONCE, "schedule": [{**TIMES, "endDay": 1}, {"startTime": "09:00", "endTime": "09:00"}]},
        ["B016 schedule.0.endDay @key: endDate says the day of the end already. Remove endDay."],
    ),
    "once-on-one-day-without-length": (
        {**ONCE, "endDate": "2026-03-06", "schedule": [{"startTime": "09:00", "endTime": "09:00"}]},
        [
            "B028 schedule.0.endTime: the end equals the start. "
            "Write a later time; for a whole day add endDay: 1."
        ],
    ),
    "once-without-its-dates": (
        {"type": "once", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        [
            "B011 : startDate is missing. Add startDate: a date.",
            "B011 : endDate is missing. Add endDate: a date.",
        ],
    ),
    "once-with-faulty-dates": (
        {**ONCE, "endDate": "x", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        ['B017 endDate: "x" is not a date. Write year-month-day, for instance 2026-02-28.'],
    ),
    "no-schedule": (
        {**DAILY, "schedule": "09:00"},
        ['B013 schedule: "09:00" is not a list. Write a list: begin each item with "- ".'],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("value", "problems"), TOLD.values(), ids=TOLD)
def test_every_fault_of_a_recurrence_is_told_at_once(value: Value, problems: list[str]) -> None:
    assert problems == said(RECURRENCE, value)
