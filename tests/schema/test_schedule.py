"""`recurrence`: what each type says, and every way in which its parts contradict each other."""

from datetime import date

import pytest
from berth.schema.recurrence import RecurrenceSpec
from berth.schema.values import Entry, Except, Extra, Move, Recurrence, Seats

from tests.saying import Value, ask, said, weekly

FIRST, LAST = date(2026, 2, 2), date(2026, 2, 28)
SEATS: Seats = (("small", 25),)
TIMES = {"startTime": "09:00", "endTime": "13:00"}
ONCE = {"type": "once", "startDate": "2026-03-06", "endDate": "2026-03-08"}
DAILY = {"type": "daily", "startDate": "2026-02-02", "endDate": "2026-02-28"}


def made(value: Value) -> Recurrence:
    checked, problems = ask(RecurrenceSpec, value)
    assert problems == []
    found: Recurrence = checked.recurrence(SEATS)
    return found


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
    "backwards-with-other-faults": (
        {**DAILY, "endDate": "2026-02-01", "interval": 2, "timeZone": "Mars", "schedule": [{"endTime": 13}]},
        ["B011 schedule.0", "B016 interval @key", "B018 schedule.0.endTime", "B021 timeZone", "B024 endDate"],
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
        weekly({**TIMES}, "09:00", {"dayOfWeek": 8, "startTime": "09:00", "endTime": "09:00"}),  # type: ignore[arg-type] # faulty on purpose
        ["B011 schedule.0", "B012 schedule.2.dayOfWeek", "B013 schedule.1", "B028 schedule.2.endTime"],
    ),
    "once-with-an-end-day": (
        {**ONCE, "schedule": [{**TIMES, "endDay": 1}, {"startTime": "09:00", "endTime": "09:00"}]},
        ["B016 schedule.0.endDay @key"],
    ),
    "once-on-one-day-without-length": (
        {**ONCE, "endDate": "2026-03-06", "schedule": [{"startTime": "09:00", "endTime": "09:00"}]},
        ["B028 schedule.0.endTime"],
    ),
    "once-without-its-dates": (
        {"type": "once", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        ["B011", "B011"],
    ),
    "once-with-faulty-dates": (
        {**ONCE, "endDate": "x", "schedule": [{"startTime": "09:00", "endTime": "09:00", "endDay": 1}]},
        ["B017 endDate"],
    ),
    "no-schedule": ({**DAILY, "schedule": "09:00"}, ["B013 schedule"]),
}


@pytest.mark.parametrize(("value", "problems"), TOLD.values(), ids=TOLD)
def test_every_fault_of_a_recurrence_is_told_at_once(value: Value, problems: list[str]) -> None:
    assert sorted(problems) == said(RecurrenceSpec, value)
