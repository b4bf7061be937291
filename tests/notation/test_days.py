"""Dates, ranges and lists of them, as people write them."""

from datetime import date, timedelta

import pytest
from berth.dates.zone import number
from berth.notation.days import DateSpan, dates_of, day, span, spans
from berth.notation.refusal import Refusal, taken

from tests.cases import tabled
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
        ("1/12/2027", 'B017 "1/12/2027" is not a date. Write 2027-01-12 or 2027-12-01.'),
        ("2027-01-12T09:00", f'B017 "2027-01-12T09:00" is not a date. {EXAMPLE}'),
        ("7 March", f'B017 "7 March" is not a date. {EXAMPLE}'),
        ("\u0662026-02-02", f'B017 "\u0662026-02-02" is not a date. {EXAMPLE}'),
        ("13.13.2027", f'B017 "13.13.2027" is not a date. {EXAMPLE}'),
        ("monday", f'B017 "monday" is not a date. {EXAMPLE}'),
        ("", f'B017 "" is not a date. {EXAMPLE}'),
    ],
    ids=[
        "february", "month-0", "month-13", "day-0", "1999", "2100", "slashes", "with-a-time", "no-year",
        "arabic", "month-13-dots", "word", "empty",
    ],
)  # fmt: skip
def test_a_malformed_date_is_refused(text: str, message: str) -> None:
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
def test_words_are_dates_only_if_today_is_given(text: str, found: date) -> None:
    assert day(text, TODAY) == found
    assert refused(day, text).startswith("B017")


@pytest.mark.parametrize(
    "text", ["2027-02-15..2027-02-26", "2027-02-15 .. 2027-02-26", "2027-02-15 to 2027-02-26"]
)
def test_a_range_has_two_dots_or_to(text: str) -> None:
    assert span(text) == DateSpan(date(2027, 2, 15), date(2027, 2, 26))


def test_a_range_that_ends_before_it_begins_is_refused_with_the_right_range() -> None:
    assert refused(span, "2027-02-26..2027-02-15") == (
        "B024 the range ends on 2027-02-15, before it begins on 2027-02-26. Write 2027-02-15..2027-02-26."
    )


def test_a_list_has_dates_and_ranges() -> None:
    listed = spans("2027-03-01, 2027-02-15..2027-02-16;2027-03-01;monday", TODAY)

    assert [str(one) for one in dates_of(listed)] == ["2027-01-11", "2027-02-15", "2027-02-16", "2027-03-01"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "B017"),
        ("2027-03-01,", "B017"),
        ("2027-03-01..", "B017"),
        ("2027-03-01..2027-03-02..2027-03-03", "B017"),
        ("2027-03-01 2027-02-30", "B017"),
    ],
)
def test_a_malformed_list_of_dates_is_refused(text: str, code: str) -> None:
    assert refused(spans, text).startswith(code)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 March", ["2027-03-07"]),
        ("Sep 16th & Sep 17th", ["2027-09-16", "2027-09-17"]),
        ("5 January", ["2028-01-05"]),  # the next one: the last was yesterday
        ("Dec 28 to Jan 3", ["2027-12-28..2028-01-03"]),
        ("Oct 20 - Oct 24, 2028", ["2028-10-20..2028-10-24"]),
        ("16-18 September and 20 Sept", ["2027-09-16..2027-09-18", "2027-09-20"]),
        ("3, 10 and 17 March 2028", ["2028-03-03", "2028-03-10", "2028-03-17"]),
        ("March 3rd & 5th-7th", ["2027-03-03", "2027-03-05..2027-03-07"]),
        ("2027-01-12 tue", ["2027-01-12"]),
        ("13/03/2027, 02/03/2027", ["2027-03-13", "2027-03-02"]),  # one order in a text
        ("Thursday, July 8", ["2027-07-08"]),
        ("Mon 2027-01-11, 2027-01-12", ["2027-01-11", "2027-01-12"]),
    ],
)
def test_dates_without_a_year_are_the_next_such_dates(text: str, found: list[str]) -> None:
    listed = taken(lambda: spans(text, TODAY))

    assert ["..".join(dict.fromkeys(map(str, one))) for one in listed] == found


@tabled("notation")
def test_an_ambiguous_or_unreadable_date_is_refused_with_advice(text: str, advice: str) -> None:
    assert advice in refused(spans, text, TODAY)
    with pytest.raises(Refusal):
        taken(lambda: spans(text, TODAY))
