"""Size a window for people: how many seats, and how early, so that few people wait for a node.

The model is the deterministic queue of cumulative arrivals (G. F. Newell, Applications of Queueing Theory,
2nd edition, 1982, chapter 2). People arrive at the quantiles of a curve, and each takes the seat that is
ready first. A person who finds no reserved seat waits for a node that the autoscaler adds, which has room for
those who come next. Room that is left on the nodes of reserved seats is not counted. Where the number of
nodes is limited, those who come when all of them are full get no seat. How many of the invited people come is
binomial.

Pure. Times are in seconds, those of arrivals relative to the start of the window.
"""

from collections.abc import Sequence
from math import ceil, exp, inf, lgamma, log
from statistics import NormalDist
from typing import NamedTuple

AT_ONCE, UNIFORM, BELL, MEASURED = "at-once", "uniform", "bell", "measured"
SHAPES = (BELL, UNIFORM, AT_ONCE)
MOST_PEOPLE = 20_000
LEAD_STEP = 300  # leads are whole multiples of it
_SURE = 0.95  # of the days have at most as many people as `likely_most` says
_DEVIATIONS = 2.0  # of a bell on each side of its middle
_NORMAL = NormalDist()


class Arrivals(NamedTuple):
    """When people come. Half of those of a curve over `over` seconds come before the start."""

    shape: str  # one of SHAPES, or MEASURED
    over: int = 0
    measured: tuple[int, ...] = ()  # ascending

    def times(self, people: int) -> list[int]:
        """Return when each of so many people comes, in order."""
        return [round(self._at((number + 0.5) / people)) for number in range(people)]

    def _at(self, share: float) -> float:
        """Return by when this share of all people has come."""
        if self.shape == MEASURED:
            return _quantile(self.measured, share)
        if self.shape == UNIFORM:
            return (share - 0.5) * self.over
        if self.shape == AT_ONCE:
            return 0.0
        tail = _NORMAL.cdf(-_DEVIATIONS)
        return _NORMAL.inv_cdf(tail + share * (1 - 2 * tail)) / (2 * _DEVIATIONS) * self.over


def _quantile(values: Sequence[int], share: float) -> float:
    """Interpolate between the values on both sides."""
    place = min(max(share * len(values) - 0.5, 0.0), len(values) - 1.0)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


class Promise(NamedTuple):
    """At most this share of the people waits longer than `within` seconds."""

    within: int
    late: float

    def is_kept(self, waits: Sequence[float]) -> bool:
        return self.late_people(waits) <= self.late * len(waits)

    def late_people(self, waits: Sequence[float]) -> int:
        return sum(wait > self.within for wait in waits)


class NodeSupply(NamedTuple):
    """How long nodes take, how many seats one has, and how many all have."""

    window: int  # seconds from the opening until all seats of the window are ready
    single: int  # seconds from a session without a seat until its node is ready
    seats: int
    most: int = MOST_PEOPLE  # seats of all nodes that there can be


class Offer(NamedTuple):
    """What a window reserves: seats, and the seconds that it opens before its start."""

    seats: int
    lead: int


def expected_people(invited: int, show_up: float) -> int:
    """Return how many people come on average, rounded up."""
    return ceil(round(invited * show_up, 9))


def likely_most(invited: int, show_up: float) -> int:
    """Return how many people come at most on 95 of 100 days, if each comes or not by chance."""
    if not 0 < show_up < 1:
        return expected_people(invited, show_up)
    total = 0.0
    for number in range(invited + 1):
        ways = lgamma(invited + 1) - lgamma(number + 1) - lgamma(invited - number + 1)
        total += exp(ways + number * log(show_up) + (invited - number) * log(1 - show_up))
        if total >= _SURE:
            return number
    return invited


def waits(times: Sequence[int], offer: Offer, supply: NodeSupply) -> list[float]:
    """Return how long each person waits, and infinity without a seat; `times` are ascending."""
    ready = supply.window - offer.lead
    seated = times[: supply.most]
    found: list[float] = [max(0, min(ready - at, supply.single)) for at in seated[: offer.seats]]
    node_ready = free = 0
    for at in seated[offer.seats :]:
        if not free:
            node_ready, free = at + supply.single, supply.seats
        free -= 1
        found.append(max(0, node_ready - at))
    return found + [inf] * (len(times) - len(seated))


def cheapest(times: Sequence[int], supply: NodeSupply, promise: Promise) -> Offer:
    """Return few seats and then the shortest lead with which the promise is kept.

    Where the nodes are too few to keep it, as few people as possible wait longer than promised.
    """
    surest = safe(times, supply)
    fewest = promise.late_people(waits(times, surest, supply))

    def is_enough(offer: Offer) -> bool:
        found = waits(times, offer, supply)
        return promise.is_kept(found) or promise.late_people(found) <= fewest

    low, high = 0, surest.seats
    while low < high:
        middle = (low + high) // 2
        if is_enough(Offer(middle, surest.lead)):
            high = middle
        else:
            low = middle + 1
    leads = range(0, surest.lead + 1, LEAD_STEP)
    lead = next((lead for lead in leads if is_enough(Offer(high, lead))), surest.lead)
    return Offer(high, lead if high else 0)


def safe(times: Sequence[int], supply: NodeSupply) -> Offer:
    """Return a seat for everybody whom the nodes have room for, ready before the first comes."""
    return Offer(min(len(times), supply.most), _early(times, supply))


def _early(times: Sequence[int], supply: NodeSupply) -> int:
    """Return the shortest lead with which all seats are ready before the first person comes."""
    first = times[0] if times else 0
    return max(0, ceil((supply.window - first) / LEAD_STEP)) * LEAD_STEP
