"""Entries of `rehearsals` in a file: find that of a date, and keep it in step with the date."""

from typing import Any

from berth.dates.expansion import LocalOccurrence
from berth.dates.recurrence import expand
from berth.dates.rehearsals import names_occurrence
from berth.dates.zone import DAY, clock, day_of
from berth.edit.datelists import ListChanges, set_keys
from berth.edit.dateselect import Dates
from berth.edit.roundtrip import MakeNode, edit_document
from berth.findings import Path
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.rehearsalspec import ALL_SEATS, DatedRehearsal

REHEARSALS = "rehearsals"  # key of the recurrence


def rehearsal_index(dates: Dates, occurrence: LocalOccurrence) -> int | None:
    """Return the index of the entry that rehearses an occurrence."""
    day, time = str(day_of(occurrence.original)), clock(occurrence.original)
    for i, line in enumerate(dates.reservation.recurrence.rehearsals):
        if names_occurrence(line, day, time, occurrence.name):
            return i
    return None


def _removed(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence) -> DatedRehearsal | None:
    """Remove the entry that rehearses an occurrence and return it; None if there is none."""
    index = rehearsal_index(dates, occurrence)
    if index is None:
        return None
    changes.remove(REHEARSALS, index)
    return dates.reservation.recurrence.rehearsals[index]


def drop_rehearsal(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence) -> None:
    """Remove the entry that rehearses an occurrence which will not happen."""
    _removed(dates, changes, occurrence)


def follow_rehearsal(
    dates: Dates, written: Any, occurrence: LocalOccurrence, start: int, make: MakeNode
) -> None:
    """Let the entry that rehearses an extra date name its new start: the id of the date changes with it."""
    index = rehearsal_index(dates, occurrence)
    if index is None:
        return
    entry = written[REHEARSALS][index]
    others = [other for other in dates.all if other != occurrence and other.original // DAY == start // DAY]
    is_needed = "startTime" in entry or bool(others)
    set_keys(entry, {"date": str(day_of(start)), "startTime": clock(start) if is_needed else None}, make)


def keep_rehearsal_of_extra(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence) -> None:
    """Keep the rehearsal of an occurrence that becomes an extra date at the start that it has now."""
    entry = _removed(dates, changes, occurrence)
    if entry is None:
        return
    address = {
        "date": str(day_of(occurrence.start)),
        "startTime": clock(occurrence.start),
        **({"name": occurrence.name} if occurrence.name else {}),
    }
    changes.add(REHEARSALS, {**address, **rehearsal_keys(entry)})


def drop_faulty_rehearsals(text: str, file: str, index: int, project: Pipeline) -> str:
    """Return the text of a file without the rehearsals of one of its documents that have no date any more.

    `project` is the one that the file is in; its calendars and terms say which dates there are.
    """
    sources = [source for source in project.sources if source.file != file]
    declared = Pipeline(sources=sorted([*sources, Source(file, text.encode())])).declared
    found = next(
        (reservation for reservation in declared.reservations if reservation.origin[:2] == (file, index)),
        None,
    )
    if found is None or not found.recurrence.rehearsals:
        return text
    prefix: Path = ("spec", "recurrence", REHEARSALS)
    faulty = {
        problem.path[3]
        for problem in expand(found, declared.calendars).problems
        if problem.path[:3] == prefix
    }
    changes = ListChanges()
    for at in faulty:
        changes.remove(REHEARSALS, int(at))
    return edit_document(text, index, changes) if changes else text


def rehearsal_keys(entry: DatedRehearsal) -> dict[str, Any]:
    """Return the keys of an entry that say when the rehearsal is, and with how many seats."""
    at = {"date": str(entry.at.day), "startTime": clock(entry.at.start_time)}
    if entry.seats == ALL_SEATS:
        return {"at": at}
    return {"at": at, "seats": str(entry.seats) if entry.seats.number is None else entry.seats.number}
