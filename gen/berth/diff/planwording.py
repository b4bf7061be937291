"""Describe what changes in the plan of machines and costs in lines of plain text."""

from collections.abc import Iterator

from berth.dates.moments import hours_text, local_text, named
from berth.diff.change import MachinesChange, MonthChange, PlanChange, ReservedUsageChange
from berth.diff.wording import DiffLine
from berth.machines.formatting import machines_text, money_or_unknown, money_text, percent
from berth.machines.overtime import Money
from berth.output import findinglist


def plan_lines(plan: PlanChange, zone: str) -> Iterator[DiffLine]:
    """Yield the findings of the plan, then what differs in it: money before nodes."""
    for finding in plan.findings:
        yield DiffLine("!", findinglist.text([finding], color=False).partition("\n")[0])
    for month in plan.months:
        yield _month_line(month)
    if len(plan.months) > 1:
        yield _all_months_line(plan.months)
    for reserved in plan.reserved:
        yield _reserved_line(reserved)
    for machines in plan.machines:
        yield _machines_line(machines, zone)


def _machines_line(one: MachinesChange, zone: str) -> DiffLine:
    at = "" if one.at is None else f" at {local_text(one.at, named(zone))} ({zone})"
    machines = f": {machines_text(one.machines)}" if one.machines else ""
    return DiffLine("~", f"{one.cluster}, most machines: {one.before} -> {one.after}{at}{machines}")


def _month_line(one: MonthChange) -> DiffLine:
    before, after = one.money
    hours = " -> ".join(hours_text(seconds) for seconds in one.seconds)
    budget = "" if one.budget is None else f", budget {one.budget}"
    return DiffLine(
        "~",
        f"{one.month}: {money_or_unknown(before)} -> {money_or_unknown(after)} USD, "
        f"machine-hours {hours}{budget}",
    )


def _all_months_line(months: tuple[MonthChange, ...]) -> DiffLine:
    before, after = month_sums(months)
    difference = ""
    if before is not None and after is not None:
        difference = f" ({'+' if after >= before else '-'}{money_text(abs(after - before))})"
    cost = f"{money_or_unknown(before)} -> {money_or_unknown(after)} USD"
    return DiffLine(" ", f"these {len(months)} months: {cost}{difference}")


def month_sums(months: tuple[MonthChange, ...]) -> tuple[Money | None, Money | None]:
    """Return the cost of all these months before and after; None if a price is unknown."""
    before, after = ([month.money[side] for month in months] for side in (0, 1))
    return _sum(before), _sum(after)


def _sum(amounts: list[Money | None]) -> Money | None:
    found = [money for money in amounts if money is not None]
    return sum(found, Money(0)) if len(found) == len(amounts) else None


def _reserved_line(one: ReservedUsageChange) -> DiffLine:
    before, after = one.before, one.after
    idle = f"{percent(before.idle, before.paid)}% -> {percent(after.idle, after.paid)}% idle"
    paid = (
        f"{money_or_unknown(after.idle_money)} of {money_or_unknown(after.money)} USD paid ahead"
        if after.paid
        else "gone"
    )
    return DiffLine("~", f"{one.reserved}: {idle}, {paid}")
