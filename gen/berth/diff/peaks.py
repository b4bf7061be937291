"""Compare the most that is open at once in each cluster, and find which reservations hold it.

The check of ceilings counts in the same way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.checks.ceilings import (
    NO_END,
    ClassSteps,
    OtherwiseLoads,
    PoolLoad,
    ceiling_span,
    changes_by_class,
    held_by_reservation,
    peak,
    per_seat,
    placed_by_berth,
    pods,
    pool_loads,
    units_text,
    weigh_changes,
)
from berth.diff.change import PeakChange
from berth.quantity import parse
from berth.quantity import text as quantity_text
from berth.schema.reservation import Reservation
from berth.schema.siteparts import CeilingSpec
from berth.schema.values import ResourceClass, Site


class PoolLoads:
    """The loads of all pools of one side, by cluster."""

    def __init__(self, site: Site | None, classes: Mapping[str, ResourceClass]) -> None:
        self.site = site
        self.classes = classes
        self._pools: dict[str, list[PoolLoad]] = {}
        self._otherwise = OtherwiseLoads()

    def add(self, cluster: str, reservation: Reservation, classes: Iterable[str], loads: ClassSteps) -> None:
        pools = pool_loads(reservation, loads)
        self._pools.setdefault(cluster, []).extend(pools)
        self._otherwise.take(cluster, reservation, classes, pools)

    def pools(self, cluster: str) -> Sequence[PoolLoad]:
        return self._pools.get(cluster, ())

    def with_otherwise(self, cluster: str) -> Sequence[PoolLoad]:
        """Return the same and what numbers are outside of windows, as ceilings count it."""
        return [*self.pools(cluster), *self._otherwise.loads(cluster)]

    def clusters(self) -> list[str]:
        return [cluster.name for cluster in self.site.clusters] if self.site else []

    def used_classes(self, cluster: str) -> list[str]:
        return sorted({pool.resource_class for pool in self.pools(cluster)})

    def resources(self, cluster: str) -> list[str]:
        """Return the resources that the classes in use there request."""
        used = (self.classes[name] for name in self.used_classes(cluster) if name in self.classes)
        return sorted({resource for one in used for resource in dict(one.requests)})


def compare_peaks(before: PoolLoads, after: PoolLoads) -> Iterator[PeakChange]:
    """Yield the peaks that differ, by cluster, seats first; for a ceiling with dates also the peak then.

    Numbers of somebody else are no seats: those of one class may count unlike things. Where a ceiling limits
    their class, they count as it counts them.
    """
    for cluster in dict.fromkeys((*after.clusters(), *before.clusters())):
        limited = {name for ceiling in _ceilings(after.site, cluster) for name in ceiling.seats}
        sides = before.with_otherwise(cluster), after.with_otherwise(cluster)
        seats = [[pool for pool in side if pool.resource_class in limited] for side in sides]
        for of_side, side in zip(seats, sides, strict=True):
            of_side += [pool for pool in placed_by_berth(side) if pool.resource_class not in limited]
        yield from _compare_all(after, seats, cluster, _measures_of_seats([*seats[0], *seats[1]]))
        of_pods = [pods(side) for side in sides]
        yield from _compare_all(after, of_pods, cluster, _measures_of_resources(before, after, cluster))


class _Measure(NamedTuple):
    """A thing to count. `each`: the amount that a seat of a class takes, before and after.

    `seats_of`: the class whose seats it is; empty for a resource.
    """

    name: str
    each: tuple[Mapping[str, int], Mapping[str, int]]
    format: Callable[[int], str]
    seats_of: str = ""


def _measures_of_seats(pools: Sequence[PoolLoad]) -> Iterator[_Measure]:
    for name in sorted({pool.resource_class for pool in pools}):
        units = units_text(pool for pool in pools if pool.resource_class == name)
        yield _Measure(f"{units} of {name}", ({name: 1}, {name: 1}), str, name)


def _measures_of_resources(before: PoolLoads, after: PoolLoads, cluster: str) -> Iterator[_Measure]:
    for resource in sorted({*before.resources(cluster), *after.resources(cluster)}):
        each = per_seat(resource, before.classes), per_seat(resource, after.classes)
        yield _Measure(f"of {resource}", each, quantity_text)


def _compare_all(
    head: PoolLoads, pools: Sequence[Sequence[PoolLoad]], cluster: str, measures: Iterable[_Measure]
) -> Iterator[PeakChange]:
    """Compare the pools of both sides by some measures."""
    changes = [changes_by_class(of_side) for of_side in pools]
    for measure in measures:
        over_time = [
            weigh_changes(of_side, each) for of_side, each in zip(changes, measure.each, strict=True)
        ]
        yield from _compare(head, over_time, pools[1], cluster, measure)


def _compare(
    head: PoolLoads,
    over_time: Sequence[Mapping[int, int]],
    pools: Sequence[PoolLoad],
    cluster: str,
    measure: _Measure,
) -> Iterator[PeakChange]:
    """Compare one measure. `over_time` are its changes on both sides, `pools` those of the head."""
    for period in _periods(head, cluster, measure):
        old, new = (peak(one, *period.span) or (0, None) for one in over_time)
        if old[0] == new[0]:
            continue
        minute = new[1]
        amounts = [] if minute is None else held_by_reservation(pools, measure.each[1], minute)
        holders = tuple([(name, measure.format(amount)) for name, amount in amounts])
        at = minute * 60 if minute else None  # a peak that always holds has no first minute
        before, after = measure.format(old[0]), measure.format(new[0])
        yield PeakChange(cluster, measure.name, period.during, before, after, at, holders, period.ceiling)


class _Period(NamedTuple):
    """A range of minutes in which the peak is compared with a ceiling; `during` is empty for all time."""

    span: tuple[int, int]
    during: str
    ceiling: str


def _periods(loads: PoolLoads, cluster: str, measure: _Measure) -> list[_Period]:
    """Return all time with the lowest ceiling without dates, then each ceiling with dates."""
    always: list[tuple[int, str]] = []
    dated = []
    site = loads.site
    for ceiling in _ceilings(site, cluster):
        seats = [(most, str(most)) for name, most in ceiling.seats.items() if measure.seats_of == name]
        requests = [
            (parse(text) or 0, text)
            for name, text in ceiling.requests.items()
            if measure.name == f"of {name}"
        ]
        if ceiling.first is None and ceiling.until is None:
            always += seats + requests
        elif site:
            during = f"{ceiling.first or 'the first date'} to {ceiling.until or 'the last'}"
            dated += [_Period(ceiling_span(ceiling, site.zone), during, text) for _, text in seats + requests]
    return [_Period((0, NO_END), "", min(always)[1] if always else ""), *dated]


def _ceilings(site: Site | None, cluster: str) -> Sequence[CeilingSpec]:
    clusters = site.clusters if site else ()
    return next((one.ceilings for one in clusters if one.name == cluster), ())
