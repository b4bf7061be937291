"""Check classes against the CloudCapacities that they name: do seats ever run there?"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from berth.checks import cloudmatching
from berth.checks.autoscalers import has_feature
from berth.checks.cloudcapacities import IDLE, NO_MACHINE, reservation_text
from berth.findings import Path, Problem
from berth.karpenter.nodelabels import CAPACITY_TYPE, NODEPOOL
from berth.manifests import naming
from berth.manifests.placed import class_names, cluster_named, cluster_of
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import ResourceClass, Site

WAITING = "B193"


def clouds_of(names: Iterable[str], declared: Declared) -> list[CloudCapacity]:
    """Return the valid capacities of these names, preferred first."""
    return [declared.clouds[name] for name in names if name in declared.clouds]


def names_for(reservation: Reservation, resource_class: ResourceClass) -> tuple[str, ...]:
    """Return the capacities of a class that the nodes of a reservation may come from."""
    return reservation.holder.usable_capacity(resource_class.cloud_capacity)


def check_capacities_of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check each class against its capacities."""
    for resource_class in declared.classes.values():
        home = cluster_of(resource_class, site)
        known = clouds_of(resource_class.cloud_capacity, declared)
        clouds = [cloud for cloud in known if cluster_named(cloud.cluster, site) is home]
        used: list[CloudCapacity] = []
        for cloud in clouds:
            problems = list(_fit(resource_class, cloud, _pools(resource_class, cloud, declared, site)))
            problems = problems or list(_preference(resource_class, cloud, clouds))
            yield from problems
            used += [] if problems else [cloud]
        if home is not None and has_feature("full", home):
            yield from _waiting(resource_class, used)


def _pools(resource_class: ResourceClass, cloud: CloudCapacity, declared: Declared, site: Site) -> list[str]:
    """Return the NodePools with nodes of the capacity for this class, if the class selects by NodePool."""
    if not any(NODEPOOL in term for term in cloudmatching.class_terms(resource_class)):
        return []
    static = [
        naming.static_pool(site.name, naming.pool(reservation.name, resource_class.name))
        for reservation in declared.reservations
        if reservation.holder.unit is Unit.NODE
        and resource_class.name in class_names(reservation)
        and cloud.name in names_for(reservation, resource_class)
    ]
    return [naming.node_pool(site.name, cloud.name), *static]


def _fit(resource_class: ResourceClass, cloud: CloudCapacity, pools: Sequence[str]) -> Iterator[Problem]:
    path: Path = ("cloudCapacity", resource_class.cloud_capacity.index(cloud.name))
    hindrance = cloudmatching.capacity_mismatch(resource_class, cloud, pools)
    if hindrance is not None:
        message = f"seats of this class can never run on nodes of {cloud.name}: {hindrance.why}."
        fix = "Change the class or the capacity, or remove the capacity here."
        yield resource_class.origin.problem(NO_MACHINE, ("spec", *path), message, fix)
        return
    if "reserved" not in cloud.capacity_types or not cloud.reservations:
        return
    reasons = [
        cloudmatching.reservation_mismatch(resource_class, cloud, machines) for machines in cloud.reservations
    ]
    pinned = next((reason for reason in reasons if reason and reason.key == CAPACITY_TYPE), None)
    if pinned is not None:
        message = (
            f"the class selects {CAPACITY_TYPE}, so its seats never use the reserved instances of "
            f"{cloud.name}, which are paid for: {pinned.why}."
        )
        fix = "Remove it: capacityTypes decides what may be used. Session pods must not have it either."
        yield resource_class.origin.problem(IDLE, ("spec", *path), message, fix)
        return
    for machines, why in zip(cloud.reservations, reasons, strict=True):
        if why is not None and cloudmatching.exclusion(cloud, machines) is None:
            message = f"its seats never use the {reservation_text(machines)} of {cloud.name}: {why.why}."
            fix = "Change the class, or use a capacity without this reservation."
            yield resource_class.origin.problem(IDLE, ("spec", *path), message, fix)


def _preference(
    resource_class: ResourceClass, cloud: CloudCapacity, clouds: Sequence[CloudCapacity]
) -> Iterator[Problem]:
    """Check the heaviest preference, which is as good as required where it can be satisfied."""
    for machines in cloudmatching.class_fit(resource_class, cloud).reserved:
        why = cloudmatching.passed_over(
            resource_class, cloudmatching.reservation_requirements(cloud, machines), clouds
        )
        if why is not None:
            path: Path = ("cloudCapacity", resource_class.cloud_capacity.index(cloud.name))
            message = (
                f"its seats leave the {reservation_text(machines)} of {cloud.name} idle: Karpenter treats "
                f"the heaviest preference as required where other instances satisfy it, and {why.why}."
            )
            yield resource_class.origin.problem(
                IDLE, ("spec", *path), message, "Remove the preference, or invert it."
            )


def _as_tried(clouds: Sequence[CloudCapacity]) -> list[CloudCapacity]:
    """Sort as Karpenter tries pools: by weight, highest first, then by name in reverse."""
    return sorted(clouds, key=lambda cloud: (cloud.weight or 0, cloud.name), reverse=True)


def _waiting(resource_class: ResourceClass, clouds: Sequence[CloudCapacity]) -> Iterator[Problem]:
    """Check that no capacity keeps seats waiting that another one could take."""
    for cloud, next_one in pairwise(_as_tried(clouds)):
        if cloud.capacity_types == ("reserved",):
            message = (
                f"since Karpenter 1.15 seats wait while all reserved instances of {cloud.name} are in use, "
                f"and never go to {next_one.name}."
            )
            fix = f"Add on-demand to the capacityTypes of {cloud.name}: seats then use it when they are full."
            path: Path = ("cloudCapacity", resource_class.cloud_capacity.index(cloud.name))
            yield resource_class.origin.problem(WAITING, ("spec", *path), message, fix)
