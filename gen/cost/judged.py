"""What is wrong with a plan, as problems at the documents that can mend it. Pure; `now` is a value.

What is over is not judged: nobody can mend it.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from gen.check.load import holders_text
from gen.cost.dates import OccurrencePlan
from gen.cost.plan import MonthPlan, Plan
from gen.cost.values import Lack, Money, dollars
from gen.dates.moment import local_day, local_text, named
from gen.dates.zone import DAY, day_of
from gen.finding import Problem
from gen.model import Reservation, Site

LIMITS, NO_MACHINE, BUDGET, NOT_SUMMED, LEAD = "B195", "B196", "B197", "B198", "B199"


def problems(
    plan: Plan,
    site: Site,
    reservations: Iterable[Reservation],
    costs: Mapping[str, Mapping[str, Money]],
    now: int,
) -> Iterator[Problem]:
    """`costs`: by month, what each reservation costs in it."""
    known = {one.name: one for one in reservations}
    coming = [one for one in plan.occurrences if one.dated.occurrence.end > now]
    yield from _lacks(coming, known)
    yield from _leads(coming, known)
    if site.budget is not None:
        day = day_of(local_day(now, named(site.zone)) * DAY)
        current = f"{day.year}-{day.month:02}"
        yield from _budget([one for one in plan.months if one.month >= current], site, site.budget, costs)


def _at(one: Reservation) -> tuple[str, int, tuple[str | int, ...]]:
    path = (*one.origin.prefix, "provisioning") if one.renku else ("spec", "provisioning")
    return one.origin.file, one.origin.index, path


def _lacks(coming: Iterable[OccurrencePlan], known: Mapping[str, Reservation]) -> Iterator[Problem]:
    """One for each reservation and class: the first of its worst dates."""
    found: dict[tuple[str, str, str], list[tuple[OccurrencePlan, Lack]]] = {}
    for one in coming:
        for name, lack in one.lacks:
            kind = "limits" if lack.kind == "limits" else ""
            found.setdefault((one.dated.occurrence.reservation, name, kind), []).append((one, lack))
    for (reservation, name, kind), cases in sorted(found.items()):
        one, lack = max(cases, key=lambda case: case[1].count)
        seats = dict(one.dated.seats)[name]
        more = f", and on {len(cases) - 1} more dates" if len(cases) > 2 else ", and on one more date"
        message = (
            f"{lack.count} of {seats} {name} find no machine on {_when(one)}"
            f"{more if len(cases) > 1 else ''}: {lack.message}."
        )
        fix = "Ask for fewer, or have the platform team raise the limits of the CloudCapacity."
        if not kind:
            fix = (
                "Let the class use more capacity (cloudCapacity), or change what it or the capacity asks for."
            )
        yield Problem(LIMITS if kind else NO_MACHINE, *_at(known[reservation]), message, fix)


def _when(one: OccurrencePlan) -> str:
    item = one.dated.occurrence
    return local_text(item.start, named(item.zone))


def _leads(coming: Iterable[OccurrencePlan], known: Mapping[str, Reservation]) -> Iterator[Problem]:
    short: dict[str, list[OccurrencePlan]] = {}
    for one in coming:
        item = one.dated.occurrence
        if item.start - item.open < one.lead:
            short.setdefault(item.reservation, []).append(one)
    for reservation, cases in sorted(short.items()):
        one = max(cases, key=lambda case: case.lead)
        item = one.dated.occurrence
        loops = f"{one.loops} loops" if one.loops > 1 else "one loop"
        message = (
            f"machines for {_when(one)} may take {minutes(one.lead)} min ({loops} of Karpenter and a boot), "
            f"and it opens {minutes(item.start - item.open)} min before its start."
        )
        fix = f"Write leadTimeMinutes: {minutes(one.lead)} or more."
        yield Problem(LEAD, *_at(known[reservation]), message, fix)


def minutes(seconds: int) -> int:
    return -(-seconds // 60)


def _budget(
    months: Iterable[MonthPlan], site: Site, most: Decimal, costs: Mapping[str, Mapping[str, Money]]
) -> Iterator[Problem]:
    at = (site.origin.file, site.origin.index, ("spec", "diff", "budget"))
    for one in months:
        if one.sum.bought is None:
            names = ", ".join(sorted({f"{sort.capacity_type} {sort.type}" for sort in one.sum.unpriced}))
            message = f"{one.month} cannot be held against it: the price of {names} is not known."
            fix = "Write the price in instanceTypes of the CloudCapacity."
            yield Problem(NOT_SUMMED, *at, message, fix)
        elif dollars(one.sum.bought) > most:
            ordered = sorted(costs[one.month].items(), key=lambda cost: (-cost[1], cost[0]))
            told = holders_text([(name, money_text(money)) for name, money in ordered])
            message = (
                f"{one.month} costs {money_text(one.sum.bought)} USD, above the budget of {most}: {told}."
            )
            fix = "Ask for fewer seats or another time, or have the platform team raise the budget."
            yield Problem(BUDGET, *at, message, fix)


def money_text(money: Money) -> str:
    """`1,234.50`"""
    return f"{dollars(money):,}"
