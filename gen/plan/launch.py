"""Which of the types of a claim the AWS provider buys, and how it pays for it.

Reserved before spot before on-demand; of these the cheapest. What EC2 itself decides (which of equally cheap
ones, how much spot there is) is taken in the order given.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gen.plan.claim import Claim
from gen.plan.labels import CAPACITY_TYPE, INSTANCE_SIZE, ON_DEMAND, RESERVED, SPOT
from gen.plan.market import Bought, Entry, enough_values
from gen.plan.requirement import Requirements
from gen.plan.values import InstanceType, Offering, Settings

_EXOTIC = (
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "amd.com/gpu",
    "nvidia.com/gpu",
    "habana.ai/gaudi",
)
_KINDS = (("default", False), ("capacity-block", False), ("default", True))
"""Kinds of reservations (with: interruptible), of equally cheap ones the first."""


Lot = tuple[Entry, list[Offering]]


def buy(claim: Claim, in_use: Mapping[str, int]) -> Bought | None:
    """None where the types left are too few for `min_values`. `in_use`: machines of each reservation, beyond
    those that the offerings' counts have left out.
    """
    wanted, template = claim.final(), claim.template
    if template.narrow(wanted).reserved:
        return _buy(claim, wanted, in_use)
    key = (wanted, claim.candidates or ())
    if key not in template.launched:
        template.launched[key] = _buy(claim, wanted, in_use)
    return template.launched[key]


def _buy(claim: Claim, wanted: Requirements, in_use: Mapping[str, int]) -> Bought | None:
    settings = claim.template.settings
    entries = by_price((c.entry for c in claim.candidates or ()), wanted, settings)[: settings.most_types]
    if not enough_values(wanted, entries, settings):
        return None
    lots = _offered(entries, wanted, settings)
    possible = tuple(entry.name for entry, _ in lots)
    if wanted.get(CAPACITY_TYPE).allows(RESERVED):
        lots = _reserved(lots, in_use)
    if not wanted.min_values:
        lots = _without_dear_spot(_plain(lots), wanted)
    lots = sorted(lots, key=lambda lot: min(offering.price for offering in lot[1]))
    lots = lots[: settings.most_launch_types]
    if not enough_values(wanted, (entry for entry, _ in lots), settings):
        return None
    kind = _capacity_type(lots)
    offers = [(offering.price, entry, offering) for entry, some in lots for offering in some]
    cheapest = min((one for one in offers if one[2].capacity_type == kind), key=lambda one: one[0])
    return Bought(cheapest[1], cheapest[2], possible)


def by_price(entries: Iterable[Entry], wanted: Requirements, settings: Settings) -> list[Entry]:
    """By the cheapest offering that is left; equal ones by name."""

    def price(entry: Entry) -> tuple[float, str]:
        left = [o.price for o, asked, _ in entry.offers if wanted.clash(asked, settings.well_known) is None]
        return min(left, default=float("inf")), entry.name

    return sorted(entries, key=price)


def _offered(entries: Iterable[Entry], wanted: Requirements, settings: Settings) -> list[Lot]:
    known = settings.well_known
    lots = [(e, [o for o, asked, _ in e.offers if wanted.clash(asked, known) is None]) for e in entries]
    return [lot for lot in lots if lot[1]]


def _reserved(lots: list[Lot], in_use: Mapping[str, int]) -> list[Lot]:
    """Of one kind of reservation only, and of each type and zone the one with most free machines; one alone
    of capacity blocks. Without any reservation, as it was.
    """
    price: dict[tuple[str, bool], float] = {}
    for _, offerings in lots:
        for one in offerings:
            if one.capacity_type == RESERVED:
                kind = (one.kind, one.interruptible)
                price[kind] = min(price.get(kind, one.price), one.price)
    if not price:
        return lots
    best = min(price, key=lambda kind: (price[kind], _KINDS.index(kind)))
    lots = _only(lots, lambda o: o.capacity_type == RESERVED and (o.kind, o.interruptible) == best)
    if best[0] == "capacity-block":
        entry, one = min(((e, o) for e, some in lots for o in some), key=lambda lot: lot[1].price)
        return [(entry, [one])]
    return [(entry, _fullest(offerings, in_use)) for entry, offerings in lots]


def _fullest(offerings: Sequence[Offering], in_use: Mapping[str, int]) -> list[Offering]:
    def free(one: Offering) -> int:
        return one.count - in_use.get(one.reservation, 0)

    zones = dict.fromkeys(one.zone for one in offerings)
    return [max((one for one in offerings if one.zone == zone), key=free) for zone in zones]


def _plain(lots: list[Lot]) -> list[Lot]:
    """Without GPUs, accelerators and bare metal, unless nothing else is left."""
    return [lot for lot in lots if not _exotic(lot[0].type)] or lots


def _exotic(one: InstanceType) -> bool:
    sizes = next((own.values for own in one.requirements if own.key == INSTANCE_SIZE), frozenset[str]())
    return any("metal" in size for size in sizes) or any(dict(one.capacity).get(name, 0) for name in _EXOTIC)


def _without_dear_spot(lots: list[Lot], wanted: Requirements) -> list[Lot]:
    """Spot that costs more than the cheapest on-demand is no bargain."""
    prices = [o.price for _, some in lots for o in some if o.capacity_type == ON_DEMAND]
    if not prices or not wanted.get(CAPACITY_TYPE).allows(SPOT):
        return lots
    return _only(lots, lambda o: o.capacity_type != SPOT or o.price <= min(prices))


def _only(lots: list[Lot], wanted: Callable[[Offering], bool]) -> list[Lot]:
    kept = [(entry, [one for one in offerings if wanted(one)]) for entry, offerings in lots]
    return [lot for lot in kept if lot[1]]


def _capacity_type(lots: list[Lot]) -> str:
    offered = {one.capacity_type for _, some in lots for one in some}
    return next(kind for kind in (RESERVED, SPOT, ON_DEMAND) if kind in offered)
