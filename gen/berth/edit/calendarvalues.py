"""Read the values of iCalendar (RFC 5545, 3.3): dates, times, lengths and periods.

Each is read whole, or the reader raises ValueError with what is wrong.
"""

import re
from datetime import date
from typing import NamedTuple

from berth.dates.zone import DAY, number
from berth.edit.calendarlines import ContentLine

_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?", re.ASCII)
_LENGTH = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.ASCII)
_LONGEST = 3660  # days
_YEARS = (2, 9998)  # for UNTIL=99991231T235959Z: the time in other zones is in a year that Python knows, too
UTC = "UTC"


class EventTime(NamedTuple):
    """A date or time as an event has it: minutes on the clock of `zone`, the TZID; empty: of any zone."""

    wall: int
    zone: str = ""
    is_date: bool = False

    @property
    def day(self) -> int:
        return self.wall // DAY


class EventSpan(NamedTuple):
    """A start, and an end or a length in minutes; neither: the length of the event."""

    start: EventTime
    end: EventTime | None = None
    minutes: int | None = None


def items(text: str) -> list[str]:
    """Return the items of a list. A separator at the end, which some clients write, adds none."""
    return [item for item in (part.strip() for part in re.split("[,;]", text)) if item]


def read_time(line: ContentLine, *, is_end: bool = False) -> EventTime:
    """Return the one time of a property."""
    times = items(line.value)
    if len(times) != 1:
        raise ValueError(f'"{line.title}" is not one date or time.')
    return _typed_time(line, times[0], is_end=is_end)


def read_times(line: ContentLine) -> list[EventTime]:
    """Return the times of a list, such as EXDATE."""
    return [_typed_time(line, item) for item in items(line.value)]


def read_spans(line: ContentLine) -> list[EventSpan]:
    """Return the times and periods of RDATE."""
    spans = []
    for item in items(line.value):
        first, slash, last = item.partition("/")
        if not slash:
            spans.append(EventSpan(_typed_time(line, first)))
            continue
        zone = line.parameters.get("TZID", "")
        start = parse_time(first, zone)
        if start.is_date:
            raise ValueError(f'"{item}" is not a period of time.')
        if last.upper().startswith("P"):
            spans.append(EventSpan(start, minutes=parse_length(last)))
        else:
            spans.append(EventSpan(start, parse_time(last, zone, is_end=True)))
    return spans


def _typed_time(line: ContentLine, text: str, *, is_end: bool = False) -> EventTime:
    """Return a time that is what the parameter VALUE says."""
    value = line.parameters.get("VALUE", "").upper()
    time = parse_time(text, line.parameters.get("TZID", ""), is_end=is_end)
    if value == "DATE" and not time.is_date:
        if time.wall % DAY:
            raise ValueError(f'"{text}" is not a date, as VALUE=DATE says.')
        return EventTime(time.wall, is_date=True)
    if value == "DATE-TIME" and time.is_date:
        raise ValueError(f'"{text}" is not a time, as VALUE=DATE-TIME says.')
    return time


def parse_time(text: str, zone: str, *, is_end: bool = False) -> EventTime:
    """Return a time without its seconds; an end is rounded up."""
    match = _TIME.fullmatch(text.strip().upper())
    if match is None:
        raise ValueError(f'"{text}" is not a date such as 20260302, or a time such as 20260302T100000.')
    year, month, day = (int(part) for part in match.groups()[:3])
    try:
        wall = number(date(min(max(year, _YEARS[0]), _YEARS[1]), month, day)) * DAY
    except ValueError as error:
        raise ValueError(f'"{text}" is not a date of the calendar.') from error
    if match[4] is None:
        return EventTime(wall, is_date=True)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[3:6])
    if hours * 60 + minutes > DAY or minutes > 59 or seconds > 60 or (hours == 24 and seconds):
        raise ValueError(f'"{text}" is not a time of day.')
    if match[7] and zone and not zone.upper().endswith(UTC):
        raise ValueError(f'"{text}" is in UTC because of its Z, and in "{zone}" because of its TZID.')
    wall += hours * 60 + minutes + (is_end and seconds > 0)
    return EventTime(wall, UTC if match[7] else zone)


def parse_length(text: str) -> int:
    """Return minutes, rounded up."""
    match = _LENGTH.fullmatch(text.strip().upper())
    parts = [int(part or 0) for part in match.groups()[1:]] if match else []
    if match is None or not any(match.groups()[1:]):
        raise ValueError(f'"{text}" is not a length such as PT1H30M.')
    weeks, days, hours, minutes, seconds = parts
    total = (weeks * 7 + days) * DAY + hours * 60 + minutes + -(-seconds // 60)
    if total > _LONGEST * DAY:
        raise ValueError(f'"{text}" is longer than ten years.')
    return -total if match[1] == "-" else total
