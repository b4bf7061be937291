"""Compare machines and costs before and after a change.

Budgets and limits are checked against the whole plan of a side, as ceilings are, not only against what the
change adds.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from berth.checks.policychecks import PoolCosts
from berth.dates.moments import named
from berth.diff.change import MachinesChange, MonthChange, PlanChange, ReservedUsageChange
from berth.diff.peaks import PoolLoads
from berth.findings import Problem
from berth.machines.clusterplans import plan_clusters, unplanned_items
from berth.machines.costplan import (
    CostPlan,
    MachinePeak,
    MonthPlan,
    PlanFilter,
    ReservedUsage,
    cost_plan,
    month_splitter,
    pool_costs,
)
from berth.machines.planfindings import plan_problems
from berth.schema.declared import Declared
from berth.schema.values import Site

_NOTHING = Decimal(0)


class PlanInput(NamedTuple):
    """What the plan of one side is computed from."""

    declared: Declared
    site: Site
    loads: PoolLoads


def compare_plans(
    before: PlanInput | None, after: PlanInput, judged: PlanInput, now: int, *, with_costs: bool = False
) -> tuple[PlanChange, tuple[Sequence[Problem], Sequence[Problem]], PoolCosts] | None:
    """Return what differs, the problems of both plans, and costs; None if neither side has a CloudCapacity.

    `judged`: the later side with the prices by which its money is judged. The costs are those of the later
    plan, and of pools that only the earlier one has, if asked for.
    """
    sides = [side for side in (before, after) if side is not None]
    if not any(side.declared.knows_nodes for side in sides):
        return None
    new, problems, costs = _plan(after, now, with_costs)
    if judged.declared != after.declared:
        _, problems, costs = _plan(judged, now, with_costs)
    old, known, old_costs = _plan(before, now, with_costs) if before is not None else (None, (), {})
    machines, months = _compare_machines(old, new), _compare_months(old, new, after.site)
    plan = PlanChange(tuple(machines), tuple(months), tuple(_compare_reserved(old, new)), ())
    return plan, (known, problems), {**old_costs, **costs}


def _plan(side: PlanInput, now: int, with_costs: bool) -> tuple[CostPlan, tuple[Problem, ...], PoolCosts]:
    """Return the plan of one side, its problems, and what pools cost from now on."""
    pools = {cluster.name: side.loads.pools(cluster.name) for cluster in side.site.clusters}
    clusters = plan_clusters(side.declared, side.site, pools)
    months = month_splitter(named(side.site.zone))
    every = PlanFilter()
    plan = cost_plan(clusters, (), unplanned_items(side.declared, side.site, every.has), every, months)
    problems = tuple(plan_problems(clusters, plan.months, side.declared, side.site, now))
    return plan, problems, pool_costs(clusters, now) if with_costs else {}


def _compare_machines(old: CostPlan | None, new: CostPlan) -> Iterable[MachinesChange]:
    peaks: list[Mapping[str, MachinePeak]] = [
        {peak.cluster: peak for peak in side.peaks} if side else {} for side in (old, new)
    ]
    for cluster in dict.fromkeys((*peaks[1], *peaks[0])):
        before, after = (side.get(cluster) for side in peaks)
        counts = [_total(one) for one in (before, after)]
        machines = after.machines if after else ()
        if counts[0] != counts[1] or (before.machines if before else ()) != machines:
            yield MachinesChange(cluster, counts[0], counts[1], after.at if after else None, machines)


def _total(peak: MachinePeak | None) -> int:
    return sum(count for _, count in peak.machines) if peak else 0


def _compare_months(old: CostPlan | None, new: CostPlan, site: Site) -> Iterable[MonthChange]:
    months: list[Mapping[str, MonthPlan]] = [
        {one.month: one for one in side.months} if side else {} for side in (old, new)
    ]
    for month in sorted({*months[0], *months[1]}):
        before, after = (side.get(month) for side in months)
        sums = [one.sum.bought if one else _NOTHING for one in (before, after)]
        hours = [one.sum.all_seconds if one else 0 for one in (before, after)]
        if sums[0] != sums[1] or hours[0] != hours[1]:
            yield MonthChange(month, (sums[0], sums[1]), (hours[0], hours[1]), site.diff.budget)


def _compare_reserved(old: CostPlan | None, new: CostPlan) -> Iterable[ReservedUsageChange]:
    uses: list[Mapping[tuple[str, str], ReservedUsage]] = [
        {(one.reserved.key, one.cluster): one.use for one in side.reserved} if side else {}
        for side in (old, new)
    ]
    for key, cluster in sorted({*uses[0], *uses[1]}):
        before, after = (side.get((key, cluster), ReservedUsage(0, 0, None)) for side in uses)
        if before != after:
            yield ReservedUsageChange(key, cluster, before, after)
