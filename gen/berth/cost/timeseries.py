"""Seats, machines and money over the term, by day, week or month, for charts."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from berth.checks.ceilings import PoolLoad, levels, sum_changes
from berth.cost import ledger
from berth.cost.clusterplans import ClusterPlan
from berth.cost.costplan import PlanFilter, idle_reserved_at
from berth.cost.ledger import CAPACITY_TYPES, MonthSplitter, TimeRange, month_splitter
from berth.cost.results import MachineCounts, Money, dollars
from berth.dates.moments import local_day
from berth.dates.zone import DAY, Zone, day_of, resolve

_MAX_DAYS, _MAX_WEEKS = 31, 60


class PlanSeries(NamedTuple):
    """The series of a chart. `unit` is day, week or month; `bins` are their names in order.

    For each bin: the most seats at once, the machines at the first moment with the most of them, and its
    money, by capacity type. `idle` counts unused reserved machines at that moment; 0 if only some
    reservations are shown.
    """

    unit: str
    bins: tuple[str, ...]
    seats: tuple[int, ...]
    machines: tuple[tuple[int, ...], ...]
    idle: tuple[int, ...]
    money: tuple[tuple[float, ...], ...]  # what is bought by the hour; a missing price counts as 0


def plan_series(
    some: Sequence[ClusterPlan], asked: PlanFilter, term: tuple[int, int], zone: Zone
) -> PlanSeries:
    """Return the series. `term` is that of the plan."""
    unit, cut = _splitter(term, zone)
    names = [(name, first, end) for name, first, end in cut(*term)]
    some = [cluster_plan for cluster_plan in some if asked.cluster in (None, cluster_plan.cluster)]
    standing = [
        MachineCounts(
            interval
            for interval in cluster_plan.runs[0].intervals
            if any(asked.has(key) for key, _ in interval.payers)
        )
        for cluster_plan in some
    ]
    costs = {name: dict.fromkeys(CAPACITY_TYPES, 0.0) for name, _, _ in names}
    for cluster_plan in some:
        found = [
            line for line in ledger.cost_lines(cluster_plan, 0, TimeRange(*term), cut) if asked.has(line.key)
        ]
        for (name, kind), own in ledger.sum_by(found, lambda e: (e.month, e.kind.capacity_type)).items():
            costs[name][kind] += float(dollars(sum((money for _, money in own.money), Money(0))))
    return PlanSeries(
        unit,
        tuple(name for name, _, _ in names),
        tuple(_seats(some, asked, names)),
        tuple(_machines(standing, first, end) for _, first, end in names),
        tuple(_idle(some, standing, asked, first, end) for _, first, end in names),
        tuple(tuple(costs[name].values()) for name, _, _ in names),
    )


def _splitter(term: tuple[int, int], zone: Zone) -> tuple[str, MonthSplitter]:
    days = (term[1] - term[0]) // 86_400
    if days > 7 * _MAX_WEEKS:
        return "month", month_splitter(zone)
    weekly = days > _MAX_DAYS

    def cut(first: int, end: int) -> Iterator[tuple[str, int, int]]:
        while first < end:
            today = local_day(first, zone)
            begins = today - (today + 3) % 7 if weekly else today  # 1970-01-01 was a Thursday
            until = min(end, resolve(zone, (begins + (7 if weekly else 1)) * DAY))
            yield _name(day_of(begins * DAY)), first, until
            first = until

    return ("week" if weekly else "day"), cut


def _name(day: date) -> str:
    return f"{day:%m-%d}"


def _seats(
    some: Sequence[ClusterPlan], asked: PlanFilter, names: Sequence[tuple[str, int, int]]
) -> Iterator[int]:
    pools = [
        PoolLoad(*demand.key, demand.steps, demand.unit)
        for cluster_plan in some
        for demand in cluster_plan.demands
        if asked.has(demand.key)
    ]
    steps = list(levels(sum_changes(pools, {pool.resource_class: 1 for pool in pools}))) if pools else []
    for _, first, end in names:
        here = (total for since, until, total in steps if since * 60 < end and until * 60 > first)
        yield max(here, default=0)


def _machines(standing: Sequence[MachineCounts], first: int, end: int) -> tuple[int, ...]:
    counts = dict.fromkeys(CAPACITY_TYPES, 0)
    for machine_counts in standing:
        _, at = machine_counts.most(first, end)
        for kind, number in machine_counts.at(at).items():
            counts[kind.capacity_type] += number
    return tuple(counts.values())


def _idle(
    some: Sequence[ClusterPlan], standing: Sequence[MachineCounts], asked: PlanFilter, first: int, end: int
) -> int:
    if asked.names or asked.resource_class:
        return 0
    pairs = zip(some, standing, strict=True)
    return sum(
        idle_reserved_at(cluster_plan, machines, machines.most(first, end)[1])
        for cluster_plan, machines in pairs
    )
