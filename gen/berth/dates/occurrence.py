"""The occurrences of a reservation as values, and the days of its schedule before any exception.

Nothing here depends on time zones; days and wall times are the numbers of `berth.dates.zone`.
"""

from typing import NamedTuple

from berth.dates.days import union
from berth.dates.zone import DAY, number
from berth.findings import Path, Problem
from berth.schema.values import Entry, Recurrence, Seats


class Occurrence(NamedTuple):
    """One window of a reservation, from `open` (= start - lead, inclusive) to `end` (exclusive).

    Instants are seconds in UTC.
    """

    reservation: str
    id: str  # <reservation>/<date>T<HH:MM> of the original local start; it never changes
    open: int
    start: int
    end: int
    seats: Seats
    zone: str
    marks: tuple[str, ...]  # any of: gap fold overnight moved extra onHoliday suspended
    date: str  # local date of the original start


class LocalOccurrence(NamedTuple):
    """An occurrence on the clock of its zone, also one that is left out. All times are wall times."""

    original: int  # the start that its id names
    entry: int  # index in the schedule; extras follow
    start: int
    end: int
    length: int  # minutes of its entry
    is_extra: bool
    is_moved: bool
    excluded: str | None  # why it is left out, or would be if it were not moved; as in Skipped

    @property
    def happens(self) -> bool:
        return self.is_extra or self.is_moved or self.excluded is None


class Skipped(NamedTuple):
    """An occurrence that is left out. `reason`: `except`, `calendar <name>` or `calendar <name>: <title>`."""

    id: str
    date: str  # local, as in the id
    reason: str


class Expansion(NamedTuple):
    """All dates of a reservation: `occurrences` by start, then id; `skipped` by date and time."""

    occurrences: tuple[Occurrence, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]


class RecurrenceFault(NamedTuple):
    """A problem of a recurrence, without the file that it is in."""

    code: str
    path: Path
    message: str
    fix: str


BareOccurrence = tuple[int, int]
"""The wall time of the original start, and the index of the entry; extras follow the schedule's entries."""


def days_of_entries(recurrence: Recurrence) -> list[list[range]]:
    """Return for each entry of the schedule the days on which it happens, as ranges."""
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


def entry_minutes(recurrence: Recurrence, entry: Entry) -> int:
    """Return the wall-clock minutes of an entry. `once` lasts from the first date to the last."""
    if recurrence.type == "once" and recurrence.first != recurrence.last:
        first, last = _bounds(recurrence)
        return (last - first) * DAY + entry.end - entry.start
    return window_minutes(entry.start, entry.end, entry.end_day)


def window_minutes(start: int, end: int, end_day: int | None) -> int:
    """Return the minutes between two times of day; an end before the start is on the next day.

    Zero or less means that the window is empty: equal times, or a wrong `endDay`.
    """
    if end_day is None:
        return end - start + (DAY if end < start else 0)
    return end_day * DAY + end - start


def _bounds(recurrence: Recurrence) -> tuple[int, int]:
    assert recurrence.first is not None  # only the type `dates` has neither
    assert recurrence.last is not None
    return number(recurrence.first), number(recurrence.last)
