"""A project for checks, without files, and what is wrong with the reservations of a backend."""

from collections.abc import Sequence

from berth.backends.backendinterface import backend_of
from berth.checks import cloudchecks, koordinatordevices
from berth.checks.ceilings import Ceilings
from berth.checks.project import CheckedReservation, Item, Part, Project
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.recurrence import expand
from berth.findings import Problem
from berth.manifests.placed import placed
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation


def project_of(declared: Declared, now: int | None = None) -> Project:
    """Return the project, with a CronJob for each reservation, without the loads of its pools."""
    site, items = declared.site, []
    assert site is not None
    for reservation in declared.reservations:
        expansion = expand(reservation, declared.calendars)
        places = placed(reservation, declared, site)
        parts = tuple(Part(place, expansion.occurrences, ("0 7 * * 1",), ()) for place in places)
        items.append(Item(reservation, expansion, parts, ()))
    ceilings, fits = Ceilings(site, declared.classes), cloudchecks.class_fits(declared)
    return Project(declared, site, ceilings, now, fits, items)


def checked_reservation(
    reservation: Reservation, declared: Declared, occurrences: Sequence[Occurrence] = ()
) -> CheckedReservation:
    project = project_of(declared)
    places = placed(reservation, declared, project.site)
    return CheckedReservation(project, reservation, places, Expansion(tuple(occurrences), (), ()))


def problems_of_first(declared: Declared) -> list[Problem]:
    """Return the problems of the first reservation of its backend, and of its placeholders."""
    checked = checked_reservation(declared.reservations[0], declared)
    return [
        *koordinatordevices.check_reserved_devices(checked),
        *backend_of(checked.reservation.holder).problems(checked),
    ]
