"""Size a window for people: how many seats, and how early, so that few people wait for a node.

The model is the deterministic queue of cumulative arrivals (G. F. Newell, Applications of Queueing Theory,
2nd edition, 1982, chapter 2). People arrive at the quantiles of a bell, and each takes the seat that is
ready first. A person who finds no reserved seat waits for a node that the autoscaler adds, which has room for
those who come next. Room that is left on the nodes of reserved seats is not counted. Where the number of
nodes is limited, those who come when all of them are full get no seat.

Pure. Times are in seconds, those of arrivals relative to the start of the window.
"""

from collections.abc import Sequence
from math import ceil, inf
from statistics import NormalDist
from typing import NamedTuple

from berth.checks.ceilings import PoolLoad
from berth.dates.expansion import Occurrence
from berth.machines.clusterplans import ClusterPlan, plan_clusters
from berth.machines.costplan import cost_lines, lead_seconds, sum_lines
from berth.machines.overtime import CountedKinds, Money, Shortfall
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site

MOST_PEOPLE = 20_000
LEAD_STEP = 300  # leads are whole multiples of it
LATE_PERCENT = 5  # of the people may wait longer than promised
GIVEN_UP = 900  # seconds after which cluster-autoscaler and Karpenter give up on a node that is not there
_DEVIATIONS = 2.0  # of the bell on each side of its middle
_NORMAL = NormalDist()


class SizeQuestion(NamedTuple):
    """How many people are invited, and how long one may wait. All come within `over` around the start."""

    invited: int
    show_up: float = 1.0
    within: int = 120
    over: int = 1200

    @property
    def people(self) -> int:
        """How many come on average, rounded up."""
        return ceil(round(self.invited * self.show_up, 9))

    def times(self) -> list[int]:
        """Return when each person comes, in order."""
        tail = _NORMAL.cdf(-_DEVIATIONS)
        shares = (tail + (number + 0.5) / self.people * (1 - 2 * tail) for number in range(self.people))
        return [round(_NORMAL.inv_cdf(share) / (2 * _DEVIATIONS) * self.over) for share in shares]

    def late(self, waits: Sequence[float]) -> int:
        """Return how many people wait longer than promised, also in vain."""
        return sum(wait > self.within for wait in waits)


class NodeSupply(NamedTuple):
    """How long nodes take, how many seats one has, and how many all have."""

    window: int  # seconds from the opening until all seats of the window are ready
    single: int  # seconds from a session without a seat until its node is ready
    seats: int
    most: int = MOST_PEOPLE  # seats of all nodes that there can be


_UNKNOWN_NODES = NodeSupply(GIVEN_UP, GIVEN_UP, 1)


class Offer(NamedTuple):
    """What a window reserves: seats, and the seconds that it opens before its start."""

    seats: int
    lead: int


class SizedPool(NamedTuple):
    """The seats of one class in one occurrence. `unplanned`: why its machines are not known, if so."""

    reservation: Reservation
    resource_class: str
    cluster: str
    occurrence: Occurrence
    unplanned: str = ""

    @property
    def today(self) -> Offer:
        """What the reservation says now."""
        (opening,) = (
            occurrence
            for occurrence in self.occurrence.openings()
            if self.resource_class in dict(occurrence.seats)
        )
        return Offer(dict(opening.seats)[self.resource_class], opening.start - opening.open)


class Sizing(NamedTuple):
    """What to reserve.

    `machines` are those of the reserved seats; the cost is that of one date, with the nodes of all people.
    """

    offer: Offer
    supply: NodeSupply
    late: int  # people who wait longer than promised, also in vain
    late_today: int  # the same with what the reservation says now
    missing: Shortfall | None = None  # people for whom there is no node
    machines: CountedKinds = ()
    cost: Money | None = None

    @property
    def unserved(self) -> int:
        """How many people never get a seat."""
        return self.missing.count if self.missing else 0


def sized(declared: Declared, site: Site, pool: SizedPool, question: SizeQuestion) -> Sizing:
    """Return what to reserve in a pool. Without described nodes, there are no machines and no cost."""
    times = question.times()
    if pool.unplanned:
        offer, late, late_today = _answer(times, _UNKNOWN_NODES, question, pool)
        return Sizing(offer, _UNKNOWN_NODES, late, late_today)
    planner = _Planner(declared._replace(reservations=(pool.reservation,)), site, pool)
    supply, missing = planner.supply(len(times))
    offer, late, late_today = _answer(times, supply, question, pool)
    return Sizing(offer, supply, late, late_today, missing, *planner.machines(offer, len(times)))


def _answer(
    times: Sequence[int], supply: NodeSupply, question: SizeQuestion, pool: SizedPool
) -> tuple[Offer, int, int]:
    offer = recommended(times, supply, question)
    late, late_today = (question.late(waits(times, each, supply)) for each in (offer, pool.today))
    return offer, late, late_today


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


def recommended(times: Sequence[int], supply: NodeSupply, question: SizeQuestion) -> Offer:
    """Return few seats and then the shortest lead with which few people wait longer than promised.

    Where the nodes are too few for that, as few people as possible wait longer.
    """
    longest = max(0, ceil((supply.window - times[0]) / LEAD_STEP)) * LEAD_STEP  # all are ready for the first
    everybody = Offer(min(len(times), supply.most), longest)
    enough = max(LATE_PERCENT / 100 * len(times), question.late(waits(times, everybody, supply)))

    def is_enough(offer: Offer) -> bool:
        return question.late(waits(times, offer, supply)) <= enough

    low, high = 0, everybody.seats
    while low < high:
        middle = (low + high) // 2
        if is_enough(Offer(middle, longest)):
            high = middle
        else:
            low = middle + 1
    leads = range(0, longest if high else 0, LEAD_STEP)
    return Offer(high, next((lead for lead in leads if is_enough(Offer(high, lead))), leads.stop))


class _Planner:
    """Plan the nodes of one window alone in its cluster."""

    def __init__(self, declared: Declared, site: Site, pool: SizedPool) -> None:
        self._declared, self._site, self._pool = declared, site, pool

    def supply(self, people: int) -> tuple[NodeSupply, Shortfall | None]:
        """Return how nodes come if all people get a seat at once, and what is missing."""
        plan = self._plan([(self._pool.occurrence.open, people)])
        run, demand = plan.run, plan.demands[0]
        clouds = [plan.catalog.clouds[name] for name in demand.clouds]
        step = run.steps[0]
        placed = run.placements.get(demand.key, [(0, ())])[0][1]
        missing = dict(step.shortfalls).get(demand.key)
        return (
            NodeSupply(
                lead_seconds(clouds, max(step.loops, 1)),
                lead_seconds(clouds, 1),
                max((count for _, count in placed), default=1),
                people - missing.count if missing else MOST_PEOPLE,
            ),
            missing,
        )

    def machines(self, offer: Offer, people: int) -> tuple[CountedKinds, Money | None]:
        """Return the machines of the reserved seats, and the cost of the window with those of all people."""
        start = self._pool.occurrence.start
        plan = self._plan([(start - offer.lead, offer.seats), (start, max(0, people - offer.seats))])
        opened = (start - offer.lead) // 60 * 60
        found = plan.run.machines_of([one.key for one in plan.demands], opened) if offer.seats else ()
        return found, sum_lines(cost_lines(plan)).bought

    def _plan(self, rises: Sequence[tuple[int, int]]) -> ClusterPlan:
        pool = self._pool
        changes: dict[int, int] = {}
        for at, count in rises:
            changes[at // 60] = changes.get(at // 60, 0) + count
        end = pool.occurrence.end // 60
        changes[end] = changes.get(end, 0) - sum(count for _, count in rises)
        steps = [number for minute in sorted(changes) for number in (minute, changes[minute])]
        load = PoolLoad(pool.reservation.name, pool.resource_class, steps, Unit.SEAT)
        plans = plan_clusters(self._declared, self._site, {pool.cluster: [load]})
        return next(plan for plan in plans if plan.cluster == pool.cluster)
