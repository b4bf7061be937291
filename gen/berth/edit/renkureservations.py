"""Reservations of Renku as documents: in a time zone, and compared with what was made of them before."""

from collections.abc import Iterator
from contextlib import suppress

from berth.dates.moments import named
from berth.dates.zone import DAY, Zone, local, number
from berth.notation.refusal import CommandError
from berth.output.answers import seats_text
from berth.schema.declared import Declared
from berth.schema.renku import ID
from berth.schema.reservation import Reservation
from berth.schema.values import Entry, Recurrence


def in_zone(reservation: Reservation, zone_name: str) -> Reservation:
    """Return the reservation, whose times are in UTC, with the local times of its first date.

    Later dates then have the same local time, even after a clock change.
    """
    zone, recurrence = named(zone_name), reservation.recurrence
    schedule = tuple(_entry(reservation.name, entry, recurrence, zone) for entry in recurrence.schedule)
    return reservation._replace(recurrence=recurrence._replace(zone=zone.name, schedule=schedule))


def _entry(name: str, entry: Entry, recurrence: Recurrence, zone: Zone) -> Entry:
    assert recurrence.first is not None  # Renku always has one
    midnight = number(recurrence.first) * DAY
    start = local(zone, (midnight + entry.start) * 60) - midnight
    end = local(zone, (midnight + entry.end) * 60) - midnight
    if not (0 <= start < DAY and 0 < end <= DAY):
        raise CommandError(
            f"{name}: its times are on another day in {zone.name}. Import it without --time-zone, and edit it"
        )
    return entry._replace(start=start, end=end)


def imported_before(reservation: Reservation, declared: Declared) -> Reservation | None:
    """Return the document that was made of a reservation of Renku: that with its id, else with its name."""
    own = dict(reservation.annotations).get(ID)
    for known in declared.reservations:
        if dict(known.annotations).get(ID) == own and (own or known.name == reservation.name):
            return known
    return None


def differences(known: Reservation, reservation: Reservation) -> Iterator[str]:
    """Yield what a document says otherwise than the reservation of Renku that it was made of."""
    with suppress(CommandError):  # if its times are on another day, the dates differ
        reservation = in_zone(reservation, known.recurrence.zone)
    for what, here, there in (
        ("title", known.title, reservation.title),
        ("seats", seats_text(known.seats), seats_text(reservation.seats)),
        ("lead", f"{known.lead} min", f"{reservation.lead} min"),
        ("behavior", known.behavior, reservation.behavior),
        ("template", known.sessions.project_template, reservation.sessions.project_template),
    ):
        if here != there:
            yield f"{what} {here or 'none'}, there {there or 'none'}"
    if _dates(known.recurrence) != _dates(reservation.recurrence):
        yield "other dates"


def _dates(recurrence: Recurrence) -> tuple[object, ...]:
    times = sorted((entry.days, entry.start, entry.end) for entry in recurrence.schedule)
    return recurrence.type, recurrence.first, recurrence.last, times
