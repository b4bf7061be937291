"""What is left of reservations and limits once machines were bought, and the nodes that these become."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from gen.plan.amounts import NODES, ONE, Amounts, added, allocatable
from gen.plan.claim import Claim
from gen.plan.labels import INITIALIZED, NODEPOOL, REGISTERED, RESERVED
from gen.plan.market import Bought, types_of
from gen.plan.offered import offering_requirements, type_requirements
from gen.plan.packing import Limits
from gen.plan.requirement import IN, Labels, Requirement, Requirements
from gen.plan.values import InstanceType, Node, Pod, Pool, Question


class Stock:
    """`taken`: machines of each reservation that are in use since the plan began."""

    def __init__(self, question: Question) -> None:
        self._free = _counts(question.pools, question.types)
        self.taken: dict[str, int] = {}

    def take(self, reservation: str) -> None:
        if reservation:
            self.taken[reservation] = self.taken.get(reservation, 0) + 1

    def free(self) -> dict[str, int]:
        return {name: count - self.taken.get(name, 0) for name, count in self._free.items()}

    def spent(self) -> frozenset[str]:
        return frozenset(name for name, taken in self.taken.items() if self._free[name] <= taken)


@lru_cache(maxsize=64)
def _counts(pools: tuple[Pool, ...], types: tuple[InstanceType, ...]) -> Mapping[str, int]:
    """Free machines by reservation; where pools know different numbers, the least."""
    counts: dict[str, int] = {}
    own = [types_of(pool, types) for pool in pools]
    for one in {one for some in (types, *own) for one in some}:
        for offering in one.offerings:
            if offering.capacity_type == RESERVED:
                known = counts.get(offering.reservation, offering.count)
                counts[offering.reservation] = min(known, offering.count)
    return counts


def limits(pools: Iterable[Pool], nodes: Sequence[Node]) -> Limits:
    """What the nodes of each pool leave of its limits."""
    left = {pool.name: dict(pool.limits) for pool in pools}
    for node in nodes:
        mine = left.get(dict(node.labels).get(NODEPOOL, ""), {})
        for name, value in added(node.capacity, ((NODES, ONE),)).items():
            if name in mine:
                mine[name] -= value
    return left


def node(claim: Claim, bought: Bought, name: str, pods: tuple[Pod, ...], well_known: frozenset[str]) -> Node:
    """The machine as it will join the cluster, with the pods that it was bought for."""
    one, offering = bought.entry.type, bought.offering
    overhead: Amounts = tuple(added(one.overhead, offering.overhead).items())
    capacity = tuple(added(one.capacity, offering.capacity).items())
    return Node(
        name,
        tuple(allocatable(capacity, overhead).items()),
        capacity,
        labels(claim, bought, well_known),
        claim.template.pool.taints,
        initialized=False,
        pods=pods,
        unknown=well_known - bought.entry.requirements.by_key.keys(),
    )


def labels(claim: Claim, bought: Bought, well_known: frozenset[str]) -> Labels:
    """That the machine comes with: of its type and offering, and those of people's own that the claim asks
    for.
    """
    wanted, known = claim.final(), claim.template.labels
    key = (wanted, bought.entry, bought.offering)
    if key not in known:
        known[key] = _labels(claim.template.pool, wanted, bought, well_known)
    return known[key]


def _labels(pool: Pool, wanted: Requirements, bought: Bought, well_known: frozenset[str]) -> Labels:
    labels: dict[str, str] = {}
    for one in type_requirements(bought.entry.type):
        if one.operator == IN:
            labels[one.key] = _some(one, wanted)
    for one in offering_requirements(bought.offering):
        if one.operator == IN:
            labels[one.key] = min(one.values)
        else:
            labels.pop(one.key, None)
    for one in wanted:
        if one.key not in well_known and one.key not in (REGISTERED, INITIALIZED):
            value = _any(one)
            labels.update({one.key: value} if value else {})
    labels.update((*pool.labels, (NODEPOOL, pool.name)))
    return tuple(sorted(labels.items()))


def _some(one: Requirement, wanted: Requirements) -> str:
    both = one.meet(wanted.get(one.key)).values
    return min(both or one.values)


def _any(one: Requirement) -> str:
    """A value for a label of people's own; Karpenter rolls dice where more than one is allowed."""
    if one.operator == IN:
        return min(one.values)
    number = one.least or 0
    while one.complement and not one.allows(str(number)):
        number += 1
    return str(number) if one.complement else ""
