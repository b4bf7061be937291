"""Limits of a cloud capacity against all seats that must fit below them at once.

It asks of the seats alone: what a machine has besides is waste, which `berth plan` tells.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from gen.check.load import NEVER, Pool, holders, holders_text, holding, last_rise, peak, per_seat, together
from gen.cloud import CloudCapacity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.model import ResourceClass, Site
from gen.placed import cluster_named
from gen.quantity import parse
from gen.quantity import text as quantity_text
from gen.runtime.instant import instant_text
from gen.schema.renkunames import their_path

TOO_LITTLE = "B174"


def limited(declared: Declared) -> set[str]:
    """The classes whose seats have no other place than one capacity with limits."""
    return {name for cloud in declared.clouds.values() for name in _bound(cloud, declared)}


def buys_nothing(resource: str, amount: str) -> bool:
    """Whether such a limit keeps every machine away. That is told of the capacity itself."""
    return resource in ("cpu", "memory", "nodes", "pods") and not parse(amount)


def _bound(cloud: CloudCapacity, declared: Declared) -> dict[str, ResourceClass]:
    if not any(resource != "nodes" for resource, _ in cloud.limits):
        return {}
    return {name: one for name, one in declared.classes.items() if one.cloud_capacity == (cloud.name,)}


def problems(declared: Declared, site: Site, pools_of: Callable[[str], Sequence[Pool]]) -> Iterator[Problem]:
    """`pools_of` a cluster: of the classes that are limited."""
    for cloud in declared.clouds.values():
        cluster, classes = cluster_named(cloud.cluster, site), _bound(cloud, declared)
        if cluster is None or not classes:
            continue
        pools = pools_of(cluster.name)
        for resource, amount in cloud.limits:
            each = dict.fromkeys(classes, 10**9) if resource == "pods" else per_seat(resource, classes)
            found = peak(together(pools, each), 0, NEVER)
            most = parse(amount) or 0
            if resource != "nodes" and found and found[0] > most and not buys_nothing(resource, amount):
                yield _problem(declared, cloud, (resource, amount), (pools, each), found)


def _problem(
    declared: Declared,
    cloud: CloudCapacity,
    limit: tuple[str, str],
    held: tuple[Sequence[Pool], Mapping[str, int]],
    found: tuple[int, int],
) -> Problem:
    """Told, as a ceiling is, at the reservation that opened last, and of these at the last by name."""
    pools, each = held
    amount, at = found
    told = [(name, quantity_text(part)) for name, part in holders(pools, each, at)]
    _, last = max((last_rise(pool.steps, at), pool.reservation) for pool, _ in holding(pools, each, at))
    when = f"at {instant_text(at * 60)}" if at else "always"
    message = (
        f"{when} seats ask for {quantity_text(amount)} of {limit[0]}, and cloud capacity {cloud.name} is "
        f"limited to {limit[1]}: some would find no machine. They are {holders_text(told)}."
    )
    fix = f"Ask for fewer seats or another time, or raise limits.{limit[0]} of {cloud.name}."
    reservation = next(one for one in declared.reservations if one.name == last)
    path: Path = ("spec", "provisioning")
    if reservation.renku:
        path = their_path(path, reservation.origin.prefix)
    return Problem(TOO_LITTLE, *reservation.origin[:2], path, message, fix)
