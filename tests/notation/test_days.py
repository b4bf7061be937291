"""Dates, ranges and lists of them, as people write them."""

from datetime import date, timedelta

import pytest
from berth.dates.zone import number
from berth.notation.days import DateSpan, dates_of, day, span, spans

from tests.notation.refused import refused

TODAY = number(date(2027, 1, 6))  # a Wednesday
EXAMPLE = "Write year-month-day, for instance 2026-02-28."


def test_every_date_of_the_years_2000_to_2099_is_read() -> None:
    first, last = date(2000, 1, 1), date(2099, 12, 31)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]

    assert days == [day(one.isoformat()) for one in days]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-02-30", "B017 2026-02-30 does not exist in the calendar. Write a date that exists."),
        ("2026-00-10", "B017 2026-00-10 does not exist in the calendar. Write a date that exists."),
        ("2026-13-01", "B017 2026-13-01 does not exist in the calendar. Write a date that exists."),
        ("2026-01-00", "B017 2026-01-00 does not exist in the calendar. Write a date that exists."),
        ("1999-12-31", "B017 1999-12-31 is outside of the years 2000 to 2099. Write a date within them."),
        ("2100-01-01", "B017 2100-01-01 is outside of the years 2000 to 2099. Write a date within them."),
        ("12.01.2027", 'B017 "12.01.2027" is not a date. Write 2027-01-12.'),
        ("2026-2-2", 'B017 "2026-2-2" is not a date. Write 2026-02-02.'),
        ("1/12/2027", 'B017 "1/12/2027" is not a date. Write 2027-01-12 or 2027-12-01.'),
        ("31/12/2027", 'B017 "31/12/2027" is not a date. Write 2027-12-31.'),
        ("20270112", 'B017 "20270112" is not a date. Write 2027-01-12.'),
        ("12th January 2027", 'B017 "12th January 2027" is not a date. Write 2027-01-12.'),
        ("Jan 12, 2027", 'B017 "Jan 12, 2027" is not a date. Write 2027-01-12.'),
        ("2027-01-12T09:00", 'B017 "2027-01-12T09:00" is not a date. Write 2027-01-12.'),
        ("\u0662026-02-02", f'B017 "\u0662026-02-02" is not a date. {EXAMPLE}'),
        ("13.13.2027", f'B017 "13.13.2027" is not a date. {EXAMPLE}'),
        ("monday", f'B017 "monday" is not a date. {EXAMPLE}'),
        ("", f'B017 "" is not a date. {EXAMPLE}'),
    ],
    ids=[
        "february", "month-0", "month-13", "day-0", "1999", "2100", "dots", "short", "slashes", "one-meaning",
        "digits", "ordinal", "american", "with-a-time", "arabic", "month-13-dots", "word", "empty",
    ],
)  # fmt: skip
def test_a_date_that_is_none_is_refused_with_the_one_that_was_meant(text: str, message: str) -> None:
    assert refused(day, text) == message


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("today", date(2027, 1, 6)),
        ("Tomorrow", date(2027, 1, 7)),
        ("wed", date(2027, 1, 6)),
        ("monday", date(2027, 1, 11)),
    ],
)
def test_words_are_dates_where_there_is_a_today(text: str, found: date) -> None:
    assert day(text, TODAY) == found
    assert refused(day, text).startswith("B017")


@pytest.mark.parametrize(
    "text", ["2027-02-15..2027-02-26", "2027-02-15 .. 2027-02-26", "2027-02-15 to 2027-02-26"]
)
def test_a_range_has_two_dots_or_to(text: str) -> None:
    assert span(text) == DateSpan(date(2027, 2, 15), date(2027, 2, 26))


def test_a_range_that_ends_before_it_begins_is_refused_with_the_right_one() -> None:
    assert refused(span, "2027-02-26..2027-02-15") == (
        "B024 the range ends on 2027-02-15, before it begins on 2027-02-26. Write 2027-02-15..2027-02-26."
    )


def test_a_list_has_dates_and_ranges() -> None:
    listed = spans("2027-03-01, 2027-02-15..2027-02-16;2027-03-01 monday", TODAY)

    assert [str(one) for one in dates_of(listed)] == ["2027-01-11", "2027-02-15", "2027-02-16", "2027-03-01"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "B017"),
        ("2027-03-01,", "B017"),
        ("2027-03-01..", "B017"),
        ("2027-03-01..2027-03-02..2027-03-03", "B017"),
        ("2027-03-01 2027-02-30", "B017"),
        ("2027-03-01-2027-03-02", "B017"),
    ],
)
def test_a_list_is_read_whole_or_refused(text: str, code: str) -> None:
    assert refused(spans, text).startswith(code)
