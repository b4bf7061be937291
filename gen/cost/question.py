"""What the planner is asked at a moment: which pools there are, what stands, and who waits."""

from collections.abc import Mapping, Sequence

from gen.cost.machine import Machine, Place, node
from gen.cost.shop import Shop
from gen.cost.values import Key
from gen.manifest.cloudpools import selected
from gen.plan.amounts import NODES, ONE
from gen.plan.labels import NODEPOOL
from gen.plan.requirement import of_labels
from gen.plan.values import Node, Pod, Question


class Questions:
    def __init__(self, shop: Shop, places: Mapping[Key, Place]) -> None:
        self._shop, self._places = shop, places
        self._cares = any(_cares(place.pod) for place in places.values())

    def of_seats(self, wanted: Sequence[tuple[Key, int]], machines: Sequence[Machine], at: int) -> Question:
        """With what other capacities have only where it matters to some class of the cluster who is where:
        the same question is answered once.
        """
        names = {cloud for key, _ in wanted for cloud in self._places[key].clouds}
        free = self._free(machines, at)
        pods = (self._places[key].pod._replace(name="/".join(key), count=count) for key, count in wanted)
        pools = (self._shop.pool(name, free) for name in sorted(names))
        every = [one for one in machines if one.static is None and one.sort.capacity in names]
        elsewhere: list[str] = []
        if self._cares:
            every = list(machines)
            elsewhere = sorted(self._shop.clouds.keys() - names)
        there = self._free((), at)
        return Question(
            tuple(pools),
            (),
            tuple(pods),
            nodes=tuple(self._node(one) for one in every),
            elsewhere=tuple(self._shop.pool(name, there) for name in elsewhere),
        )

    def of_nodes(self, key: Key, level: int, machines: Sequence[Machine], at: int) -> Question | None:
        """So many whole nodes of one pool, but for those that are there; None where none is missing."""
        there = sum(machine.static == key for machine in machines)
        if there >= level:
            return None
        plain = self._shop.pool(self._places[key].clouds[0], self._free(machines, at))
        most = dict(plain.limits).get(NODES)
        asked = of_labels(selected(self._places[key].pod.node_selector))
        pool = plain._replace(
            name="/".join(key),
            requirements=(*plain.requirements, *asked),
            replicas=level - there,
            weight=0,
            limits=() if most is None else ((NODES, max(most - there * ONE, 0)),),
        )
        return Question((pool,), (), ())

    def _free(self, machines: Sequence[Machine], at: int) -> dict[str, int]:
        free = {key: one.said.count for key, one in self._shop.reserved.items() if one.at(at)}
        for machine in machines:
            if machine.sort.reserved in free:
                free[machine.sort.reserved] -= 1
        return {key: max(count, 0) for key, count in free.items()}

    def _node(self, machine: Machine) -> Node:
        made = node(machine, self._shop, self._places)
        if machine.static is None:
            return made
        own = dict(made.labels) | {NODEPOOL: "/".join(machine.static)}
        return made._replace(labels=tuple(sorted(own.items())))


def _cares(pod: Pod) -> bool:
    """Does it matter to it where others are?"""
    return bool(pod.spread or pod.near or pod.far or pod.near_preferred or pod.far_preferred)
