"""Read and write instants and local times as text."""

import re
from collections.abc import Iterable
from datetime import date

from berth.dates.zone import DAY, Zone, clock, day_of, load, local, number, resolve

_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?",
    re.ASCII,
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def named(name: str) -> Zone:
    """Return the zone of a valid name."""
    zone = load(name)
    assert zone is not None, name
    return zone


def read(text: str, zone: Zone) -> int | None:
    """Parse `2026-02-02T08:00:00Z`, or the same with an offset, or without one as local time in `zone`.

    A date alone is its local midnight. Return None for any other text.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    day, hours, minutes, seconds, offset = match.groups()
    try:
        wall = number(date.fromisoformat(day)) * DAY + _minutes(hours or "0", minutes or "0")
    except ValueError:  # there is no such date
        return None
    if offset is None:
        return resolve(zone, wall) + int(seconds or 0)
    ahead = 0 if offset == "Z" else int(f"{offset[0]}{_minutes(offset[1:3], offset[4:])}")
    return (wall - ahead) * 60 + int(seconds or 0)


def _minutes(hours: str, minutes: str) -> int:
    return int(hours) * 60 + int(minutes)


def day_span(day: str, zone: Zone) -> tuple[int, int]:
    """Return the first instant of a local date, and that of the next date."""
    midnight = number(date.fromisoformat(day)) * DAY
    return resolve(zone, midnight), resolve(zone, midnight + DAY)


def local_text(seconds: int, zone: Zone) -> str:
    """Return `Mon 2026-02-02 09:00` in local time."""
    moment = local(zone, seconds)
    return f"{day_text(moment // DAY)} {clock(moment)}"


def day_text(day: int) -> str:
    """Return `Mon 2026-02-02`."""
    moment = day_of(day * DAY)
    return f"{_DAYS[moment.weekday()]} {moment}"


def no_date_text(first: int, last: int, days: Iterable[int]) -> str:
    """Return `no date on Wed 2027-05-12; the nearest are Tue 2027-05-11 and Tue 2027-05-18`.

    `first` and `last` are the days that were named, inclusive; `days` are those on which something happens.
    """
    others = set(days)
    where = f"on {day_text(first)}" if first == last else f"from {day_text(first)} to {day_text(last)}"
    sides = (
        max((day for day in others if day < first), default=None),
        min((day for day in others if day > last), default=None),
    )
    near = [day_text(day) for day in sides if day is not None]
    nearest = f"; the nearest {'are' if len(near) > 1 else 'is'} {' and '.join(near)}" if near else ""
    return f"no date {where}{nearest}"


def near_text(seconds: int, zone: Zone, day: int) -> str:
    """Return `09:00` if the instant is on `day`, `Tue 09:00` within six days of it, else also the date."""
    moment = local(zone, seconds)
    distance = moment // DAY - day
    if distance == 0:
        return clock(moment)
    text = local_text(seconds, zone)
    return f"{text[:3]} {text[-5:]}" if abs(distance) < 7 else text


def span_text(start: int, end: int, zone: Zone) -> str:
    """Return `Mon 2026-02-02 09:00-13:00` or `Fri 2026-03-06 17:00 to Sun 12:00`."""
    return local_text(start, zone)[:-5] + near_span_text(start, end, zone, local_day(start, zone))


def near_span_text(start: int, end: int, zone: Zone, day: int) -> str:
    """Return the same without the date if the span begins on `day`."""
    first = local_day(start, zone)
    last = local(zone, end)
    begin = near_text(start, zone, day)
    if last == (first + 1) * DAY:
        return f"{begin}-24:00"
    return f"{begin}{'-' if last // DAY == first else ' to '}{near_text(end, zone, first)}"


def local_day(seconds: int, zone: Zone) -> int:
    return local(zone, seconds) // DAY


def hours_text(seconds: int) -> str:
    """Return hours with at most two decimal places: `4`, `1.5`."""
    return f"{seconds / 3600:.2f}".rstrip("0").rstrip(".")
