"""The picture of a plan: seats, machines and money over the term."""

from collections.abc import Sequence

from gen.chart.barchart import BarLayer, BarPanel, bar_chart
from gen.cost.clusters import Planned
from gen.cost.dates import Asked
from gen.cost.ledger import CAPACITY_TYPES
from gen.cost.overtime import OverTime, over_time
from gen.cost.plan import Plan
from gen.cost.values import Money
from gen.cost.words import known, share
from gen.dates.moment import local_text, named


def picture(plan: Plan, some: Sequence[Planned], asked: Asked, site: str, zone: str) -> str:
    """`site`: what stands above it."""
    found = over_time(some, asked, (plan.since, plan.until), named(zone))
    idle = "; idle ones are reserved" if any(found.idle) else ""
    panels = [
        BarPanel(
            f"Most seats open at once, each {found.unit}",
            (BarLayer("seats", tuple(map(float, found.seats))),),
        ),
        BarPanel(f"Most machines at once, each {found.unit}{idle}", _machines(found)),
        BarPanel(f"US dollars for machines by the hour, each {found.unit}", _layers(found.money)),
    ]
    first, last = (local_text(at, named(zone))[4:14] for at in (plan.since, plan.until))
    return bar_chart(
        f"{site}: seats, machines and money", f"{first} to {last}. {_sum(plan)}", panels, found.bins
    )


def _machines(found: OverTime) -> tuple[BarLayer, ...]:
    """What is reserved and idle stands upon what is reserved and used."""
    reserved, *others = _layers(found.machines)
    return reserved, BarLayer("idle", tuple(map(float, found.idle))), *others


def _layers(rows: Sequence[Sequence[float]]) -> tuple[BarLayer, ...]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(CAPACITY_TYPES)
    return tuple(
        BarLayer(name, tuple(map(float, values)))
        for name, values in zip(CAPACITY_TYPES, columns, strict=True)
    )


def _sum(plan: Plan) -> str:
    said = f"By the hour {known(plan.total.bought)} USD"
    if not plan.reserved:
        return said
    uses = [one.use for one in plan.reserved]
    idle = share(sum(use.idle for use in uses), sum(use.paid for use in uses))
    paid = [use.money for use in uses]
    whole = [money for money in paid if money is not None]
    ahead = known(sum(whole, Money(0)) if len(whole) == len(paid) else None)
    return f"{said}; paid ahead {ahead} USD, {idle}% of it idle"
