"""Assign the cost of machines to pools and months: each interval is shared among its seats, to the second.

Shares are whole seconds and money is exact, so the sums by reservation, class or month add up to the total.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import NamedTuple, TypeVar

from berth.dates.moments import local_day
from berth.dates.zone import DAY, Zone, day_of, number, resolve
from berth.karpenter.nodelabels import ON_DEMAND, RESERVED, SPOT
from berth.machines.capacitycatalog import ReservedMachines
from berth.machines.clusterplans import ClusterPlan
from berth.machines.results import MachineInterval, MachineKind, Money, PoolKey

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
