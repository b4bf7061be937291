"""Is more open at once than the site allows? Sums over all reservations of a cluster, minute by minute.

What a pool holds at a moment is what the cluster's own function says (`gen.core.target`), so back-to-back
occurrences do not count twice here either.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from gen.check.load import NEVER, Pool, holders, holders_text, holding, last_rise, peak, per_seat, together
from gen.core.instants import instant_text
from gen.core.target import full_count, target
from gen.core.timetable import TimetableOccurrence
from gen.dates.moment import named
from gen.dates.occurrence import Occurrence as Dated
from gen.dates.zone import DAY, number, resolve
from gen.finding import Problem
from gen.model import Ceiling, Cluster, Reservation, ResourceClass, Site
from gen.placed import Placed, has_nodes, stands
from gen.quantity import parse
from gen.quantity import text as quantity_text

EXCEEDED = "B067"

Loads = list[tuple[str, list[int]]]
"""The classes of a part that a ceiling may limit, each with the steps of its pool."""


class _Limit(NamedTuple):
    """What a ceiling limits. `each` says of a class how much one seat takes; others take nothing."""

    what: str
    most: int
    written: str
    each: Mapping[str, int]
    say: Callable[[int], str]


def pool_steps(reservation: Reservation, resource_class: str, occurrences: Sequence[Dated]) -> list[int]:
    """Over the pool's whole life, whatever holds it. What stands always rises at minute 0."""
    stand = stands(reservation)
    if stand is None:
        return steps(resource_class, occurrences)
    count = dict(reservation.seats).get(resource_class, 0)
    return [0, count] if stand.until is None else [0, count, -(-stand.until // 60), -count]


def steps(resource_class: str, occurrences: Sequence[Dated]) -> list[int]:
    """Of windows. `occurrences` by start; they have one lead, so by `open` too."""
    until = 0
    for item in occurrences:
        if item.open <= until:
            return _in_groups(resource_class, occurrences)
        until = item.end
    found: list[int] = []
    count, held = 0, None
    for item in occurrences:
        if item.seats is not held:
            held = item.seats
            count = dict(held).get(resource_class, 0)
        found += (item.open // 60, count, item.end // 60, -count)
    return found


def _in_groups(resource_class: str, occurrences: Iterable[Dated]) -> list[int]:
    """The same, with those that touch taken together: the cluster's own function says what they come to."""
    found: list[int] = []
    group: list[Dated] = []
    until = 0
    for item in occurrences:
        if item.open > until:
            found += _touching(resource_class, group)
            group = []
        group.append(item)
        until = max(until, item.end)
    return found + _touching(resource_class, group)


def _touching(resource_class: str, group: Iterable[Dated]) -> list[int]:
    held, found, count = 0, [], full_count(resource_class)
    asked = [TimetableOccurrence(one.id, one.open, one.start, one.end, one.seats) for one in group]
    for at in sorted({instant for one in asked for instant in (one.open, one.start, one.end)}):
        wanted = target(asked, at, count)
        if wanted != held:
            found += [at // 60, wanted - held]
            held = wanted
    return found


def span(ceiling: Ceiling, zone_name: str) -> tuple[int, int]:
    """The ceiling's dates as minutes, [first, last); the zone is the site's."""
    zone = named(zone_name)
    first = resolve(zone, number(ceiling.first) * DAY) // 60 if ceiling.first else 0
    last = resolve(zone, (number(ceiling.last) + 1) * DAY) // 60 if ceiling.last else NEVER
    return first, last


def pools_of(reservation: Reservation, loads: Loads) -> list[Pool]:
    """What each load is: a pool of seats, or of whole nodes, which no sum of seats counts."""
    nodes = has_nodes(reservation)
    return [Pool(reservation.name, name, array("i", found), nodes) for name, found in loads]


class Ceilings:
    """Collects the steps of every pool that a ceiling may limit; `problems` judges them once all are in."""

    def __init__(
        self,
        site: Site,
        classes: Mapping[str, ResourceClass],
        *,
        also: Set[str] = frozenset(),
        all_loads: bool = False,
    ) -> None:
        """`also`: classes that are limited by something else. `all_loads`: as if every class was limited."""
        self.site = site
        self._limits = {c.name: [_limits(one, classes) for one in c.ceilings] for c in site.clusters}
        self._limited = {
            name: {*classes}
            if all_loads
            else {found for limits in ceilings for limit in limits for found in limit.each} | also
            for name, ceilings in self._limits.items()
        }
        self._pools: dict[str, list[Pool]] = {cluster.name: [] for cluster in site.clusters}

    def loads(self, placed: Placed, occurrences: Sequence[Dated]) -> Loads:
        """What `take` is to be told of a part. Pure."""
        limited = self._limited[placed.cluster.name]
        if not limited or placed.reservation.suspend:
            return []
        names = [found.name for found in placed.classes if found.name in limited]
        return [(name, pool_steps(placed.reservation, name, occurrences)) for name in names]

    def take(self, placed: Placed, loads: Loads) -> None:
        self._pools[placed.cluster.name] += pools_of(placed.reservation, loads)

    def pools(self, cluster: str) -> Sequence[Pool]:
        """All that was taken of a cluster."""
        return self._pools[cluster]

    def problems(self, reservations: Mapping[str, Reservation]) -> Iterator[Problem]:
        for cluster in self.site.clusters:
            for ceiling, limits in zip(cluster.ceilings, self._limits[cluster.name], strict=True):
                first, last = span(ceiling, self.site.zone)
                pools = self._pools[cluster.name]
                for limit in limits:
                    found = peak(together(pools, limit.each), first, last)
                    if found and found[0] > limit.most:
                        yield _problem(cluster, limit, found, pools, reservations)


def _limits(ceiling: Ceiling, classes: Mapping[str, ResourceClass]) -> list[_Limit]:
    found = [_Limit(f"seats of {name}", most, str(most), {name: 1}, str) for name, most in ceiling.seats]
    for resource, amount in ceiling.requests:
        takes = per_seat(resource, classes)
        found.append(_Limit(f"of {resource}", parse(amount) or 0, amount, takes, quantity_text))
    return found


def _problem(
    cluster: Cluster,
    limit: _Limit,
    found: tuple[int, int],
    pools: Sequence[Pool],
    reservations: Mapping[str, Reservation],
) -> Problem:
    """Told at the reservation that opened last, and of these at the last by name."""
    amount, at = found
    told = [(name, limit.say(held)) for name, held in holders(pools, limit.each, at)]
    _, last = max((last_rise(pool.steps, at), pool.reservation) for pool, _ in holding(pools, limit.each, at))
    when = f"at {instant_text(at * 60)}" if at else "always"
    message = (
        f"{when} {limit.say(amount)} {limit.what} are open in {cluster.name}, "
        f"above the ceiling of {limit.written}: {holders_text(told)}."
    )
    reservation = reservations[last]
    path = (*reservation.origin.prefix, "provisioning") if reservation.renku else ("spec", "provisioning")
    fix = "Ask for fewer seats or another time, or have the platform team raise the ceiling."
    return Problem(EXCEEDED, *reservation.origin[:2], path, message, fix)
