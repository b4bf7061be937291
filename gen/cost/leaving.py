"""When machines go that nobody is on: rounds of Karpenter's, as its disruption budgets let it, and expiry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gen.cloud import CloudCapacity
from gen.cost.machine import Machine
from gen.manifest.cloudpools import own_budgets
from gen.plan.budget import Budget, allowed, free_from
from gen.schema.cloudgrammar import seconds

LEAVING = 60  # seconds in which a node that is not wanted any more is seen, drained and stopped
ROUND = 25  # until the next ones: Karpenter looks every ten seconds, and waits for fifteen before it acts
_EMPTY = "Empty"
Spans = Mapping[str, int | None]


class Leaving:
    """While any window of a CloudCapacity is open, its budgets keep its machines; other budgets are its own.

    `tails`: by CloudCapacity, seconds that an empty machine stays; None: as long as it lives, which is what
    `lives` says: then it goes whatever budgets say, and one with seats on it is replaced by its like.
    """

    def __init__(self, clouds: Iterable[CloudCapacity], tails: Spans, lives: Spans) -> None:
        every = tuple(clouds)
        self._tails, self._lives = tails, lives
        self._budgets = {cloud.name: tuple(map(_budget, own_budgets(cloud))) for cloud in every}
        self._open = {cloud.name: 0 for cloud in every}
        self._closed = {cloud.name: 0 for cloud in every}  # when the last window of each ended
        self._next = {cloud.name: 0 for cloud in every}  # before which no round begins
        self._held: dict[str, tuple[int, int | None]] = {}  # from when to when own budgets let nothing go

    def opens(self, cloud: str) -> None:
        self._open[cloud] += 1

    def closes(self, cloud: str, at: int) -> None:
        self._open[cloud] -= 1
        self._closed[cloud] = at

    def gone(self, machines: Iterable[Machine], until: int | None) -> list[tuple[Machine, int]]:
        """Those that have gone by then, and when. None: those that ever go, if no window opens any more."""
        pools: dict[str, list[Machine]] = {}
        for one in machines:
            if one.static is None:
                pools.setdefault(one.sort.capacity, []).append(one)
        found = []
        for cloud, pool in pools.items():
            empty = [one for one in pool if one.empty is not None]
            taken = dict(self._taken(cloud, pool, until)) if empty else {}
            for one in empty:
                times = [at for at in (taken.get(one.number), self._expires(one)) if at is not None]
                if times and (until is None or min(times) + LEAVING <= until):
                    found.append((one, min(times) + LEAVING))
        return found

    def _taken(self, cloud: str, pool: Sequence[Machine], until: int | None) -> Iterator[tuple[int, int]]:
        """Numbers of machines, and when Karpenter chose them for they were empty."""
        tail, closed = self._tails[cloud], self._closed[cloud]
        if self._open[cloud] or tail is None:
            return
        waiting = sorted((max(m.empty + tail, closed), m.number) for m in pool if m.empty is not None)
        there = len(pool)
        while waiting:
            at = self._free(cloud, max(waiting[0][0], self._next[cloud]))
            if at is None or (until is not None and at + LEAVING > until):
                return
            ready = sum(since <= at for since, _ in waiting)
            count = min(ready, allowed(self._budgets[cloud], _EMPTY, there, at))
            for _, number in waiting[:count]:
                yield number, at
            del waiting[:count]
            there -= count
            self._next[cloud] = at + ROUND

    def _free(self, cloud: str, at: int) -> int | None:
        """From when on its own budgets let anything go; None: never."""
        since, until = self._held.get(cloud, (at, at))
        if not (since <= at and (until is None or at < until)):
            until = free_from(self._budgets[cloud], _EMPTY, at)
            self._held[cloud] = at, until
        return until

    def _expires(self, machine: Machine) -> int | None:
        """The first time of all that its like expires with nobody on it."""
        life = self._lives[machine.sort.capacity]
        if life is None or machine.empty is None:
            return None
        lives = max(1, -(-(machine.empty - machine.bought) // life))
        return machine.bought + lives * life


def _budget(said: Mapping[str, Any]) -> Budget:
    duration, reasons = said.get("duration"), said.get("reasons")
    return Budget(
        str(said["nodes"]),
        said.get("schedule"),
        None if duration is None else seconds(duration),
        None if reasons is None else tuple(reasons),
    )
