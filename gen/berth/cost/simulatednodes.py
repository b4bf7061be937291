"""Machines of a simulation: their state for the planner, and when they go."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from berth.cost.capacitycatalog import CapacityCatalog
from berth.cost.results import MachineKind, PoolKey
from berth.durations import whole_seconds
from berth.karpenter.disruption import DisruptionBudget, allowed_disruptions, next_disruption_allowed
from berth.karpenter.nodelabels import CAPACITY_TYPE, INITIALIZED, REGISTERED, RESERVATION_LABELS
from berth.karpenter.requirements import Labels
from berth.karpenter.resourcelists import allocatable
from berth.manifests.nodeaffinity import own_budgets
from berth.planner.inputs import PodSet, StateNode
from berth.planner.podspec import named_zones
from berth.schema.cloudvalues import CloudCapacity


class PoolPlacement(NamedTuple):
    """What one pool asks for: its pod, and the CloudCapacities that it may use, preferred first.

    For whole nodes the pod does not matter.
    """

    pod: PodSet
    clouds: tuple[str, ...]


def zones_by_capacity(places: Iterable[PoolPlacement]) -> dict[str, frozenset[str]]:
    """Return, by CloudCapacity, the zones that its seats name; a capacity is left out where zones do not
    matter.
    """
    found: dict[str, frozenset[str]] = {}
    for place in places:
        named = named_zones(place.pod)
        for cloud in place.clouds if named is not None else ():
            found[cloud] = found.get(cloud, frozenset()) | (named or frozenset())
    return found


class SimulatedMachine:
    """One machine of a simulation."""

    __slots__ = (
        "bought",
        "empty",
        "kind",
        "labels",
        "name",
        "node",
        "number",
        "payers",
        "pods",
        "since",
        "static",
    )

    def __init__(self, number: int, name: str, kind: MachineKind, at: int, static: PoolKey | None) -> None:
        self.number, self.name, self.kind, self.static = number, name, kind, static
        self.labels: Labels = ()  # that it came with
        self.bought = self.since = at
        self.pods: dict[PoolKey, int] = {}
        self.payers: tuple[tuple[PoolKey, int], ...] = ((static, 1),) if static else ()
        self.empty: int | None = at
        self.node: StateNode | None = None


def state_node(
    machine: SimulatedMachine, catalog: CapacityCatalog, places: Mapping[PoolKey, PoolPlacement]
) -> StateNode:
    """Return the machine as the planner takes it; the same object as long as nothing on it changes."""
    if machine.node is None:
        declared = catalog.declared_type(machine.kind.capacity, machine.kind.type)
        machine.node = StateNode(
            machine.name,
            tuple(allocatable(declared.capacity, declared.overhead).items()),
            declared.capacity,
            _current_labels(machine.labels, machine.kind),
            catalog.pool(machine.kind.capacity, {}).taints,
            pods=tuple(
                places[key].pod._replace(name="/".join(key), count=count)
                for key, count in sorted(machine.pods.items())
            ),
            unknown=declared.unknown,
        )
    return machine.node


@lru_cache(maxsize=1024)
def _current_labels(bought: Labels, kind: MachineKind) -> Labels:
    """Return the labels of a machine that came with `bought`; those of an ended reservation are gone."""
    labels = {key: value for key, value in bought if kind.reserved or key not in RESERVATION_LABELS}
    labels |= {CAPACITY_TYPE: kind.capacity_type, REGISTERED: "true", INITIALIZED: "true"}
    return tuple(sorted(labels.items()))


REMOVAL_SECONDS = 60  # seconds in which a node that is not wanted any more is seen, drained and stopped
ROUND_SECONDS = (
    25  # until the next ones: Karpenter looks every ten seconds, and waits for fifteen before it acts
)
_EMPTY = "Empty"
DurationsByCapacity = Mapping[str, int | None]


class NodeRemoval:
    """When empty machines go: in rounds of Karpenter's, as disruption budgets allow, and by expiry.

    While any window of a CloudCapacity is open, its budgets keep its machines; other budgets are its own.
    `consolidate_after`: by CloudCapacity, the seconds that an empty machine stays; None: as long as it
    lives. `expire_after`: how long machines live. Then an empty one goes whatever budgets say, and one with
    seats on it is replaced by an equal one.
    """

    def __init__(
        self,
        clouds: Iterable[CloudCapacity],
        consolidate_after: DurationsByCapacity,
        expire_after: DurationsByCapacity,
    ) -> None:
        every = tuple(clouds)
        self._consolidate_after, self._expire_after = consolidate_after, expire_after
        self._budgets = {cloud.name: tuple(map(_disruption_budget, own_budgets(cloud))) for cloud in every}
        self._open = {cloud.name: 0 for cloud in every}
        self._closed = {cloud.name: 0 for cloud in every}  # when the last window of each ended
        self._next = {cloud.name: 0 for cloud in every}  # before which no round begins
        self._held: dict[str, tuple[int, int | None]] = {}  # from when to when own budgets let nothing go

    def opens(self, cloud: str) -> None:
        """Note that a window of a CloudCapacity opens."""
        self._open[cloud] += 1

    def closes(self, cloud: str, at: int) -> None:
        """Note that a window of a CloudCapacity closes."""
        self._open[cloud] -= 1
        self._closed[cloud] = at

    def gone(
        self, machines: Iterable[SimulatedMachine], until: int | None
    ) -> list[tuple[SimulatedMachine, int]]:
        """Return the machines that have gone by then, and when. None: all that ever go if no window opens."""
        pools: dict[str, list[SimulatedMachine]] = {}
        for machine in machines:
            if machine.static is None:
                pools.setdefault(machine.kind.capacity, []).append(machine)
        found = []
        for cloud, pool in pools.items():
            empty = [one for one in pool if one.empty is not None]
            taken = dict(self._taken(cloud, pool, until)) if empty else {}
            for one in empty:
                times = [at for at in (taken.get(one.number), self._expires(one)) if at is not None]
                if times and (until is None or min(times) + REMOVAL_SECONDS <= until):
                    found.append((one, min(times) + REMOVAL_SECONDS))
        return found

    def _taken(
        self, cloud: str, pool: Sequence[SimulatedMachine], until: int | None
    ) -> Iterator[tuple[int, int]]:
        """Return the numbers of empty machines that Karpenter disrupts, and when."""
        tail, closed = self._consolidate_after[cloud], self._closed[cloud]
        if self._open[cloud] or tail is None:
            return
        waiting = sorted((max(m.empty + tail, closed), m.number) for m in pool if m.empty is not None)
        there = len(pool)
        while waiting:
            at = self._free(cloud, max(waiting[0][0], self._next[cloud]))
            if at is None or (until is not None and at + REMOVAL_SECONDS > until):
                return
            ready = sum(since <= at for since, _ in waiting)
            count = min(ready, allowed_disruptions(self._budgets[cloud], _EMPTY, there, at))
            for _, number in waiting[:count]:
                yield number, at
            del waiting[:count]
            there -= count
            self._next[cloud] = at + ROUND_SECONDS

    def _free(self, cloud: str, at: int) -> int | None:
        """Return from when on its own budgets allow a disruption, or None if never."""
        since, until = self._held.get(cloud, (at, at))
        if not (since <= at and (until is None or at < until)):
            until = next_disruption_allowed(self._budgets[cloud], _EMPTY, at)
            self._held[cloud] = at, until
        return until

    def _expires(self, machine: SimulatedMachine) -> int | None:
        """Return the first time at which the machine or its replacement expires with no seats on it."""
        life = self._expire_after[machine.kind.capacity]
        if life is None or machine.empty is None:
            return None
        expire_after = max(1, -(-(machine.empty - machine.bought) // life))
        return machine.bought + expire_after * life


def _disruption_budget(said: Mapping[str, Any]) -> DisruptionBudget:
    duration, reasons = said.get("duration"), said.get("reasons")
    return DisruptionBudget(
        str(said["nodes"]),
        said.get("schedule"),
        None if duration is None else whole_seconds(duration),
        None if reasons is None else tuple(reasons),
    )
