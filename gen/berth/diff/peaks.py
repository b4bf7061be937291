"""Compare the most that is open at once in each cluster, and find which reservations hold it.

The check of ceilings counts in the same way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from berth.checks.ceilings import (
    NO_END,
    ClassChanges,
    PoolLoad,
    PoolLoads,
    ceiling_span,
    changes_by_class,
    held_by_reservation,
    peak,
    per_seat,
    placed_by_berth,
    pods,
    units_text,
    weigh_changes,
)
from berth.checks.project import Item
from berth.diff.change import PeakChange
from berth.quantity import parse
from berth.quantity import text as quantity_text
from berth.schema.site import CeilingSpec
from berth.schema.values import ResourceClass, Site

Counted = tuple[Sequence[PoolLoad], ClassChanges]
"""Pools, and their changes by class."""


class SideLoads(PoolLoads):
    """The loads of all pools of one side."""

    def __init__(
        self, site: Site | None, classes: Mapping[str, ResourceClass], items: Iterable[Item]
    ) -> None:
        super().__init__((part.placed, part.pools, part.occurrences) for item in items for part in item.parts)
        self.site = site
        self.classes = classes

    def clusters(self) -> list[str]:
        return [cluster.name for cluster in self.site.clusters] if self.site else []

    def resources(self, cluster: str) -> list[str]:
        """Return the resources that the classes in use there request."""
        used = {pool.resource_class for pool in self.pools(cluster)} & {*self.classes}
        return sorted({resource for name in used for resource in self.classes[name].requests})


def compare_peaks(before: SideLoads, after: SideLoads) -> Iterator[PeakChange]:
    """Yield the peaks that differ, by cluster, seats first; for a ceiling with dates also the peak then."""
    zone = after.site.zone if after.site else "UTC"
    for cluster in dict.fromkeys((*after.clusters(), *before.clusters())):
        for what, pools, each, limits in _measures(before, after, cluster):
            over_time = [weigh_changes(of_side, one) for (_, of_side), one in zip(pools, each, strict=True)]
            always = [text for ceiling, text in limits if ceiling.first is None and ceiling.until is None]
            periods = [((0, NO_END), "", min(always, key=lambda text: parse(text) or 0, default=""))]
            for ceiling, text in limits:
                if ceiling.first is not None or ceiling.until is not None:
                    during = f"{ceiling.first or 'the first date'} to {ceiling.until or 'the last'}"
                    periods.append((ceiling_span(ceiling, zone), during, text))
            text_of = quantity_text if what.startswith("of ") else str
            for span, during, limit in periods:
                (old, _), (new, minute) = (peak(one, *span) or (0, None) for one in over_time)
                if old != new:
                    amounts = [] if minute is None else held_by_reservation(pools[1][0], each[1], minute)
                    holders = tuple([(name, text_of(amount)) for name, amount in amounts])
                    at = minute * 60 if minute else None  # a peak that always holds has no first minute
                    yield PeakChange(cluster, what, during, text_of(old), text_of(new), at, holders, limit)


def _measures(
    before: SideLoads, after: SideLoads, cluster: str
) -> Iterator[tuple[str, Sequence[Counted], Sequence[Mapping[str, int]], list[tuple[CeilingSpec, str]]]]:
    """Yield what is counted, in which pools, what a seat of each class takes, and the ceilings for it.

    Numbers of somebody else are no seats: those of one class may count unlike things. Where a ceiling limits
    their class, they count as it counts them.
    """
    clusters = after.site.clusters if after.site else ()
    ceilings = next((one.ceilings for one in clusters if one.name == cluster), ())
    limited = {name for ceiling in ceilings for name in ceiling.seats}
    sides = before.with_numbers(cluster), after.with_numbers(cluster)
    seats = [
        [
            *(pool for pool in side if pool.resource_class in limited),
            *(pool for pool in placed_by_berth(side) if pool.resource_class not in limited),
        ]
        for side in sides
    ]
    of_seats = [(side, changes_by_class(side)) for side in seats]
    for name in sorted({pool.resource_class for side in seats for pool in side}):
        units = units_text(pool for side in seats for pool in side if pool.resource_class == name)
        limits = [(ceiling, str(ceiling.seats[name])) for ceiling in ceilings if name in ceiling.seats]
        yield f"{units} of {name}", of_seats, ({name: 1}, {name: 1}), limits
    of_pods = [  # in most sites, all seats are pods
        counted if (own := pods(side)) == counted[0] else (own, changes_by_class(own))
        for side, counted in zip(sides, of_seats, strict=True)
    ]
    for name in sorted({*before.resources(cluster), *after.resources(cluster)}):
        each = per_seat(name, before.classes), per_seat(name, after.classes)
        limits = [(ceiling, ceiling.requests[name]) for ceiling in ceilings if name in ceiling.requests]
        yield f"of {name}", of_pods, each, limits
