"""The lines of a recurrence, each for itself."""

from datetime import date

import pytest

from gen.kind.entry import COUNT, EXCEPT, EXTRA, MOST_SEATS, MOVE, SEATS, WEEKDAY
from gen.kind.shape import INVALID, Shape
from gen.model import Except
from tests.saying import ask, said

DAY = date(2026, 4, 6)


def test_weekdays_are_numbers_or_english_names() -> None:
    for number, names in enumerate(
        [("mon", "Monday"), ("TUE", "tuesday"), ("wed",), ("thu",), ("fri",), ("sat",), ("Sun", "sunday")], 1
    ):
        assert ask(WEEKDAY, number) == (number, [])
        for name in names:
            assert ask(WEEKDAY, name) == (number, [])
    assert WEEKDAY.words() == "weekday: 1 (Monday) to 7, or a name such as mon"


def test_a_weekday_that_is_none_is_told() -> None:
    assert said(WEEKDAY, 0) == [
        "B012 : 0 is below 1. Write a weekday: 1 (Monday) to 7, or a name such as mon."
    ]
    assert said(WEEKDAY, [1, 2]) == ["B013 : a list is not a weekday. Write daysOfWeek for several."]
    assert said(WEEKDAY, "Mittwoch") == [
        'B014 : "Mittwoch" is not a weekday. Write a number from 1 (Monday) to 7, or one of '
        "monday, tuesday, wednesday, thursday, friday, saturday, sunday."
    ]
    assert said(WEEKDAY, "mo") == [
        'B014 : "mo" is not a weekday. Write a number from 1 (Monday) to 7, or one of '
        "monday, tuesday, wednesday, thursday, friday, saturday, sunday."
    ]
    assert said(WEEKDAY, "wensday") == [
        'B014 : "wensday" is not a weekday. Did you mean wednesday or tuesday or sunday?'
    ]


def test_seats_are_at_least_one_and_no_more_than_a_cluster_can_have() -> None:
    assert ask(COUNT, 1) == (1, [])
    assert ask(COUNT, MOST_SEATS) == (MOST_SEATS, [])
    assert said(COUNT, 0) == ["B012 : 0 is below 1. Write a whole number from 1 up."]
    assert said(COUNT, MOST_SEATS + 1) == [
        "B012 : 1000001 seats are more than any cluster has. Write a whole number up to 1000000."
    ]


def test_seats_name_each_class_once() -> None:
    held = [{"resourceClass": name, "placeholderCount": 1} for name in ("a", "b", "a", "B", "B", "a")]

    assert said(SEATS, held[:2]) == []
    assert said(SEATS, [*held, "a"]) == [
        *(
            f'B019 {i}.resourceClass: "B" is not a name that Kubernetes allows. '
            "Write at most 63 of a-z, 0-9 and -, with a letter or digit at both ends."
            for i in (3, 4)
        ),
        'B013 6: "a" is not a mapping. Write a mapping.',
        'B016 2.resourceClass: class "a" stands twice. Write one line for each class.',
        'B016 5.resourceClass: class "a" stands twice. Write one line for each class.',
    ]
    assert said(SEATS, []) == ["B012 : the list is empty. Write at least one item."]


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("2026-04-06", DAY),
        ({"date": "2026-04-06"}, Except(DAY, DAY, None)),
        ({"date": "2026-04-06", "startTime": "09:00", "title": "Easter"}, Except(DAY, DAY, 540)),
        ({"from": "2026-04-06", "to": "2026-04-07"}, Except(DAY, date(2026, 4, 7), None)),
        ({"from": "2026-04-06", "to": "2026-04-06", "startTime": "00:00"}, Except(DAY, DAY, 0)),
    ],
    ids=["plain", "date", "date-and-time", "range", "range-and-time"],
)
def test_an_exception_is_a_date_or_a_range_and_may_name_a_start(value: object, made: object) -> None:
    assert ask(EXCEPT, value) == (made, [])


TOLD: dict[str, tuple[Shape, object, list[str]]] = {
    "except-nothing": (EXCEPT, {}, ["B011 : it says no date. Add date, or from and to."]),
    "except-open-end": (EXCEPT, {"from": "2026-04-06"}, ["B011 : to is missing. Add to: a date."]),
    "except-open-begin": (EXCEPT, {"to": "2026-04-06"}, ["B011 : from is missing. Add from: a date."]),
    "except-both": (
        EXCEPT,
        {"date": "2026-04-06", "to": "2026-04-06"},
        ["B016 : date and to are two ways to say the day. Keep date, or from and to."],
    ),
    "except-backwards": (
        EXCEPT,
        {"from": "2026-04-06", "to": "2026-04-05", "startTime": "24:00"},
        [
            "B018 startTime: 24:00 can end a window, not start one. Write 00:00 of the next day.",
            "B024 to: the range ends on 2026-04-05, before it begins on 2026-04-06. "
            "Write the later date in `to`.",
        ],
    ),
    "except-no-date": (
        EXCEPT,
        {"from": "x", "to": "2026-04-05"},
        ['B017 from: "x" is not a date. Write year-month-day, for instance 2026-02-28.'],
    ),
    "move-nowhere": (
        MOVE,
        {"date": "2026-04-06", "to": {"endDay": 1}},
        ["B011 to: it says nothing new. Add date, startTime or endTime."],
    ),
    "move-without-aim": (MOVE, {"date": "2026-04-06"}, ["B011 : to is missing. Add to: a mapping."]),
    "move-with-an-idle-key": (
        MOVE,
        {"date": "2026-04-06", "to": {"startTime": "10:00", "endDay": 1}},
        [
            "B029 to.endDay @key: without endTime the occurrence keeps its length. "
            "Add endTime, or remove endDay."
        ],
    ),
    "extra-without-length": (
        EXTRA,
        {"date": "2026-04-06", "startTime": "09:00", "endTime": "09:00", "placeholderCount": 0},
        [
            "B012 placeholderCount: 0 is below 1. Write a whole number from 1 up.",
            "B028 endTime: the end equals the start. Write a later time; for a whole day add endDay: 1.",
        ],
    ),
    "extra-without-length-on-its-day": (
        EXTRA,
        {"date": "2026-04-06", "startTime": "09:00", "endTime": "08:00", "endDay": 0},
        [
            "B028 endTime: with endDay 0 the end is not after the start. "
            "Write a later time, or endDay: 1."
        ],
    ),
    "extra-without-times": (
        EXTRA,
        {"startTime": "9:00", "endTime": "9:00", "endDay": 367},
        [
            'B018 startTime: "9:00" is not a time of day. Write "09:00".',
            'B018 endTime: "9:00" is not a time of day. Write "09:00".',
            "B012 endDay: 367 is above 366. Write a whole number from 0 to 366.",
            "B011 : date is missing. Add date: a date.",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("shape", "value", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_line(shape: Shape, value: object, problems: list[str]) -> None:
    assert problems == said(shape, value)


def test_windows_that_have_a_length() -> None:
    for start, end, days in [
        ("09:00", "13:00", None),
        ("22:00", "06:00", None),
        ("00:00", "24:00", None),
        ("09:00", "09:00", 1),
        ("09:00", "08:00", 1),
        ("09:00", "10:00", 0),
    ]:
        extra = {"date": "2026-04-06", "startTime": start, "endTime": end, "endDay": days}
        assert said(EXTRA, extra) == []


def test_a_faulty_exception_is_none() -> None:
    assert ask(EXCEPT, {"date": "x"})[0] is INVALID
