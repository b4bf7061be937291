"""Carry the machines of a cluster from one opening to the next: bought for seats, gone when nothing is open.

While any window of a capacity is open, its machines stay, and later windows use them. They go when all
windows of the capacity are over, a while after the last seat, or empty at their expiry. Instants are
seconds in UTC.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from berth.checks.cloudmatching import parse_taints
from berth.durations import seconds_or_never
from berth.machines.capacitycatalog import CapacityCatalog, MachineKind, undefined_labels
from berth.machines.estimate import (
    APART,
    LIMITS,
    POOLS,
    ExistingMachine,
    NewMachine,
    Question,
    Seats,
    estimate,
)
from berth.machines.instancetypes import NODES, ONE, allocatable
from berth.machines.nodelabels import (
    CAPACITY_TYPE,
    INITIALIZED,
    NODEPOOL,
    ON_DEMAND,
    REGISTERED,
    RESERVATION_LABELS,
    Labels,
    requirements_of_labels,
)
from berth.manifests.nodeaffinity import selected
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

    def machines_of(self, keys: Iterable[PoolKey], at: int) -> "CountedKinds":
        """Return the machines that seats of these pools are on at an instant."""
        found: set[int] = set()
        for key in keys:
            mine = self.placements.get(key, [])
            place = bisect_right(mine, at, key=lambda placement: placement[0]) - 1
            found |= {number for number, _ in mine[place][1]} if place >= 0 else set()
        return tuple(sorted(Counter(self.kinds[number] for number in found).items()))


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


REMOVAL_SECONDS = 60  # in which a machine that is not wanted any more is seen, drained and stopped
_WHOLE = APART + "node"


class PoolPlacement(NamedTuple):
    """What one pool asks for: its seat, and the capacities that it may use, preferred first."""

    seats: Seats
    clouds: tuple[str, ...]


class _Machine:
    """A machine that exists. `whole` is the pool of whole nodes that it belongs to, if any."""

    def __init__(self, number: int, kind: MachineKind, labels: Labels, at: int, whole: PoolKey | None):
        self.number, self.kind, self.labels, self.whole = number, kind, labels, whole
        self.bought = self.since = at
        self.seats: dict[PoolKey, int] = {}
        self.payers: tuple[tuple[PoolKey, int], ...] = ((whole, 1),) if whole else ()
        self.empty_since = at


class Overtime:
    """The machines of one cluster over time."""

    def __init__(
        self, catalog: CapacityCatalog, places: Mapping[PoolKey, PoolPlacement], demands: Sequence[SeatDemand]
    ) -> None:
        self._catalog, self._places, self._demands = catalog, places, demands
        self._stay = {name: seconds_or_never(cloud.empty_after) for name, cloud in catalog.clouds.items()}
        self._lifetime = {name: seconds_or_never(cloud.expiry) for name, cloud in catalog.clouds.items()}
        self._whole = {demand.key for demand in demands if demand.unit is Unit.NODE}
        self._levels: dict[PoolKey, int] = {}
        self._pending: dict[PoolKey, int] = {}
        self._shortfalls: dict[PoolKey, Shortfall] = {}
        self._closed: dict[str, int] = {}  # by capacity: when its last window ended
        self._machines: list[_Machine] = []
        self._kinds: list[MachineKind] = []
        self._intervals: list[MachineInterval] = []
        self._steps: list[MachineStep] = []
        self._placements: dict[PoolKey, list[tuple[int, tuple[tuple[int, int], ...]]]] = {}

    def run(self, end: int) -> SimulationRun:
        """Return what is bought and when it goes. Machines that never go are followed up to `end`."""
        changes: dict[int, dict[PoolKey, int]] = {}
        for demand in self._demands:
            for minute, change in zip(demand.steps[::2], demand.steps[1::2], strict=True):
                changed = changes.setdefault(minute * 60, {})
                changed[demand.key] = changed.get(demand.key, 0) + change
        reserved = [(one.reservation.first, one.last) for one in self._catalog.reserved.values()]
        begins = {first for first, _ in reserved if first is not None}
        ends = {last for _, last in reserved if last is not None}
        term = range(min(changes, default=0), max(changes, default=0) + 1)
        for at in sorted({*changes, *(at for at in begins | ends if at in term)}):
            self._leave(at)
            lost = self._expire(at) if at in ends else set()
            self._follow(at, changes.get(at, {}))
            rounds = bought = 0
            if lost or at in changes or (at in begins and self._pending):
                rounds, bought = self._buy(at)
                self._note(at, {*changes.get(at, {}), *lost}, rounds, bought)
        for machine in self._machines:
            goes = self._goes(machine)
            self._close_interval(machine, end if goes is None else goes)
        return SimulationRun(tuple(self._intervals), tuple(self._steps), self._placements, tuple(self._kinds))

    def _is_open(self, cloud: str) -> bool:
        """Tell whether a window with seats is open: those of whole nodes hold no other machine."""
        open_keys = (key for key, level in self._levels.items() if level and key not in self._whole)
        return any(cloud in self._places[key].clouds for key in open_keys)

    def _goes(self, machine: _Machine) -> int | None:
        """Return when a machine goes unless a window opens before; None while it stays.

        At its expiry a machine goes if it is empty. One with seats is replaced by one of its kind.
        """
        if machine.seats or machine.whole:
            return None
        cloud, ends = machine.kind.capacity, []
        if lifetime := self._lifetime[cloud]:
            lives = -(-(machine.empty_since - machine.bought) // lifetime)  # rounded up
            ends.append(machine.bought + max(lives, 1) * lifetime)
        stay = self._stay[cloud]
        if stay is not None and not self._is_open(cloud):
            ends.append(max(machine.empty_since + stay, self._closed.get(cloud, 0)))
        return min(ends) + REMOVAL_SECONDS if ends else None

    def _leave(self, at: int) -> None:
        """Remove the machines that have gone by now."""
        for machine in list(self._machines):
            goes = self._goes(machine)
            if goes is not None and goes <= at:
                self._close_interval(machine, goes)
                self._machines.remove(machine)

    def _expire(self, at: int) -> set[PoolKey]:
        """End reservations: a Capacity Block takes its machines with it, others become on-demand.

        Return the pools whose seats have lost their machine.
        """
        lost: set[PoolKey] = set()
        for machine in list(self._machines):
            ended = self._catalog.reserved.get(machine.kind.reserved)
            if ended is None or ended.last is None or ended.last > at:
                continue
            self._close_interval(machine, at)
            allowed = self._catalog.clouds[machine.kind.capacity].capacity_types
            if ended.reservation.type == "default" and ON_DEMAND in allowed:
                machine.kind = machine.kind._replace(capacity_type=ON_DEMAND, reserved="")
                continue
            self._machines.remove(machine)
            for key, count in machine.seats.items():
                self._pending[key] = self._pending.get(key, 0) + count
            lost |= {*machine.seats, *([machine.whole] if machine.whole else [])}
        return lost

    def _follow(self, at: int, changed: Mapping[PoolKey, int]) -> None:
        """Add pending seats, and remove those that are not needed any more."""
        for key, change in sorted(changed.items()):
            self._levels[key] = self._levels.get(key, 0) + change
            if key in self._whole:
                self._give_back(key, at)
            elif change > 0:
                self._pending[key] = self._pending.get(key, 0) + change
            else:
                self._lower(key, -change, at)
            for cloud in self._places[key].clouds:
                if not self._levels[key] and not self._is_open(cloud):
                    self._closed[cloud] = at

    def _lower(self, key: PoolKey, count: int, at: int) -> None:
        """Remove seats: pending ones first, then those on the machines that were bought last."""
        waiting = min(count, self._pending.get(key, 0))
        self._pending[key] = self._pending.get(key, 0) - waiting
        count -= waiting
        for machine in reversed(self._machines):
            took = min(count, machine.seats.get(key, 0))
            if took:
                self._put(machine, key, -took, at)
                count -= took

    def _give_back(self, key: PoolKey, at: int) -> None:
        """Return whole nodes. Reserved ones are free at once: they are paid for whether they drain or not."""
        mine = [machine for machine in self._machines if machine.whole == key]
        for machine in mine[self._levels[key] :]:
            self._close_interval(machine, at if machine.kind.reserved else at + REMOVAL_SECONDS)
            self._machines.remove(machine)

    def _put(self, machine: _Machine, key: PoolKey, change: int, at: int) -> None:
        """Add `change` seats of a pool to a machine."""
        machine.seats[key] = machine.seats.get(key, 0) + change
        if not machine.seats[key]:
            del machine.seats[key]
        payers = tuple(sorted(machine.seats.items())) or machine.payers
        if payers != machine.payers:
            self._close_interval(machine, at)
        machine.payers = payers
        machine.empty_since = at

    def _close_interval(self, machine: _Machine, until: int) -> None:
        if until > machine.since:
            self._intervals.append(
                MachineInterval(machine.number, machine.kind, machine.since, until, machine.payers)
            )
            machine.since = until

    def _buy(self, at: int) -> tuple[int, int]:
        """Place pending seats and whole nodes. Return the rounds of Karpenter, and the machines bought."""
        self._shortfalls = {}
        bought = sum(self._buy_whole(key, at) for key in sorted(self._whole) if self._levels.get(key))
        wanted = [(key, count) for key, count in sorted(self._pending.items()) if count]
        if not wanted:
            return (1 if bought else 0), bought
        answer = estimate(self._question(wanted, at))
        existing = {str(machine.number): machine for machine in self._machines}
        for number, taken in answer.taken:
            self._fill(existing[number], taken, at)
        for new in answer.bought:
            self._fill(self._made(new, self._catalog.capacities[new.pool], at, None), new.seats, at)
        self._pending = {}
        for left in answer.left:
            key = _key(left.seats)
            self._pending[key] = left.count
            self._shortfalls[key] = Shortfall(left.count, left.kind, left.message)
        return answer.rounds, bought + len(answer.bought)

    def _buy_whole(self, key: PoolKey, at: int) -> int:
        """Buy the whole nodes that a pool is missing, and return how many."""
        held = sum(machine.whole == key for machine in self._machines)
        missing = self._levels[key] - held
        if missing <= 0:
            return 0
        seats, clouds = self._places[key]
        pool = self._catalog.pool(clouds[0], {name: n for name, n in self._free(at).items() if n})
        most = dict(pool.limits).get(NODES)
        allowed = missing if most is None else min(missing, max(most // ONE - held, 0))
        asked = requirements_of_labels(selected(seats.node_selector))
        whole = Seats("/".join(key), ((_WHOLE, ONE),), allowed)
        named = pool._replace(requirements=(*pool.requirements, *asked), taints=(), limits=())
        bought = estimate(Question((named,), (whole,) if allowed else ())).bought
        for new in bought:
            self._made(new, clouds[0], at, key)
        if len(bought) < missing:
            kind, why = POOLS, "no type is left that is offered"
            if allowed < missing:
                kind, why = LIMITS, "its limit of nodes is reached"
            self._shortfalls[key] = Shortfall(missing - len(bought), kind, f"{pool.name}: {why}")
        return len(bought)

    def _question(self, wanted: Sequence[tuple[PoolKey, int]], at: int) -> Question:
        names = {cloud for key, _ in wanted for cloud in self._places[key].clouds}
        free = self._free(at)
        return Question(
            tuple(self._catalog.pool(name, free) for name in sorted(names)),
            tuple(self._places[key].seats._replace(name="/".join(key), count=n) for key, n in wanted),
            tuple(
                self._existing(one) for one in self._machines if not one.whole and one.kind.capacity in names
            ),
        )

    def _free(self, at: int) -> dict[str, int]:
        """Return the instances left of the reservations of now."""
        free = {key: one.reservation.count for key, one in self._catalog.reserved.items() if one.at(at)}
        for machine in self._machines:
            if machine.kind.reserved in free:
                free[machine.kind.reserved] -= 1
        return {key: max(n, 0) for key, n in free.items()}

    def _existing(self, machine: _Machine) -> ExistingMachine:
        declared = self._catalog.declared_type(machine.kind.capacity, machine.kind.type)
        labels = {
            key: value
            for key, value in machine.labels
            if machine.kind.reserved or key not in RESERVATION_LABELS
        }
        pool = self._catalog.pools[machine.kind.capacity]
        labels |= {CAPACITY_TYPE: machine.kind.capacity_type, REGISTERED: "true", INITIALIZED: "true"}
        return ExistingMachine(
            str(machine.number),
            tuple(allocatable(declared.capacity, declared.overhead).items()),
            declared.capacity,
            tuple(sorted({**labels, NODEPOOL: pool}.items())),
            parse_taints(self._catalog.clouds[machine.kind.capacity].taints),
            tuple(self._places[key].seats._replace(count=n) for key, n in sorted(machine.seats.items())),
            undefined_labels(declared),
        )

    def _fill(self, machine: _Machine, taken: Iterable[tuple[str, int]], at: int) -> None:
        for name, count in taken:
            self._put(machine, _key(name), count, at)

    def _made(self, new: NewMachine, capacity: str, at: int, whole: PoolKey | None) -> _Machine:
        kind = MachineKind(capacity, new.type, new.zone, new.capacity_type, new.reservation)
        self._kinds.append(kind)
        machine = _Machine(len(self._kinds) - 1, kind, new.labels, at, whole)
        self._machines.append(machine)
        return machine

    def _note(self, at: int, touched: set[PoolKey], rounds: int, bought: int) -> None:
        self._steps.append(MachineStep(at, rounds, bought, tuple(sorted(self._shortfalls.items()))))
        for key in touched | {key for key, level in self._levels.items() if level and rounds}:
            placements = tuple(
                (machine.number, machine.seats.get(key, 0) or int(machine.whole == key))
                for machine in self._machines
                if key in machine.seats or machine.whole == key
            )
            mine = self._placements.setdefault(key, [])
            if not mine or mine[-1][1] != placements:
                mine.append((at, placements))


def _key(name: str) -> PoolKey:
    reservation, _, resource_class = name.partition("/")
    return reservation, resource_class
