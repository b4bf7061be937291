"""Compare machines and costs before and after a change."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from berth.cost.clusterplans import ClusterPlan, plan_clusters, unplanned_items
from berth.cost.costplan import CostPlan, MachinePeak, MonthPlan, PlanFilter, cost_plan
from berth.cost.ledger import ReservedUsage, month_splitter
from berth.cost.planfindings import plan_problems
from berth.dates.moments import named
from berth.diff.change import IdleChange, MachinesChange, MonthChange
from berth.diff.peaks import Held
from berth.findings import Problem
from berth.schema.declared import Declared
from berth.schema.values import Site

# What a change means for machines and money, before and after. Pure. A budget is held against the head as a
# whole, whoever made it dear: as ceilings are.

_NOTHING = Decimal(0)


class Side(NamedTuple):
    declared: Declared
    site: Site
    held: Held


class PlanChanges(NamedTuple):
    """Those that differ, and what is wrong with the plan of the head."""

    machines: tuple[MachinesChange, ...]
    months: tuple[MonthChange, ...]
    idle: tuple[IdleChange, ...]
    problems: tuple[Problem, ...]


def plan_changes(before: Side | None, after: Side, now: int) -> PlanChanges | None:
    """None where neither side has a CloudCapacity."""
    sides = [side for side in (before, after) if side is not None]
    if not any(side.declared.clouds for side in sides):
        return None
    some, new = _plan(after)
    old = _plan(before)[1] if before is not None else None
    found = plan_problems(some, new.months, after.declared, after.site, now)
    return PlanChanges(
        tuple(_machines(old, new)),
        tuple(_months(old, new, after.site)),
        tuple(_idle(old, new)),
        tuple(found),
    )


def _plan(side: Side) -> tuple[list[ClusterPlan], CostPlan]:
    pools = {one.name: side.held.pools(one.name) for one in side.site.clusters}
    some = plan_clusters(side.declared, side.site, pools)
    months = month_splitter(named(side.site.zone))
    return some, cost_plan(some, (), unplanned_items(side.declared), PlanFilter(), months)


def _machines(old: CostPlan | None, new: CostPlan) -> Iterable[MachinesChange]:
    peaks: list[Mapping[str, MachinePeak]] = [
        {one.cluster: one for one in side.peaks} if side else {} for side in (old, new)
    ]
    for cluster in dict.fromkeys((*peaks[1], *peaks[0])):
        before, after = (side.get(cluster) for side in peaks)
        counts = [_band(one) for one in (before, after)]
        machines = after.machines if after else ()
        if counts[0] != counts[1] or (before.machines if before else ()) != machines:
            yield MachinesChange(cluster, counts[0], counts[1], after.at if after else None, machines)


def _band(one: MachinePeak | None) -> tuple[int, int]:
    return (one.least, one.most) if one else (0, 0)


def _months(old: CostPlan | None, new: CostPlan, site: Site) -> Iterable[MonthChange]:
    months: list[Mapping[str, MonthPlan]] = [
        {one.month: one for one in side.months} if side else {} for side in (old, new)
    ]
    for month in sorted({*months[0], *months[1]}):
        before, after = (side.get(month) for side in months)
        sums = [one.sum.bought if one else _NOTHING for one in (before, after)]
        hours = [one.sum.all_seconds if one else 0 for one in (before, after)]
        if sums[0] != sums[1] or hours[0] != hours[1]:
            yield MonthChange(month, (sums[0], sums[1]), (hours[0], hours[1]), site.budget)


def _idle(old: CostPlan | None, new: CostPlan) -> Iterable[IdleChange]:
    uses: list[Mapping[tuple[str, str], ReservedUsage]] = [
        {(one.reserved.key, one.cluster): one.use for one in side.reserved} if side else {}
        for side in (old, new)
    ]
    for key, cluster in sorted({*uses[0], *uses[1]}):
        before, after = (side.get((key, cluster), ReservedUsage(0, 0, None)) for side in uses)
        if before != after:
            yield IdleChange(key, cluster, before, after)
