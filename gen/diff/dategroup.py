"""Dates that are alike, told in one line: sixty Mondays are one line, a single date is itself.

Pure. Local times are on the clock of the reservation's zone.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gen.core.instants import instant_text
from gen.dates.moment import local_day, named, near_span_text, span_text
from gen.dates.occurrence import Occurrence
from gen.dates.zone import day_of
from gen.model import Seats

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
FEW = 3  # dates that are told one by one


class Alike(NamedTuple):
    """Occurrences at one local time with the same seats, by start. Never empty."""

    times: str  # `09:00-13:00`
    seats: Seats
    occurrences: tuple[Occurrence, ...]


def alike(occurrences: Iterable[Occurrence]) -> list[Alike]:
    """By their first start."""
    found: dict[tuple[str, Seats], list[Occurrence]] = {}
    for item in sorted(occurrences, key=lambda one: (one.start, one.id)):
        found.setdefault((times(item), item.seats), []).append(item)
    return [Alike(*key, tuple(items)) for key, items in found.items()]


def times(item: Occurrence) -> str:
    """`09:00-13:00`, `17:00 to Sun 12:00`."""
    zone = named(item.zone)
    return near_span_text(item.start, item.end, zone, local_day(item.start, zone))


def date_and_times(item: Occurrence) -> str:
    """`Mon 2026-02-02 09:00-13:00`."""
    return span_text(item.start, item.end, named(item.zone))


def lines(group: Alike) -> list[str]:
    """`Mon, Wed 09:00-13:00, 28 dates from 2026-02-02 to 2026-05-13 (08:00-12:00 UTC)`."""
    items = group.occurrences
    if len(items) <= FEW:
        return [f"{date_and_times(item)} ({utc([item])})" for item in items]
    zone = named(items[0].zone)
    days = [day_of(local_day(item.start, zone) * 1440) for item in items]
    weekdays = sorted({day.weekday() for day in days})
    names = "daily" if len(weekdays) == 7 else ", ".join(_DAYS[day] for day in weekdays)
    return [f"{names} {group.times}, {len(items)} dates from {days[0]} to {days[-1]} ({utc(items)})"]


def utc(items: Sequence[Occurrence]) -> str:
    """The same times in UTC, and from when on they are others."""
    told, last = list[str](), ""
    for item in items:
        said = _utc_times(item)
        if said != last:
            told.append(f"from {instant_text(item.start)[:10]} {said}" if told else said)
            last = said
        if len(told) > FEW:
            return f"{'; '.join(told[:FEW])}; and other times UTC"
    return f"{'; '.join(told)} UTC"


def _utc_times(item: Occurrence) -> str:
    zone = named("UTC")
    return near_span_text(item.start, item.end, zone, local_day(item.start, zone))
