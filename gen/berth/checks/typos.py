"""Warn about what is nearly always a typo: hours, dates and counts that hardly anybody means.

Instants are seconds in UTC; `now` is passed in.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from berth.checks.project import CheckedReservation
from berth.checks.references import written_seats
from berth.dates.exceptions import Exclusions, calendars_of, entry_path
from berth.dates.expansion import EXTRA, MOVED, ON_HOLIDAY, Occurrence, window_minutes
from berth.dates.moments import local_text, named, span_text
from berth.dates.zone import DAY, day_of, local
from berth.findings import Path, Problem
from berth.schema.calendardocument import Calendar
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Move, Recurrence

LONGEST = 14 * 60  # minutes
_LARGEST = 1_000  # seats or nodes
_FAR = 549 * 86_400  # seconds in 18 months


def check_hours_and_dates(checked: CheckedReservation) -> Iterator[Problem]:
    """Check its hours, and, with `now`, its last date."""
    reservation, now, occurrences = checked.reservation, checked.project.now, checked.expansion.occurrences
    for path, start, end in _hours(reservation.recurrence, occurrences):
        minutes = window_minutes(start, end, None)
        if minutes > LONGEST and (start, end) != (0, DAY):  # which is a whole day
            message = f"the window lasts {minutes // 60} h {minutes % 60:02} min."
            fix = f"Check both times; if it is meant, add endDay: {int(end < start)}."
            yield reservation.problem("B080", (*path, "endTime"), message, fix)
    if now is not None and occurrences:
        yield from _far_end(reservation, occurrences[-1], now)


def _hours(recurrence: Recurrence, occurrences: Sequence[Occurrence]) -> Iterator[tuple[Path, int, int]]:
    """Yield the start and the end of each line that has an end and no `endDay`."""
    is_one_span = recurrence.type == "once" and recurrence.first != recurrence.last
    for i, line in enumerate(recurrence.lines):
        if line.end_day is None and not (is_one_span and i < len(recurrence.schedule)):
            yield entry_path(i, recurrence), line.start, line.end
    for i, move in enumerate(recurrence.moves):
        if move.to_end is None or move.to_end_day is not None:
            continue
        start = move.start if move.to_start is None else move.to_start
        start = _usual_start(move, occurrences) if start is None else start
        if start is not None:
            yield ("spec", "recurrence", "moved", i, "to"), start, move.to_end


def _usual_start(move: Move, occurrences: Sequence[Occurrence]) -> int | None:
    """Return the start of the occurrence of which only the end changes; None if there is none."""
    changed = [
        occurrence
        for occurrence in occurrences
        if occurrence.date == str(move.day) and MOVED in occurrence.marks
    ]
    starts = [
        local(named(occurrence.zone), occurrence.start) % DAY
        for occurrence in changed
        if move.name in (None, occurrence.name)
    ]
    return starts[0] if len(starts) == 1 else None


def _far_end(reservation: Reservation, last: Occurrence, now: int) -> Iterator[Problem]:
    if last.start <= now + _FAR:
        return
    recurrence = reservation.recurrence
    is_scheduled = not {MOVED, EXTRA} & {*last.marks}
    path: Path = ("spec", "recurrence")
    if is_scheduled and recurrence.last is not None and not recurrence.within:
        path = (*path, "endDate")
    message = f"the last date is {_when(last)}, more than 18 months away."
    fix = 'Check the year; if it is meant, annotate berth.dev/ignore: "B084: <reason>".'
    yield reservation.problem("B084", path, message, fix)


def check_dates_are_ahead(
    reservation: Reservation, occurrences: Sequence[Occurrence], now: int
) -> Iterator[Problem]:
    """Check that a new or changed reservation has a date that is not over.

    Only for changes: courses that are over stay in a repository for years, and that is no mistake.
    """
    last = max(occurrences, key=lambda occurrence: occurrence.end, default=None)
    if last is not None and last.end <= now and not reservation.suspend:
        message = f"all dates are in the past: the last is {_when(last)}."
        fix = "Check the year."
        yield reservation.problem("B081", ("spec", "recurrence"), message, fix)


def check_single_dates(
    reservation: Reservation, changed: Sequence[Occurrence], calendars: Mapping[str, Calendar], now: int
) -> Iterator[Problem]:
    """Check moved and extra dates that an edit changes: hardly anybody means the past, or days off."""
    recurrence = reservation.recurrence
    exclusions = Exclusions(recurrence, calendars_of(recurrence, calendars))
    for occurrence in changed:
        zone = named(occurrence.zone)
        start, end = local(zone, occurrence.start), local(zone, occurrence.end)
        reasons = ["is over already"] if occurrence.end <= now else []
        reasons += _outside(recurrence, day_of(start))
        holiday = exclusions.holiday(start, end)
        reasons += [f"falls on a holiday ({holiday})"] if holiday else []
        if reasons and {MOVED, EXTRA, ON_HOLIDAY} & {*occurrence.marks}:
            message = f"{span_text(occurrence.start, occurrence.end, zone)} {', and '.join(reasons)}."
            yield reservation.problem("B081", ("spec", "recurrence"), message, "Check the date.")


def _outside(recurrence: Recurrence, day: date) -> list[str]:
    """Return that a day is in none of the terms, or before the first date or after the last, if it is."""
    terms = recurrence.terms
    if not terms and recurrence.first and recurrence.last:
        terms = ((recurrence.first, recurrence.last),)
    if not terms or any(first <= day <= last for first, last in terms):
        return []
    listed = " and ".join(f"from {first} to {last}" for first, last in terms)
    return [f"is outside of the course, which is {listed}"]


def _when(occurrence: Occurrence) -> str:
    return local_text(occurrence.start, named(occurrence.zone))


def check_large_counts(checked: CheckedReservation) -> Iterator[Problem]:
    """Report counts above 1,000 in clusters where no ceiling limits them."""
    unit, is_limited = checked.reservation.holder.unit, checked.project.ceilings.is_limited
    limitless = {
        resource_class.name
        for place in checked.places
        for resource_class in place.classes
        if unit is Unit.NODE or not is_limited(place.cluster.name, resource_class.name)
    }
    for path, name, count in _counts(checked.reservation):
        if count > _LARGEST and name in limitless:
            message = f"{count:,} {unit.plural} of {name} are more than 1,000, and no ceiling limits them."
            fix = "Check the number"
            fix += "; if it is meant, add a ceiling for the class." if unit is not Unit.NODE else "."
            yield checked.reservation.problem("B082", path, message, fix)


def _counts(reservation: Reservation) -> Iterator[tuple[Path, str, int]]:
    """Yield each count that the file has, with its place and class."""
    field = reservation.holder.unit.field
    for path, seats in written_seats(reservation):
        for j, (name, count) in enumerate(seats):
            yield (*path, *(("seats", j) if reservation.seats_listed else ()), field), name, count
