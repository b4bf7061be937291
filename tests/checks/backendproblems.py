"""What is wrong with the reservations of a backend."""

from berth.backends.backendinterface import CheckedReservation, backend_of
from berth.checks import koordinatordevices
from berth.findings import Problem
from berth.schema.declared import Declared


def problems_of_first(declared: Declared) -> list[Problem]:
    """Return the problems of the first reservation of its backend, and of its placeholders."""
    reservation, site = declared.reservations[0], declared.site
    assert site is not None
    return [
        *koordinatordevices.check_reserved_devices(reservation, declared, site),
        *backend_of(reservation.holder).problems(CheckedReservation(reservation, declared, site)),
    ]
