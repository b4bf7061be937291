"""Check whole nodes: does Karpenter have what their pools need, and are there enough nodes?"""

from collections.abc import Iterator, Mapping, Sequence

from berth.checks.autoscalers import check_cluster_feature, check_replicas_stay
from berth.checks.ceilings import NO_END, PoolLoad, levels, peak, pool_steps, sum_changes
from berth.checks.cloudcapacities import buys_nothing, usable_clouds
from berth.checks.cloudmatching import class_fit
from berth.checks.project import CheckedReservation
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence
from berth.findings import Path, Problem
from berth.quantity import NANO, parse
from berth.schema.cloudcapacity import MachineReservation
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass

_TYPE: Path = ("spec", "backend", "type")


def check_whole_nodes(checked: CheckedReservation) -> Iterator[Problem]:
    """Check a reservation of whole nodes."""
    reservation = checked.reservation
    for place in checked.places:
        yield from check_cluster_feature("static", place.cluster, reservation.origin, _TYPE)
        yield from check_replicas_stay(reservation, place.cluster, _TYPE)
        for resource_class in place.classes:
            if not resource_class.cloud_capacity:
                message = f"class {resource_class.name} has no cloudCapacity, which says which nodes to buy."
                fix = "Add cloudCapacity to the class, or write type: placeholder."
                yield reservation.origin.problem("B162", _TYPE, message, fix)
            yield from _limit(
                reservation, resource_class, checked.project.declared, checked.expansion.occurrences
            )


def _limit(
    reservation: Reservation, found: ResourceClass, declared: Declared, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    """Check the limits of the capacity that the pool is made from."""
    for cloud in usable_clouds(reservation, found, declared):
        fit = class_fit(found, cloud)
        most = cloud.limits.get("nodes")
        pool = PoolLoad(reservation.name, found.name, pool_steps(reservation, found, occurrences))
        changes = sum_changes([pool], {found.name: 1})
        highest = peak(changes, 0, NO_END)
        if highest is None:
            continue
        lack = None if fit.falls_back else _largest_shortage(changes, fit.reserved)
        if lack is not None:
            at, asked, there = lack
            message = (
                f"at {instant_text(at)} the reservation needs {asked} nodes of class {found.name}, "
                f"and CloudCapacity {cloud.name} has only {there} reserved instances for it."
            )
            fix = "Reserve fewer, or add on-demand to capacityTypes."
            yield reservation.origin.problem("B162", ("spec", "provisioning"), message, fix)
        if most is not None and not buys_nothing("nodes", most) and highest[0] * NANO > (parse(most) or 0):
            message = (
                f"at {instant_text(highest[1] * 60)} the reservation needs {highest[0]} nodes of class "
                f"{found.name}, and CloudCapacity {cloud.name} is limited to {most}."
            )
            fix = f"Reserve fewer, or raise limits.nodes of {cloud.name}."
            yield reservation.origin.problem("B162", ("spec", "provisioning"), message, fix)


def _largest_shortage(
    changes: Mapping[int, int], reserved: Sequence[MachineReservation]
) -> tuple[int, int, int] | None:
    """Return the instant of the largest shortage, the nodes needed and those that exist.

    A moment without any instance is reported at the window instead.
    """
    worst: tuple[int, int, int] | None = None
    changed = sorted(
        {
            at
            for machine_reservation in reserved
            for at in (machine_reservation.first, machine_reservation.last_safe)
            if at is not None
        }
    )
    for since, until, asked in levels(changes):
        for at in (since * 60, *(at for at in changed if since * 60 < at < until * 60)):
            there = sum(
                machine_reservation.count for machine_reservation in reserved if machine_reservation.there(at)
            )
            if there and asked - there > (worst[1] - worst[2] if worst else 0):
                worst = at, asked, there
    return worst
