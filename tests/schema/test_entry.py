"""The lines of a recurrence, each for itself."""

from datetime import date
from typing import Any

import pytest
from berth.findings import Origin
from berth.notation.days import DateSpan
from berth.schema.counts import MOST_SEATS
from berth.schema.datechanges import ExtraEntry, MovedEntry
from berth.schema.documentproblems import DocumentProblems
from berth.schema.recurrencespec import DateOrException
from berth.schema.reservationspec import Provisioning
from berth.schema.types import SeatCount, StartTime, Weekdays
from berth.schema.validate import read_as
from berth.schema.values import Except

from tests.cases import tabled
from tests.saying import ask, said

DAY = date(2026, 4, 6)


def test_weekdays_are_numbers_or_english_names() -> None:
    for number, names in enumerate(
        [("mon", "Monday"), ("TUE", "tuesday"), ("wed",), ("thu",), ("fri",), ("sat",), ("Sun", "sunday")], 1
    ):
        assert ask(Weekdays, number) == ((number,), [])
        for name in names:
            assert ask(Weekdays, name) == ((number,), [])


def test_an_invalid_weekday_is_reported() -> None:
    assert said(Weekdays, 0) == ["B012"]
    assert said(Weekdays, [1, 2]) == ["B013"]
    assert said(Weekdays, "Mittwoch") == ["B014"]
    assert said(Weekdays, "mo") == ["B014"]
    assert said(Weekdays, "wensday") == ["B014"]


def test_seat_counts_are_between_1_and_the_maximum() -> None:
    assert ask(SeatCount, 1) == (1, [])
    assert ask(SeatCount, MOST_SEATS) == (MOST_SEATS, [])
    assert said(SeatCount, 0) == ["B012"]
    assert said(SeatCount, MOST_SEATS + 1) == ["B012"]


def test_seats_name_each_class_once() -> None:
    held = [{"resourceClass": name, "placeholderCount": 1} for name in ("a", "b", "a", "c", "a", "B", "B")]

    assert said(Provisioning, {"seats": held[:2]}) == []
    assert said(Provisioning, {"seats": held[:5]}) == [
        "B016 seats.2.resourceClass",
        "B016 seats.4.resourceClass",
    ]
    assert said(Provisioning, {"seats": [*held, "a"]}) == [
        "B013 seats.7",
        "B019 seats.5.resourceClass",
        "B019 seats.6.resourceClass",
    ]
    assert said(Provisioning, {"seats": []}) == ["B012 seats"]


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("2026-04-06", Except(DAY, DAY, None)),
        ("2026-04-06..2026-04-07", Except(DAY, date(2026, 4, 7), None)),
        ({"date": "2026-04-06"}, Except(DAY, DAY, None)),
        (
            {"date": "2026-04-06", "startTime": "09:00", "title": "Easter"},
            Except(DAY, DAY, 540, None, "Easter"),
        ),
        ({"from": "2026-04-06", "to": "2026-04-07"}, Except(DAY, date(2026, 4, 7), None)),
        ({"from": "2026-04-06", "to": "2026-04-06", "startTime": "00:00"}, Except(DAY, DAY, 0)),
    ],
    ids=["plain", "plain-range", "date", "date-and-time", "range", "range-and-time"],
)
def test_an_exception_is_a_date_or_a_range_and_may_name_a_start(value: object, made: object) -> None:
    found, problems = ask(DateOrException, value)

    assert problems == []
    assert (Except(*found, None) if isinstance(found, DateSpan) else found.excepted) == made


TOLD: dict[str, tuple[Any, object, list[str]]] = {
    "except-nothing": (DateOrException, {}, ["B011"]),
    "except-open-end": (DateOrException, {"from": "2026-04-06"}, ["B011"]),
    "except-open-begin": (DateOrException, {"to": "2026-04-06"}, ["B011"]),
    "except-both": (DateOrException, {"date": "2026-04-06", "to": "2026-04-06"}, ["B016"]),
    "except-backwards": (
        DateOrException,
        {"from": "2026-04-06", "to": "2026-04-05", "startTime": "23:00"},
        ["B024 to"],
    ),
    "except-at-no-time": (DateOrException, {"date": "2026-04-06", "startTime": "24:00"}, ["B018 startTime"]),
    "except-no-date": (DateOrException, {"from": "x", "to": "2026-04-05"}, ["B017 from"]),
    "move-nowhere": (MovedEntry, {"date": "2026-04-06", "to": {"endDay": 1}}, ["B011 to"]),
    "move-without-aim": (MovedEntry, {"date": "2026-04-06"}, ["B011"]),
    "move-with-an-idle-key": (
        MovedEntry,
        {"date": "2026-04-06", "to": {"startTime": "10:00", "endDay": 1}},
        ["B029 to.endDay @key"],
    ),
    "extra-without-length": (
        ExtraEntry,
        {"date": "2026-04-06", "startTime": "09:00", "endTime": "09:00", "placeholderCount": 1},
        ["B024 endTime"],
    ),
    "extra-without-seats": (
        ExtraEntry,
        {"date": "2026-04-06", "startTime": "09:00", "endTime": "10:00", "placeholderCount": 0},
        ["B012 placeholderCount"],
    ),
    "extra-without-length-on-its-day": (
        ExtraEntry,
        {"date": "2026-04-06", "startTime": "09:00", "endTime": "08:00", "endDay": 0},
        ["B024 endTime"],
    ),
    "extra-without-times": (
        ExtraEntry,
        {"startTime": "9:00", "endTime": "9:00", "endDay": 367},
        ["B011", "B012 endDay", "B018 endTime", "B018 startTime"],
    ),
}


@pytest.mark.parametrize(("shape", "value", "problems"), TOLD.values(), ids=TOLD)
def test_faults_of_an_entry_are_reported(shape: Any, value: object, problems: list[str]) -> None:
    assert problems == said(shape, value)


def test_windows_of_positive_length_are_accepted() -> None:
    for start, end, days in [
        ("09:00", "13:00", None),
        ("22:00", "06:00", None),
        ("00:00", "24:00", None),
        ("09:00", "09:00", 1),
        ("09:00", "08:00", 1),
        ("09:00", "10:00", 0),
    ]:
        extra = {"date": "2026-04-06", "startTime": start, "endTime": end, "endDay": days}
        assert said(ExtraEntry, extra) == []


@tabled("schema")
def test_an_unquoted_time_with_a_period_is_refused_with_advice(number: float, advice: str) -> None:
    report = DocumentProblems(Origin("a.yaml"))
    read_as(StartTime, number, report)

    (problem,) = report.problems
    assert (problem.code, advice in problem.fix) == ("B018", True)
