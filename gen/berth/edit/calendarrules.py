"""Read the rules of iCalendar (RRULE, EXRULE; RFC 5545, 3.3.10), and find the dates that they have."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from dateutil import rrule

from berth.edit.calendarvalues import EventTime, items, parse_time
from berth.notation.days import LAST_YEAR

_FREQUENCIES = {
    "YEARLY": rrule.YEARLY,
    "MONTHLY": rrule.MONTHLY,
    "WEEKLY": rrule.WEEKLY,
    "DAILY": rrule.DAILY,
}
_FINER = ("HOURLY", "MINUTELY", "SECONDLY")
_WEEKDAYS = {
    "MO": rrule.MO,
    "TU": rrule.TU,
    "WE": rrule.WE,
    "TH": rrule.TH,
    "FR": rrule.FR,
    "SA": rrule.SA,
    "SU": rrule.SU,
}
_WEEKDAY = re.compile(r"([+-]?\d{1,2})?([A-Z]{2})", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_MANY = 10**6
_NUMBERS = {  # the least and the greatest number of each part; those of days count from the end, too
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (-31, 31),
    "BYYEARDAY": (-366, 366),
    "BYWEEKNO": (-53, 53),
    "BYSETPOS": (-366, 366),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
    "BYSECOND": (0, 59),
}
_HOURS = ("BYHOUR", "BYMINUTE", "BYSECOND")  # nothing in the rule of a date
_SAME = {"RSCALE": "GREGORIAN", "SKIP": "OMIT"}  # what these parts mean if they are missing
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall times have no zone
_END = _EPOCH.replace(year=LAST_YEAR + 1)
# dateutil looks for dates up to the year 9999: for seconds where a rule has none. The calendar repeats every
# 400 years, so each rule is followed in the last of these.
_SHIFT = 7600


class EventRule(NamedTuple):
    """A rule. `numbers` are its parts BYMONTH and so on; `weekdays` may be the n-th of a month or a year."""

    frequency: str
    interval: int = 1
    repeats: int | None = None  # COUNT
    until: EventTime | None = None
    week_start: str = "MO"
    weekdays: tuple[tuple[int, str], ...] = ()
    numbers: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def starts(self, start: int) -> Iterator[int]:
        """Yield the wall times of the rule from a start to the last year of Berth, whatever UNTIL says."""
        begin = _EPOCH + timedelta(minutes=start)
        if begin >= _END:
            return
        numbers: Any = {name.lower(): values for name, values in self.numbers}
        rule = rrule.rrule(
            _FREQUENCIES[self.frequency],
            dtstart=begin.replace(year=begin.year + _SHIFT),
            interval=self.interval,
            wkst=_WEEKDAYS[self.week_start],
            count=self.repeats,
            byweekday=[_WEEKDAYS[day](nth) if nth else _WEEKDAYS[day] for nth, day in self.weekdays] or None,
            **numbers,
        )
        for moment in rule:
            shifted = moment.replace(year=moment.year - _SHIFT)
            if shifted >= _END:
                return
            yield int((shifted - _EPOCH).total_seconds()) // 60


def parse_rule(text: str, start: EventTime) -> EventRule:
    """Return the rule of an event that begins at a time. Raise ValueError with what is wrong."""
    parts = _parts(text)
    frequency = parts.pop("FREQ", "")
    if frequency in _FINER:
        raise ValueError(f"the event repeats {frequency}, more often than daily.")
    if frequency not in _FREQUENCIES:
        raise ValueError(f'FREQ "{frequency}" is none of {", ".join(_FREQUENCIES)}.')
    until, count = parts.pop("UNTIL", None), parts.pop("COUNT", None)
    interval = _integer("INTERVAL", parts.pop("INTERVAL", "1"), 1, _MANY)
    week_start = _weekday(parts.pop("WKST", "MO"))[1]
    weekdays = tuple(_weekday(item) for item in items(parts.pop("BYDAY", "")))
    numbers = {name: _integers(name, parts.pop(name)) for name in _NUMBERS if name in parts}
    for name, value in parts.items():
        if _SAME.get(name) != value:
            raise ValueError(f"{name}={value} is not supported.")
    if any(nth for nth, _ in weekdays) and (frequency not in ("YEARLY", "MONTHLY") or "BYWEEKNO" in numbers):
        raise ValueError("a BYDAY with a number, such as 1MO, is only for months and years.")
    if len(numbers.get("BYSECOND", ())) > 1:
        raise ValueError("the event repeats within a minute.")
    return EventRule(
        frequency,
        interval,
        None if count is None else _integer("COUNT", count, 1, _MANY),
        None if until is None else parse_time(until, "" if until.endswith("Z") else start.zone),
        week_start,
        weekdays,
        tuple((name, number) for name, number in numbers.items() if not start.is_date or name not in _HOURS),
    )


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part in filter(None, (item.strip() for item in text.split(";"))):
        name, _, value = (item.strip().upper() for item in part.partition("="))
        if not items(value):
            raise ValueError(f'"{part}" is not a part of a rule, such as COUNT=3.')
        if name in parts:
            raise ValueError(f"{name} is there twice.")
        parts[name] = value
    return parts


def _weekday(text: str) -> tuple[int, str]:
    match = _WEEKDAY.fullmatch(text)
    nth = int(match[1] or 0) if match else 0
    if match is None or match[2] not in _WEEKDAYS or abs(nth) > 53 or (match[1] and not nth):
        raise ValueError(f'"{text}" is not a weekday such as MO or -1FR.')
    return nth, match[2]


def _integers(name: str, text: str) -> tuple[int, ...]:
    least, most = _NUMBERS[name]
    return tuple(_integer(name, item, least, most) for item in items(text))


def _integer(name: str, text: str, least: int, most: int) -> int:
    number = int(text) if _INTEGER.fullmatch(text) else None
    if number is None or not least <= number <= most or (least < 0 and number == 0):
        raise ValueError(f"{name} is {text}, and not a number from {least} to {most}.")
    return number
