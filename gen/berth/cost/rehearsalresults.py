"""What became of rehearsals: how many seats were ready, after how long, what was missing, and why.

Pure: records of the cluster in, values out. Times are in seconds. A rehearsal is no date of a course.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from berth.core.record import OccurrenceRecord, readiness_due
from berth.core.timetable import TimetableOccurrence, TimetableSettings
from berth.cost.attendance import Attendance


class RehearsalResult(NamedTuple):
    """One class of a rehearsal that is over. `end` is when the lead of its occurrence has passed."""

    id: str
    rehearses: str  # `<course>/<date>`, with the start where the date has several
    resource_class: str
    open: int
    end: int
    promised: int
    due: int  # when all seats should have been ready
    ready: int  # seats that were ready in the end
    ready_at: int | None  # when all of them were; None: they never were
    missing: int
    faults: tuple[str, ...]  # why
    nodes: tuple[tuple[str, int], ...]  # of all its classes, with the placeholders that each had

    @property
    def reservation(self) -> str:
        return self.rehearses.partition("/")[0]

    @property
    def seconds(self) -> int | None:
        """How long it took until all seats were ready."""
        return None if self.ready_at is None else self.ready_at - self.open

    @property
    def as_lead(self) -> Attendance:
        """The rehearsal as what a lead is judged by: an opening whose lead ends when the rehearsal does.

        Nobody came, so it must not be counted as a date.
        """
        shortfalls = (("notReady", self.missing),) if self.missing else ()
        return Attendance(
            self.id,
            self.resource_class,
            self.open,
            self.end,
            self.end,
            self.promised,
            self.due,
            None,
            self.ready_at,
            None,
            None,
            shortfalls,
            self.faults,
        )


def course_of(record: OccurrenceRecord) -> str:
    """Return the reservation that a record is about: of a rehearsal, the course."""
    return (record.rehearses or record.occurrence).partition("/")[0]


def rehearsal_results(
    records: Iterable[OccurrenceRecord], ready_minutes: int, now: int
) -> list[RehearsalResult]:
    """Return each class of each recorded rehearsal that is over, in order of time."""
    settings = TimetableSettings(ready_minutes=ready_minutes)
    found: list[RehearsalResult] = []
    for record in records:
        if record.rehearses and record.window and record.has_ended(now):
            found += _of_record(record, record.window, settings)
    return sorted(found, key=attrgetter("open", "id", "resource_class"))


def _of_record(
    record: OccurrenceRecord, window: tuple[int, int, int], settings: TimetableSettings
) -> Iterable[RehearsalResult]:
    item = TimetableOccurrence(record.occurrence, *window, (), rehearses=record.rehearses)
    due, missing = readiness_due(item, settings), record.missing
    for name, promised in record.promised.items():
        yield RehearsalResult(
            record.occurrence,
            record.rehearses,
            name,
            window[0],
            window[2],
            promised,
            due,
            promised - missing.get(name, 0),
            _ready_at(record, name, promised),
            missing.get(name, 0),
            record.faults,
            tuple(sorted(record.nodes.items())),
        )


def _ready_at(record: OccurrenceRecord, name: str, promised: int) -> int | None:
    """Return when all seats of a class were ready: by its curve, else with those of all classes."""
    if record.missing.get(name):
        return None
    found = next((at for at, count in record.ready.get(name, ()) if count >= promised), None)
    return record.ready_at if found is None else found
