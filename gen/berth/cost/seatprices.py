"""What a seat costs on average, by pool: the planned machines of all its windows, shared among its seats."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from berth.checks.ceilings import PoolLoad, levels
from berth.cost.clusterplans import plan_clusters
from berth.cost.ledger import TimeRange, cost_lines, month_splitter, sum_by
from berth.cost.results import Money, PoolKey
from berth.dates.moments import named
from berth.schema.declared import Declared
from berth.schema.values import Site


def seat_prices(
    declared: Declared, site: Site, pools: Mapping[str, Sequence[PoolLoad]]
) -> dict[PoolKey, Money]:
    """Return the dollars an hour of one seat of each pool, without pools of which a price is missing.

    `pools` are given by cluster. Machines that are paid ahead cost nothing here.
    """
    months = month_splitter(named(site.zone))
    lines = [
        line
        for one in plan_clusters(declared, site, pools)
        for line in cost_lines(one, 0, TimeRange(), months)
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
    changes: dict[int, int] = {}
    for minute, change in _pairs(steps):
        changes[minute] = changes.get(minute, 0) + change
    for since, until, count in levels(changes):
        yield 60 * (until - since) * count


def _pairs(steps: Sequence[int]) -> Iterable[tuple[int, int]]:
    return zip(steps[::2], steps[1::2], strict=True)
