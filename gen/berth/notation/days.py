"""Dates as people write them: `2027-02-28`, `tomorrow`, `2027-02-15..2027-02-26`, and lists of these."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

from berth.dates.zone import DAY, day_of, number
from berth.notation.refusal import Refusal, reads, shown
from berth.notation.weekdays import DAY_NAMES, WEEKDAYS

FIRST_YEAR, LAST_YEAR = 2000, 2099
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_RANGE = re.compile(r"\s*\.\.\s*|\s+to\s+")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
_WEEKDAY = (
    r"mon(?:day)?|tue(?:s|sday)?|wed(?:s|nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
)
_BESIDE_DATE = re.compile(
    rf"\b(?:{_WEEKDAY})\.?,?\s+(?=[0-9]{{4}}-)|(?<=-[0-9]{{2}})\s+\(?(?:{_WEEKDAY})\b", re.IGNORECASE
)

# The other ways to write a date. These stay text until somebody needs them: to compile them costs time.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_NTH = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_JOINED = r"(?:\.\.|[-/+~>]+|\bto\b|\buntil\b|\btill\b|\bthrough\b|\bthru\b)"
_OTHER_DATE = (
    rf"(?a)(?<![0-9a-z])(?:(?P<weekday>{_WEEKDAY})\.?,? )?(?:the )?(?:"
    r"(?P<year>[0-9]{4})(?P<s>[-/.])(?P<month>[0-9]{1,2})(?P=s)(?P<day>[0-9]{1,2})"
    r"|(?P<year1>[0-9]{4})(?P<month1>[0-9]{2})(?P<day1>[0-9]{2})"
    r"|(?P<one>[0-9]{1,2})(?P<s2>[-/.]) ?(?P<other>[0-9]{1,2})(?P=s2) ?(?P<year2>[0-9]{4})"
    rf"|(?P<day3>[0-9]{{1,2}})(?:st|nd|rd|th)?\.? ?(?:of )?(?P<name3>{_MONTH})\.?"
    r"(?:,? ?(?P<year3>[0-9]{4}))?"
    rf"|(?P<name4>{_MONTH})\.? ?(?P<day4>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:,? ?(?P<year4>[0-9]{{4}}))?"
    rf")(?![0-9a-z])(?: \(?(?P<after>{_WEEKDAY})\b\)?)?"
)
_LISTED = r" ?(?:,? and |&|,|;) ?"
_DAYS_OF_MONTH = (  # "Sep 16, 17" may be a year
    rf"{_NTH}(?: ?(?:{_JOINED}|{_LISTED}) ?{_NTH})*? ?(?:{_JOINED}|,? and |&) ?{_NTH}(?![0-9a-z:./-])"
)
_YEAR = r"(?:,? ?(?P<year>[0-9]{4})(?![0-9-]))?"
_ONE_MONTH = (  # October 20-24, 2027; 20 to 24 October 2027; 3, 10 and 17 March
    rf"\b(?P<month>{_MONTH})\.? (?P<days>{_DAYS_OF_MONTH})(?! ?(?:of )?(?:{_MONTH})\b){_YEAR}",
    rf"(?<![0-9a-z:./-])(?P<days>{_DAYS_OF_MONTH}) (?:of )?(?P<month>{_MONTH})\b\.?{_YEAR}",
)
_BETWEEN = rf"(?<=-[0-9]{{2}}) ?{_JOINED} ?(?=[0-9]{{4}}-)"
_BEFORE_END = rf"[0-9a-z] ?{_JOINED} ?(?:the )?$"
_RELATIVE = rf"(?<![0-9a-z])(next )?({_WEEKDAY})(?![0-9a-z])"


class DateSpan(NamedTuple):
    """Dates in a row, both ends inclusive; a single date is a span of itself."""

    first: date
    last: date


class _OtherDate(NamedTuple):
    """A date in a text; `year` is 0 if it has none, and `orders` are the months and days that it may mean."""

    match: re.Match[str]
    is_end: bool  # of a range
    year: int
    orders: tuple[tuple[int, int], ...]


def written(text: str, today: int | None = None, words: bool = True) -> Iterator[str]:
    """Yield a text with its dates as year-month-day, once for each way to read them.

    A date without a year is the next one, from `today` on; in a range it is in order with the other end. All
    dates of a text that are only numbers have days and months in the same order. Next Friday may be in this
    week or in the next one.
    """
    plain = re.sub(r"^(?:from|on|between) ", "", text.lower())
    for pattern in _ONE_MONTH:
        plain = re.sub(pattern, _with_month, plain)
    found = [_other_date(match) for match in re.finditer(_OTHER_DATE, plain)]
    wrong: list[Refusal] = []
    texts: list[str] = []
    for order, year in product((0, 1), dict.fromkeys([0, *(one.year for one in found if one.year)])):
        try:
            dates = _dated(found, order, year, today)
        except Refusal as refusal:
            wrong.append(refusal)
            continue
        left = iter(dates)
        if len(dates) == len(found):
            dated = re.sub(_OTHER_DATE, lambda _: str(next(left)), plain)  # noqa: B023 - called at once
            texts += _without_words(re.sub(_LISTED, ",", re.sub(_BETWEEN, "..", dated)), today, words)
    if wrong and not texts:
        raise wrong[0]
    yield from sorted({*texts})


def _with_month(match: re.Match[str]) -> str:
    """Return the days of a month as dates, if they ascend."""
    numbers = [int(one) for one in re.findall("[0-9]+", match["days"])]
    if numbers != sorted({*numbers}):
        return match[0]
    return re.sub(_NTH, lambda day: f"{match['month']} {day[0]} {match['year'] or ''}".strip(), match["days"])


def _without_words(text: str, today: int | None, words: bool) -> Iterator[str]:
    """Yield a text with the dates of `next friday` and `tues`, if such words may stand for dates."""
    if today is None or not words:
        yield text
        return
    coming, of_next_week = today, next_weekday(0, today + 1)

    def dated(match: re.Match[str], *, is_near: bool) -> str:
        wanted = [name[:3] for name in DAY_NAMES].index(match[2][:3])
        first = of_next_week if match[1] and not is_near else coming + bool(match[1])
        return str(day_of(next_weekday(wanted, first) * DAY))

    for is_near in (True, False):
        yield re.sub(_RELATIVE, partial(dated, is_near=is_near), text)


def _other_date(match: re.Match[str]) -> _OtherDate:
    part = match.groupdict()
    year = next((int(part[key]) for key in ("year", "year1", "year2", "year3", "year4") if part[key]), 0)
    name, day_text = part["name3"] or part["name4"], part["day3"] or part["day4"]
    if name:
        orders: tuple[tuple[int, int], ...] = ((_MONTHS.index(name[:3]) + 1, int(day_text)),)
    elif part["one"]:
        one, other = int(part["one"]), int(part["other"])
        orders = ((other, one),) if part["s2"] == "." else ((other, one), (one, other))  # dots: day first
    else:
        orders = ((int(part["month"] or part["month1"]), int(part["day"] or part["day1"])),)
    is_end = re.search(_BEFORE_END, match.string[: match.start()]) is not None
    return _OtherDate(match, is_end, year, orders)


def _dated(found: list[_OtherDate], order: int, year: int, today: int | None) -> list[date]:
    """Return the dates of a text in one of its readings, up to one that does not exist.

    `year` is that of dates without one; 0: the next such date. Raise Refusal for a wrong weekday.
    """
    dates: list[date] = []
    for one, after in zip(found, [*found[1:], None], strict=False):
        month, day_of_month = one.orders[min(order, len(one.orders) - 1)]
        earliest = date.min
        if one.year or (after and after.is_end and after.year):
            years = [one.year or (after.year if after else 0)]
        elif one.is_end and dates:
            earliest = dates[-1]
            years = [earliest.year, earliest.year + 1]
        elif year or today is None:
            years = [year]
        else:
            earliest = day_of(today * DAY)
            years = [earliest.year, earliest.year + 1]
        existing = (_existing(one_year, month, day_of_month) for one_year in years)
        day = next((day for day in existing if day and day >= earliest), None)
        if day is None:
            break
        follows = len(dates) > 0 and not (one.year or one.is_end or found[len(dates) - 1].year)
        if follows and day.year < dates[-1].year:
            message = f"{shown(one.match[0])} may be of {day.year} or {dates[-1].year}."
            raise Refusal(message, "Write its year.", "B017")
        dates.append(day)
        weekday = DAY_NAMES[day.weekday()]
        if not all(weekday.startswith((one.match[key] or "")[:3]) for key in ("weekday", "after")):
            fix = "Correct the date or the weekday."
            raise Refusal(f"{shown(one.match[0])}: {day} is a {weekday.capitalize()}.", fix, "B017")
    return dates


def _existing(year: int, month: int, day_of_month: int) -> date | None:
    try:
        return date(year, month, day_of_month)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
@reads("a date", written)
def day(text: str, today: int | None = None, words: bool = True) -> date:
    """Return the date of `2027-02-28`. With `today`, also of `today`, `tomorrow`, `yesterday` or a weekday.

    `today` is a number of days since 1970. A weekday is the next one, or today. Without `words`, they are
    refused: a text that is read again later has other dates then.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        if today is not None and words:
            word, named = text.lower(), weekday(text)
            if word in _DAYS:
                return day_of((today + _DAYS[word]) * DAY)
            if named is not None:
                return day_of(next_weekday(named, today) * DAY)
        others = ", or today, tomorrow or a weekday" if today is not None and words else ""
        fix = f"Write year-month-day, for instance 2026-02-28{others}."
        raise Refusal(f"{shown(text)} is not a date.", fix, "B017")
    year = int(match[1])
    if not FIRST_YEAR <= year <= LAST_YEAR:
        message = f"{text} is outside of the years {FIRST_YEAR} to {LAST_YEAR}."
        raise Refusal(message, "Write a date within them.", "B017")
    found = _existing(year, int(match[2]), int(match[3]))
    if found is None:
        raise Refusal(f"{text} does not exist in the calendar.", "Write a date that exists.", "B017")
    return found


def weekday(text: str) -> int | None:
    """Return the number of a weekday, 0 for Monday; None for any other text."""
    word = text.lower()
    return next((names.index(word) for names in (WEEKDAYS, DAY_NAMES) if word in names), None)


def next_weekday(wanted: int, day: int) -> int:
    """Return the first day on or after a day that is this weekday; days are numbers since 1970."""
    return day + (wanted - day_of(day * DAY).weekday()) % 7


@lru_cache(maxsize=4096)
@reads("a range of dates", written)
def span(text: str, today: int | None = None, words: bool = True) -> DateSpan:
    """Return the dates of `2027-02-15..2027-02-26` (or with `to`), or of a single date as `day` reads it."""
    ends = [day(end, today, words) for end in _RANGE.split(text.strip())]
    if len(ends) > 2:
        message = f"{shown(text)} is not a range of dates."
        raise Refusal(message, "Write two dates, such as 2027-02-15..2027-02-26.", "B017")
    first, last = ends[0], ends[-1]
    if last < first:
        message = f"the range ends on {last}, before it begins on {first}."
        raise Refusal(message, f"Write {last}..{first}.", "B024")
    return DateSpan(first, last)


@reads("a list of dates", written)
def spans(text: str, today: int | None = None, words: bool = True) -> tuple[DateSpan, ...]:
    """Return each of a list of dates and ranges, separated by a comma, a semicolon or spaces."""
    return tuple(span(part, today, words) for part in parts(text))


def parts(text: str) -> list[str]:
    """Split a list as `spans` does; a range is one part, with `..`."""
    if _BESIDE_DATE.search(text):
        raise Refusal(f"{shown(text)} has a weekday beside a date.", "Write the date alone.", "B017")
    found = _SEPARATOR.split(_RANGE.sub("..", text.strip()))
    if not all(found):
        fix = "Write dates such as 2027-02-15,2027-03-01..2027-03-05."
        raise Refusal(f"{shown(text)} has an empty place.", fix, "B017")
    return found


def dates_of(listed: tuple[DateSpan, ...]) -> tuple[date, ...]:
    """Return every date of the spans, each once, ascending."""
    numbers = {
        day for date_span in listed for day in range(number(date_span.first), number(date_span.last) + 1)
    }
    return tuple(day_of(one * DAY) for one in sorted(numbers))
