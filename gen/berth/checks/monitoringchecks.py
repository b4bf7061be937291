"""Check that the alerts of a cluster see the seats of its reservations."""

from collections.abc import Iterator

from berth.findings import Path, Problem
from berth.manifests.placed import placed
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Site

NOT_SEEN = "B220"
_TYPE: Path = ("spec", "backend", "type")


def check_seats_are_monitored(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    """Report seats that no series of kube-state-metrics has, where no Events tell of them either."""
    holder = reservation.holder
    if holder.has_placeholders:
        return
    blind = [
        part.cluster.name
        for part in placed(reservation, declared, site)
        if part.cluster.monitoring.prometheus_rule and not part.cluster.monitoring.events
    ]
    if blind:
        message = (
            f"kube-state-metrics has no series of backend {holder.backend}: "
            f"BerthSeatsNotReady does not see its seats in cluster {blind[0]}."
        )
        fix = "Add monitoring.events to the Site, or run berth status before the start."
        yield reservation.origin.problem(NOT_SEEN, _TYPE, message, fix)
