"""The plan of a site: what every occurrence and every peak needs, what all of it costs, and how early to
open.

Lead times are lower bounds for instances that the cloud has: what Karpenter and cluster-autoscaler take,
and a usual boot time. `gen.command.plan` formats what is computed here.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple, TypeVar

from berth.checks.ceilings import PoolLoad, add_steps, levels
from berth.checks.policychecks import PoolCost, PoolCosts
from berth.dates.expansion import Occurrence
from berth.dates.moments import local_day, named
from berth.dates.zone import DAY, Zone, day_of, number, resolve
from berth.machines.capacitycatalog import MachineKind, ReservedMachines
from berth.machines.clusterplans import ClusterPlan, UnplannedItem, plan_clusters
from berth.machines.nodelabels import ON_DEMAND, RESERVED, SPOT
from berth.machines.overtime import (
    CountedKinds,
    MachineCounts,
    MachineInterval,
    MachineStep,
    Money,
    PoolKey,
    Shortfall,
    SimulationRun,
    dollars,
    sorted_counts,
)
from berth.schema.cloudvalues import GENERIC, CloudCapacity
from berth.schema.declared import Declared
from berth.schema.seatholders import Unit
from berth.schema.values import Site

Group = TypeVar("Group")
CAPACITY_TYPES = (RESERVED, ON_DEMAND, SPOT)


class TimeRange(NamedTuple):
    """The time range [since, until); None is open."""

    since: int | None = None
    until: int | None = None

    def clip(self, first: int, end: int) -> tuple[int, int]:
        """Return the part of [first, end) within the range."""
        return max(first, self.since or first), end if self.until is None else min(end, self.until)


class CostLine(NamedTuple):
    """`seconds` of machines of one kind that a pool uses in one month. `money` None: the price is not
    known.
    """

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


class ReservedIntervals(NamedTuple):
    """A capacity reservation with the intervals on its machines in all clusters, `cluster` first."""

    cluster: str
    reserved: ReservedMachines
    intervals: tuple[MachineInterval, ...]


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


MonthSplitter = Callable[[int, int], Iterable[tuple[str, int, int]]]
"""Splits a time range into months: name, first, end."""


def cost_lines(planned: ClusterPlan, span: TimeRange, months: MonthSplitter) -> list[CostLine]:
    """Return the lines of a plan."""
    found: list[CostLine] = []
    prices: dict[MachineKind, Decimal | None] = {}
    for interval in planned.run.intervals:
        if interval.kind not in prices:
            prices[interval.kind] = planned.catalog.price(interval.kind)
        price = prices[interval.kind]
        first, end = span.clip(interval.since, interval.until)
        for month, since, until in months(first, end) if first < end else ():
            for key, seconds in share_seconds(until - since, interval.payers):
                money = None if price is None else price * seconds
                found.append(CostLine(month, planned.cluster, key, interval.kind, since, seconds, money))
    return found


def share_seconds(seconds: int, payers: Sequence[tuple[PoolKey, int]]) -> list[tuple[PoolKey, int]]:
    """Share whole seconds by numbers of seats; what is left over goes to the largest remainders."""
    if len(payers) == 1:
        return [(payers[0][0], seconds)]
    whole = sum(count for _, count in payers)
    parts = [(key, *divmod(seconds * count, whole)) for key, count in payers]
    left = seconds - sum(share for _, share, _ in parts)
    more = {key for key, _, _ in sorted(parts, key=lambda part: (-part[2], part[0]))[:left]}
    return [(key, share + (key in more)) for key, share, _ in parts]


def sum_lines(some: Iterable[CostLine]) -> CostSum:
    """Add lines."""
    seconds = dict.fromkeys(CAPACITY_TYPES, 0)
    money = dict.fromkeys(CAPACITY_TYPES[1:], Decimal(0))
    unpriced: set[MachineKind] = set()
    for line in some:
        kind = line.kind.capacity_type
        seconds[kind] += line.seconds
        if line.money is None:
            unpriced.add(line.kind)
        elif kind in money:
            money[kind] += line.money
    return CostSum(tuple(seconds.items()), tuple(money.items()), tuple(sorted(unpriced)))


def sum_by(some: Iterable[CostLine], by: Callable[[CostLine], Group]) -> dict[Group, CostSum]:
    """Add lines by group."""
    found: dict[Group, list[CostLine]] = {}
    for line in some:
        found.setdefault(by(line), []).append(line)
    return {group: sum_lines(own) for group, own in found.items()}


def reserved_intervals(some: Iterable[ClusterPlan]) -> list[ReservedIntervals]:
    """Return each capacity reservation once, however many clusters use it. If their counts differ, the
    least counts.
    """
    found: dict[str, ReservedIntervals] = {}
    for cluster_plan in some:
        intervals: dict[str, list[MachineInterval]] = {}
        for interval in cluster_plan.run.intervals:
            intervals.setdefault(interval.kind.reserved, []).append(interval)
        for key, each in cluster_plan.catalog.reserved.items():
            mine, known = tuple(intervals.get(key, ())), found.get(key)
            if known is None:
                found[key] = ReservedIntervals(cluster_plan.cluster, each, mine)
            else:
                least = min(
                    known.reserved.reservation, each.reservation, key=lambda reservation: reservation.count
                )
                capacities = (*known.reserved.capacities, *each.capacities)
                both = known.reserved._replace(capacities=capacities, reservation=least)
                found[key] = ReservedIntervals(known.cluster, both, (*known.intervals, *mine))
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


def usage_by_month(
    some: Iterable[ReservedIntervals], span: TimeRange, months: MonthSplitter, term: tuple[int, int]
) -> Mapping[str, dict[str, ReservedUsage]]:
    """Return the use by month, then by reservation."""
    found: dict[str, dict[str, ReservedUsage]] = {}
    for one in some:
        first, end = span.clip(*paid_span(one.reserved, term))
        for month, since, until in months(first, end) if first < end else ():
            uses = found.setdefault(month, {})
            uses[one.reserved.key] = reserved_usage(
                one.reserved, one.intervals, term, TimeRange(since, until)
            )
    return found


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


BATCH_SECONDS = 11  # seconds: Karpenter waits 10 for more pods, and plans
LAUNCH_SECONDS = 10  # until the next loop knows what was launched
SCAN, PROVISION = 10, 15 * 60  # cluster-autoscaler: its interval, and how long it waits for a node


def lead_seconds(clouds: Iterable[CloudCapacity], loops: int) -> int:
    """Return how long seats may wait for nodes of any of these capacities that this many loops buy."""
    return (
        max((_asked_seconds(cloud, loops) + cloud.startup.seconds for cloud in clouds), default=0)
        if loops
        else 0
    )


def _asked_seconds(cloud: CloudCapacity, loops: int) -> int:
    """Return how long it takes to ask for nodes: cluster-autoscaler asks for all of them at once."""
    return SCAN if cloud.provider == GENERIC else loops * (BATCH_SECONDS + LAUNCH_SECONDS)


def _autoscaler_lead(clouds: Iterable[CloudCapacity], loops: int) -> int:
    """Return how long seats may wait if cluster-autoscaler asks for the nodes."""
    waits = (SCAN + (cloud.startup.seconds if cloud.provider == GENERIC else PROVISION) for cloud in clouds)
    return max(waits, default=0) if loops else 0


class OccurrenceSeats(NamedTuple):
    """One occurrence in one cluster with its seats there, or its whole nodes, as `unit` says."""

    occurrence: Occurrence
    cluster: str
    seats: tuple[tuple[str, int], ...]
    unit: Unit = Unit.SEAT


class OccurrencePlan(NamedTuple):
    """What one occurrence needs when it has opened.

    `machines` are those that its seats are on, `bought` all that were bought at that moment. `idle` counts
    unused reserved machines.
    """

    dated: OccurrenceSeats
    machines: CountedKinds
    bought: int
    loops: int
    shortfalls: tuple[tuple[str, Shortfall], ...]  # by class
    idle: int
    lead: int = 0  # seconds that the seats may wait for their nodes
    autoscaler_lead: int = 0  # the same if cluster-autoscaler asks for them


class PlanFilter(NamedTuple):
    """The part of the plan to show. `names` are reservations; empty stands for all."""

    span: TimeRange = TimeRange()
    names: frozenset[str] = frozenset()
    resource_class: str | None = None
    cluster: str | None = None

    @property
    def is_narrow(self) -> bool:
        """Tell whether it leaves out any pool of a cluster."""
        return bool(self.names) or self.resource_class is not None

    def has(self, key: PoolKey) -> bool:
        """Tell whether the filter includes a pool."""
        return (not self.names or key[0] in self.names) and self.resource_class in (None, key[1])


def plan_occurrences(
    some: Sequence[ClusterPlan], dated: Iterable[OccurrenceSeats], asked: PlanFilter
) -> list[OccurrencePlan]:
    """Return what each occurrence needs, in order of time."""
    found = []
    views = {cluster_plan.cluster: _ClusterView(cluster_plan) for cluster_plan in some}
    for occurrence_seats in dated:
        view = views.get(occurrence_seats.cluster)
        seats = tuple(
            (name, count)
            for name, count in occurrence_seats.seats
            if view is not None
            and (occurrence_seats.occurrence.reservation, name) in view.keys
            and asked.has((occurrence_seats.occurrence.reservation, name))
        )
        first, end = asked.span.clip(occurrence_seats.occurrence.open, occurrence_seats.occurrence.end)
        if view is not None and seats and first < end:
            found.append(view.of(occurrence_seats._replace(seats=seats)))
    return sorted(found, key=_occurrence_order)


def _occurrence_order(one: OccurrencePlan) -> tuple[int, str, str, str]:
    item = one.dated.occurrence
    return item.start, item.reservation, item.id, one.dated.cluster


class _ClusterView:
    """Look up occurrences in the plan of one cluster."""

    def __init__(self, planned: ClusterPlan) -> None:
        self._planned = planned
        self.keys = {demand.key for demand in planned.demands}
        self._steps = {step.at: step for step in planned.run.steps}
        self._standing = MachineCounts(planned.run.intervals)

    def of(self, one: OccurrenceSeats) -> OccurrencePlan:
        item = one.occurrence
        keys = [(item.reservation, name) for name, _ in one.seats]
        machines: dict[MachineKind, int] = {}
        for machine in _machines_of(self._planned.run, keys, item.open):
            kind = self._planned.run.kinds[machine]
            machines[kind] = machines.get(kind, 0) + 1
        step = self._steps.get(item.open) or MachineStep(item.open, 0, 0, ())
        shortfalls = dict(step.shortfalls)
        clouds = [self._planned.catalog.clouds[kind.capacity] for kind in machines]
        return OccurrencePlan(
            one,
            sorted_counts(machines),
            step.bought,
            step.loops,
            tuple(
                (name, shortfalls[key]._replace(count=min(shortfalls[key].count, count)))
                for key, (name, count) in zip(keys, one.seats, strict=True)
                if key in shortfalls
            ),
            idle_reserved_at(self._planned, self._standing, item.open),
            lead_seconds(clouds, step.loops if step.bought else 0),
            _autoscaler_lead(clouds, step.bought),
        )


def _machines_of(run: SimulationRun, keys: Iterable[PoolKey], at: int) -> set[int]:
    """Return the machines that seats of these pools are on."""
    found: set[int] = set()
    for key in keys:
        mine = run.placements.get(key, [])
        place = bisect_right(mine, at, key=lambda placement: placement[0]) - 1
        if place >= 0:
            found |= {number for number, _ in mine[place][1]}
    return found


def idle_reserved_at(planned: ClusterPlan, standing: MachineCounts, now: int) -> int:
    """Return how many reserved machines are unused at an instant."""
    there = sum(one.reservation.count for one in planned.catalog.reserved.values() if one.at(now))
    return max(0, there - sum(number for kind, number in standing.at(now).items() if kind.reserved))


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
    """One month; `paid` is by reservation."""

    month: str
    sum: CostSum
    peak: int
    paid: tuple[tuple[str, ReservedUsage], ...]


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
    some: Sequence[ClusterPlan],
    dated: Iterable[OccurrenceSeats],
    unplanned: Iterable[UnplannedItem],
    asked: PlanFilter,
    months: MonthSplitter,
) -> CostPlan:
    """Compute the plan of a site."""
    some = [cluster_plan for cluster_plan in some if asked.cluster in (None, cluster_plan.cluster)]
    term = _term(some)
    since, until = asked.span.clip(*term)
    if asked.is_narrow and not any(
        asked.has(demand.key) for cluster_plan in some for demand in cluster_plan.demands
    ):
        some = []  # what other reservations need is no answer
    told = [
        line
        for cluster_plan in some
        for line in cost_lines(cluster_plan, asked.span, months)
        if asked.has(line.key)
    ]
    held = reserved_intervals(some)
    reserved = [
        ReservedPlan(reserved_interval.cluster, reserved_interval.reserved, first, end, use)
        for reserved_interval in held
        for first, end in [asked.span.clip(*paid_span(reserved_interval.reserved, term))]
        for use in [reserved_usage(reserved_interval.reserved, reserved_interval.intervals, term, asked.span)]
        if first < end
    ]
    return CostPlan(
        since,
        max(since, until),
        tuple(peak for cluster_plan in some if (peak := _peak(cluster_plan, since, until)) is not None),
        tuple(plan_occurrences(some, dated, asked)),
        tuple(reserved),
        tuple(sorted(sum_by(told, lambda line: (line.key[0], line.cluster)).items())),
        tuple(sorted(sum_by(told, lambda line: (line.key[1], line.cluster)).items())),
        tuple(_months(some, held, told, asked, months)),
        sum_lines(told),
        tuple(unplanned),
        tuple(
            (name, each)
            for cluster_plan in some
            for name in cluster_plan.catalog.clouds
            for each in cluster_plan.catalog.unknown_types(name)
        ),
        tuple(assumed for cluster_plan in some for assumed in cluster_plan.catalog.assumed.items()),
        _unpriced(told, reserved),
        any(
            cluster_plan.catalog.from_table(line.kind)
            for cluster_plan in some
            for line in told
            if line.cluster == cluster_plan.cluster
        ),
    )


def monthly_costs(some: Sequence[ClusterPlan], months: MonthSplitter) -> dict[str, dict[str, Money]]:
    """Return what each reservation costs in each month, besides what is paid in advance; unknown prices are
    0.
    """
    found: dict[str, dict[str, Money]] = {}
    for cluster_plan in some:
        for line in cost_lines(cluster_plan, TimeRange(), months):
            mine = found.setdefault(line.month, {})
            mine[line.key[0]] = mine.get(line.key[0], Decimal(0)) + (line.money or Decimal(0))
    return found


def _term(some: Iterable[ClusterPlan]) -> tuple[int, int]:
    """Return the time from the first opening to the end of the last machine."""
    opens = [cluster_plan.first for cluster_plan in some if cluster_plan.demands]
    ends = [cluster_plan.last for cluster_plan in some if cluster_plan.demands]
    ends += [interval.until for cluster_plan in some for interval in cluster_plan.run.intervals]
    return min(opens, default=0), max(ends, default=0)


def _peak(one: ClusterPlan, since: int, until: int) -> MachinePeak | None:
    counts = MachineCounts(one.run.intervals)
    number, at = counts.most(since, until)
    if not number:
        return None
    step = max((s for s in one.run.steps if s.at <= at), key=lambda s: s.at, default=None)
    return MachinePeak(
        one.cluster,
        at,
        _open_counts(one, at, Unit.SEAT),
        _open_counts(one, at, Unit.NODE),
        sorted_counts(counts.at(at)),
        idle_reserved_at(one, counts, at),
        sum(shortfall.count for _, shortfall in step.shortfalls) if step else 0,
    )


def _open_counts(one: ClusterPlan, at: int, unit: Unit) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for demand in one.demands:
        if demand.unit is not unit:
            continue
        pairs = zip(demand.steps[::2], demand.steps[1::2], strict=True)
        count = sum(change for minute, change in pairs if minute * 60 <= at)
        if count:
            found[demand.key[1]] = found.get(demand.key[1], 0) + count
    return tuple(sorted(found.items()))


def _months(
    some: Sequence[ClusterPlan],
    held: Sequence[ReservedIntervals],
    told: Sequence[CostLine],
    asked: PlanFilter,
    months: MonthSplitter,
) -> Iterable[MonthPlan]:
    term = _term(some)
    sums = sum_by(told, lambda line: line.month)
    paid = usage_by_month(held, asked.span, months, term)
    standing = [MachineCounts(cluster_plan.run.intervals) for cluster_plan in some]
    bounds = {month: (first, end) for month, first, end in months(*term)}
    for month in sorted({*sums, *paid}):
        found = sums.get(month, sum_lines(()))
        first, end = bounds.get(month, (0, 0))
        yield MonthPlan(
            month,
            found,
            sum(one.most(*asked.span.clip(first, end))[0] for one in standing),
            tuple(sorted(paid.get(month, {}).items())),
        )


def _unpriced(told: Iterable[CostLine], reserved: Iterable[ReservedPlan]) -> tuple[str, ...]:
    bought = {f"{line.kind.capacity_type} {line.kind.type}" for line in told if line.money is None}
    paid = {
        f"reserved {reserved_plan.reserved.key}"
        for reserved_plan in reserved
        if reserved_plan.use.price is None
    }
    return tuple(sorted(bought | paid))


def pool_costs(plans: Iterable[ClusterPlan], zone: str, now: int) -> PoolCosts:
    """Return the cost of each planned pool, without what is paid in advance. `zone`: of the site."""
    months = month_splitter(named(zone))
    found = {}
    for plan in plans:
        sums = sum_by(cost_lines(plan, TimeRange(since=now), months), lambda line: line.key)
        for demand in plan.demands:
            one = sums.get(demand.key, sum_lines(()))
            found[demand.key] = PoolCost(dollars(one.priced), is_partial=bool(one.unpriced))
    return found


def seat_prices(
    declared: Declared, site: Site, pools: Mapping[str, Sequence[PoolLoad]]
) -> dict[PoolKey, Money]:
    """Return the dollars an hour of one seat of each pool, without pools of which a price is missing.

    `pools` are given by cluster. Machines that are paid ahead cost nothing here.
    """
    months = month_splitter(named(site.zone))
    lines = [
        line
        for plan_cluster in plan_clusters(declared, site, pools)
        for line in cost_lines(plan_cluster, TimeRange(), months)
    ]
    seconds = {
        (pool.reservation, pool.resource_class): sum(_held(pool.steps))
        for own in pools.values()
        for pool in own
    }
    money = {key: own.bought for key, own in sum_by(lines, lambda line: line.key).items()}
    return {key: paid / seconds[key] for key, paid in money.items() if paid is not None and seconds.get(key)}


def _held(steps: Sequence[int]) -> Iterator[int]:
    """Yield the seat-seconds between the changes of a pool."""
    for since, until, count in levels(add_steps([steps])):
        yield 60 * (until - since) * count
