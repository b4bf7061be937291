"""Instants as people write them on the command line, and as they are shown to people."""

import re
from datetime import date

from gen.dates.zone import DAY, Zone, clock, day_of, load, local, number, resolve
from gen.runtime.instant import instant

_INSTANT = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?(Z|[+-]\d{2}:\d{2})?)?", re.ASCII
)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def named(name: str) -> Zone:
    """The zone of a name that was checked when it was read."""
    zone = load(name)
    assert zone is not None, name
    return zone


def read(text: str, zone: Zone) -> int | None:
    """`2026-02-02T08:00:00Z`, with an offset, or without one in `zone`; a date alone is its local midnight.

    None where the text is none of these.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    day, hours, minutes, seconds, offset = match.groups()
    try:
        if offset is None:
            return resolve(
                zone, number(date.fromisoformat(day)) * DAY + int(hours or 0) * 60 + int(minutes or 0)
            )
        moment = instant(f"{day}T{hours}:{minutes}:{seconds or '00'}Z")
    except ValueError:
        return None
    if offset == "Z":
        return moment
    ahead = int(offset[1:3]) * 3600 + int(offset[4:]) * 60
    return moment - ahead if offset[0] == "+" else moment + ahead


def local_text(seconds: int, zone: Zone) -> str:
    """`Mon 2026-02-02 09:00` on the clock of the zone."""
    moment = local(zone, seconds)
    day = day_of(moment)
    return f"{_DAYS[day.weekday()]} {day} {clock(moment)}"


def span_text(start: int, end: int, zone: Zone) -> str:
    """`Mon 2026-02-02 09:00-13:00`; an end on another day with its date."""
    first, last = local(zone, start), local(zone, end)
    days = last // 1440 - first // 1440
    if days == 0:
        return f"{local_text(start, zone)}-{clock(last)}"
    if days == 1 and last % 1440 == 0:
        return f"{local_text(start, zone)}-24:00"
    return f"{local_text(start, zone)} to {local_text(end, zone)}"


def hours_text(seconds: int) -> str:
    """`4`, `1.5`: hours, at most two digits after the point."""
    return f"{seconds / 3600:.2f}".rstrip("0").rstrip(".")
