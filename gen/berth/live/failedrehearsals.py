"""Report rehearsals that failed, until a later one of the same occurrence succeeds or that is over. Pure."""

from collections.abc import Iterator

from berth.core.jsonvalues import instant_text
from berth.core.record import OccurrenceRecord
from berth.findings import LiveFinding
from berth.live.clusterfacts import LiveRecord
from berth.live.poolstate import PoolState
from berth.plugins.rehearsals.rehearsalrecord import has_ended, missing_seats

REPORTED_SECONDS = 30 * 86_400  # for which a failed rehearsal is reported


def check_rehearsals(case: PoolState) -> Iterator[LiveFinding]:
    """Report the rehearsals of a pool that failed, if they are the last of a date that is to come or open."""
    ours = [*_ended(case.record, case)] if case.record else []
    if not ours:
        return
    every = [one for record in case.snapshot.facts.records for one in _ended(record, case)]
    last = {one.rehearses: one.occurrence for one in sorted(every, key=lambda one: one.window or (0, 0, 0))}
    for record in ours:
        if last[record.rehearses] == record.occurrence:
            yield from _failed(case, record)


def _failed(case: PoolState, record: OccurrenceRecord) -> Iterator[LiveFinding]:
    missing, now = missing_seats(record).get(case.pool.resource_class), case.snapshot.now
    if record.window is None or not missing:
        return
    if record.window[2] + REPORTED_SECONDS < now or not _is_coming(case, record.rehearses):
        return
    promised = record.promised[case.pool.resource_class]
    why = "; ".join(record.faults) or "the record says no reason"
    message = (
        f"{missing} of {case.seats(promised)} were not ready in the rehearsal at "
        f"{instant_text(record.window[0])}, for {record.rehearses}: {why.removesuffix('.')}."
    )
    course, _, date = record.rehearses.partition("/")
    fix = f"Make room, then rehearse again: berth rehearse {course} {date} --at INSTANT"
    yield case.finding("S045", message, fix)


def _ended(record: LiveRecord, case: PoolState) -> Iterator[OccurrenceRecord]:
    """Yield rehearsals with seats of this class that have all of them, or had their time."""
    for rehearsal in record.rehearsals:
        if case.pool.resource_class in rehearsal.promised and has_ended(rehearsal, case.snapshot.now):
            yield rehearsal


def _is_coming(case: PoolState, occurrence: str) -> bool:
    """Tell whether what is rehearsed is in the timetable, and not over."""
    timetable = case.timetable or case.git
    known = timetable.occurrences if timetable else ()
    return any(one.id == occurrence and one.end > case.snapshot.now for one in known)
