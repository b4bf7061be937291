"""One machine of a simulation, and how it stands for the planner."""

from collections.abc import Mapping
from typing import NamedTuple

from gen.cost.shop import Shop, form_of
from gen.cost.values import Key, Sort
from gen.plan.amounts import allocatable
from gen.plan.labels import INITIALIZED, NODEPOOL, REGISTERED
from gen.plan.offered import offering_requirements, type_requirements
from gen.plan.requirement import IN, Labels
from gen.plan.values import Node, Offering, Pod, reserved


class Place(NamedTuple):
    """What one pool asks for: its pod, and the CloudCapacities that it may use, the preferred first. For
    whole nodes the pod counts for nothing.
    """

    pod: Pod
    clouds: tuple[str, ...]


class Machine:
    __slots__ = ("bought", "empty", "name", "node", "number", "payers", "pods", "since", "sort", "static")

    def __init__(self, number: int, name: str, sort: Sort, at: int, static: Key | None) -> None:
        self.number, self.name, self.sort, self.static = number, name, sort, static
        self.bought = self.since = at
        self.pods: dict[Key, int] = {}
        self.payers: tuple[tuple[Key, int], ...] = ((static, 1),) if static else ()
        self.empty: int | None = at
        self.node: Node | None = None


def node(machine: Machine, shop: Shop, places: Mapping[Key, Place]) -> Node:
    """As long as nothing on it changes, the same object."""
    if machine.node is None:
        if machine.sort not in shop.labels:
            shop.labels[machine.sort] = _labels(machine.sort, shop)
        kind = shop.kind(machine.sort.capacity, machine.sort.type)
        machine.node = Node(
            machine.name,
            tuple(allocatable(kind.capacity, kind.overhead).items()),
            kind.capacity,
            shop.labels[machine.sort],
            shop.pool(machine.sort.capacity, {}).taints,
            pods=tuple(
                places[key].pod._replace(name="/".join(key), count=count)
                for key, count in sorted(machine.pods.items())
            ),
        )
    return machine.node


def _labels(sort: Sort, shop: Shop) -> Labels:
    kind, known = shop.kind(sort.capacity, sort.type), shop.reserved.get(sort.reserved)
    offering = Offering(sort.capacity_type, sort.zone, 0)
    if known is not None:
        form, interruptible = form_of(known.said)
        offering = reserved(sort.reserved, sort.zone, 0, 1, form)._replace(interruptible=interruptible)
    asked = (*type_requirements(kind.sold((offering,))), *offering_requirements(offering))
    own = {one.key: min(one.values) for one in asked if one.operator == IN}
    own |= dict(shop.clouds[sort.capacity].labels)
    own |= {NODEPOOL: shop.pools[sort.capacity], REGISTERED: "true", INITIALIZED: "true"}
    return tuple(sorted(own.items()))
