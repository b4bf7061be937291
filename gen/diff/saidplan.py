"""What changes of machines and money, in lines as `said` has them."""

from collections.abc import Iterator

from gen import report
from gen.cost.formatting import band_text, machines_text, money_or_unknown, money_text, percent
from gen.cost.results import Money
from gen.dates.moment import hours_text, local_text, named
from gen.diff.change import IdleChange, MachinesChange, MonthChange, PlanChange
from gen.diff.line import Line

HEADING = "Machines and money"


def lines(plan: PlanChange, zone: str) -> Iterator[Line]:
    """What is wrong comes first."""
    for one in plan.findings:
        yield Line("!", report.text([one], color=False).partition("\n")[0])
    for machines in plan.machines:
        yield _machines(machines, zone)
    for month in plan.months:
        yield _month(month)
    if len(plan.months) > 1:
        yield _all(plan.months)
    for idle in plan.idle:
        yield _idle(idle)


def verdict(plan: PlanChange) -> list[str]:
    """For the line that says it all."""
    errors = sum(one.severity == "error" for one in plan.findings)
    told = [f"the plan has {errors} error{'s' if errors > 1 else ''}"] if errors else []
    before, after = _sums(plan.months)
    if plan.months:
        return [*told, f"cost {money_or_unknown(before)} -> {money_or_unknown(after)} USD"]
    if plan.machines:
        return [*told, "other machines"]
    return [*told, "what is paid ahead changes"] if plan.idle else told


def _machines(one: MachinesChange, zone: str) -> Line:
    before, after = (band_text(least, least, most) for least, most in (one.before, one.after))
    at = "" if one.at is None else f" at {local_text(one.at, named(zone))} ({zone})"
    which = f": {machines_text(one.machines)}" if one.machines else ""
    return Line("~", f"{one.cluster}, most machines: {before} -> {after}{at}{which}")


def _month(one: MonthChange) -> Line:
    before, after = one.money
    hours = " -> ".join(hours_text(seconds) for seconds in one.seconds)
    budget = "" if one.budget is None else f", budget {one.budget}"
    return Line(
        "~",
        f"{one.month}: {money_or_unknown(before)} -> {money_or_unknown(after)} USD, "
        f"machine-hours {hours}{budget}",
    )


def _sums(months: tuple[MonthChange, ...]) -> tuple[Money | None, Money | None]:
    before, after = ([one.money[side] for one in months] for side in (0, 1))
    return _sum(before), _sum(after)


def _sum(some: list[Money | None]) -> Money | None:
    found = [money for money in some if money is not None]
    return sum(found, Money(0)) if len(found) == len(some) else None


def _all(months: tuple[MonthChange, ...]) -> Line:
    before, after = _sums(months)
    more = ""
    if before is not None and after is not None:
        more = f" ({'+' if after >= before else '-'}{money_text(abs(after - before))})"
    return Line(
        " ", f"these {len(months)} months: {money_or_unknown(before)} -> {money_or_unknown(after)} USD{more}"
    )


def _idle(one: IdleChange) -> Line:
    before, after = one.before, one.after
    told = f"{one.reserved}: {percent(before.idle, before.paid)}% -> {percent(after.idle, after.paid)}% idle"
    paid = (
        f", {money_or_unknown(after.idle_money)} of {money_or_unknown(after.money)} USD paid ahead"
        if after.paid
        else ", gone"
    )
    return Line("~", f"{told}{paid}")
