"""Dates as people write them: `2027-02-28`, `tomorrow`, `2027-02-15..2027-02-26`, and lists of these."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from berth.dates.zone import DAY, day_of, number
from berth.notation.refusal import Refusal, as_typed, reads_lookalikes, shown
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS

DATE, ORDER = "B017", "B024"
FIRST_YEAR, LAST_YEAR = 2000, 2099
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_RANGE = re.compile(r"\s*\.\.\s*|\s+to\s+")
_INSTEAD_OF_DOTS = re.compile(r"\s*(?:[-/+~>]+|\b(?:until|till?|through|bis)\b)\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR_FIRST = re.compile(
    r"([0-9]{4})[-/.]?([0-9]{1,2})[-/.]?([0-9]{1,2})(?:[t ]\s*[0-9]{1,2}[:.h].*)?", re.ASCII
)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])\s*([0-9]{1,2})[-/.]\s*([0-9]{4})", re.ASCII)
_NAMED = re.compile(
    r"(?:([0-9]{1,2})\.?(?:st|nd|rd|th)?\s*([a-z]{3,9})\.?|([a-z]{3,9})\.?\s*([0-9]{1,2})(?:st|nd|rd|th)?),?\s*([0-9]{4})",
    re.ASCII,
)


class DateSpan(NamedTuple):
    """Dates in a row, both ends inclusive; a single date is a span of itself."""

    first: date
    last: date


@lru_cache(maxsize=4096)
@reads_lookalikes
def day(text: str, today: int | None = None) -> date:
    """Return the date of `2027-02-28`. With `today`, also of `today`, `tomorrow`, `yesterday` or a weekday.

    `today` is a number of days since 1970. A weekday is the next one, or today.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        word = _day_of_word(text.lower(), today)
        if word is not None:
            return word
        raise Refusal(f"{shown(text)} is not a date.", _advice(text, today), DATE)
    year = int(match[1])
    if not FIRST_YEAR <= year <= LAST_YEAR:
        message = f"{text} is outside of the years {FIRST_YEAR} to {LAST_YEAR}."
        raise Refusal(message, "Write a date within them.", DATE)
    try:
        return date(year, int(match[2]), int(match[3]))
    except ValueError:
        fix = "Write a date that exists."
        raise Refusal(f"{text} does not exist in the calendar.", fix, DATE) from None


def _day_of_word(word: str, today: int | None) -> date | None:
    if today is None:
        return None
    if word in _DAYS:
        return day_of((today + _DAYS[word]) * DAY)
    named = weekday(word)
    return None if named is None else day_of(next_weekday(named, today) * DAY)


def weekday(text: str) -> int | None:
    """Return the number of a weekday, 0 for Monday; None for any other text."""
    word = text.lower()
    return next((names.index(word) for names in (WEEKDAYS, DAY_NAMES) if word in names), None)


def next_weekday(wanted: int, day: int) -> int:
    """Return the first day on or after a day that is this weekday; days are numbers since 1970."""
    return day + (wanted - day_of(day * DAY).weekday()) % 7


def _advice(text: str, today: int | None) -> str:
    """Suggest the dates that the author may have meant; of `1/12/2027` there are two."""
    meant = sorted({str(one) for one in _meant(text.strip().lower())})
    if meant:
        return f"Write {' or '.join(meant)}."
    words = "" if today is None else ", or today, tomorrow or a weekday"
    return f"Write year-month-day, for instance 2026-02-28{words}."


def _meant(text: str) -> Iterator[date]:
    triples: list[tuple[str, str, str]] = []  # year, month, day
    if match := _YEAR_FIRST.fullmatch(text):
        triples = [(match[1], match[2], match[3])]
    elif match := _YEAR_LAST.fullmatch(text):
        triples = [(match[4], match[3], match[1])]
        if match[2] != ".":  # with dots, the day is first everywhere
            triples.append((match[4], match[1], match[3]))
    elif match := _NAMED.fullmatch(text):
        month = (match[2] or match[3])[:3]
        if month in _MONTHS:
            triples = [(match[5], str(_MONTHS.index(month) + 1), match[1] or match[4])]
    for year, month, day_of_month in triples:
        try:
            meant = date(int(year), int(month), int(day_of_month))
        except ValueError:
            continue
        if FIRST_YEAR <= meant.year <= LAST_YEAR:
            yield meant


@lru_cache(maxsize=4096)
def span(text: str, today: int | None = None) -> DateSpan:
    """Return the dates of `2027-02-15..2027-02-26` (or with `to`), or of a single date as `day` reads it."""
    try:
        ends = [day(end, today) for end in _RANGE.split(text.strip())]
    except Refusal:
        _refuse_joined(text)
        raise
    if len(ends) > 2:
        message = f"{shown(text)} is not a range of dates."
        raise Refusal(message, "Write two dates, such as 2027-02-15..2027-02-26.", DATE)
    first, last = ends[0], ends[-1]
    if last < first:
        message = f"the range ends on {last}, before it begins on {first}."
        raise Refusal(message, f"Write {last}..{first}.", ORDER)
    return DateSpan(first, last)


def spans(text: str, today: int | None = None) -> tuple[DateSpan, ...]:
    """Return each of a list of dates and ranges, separated by a comma, a semicolon or spaces."""
    try:
        return tuple(span(part, today) for part in parts(text))
    except Refusal:
        if any(_meant(text.strip().lower())):  # a date that has spaces, such as 12 January 2027
            raise Refusal(f"{shown(text)} is not a date.", _advice(text, today), DATE) from None
        raise


def parts(text: str) -> list[str]:
    """Split a list as `spans` does; a range is one part, with `..`."""
    found = _SEPARATOR.split(_RANGE.sub("..", text.strip()))
    for part in {*found, *re.split(r"\s*[,;]\s*", text.strip())}:
        _refuse_joined(part)
    if not all(found):
        fix = "Write dates such as 2027-02-15,2027-03-01..2027-03-05."
        raise Refusal(f"{shown(text)} has an empty place.", fix, DATE)
    return found


def _refuse_joined(text: str) -> None:
    """Raise Refusal for two dates with something else than `..` or `to` between them."""
    plain = as_typed(text.strip().lower())
    for between in _INSTEAD_OF_DOTS.finditer(plain):
        ends = [{*_meant(end)} for end in (plain[: between.start()], plain[between.end() :])]
        if all(len(meant) == 1 for meant in ends):
            first, last = sorted(meant.pop() for meant in ends)
            fix = f"Write {first}..{last}."
            raise Refusal(f"{shown(text)} is not a range of dates.", fix, DATE)


def dates_of(listed: tuple[DateSpan, ...]) -> tuple[date, ...]:
    """Return every date of the spans, each once, ascending."""
    numbers = {
        day for date_span in listed for day in range(number(date_span.first), number(date_span.last) + 1)
    }
    return tuple(day_of(one * DAY) for one in sorted(numbers))
