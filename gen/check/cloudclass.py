"""A class and the cloud capacity that it names: do its seats ever get there, and in the order of its wish?"""

from collections.abc import Iterable, Iterator, Sequence

from gen.check import cloudmatch
from gen.check.cloud import name_of
from gen.cloud import CloudCapacity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.manifest import naming
from gen.model import Reservation, ResourceClass, Site
from gen.placed import class_names, cluster_named, cluster_of, has_nodes
from gen.plan.labels import CAPACITY_TYPE, NODEPOOL

NEVER_THERE, NEVER_RESERVED, ORDER = "B162", "B163", "B165"


def clouds_of(names: Iterable[str], declared: Declared) -> list[CloudCapacity]:
    """Those that are sound, the preferred first."""
    return [declared.clouds[name] for name in names if name in declared.clouds]


def names_for(reservation: Reservation, found: ResourceClass) -> tuple[str, ...]:
    """Of the capacities of a class, those that its machines may be of: whole nodes are of the first alone."""
    return found.cloud_capacity[:1] if has_nodes(reservation) else found.cloud_capacity


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    for found in declared.classes.values():
        home = cluster_of(found, site)
        known = clouds_of(found.cloud_capacity, declared)
        clouds = [one for one in known if cluster_named(one.cluster, site) is home]
        for cloud in clouds:
            musts = list(_fit(found, cloud, _pools(found, cloud, declared, site)))
            yield from musts or _wish(found, cloud, clouds)
        yield from _order(found, clouds)


def _pools(found: ResourceClass, cloud: CloudCapacity, declared: Declared, site: Site) -> list[str]:
    """The NodePools with nodes of the capacity for this class; asked for only where it cares."""
    if not any(NODEPOOL in term for term in cloudmatch.terms(found)):
        return []
    static = [
        naming.static_pool(site.name, naming.pool(one.name, found.name))
        for one in declared.reservations
        if has_nodes(one) and found.name in class_names(one) and cloud.name in names_for(one, found)
    ]
    return [naming.node_pool(site.name, cloud.name), *static]


def _problem(code: str, found: ResourceClass, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, *found.origin[:2], ("spec", *path), message, fix)


def _fit(found: ResourceClass, cloud: CloudCapacity, pools: Sequence[str]) -> Iterator[Problem]:
    path: Path = ("cloudCapacity", found.cloud_capacity.index(cloud.name))
    hindrance = cloudmatch.hindrance(found, cloud, pools)
    if hindrance is not None:
        message = f"no seat of the class can be on nodes of {cloud.name}: {hindrance.why}."
        fix = "Change the class, or the capacity, or remove the name."
        yield _problem(NEVER_THERE, found, path, message, fix)
        return
    if "reserved" not in cloud.capacity_types or not cloud.reservations:
        return
    reasons = [cloudmatch.unusable(found, cloud, one) for one in cloud.reservations]
    pinned = next((one for one in reasons if one and one.key == CAPACITY_TYPE), None)
    if pinned is not None:
        message = (
            f"the class pins {CAPACITY_TYPE}, so its seats never take the reserved machines of {cloud.name}, "
            f"which are paid for: {pinned.why}."
        )
        fix = "Remove it: capacityTypes says what may be used. Session pods must not have it either."
        yield _problem(NEVER_RESERVED, found, path, message, fix)
        return
    for one, why in zip(cloud.reservations, reasons, strict=True):
        if why is not None and cloudmatch.excluded(cloud, one) is None:
            message = f"its seats never take the {name_of(one)} of {cloud.name}: {why.why}."
            fix = "Change the class, or give it a capacity without this reservation."
            yield _problem(NEVER_RESERVED, found, path, message, fix)


def _wish(found: ResourceClass, cloud: CloudCapacity, clouds: Sequence[CloudCapacity]) -> Iterator[Problem]:
    """A preference is as good as a must where it can be met."""
    for one in cloudmatch.fit(found, cloud).reserved:
        why = cloudmatch.passed_over(found, cloudmatch.reserved(cloud, one), clouds)
        if why is not None:
            path: Path = ("cloudCapacity", found.cloud_capacity.index(cloud.name))
            message = (
                f"its seats leave the {name_of(one)} of {cloud.name} idle: Karpenter takes the heaviest "
                f"preference as a must where other machines meet it, and {why.why}."
            )
            yield _problem(NEVER_RESERVED, found, path, message, "Remove the preference, or turn it round.")


def _order(found: ResourceClass, clouds: Sequence[CloudCapacity]) -> Iterator[Problem]:
    """Karpenter tries pools by weight, the highest first; of equal ones the last by name."""
    theirs = sorted(clouds, key=lambda one: (one.weight or 0, one.name), reverse=True)
    for wished, tried in zip(clouds, theirs, strict=True):
        if wished is not tried:
            how = "has the higher weight"
            if (wished.weight or 0) == (tried.weight or 0):
                how = "has the same weight, and of equal ones Karpenter takes the last by name"
            message = f"Karpenter tries {tried.name} before {wished.name}: it {how}."
            fix = f"Give {wished.name} a higher weight than {tried.name}, or change the order here."
            yield _problem(ORDER, found, ("cloudCapacity",), message, fix)
            return
