"""Write a rehearsal: a reservation beside its course that tries the opening of one of its dates."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import PurePosixPath
from typing import Any

from berth.checks.rehearsalchecks import rehearsals_of, rehearsed, summed_seats
from berth.dates.expansion import LocalOccurrence, Occurrence
from berth.dates.recurrence import expand
from berth.dates.zone import DAY, Zone, clock, day_of, local, resolve
from berth.edit.create import HEAD, MODELINE
from berth.edit.dateselect import Dates, OccurrenceSelector, RefusedError
from berth.edit.edits import EditResult, EditStep, all_steps, check_edit, reservation_named
from berth.edit.roundtrip import MakeNode, edit_document
from berth.findings import FindingsError
from berth.output.yamltext import block
from berth.pipeline import Pipeline
from berth.reading.source import SCHEMA
from berth.schema.grammar import LONGEST_TITLE
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import Rehearses

SHORTEST = 15 * 60  # seconds
USUAL_DAYS, USUAL_TIME = 7, 6 * 60  # before the date, and the time of day
_LONGEST_NAME = 63


def rehearse_dates(
    pipeline: Pipeline, name: str, dates: Sequence[OccurrenceSelector], at: int | None, now: int
) -> list[EditStep]:
    """Return the edits that rehearse dates of a course.

    `at` is when it begins; by default a week before at 06:00, and if that is over, on the day before. Raise
    CommandError if it is refused.
    """
    course = reservation_named(pipeline, name)
    return all_steps(
        pipeline, [partial(_edit, course=course, which=which, at=at, now=now) for which in dates]
    )


def _edit(
    pipeline: Pipeline, course: Reservation, which: OccurrenceSelector, at: int | None, now: int
) -> EditResult:
    calendars = pipeline.declared.calendars
    dates = Dates(course, calendars)
    try:
        groups = dates.find_groups(which, lambda occurrence: occurrence.happens)
        if not groups:
            raise RefusedError(dates.missing(which))
    except RefusedError as refused:
        raise FindingsError(pipeline.located(refused.problems), course.origin.file) from None
    rehearses = _rehearses(course.name, dates, groups[0])
    occurrences = rehearsed(rehearses, expand(course, calendars).occurrences)
    begin = _begin(occurrences, dates.zone, now) if at is None else at - at % 60
    spec = _spec(course, rehearses, occurrences, (begin, dates.zone))
    others = rehearsals_of(course.name, pipeline.declared.reservations)
    for other in others:
        ends = [one.end for one in expand(other, calendars).occurrences]
        if other.spec.rehearses == rehearses and max(ends, default=now + 1) > now:
            return _rewrite(pipeline, other, spec, now)
    folder = PurePosixPath(course.origin.file).parent
    name = _name(course.name, pipeline, str(folder))
    file, depth = f"{folder}/{name}.yaml", len(folder.parts) - 1
    document = {"metadata": {"name": name}, "spec": spec}
    text = f"{MODELINE.format('../' * depth + SCHEMA)}{HEAD}{block(document, 0)}\n"
    return check_edit(pipeline, file, text, None, now)


def _name(course: str, pipeline: Pipeline, folder: str) -> str:
    """Return the first name that no reservation and no file beside the course has."""
    taken = {one.name for one in pipeline.declared.reservations}
    files = {source.file for source in pipeline.sources}
    for number in count(1):
        suffix = "-rehearsal" if number == 1 else f"-rehearsal-{number}"
        name = course[: _LONGEST_NAME - len(suffix)].rstrip("-") + suffix
        if name not in taken and f"{folder}/{name}.yaml" not in files:
            break
    return name


def _rewrite(pipeline: Pipeline, rehearsal: Reservation, spec: Mapping[str, Any], now: int) -> EditResult:
    """Give a rehearsal that is not over yet other keys."""
    file, index = rehearsal.origin[:2]
    text = next(source.text for source in pipeline.sources if source.file == file).decode()

    def change(tree: Any, make: MakeNode) -> None:
        for key in ("resourceClass", "recurrence", "provisioning", "backend"):
            tree["spec"].pop(key, None)
            if key in spec:
                tree["spec"][key] = make(spec[key])

    return check_edit(pipeline, file, edit_document(text, index, change), rehearsal, now)


def _rehearses(name: str, dates: Dates, occurrence: LocalOccurrence) -> Rehearses:
    """Return what names an occurrence, and the groups that start with it."""
    day, original = occurrence.original // DAY, occurrence.original
    starts = {other.original for other in dates.all if other.happens and other.original // DAY == day}
    start = original % DAY if len(starts) > 1 else None
    return Rehearses.model_construct(name=name, day=day_of(original), start_time=start)


def _begin(dates: Sequence[Occurrence], zone: Zone, now: int) -> int:
    day = local(zone, min(one.start for one in dates)) // DAY
    usual = resolve(zone, (day - USUAL_DAYS) * DAY + USUAL_TIME)
    return usual if usual > now else resolve(zone, (day - 1) * DAY + USUAL_TIME)


def _spec(
    course: Reservation, rehearses: Rehearses, dates: Sequence[Occurrence], start: tuple[int, Zone]
) -> dict[str, Any]:
    """Return the keys below spec. `start`: the instant at which it begins, and the zone of the course."""
    (begin, zone), counted = start, course.holder.unit.field
    lead = max(one.start - one.open for one in dates)
    wall, end = local(zone, begin), local(zone, begin + max(lead, SHORTEST))
    when = {"date": str(day_of(wall)), "startTime": clock(wall), "endTime": clock(end)}
    declared = course.spec.recurrence
    zone_key = {"timeZone": declared.time_zone} if declared and declared.time_zone else {}
    seats = summed_seats(dates)
    classes: dict[str, Any] = {"resourceClass": seats[0][0]}
    counts: dict[str, Any] = {counted: seats[0][1]}
    if len(seats) > 1:
        lines = [{"resourceClass": name, counted: count} for name, count in seats]
        classes, counts = {}, {"seats": lines}
    backend = course.spec.backend
    options = backend.model_dump(mode="json", by_alias=True, exclude_unset=True) if backend else {}
    start_time = {} if rehearses.start_time is None else {"startTime": clock(rehearses.start_time)}
    return {
        "title": f"Rehearsal of {course.title}"[:LONGEST_TITLE],
        "rehearses": {"name": rehearses.name, "date": str(rehearses.day), **start_time},
        **classes,
        "recurrence": {"type": "dates", **zone_key, "dates": [when]},
        "provisioning": {**counts, "leadTimeMinutes": 0, "scaleDownBehavior": "none", "endsWhenReady": True},
        **({"backend": options} if options else {}),
    }
