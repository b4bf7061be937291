"""What is wrong with the reservations of a backend."""

from collections.abc import Sequence

from berth.backends.backendinterface import CheckedReservation, backend_of
from berth.checks import koordinatordevices
from berth.dates.expansion import Occurrence
from berth.findings import Problem
from berth.manifests.placed import placed
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation


def checked_reservation(
    reservation: Reservation, declared: Declared, occurrences: Sequence[Occurrence] = ()
) -> CheckedReservation:
    assert declared.site is not None
    places = placed(reservation, declared, declared.site)
    return CheckedReservation(reservation, declared, declared.site, places, occurrences)


def problems_of_first(declared: Declared) -> list[Problem]:
    """Return the problems of the first reservation of its backend, and of its placeholders."""
    checked = checked_reservation(declared.reservations[0], declared)
    return [
        *koordinatordevices.check_reserved_devices(checked),
        *backend_of(checked.reservation.holder).problems(checked),
    ]
