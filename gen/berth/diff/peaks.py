"""The most that is open at once in each cluster, before and after a change, and who holds it. Pure.

What a pool holds at a moment is what the check of ceilings says, by the cluster's own function.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.checks.ceilings import (
    NO_END,
    PoolLoad,
    ceiling_span,
    held_by_reservation,
    peak,
    per_seat,
    sum_changes,
)
from berth.diff.change import Peak
from berth.quantity import parse
from berth.quantity import text as quantity_text
from berth.schema.values import Ceiling, ResourceClass, Site


class Held:
    """What one side holds: collected pool by pool, then asked."""

    def __init__(self) -> None:
        self.site: Site | None = None
        self.classes: Mapping[str, ResourceClass] = {}
        self._pools: dict[str, list[PoolLoad]] = {}

    def take(self, cluster: str, pools: Sequence[PoolLoad]) -> None:
        self._pools.setdefault(cluster, []).extend(pools)

    def pools(self, cluster: str) -> Sequence[PoolLoad]:
        return self._pools.get(cluster, ())

    def clusters(self) -> list[str]:
        return [one.name for one in self.site.clusters] if self.site else []

    def resources(self, cluster: str) -> list[str]:
        """Of the classes in use there."""
        used = dict.fromkeys(pool.resource_class for pool in self.pools(cluster))
        found = (dict(self.classes[name].requests) for name in used if name in self.classes)
        return sorted({resource for requests in found for resource in requests})

    def used(self, cluster: str) -> list[str]:
        return sorted({pool.resource_class for pool in self.pools(cluster)})


def peaks(before: Held, after: Held) -> Iterator[Peak]:
    """By cluster, seats first; those that differ. For a ceiling with dates also the most during these."""
    for cluster in dict.fromkeys((*after.clusters(), *before.clusters())):
        for one in _whats(before, after, cluster):
            yield from _peaks((before, after), cluster, one)


class _What(NamedTuple):
    """What is counted. `each`: what a seat of a class takes, before and after."""

    name: str
    each: tuple[Mapping[str, int], Mapping[str, int]]
    say: Callable[[int], str]


def _whats(before: Held, after: Held, cluster: str) -> Iterator[_What]:
    for name in sorted({*before.used(cluster), *after.used(cluster)}):
        yield _What(f"seats of {name}", ({name: 1}, {name: 1}), str)
    for resource in sorted({*before.resources(cluster), *after.resources(cluster)}):
        each = per_seat(resource, before.classes), per_seat(resource, after.classes)
        yield _What(f"of {resource}", each, quantity_text)


def _peaks(sides: tuple[Held, Held], cluster: str, what: _What) -> Iterator[Peak]:
    over_time = [sum_changes(side.pools(cluster), each) for side, each in zip(sides, what.each, strict=True)]
    for limit in _limits(sides[1], cluster, what.name):
        old, new = (peak(one, *limit.span) or (0, None) for one in over_time)
        if old[0] != new[0]:
            minute = new[1]
            held = (
                [] if minute is None else held_by_reservation(sides[1].pools(cluster), what.each[1], minute)
            )
            told = tuple([(name, what.say(amount)) for name, amount in held])
            at = minute * 60 if minute else None  # what stands always has no first minute
            amounts = what.say(old[0]), what.say(new[0])
            yield Peak(cluster, what.name, limit.during, *amounts, at, told, limit.ceiling)


class _Limit(NamedTuple):
    span: tuple[int, int]
    during: str
    ceiling: str


def _limits(held: Held, cluster: str, what: str) -> list[_Limit]:
    """All time, with the lowest ceiling that holds for ever; then each ceiling that has dates."""
    always: list[tuple[int, str]] = []
    dated = []
    site = held.site
    for ceiling in _ceilings(held, cluster):
        seats = [(most, str(most)) for name, most in ceiling.seats if what == f"seats of {name}"]
        requests = [(parse(text) or 0, text) for name, text in ceiling.requests if what == f"of {name}"]
        if ceiling.first is None and ceiling.last is None:
            always += seats + requests
        elif site:
            during = f"{ceiling.first or 'the first date'} to {ceiling.last or 'the last'}"
            dated += [_Limit(ceiling_span(ceiling, site.zone), during, text) for _, text in seats + requests]
    return [_Limit((0, NO_END), "", min(always)[1] if always else ""), *dated]


def _ceilings(held: Held, cluster: str) -> Sequence[Ceiling]:
    clusters = held.site.clusters if held.site else ()
    return next((one.ceilings for one in clusters if one.name == cluster), ())
