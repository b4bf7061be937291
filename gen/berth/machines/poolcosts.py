"""What the machines of each pool cost from an instant on."""

from collections.abc import Iterable

from berth.checks.policychecks import PoolCost, PoolCosts
from berth.dates.moments import named
from berth.machines.clusterplans import ClusterPlan
from berth.machines.ledger import TimeRange, cost_lines, month_splitter, sum_by, sum_lines
from berth.machines.results import dollars


def pool_costs(plans: Iterable[ClusterPlan], zone: str, now: int) -> PoolCosts:
    """Return the cost of each planned pool, without what is paid in advance. `zone`: of the site."""
    months = month_splitter(named(zone))
    found = {}
    for plan in plans:
        sums = sum_by(cost_lines(plan, TimeRange(since=now), months), lambda line: line.key)
        for demand in plan.demands:
            one = sums.get(demand.key, sum_lines(()))
            found[demand.key] = PoolCost(dollars(one.priced), is_partial=bool(one.unpriced))
    return found
