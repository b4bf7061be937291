"""Compare machines and costs before and after a change, and describe what differs.

Budgets and limits are checked against the whole plan of a side, as ceilings are. Nobody raises a budget or
lowers a price and uses that in one change: the smaller budget counts, and the higher price of base and head.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from berth.checks.policychecks import PoolCosts
from berth.dates.moments import hours_text, local_text, named
from berth.diff.change import MachinesChange, MonthChange, PlanChange, ReservedUsageChange
from berth.diff.peaks import SideLoads
from berth.diff.wording import DiffLine
from berth.findings import Problem
from berth.machines.clusterplans import plan_clusters, unplanned_items
from berth.machines.costplan import (
    CostPlan,
    MachinePeak,
    MonthPlan,
    PlanFilter,
    ReservedPlan,
    ReservedUsage,
    cost_plan,
    month_splitter,
    pool_costs,
)
from berth.machines.formatting import (
    USAGE,
    machines_json,
    machines_text,
    money_json,
    money_or_unknown,
    money_text,
    percent,
)
from berth.machines.instancetypes import ec2_types
from berth.machines.nodelabels import ON_DEMAND, SPOT
from berth.machines.overtime import Money
from berth.machines.planfindings import plan_problems
from berth.output import findinglist
from berth.output.answers import Answer, hours_json, instant_json
from berth.output.columns import as_object
from berth.pipeline import Pipeline
from berth.schema.cloudcapacity import CloudCapacity, GenericCapacity, InstanceTypeSpec
from berth.schema.declared import Declared
from berth.schema.values import Site

T = TypeVar("T")
K = TypeVar("K")
_Key = tuple[str, str]
"""Capacity type, empty where there is one price alone, and instance type or shape."""
_Prices = Mapping[_Key, Decimal]


def compare_plans(
    sides: tuple[Pipeline, Pipeline], loads: tuple[SideLoads, SideLoads], now: int, *, with_costs: bool
) -> tuple[PlanChange, tuple[Sequence[Problem], Sequence[Problem]], PoolCosts, Mapping[str, str]]:
    """Return what differs, the problems of both plans, costs if asked for, and what prices do, by capacity.

    The costs are those of pools of the later plan, and of pools that only the earlier one has.
    """
    base, head = sides
    site, judged, prices = head.site, head.declared, dict[str, str]()
    assert site is not None  # a side without one is not valid
    old: CostPlan | None = None
    known: tuple[Problem, ...] = ()
    costs: PoolCosts = {}
    if base.site:
        least = base.site.diff.budget
        if least is not None:
            budget = {"budget": min(least, site.diff.budget or least)}
            site = site.model_copy(update={"diff": site.diff.model_copy(update=budget)})
        judged, texts = _judged_prices(base.declared, head.declared)
        prices = texts if with_costs or least is not None else {}
        old, known, costs = _plan(base.declared, base.site, loads[0], now, with_costs)
    new, problems, new_costs = _plan(head.declared, site, loads[1], now, with_costs)
    if judged != head.declared:
        _, problems, new_costs = _plan(judged, site, loads[1], now, with_costs)
    change = PlanChange(
        tuple(_compare_machines(old.peaks if old else (), new.peaks)),
        tuple(_compare_months(old.months if old else (), new.months, site.diff.budget)),
        tuple(_compare_reserved(old.reserved if old else (), new.reserved)),
    )
    return change, (known, problems), {**costs, **new_costs}, prices


def _plan(
    declared: Declared, site: Site, loads: SideLoads, now: int, with_costs: bool
) -> tuple[CostPlan, tuple[Problem, ...], PoolCosts]:
    """Return the plan of one side, its problems, and what pools cost from now on."""
    clusters = plan_clusters(declared, site, {cluster: loads.pools(cluster) for cluster in loads.clusters()})
    every, months = PlanFilter(), month_splitter(named(site.zone))
    plan = cost_plan(clusters, (), unplanned_items(declared, site, every.has), every, months)
    problems = tuple(plan_problems(clusters, plan.months, declared, site, now))
    return plan, problems, pool_costs(clusters, now) if with_costs else {}


def _by_key(old: Iterable[T], new: Iterable[T], key: Callable[[T], K]) -> dict[K, tuple[T | None, T | None]]:
    """Return what either side has, the later side first."""
    before, after = ({key(one): one for one in side} for side in (old, new))
    return {one: (before.get(one), after.get(one)) for one in (*after, *before)}


def _compare_machines(old: Iterable[MachinePeak], new: Iterable[MachinePeak]) -> Iterator[MachinesChange]:
    for cluster, (before, after) in _by_key(old, new, lambda peak: peak.cluster).items():
        was, machines = (peak.machines if peak else () for peak in (before, after))
        if was != machines:
            old_count, count = (sum(number for _, number in side) for side in (was, machines))
            yield MachinesChange(cluster, old_count, count, after.at if after else None, machines)


def _compare_months(
    old: Iterable[MonthPlan], new: Iterable[MonthPlan], budget: Decimal | None
) -> Iterator[MonthChange]:
    for month, sides in sorted(_by_key(old, new, lambda plan: plan.month).items()):
        money = [side.sum.bought if side else Decimal(0) for side in sides]
        seconds = [side.sum.all_seconds if side else 0 for side in sides]
        if money[0] != money[1] or seconds[0] != seconds[1]:
            yield MonthChange(month, (money[0], money[1]), (seconds[0], seconds[1]), budget)


def _compare_reserved(
    old: Iterable[ReservedPlan], new: Iterable[ReservedPlan]
) -> Iterator[ReservedUsageChange]:
    pairs = _by_key(old, new, lambda plan: (plan.reserved.key, plan.cluster))
    for (key, cluster), sides in sorted(pairs.items()):
        before, after = (side.use if side else ReservedUsage(0, 0, None) for side in sides)
        if before != after:
            yield ReservedUsageChange(key, cluster, before, after)


def _judged_prices(before: Declared, after: Declared) -> tuple[Declared, dict[str, str]]:
    """Return the head with the higher price of both sides, wherever the base has one; and what prices do."""
    was, now = _prices(before), _prices(after)
    counted = {name: _counted(was, name, prices) for name, prices in now.items()}
    declared = after._replace(
        clouds={name: _with_prices(cloud, counted[name]) for name, cloud in after.clouds.items()},
        generic={name: _with_shape_prices(cloud, counted[name]) for name, cloud in after.generic.items()},
    )
    texts = {name: ", ".join(_price_texts(was, name, prices)) for name, prices in now.items()}
    return declared, {name: text for name, text in texts.items() if text}


def _prices(side: Declared) -> dict[str, _Prices]:
    """Return the prices of each capacity."""
    sold: dict[str, _Prices] = {
        cloud.name: {
            (kind, one.name): price
            for one in cloud.instance_types
            for kind, price in ((ON_DEMAND, one.on_demand_price), (SPOT, one.spot_price))
            if price is not None
        }
        for cloud in side.clouds.values()
    }
    return sold | {
        capacity.name: {
            ("", shape.name): shape.hourly_price for shape in capacity.nodes if shape.hourly_price is not None
        }
        for capacity in side.generic.values()
    }


def _of_base(was: Mapping[str, _Prices], name: str, key: _Key) -> Decimal | None:
    """Return a price of the base: of the capacity, or of all where it does not know it; else the table's."""
    sides = [was[name]] if name in was else was.values()
    found = max((prices[key] for prices in sides if key in prices), default=None)
    row = ec2_types().get(key[1]) if key[0] == ON_DEMAND else None
    return Decimal(repr(row.price)) if found is None and row else found


def _counted(was: Mapping[str, _Prices], name: str, now: _Prices) -> dict[_Key, Decimal]:
    sides = [was[name]] if name in was else was.values()
    keys = {*now, *(key for prices in sides for key in prices)}
    both = {key: (_of_base(was, name, key), now.get(key)) for key in keys}
    return {key: max(price for price in pair if price is not None) for key, pair in both.items()}


def _price_texts(was: Mapping[str, _Prices], name: str, now: _Prices) -> Iterator[str]:
    for key in sorted({*now, *was.get(name, ())}):
        before, after, what = _of_base(was, name, key), now.get(key), " ".join(filter(None, key))
        if before is None:
            yield f"the price of {what} is new, {after} USD an hour: check it, the base has none"
        elif after is None or after < before:
            goes = "is removed" if after is None else f"goes to {after}"
            yield f"the price of {what} {goes}: policies and the budget count {before} in this change"


def _with_prices(cloud: CloudCapacity, prices: _Prices) -> CloudCapacity:
    sold = {one.name: one for one in cloud.instance_types}
    for kind, name in sorted(key for key in prices if key[0]):
        one = sold.get(name) or InstanceTypeSpec.model_construct(name=name)
        price = prices[kind, name]
        field = "on_demand_price" if kind == ON_DEMAND else "spot_price"
        sold[name] = one.model_copy(update={field: price})
    return cloud.model_copy(update={"instance_types": tuple(sold.values())})


def _with_shape_prices(cloud: GenericCapacity, prices: _Prices) -> GenericCapacity:
    priced = (
        shape.model_copy(update={"hourly_price": prices.get(("", shape.name))}) for shape in cloud.nodes
    )
    return cloud.model_copy(update={"nodes": tuple(priced)})


_SIDES = ("before", "after")


def plan_summary(plan: PlanChange) -> str:
    """Return `cost 100.00 -> 120.00 USD`, or what else differs; empty if nothing does."""
    if plan.months:
        return f"cost {_money_change(plan.months)} USD"
    if plan.is_empty():
        return ""
    return "other machines" if plan.machines else "other use of reserved machines"


def plan_lines(plan: PlanChange, zone: str) -> Iterator[DiffLine]:
    """Yield the findings of the plan, then what differs in it: money before nodes."""
    for finding in plan.findings:
        yield DiffLine("!", findinglist.text([finding], color=False).partition("\n")[0])
    for month in plan.months:
        hours = " -> ".join(hours_text(seconds) for seconds in month.seconds)
        budget = "" if month.budget is None else f", budget {month.budget}"
        cost = f"{month.month}: {_money_change([month])} USD"
        yield DiffLine("~", f"{cost}, machine-hours {hours}{budget}")
    if len(plan.months) > 1:
        before, after = _month_sums(plan.months)
        difference = ""
        if before is not None and after is not None:
            difference = f" ({'+' if after >= before else '-'}{money_text(abs(after - before))})"
        cost = f"{_money_change(plan.months)} USD{difference}"
        yield DiffLine(" ", f"these {len(plan.months)} months: {cost}")
    for usage in plan.reserved:
        was, now = usage.before, usage.after
        idle = " -> ".join(f"{percent(side.idle, side.paid)}%" for side in (was, now))
        money = f"{money_or_unknown(now.idle_money)} of {money_or_unknown(now.money)} USD paid ahead"
        yield DiffLine("~", f"{usage.reserved}: {idle} idle, {money if now.paid else 'gone'}")
    for one in plan.machines:
        at = "" if one.at is None else f" at {local_text(one.at, named(zone))} ({zone})"
        machines = f": {machines_text(one.machines)}" if one.machines else ""
        yield DiffLine("~", f"{one.cluster}, most machines: {one.before} -> {one.after}{at}{machines}")


def _month_sums(months: Sequence[MonthChange]) -> list[Money | None]:
    """Return the cost of all these months before and after; None if a price is unknown."""
    sides = [[month.money[side] for month in months] for side in (0, 1)]
    return [None if None in side else sum(filter(None, side), Money(0)) for side in sides]


def _money_change(months: Sequence[MonthChange]) -> str:
    return " -> ".join(map(money_or_unknown, _month_sums(months)))


def plan_json(plan: PlanChange) -> Answer:
    """Return the plan, with money as text as in the kind Plan."""
    return {
        "machines": [
            {**one._asdict(), "at": instant_json(one.at), "machines": machines_json(one.machines)}
            for one in plan.machines
        ],
        "months": [
            {
                "month": month.month,
                "cost": dict(zip(_SIDES, map(money_json, month.money), strict=True)),
                "machineHours": dict(zip(_SIDES, map(hours_json, month.seconds), strict=True)),
                "budget": None if month.budget is None else str(month.budget),
            }
            for month in plan.months
        ],
        "reserved": [
            {
                "capacityReservation": usage.reserved,
                "cluster": usage.cluster,
                "before": as_object(USAGE, usage.before),
                "after": as_object(USAGE, usage.after),
            }
            for usage in plan.reserved
        ],
        "findings": findinglist.as_json(plan.findings),
    }
