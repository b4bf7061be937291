"""The most that is open at once in each cluster, before and after a change, and who holds it. Pure.

What a pool holds at a moment is what the check of ceilings says, by the cluster's own function.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gen.check.ceilings import peak, steps
from gen.dates.occurrence import Occurrence
from gen.diff.change import Peak
from gen.model import ResourceClass, Site
from gen.quantity import parse
from gen.quantity import text as quantity_text

MOST_NAMED = 10  # reservations at one peak
_EVER = 2**31


class _Pool(NamedTuple):
    reservation: str
    resource_class: str
    steps: "array[int]"


class Held:
    """What one side holds: collected pool by pool, then asked."""

    def __init__(self) -> None:
        self.site: Site | None = None
        self.classes: Mapping[str, ResourceClass] = {}
        self._pools: dict[str, list[_Pool]] = {}

    def take(self, cluster: str, reservation: str, resource_class: str, found: "array[int]") -> None:
        self._pools.setdefault(cluster, []).append(_Pool(reservation, resource_class, found))

    def clusters(self) -> list[str]:
        return [one.name for one in self.site.clusters] if self.site else []

    def resources(self, cluster: str) -> list[str]:
        """Of the classes in use there."""
        used = dict.fromkeys(pool.resource_class for pool in self._pools.get(cluster, ()))
        found = (dict(self.classes[name].requests) for name in used if name in self.classes)
        return sorted({resource for requests in found for resource in requests})

    def used(self, cluster: str) -> list[str]:
        return sorted({pool.resource_class for pool in self._pools.get(cluster, ())})

    def most(self, cluster: str, each: Mapping[str, int]) -> tuple[int, int | None]:
        """The most, and the first minute of it. `each` says how much a seat of a class takes."""
        changes: dict[int, int] = {}
        for pool in self._pools.get(cluster, ()):
            weight = each.get(pool.resource_class, 0)
            for i in range(0, len(pool.steps) if weight else 0, 2):
                minute, change = pool.steps[i], pool.steps[i + 1]
                changes[minute] = changes.get(minute, 0) + weight * change
        found = peak(changes, 0, _EVER) if changes else None
        return found or (0, None)

    def holders(self, cluster: str, each: Mapping[str, int], minute: int) -> list[tuple[str, int]]:
        """What each reservation holds then, the most first."""
        held: dict[str, int] = {}
        for pool in self._pools.get(cluster, ()):
            pairs = zip(pool.steps[::2], pool.steps[1::2], strict=True)
            seats = sum(change for at, change in pairs if at <= minute)
            amount = seats * each.get(pool.resource_class, 0)
            if amount:
                held[pool.reservation] = held.get(pool.reservation, 0) + amount
        return sorted(held.items(), key=lambda one: (-one[1], one[0]))


def steps_of(resource_class: str, occurrences: Iterable[Occurrence]) -> "array[int]":
    return array("i", steps(resource_class, occurrences))


def peaks(before: Held, after: Held) -> Iterator[Peak]:
    """By cluster, seats first; those that differ."""
    for cluster in dict.fromkeys((*after.clusters(), *before.clusters())):
        for name in sorted({*before.used(cluster), *after.used(cluster)}):
            yield from _peak((before, after), cluster, f"seats of {name}", ({name: 1}, {name: 1}), str)
        for resource in sorted({*before.resources(cluster), *after.resources(cluster)}):
            each = _each(before, resource), _each(after, resource)
            yield from _peak((before, after), cluster, f"of {resource}", each, quantity_text)


def _each(held: Held, resource: str) -> dict[str, int]:
    return {name: parse(dict(one.requests).get(resource, "0")) or 0 for name, one in held.classes.items()}


def _peak(
    sides: tuple[Held, Held],
    cluster: str,
    what: str,
    each: tuple[Mapping[str, int], Mapping[str, int]],
    say: object,
) -> Iterator[Peak]:
    assert callable(say)
    (old, _), (new, minute) = sides[0].most(cluster, each[0]), sides[1].most(cluster, each[1])
    if old == new:
        return
    holders = sides[1].holders(cluster, each[1], minute) if minute is not None else []
    told = [(name, str(say(amount))) for name, amount in holders[:MOST_NAMED]]
    if len(holders) > MOST_NAMED:
        told.append(
            (f"{len(holders) - MOST_NAMED} more", str(say(sum(one for _, one in holders[MOST_NAMED:]))))
        )
    at = None if minute is None else minute * 60
    yield Peak(cluster, what, say(old), say(new), at, tuple(told), _ceiling(sides[1], cluster, what))


def _ceiling(held: Held, cluster: str, what: str) -> str:
    """The lowest that the site sets, whenever it holds; empty without one."""
    found: list[tuple[int, str]] = []
    for one in held.site.clusters if held.site else ():
        for ceiling in one.ceilings if one.name == cluster else ():
            found += [(most, str(most)) for name, most in ceiling.seats if what == f"seats of {name}"]
            found += [(parse(text) or 0, text) for name, text in ceiling.requests if what == f"of {name}"]
    return min(found)[1] if found else ""
