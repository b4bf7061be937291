"""Choices of a size for one occurrence: seats and lead, the nodes they need, who waits, and what it costs."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from berth.checks.ceilings import PoolLoad
from berth.cost import sizing
from berth.cost.sizing import Arrivals, NodeSupply, Offer, Promise
from berth.dates.expansion import Occurrence
from berth.dates.moments import named
from berth.machines.clusterplans import ClusterPlan, plan_clusters
from berth.machines.costplan import PlanFilter, cost_plan, lead_seconds
from berth.machines.ledger import month_splitter
from berth.machines.results import CountedKinds, MachineKind, Money, Shortfall, sorted_counts
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Site

CHEAPEST, SAFE, TODAY = "cheapest", "safe", "today"
GIVEN_UP = 900  # seconds after which cluster-autoscaler and Karpenter give up on a node that is not there
_UNKNOWN_NODES = NodeSupply(GIVEN_UP, GIVEN_UP, 1)


class SizeQuestion(NamedTuple):
    """For how many people, and what they are promised."""

    invited: int
    show_up: float
    arrivals: Arrivals
    promise: Promise


class SizedPool(NamedTuple):
    """The seats of one class in one occurrence. `unplanned`: why its machines are not known, if so."""

    reservation: Reservation
    resource_class: str
    cluster: str
    occurrence: Occurrence
    unplanned: str = ""

    @property
    def has_nodes(self) -> bool:
        return not self.unplanned

    @property
    def today(self) -> Offer:
        """What the reservation says now."""
        (opening,) = (
            occurrence
            for occurrence in self.occurrence.openings()
            if self.resource_class in dict(occurrence.seats)
        )
        return Offer(dict(opening.seats)[self.resource_class], opening.start - opening.open)


class Choice(NamedTuple):
    """One way to reserve, for so many people who come.

    `machines` are those of the reserved seats; the cost is that of one date, with the nodes of all people.
    """

    name: str
    offer: Offer
    people: int
    late: int  # people who wait longer than promised, also in vain
    unserved: int  # people who never get a seat
    longest: int  # wait of the others, in seconds
    ready: int  # when all reserved seats that have a node are ready, in seconds from the start
    machines: CountedKinds
    cost: Money | None


class Sizing(NamedTuple):
    """The answer: choices, and what they are computed from."""

    choices: tuple[Choice, ...]
    supply: NodeSupply
    missing: Shortfall | None  # seats for which there is no node

    def choice(self, name: str) -> Choice:
        return next(choice for choice in self.choices if choice.name == name)

    def without(self, name: str) -> "Sizing":
        return self._replace(choices=tuple(choice for choice in self.choices if choice.name != name))


def sized(declared: Declared, site: Site, pool: SizedPool, question: SizeQuestion) -> Sizing:
    """Return the choices for a pool. Without described nodes, they have no machines and no cost."""
    expected = question.arrivals.times(sizing.expected_people(question.invited, question.show_up))
    most = question.arrivals.times(sizing.likely_most(question.invited, question.show_up))
    planner = None
    if pool.has_nodes:
        planner = _Planner(declared._replace(reservations=(pool.reservation,)), site, pool)
    supply, missing = planner.supply(len(most)) if planner else (_UNKNOWN_NODES, None)
    offers = [
        (CHEAPEST, sizing.cheapest(expected, supply, question.promise), expected),
        (SAFE, sizing.safe(most, supply), most),
        (TODAY, pool.today, expected),
    ]
    choices = []
    for name, offer, times in offers:
        waits = sizing.waits(times, offer, supply)
        machines, cost = planner.machines(offer, len(times)) if planner else ((), None)
        served = [int(wait) for wait in waits if wait != inf]
        late, ready = question.promise.late_people(waits), supply.window - offer.lead
        counts = len(times), late, len(waits) - len(served), max(served, default=0)
        choices.append(Choice(name, offer, *counts, ready, machines, cost))
    return Sizing(tuple(choices), supply, missing)


class _Planner:
    """Plan the nodes of one window alone in its cluster."""

    def __init__(self, declared: Declared, site: Site, pool: SizedPool) -> None:
        self._declared, self._site, self._pool = declared, site, pool

    def supply(self, people: int) -> tuple[NodeSupply, Shortfall | None]:
        """Return how nodes come if all people get a seat at once, and what is missing."""
        pool = self._pool
        plan = self._plan([(pool.occurrence.open, people)])
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
                people - missing.count if missing else sizing.MOST_PEOPLE,
            ),
            missing,
        )

    def machines(self, offer: Offer, people: int) -> tuple[CountedKinds, Money | None]:
        """Return the machines of the reserved seats, and the cost of the window with those of all people."""
        start = self._pool.occurrence.start
        plan = self._plan([(start - offer.lead, offer.seats), (start, max(0, people - offer.seats))])
        found: dict[MachineKind, int] = {}
        run = plan.run
        first = run.placements.get(plan.demands[0].key, []) if plan.demands else []
        if offer.seats and first:
            for number, _ in first[0][1]:
                kind = run.kinds[number]
                found[kind] = found.get(kind, 0) + 1
        months = month_splitter(named(self._site.zone))
        total = cost_plan([plan], (), (), PlanFilter(), months).total
        return sorted_counts(found), total.bought

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
