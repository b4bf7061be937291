"""Parse cron schedules as robfig/cron does (five fields or a name like @daily, in UTC) and find when they
fire.

Instants are whole seconds since the epoch.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400
_YEARS = 5
# After these days each date has the weekday again that it had.
_CYCLE = range(date(2000, 1, 1).toordinal(), date(2028, 1, 1).toordinal())
_JAN_TO_DEC = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_JAN_TO_DEC, start=1)}
_WEEKDAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_BOUNDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _WEEKDAYS),
)


class CronSchedule(NamedTuple):
    """The values of each field at which a schedule fires."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]  # of the month
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 = Sunday
    either: bool  # a day of the month or a weekday is enough: both were narrowed


@lru_cache(maxsize=256)
def parse(text: str) -> CronSchedule | None:
    """Parse a schedule. Return None where robfig/cron refuses it."""
    fields = _MACROS.get(text, text).split()
    if len(fields) != len(_BOUNDS):
        return None
    found = [_field(field, *bounds) for field, bounds in zip(fields, _BOUNDS, strict=True)]
    minutes, hours, days, months, weekdays = found
    if minutes is None or hours is None or days is None or months is None or weekdays is None:
        return None
    either = not _is_open(fields[2]) and not _is_open(fields[4])
    return CronSchedule(minutes, hours, days, months, weekdays, either)


def next_hit(cron: CronSchedule, after: int) -> int | None:
    """Return the first time after `after`, or None if there is none up to the end of the fifth year from
    then.
    """
    day, second = divmod(after, _DAY)
    last = datetime.fromtimestamp(after, UTC).year + _YEARS
    times = sorted(hour * 3600 + minute * 60 for hour in cron.hours for minute in cron.minutes)
    while (on := date.fromordinal(_EPOCH + day)).year <= last:
        if _matches_day(cron, on):
            hit = next((time for time in times if time > second), None)
            if hit is not None:
                return day * _DAY + hit
        day, second = day + 1, -1
    return None


@lru_cache(maxsize=256)
def longest_gap(cron: CronSchedule) -> int | None:
    """Return the longest time between two hits in seconds, or None if there is no hit. Valid until 2099."""
    days = [day for day in _CYCLE if _matches_day(cron, date.fromordinal(day))]
    times = sorted(hour * 3600 + minute * 60 for hour in cron.hours for minute in cron.minutes)
    if not days or not times:
        return None
    over_night = max(after - day for day, after in pairwise((*days, days[0] + len(_CYCLE))))
    return max(over_night * _DAY + times[0] - times[-1], *(after - one for one, after in pairwise(times)), 0)


def _matches_day(cron: CronSchedule, on: date) -> bool:
    by_day, by_weekday = on.day in cron.days, on.isoweekday() % 7 in cron.weekdays
    return on.month in cron.months and (by_day or by_weekday if cron.either else by_day and by_weekday)


def _is_open(field: str) -> bool:
    """Tell whether any part of the field allows every value. A star with a step does not."""
    return any(part in ("*", "?", "*/1", "?/1") for part in field.split(","))


def _field(text: str, least: int, most: int, names: dict[str, int]) -> frozenset[int] | None:
    values: set[int] = set()
    for part in text.split(","):
        if not part:
            continue
        found = _part(part, least, most, names)
        if found is None:
            return None
        values.update(found)
    return frozenset(values)


def _part(text: str, least: int, most: int, names: dict[str, int]) -> range | None:
    span, slash, step_text = text.partition("/")
    first_text, dash, last_text = span.partition("-")
    if first_text in ("*", "?"):
        first, last = least, most
    else:
        start = _number(first_text, names)
        end = _number(last_text, names) if dash else most if slash else start
        if start is None or end is None:
            return None
        first, last = start, end
    step = _number(step_text, {}) if slash else 1
    if not step or first < least or last > most or first > last:
        return None
    return range(first, last + 1, step)


def _number(text: str, names: dict[str, int]) -> int | None:
    if text.lower() in names:
        return names[text.lower()]
    return int(text) if text.isascii() and text.isdigit() else None


def format_field(values: Iterable[int]) -> str:
    """Format the values of a field, in order; three or more in a row become a range: `1,2,4-7`."""
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)
