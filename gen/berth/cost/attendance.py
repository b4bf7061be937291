"""What became of past occurrences: what was promised, when it was ready, who came, and what nobody used.

Pure: records of the cluster in, values out. Times are in seconds.
"""

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import NamedTuple

from berth.core.record import OccurrenceRecord, Points, readiness_due, unused_seconds
from berth.core.timetable import TimetableOccurrence, TimetableSettings


class Attendance(NamedTuple):
    """One class of an occurrence that is over. None: nobody knows."""

    id: str
    resource_class: str
    open: int
    start: int
    end: int
    promised: int
    due: int  # when all seats should have been ready
    first_ready: int | None
    ready: int | None  # when all of them were; None also if they never were
    peak: int | None  # the most sessions
    unused: int | None  # seat-seconds that were held for nobody
    shortfalls: tuple[tuple[str, int], ...] = ()  # cause, and the most seats missing at once
    faults: tuple[str, ...] = ()

    @property
    def reservation(self) -> str:
        return self.id.partition("/")[0]

    @property
    def missing(self) -> int:
        """The most seats that were missing at once."""
        return max((number for _, number in self.shortfalls), default=0)

    @property
    def late(self) -> int:
        """By how much the seats were ready after they should have been; 0 if they never were."""
        return 0 if self.ready is None else max(0, self.ready - self.due)

    @property
    def held(self) -> int:
        """The seat-seconds that were promised."""
        return self.promised * (self.end - self.open)


def attendances(
    records: Iterable[OccurrenceRecord], ready_minutes: int, without_hours: Collection[str]
) -> list[Attendance]:
    """Return each class of each recorded occurrence, in order of time.

    Rehearsals are left out, to which nobody comes. `without_hours` names reservations that hold no seats, but
    nodes or a number, of which nobody knows whether they were used.
    """
    settings = TimetableSettings(ready_minutes=ready_minutes)
    found: list[Attendance] = []
    for record in _without_overlap(one for one in records if not one.rehearses):
        if record.window is not None:
            found += _of_record(record, record.window, settings)
    rows = sorted(found, key=lambda attendance: (attendance.start, attendance.id, attendance.resource_class))
    return [row._replace(unused=None) if row.reservation in without_hours else row for row in rows]


def _of_record(
    record: OccurrenceRecord, window: tuple[int, int, int], settings: TimetableSettings
) -> Iterable[Attendance]:
    unused = unused_seconds(record)
    due = readiness_due(TimetableOccurrence(record.occurrence, *window, ()), settings)
    for name, promised in record.promised.items():
        yield Attendance(
            record.occurrence,
            name,
            *window,
            promised,
            due,
            record.first_ready,
            record.ready_at,
            record.peak.get(name),
            unused.get(name),
            tuple(record.shortfalls.get(name, {}).items()),
            record.faults,
        )


def _without_overlap(records: Iterable[OccurrenceRecord]) -> Iterable[OccurrenceRecord]:
    """Yield the records with each time of a pool in one of them only.

    A record has the target of the whole pool, and the lead of an occurrence may lie in the one before.
    """
    ends: dict[tuple[str, str], int] = {}
    for one in sorted(records, key=lambda record: (record.window or (0, 0, 0), record.occurrence)):
        reservation = one.occurrence.partition("/")[0]
        pools = {name: (reservation, name) for name in one.targets}
        targets = {name: _since(points, ends.get(pools[name], 0)) for name, points in one.targets.items()}
        yield one._replace(targets=targets)
        if one.window is not None:
            ends |= {pool: max(ends.get(pool, 0), one.window[2]) for pool in pools.values()}


def _since(points: Points, first: int) -> Points:
    return tuple((max(at, first), count) for at, count in points)


def within(found: Iterable[Attendance], since: int | None, until: int | None, now: int) -> list[Attendance]:
    """Return what is over, and overlaps [since, until); None is open."""
    last = now if until is None else until
    return [
        attendance
        for attendance in found
        if attendance.end <= now and (since or 0) < attendance.end and attendance.open < last
    ]


class ClassSummary(NamedTuple):
    """All dates of one class of a reservation, in order of time."""

    reservation: str
    resource_class: str
    dates: tuple[Attendance, ...]

    @property
    def peak(self) -> int | None:
        """The most sessions of all dates; None if nobody counted on any."""
        return max((date.peak for date in self.dates if date.peak is not None), default=None)

    @property
    def unused(self) -> int | None:
        """All seat-seconds that were held for nobody; None if those of a date are unknown."""
        known = [date.unused for date in self.dates if date.unused is not None]
        return sum(known) if len(known) == len(self.dates) else None


def summaries(found: Iterable[Attendance]) -> list[ClassSummary]:
    """Return the dates by reservation and class, sorted by name."""

    def key(one: Attendance) -> tuple[str, str]:
        return one.reservation, one.resource_class

    return [ClassSummary(*pool, tuple(own)) for pool, own in groupby(sorted(found, key=key), key)]
