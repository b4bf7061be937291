"""Compare rehearsals with the dates of courses that they try: a rehearsal is a reservation of its own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from berth.checks.project import Project
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.moments import local_text, named
from berth.findings import Path, Problem
from berth.output.answers import seats_text
from berth.schema.documentproblems import nearest
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import Rehearses
from berth.schema.values import Seats


def rehearsed(rehearses: Rehearses, occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Return the occurrences of a course that a rehearsal is for."""
    return [one for one in occurrences if _begins_with(one.id, str(rehearses))]


def _begins_with(occurrence: str, rehearses: str) -> bool:
    return occurrence.startswith(rehearses) and occurrence[len(rehearses) :][:1] in {"", "T", "~"}


def summed_seats(occurrences: Iterable[Occurrence]) -> Seats:
    """Return the seats of occurrences that start together, by class."""
    seats: Counter[str] = Counter()
    for occurrence in occurrences:
        seats.update(dict(occurrence.seats))
    return tuple(seats.items())


def rehearsals_of(name: str, reservations: Iterable[Reservation]) -> list[Reservation]:
    """Return the rehearsals of a course."""
    return [one for one in reservations if one.spec.rehearses and one.spec.rehearses.name == name]


def check_rehearsal_is_ahead(
    rehearsal: Reservation, changed: Iterable[Occurrence], now: int
) -> Iterator[Problem]:
    """Refuse an edit that gives a rehearsal a date that is over. One that was held stays as it is."""
    past = [occurrence for occurrence in changed if occurrence.end <= now]
    if past and (rehearses := rehearsal.spec.rehearses):
        when = local_text(past[0].end, named(past[0].zone))
        fix = f"Rehearse later: berth rehearse {rehearses.name} {rehearses.when} --at INSTANT."
        yield rehearsal.problem(
            "B130", ("spec", "recurrence"), f"it would end on {when}, which is over.", fix
        )


def check_rehearsed_dates(project: Project) -> Iterator[Problem]:
    """Compare rehearsals with the dates of their courses."""
    known = {item.reservation.name: item for item in project.items}
    for reservation, own, *_ in project.items:
        rehearses = reservation.spec.rehearses
        if not rehearses:
            continue
        course = known.get(rehearses.name)
        if course and not course.reservation.spec.rehearses:
            yield from _compare(reservation, rehearses, own.occurrences, course.reservation, course.expansion)
        elif course or not project.declared.may_exist("CapacityReservation", rehearses.name):
            courses = [name for name, item in known.items() if not item.reservation.spec.rehearses]
            message = f'no course named "{rehearses.name}", which it rehearses.'
            fix = f"{nearest(rehearses.name, courses)} To remove it: berth delete {reservation.name}."
            yield reservation.problem("B130", ("spec", "rehearses", "name"), message, fix)


def _compare(
    reservation: Reservation,
    rehearses: Rehearses,
    occurrences: Sequence[Occurrence],
    course: Reservation,
    expansion: Expansion,
) -> Iterator[Problem]:
    dates = rehearsed(rehearses, expansion.occurrences)
    place: Path = ("spec", "rehearses", "date")
    remove = f"Remove the rehearsal: berth delete {reservation.name}"
    if course.recurrence.type == "capacity":
        message = f"the dates of {course.name} are those of machines, which are not there to rehearse with."
        yield reservation.problem("B130", place, message, f"{remove}.")
    elif not dates and (expansion.occurrences or not expansion.problems):
        message = f"{course.name} has no date {rehearses.when}, which {reservation.name} rehearses."
        fix = f"{remove}; or name another date: berth occurrences {course.name} lists them."
        yield reservation.problem("B130", place, message, fix)
    elif len({one.id.partition("~")[0] for one in dates}) > 1:
        starts = ", ".join(sorted({one.id.partition("T")[2].partition("~")[0] for one in dates}))
        message = f"{course.name} has several dates {rehearses.when}, and this does not say which one."
        yield reservation.problem("B130", place, message, f"Add startTime: {starts}.")
    elif dates:
        yield from _judge(reservation, rehearses, dates, occurrences)


def _judge(
    reservation: Reservation, rehearses: Rehearses, dates: Sequence[Occurrence], own: Sequence[Occurrence]
) -> Iterator[Problem]:
    opens = min(one.open for one in dates)
    late = next((one for one in own if one.end > opens), None)
    again = f"berth rehearse {rehearses.name} {rehearses.when}"
    if late is not None:
        zone = named(dates[0].zone)
        message = (
            f"the rehearsal that ends {local_text(late.end, zone)} is not over when {rehearses} opens, "
            f"{local_text(opens, zone)}."
        )
        fix = f"Rehearse earlier: {again} --at INSTANT; or remove it: berth delete {reservation.name}."
        yield reservation.problem("B130", ("spec", "recurrence"), message, fix)
    for occurrence in own:
        seats = summed_seats(dates)
        if dict(occurrence.seats) != dict(seats):
            unit = reservation.holder.unit
            message = (
                f"{rehearses} has {seats_text(seats, unit)}, and is rehearsed with "
                f"{seats_text(occurrence.seats, unit)}."
            )
            at = local_text(occurrence.open, named(occurrence.zone)).partition(" ")[2]
            fix = f'Write the same seats: {again} --at "{at}" does.'
            yield reservation.problem("B132", ("spec", "provisioning"), message, fix)
            return
