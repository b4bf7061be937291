"""How much is held at once: pools rise and fall, and this adds them up over time. Pure.

Moments are whole minutes since the epoch here, which fit into half of the memory: of thousands of
reservations every date is kept until all are in. Whoever asks says what counts by `each`, how much one seat
of a class takes: `{"small": 1}` counts the seats of small, and `per_seat` makes the same of a resource.
Classes that are not in it take nothing, and whole nodes never do: they are no seats.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from gen.model import ResourceClass
from gen.quantity import parse

NEVER = 2**31  # in six thousand years
_MOST_NAMED = 10  # reservations in one message

Steps = Sequence[int]
"""How one pool rises and falls: minute, change, minute, change and so on, by minute."""


class Pool(NamedTuple):
    reservation: str
    resource_class: str
    steps: Steps
    nodes: bool = False  # whole nodes, not seats


def per_seat(resource: str, classes: Mapping[str, ResourceClass]) -> dict[str, int]:
    """What one seat of each class asks for of a resource, in billionths; only of those that ask for some."""
    asked = {name: parse(dict(one.requests).get(resource, "0")) or 0 for name, one in classes.items()}
    return {name: amount for name, amount in asked.items() if amount}


def _weight(pool: Pool, each: Mapping[str, int]) -> int:
    """What one of it takes. The one place that keeps whole nodes out of what seats come to."""
    return 0 if pool.nodes else each.get(pool.resource_class, 0)


def together(pools: Iterable[Pool], each: Mapping[str, int]) -> dict[int, int]:
    """How all of them together rise and fall, by minute, in no order."""
    found: dict[int, int] = {}
    for pool in pools:
        weight = _weight(pool, each)
        if weight:
            pairs = iter(pool.steps)
            for minute in pairs:
                found[minute] = found.get(minute, 0) + weight * next(pairs)
    return found


def levels(changes: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """`since, until, amount` held in [since, until): by time and without gaps, from the first change on."""
    total = 0
    for at, until in pairwise([*sorted(changes), NEVER]):
        total += changes[at]
        yield at, until, total


def peak(changes: Mapping[int, int], first: int, last: int) -> tuple[int, int] | None:
    """The most that is held at a minute in [first, last), and the first such minute; None if nothing is."""
    best, since = 0, 0
    for at, until, total in levels(changes):
        if total > best and at < last and until > first:
            best, since = total, max(at, first)
    return (best, since) if best else None


def holding(pools: Iterable[Pool], each: Mapping[str, int], minute: int) -> Iterator[tuple[Pool, int]]:
    """The pools that hold something at that minute, and how much."""
    for pool in pools:
        weight = _weight(pool, each)
        pairs = zip(pool.steps[::2], pool.steps[1::2], strict=True)
        held = weight and weight * sum(change for at, change in pairs if at <= minute)
        if held:
            yield pool, held


def last_rise(steps: Steps, minute: int) -> int:
    """When the pool last rose, at that minute or before; there is such a minute where it holds something."""
    return max(at for at, change in zip(steps[::2], steps[1::2], strict=True) if change > 0 and at <= minute)


def holders(pools: Iterable[Pool], each: Mapping[str, int], minute: int) -> list[tuple[str, int]]:
    """What each reservation holds at that minute, the most first."""
    held: dict[str, int] = {}
    for pool, amount in holding(pools, each, minute):
        held[pool.reservation] = held.get(pool.reservation, 0) + amount
    return sorted(held.items(), key=lambda one: (-one[1], one[0]))


def holders_text(told: Sequence[tuple[str, str]]) -> str:
    """`ml 50, statistics 25`; of many the first ten, and how many more there are."""
    more = f" and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
    return ", ".join(f"{name} {amount}" for name, amount in told[:_MOST_NAMED]) + more
