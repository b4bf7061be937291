"""The picture of a plan: seats, machines and money over the term."""

from collections.abc import Sequence

from gen.chart.bars import Layer, Panel, svg
from gen.cost.clusterplans import ClusterPlan
from gen.cost.costplan import CostPlan, PlanFilter
from gen.cost.formatting import money_or_unknown, percent
from gen.cost.ledger import CAPACITY_TYPES
from gen.cost.results import Money
from gen.cost.timeseries import PlanSeries, plan_series
from gen.dates.moment import local_text, named


def picture(plan: CostPlan, some: Sequence[ClusterPlan], asked: PlanFilter, site: str, zone: str) -> str:
    """`site`: what stands above it."""
    found = plan_series(some, asked, (plan.since, plan.until), named(zone))
    idle = "; idle ones are reserved" if any(found.idle) else ""
    panels = [
        Panel(
            f"Most seats open at once, each {found.unit}", (Layer("seats", tuple(map(float, found.seats))),)
        ),
        Panel(f"Most machines at once, each {found.unit}{idle}", _machines(found)),
        Panel(f"US dollars for machines by the hour, each {found.unit}", _layers(found.money)),
    ]
    first, last = (local_text(at, named(zone))[4:14] for at in (plan.since, plan.until))
    return svg(f"{site}: seats, machines and money", f"{first} to {last}. {_sum(plan)}", panels, found.bins)


def _machines(found: PlanSeries) -> tuple[Layer, ...]:
    """What is reserved and idle stands upon what is reserved and used."""
    reserved, *others = _layers(found.machines)
    return reserved, Layer("idle", tuple(map(float, found.idle))), *others


def _layers(rows: Sequence[Sequence[float]]) -> tuple[Layer, ...]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(CAPACITY_TYPES)
    return tuple(
        Layer(name, tuple(map(float, values))) for name, values in zip(CAPACITY_TYPES, columns, strict=True)
    )


def _sum(plan: CostPlan) -> str:
    said = f"By the hour {money_or_unknown(plan.total.bought)} USD"
    if not plan.reserved:
        return said
    uses = [one.use for one in plan.reserved]
    idle = percent(sum(use.idle for use in uses), sum(use.paid for use in uses))
    paid = [use.money for use in uses]
    whole = [money for money in paid if money is not None]
    ahead = money_or_unknown(sum(whole, Money(0)) if len(whole) == len(paid) else None)
    return f"{said}; paid ahead {ahead} USD, {idle}% of it idle"
