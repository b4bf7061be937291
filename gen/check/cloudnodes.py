"""Reservations of whole nodes (backend nodePool): what Karpenter needs to have such a pool."""

from collections.abc import Iterator, Mapping, Sequence

from gen.check.ceilings import pool_steps
from gen.check.cloudclass import clouds_of, names_for
from gen.check.cloudlimits import buys_nothing
from gen.check.cloudmatch import fit
from gen.check.karpenter import problems_of_need
from gen.check.load import NEVER, Pool, levels, peak, together
from gen.cloud import CloudReservation
from gen.core.instants import instant_text
from gen.dates.occurrence import Occurrence
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.model import Cluster, Reservation, ResourceClass, Site
from gen.placed import has_nodes, placed
from gen.quantity import NANO, parse

NO_NODES, TAKEN_AWAY = "B171", "B192"
_TYPE: Path = ("spec", "backend", "type")


def of_reservation(
    reservation: Reservation, declared: Declared, site: Site, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    if not has_nodes(reservation):
        return
    for place in placed(reservation, declared, site):
        yield from problems_of_need("static", place.cluster, reservation.origin, _TYPE)
        if not place.cluster.replicas_in_git:
            yield _reset(reservation, place.cluster)
        for found in place.classes:
            if not found.cloud_capacity:
                message = f"class {found.name} names no cloudCapacity: nothing says which nodes these are."
                fix = "Add cloudCapacity to the class, or write type: placeholder."
                yield Problem(NO_NODES, *reservation.origin[:2], _TYPE, message, fix)
            yield from _limit(reservation, found, declared, occurrences)


def _reset(reservation: Reservation, cluster: Cluster) -> Problem:
    """A Deployment's replicas can be left out of git; a NodePool without them is another kind of pool for
    ever.
    """
    message = (
        f"whoever applies the files of cluster {cluster.name} would set its nodes back to the 0 of git, in "
        "the middle of a window too."
    )
    fix = "Use engine argocd, or flux from 2.9 on, which leave replicas alone; or write type: placeholder."
    return Problem(TAKEN_AWAY, *reservation.origin[:2], _TYPE, message, fix)


def _limit(
    reservation: Reservation, found: ResourceClass, declared: Declared, occurrences: Sequence[Occurrence]
) -> Iterator[Problem]:
    """Its pool has the limit of the capacity that it is made from, the first."""
    for cloud in clouds_of(names_for(reservation, found), declared):
        most = dict(cloud.limits).get("nodes")
        pool = Pool(reservation.name, found.name, pool_steps(reservation, found.name, occurrences))
        changes = together([pool], {found.name: 1})
        highest = peak(changes, 0, NEVER)
        if highest is None:
            continue
        lack = None if fit(found, cloud).falls_back else _lack(changes, fit(found, cloud).reserved)
        if lack is not None:
            at, asked, there = lack
            message = (
                f"at {instant_text(at)} it asks for {asked} nodes of class {found.name}, "
                f"and cloud capacity {cloud.name} has {there} machines for it, all of them reserved."
            )
            fix = "Ask for fewer, or add on-demand to capacityTypes."
            yield Problem(NO_NODES, *reservation.origin[:2], ("spec", "provisioning"), message, fix)
        if most is not None and not buys_nothing("nodes", most) and highest[0] * NANO > (parse(most) or 0):
            message = (
                f"at {instant_text(highest[1] * 60)} it asks for {highest[0]} nodes of class {found.name}, "
                f"and cloud capacity {cloud.name} is limited to {most}."
            )
            fix = f"Ask for fewer, or raise limits.nodes of {cloud.name}."
            yield Problem(NO_NODES, *reservation.origin[:2], ("spec", "provisioning"), message, fix)


def _lack(changes: Mapping[int, int], reserved: Sequence[CloudReservation]) -> tuple[int, int, int] | None:
    """When most are missing, how many are asked for, and how many are there. Where none is there at all, that
    is told of the window.
    """
    worst: tuple[int, int, int] | None = None
    changed = sorted({at for one in reserved for at in (one.first, one.last_safe) if at is not None})
    for since, until, asked in levels(changes):
        for at in (since * 60, *(at for at in changed if since * 60 < at < until * 60)):
            there = sum(one.count for one in reserved if one.there(at))
            if there and asked - there > (worst[1] - worst[2] if worst else 0):
                worst = at, asked, there
    return worst
