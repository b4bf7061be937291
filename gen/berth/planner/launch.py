"""Launch NodeClaims: which instance type and offering the AWS provider buys, and the node that it becomes.

Reserved comes before spot and spot before on-demand; among these the cheapest. What EC2 itself decides
(which of equally cheap types, how much spot there is) is taken in the given order.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from berth.karpenter.instancetypes import InstanceType, Offering, offering_requirements, type_requirements
from berth.karpenter.nodelabels import (
    CAPACITY_TYPE,
    INITIALIZED,
    INSTANCE_SIZE,
    NODEPOOL,
    ON_DEMAND,
    REGISTERED,
    RESERVED,
    SPOT,
)
from berth.karpenter.requirements import IN, Labels, Requirement, Requirements
from berth.karpenter.resourcelists import NODES, ONE, allocatable, sum_resources
from berth.planner.inputs import KarpenterSettings, NodePool, PodSet, SchedulingInput, StateNode
from berth.planner.nodeclaims import NodeClaim
from berth.planner.nodeclaimtemplates import (
    LaunchChoice,
    PoolInstanceType,
    missing_min_values,
    pool_instance_types,
)
from berth.planner.scheduler import RemainingLimits

_EXOTIC = (
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "amd.com/gpu",
    "nvidia.com/gpu",
    "habana.ai/gaudi",
)
_RESERVATION_KINDS = ("default", "capacity-block")  # preferred first at equal prices


OfferedType = tuple[PoolInstanceType, list[Offering]]


def choose_launch(claim: NodeClaim, in_use: Mapping[str, int]) -> LaunchChoice | None:
    """Choose the instance type and the offering of a claim, or None if too few types are left for
    `min_values`.

    `in_use` counts the instances of each reservation that the counts of the offerings do not know about.
    """
    wanted, template = claim.final_requirements(), claim.template
    if template.filter_options(wanted).reserved:
        return _choose_launch(claim, wanted, in_use)
    key = (wanted, claim.candidates or ())
    if key not in template.launched:
        template.launched[key] = _choose_launch(claim, wanted, in_use)
    return template.launched[key]


def _choose_launch(claim: NodeClaim, wanted: Requirements, in_use: Mapping[str, int]) -> LaunchChoice | None:
    settings = claim.template.settings
    instance_types = order_by_price((c.instance_type for c in claim.candidates or ()), wanted, settings)[
        : settings.max_types
    ]
    if missing_min_values(wanted, instance_types):
        return None
    lots = _offered(instance_types, wanted, settings)
    possible = tuple(entry.name for entry, _ in lots)
    if wanted.get(CAPACITY_TYPE).allows(RESERVED):
        lots = _reserved_only(lots, in_use)
    if not wanted.min_values:
        lots = _without_expensive_spot(_generic(lots), wanted)
    lots = sorted(lots, key=lambda lot: min(offering.price for offering in lot[1]))
    lots = lots[: settings.max_launch_types]
    if missing_min_values(wanted, (entry for entry, _ in lots)):
        return None
    kind = _capacity_type(lots)
    offers = [(offering.price, entry, offering) for entry, some in lots for offering in some]
    cheapest = min((offer for offer in offers if offer[2].capacity_type == kind), key=lambda offer: offer[0])
    return LaunchChoice(cheapest[1], cheapest[2], possible)


def order_by_price(
    instance_types: Iterable[PoolInstanceType], wanted: Requirements, settings: KarpenterSettings
) -> list[PoolInstanceType]:
    """Sort types by their cheapest compatible offering, then by name."""

    def price(entry: PoolInstanceType) -> tuple[float, str]:
        left = [
            o.price for o, asked in entry.offerings if wanted.conflict(asked, settings.well_known) is None
        ]
        return min(left, default=float("inf")), entry.name

    return sorted(instance_types, key=price)


def _offered(
    instance_types: Iterable[PoolInstanceType], wanted: Requirements, settings: KarpenterSettings
) -> list[OfferedType]:
    known = settings.well_known
    lots = [
        (e, [o for o, asked in e.offerings if wanted.conflict(asked, known) is None]) for e in instance_types
    ]
    return [lot for lot in lots if lot[1]]


def _reserved_only(lots: list[OfferedType], in_use: Mapping[str, int]) -> list[OfferedType]:
    """Keep the reserved offerings of one kind of reservation, or everything if there are none.

    For each type and zone keep the reservation with most free instances; of Capacity Blocks keep a single
    one.
    """
    price: dict[str, float] = {}
    for _, offerings in lots:
        for one in offerings:
            if one.capacity_type == RESERVED:
                price[one.kind] = min(price.get(one.kind, one.price), one.price)
    if not price:
        return lots
    best = min(price, key=lambda kind: (price[kind], _RESERVATION_KINDS.index(kind)))
    lots = _filter_offerings(lots, lambda o: o.capacity_type == RESERVED and o.kind == best)
    if best == "capacity-block":
        entry, one = min(((e, o) for e, some in lots for o in some), key=lambda lot: lot[1].price)
        return [(entry, [one])]
    return [(entry, _most_available(offerings, in_use)) for entry, offerings in lots]


def _most_available(offerings: Sequence[Offering], in_use: Mapping[str, int]) -> list[Offering]:
    def free(one: Offering) -> int:
        return one.count - in_use.get(one.reservation, 0)

    zones = dict.fromkeys(offering.zone for offering in offerings)
    return [max((offering for offering in offerings if offering.zone == zone), key=free) for zone in zones]


def _generic(lots: list[OfferedType]) -> list[OfferedType]:
    """Leave out GPUs, accelerators and bare metal, unless nothing else is left."""
    return [lot for lot in lots if not _exotic(lot[0].type)] or lots


def _exotic(one: InstanceType) -> bool:
    sizes = next((own.values for own in one.requirements if own.key == INSTANCE_SIZE), frozenset[str]())
    return any("metal" in size for size in sizes) or any(dict(one.capacity).get(name, 0) for name in _EXOTIC)


def _without_expensive_spot(lots: list[OfferedType], wanted: Requirements) -> list[OfferedType]:
    """Leave out spot offerings that cost more than the cheapest on-demand one."""
    prices = [o.price for _, some in lots for o in some if o.capacity_type == ON_DEMAND]
    if not prices or not wanted.get(CAPACITY_TYPE).allows(SPOT):
        return lots
    return _filter_offerings(lots, lambda o: o.capacity_type != SPOT or o.price <= min(prices))


def _filter_offerings(lots: list[OfferedType], wanted: Callable[[Offering], bool]) -> list[OfferedType]:
    kept = [(entry, [offering for offering in offerings if wanted(offering)]) for entry, offerings in lots]
    return [lot for lot in kept if lot[1]]


def _capacity_type(lots: list[OfferedType]) -> str:
    offered = {one.capacity_type for _, some in lots for one in some}
    return next(kind for kind in (RESERVED, SPOT, ON_DEMAND) if kind in offered)


class ReservationUsage:
    """Count the instances of reservations in use: `taken` are those since the plan began."""

    def __init__(self, question: SchedulingInput) -> None:
        self._free = _free_by_reservation(question.pools, question.types)
        self.taken: dict[str, int] = {}

    def add(self, reservation: str) -> None:
        if reservation:
            self.taken[reservation] = self.taken.get(reservation, 0) + 1

    def free(self) -> dict[str, int]:
        return {name: count - self.taken.get(name, 0) for name, count in self._free.items()}

    def spent(self) -> frozenset[str]:
        return frozenset(name for name, taken in self.taken.items() if self._free[name] <= taken)


@lru_cache(maxsize=64)
def _free_by_reservation(pools: tuple[NodePool, ...], types: tuple[InstanceType, ...]) -> Mapping[str, int]:
    """Return the free instances of each reservation: the least that any pool knows."""
    counts: dict[str, int] = {}
    own = [pool_instance_types(pool, types) for pool in pools]
    for one in {one for some in (types, *own) for one in some}:
        for offering in one.offerings:
            if offering.capacity_type == RESERVED:
                known = counts.get(offering.reservation, offering.count)
                counts[offering.reservation] = min(known, offering.count)
    return counts


def remaining_limits(pools: Iterable[NodePool], nodes: Sequence[StateNode]) -> RemainingLimits:
    """Return what the nodes of each pool leave of its limits."""
    left = {pool.name: dict(pool.limits) for pool in pools}
    for node in nodes:
        mine = left.get(dict(node.labels).get(NODEPOOL, ""), {})
        for name, value in sum_resources(node.capacity, ((NODES, ONE),)).items():
            if name in mine:
                mine[name] -= value
    return left


def launched_node(
    claim: NodeClaim, bought: LaunchChoice, name: str, pods: tuple[PodSet, ...], well_known: frozenset[str]
) -> StateNode:
    """Return the node that a launched claim becomes, with its pods."""
    one = bought.instance_type.type
    return StateNode(
        name,
        tuple(allocatable(one.capacity, one.overhead).items()),
        one.capacity,
        launched_labels(claim, bought, well_known),
        claim.template.pool.taints,
        pods=pods,
        unknown=well_known - bought.instance_type.requirements.by_key.keys(),
    )


def launched_labels(claim: NodeClaim, bought: LaunchChoice, well_known: frozenset[str]) -> Labels:
    """Return the labels of that node: of its type and offering, and custom ones that the claim requires."""
    wanted, known = claim.final_requirements(), claim.template.labels
    key = (wanted, bought.instance_type, bought.offering)
    if key not in known:
        known[key] = _launched_labels(claim.template.pool, wanted, bought, well_known)
    return known[key]


def _launched_labels(
    pool: NodePool, wanted: Requirements, bought: LaunchChoice, well_known: frozenset[str]
) -> Labels:
    labels: dict[str, str] = {}
    for type_requirement in type_requirements(bought.instance_type.type):
        if type_requirement.operator == IN:
            labels[type_requirement.key] = _value_for(type_requirement, wanted)
    for offering_requirement in offering_requirements(bought.offering):
        if offering_requirement.operator == IN:
            labels[offering_requirement.key] = min(offering_requirement.values)
        else:
            labels.pop(offering_requirement.key, None)
    for one in wanted:
        if one.key not in well_known and one.key not in (REGISTERED, INITIALIZED):
            value = _any_value(one)
            labels.update({one.key: value} if value else {})
    labels.update((*pool.labels, (NODEPOOL, pool.name)))
    return tuple(sorted(labels.items()))


def _value_for(one: Requirement, wanted: Requirements) -> str:
    both = one.intersection(wanted.get(one.key)).values
    return min(both or one.values)


def _any_value(one: Requirement) -> str:
    """Return a value for a custom label; Karpenter chooses at random if several are allowed."""
    if one.operator == IN:
        return min(one.values)
    number = one.least or 0
    while one.complement and not one.allows(str(number)):
        number += 1
    return str(number) if one.complement else ""
