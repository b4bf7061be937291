"""The plan of a site: what every occurrence and every peak needs, what all of it costs, and how early to
open.

Lead times are lower bounds for instances that the cloud has: what Karpenter and cluster-autoscaler take,
and a usual boot time. `gen.command.plan` formats what is computed here.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from berth.dates.expansion import Occurrence
from berth.machines import ledger
from berth.machines.capacitycatalog import ReservedMachines
from berth.machines.clusterplans import ClusterPlan, UnplannedItem
from berth.machines.ledger import (
    CostLine,
    CostSum,
    MonthSplitter,
    ReservedIntervals,
    ReservedUsage,
    TimeRange,
)
from berth.machines.results import (
    CountedKinds,
    MachineCounts,
    MachineKind,
    MachineStep,
    Money,
    PoolKey,
    Shortfall,
    SimulationRun,
    sorted_counts,
)
from berth.schema.cloudvalues import GENERIC, CloudCapacity
from berth.schema.seatholders import Unit

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
        for number in _machines_of(self._planned.run, keys, item.open):
            kind = self._planned.run.kinds[number]
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
        for line in ledger.cost_lines(cluster_plan, asked.span, months)
        if asked.has(line.key)
    ]
    held = ledger.reserved_intervals(some)
    reserved = [
        ReservedPlan(reserved_interval.cluster, reserved_interval.reserved, first, end, use)
        for reserved_interval in held
        for first, end in [asked.span.clip(*ledger.paid_span(reserved_interval.reserved, term))]
        for use in [
            ledger.reserved_usage(reserved_interval.reserved, reserved_interval.intervals, term, asked.span)
        ]
        if first < end
    ]
    return CostPlan(
        since,
        max(since, until),
        tuple(peak for cluster_plan in some if (peak := _peak(cluster_plan, since, until)) is not None),
        tuple(plan_occurrences(some, dated, asked)),
        tuple(reserved),
        tuple(sorted(ledger.sum_by(told, lambda line: (line.key[0], line.cluster)).items())),
        tuple(sorted(ledger.sum_by(told, lambda line: (line.key[1], line.cluster)).items())),
        tuple(_months(some, held, told, asked, months)),
        ledger.sum_lines(told),
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
        for line in ledger.cost_lines(cluster_plan, TimeRange(), months):
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
    sums = ledger.sum_by(told, lambda line: line.month)
    paid = ledger.usage_by_month(held, asked.span, months, term)
    standing = [MachineCounts(cluster_plan.run.intervals) for cluster_plan in some]
    bounds = {month: (first, end) for month, first, end in months(*term)}
    for month in sorted({*sums, *paid}):
        found = sums.get(month, ledger.sum_lines(()))
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
