"""The estimate of a site: the machines of every occurrence and peak, what all of it costs, and how early to
open.

Each interval of a machine is shared among its seats, to the second. Shares are whole seconds and money is
exact, so the sums by reservation, class or month add up to the total. Lead times are lower bounds for
instances that the cloud has: what Karpenter and cluster-autoscaler take, and a usual boot time.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple, TypeVar

from berth.checks.policychecks import PoolCost, PoolCosts
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_day
from berth.dates.zone import DAY, Zone, day_of, number, resolve
from berth.machines.capacitycatalog import MachineKind, ReservedMachines
from berth.machines.clusterplans import ClusterPlan, UnplannedItem
from berth.machines.nodelabels import ON_DEMAND, RESERVED, SPOT
from berth.machines.overtime import (
    CountedKinds,
    MachineCounts,
    MachineInterval,
    MachineStep,
    Money,
    PoolKey,
    Shortfall,
    dollars,
    sorted_counts,
)
from berth.schema.cloudcapacity import CloudCapacity
from berth.schema.cloudgrammar import GENERIC
from berth.schema.seatholders import Unit

Group = TypeVar("Group")
CAPACITY_TYPES = (RESERVED, ON_DEMAND, SPOT)
BATCH_SECONDS = 11  # seconds: Karpenter waits 10 for more pods, and plans
LAUNCH_SECONDS = 10  # until the next loop knows what was launched
SCAN = 10  # seconds: the interval of cluster-autoscaler


class TimeRange(NamedTuple):
    """The time range [since, until); None is open."""

    since: int | None = None
    until: int | None = None

    def clip(self, first: int, end: int) -> tuple[int, int]:
        """Return the part of [first, end) within the range."""
        return max(first, self.since or first), end if self.until is None else min(end, self.until)


ALWAYS = TimeRange()
MonthSplitter = Callable[[int, int], Iterable[tuple[str, int, int]]]
"""Splits a time range into months: name, first, end."""


def month_splitter(zone: Zone) -> MonthSplitter:
    """Return a function that splits time ranges into months like `2026-02` in a time zone."""
    ends: dict[tuple[int, int], int] = {}

    def cut(first: int, end: int) -> Iterator[tuple[str, int, int]]:
        while first < end:
            day = day_of(local_day(first, zone) * DAY)
            month = day.year, day.month
            if month not in ends:
                after = date(day.year + day.month // 12, day.month % 12 + 1, 1)
                ends[month] = resolve(zone, number(after) * DAY)
            until = min(end, ends[month])
            yield f"{day.year}-{day.month:02}", first, until
            first = until

    return cut


def _uncut(first: int, end: int) -> Iterable[tuple[str, int, int]]:
    return [("", first, end)]


class CostLine(NamedTuple):
    """`seconds` of machines of one kind that a pool uses in one month; no `money` if the price is unknown."""

    month: str
    cluster: str
    key: PoolKey
    kind: MachineKind
    since: int
    seconds: int
    money: Money | None


class CostSum(NamedTuple):
    """The sum of lines. `seconds` by capacity type. `unpriced` kinds have no known price and are not in
    `money`.
    """

    seconds: tuple[tuple[str, int], ...]
    money: tuple[tuple[str, Money], ...]
    unpriced: tuple[MachineKind, ...]

    @property
    def bought(self) -> Money | None:
        """The money for what is bought by the hour, or None if a price is missing."""
        return None if self.unpriced else self.priced

    @property
    def priced(self) -> Money:
        """The same for everything that has a price."""
        return sum((money for _, money in self.money), Decimal(0))

    @property
    def all_seconds(self) -> int:
        return sum(seconds for _, seconds in self.seconds)


def cost_lines(
    planned: ClusterPlan, span: TimeRange = ALWAYS, months: MonthSplitter = _uncut
) -> list[CostLine]:
    """Return the lines of a plan."""
    found: list[CostLine] = []
    prices = {kind: planned.catalog.price(kind) for kind in {one.kind for one in planned.run.intervals}}
    for interval in planned.run.intervals:
        price = prices[interval.kind]
        first, end = span.clip(interval.since, interval.until)
        for month, since, until in months(first, end) if first < end else ():
            for key, seconds in share_seconds(until - since, interval.payers):
                money = None if price is None else price * seconds
                found.append(CostLine(month, planned.cluster, key, interval.kind, since, seconds, money))
    return found


def share_seconds(seconds: int, payers: Sequence[tuple[PoolKey, int]]) -> list[tuple[PoolKey, int]]:
    """Share whole seconds by numbers of seats; what is left over goes to the largest remainders."""
    whole = sum(count for _, count in payers)
    parts = [(key, *divmod(seconds * count, whole)) for key, count in payers]
    left = seconds - sum(share for _, share, _ in parts)
    more = {key for key, _, _ in sorted(parts, key=lambda part: (-part[2], part[0]))[:left]}
    return [(key, share + (key in more)) for key, share, _ in parts]


def sum_lines(lines: Iterable[CostLine]) -> CostSum:
    """Add lines."""
    seconds = dict.fromkeys(CAPACITY_TYPES, 0)
    money = dict.fromkeys(CAPACITY_TYPES[1:], Decimal(0))
    unpriced: set[MachineKind] = set()
    for line in lines:
        kind = line.kind.capacity_type
        seconds[kind] += line.seconds
        if line.money is None:
            unpriced.add(line.kind)
        elif kind in money:
            money[kind] += line.money
    return CostSum(tuple(seconds.items()), tuple(money.items()), tuple(sorted(unpriced)))


def sum_by(lines: Iterable[CostLine], by: Callable[[CostLine], Group]) -> dict[Group, CostSum]:
    """Add lines by group."""
    found: dict[Group, list[CostLine]] = {}
    for line in lines:
        found.setdefault(by(line), []).append(line)
    return {group: sum_lines(own) for group, own in found.items()}


def pool_costs(plans: Iterable[ClusterPlan], now: int) -> PoolCosts:
    """Return the cost of each planned pool from now on, without what is paid in advance."""
    found = {}
    for plan in plans:
        sums = sum_by(cost_lines(plan, TimeRange(since=now)), lambda line: line.key)
        for demand in plan.demands:
            one = sums.get(demand.key, sum_lines(()))
            found[demand.key] = PoolCost(dollars(one.priced), is_partial=bool(one.unpriced))
    return found


class ReservedUsage(NamedTuple):
    """The machines of a reservation in a time range: seconds paid, and seconds used."""

    paid: int
    used: int
    price: Decimal | None

    @property
    def idle(self) -> int:
        return self.paid - self.used

    @property
    def money(self) -> Money | None:
        return None if self.price is None else self.price * self.paid

    @property
    def idle_money(self) -> Money | None:
        return None if self.price is None else self.price * self.idle


class ReservedIntervals(NamedTuple):
    """A capacity reservation with the intervals on its machines in all clusters, `cluster` first."""

    cluster: str
    reserved: ReservedMachines
    intervals: tuple[MachineInterval, ...]


def _reserved_intervals(plans: Iterable[ClusterPlan]) -> list[ReservedIntervals]:
    """Return each capacity reservation once, however many clusters use it. The least count holds."""
    found: dict[str, ReservedIntervals] = {}
    for plan in plans:
        for key, own in plan.catalog.reserved.items():
            intervals = tuple(one for one in plan.run.intervals if one.kind.reserved == key)
            known = found.setdefault(key, ReservedIntervals(plan.cluster, own, ()))
            together = known.reserved.together(own) if known.cluster != plan.cluster else own
            found[key] = ReservedIntervals(known.cluster, together, (*known.intervals, *intervals))
    return list(found.values())


def reserved_usage(
    one: ReservedMachines, intervals: Iterable[MachineInterval], term: tuple[int, int], span: TimeRange
) -> ReservedUsage:
    """Return the use of a reservation. Where it has no dates of its own, those of the term count.

    Machines beyond its count add nothing.
    """
    first, end = span.clip(*paid_span(one, term))
    changes: dict[int, int] = {}
    for interval in intervals:
        since, until = max(interval.since, first), min(interval.until, end)
        if since < until:
            changes[since] = changes.get(since, 0) + 1
            changes[until] = changes.get(until, 0) - 1
    used = level = last = 0
    for at in sorted(changes):
        used += min(level, one.reservation.count) * (at - last)
        level, last = level + changes[at], at
    return ReservedUsage(one.reservation.count * max(0, end - first), used, one.reservation.hourly_price)


def paid_span(one: ReservedMachines, term: tuple[int, int]) -> tuple[int, int]:
    """Return the time for which a reservation is paid."""
    first = term[0] if one.reservation.first is None else one.reservation.first
    end = term[1] if one.reservation.until is None else one.reservation.until
    return first, max(first, end)


def lead_seconds(clouds: Iterable[CloudCapacity], loops: int) -> int:
    """Return how long seats may wait for nodes of any of these capacities that this many loops buy.

    cluster-autoscaler asks for all of them at once.
    """
    asked = loops * (BATCH_SECONDS + LAUNCH_SECONDS)
    waits = ((SCAN if one.provider == GENERIC else asked) + one.startup_seconds for one in clouds)
    return max(waits, default=0) if loops else 0


class OccurrenceSeats(NamedTuple):
    """One occurrence in one cluster with its seats there, or its whole nodes, as `unit` says."""

    occurrence: Occurrence
    cluster: str
    seats: tuple[tuple[str, int], ...]
    unit: Unit = Unit.SEAT

    @property
    def keys(self) -> list[PoolKey]:
        return [(self.occurrence.reservation, name) for name, _ in self.seats]


class OccurrencePlan(NamedTuple):
    """What one occurrence needs when it has opened, and what it costs until its pools open again.

    `machines` are those that its seats are on, `bought` all that were bought at that moment. `idle` counts
    unused reserved machines.
    """

    dated: OccurrenceSeats
    machines: CountedKinds
    bought: int
    loops: int
    shortfalls: tuple[tuple[str, Shortfall], ...]  # by class
    idle: int
    cost: CostSum
    lead: int = 0  # seconds that the seats may wait for their nodes


class PlanFilter(NamedTuple):
    """The part of the plan to show. `names` are reservations; empty stands for all."""

    span: TimeRange = ALWAYS
    names: frozenset[str] = frozenset()
    resource_class: str | None = None
    cluster: str | None = None

    def has(self, key: PoolKey) -> bool:
        """Tell whether the filter includes a pool."""
        return (not self.names or key[0] in self.names) and self.resource_class in (None, key[1])


def _occurrences(
    plan: ClusterPlan, dated: Iterable[OccurrenceSeats], lines: Iterable[CostLine], asked: PlanFilter
) -> Iterator[OccurrencePlan]:
    """Yield what each occurrence of a cluster needs."""
    keys = {demand.key for demand in plan.demands if asked.has(demand.key)}
    steps, standing = {step.at: step for step in plan.run.steps}, MachineCounts(plan.run.intervals)
    rows = [row for row in dated if row.cluster == plan.cluster]
    opens: dict[PoolKey, list[int]] = {}
    for row in sorted(rows, key=lambda row: row.occurrence.open):
        for key in row.keys:
            opens.setdefault(key, []).append(row.occurrence.open)
    costs: dict[tuple[PoolKey, int], list[CostLine]] = {}
    for line in lines:
        if own := opens.get(line.key):
            at = own[bisect_right(own, line.since) - 1]
            costs.setdefault((line.key, at), []).append(line)
    for row in rows:
        one = row._replace(
            seats=tuple(pair for pair, key in zip(row.seats, row.keys, strict=True) if key in keys)
        )
        opened = one.occurrence.open
        first, end = asked.span.clip(opened, one.occurrence.end)
        if not one.seats or first >= end:
            continue
        machines = plan.run.machines_of(one.keys, opened)
        step = steps.get(opened) or MachineStep(opened, 0, 0, ())
        shortfalls = dict(step.shortfalls)
        clouds = [plan.catalog.clouds[kind.capacity] for kind, _ in machines]
        yield OccurrencePlan(
            one,
            machines,
            step.bought,
            step.loops,
            tuple(
                (name, shortfalls[key]._replace(count=min(shortfalls[key].count, count)))
                for key, (name, count) in zip(one.keys, one.seats, strict=True)
                if key in shortfalls
            ),
            _idle_reserved(plan, standing, opened),
            sum_lines(line for key in one.keys for line in costs.pop((key, opened), ())),
            lead_seconds(clouds, step.loops if step.bought else 0),
        )


def _idle_reserved(plan: ClusterPlan, standing: MachineCounts, now: int) -> int:
    """Return how many reserved machines are unused at an instant."""
    there = sum(one.reservation.count for one in plan.catalog.reserved.values() if one.at(now))
    return max(0, there - sum(count for kind, count in standing.at(now).items() if kind.reserved))


class MachinePeak(NamedTuple):
    """The most machines of a cluster at once, and when first. `seats` and whole `nodes` by class are what is
    open then.
    """

    cluster: str
    at: int
    seats: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, int], ...]
    machines: CountedKinds
    idle: int
    shortfalls: int


class ReservedPlan(NamedTuple):
    """The use of a capacity reservation. `cluster` is the first that uses it."""

    cluster: str
    reserved: ReservedMachines
    since: int
    until: int
    use: ReservedUsage


class MonthPlan(NamedTuple):
    """One month. `costs` are by name of the reservation, `paid` by capacity reservation."""

    month: str
    sum: CostSum
    peak: int
    paid: tuple[tuple[str, ReservedUsage], ...]
    costs: Mapping[str, CostSum]


class CostPlan(NamedTuple):
    """The plan of a site, or the part of it that a filter includes."""

    since: int
    until: int
    peaks: tuple[MachinePeak, ...]
    occurrences: tuple[OccurrencePlan, ...]
    reserved: tuple[ReservedPlan, ...]
    reservations: tuple[tuple[tuple[str, str], CostSum], ...]  # by name and cluster
    classes: tuple[tuple[tuple[str, str], CostSum], ...]
    months: tuple[MonthPlan, ...]
    total: CostSum
    unplanned: tuple[UnplannedItem, ...]
    unknown: tuple[tuple[str, str], ...]  # (CloudCapacity, type) that is left out
    assumed: tuple[tuple[str, tuple[str, ...]], ...]  # (CloudCapacity, its zones), where nothing says them
    unpriced: tuple[str, ...]  # what has no price, in words
    from_table: bool


def cost_plan(
    plans: Sequence[ClusterPlan],
    dated: Sequence[OccurrenceSeats],
    unplanned: Iterable[UnplannedItem],
    asked: PlanFilter,
    months: MonthSplitter,
) -> CostPlan:
    """Compute the plan of a site."""
    plans = [plan for plan in plans if asked.cluster in (None, plan.cluster)]
    term = _term(plans)
    since, until = asked.span.clip(*term)
    if (asked.names or asked.resource_class) and not any(
        asked.has(demand.key) for plan in plans for demand in plan.demands
    ):
        plans = []  # what other reservations need is no answer
    by_plan = [
        (plan, [line for line in cost_lines(plan, asked.span, months) if asked.has(line.key)])
        for plan in plans
    ]
    lines = [line for _, own in by_plan for line in own]
    held = _reserved_intervals(plans)
    reserved = [*_reserved_plans(held, term, asked.span)]
    occurrences = [one for plan, own in by_plan for one in _occurrences(plan, dated, own, asked)]
    bought = {f"{line.kind.capacity_type} {line.kind.type}" for line in lines if line.money is None}
    paid = {f"reserved {one.reserved.key}" for one in reserved if one.use.price is None}
    return CostPlan(
        since,
        max(since, until),
        tuple(peak for plan in plans if (peak := _peak(plan, since, until)) is not None),
        tuple(sorted(occurrences, key=_order)),
        tuple(reserved),
        tuple(sorted(sum_by(lines, lambda line: (line.key[0], line.cluster)).items())),
        tuple(sorted(sum_by(lines, lambda line: (line.key[1], line.cluster)).items())),
        tuple(_months(plans, lines, held, (asked.span, months), term)),
        sum_lines(lines),
        tuple(unplanned),
        tuple(unknown for plan in plans for unknown in plan.catalog.unknown_types()),
        tuple(assumed for plan in plans for assumed in plan.catalog.assumed.items()),
        tuple(sorted(bought | paid)),
        any(plan.catalog.from_table(line.kind) for plan, own in by_plan for line in own),
    )


def _term(plans: Sequence[ClusterPlan]) -> tuple[int, int]:
    """Return the time from the first opening until the last machine goes."""
    opens = [plan.first for plan in plans if plan.demands]
    ends = [plan.last for plan in plans if plan.demands]
    ends += [interval.until for plan in plans for interval in plan.run.intervals]
    return min(opens, default=0), max(ends, default=0)


def _reserved_plans(
    held: Iterable[ReservedIntervals], term: tuple[int, int], span: TimeRange
) -> Iterator[ReservedPlan]:
    for one in held:
        first, end = span.clip(*paid_span(one.reserved, term))
        if first < end:
            use = reserved_usage(one.reserved, one.intervals, term, span)
            yield ReservedPlan(one.cluster, one.reserved, first, end, use)


def _order(one: OccurrencePlan) -> tuple[int, str, str, str]:
    item = one.dated.occurrence
    return item.start, item.reservation, item.id, one.dated.cluster


def _peak(plan: ClusterPlan, since: int, until: int) -> MachinePeak | None:
    counts = MachineCounts(plan.run.intervals)
    most, at = counts.most(since, until)
    if not most:
        return None
    step = max((s for s in plan.run.steps if s.at <= at), key=lambda s: s.at, default=None)
    level: dict[Unit, dict[str, int]] = {Unit.SEAT: {}, Unit.NODE: {}}
    for demand in plan.demands:
        pairs = zip(demand.steps[::2], demand.steps[1::2], strict=True)
        if count := sum(change for minute, change in pairs if minute * 60 <= at):
            own = level[demand.unit]
            own[demand.key[1]] = own.get(demand.key[1], 0) + count
    return MachinePeak(
        plan.cluster,
        at,
        tuple(sorted(level[Unit.SEAT].items())),
        tuple(sorted(level[Unit.NODE].items())),
        sorted_counts(counts.at(at)),
        _idle_reserved(plan, counts, at),
        sum(shortfall.count for _, shortfall in step.shortfalls) if step else 0,
    )


def _months(
    plans: Sequence[ClusterPlan],
    lines: Sequence[CostLine],
    held: Iterable[ReservedIntervals],
    asked: tuple[TimeRange, MonthSplitter],
    term: tuple[int, int],
) -> Iterable[MonthPlan]:
    span, months = asked
    own: dict[str, list[CostLine]] = {}
    for line in lines:
        own.setdefault(line.month, []).append(line)
    paid: dict[str, dict[str, ReservedUsage]] = {}
    for one in held:
        first, end = span.clip(*paid_span(one.reserved, term))
        for month, since, until in months(first, end) if first < end else ():
            use = reserved_usage(one.reserved, one.intervals, term, TimeRange(since, until))
            paid.setdefault(month, {})[one.reserved.key] = use
    standing = [MachineCounts(plan.run.intervals) for plan in plans]
    bounds = {month: (first, end) for month, first, end in months(*term)}
    for month in sorted({*own, *paid}):
        first, end = span.clip(*bounds.get(month, (0, 0)))
        yield MonthPlan(
            month,
            sum_lines(own.get(month, ())),
            sum(one.most(first, end)[0] for one in standing),
            tuple(sorted(paid.get(month, {}).items())),
            sum_by(own.get(month, ()), lambda line: line.key[0]),
        )
