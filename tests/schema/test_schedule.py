"""`recurrence`: what each type says, and every way in which its parts contradict each other."""

from datetime import date

import pytest
from berth.schema.entry import StandardSeats
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.values import Entry, Except, Extra, Move, Recurrence, Scaling, Seats

from tests.cases import table
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


@pytest.mark.parametrize(("value", "problems"), table("recurrence"))
def test_every_fault_of_a_recurrence_is_told_at_once(value: Value, problems: list[str]) -> None:
    assert sorted(problems) == said(RecurrenceSpec, value)
