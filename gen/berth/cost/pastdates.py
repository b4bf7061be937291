"""What became of past dates and rehearsals: what was promised, when it was ready, who came, what was missing.

Pure: records of the cluster in, values out. Times are in seconds.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from berth.core.record import NOT_READY, OccurrenceRecord, Points, readiness_due
from berth.core.timetable import TimetableOccurrence, TimetableSettings
from berth.plugins.rehearsals.rehearsalrecord import has_ended, missing_seats


class PastDate(NamedTuple):
    """One class of an occurrence that is over. None: nobody knows.

    A rehearsal is a lead without a date: it starts when it ends, and nobody comes.
    """

    id: str
    resource_class: str
    open: int
    start: int
    end: int
    promised: int
    due: int  # when all seats should have been ready
    first_ready: int | None = None
    ready: int | None = None  # when all of them were; None also if they never were
    peak: int | None = None  # the most sessions
    unused: int | None = None  # seat-seconds that were held for nobody
    shortfalls: Mapping[str, int] = {}  # cause, and the most seats missing at once
    faults: tuple[str, ...] = ()
    rehearses: str = ""  # the id of the occurrence whose opening a rehearsal tries
    nodes: Mapping[str, int] = {}  # of a rehearsal

    @property
    def reservation(self) -> str:
        """Return the reservation that it is about: of a rehearsal, the course."""
        return (self.rehearses or self.id).partition("/")[0]

    @property
    def missing(self) -> int:
        """Return the most seats that were missing at once."""
        return max(self.shortfalls.values(), default=0)

    @property
    def late(self) -> int:
        """Return by how much the seats were ready after they should have been; 0 if they never were."""
        return 0 if self.ready is None else max(0, self.ready - self.due)


def past_dates(records: Iterable[OccurrenceRecord], ready_minutes: int, now: int) -> list[PastDate]:
    """Return each class of each recorded occurrence that is over, in order of time."""
    settings = TimetableSettings(ready_minutes=ready_minutes)
    ends: dict[tuple[str, str], int] = {}
    found = []
    for record in sorted(records, key=lambda record: (record.window or (0, 0, 0), record.occurrence)):
        opens, start, end = record.window or (0, 0, 0)
        if record.window is None or not (has_ended(record, now) if record.rehearses else end <= now):
            continue
        item = TimetableOccurrence(record.occurrence, opens, start, end, (), rehearses=record.rehearses)
        for name, promised in record.promised.items():
            # A record has the target of the whole pool, and its lead may lie in the occurrence before.
            pool = record.occurrence.partition("/")[0], name
            since = max(opens, ends.get(pool, 0))
            ends[pool] = max(end, since)
            curve = record.targets.get(name, ())
            date = PastDate(
                record.occurrence,
                name,
                opens,
                start,
                end,
                promised,
                readiness_due(item, settings),
                record.first_ready,
                record.ready_at,
                record.peak.get(name),
                _held(curve, since, end) if curve else None,
                record.shortfalls.get(name, {}),
                record.faults,
            )
            found.append(_rehearsed(date, record) if record.rehearses else date)
    return found


def _rehearsed(date: PastDate, record: OccurrenceRecord) -> PastDate:
    missing = missing_seats(record).get(date.resource_class, 0)
    curve = record.ready.get(date.resource_class, ())
    ready = next((at for at, count in curve if count >= date.promised), record.ready_at)
    return date._replace(
        start=date.end,
        ready=None if missing else ready,
        peak=None,
        unused=None,
        shortfalls={NOT_READY: missing} if missing else {},
        rehearses=record.rehearses,
        nodes=record.nodes,
    )


def _held(points: Points, since: int, until: int) -> int:
    """Return the seat-seconds of a target in a span of time."""
    ends = [*(at for at, _ in points[1:]), until]
    return sum(
        count * max(0, min(to, until) - max(at, since)) for (at, count), to in zip(points, ends, strict=True)
    )
