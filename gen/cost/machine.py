"""One machine of a simulation, and how it stands for the planner."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from gen.cost.seat import zones
from gen.cost.shop import Shop
from gen.cost.values import Key, Sort
from gen.plan.amounts import allocatable
from gen.plan.labels import CAPACITY_TYPE, INITIALIZED, REGISTERED, RESERVATION_LABELS
from gen.plan.requirement import Labels
from gen.plan.values import Node, Pod


class Place(NamedTuple):
    """What one pool asks for: its pod, and the CloudCapacities that it may use, the preferred first. For
    whole nodes the pod counts for nothing.
    """

    pod: Pod
    clouds: tuple[str, ...]


def zones_named(places: Iterable[Place]) -> dict[str, frozenset[str]]:
    """By CloudCapacity: by seats that may use it. Left out where the zone is all the same to all of them."""
    found: dict[str, frozenset[str]] = {}
    for place in places:
        named = zones(place.pod)
        for cloud in place.clouds if named is not None else ():
            found[cloud] = found.get(cloud, frozenset()) | (named or frozenset())
    return found


class Machine:
    __slots__ = (
        "bought",
        "empty",
        "labels",
        "name",
        "node",
        "number",
        "payers",
        "pods",
        "since",
        "sort",
        "static",
    )

    def __init__(self, number: int, name: str, sort: Sort, at: int, static: Key | None) -> None:
        self.number, self.name, self.sort, self.static = number, name, sort, static
        self.labels: Labels = ()  # that it came with
        self.bought = self.since = at
        self.pods: dict[Key, int] = {}
        self.payers: tuple[tuple[Key, int], ...] = ((static, 1),) if static else ()
        self.empty: int | None = at
        self.node: Node | None = None


def node(machine: Machine, shop: Shop, places: Mapping[Key, Place]) -> Node:
    """As long as nothing on it changes, the same object."""
    if machine.node is None:
        kind = shop.kind(machine.sort.capacity, machine.sort.type)
        machine.node = Node(
            machine.name,
            tuple(allocatable(kind.capacity, kind.overhead).items()),
            kind.capacity,
            _now(machine.labels, machine.sort),
            shop.pool(machine.sort.capacity, {}).taints,
            pods=tuple(
                places[key].pod._replace(name="/".join(key), count=count)
                for key, count in sorted(machine.pods.items())
            ),
            unknown=kind.unknown,
        )
    return machine.node


@lru_cache(maxsize=1024)
def _now(bought: Labels, sort: Sort) -> Labels:
    """The labels that a machine has which came with those; one whose reservation has ended is like others."""
    labels = {key: value for key, value in bought if sort.reserved or key not in RESERVATION_LABELS}
    labels |= {CAPACITY_TYPE: sort.capacity_type, REGISTERED: "true", INITIALIZED: "true"}
    return tuple(sorted(labels.items()))
