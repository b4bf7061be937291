"""Describe what changes in the plan of machines and costs: in lines of plain text, and as JSON."""

from collections.abc import Iterator, Sequence

from berth.dates.moments import hours_text, local_text, named
from berth.diff.change import MonthChange, PlanChange
from berth.diff.wording import DiffLine
from berth.machines.formatting import (
    USAGE,
    machines_json,
    machines_text,
    money_json,
    money_or_unknown,
    money_text,
    percent,
)
from berth.machines.overtime import Money
from berth.output import findinglist
from berth.output.answers import Answer, hours_json, instant_json
from berth.output.columns import as_object

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
