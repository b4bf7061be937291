"""Values that the simulation makes: demand, machine kinds, intervals, shortfalls; and counts of machines
over time.

Instants are seconds in UTC, time ranges are half-open. Money is exact until it is shown.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from berth.schema.seatholders import Unit

PoolKey = tuple[str, str]
"""(reservation, class): one pool of seats, or of whole nodes."""

Money = Decimal
"""Dollars an hour times seconds, exact. `dollars` converts it."""

HOUR = 3600
_CENT = Decimal("0.01")


class SeatDemand(NamedTuple):
    """The size of one pool over time. `steps`: minute, change, minute, change and so on."""

    key: PoolKey
    unit: Unit
    steps: Sequence[int]
    clouds: tuple[str, ...] = ()  # the capacities that its machines may come from


class MachineKind(NamedTuple):
    """What a machine is and how it is paid. `reserved` is the key of its reservation, if any."""

    capacity: str  # name of the CloudCapacity
    type: str
    zone: str  # empty where nothing says it
    capacity_type: str  # reserved | on-demand | spot
    reserved: str


class MachineInterval(NamedTuple):
    """A time in which nothing about a machine changes. `payers`: the pools with seats on it (or the last
    ones) and how many.
    """

    machine: int
    kind: MachineKind
    since: int
    until: int
    payers: tuple[tuple[PoolKey, int], ...]


class Shortfall(NamedTuple):
    """Seats of one pool without a machine. `kind` is `limits` or another kind of `Unschedulable`."""

    count: int  # type: ignore[assignment] # hides tuple.count
    kind: str
    message: str


class MachineStep(NamedTuple):
    """A moment at which machines were asked for or given back; `bought` in so many `loops` of Karpenter."""

    at: int
    loops: int
    bought: int
    shortfalls: tuple[tuple[PoolKey, Shortfall], ...]


class SimulationRun(NamedTuple):
    """The result of one simulation.

    `placements`: for each pool, from when on its seats are on which machines. `kinds`: of each machine when
    bought.
    """

    intervals: tuple[MachineInterval, ...]
    steps: tuple[MachineStep, ...]
    placements: dict[PoolKey, list[tuple[int, tuple[tuple[int, int], ...]]]]
    kinds: tuple[MachineKind, ...]


def dollars(money: Money) -> Decimal:
    """Return dollars, rounded to the cent."""
    return (money / HOUR).quantize(_CENT)


CountedKinds = tuple[tuple[MachineKind, int], ...]
"""The number of machines of each kind, sorted by kind."""


class MachineCounts:
    """How many machines of each kind there are over time."""

    def __init__(self, intervals: Iterable[MachineInterval]) -> None:
        changes: dict[int, dict[MachineKind, int]] = {}
        for interval in intervals:
            for at, change in ((interval.since, 1), (interval.until, -1)):
                mine = changes.setdefault(at, {})
                mine[interval.kind] = mine.get(interval.kind, 0) + change
        self.moments: list[int] = []
        self.levels: list[Mapping[MachineKind, int]] = []
        level: dict[MachineKind, int] = {}
        for at in sorted(changes):
            for kind, change in changes[at].items():
                level[kind] = level.get(kind, 0) + change
            level = {kind: number for kind, number in level.items() if number}
            self.moments.append(at)
            self.levels.append(dict(level))

    def at(self, now: int) -> Mapping[MachineKind, int]:
        """Return the machines at an instant."""
        place = bisect_right(self.moments, now) - 1
        return self.levels[place] if place >= 0 else {}

    def most(self, since: int, until: int) -> tuple[int, int]:
        """Return the most machines at once in [since, until), and the first moment of it."""
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


def sorted_counts(machines: Mapping[MachineKind, int]) -> CountedKinds:
    """Return machines sorted by kind."""
    return tuple(sorted(machines.items()))
