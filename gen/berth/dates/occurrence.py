"""Values of an expanded reservation, and the bare schedule: on which days its entries fall, before any
exception.

Nothing here knows zones; days and wall times are the numbers of `zone`.
"""

from typing import NamedTuple

from berth.dates.days import union
from berth.dates.zone import DAY, number
from berth.findings import Path, Problem
from berth.schema.values import Entry, Recurrence, Seats

# What a reservation comes to: its dated occurrences, and those that exceptions took away. Values only.
# `berth.dates.recurrence` makes them; what comes after it compares instants and needs no calendar.


class Occurrence(NamedTuple):
    """Half-open: `open` (= start - lead) and `start` are in it, `end` is not. Instants: seconds, UTC."""

    reservation: str
    id: str  # <reservation>/<date>T<HH:MM> of the original local start, for ever
    open: int
    start: int
    end: int
    seats: Seats
    zone: str
    marks: tuple[str, ...]  # those that apply of: gap fold overnight moved extra onHoliday suspended
    date: str  # local date of the original start


class Skipped(NamedTuple):
    """What does not happen. `reason`: `except`, or `calendar <name>` with `: <title>` where there is one."""

    id: str
    date: str  # local, as in the id
    reason: str


class Expansion(NamedTuple):
    """`occurrences` by start, then id; `skipped` by date and time; `problems` in no order."""

    occurrences: tuple[Occurrence, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]


class Fault(NamedTuple):
    """A problem of one reservation, before its file is known."""

    code: str
    path: Path
    message: str
    fix: str


# The bare recurrence: on which days each entry of a schedule falls, and how long it lasts on the clock.
# Knows nothing of exceptions, of zones and of instants. Days and wall times are the numbers of
# `berth.dates.zone`.

Bare = tuple[int, int]
"""An occurrence: wall time of its original start; place of its entry, where extras count on from entries."""


def falls(recurrence: Recurrence) -> list[list[range]]:
    """For each entry the days on which it falls, as ranges: a century of days costs no more than one."""
    if recurrence.type == "dates":
        days = union((number(first), number(last)) for first, last in recurrence.dates)
        return [days for _ in recurrence.schedule]
    first, last = _bounds(recurrence)
    if recurrence.type == "once":
        return [[range(first, first + 1)] for _ in recurrence.schedule]
    if recurrence.type == "daily":
        return [[range(first, last + 1)] for _ in recurrence.schedule]
    step = 7 * recurrence.interval
    monday = first - (first + 3) % 7  # of the first date's ISO week; day 0 was a Thursday
    return [
        [
            range(begin if begin >= first else begin + step, last + 1, step)
            for begin in [monday + day - 1 for day in entry.days]
        ]
        for entry in recurrence.schedule
    ]


def entry_length(recurrence: Recurrence, entry: Entry) -> int:
    """Minutes on the clock. `once` lasts from the first date to the last, if these are not the same."""
    if recurrence.type == "once" and recurrence.first != recurrence.last:
        first, last = _bounds(recurrence)
        return (last - first) * DAY + entry.end - entry.start
    return length(entry.start, entry.end, entry.end_day)


def length(start: int, end: int, end_day: int | None) -> int:
    """Minutes on the clock between two times of day; an end before the start is on the next day.

    Zero or less means no window: equal times, or an `endDay` that leaves none.
    """
    if end_day is None:
        return end - start + (DAY if end < start else 0)
    return end_day * DAY + end - start


def _bounds(recurrence: Recurrence) -> tuple[int, int]:
    assert recurrence.first is not None  # only `dates` has none
    assert recurrence.last is not None
    return number(recurrence.first), number(recurrence.last)
