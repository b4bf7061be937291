"""Judge a plan: findings at the documents that can be changed. Occurrences in the past are not judged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from berth.checks.ceilings import holders_text
from berth.cost.clusterplans import ClusterPlan
from berth.cost.costplan import MonthPlan, karpenter_lead, monthly_costs
from berth.cost.formatting import minutes, money_text
from berth.cost.ledger import month_splitter
from berth.cost.results import Money, PoolKey, Shortfall, dollars
from berth.dates.moments import local_day, local_text, named
from berth.dates.zone import DAY, day_of
from berth.findings import Problem
from berth.schema.declared import Declared
from berth.schema.holders import Unit
from berth.schema.values import Reservation, Site

LIMITS, NO_MACHINE, BUDGET, NOT_SUMMED, LEAD = "B195", "B196", "B197", "B198", "B199"


def plan_problems(
    some: Sequence[ClusterPlan], months: Iterable[MonthPlan], declared: Declared, site: Site, now: int
) -> Iterator[Problem]:
    """Return all findings. `months` are those of the whole plan."""
    known = {one.name: one for one in declared.reservations}
    for one in some:
        yield from _shortfalls(one, known, now)
        yield from _short_leads(one, known, now)
    if site.budget is not None:
        day = day_of(local_day(now, named(site.zone)) * DAY)
        current = f"{day.year}-{day.month:02}"
        paid = monthly_costs(some, month_splitter(named(site.zone)))
        yield from _budget([one for one in months if one.month >= current], site, site.budget, paid)


def _at(one: Reservation) -> tuple[str, int, tuple[str | int, ...]]:
    path = (*one.origin.prefix, "provisioning") if one.renku else ("spec", "provisioning")
    return one.origin.file, one.origin.index, path


def _shortfalls(one: ClusterPlan, known: Mapping[str, Reservation], now: int) -> Iterator[Problem]:
    """Return a finding for each pool and kind of reason: at the first moment with the largest shortfall."""
    found: dict[tuple[PoolKey, bool], list[tuple[int, Shortfall]]] = {}
    for step in one.runs[0].steps:
        for key, shortfall in step.shortfalls if step.at >= now else ():
            found.setdefault((key, shortfall.kind == "limits"), []).append((step.at, shortfall))
    nodes = {demand.key for demand in one.demands if demand.unit is Unit.NODE}
    for (key, limited), cases in sorted(found.items()):
        at, shortfall = max(cases, key=lambda case: (case[1].count, -case[0]))
        reservation = known[key[0]]
        times = f" ({len(cases)} times in all)" if len(cases) > 1 else ""
        missing = f"nodes of {key[1]} cannot be bought" if key in nodes else f"seats of {key[1]} get no node"
        message = (
            f"{shortfall.count} {missing} at "
            f"{local_text(at, named(reservation.recurrence.zone))}{times}: {shortfall.message}."
        )
        fix = "Reserve fewer, or have the platform team raise the limits of the CloudCapacity."
        if not limited:
            fix = "Let the class use more capacity (cloudCapacity), or change the requirements of either."
        yield Problem(LIMITS if limited else NO_MACHINE, *_at(reservation), message, fix)


def _short_leads(one: ClusterPlan, known: Mapping[str, Reservation], now: int) -> Iterator[Problem]:
    """Return a finding for each reservation: for the first of the openings that need the longest lead."""
    steps = {step.at: step for step in one.runs[0].steps if step.bought and step.at >= now}
    short: dict[str, tuple[int, int]] = {}
    for demand in one.demands:
        lead = known[demand.key[0]].lead * 60
        for minute, change in zip(demand.steps[::2], demand.steps[1::2], strict=True):
            step = steps.get(minute * 60) if change > 0 else None
            if step and karpenter_lead(step.loops) > max(
                lead, karpenter_lead(short.get(demand.key[0], (0, 0))[1])
            ):
                short[demand.key[0]] = step.at, step.loops
    for name, (at, loops) in sorted(short.items()):
        needed, reservation = karpenter_lead(loops), known[name]
        message = (
            f"it opens {reservation.lead} min before its start, but its nodes at "
            f"{local_text(at, named(reservation.recurrence.zone))} may take {minutes(needed)} min: "
            f"{f'{loops} loops' if loops > 1 else 'a loop'} of Karpenter and the boot time."
        )
        fix = f"Write leadTimeMinutes: {minutes(needed)} or more."
        yield Problem(LEAD, *_at(reservation), message, fix)


def _budget(
    months: Iterable[MonthPlan], site: Site, most: Decimal, paid: Mapping[str, Mapping[str, Money]]
) -> Iterator[Problem]:
    """Return findings on months above the budget.

    `paid`: by month, what each reservation costs. What has no known price could only add to it.
    """
    at = (site.origin.file, site.origin.index, ("spec", "diff", "budget"))
    for one in months:
        names = ", ".join(sorted({f"{kind.capacity_type} {kind.type}" for kind in one.sum.unpriced}))
        missing = f"the price of {names} is not known"
        if dollars(one.sum.priced) > most:
            ordered = sorted(paid[one.month].items(), key=lambda cost: (-cost[1], cost[0]))
            told = holders_text([(name, money_text(money)) for name, money in ordered])
            message = (
                f"{one.month} costs {'at least ' if names else ''}{money_text(one.sum.priced)} USD, "
                f"above the budget of {most}: {told}{f'; {missing}' if names else ''}."
            )
            fix = "Reserve fewer seats or another time, or have the platform team raise the budget."
            yield Problem(BUDGET, *at, message, fix)
        elif names:
            message = f"{one.month} cannot be compared with the budget: {missing}."
            fix = "Write the price in instanceTypes of the CloudCapacity."
            yield Problem(NOT_SUMMED, *at, message, fix)
