"""The occurrences of a reservation as values, and the days of its schedule before any exception.

Nothing here depends on time zones; days and wall times are the numbers of `berth.dates.zone`.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from functools import cache
from itertools import compress
from typing import NamedTuple

from berth.core.timetable import TimetableOccurrence
from berth.dates.dayranges import union
from berth.dates.zone import DAY, clock, day_of, number
from berth.findings import Problem
from berth.schema.values import EVERY_DATE, Entry, EntryDates, Extra, Recurrence, Scaling, Seats

EXCEPT = "except"
OVERNIGHT, MOVED, EXTRA, ON_HOLIDAY = "overnight", "moved", "extra", "onHoliday"


class Occurrence(NamedTuple):
    """One window of a reservation, from `open` (= start - lead, inclusive) to `end` (exclusive).

    Instants are seconds in UTC. Where classes open at different times, `open` is the first.
    """

    reservation: str
    # <reservation>/<date>T<HH:MM> of the original local start, and ~<name>; it never changes. With the dates
    # of machines, it is the local opening.
    id: str
    open: int
    start: int
    end: int
    seats: Seats
    zone: str
    marks: tuple[str, ...]  # any of: gap fold overnight moved extra onHoliday otherSeats suspended
    date: str  # local date in the id
    scaling: tuple[Scaling, ...] = ()  # of each of `seats`; empty: all as the reservation
    name: str = ""  # of its entry
    rehearses: str = ""  # what a rehearsal tries: `<course>/<date>`, with the start where that is needed

    def openings(self) -> tuple["Occurrence", ...]:
        """Return the occurrence once for each time at which classes of it open, with these classes."""
        if len({scaling.lead for scaling in self.scaling}) < 2:
            return (self,)
        leads = sorted({scaling.lead for scaling in self.scaling}, reverse=True)
        return tuple(self._with([scaling.lead == lead for scaling in self.scaling]) for lead in leads)

    def opens_by_class(self) -> dict[str, int]:
        return {name: row.open for row in self.openings() for name, _ in row.seats}

    def row(self) -> TimetableOccurrence:
        """Return the occurrence as a timetable has it."""
        return TimetableOccurrence(
            self.id, self.open, self.start, self.end, self.seats, rehearses=self.rehearses
        )

    def seat_seconds(self) -> int:
        """Return the sum of seats over time, from the opening of each class to the end."""
        return sum((row.end - row.open) * count for row in self.openings() for _, count in row.seats)

    def of_classes(self, names: Collection[str]) -> "Occurrence":
        """Return the occurrence with the seats of these classes, and when the first of them opens."""
        return self._with([name in names for name, _ in self.seats])

    def _with(self, is_kept: Sequence[bool]) -> "Occurrence":
        seats = tuple(compress(self.seats, is_kept))
        if not self.scaling:
            return self._replace(seats=seats)
        scaling = tuple(compress(self.scaling, is_kept))
        opens = self.start - 60 * max((one.lead for one in scaling), default=0)
        return self._replace(seats=seats, scaling=scaling, open=opens)


class DatedOccurrence(NamedTuple):
    """An occurrence without the name and seats of its reservation. These sort as occurrences do."""

    start: int
    when: str  # the id without the reservation
    open: int
    end: int
    marks: tuple[str, ...]
    date: str
    entry: int
    move: int | None  # index in `moved`


def is_overnight(start: int, end: int) -> bool:
    """Tell whether a window between two wall times is; one that ends at midnight is not."""
    return start // DAY < (end - 1) // DAY


class LocalOccurrence(NamedTuple):
    """An occurrence on the clock of its zone, also one that is left out. All times are wall times."""

    original: int  # the start that its id names
    entry: int  # index in the schedule; extras follow
    name: str
    start: int
    end: int
    length: int  # minutes of its entry
    seats: Seats
    is_extra: bool
    move: int | None  # index of its entry in `moved`
    has_new_time: bool  # that entry says when it happens
    excluded: str | None  # why it is left out, or would be without a new time; as in Skipped
    closed: str | None  # the calendar that closes the site at these times; as in Skipped

    @property
    def happens(self) -> bool:
        return self.closed is None and (self.is_extra or self.has_new_time or self.excluded is None)

    @property
    def reason(self) -> str | None:
        """Why it does not happen."""
        return self.closed if self.is_extra or self.has_new_time else self.excluded

    @property
    def is_excepted(self) -> bool:
        return self.excluded is not None and is_exception(self.excluded)


def is_exception(reason: str) -> bool:
    """Tell whether an entry of `except` is why an occurrence is left out, and not a calendar."""
    return reason.partition(":")[0] == EXCEPT


class Skipped(NamedTuple):
    """An occurrence that is left out. `reason`: `except` or `calendar <name>`; with a title, `: <title>`."""

    id: str
    date: str  # local, as in the id
    reason: str


def dates_by_reason(skipped: Iterable[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the dates that are left out by reason, each once: groups may share a date."""
    dates: dict[str, dict[str, None]] = {}
    for _, day, reason in skipped:
        dates.setdefault(reason, {})[day] = None
    return {reason: [*listed] for reason, listed in dates.items()}


class Expansion(NamedTuple):
    """All dates of a reservation: `occurrences` by start, then id; `skipped` by date and time."""

    occurrences: tuple[Occurrence, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()


BareOccurrence = tuple[int, int]
"""The wall time of the original start, and the index of the entry; extras follow the schedule's entries."""


def id_time(line: Entry | Extra) -> str:
    """Return how the ids of its occurrences end after the date: `09:00`, with a name `09:00~extra-time`."""
    return f"{clock(line.start)}~{line.name}" if line.name else clock(line.start)


def days_of_entries(recurrence: Recurrence) -> list[list[range]]:
    """Return for each entry of the schedule the days on which it happens, as ranges."""
    days = _listed(recurrence) if recurrence.type == "dates" else _recurring(recurrence)
    return [
        ranges if entry.dates == EVERY_DATE else _limited(ranges, entry.dates)
        for entry, ranges in zip(recurrence.schedule, days, strict=True)
    ]


def _listed(recurrence: Recurrence) -> list[list[range]]:
    """Return the days of each entry of type `dates`: of one item, or of all that no entry has for itself."""
    spans = [(number(first), number(last)) for first, last in recurrence.dates]
    own = {entry.dates.listed for entry in recurrence.schedule}
    shared = union(span for i, span in enumerate(spans) if i not in own)
    items = [entry.dates.listed for entry in recurrence.schedule]
    return [shared if item is None else union([spans[item]]) for item in items]


def _recurring(recurrence: Recurrence) -> list[list[range]]:
    first, last = _bounds(recurrence)
    if recurrence.type == "once":
        return [[range(first, first + 1)] for _ in recurrence.schedule]
    spans = union((number(one), number(other)) for one, other in recurrence.terms) or [range(first, last + 1)]
    if recurrence.type == "daily":
        return [spans for _ in recurrence.schedule]
    step = 7 * recurrence.interval
    monday = first - (first + 3) % 7  # of the first date's ISO week; day 0 was a Thursday
    return [
        [
            range(span.start + (monday + day - 1 - span.start) % step, span.stop, step)
            for day in entry.days
            for span in spans
        ]
        for entry in recurrence.schedule
    ]


def _limited(ranges: Iterable[range], dates: EntryDates) -> list[range]:
    """Return the days of the ranges that an entry has."""
    kept = [_between(days, dates) for days in ranges]
    if not dates.weeks and not dates.nth:
        return kept
    every = (day for days in kept for day in days)
    return [range(day, day + 1) for day in every if _is_in_week(day, dates.weeks) and _is_nth(day, dates.nth)]


def _between(days: range, dates: EntryDates) -> range:
    start = days.start
    if dates.first is not None:
        start += max(-(-(number(dates.first) - start) // days.step), 0) * days.step
    stop = days.stop if dates.last is None else min(days.stop, number(dates.last) + 1)
    return range(start, stop, days.step)


def _is_in_week(day: int, weeks: tuple[int, ...]) -> bool:
    return not weeks or iso_week(day) in weeks


@cache
def iso_week(day: int) -> int:
    """Return the number of the day's ISO week. Cached, because reservations share days."""
    return day_of(day * DAY).isocalendar().week


def _is_nth(day: int, nth: int) -> bool:
    """Tell whether the day is the n-th of its weekday in its month; -1 is the last, 0 any."""
    date = day_of(day * DAY)
    if nth < 0:
        return (date + timedelta(days=7)).month != date.month
    return nth in (0, (date.day - 1) // 7 + 1)


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
