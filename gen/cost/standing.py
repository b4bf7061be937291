"""How many machines stand at any moment of a run."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from gen.cost.values import Sort, Stay

Machines = tuple[tuple[Sort, int], ...]
"""How many of each sort, by sort."""


class Standing:
    def __init__(self, stays: Iterable[Stay]) -> None:
        changes: dict[int, dict[Sort, int]] = {}
        for stay in stays:
            for at, change in ((stay.since, 1), (stay.until, -1)):
                mine = changes.setdefault(at, {})
                mine[stay.sort] = mine.get(stay.sort, 0) + change
        self.moments: list[int] = []
        self.levels: list[Mapping[Sort, int]] = []
        level: dict[Sort, int] = {}
        for at in sorted(changes):
            for sort, change in changes[at].items():
                level[sort] = level.get(sort, 0) + change
            level = {sort: number for sort, number in level.items() if number}
            self.moments.append(at)
            self.levels.append(dict(level))

    def at(self, now: int) -> Mapping[Sort, int]:
        place = bisect_right(self.moments, now) - 1
        return self.levels[place] if place >= 0 else {}

    def most(self, since: int, until: int) -> tuple[int, int]:
        """The most machines at once in [since, until), and the first moment of it."""
        if since >= until:
            return 0, since
        found = sum(self.at(since).values()), since
        first = bisect_right(self.moments, since)
        for at, level in zip(self.moments[first:], self.levels[first:], strict=True):
            if at >= until:
                break
            number = sum(level.values())
            if number > found[0]:
                found = number, at
        return found


def in_order(machines: Mapping[Sort, int]) -> Machines:
    return tuple(sorted(machines.items()))
