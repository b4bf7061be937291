"""What the machines of each pool cost from an instant on, and what a seat of it costs on average."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from berth.checks.ceilings import PoolLoad, add_steps, levels
from berth.checks.policychecks import PoolCost, PoolCosts
from berth.dates.moments import named
from berth.machines.clusterplans import ClusterPlan, plan_clusters
from berth.machines.ledger import TimeRange, cost_lines, month_splitter, sum_by, sum_lines
from berth.machines.results import Money, PoolKey, dollars
from berth.schema.declared import Declared
from berth.schema.values import Site


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


def seat_prices(
    declared: Declared, site: Site, pools: Mapping[str, Sequence[PoolLoad]]
) -> dict[PoolKey, Money]:
    """Return the dollars an hour of one seat of each pool, without pools of which a price is missing.

    `pools` are given by cluster. Machines that are paid ahead cost nothing here.
    """
    months = month_splitter(named(site.zone))
    lines = [
        line
        for plan_cluster in plan_clusters(declared, site, pools)
        for line in cost_lines(plan_cluster, TimeRange(), months)
    ]
    seconds = {
        (pool.reservation, pool.resource_class): sum(_held(pool.steps))
        for own in pools.values()
        for pool in own
    }
    money = {key: own.bought for key, own in sum_by(lines, lambda line: line.key).items()}
    return {key: paid / seconds[key] for key, paid in money.items() if paid is not None and seconds.get(key)}


def _held(steps: Sequence[int]) -> Iterator[int]:
    """Yield the seat-seconds between the changes of a pool."""
    for since, until, count in levels(add_steps([steps])):
        yield 60 * (until - since) * count
