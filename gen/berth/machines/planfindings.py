"""Judge a plan: findings at the documents that can be changed. Occurrences in the past are not judged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from berth.checks.ceilings import holders_text
from berth.checks.cloudmatching import class_fit
from berth.dates.moments import local_day, local_text, named
from berth.dates.zone import DAY, day_of
from berth.findings import Path, Problem
from berth.machines.clusterplans import ClusterPlan
from berth.machines.costplan import MonthPlan, lead_seconds
from berth.machines.formatting import minutes, money_text
from berth.machines.overtime import MachineStep, PoolKey, Shortfall, dollars
from berth.schema.cloudcapacity import CloudCapacity
from berth.schema.cloudgrammar import GENERIC
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import Entry, Extra, ResourceClass, Site

_STARTUP = "the start of a node and the pull of its images (nodeStartMinutes and imagePullMinutes)"
_PROVISIONING: Path = ("spec", "provisioning")
_BUDGET: Path = ("spec", "diff", "budget")


def plan_problems(
    some: Sequence[ClusterPlan], months: Iterable[MonthPlan], declared: Declared, site: Site, now: int
) -> Iterator[Problem]:
    """Return all findings. `months` are those of the whole plan."""
    known = {reservation.name: reservation for reservation in declared.reservations}
    for cluster_plan in some:
        yield from _shortfalls(cluster_plan, known, now)
    yield from short_leads(some, declared, now)
    if site.diff.budget is not None:
        day = day_of(local_day(now, named(site.zone)) * DAY)
        current = f"{day.year}-{day.month:02}"
        yield from _budget([month for month in months if month.month >= current], site, site.diff.budget)


def _shortfalls(one: ClusterPlan, known: Mapping[str, Reservation], now: int) -> Iterator[Problem]:
    """Return a finding for each pool and kind of reason: at the first moment with the largest shortfall."""
    found: dict[tuple[PoolKey, bool], list[tuple[int, Shortfall]]] = {}
    for step in one.run.steps:
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
        yield reservation.problem("B195" if limited else "B196", _PROVISIONING, message, fix)


def short_leads(some: Iterable[ClusterPlan], declared: Declared, now: int) -> Iterator[Problem]:
    """Return a finding for each reservation: for the first of the openings that need the longest lead.

    The shortest lead of a class counts: the pool opens for several entries, and which one opens at a step is
    not known here. A rehearsal opens at its start: it finds out how long that takes.
    """
    known = {reservation.name: reservation for reservation in declared.reservations}
    for one in some:
        steps = {step.at: step for step in one.run.steps if step.bought and step.at >= now}
        short: dict[str, tuple[int, Problem]] = {}
        for demand in one.demands:
            reservation, name = known[demand.key[0]], demand.key[1]
            if reservation.spec.rehearses:
                continue
            lead = 60 * _shortest_lead(reservation, name)
            clouds = [one.catalog.clouds[cloud] for cloud in demand.clouds]
            for minute, change in zip(demand.steps[::2], demand.steps[1::2], strict=True):
                step = steps.get(minute * 60) if change > 0 else None
                needed = lead_seconds(clouds, step.loops) if step else 0
                if step and needed > max(lead, short.get(reservation.name, (0,))[0]):
                    begin = _first_machines(declared.classes[name], clouds, step.at)
                    problem = _short_lead(reservation, step, (needed, lead, begin), clouds)
                    short[reservation.name] = needed, problem
        yield from (problem for _, (_, problem) in sorted(short.items()))


def _short_lead(
    reservation: Reservation, step: MachineStep, times: tuple[int, int, int], clouds: Sequence[CloudCapacity]
) -> Problem:
    """`times`: the seconds that are needed, those of the lead, and when its machines begin."""
    needed, lead, begin = times
    zone = named(reservation.recurrence.zone)
    loops = f"{step.loops} loops" if step.loops > 1 else "a loop"
    is_karpenter = any(cloud.provider != GENERIC for cloud in clouds)
    reason = f"{loops} of Karpenter and the boot time" if is_karpenter else _STARTUP
    message = (
        f"it opens {minutes(lead)} min before its start, but its nodes at {local_text(step.at, zone)} may "
        f"take {minutes(needed)} min: {reason}."
    )
    fix = f"Write leadTimeMinutes: {minutes(needed)} or more."
    follows = reservation.recurrence.type == "capacity"  # its start comes a lead after its machines
    if not follows and step.at + lead - needed < begin:
        start = begin - (-needed // 60) * 60  # in whole minutes, like a lead
        fix = (
            f"Its machines exist from {local_text(begin, zone)} on: start it at "
            f"{local_text(start, zone)} or later, with leadTimeMinutes: {minutes(needed)}."
        )
    return reservation.problem("B199", _PROVISIONING, message, fix)


def _first_machines(found: ResourceClass, clouds: Sequence[CloudCapacity], at: int) -> int:
    """Return from when on there are machines for seats that open at an instant.

    That is 0 unless the seats may use reserved instances only, and these begin at some time.
    """
    fits = [class_fit(found, cloud) for cloud in clouds if cloud.provider != GENERIC]
    if len(fits) < len(clouds) or any(fit.falls_back for fit in fits):
        return 0
    return min((one.first or 0 for fit in fits for one in fit.reserved if one.there(at)), default=0)


def _shortest_lead(reservation: Reservation, resource_class: str) -> int:
    """Return the shortest lead of the entries with seats of a class, in minutes."""
    recurrence = reservation.recurrence
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    leads = (
        one.lead
        for item in items
        for (name, _), one in zip(item.seats, reservation.scaling_of(item), strict=True)
        if name == resource_class
    )
    return min(leads, default=reservation.lead)


def _budget(months: Iterable[MonthPlan], site: Site, most: Decimal) -> Iterator[Problem]:
    """Return findings on months above the budget. What has no known price could only add to it."""
    for month in months:
        names = ", ".join(sorted({f"{kind.capacity_type} {kind.type}" for kind in month.sum.unpriced}))
        missing = f"the price of {names} is not known"
        if dollars(month.sum.priced) > most:
            costs = [(name, own.priced) for name, own in month.costs.items()]
            ordered = sorted(costs, key=lambda cost: (-cost[1], cost[0]))
            told = holders_text([(name, money_text(money)) for name, money in ordered])
            message = (
                f"{month.month} costs {'at least ' if names else ''}{money_text(month.sum.priced)} USD, "
                f"above the budget of {most}: {told}{f'; {missing}' if names else ''}."
            )
            fix = "Reserve fewer seats or another time, or have the platform team raise the budget first."
            yield site.origin.problem("B197", _BUDGET, message, fix)
        elif names:
            message = f"{month.month} cannot be compared with the budget: {missing}."
            fix = "Write the price in instanceTypes of the CloudCapacity."
            yield site.origin.problem("B198", _BUDGET, message, fix)
