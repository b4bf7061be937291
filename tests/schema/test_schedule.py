"""`recurrence`: what each type says, and every way in which its parts contradict each other."""

from datetime import date

import pytest
from berth.schema.entry import StandardSeats
from berth.schema.recurrencespec import RecurrenceSpec
from berth.schema.values import Entry, Recurrence, Scaling, Seats

from tests.cases import table
from tests.saying import Value, ask, document, said, site, told, weekly

FIRST, LAST = date(2026, 2, 2), date(2026, 2, 28)
SEATS: Seats = (("small", 25),)
USUAL = Scaling(30, "maintain")
TIMES = {"startTime": "09:00", "endTime": "13:00"}
ONCE = {"type": "once", "startDate": "2026-03-06", "endDate": "2026-03-08"}


def made(value: Value) -> Recurrence:
    checked, problems = ask(RecurrenceSpec, value)
    assert problems == []
    recurrence: Recurrence = checked.recurrence(StandardSeats(SEATS, (USUAL,), USUAL))
    return recurrence


def test_type_once_may_end_on_another_day_and_ignores_weekdays() -> None:
    found = made({**ONCE, "schedule": [{"dayOfWeek": 1, "startTime": "17:00", "endTime": "17:00"}]})

    assert (found.first, found.last) == (date(2026, 3, 6), date(2026, 3, 8))
    assert found.schedule == (Entry((), 1020, 1020, None, SEATS),)


def test_type_once_on_one_day_may_have_an_end_day() -> None:
    one_day = {**ONCE, "endDate": "2026-03-06", "schedule": [{**TIMES, "endDay": 1}]}

    assert made(one_day).schedule == (Entry((), 540, 780, 1, SEATS),)


def test_type_dates_has_dates_and_ranges_only() -> None:
    dates = ["2026-02-02", {"from": "2026-02-04", "to": "2026-02-06"}]
    found = made({"type": "dates", "dates": dates, "schedule": [TIMES]})

    assert (found.first, found.last) == (None, None)
    assert found.dates == ((FIRST, FIRST), (date(2026, 2, 4), date(2026, 2, 6)))


def test_terms_replace_the_first_and_last_date() -> None:
    found = made({"type": "daily", "within": ["spring", "autumn"], "schedule": [TIMES]})

    assert (found.first, found.last, found.within) == (None, None, ("spring", "autumn"))
    assert found.has_unknown_dates


def test_type_capacity_takes_its_dates_from_a_capacity() -> None:
    found = made({"type": "capacity", "cloudCapacity": "gpu"})

    assert (found.capacity, found.usable, found.first, found.last) == ("gpu", (), None, None)
    assert [line.seats for line in found.lines] == [SEATS]
    assert found.has_unknown_dates


@pytest.mark.parametrize(("value", "problems"), table("recurrence"))
def test_all_faults_of_a_recurrence_are_reported_at_once(value: Value, problems: list[str]) -> None:
    assert sorted(problems) == said(RecurrenceSpec, value)


BACKWARDS = {"from": "2026-03-02", "to": "2026-03-01"}
LINE = {"dayOfWeek": 1, "from": "2026-03-02", "until": "2026-03-01", **TIMES, "startTime": "x"}


@pytest.mark.parametrize(
    ("recurrence", "places"),
    [
        (weekly(endDate="2026-01-01", interval=0), ["B012 interval", "B024 endDate"]),
        (weekly(startDate="2026-02-30", endDate="2026-02-01"), ["B017 startDate"]),
        (
            weekly({"dayOfWeek": 8, **TIMES}, endDate="2026-01-01"),
            ["B012 schedule.0.dayOfWeek", "B024 endDate"],
        ),
        (weekly(LINE), ["B018 schedule.0.startTime", "B024 schedule.0.until"]),
        (weekly(**{"except": [{**BACKWARDS, "title": 5}]}), ["B013 except.0.title", "B024 except.0.to"]),
    ],
)
def test_dates_in_the_wrong_order_are_told_beside_other_errors(recurrence: Value, places: list[str]) -> None:
    assert said(RecurrenceSpec, recurrence) == places


def test_other_ranges_are_told_beside_other_errors_too() -> None:
    dates, terms = [{**BACKWARDS, "title": 5}], [{**BACKWARDS, "name": "A"}]
    ceiling = {"from": "2026-03-02", "until": "2026-03-01", "seats": {"small": -1}}

    found = told(
        document("Calendar", "a", {"dates": dates, "terms": terms}),
        site({"name": "prod", "ceilings": [ceiling]}),
    )

    assert [line for line in found if "B024" in line] == [
        "a.yaml B024 spec.dates.0.to",
        "a.yaml B024 spec.terms.0.to",
        "b.yaml B024 spec.clusters.0.ceilings.0.until",
    ]
