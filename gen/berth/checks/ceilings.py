"""Add up what pools hold over time, and check the sums against the ceilings of each cluster.

Moments are whole minutes since the epoch, which take half of the memory: every date of thousands of
reservations is kept until all are in. The sizes of pools are computed by the cluster's own functions
(`berth.core.target`): placeholders together with the sessions that were promised a seat, so back-to-back
occurrences both count while one hands over to the next. Callers say what counts by `each`, the amount that
one seat of a class takes: `{"small": 1}` counts the seats of small, and `per_seat` does the same for a
resource. Classes that are not in it take nothing, nor do whole nodes, which are not seats. Numbers of
somebody else's objects count as seats of their class; only those that count pods, and are no caps, take what
it requests.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import NamedTuple

from berth.checks.basenames import BaseNames
from berth.checks.numberlevels import NumberHolding, number_levels
from berth.core.jsonvalues import instant_text
from berth.core.sessions import Match
from berth.core.target import counted_occurrences, full_count, target
from berth.core.timetable import TimetableOccurrence, TimetablePool
from berth.dates.expansion import Occurrence as Dated
from berth.dates.moments import named
from berth.dates.zone import DAY, number, resolve
from berth.findings import Path, Problem
from berth.manifests.placed import Placed
from berth.quantity import parse
from berth.quantity import text as quantity_text
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.site import CeilingSpec
from berth.schema.values import ResourceClass, Site

NO_END = 2**31  # in six thousand years
_MAX_NAMED = 10  # reservations in one message

Steps = Sequence[int]
"""The changes of one pool in order: minute, change, minute, change and so on."""


class PoolLoad(NamedTuple):
    """The size of one pool over time."""

    reservation: str
    resource_class: str
    steps: Steps
    unit: Unit = Unit.SEAT
    is_otherwise: bool = False  # what a number of somebody else is outside of windows, beyond them
    is_cap: bool = False  # a number that limits others, and requests nothing


def per_seat(resource: str, classes: Mapping[str, ResourceClass]) -> dict[str, int]:
    """Return what one seat of each class requests of a resource, in billionths, without classes that
    request none.
    """
    asked = {
        name: parse(resource_class.requests.get(resource, "0")) or 0
        for name, resource_class in classes.items()
    }
    return {name: amount for name, amount in asked.items() if amount}


def _weight(pool: PoolLoad, each: Mapping[str, int]) -> int:
    """Return what one seat takes. Only here whole nodes are excluded from sums of seats."""
    return 0 if pool.unit is Unit.NODE else each.get(pool.resource_class, 0)


ClassChanges = Mapping[str, Mapping[int, int]]
"""The changes of all pools of seats, by class and minute, in no order."""


def pods(pools: Iterable[PoolLoad]) -> list[PoolLoad]:
    """Return the pools of pods, which take what their class requests. A cap lets pods be, and has none."""
    return [pool for pool in pools if pool.unit.is_pod and not pool.is_cap]


def placed_by_berth(pools: Iterable[PoolLoad]) -> list[PoolLoad]:
    """Return the pools of seats and nodes: where the pods of somebody else run is not known."""
    return [pool for pool in pools if not pool.unit.is_number]


def units_text(pools: Iterable[PoolLoad]) -> str:
    """Return what pools of a class count: `seats`, `replicas`, or `seats and replicas`."""
    counted = {pool.unit for pool in pools} - {Unit.NODE}
    return " and ".join(unit.plural for unit in Unit if unit in counted) or Unit.SEAT.plural


def step_pairs(steps: Steps) -> Iterator[tuple[int, int]]:
    """Yield each minute with its change."""
    return zip(steps[::2], steps[1::2], strict=True)


def changes_by_class(pools: Iterable[PoolLoad]) -> ClassChanges:
    """Add up the changes of all pools of each class by minute: once for all that is counted of them."""
    changes: dict[str, dict[int, int]] = {}
    for pool in pools:
        if _weight(pool, {pool.resource_class: 1}):
            of_class = changes.setdefault(pool.resource_class, {})
            for minute, change in step_pairs(pool.steps):
                of_class[minute] = of_class.get(minute, 0) + change
    return changes


def weigh_changes(by_class: ClassChanges, each: Mapping[str, int]) -> dict[int, int]:
    """Add up the changes of all classes by minute, in no order."""
    changes: dict[int, int] = {}
    for name in each.keys() & by_class.keys():
        for minute, change in by_class[name].items():
            changes[minute] = changes.get(minute, 0) + each[name] * change
    return changes


def sum_changes(pools: Iterable[PoolLoad], each: Mapping[str, int]) -> dict[int, int]:
    """Add up the changes of all pools by minute, in no order."""
    return weigh_changes(changes_by_class(pools), each)


def levels(changes: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield `since, until, amount` in order of time and without gaps, from the first change on."""
    total = 0
    for at, until in pairwise([*sorted(changes), NO_END]):
        total += changes[at]
        yield at, until, total


def peak(changes: Mapping[int, int], first: int, last: int) -> tuple[int, int] | None:
    """Return the largest amount in [first, last) and its first minute, or None if nothing is held."""
    best, since = 0, 0
    for at, until, total in levels(changes):
        if total > best and at < last and until > first:
            best, since = total, max(at, first)
    return (best, since) if best else None


def active_pools(
    pools: Iterable[PoolLoad], each: Mapping[str, int], minute: int
) -> Iterator[tuple[PoolLoad, int]]:
    """Yield the pools that hold something at a minute, and how much."""
    for pool in pools:
        weight = _weight(pool, each)
        pairs = step_pairs(pool.steps)
        held = weight and weight * sum(change for at, change in pairs if at <= minute)
        if held:
            yield pool, held


def last_rise(steps: Steps, minute: int) -> int:
    """Return the last minute up to `minute` at which the pool grew. A pool that holds something has one."""
    return max(at for at, change in step_pairs(steps) if change > 0 and at <= minute)


def held_by_reservation(
    pools: Iterable[PoolLoad], each: Mapping[str, int], minute: int
) -> list[tuple[str, int]]:
    """Return what each reservation holds at a minute, largest first."""
    held: dict[str, int] = {}
    for pool, amount in active_pools(pools, each, minute):
        held[pool.reservation] = held.get(pool.reservation, 0) + amount
    return sorted(held.items(), key=lambda item: (-item[1], item[0]))


def holders_text(holders: Sequence[tuple[str, str]]) -> str:
    """Format the first ten holders and the number of others: `ml 50, statistics 25`."""
    more = f" and {len(holders) - _MAX_NAMED} more" if len(holders) > _MAX_NAMED else ""
    return ", ".join(f"{name} {amount}" for name, amount in holders[:_MAX_NAMED]) + more


class _CeilingLimit(NamedTuple):
    """One limit of a ceiling. `each`: what one seat of a class takes. `what`: `of small`, `of cpu`."""

    what: str
    most: int
    written: str
    each: Mapping[str, int]
    say: Callable[[int], str]
    is_of_pods: bool = False
    is_of_base: bool = False  # of the base of a change, not of what is checked


def pool_steps(
    reservation: Reservation, resource_class: ResourceClass, occurrences: Sequence[Dated]
) -> list[int]:
    """Return the changes of a pool over its whole life. A persistent pool grows at minute 0."""
    name = resource_class.name
    persistence = reservation.holder.persistence
    if persistence is None:
        is_counted = reservation.behavior != "none" and resource_class.sessions is not None
        handover = reservation.sessions.handover if is_counted else 0
        match = Match(handover=handover, carries_over=reservation.sessions.carry_over or not is_counted)
        pool = TimetablePool(name, "", reservation.behavior, match=match, overlap=reservation.overlap)
        return window_steps(pool, occurrences)
    count = dict(reservation.seats).get(name, 0)
    return [0, count] if persistence.until is None else [0, count, -(-persistence.until // 60), -count]


def window_steps(pool: TimetablePool, occurrences: Iterable[Dated]) -> list[int]:
    """Return the changes of a pool that follows windows."""
    ordered = sorted(occurrences, key=lambda item: item.open)
    until = 0
    for item in ordered:
        if item.scaling or item.open <= until:
            return _in_groups(pool, ordered)
        until = item.end + pool.match.handover
    steps: list[int] = []
    count, held = 0, None
    for item in ordered:
        if item.seats is not held:
            held = item.seats
            count = dict(held).get(pool.resource_class, 0)
        steps += (item.open // 60, count, item.end // 60, -count)
    return steps


def _in_groups(pool: TimetablePool, occurrences: Iterable[Dated]) -> list[int]:
    """Return the same, with touching occurrences combined by the cluster's own functions."""
    steps: list[int] = []
    group: list[Dated] = []
    until = 0
    rows = (row for item in occurrences for row in item.openings())
    for item in sorted(rows, key=lambda row: row.open):
        if item.open > until:
            steps += _touching(pool, group)
            group = []
        group.append(item)
        until = max(until, item.end + pool.match.handover)
    return steps + _touching(pool, group)


def _touching(pool: TimetablePool, group: Iterable[Dated]) -> list[int]:
    held, steps = 0, []
    asked = [occurrence.row() for occurrence in group]
    instants = {at for row in asked for at in (row.open, row.start, row.end, row.end + pool.match.handover)}
    for at in sorted(instants):
        wanted = promised(pool, asked, at)
        if wanted != held:
            steps += [at // 60, wanted - held]
            held = wanted
    return steps


def promised(pool: TimetablePool, occurrences: Iterable[TimetableOccurrence], now: int) -> int:
    """Return the most seats of a pool that are free or taken at `now`, up to the seats of each occurrence.

    The people of one occurrence may have taken all its seats while all those of the next are free. If
    sessions carry over, or nobody counts them, these are the same seats.
    """
    counted, seats = counted_occurrences(occurrences, pool, now), full_count(pool.resource_class)
    if pool.match.carries_over:
        return target(counted, now, seats, pool.overlap)
    if pool.overlap == "sum":
        return sum(map(seats, counted))
    best = [(0, 0)]  # the most that occurrences up to an end have, of which no two overlap
    for occurrence in sorted(counted, key=lambda item: item.end):
        before = max(most for end, most in best if end <= occurrence.start)
        best.append((occurrence.end, seats(occurrence) + before))
    return max(most for _, most in best)


def number_loads(holding: Sequence[NumberHolding]) -> Iterator[PoolLoad]:
    """Yield what a number of somebody else is over time, each part with the reservation that says so."""
    holder, name = holding[0].reservation.holder, holding[0].resource_class
    is_sum = any(each.reservation.overlap == "sum" for each in holding)
    steps, before = dict[tuple[str, bool], list[int]](), dict[tuple[str, bool], int]()
    for level in number_levels(holding):
        amounts = level.counts if is_sum and level.counts else {level.reservation.name: level.amount or 0}
        held = {(reservation, not level.counts): amount for reservation, amount in amounts.items()}
        for key in {**before, **held}:
            if change := held.get(key, 0) - before.get(key, 0):
                steps.setdefault(key, []).extend((level.since // 60, change))
        before = held
    for (reservation, is_otherwise), changes in steps.items():
        yield PoolLoad(reservation, name, changes, holder.unit, is_otherwise, holder.is_cap)


def ceiling_span(ceiling: CeilingSpec, zone_name: str) -> tuple[int, int]:
    """Return the dates of a ceiling as minutes, [first, last), in the site's time zone."""
    zone = named(zone_name)
    first = resolve(zone, number(ceiling.first) * DAY) // 60 if ceiling.first else 0
    last = resolve(zone, (number(ceiling.until) + 1) * DAY) // 60 if ceiling.until else NO_END
    return first, last


class PoolLoads:
    """The loads of all pools by cluster, and what numbers of somebody else are."""

    def __init__(self, parts: Iterable[tuple[Placed, Sequence[PoolLoad], Sequence[Dated]]]) -> None:
        """Count parts of reservations. One that is suspended has classes and no loads."""
        self.by_cluster: dict[str, list[PoolLoad]] = {}
        self.reservations: dict[str, Reservation] = {}
        self._numbers: dict[tuple[str, object, str], list[NumberHolding]] = {}
        for placed, pools, occurrences in parts:
            cluster, reservation = placed.cluster.name, placed.reservation
            number = reservation.holder.shared
            self.by_cluster.setdefault(cluster, []).extend(pools)
            self.reservations[reservation.name] = reservation
            for found in placed.classes if number is not None else ():
                same = self._numbers.setdefault((cluster, number, found.name), [])
                same.append(NumberHolding(reservation, found.name, occurrences))

    def pools(self, cluster: str) -> Sequence[PoolLoad]:
        return self.by_cluster.get(cluster, ())

    def with_numbers(self, cluster: str) -> Sequence[PoolLoad]:
        """Return the same, with each number of somebody else once: also outside of windows.

        That of a suspended reservation, too: its number goes back to it.
        """
        own = [p for p in self.pools(cluster) if self.reservations[p.reservation].holder.shared is None]
        held = [number_loads(each) for (there, *_), each in self._numbers.items() if there == cluster]
        return [*own, *chain.from_iterable(held)]


class Ceilings:
    """The ceilings of all clusters, and which classes they limit."""

    def __init__(
        self,
        site: Site,
        classes: Mapping[str, ResourceClass],
        *,
        also: Set[str] = frozenset(),
        all_loads: bool = False,
    ) -> None:
        """`also` are classes that something else limits; `all_loads` counts every class."""
        self.site = site
        self._classes = classes
        self._limits = {c.name: [_limits(ceiling, classes) for ceiling in c.ceilings] for c in site.clusters}
        self._limited = {
            name: {*classes}
            if all_loads
            else {name for limits in ceilings for limit in limits for name in limit.each} | also
            for name, ceilings in self._limits.items()
        }

    def loads(self, placed: Placed, occurrences: Sequence[Dated]) -> list[PoolLoad]:
        """Return the loads of those classes of a part of a reservation that count."""
        limited, reservation = self._limited[placed.cluster.name], placed.reservation
        if not limited or reservation.suspend:
            return []
        loads = list[PoolLoad]()
        for resource_class in placed.classes:
            if resource_class.name in limited:
                steps, holder = pool_steps(reservation, resource_class, occurrences), reservation.holder
                pool = reservation.name, resource_class.name, array("i", steps), holder.unit
                loads.append(PoolLoad(*pool, is_cap=holder.is_cap))
        return loads

    def is_limited(self, cluster: str, resource_class: str) -> bool:
        """Tell whether a ceiling of the cluster limits a class."""
        return any(resource_class in limit.each for limits in self._limits[cluster] for limit in limits)

    def problems(self, loads: PoolLoads) -> Iterator[Problem]:
        """Report each limit that is exceeded, at its peak."""
        for cluster in self.site.clusters:
            spans = [ceiling_span(ceiling, self.site.zone) for ceiling in cluster.ceilings]
            limits = [*zip(spans, self._limits[cluster.name], strict=True)]
            pools = loads.with_numbers(cluster.name) if limits else []
            yield from _exceeded(cluster.name, limits, pools, loads.reservations)


def check_ceilings_of_base(
    base: tuple[Site, BaseNames],
    site: Site,
    classes: Mapping[str, ResourceClass],
    loads: PoolLoads,
) -> Iterator[Problem]:
    """Report what exceeds ceilings of the base of a change, except those that stay as they are.

    What is in a cluster that the base does not know counts in all of its clusters, and seats of a class that
    it does not know count as those of each class. Of resources, each takes what it requests now.
    """
    before, known = base
    after = {cluster.name: cluster for cluster in site.clusters}
    for cluster in before.clusters:
        names = [name for name in after if name == cluster.name or name not in known.clusters]
        pools = [pool for name in names for pool in loads.with_numbers(name)] if cluster.ceilings else []
        unknown = {name for pool in pools if not known.knows_class(classes[name := pool.resource_class])}
        stay = after[cluster.name].ceilings if names == [cluster.name] and before.zone == site.zone else ()
        limits = [
            (
                ceiling_span(ceiling, before.zone),
                [
                    limit._replace(
                        each=limit.each if limit.is_of_pods else {**limit.each, **dict.fromkeys(unknown, 1)},
                        is_of_base=True,
                    )
                    for limit in _limits(ceiling, classes)
                ],
            )
            for ceiling in cluster.ceilings
            if unknown or ceiling not in stay
        ]
        yield from _exceeded(", ".join(names), limits, pools, loads.reservations)


def _exceeded(
    cluster: str,
    ceilings: Sequence[tuple[tuple[int, int], Sequence[_CeilingLimit]]],
    pools: Sequence[PoolLoad],
    reservations: Mapping[str, Reservation],
) -> Iterator[Problem]:
    """Report each limit that is exceeded during its ceiling, at its peak."""
    kinds = {limit.is_of_pods for _, limits in ceilings for limit in limits}
    counted = {is_of_pods: pods(pools) if is_of_pods else pools for is_of_pods in kinds}
    changes = {is_of_pods: changes_by_class(own) for is_of_pods, own in counted.items()}
    for span, limits in ceilings:
        for limit in limits:
            highest = peak(weigh_changes(changes[limit.is_of_pods], limit.each), *span)
            if highest and highest[0] > limit.most:
                yield _problem(cluster, limit, highest, counted[limit.is_of_pods], reservations)


def _limits(ceiling: CeilingSpec, classes: Mapping[str, ResourceClass]) -> list[_CeilingLimit]:
    limits = [
        _CeilingLimit(f"of {name}", most, str(most), {name: 1}, str) for name, most in ceiling.seats.items()
    ]
    for resource, amount in ceiling.requests.items():
        takes = per_seat(resource, classes)
        limits.append(
            _CeilingLimit(f"of {resource}", parse(amount) or 0, amount, takes, quantity_text, is_of_pods=True)
        )
    return limits


def _problem(
    cluster: str,
    limit: _CeilingLimit,
    span: tuple[int, int],
    pools: Sequence[PoolLoad],
    reservations: Mapping[str, Reservation],
) -> Problem:
    """Report at the reservation that opened last, and among equal ones at the last by name."""
    amount, at = span
    holders = [(name, limit.say(held)) for name, held in held_by_reservation(pools, limit.each, at)]
    active = [*active_pools(pools, limit.each, at)]
    _, last, is_otherwise = max(
        (last_rise(pool.steps, at), pool.reservation, pool.is_otherwise) for pool, _ in active
    )
    when = f"at {instant_text(at * 60)}" if at else "always"
    units = "" if limit.is_of_pods else f"{units_text(pool for pool, _ in active)} "
    ceiling = f"{limit.written} in the base" if limit.is_of_base else limit.written
    message = (
        f"{when} {limit.say(amount)} {units}{limit.what} are open in {cluster}, "
        f"above the ceiling of {ceiling}: {holders_text(holders)}."
    )
    reservation = reservations[last]
    path: Path = ("spec", "backend", "otherwise") if is_otherwise else ("spec", "provisioning")
    fix = "Reserve fewer seats or another time, or have the platform team raise the ceiling."
    if any(pool.is_otherwise for pool, _ in active):
        fix = (
            "Write a lower otherwise, fewer seats or another time, or have the platform team raise the "
            "ceiling."
        )
    if limit.is_of_base:
        fix = "First merge the new ceiling, class or cluster, then reserve in another change."
    return reservation.problem("B067", path, message, fix)
