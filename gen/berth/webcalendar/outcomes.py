"""What became of past and open dates, as the calendar page marks them."""

from collections.abc import Iterable
from typing import NamedTuple

from berth.core.record import LOST, NOT_READY, OPENED_LATE, OccurrenceRecord
from berth.dates.expansion import Occurrence
from berth.plugins.rehearsals.rehearsalrecord import missing_seats

CAUSES = {OPENED_LATE: "opened late", NOT_READY: "not ready", LOST: "lost"}


class DateOutcome(NamedTuple):
    """The minute at which all seats of a date were ready, and how many were: `22 of 25; 3 missing: lost`."""

    ready: int | None
    seats: str


def outcomes(
    records: Iterable[OccurrenceRecord], occurrences: Iterable[Occurrence]
) -> dict[str, DateOutcome]:
    """Return what became of occurrences, by id.

    An occurrence that has moved since, or of whose seats nobody knows whether they were ready, is left out.
    """
    starts = {occurrence.id: occurrence.start for occurrence in occurrences}
    return {
        record.occurrence: outcome
        for record in records
        if record.window and starts.get(record.occurrence) == record.window[1]
        for outcome in [_outcome(record)]
        if outcome.seats
    }


def _outcome(record: OccurrenceRecord) -> DateOutcome:
    promised = sum(record.promised.values())
    if record.rehearses and (seats := missing_seats(record)):
        count = sum(seats.values())
        return DateOutcome(None, f"{promised - count} of {promised}; {count} missing")
    causes: dict[str, int] = {}
    for shortfalls in record.shortfalls.values():
        for cause, count in shortfalls.items():
            causes[cause] = causes.get(cause, 0) + count
    missing = [f"{count} missing: {CAUSES.get(cause, cause)}" for cause, count in causes.items()]
    if record.ready_at is not None:
        return DateOutcome(record.ready_at // 60, "; ".join([f"{promised} of {promised}", *missing]))
    if not missing:
        return DateOutcome(None, "")
    least = sum(max(shortfalls.values(), default=0) for shortfalls in record.shortfalls.values())
    return DateOutcome(None, "; ".join([f"{promised - least} of {promised}", *missing]))
