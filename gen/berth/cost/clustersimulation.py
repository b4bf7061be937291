"""Simulate the nodes of one cluster over the term: bought when windows open, gone when all of them are
over.

While any window of a CloudCapacity is open, its budgets keep its nodes, and later windows use the existing
ones. A simulation follows one order where Karpenter's is open: the one that its `Planner` takes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from berth.cost.capacitycatalog import CapacityCatalog
from berth.cost.results import (
    MachineInterval,
    MachineKind,
    MachineStep,
    PoolKey,
    SeatDemand,
    Shortfall,
    SimulationRun,
)
from berth.cost.simulatednodes import (
    REMOVAL_SECONDS,
    DurationsByCapacity,
    NodeRemoval,
    PoolPlacement,
    SimulatedMachine,
    state_node,
)
from berth.karpenter.nodelabels import NODEPOOL, ON_DEMAND
from berth.karpenter.requirements import requirements_of_labels
from berth.karpenter.resourcelists import NODES, ONE
from berth.manifests.nodeaffinity import selected
from berth.planner.inputs import PodSet, SchedulingInput, StateNode
from berth.planner.provisioning import NewNode, SchedulingResult
from berth.schema.seatholders import Unit


class SchedulingInputs:
    """Make the input of the planner: the node pools, existing nodes and pending pods of a moment."""

    def __init__(self, catalog: CapacityCatalog, places: Mapping[PoolKey, PoolPlacement]) -> None:
        self._catalog, self._places = catalog, places
        self._cares = any(_has_topology_terms(place.pod) for place in places.values())

    def of_seats(
        self, wanted: Sequence[tuple[PoolKey, int]], machines: Sequence[SimulatedMachine], at: int
    ) -> SchedulingInput:
        """Return the input for pending seats.

        Nodes of other capacities are included only if topology matters to some class of the cluster, so
        that equal questions have equal inputs and their results are cached.
        """
        names = {cloud for key, _ in wanted for cloud in self._places[key].clouds}
        free = self._free(machines, at)
        pods = (self._places[key].pod._replace(name="/".join(key), count=count) for key, count in wanted)
        pools = (self._catalog.pool(name, free) for name in sorted(names))
        every = [machine for machine in machines if machine.static is None and machine.kind.capacity in names]
        elsewhere: list[str] = []
        if self._cares:
            every = list(machines)
            elsewhere = sorted(self._catalog.clouds.keys() - names)
        there = self._free((), at)
        return SchedulingInput(
            tuple(pools),
            (),
            tuple(pods),
            nodes=tuple(self._node(one) for one in every),
            settings=self._catalog.settings,
            other_pools=tuple(self._catalog.pool(name, there) for name in elsewhere),
        )

    def of_nodes(
        self, key: PoolKey, level: int, machines: Sequence[SimulatedMachine], at: int
    ) -> SchedulingInput | None:
        """Return the input for the missing nodes of a pool of whole nodes, or None if none is missing."""
        there = sum(machine.static == key for machine in machines)
        if there >= level:
            return None
        left = {name: count for name, count in self._free(machines, at).items() if count}
        plain = self._catalog.pool(self._places[key].clouds[0], left)
        most = dict(plain.limits).get(NODES)
        asked = requirements_of_labels(selected(self._places[key].pod.node_selector))
        pool = plain._replace(
            name="/".join(key),
            requirements=(*plain.requirements, *asked),
            replicas=level - there,
            weight=0,
            limits=() if most is None else ((NODES, max(most - there * ONE, 0)),),
        )
        return SchedulingInput((pool,), (), ())

    def _free(self, machines: Sequence[SimulatedMachine], at: int) -> dict[str, int]:
        free = {key: one.reservation.count for key, one in self._catalog.reserved.items() if one.at(at)}
        for machine in machines:
            if machine.kind.reserved in free:
                free[machine.kind.reserved] -= 1
        full = self._catalog.settings.offers_full
        return {key: max(count, 0) for key, count in free.items() if count > 0 or full}

    def _node(self, machine: SimulatedMachine) -> StateNode:
        made = state_node(machine, self._catalog, self._places)
        if machine.static is None:
            return made
        own = dict(made.labels) | {NODEPOOL: "/".join(machine.static)}
        return made._replace(labels=tuple(sorted(own.items())))


def _has_topology_terms(pod: PodSet) -> bool:
    """Tell whether it matters to the pod where other pods are."""
    return bool(
        pod.spread
        or pod.affinity
        or pod.anti_affinity
        or pod.preferred_affinity
        or pod.preferred_anti_affinity
    )


Planner = Callable[[SchedulingInput], SchedulingResult]


class SimulatedCluster(NamedTuple):
    """The cluster to simulate. `consolidate_after` and `expire_after` are as in `NodeRemoval`."""

    catalog: CapacityCatalog
    places: Mapping[PoolKey, PoolPlacement]
    consolidate_after: DurationsByCapacity
    expire_after: DurationsByCapacity


class ClusterSimulation:
    """The simulation of one cluster."""

    def __init__(self, cluster: SimulatedCluster, demands: Sequence[SeatDemand], choose: Planner) -> None:
        self._catalog, self._places = cluster.catalog, cluster.places
        self._demands = demands
        self._choose = choose
        self._static = {demand.key for demand in demands if demand.unit is Unit.NODE}
        self._questions = SchedulingInputs(cluster.catalog, cluster.places)
        self._levels: dict[PoolKey, int] = {}
        self._pending: dict[PoolKey, int] = {}
        self._leaving = NodeRemoval(
            cluster.catalog.clouds.values(), cluster.consolidate_after, cluster.expire_after
        )
        self._machines: list[SimulatedMachine] = []
        self._kinds: list[MachineKind] = []
        self._named = 0
        self._intervals: list[MachineInterval] = []
        self._steps: list[MachineStep] = []
        self._placements: dict[PoolKey, list[tuple[int, tuple[tuple[int, int], ...]]]] = {}
        self._shortfalls: dict[PoolKey, Shortfall] = {}

    def run(self, end: int) -> SimulationRun:
        """Run the simulation. Nodes that never go are followed up to `end`."""
        changes = self._changes()
        for at in sorted({*changes, *self._boundaries(changes)}):
            self._leave(at)
            asks = self._expire(at)
            rises = self._follow(at, changes.get(at, {}))
            loops = bought = 0
            if rises or asks or ((self._pending or self._shortfalls) and at in changes) or self._begins(at):
                loops, bought = self._ask(at)
            if at in changes or asks or bought:
                self._note(at, {*changes.get(at, {}), *asks}, loops, bought)
        gone = {machine.number: goes for machine, goes in self._leaving.gone(self._machines, None)}
        for machine in self._machines:
            self._close_interval(machine, gone.get(machine.number, end))
        return SimulationRun(tuple(self._intervals), tuple(self._steps), self._placements, tuple(self._kinds))

    def _changes(self) -> dict[int, dict[PoolKey, int]]:
        """Return by instant how much the size of each pool changes."""
        found: dict[int, dict[PoolKey, int]] = {}
        for demand in self._demands:
            pairs = iter(demand.steps)
            for minute in pairs:
                changed = found.setdefault(minute * 60, {})
                changed[demand.key] = changed.get(demand.key, 0) + next(pairs)
        return found

    def _boundaries(self, changes: Mapping[int, object]) -> set[int]:
        """Return when reservations begin and end while anything is open."""
        first, last = min(changes, default=0), max(changes, default=0)
        found = {at for one in self._catalog.reserved.values() for at in (one.reservation.first, one.last)}
        return {at for at in found if at is not None and first <= at <= last}

    def _begins(self, at: int) -> bool:
        """Tell whether a reservation begins while seats are pending."""
        return bool(self._pending) and any(r.reservation.first == at for r in self._catalog.reserved.values())

    def _leave(self, at: int) -> None:
        """Remove the machines that have gone since the last step."""
        for machine, goes in self._leaving.gone(self._machines, at):
            self._close_interval(machine, goes)
            self._machines.remove(machine)

    def _expire(self, at: int) -> set[PoolKey]:
        """End reservations: a Capacity Block takes its machines with it, others become on-demand.

        Return the pools whose seats have lost their place.
        """
        lost: set[PoolKey] = set()
        for machine in list(self._machines):
            ends = self._catalog.reserved.get(machine.kind.reserved)
            if ends is None or ends.last is None or ends.last > at:
                continue
            allowed = self._catalog.clouds[machine.kind.capacity].capacity_types
            self._close_interval(machine, at)
            if ends.reservation.type == "default" and ON_DEMAND in allowed:
                machine.kind = machine.kind._replace(capacity_type=ON_DEMAND, reserved="")
                machine.node = None
                continue
            self._machines.remove(machine)
            for key, count in machine.pods.items():
                self._pending[key] = self._pending.get(key, 0) + count
            lost |= {*machine.pods, *([machine.static] if machine.static else [])}
        return lost

    def _follow(self, at: int, changed: Mapping[PoolKey, int]) -> bool:
        """Remove seats that are not needed any more and add pending ones. Tell whether any were added."""
        rises = False
        for key, change in sorted(changed.items()):
            before = self._levels.get(key, 0)
            self._levels[key] = before + change
            if key in self._static:  # no budget holds a machine for them
                rises = rises or change > 0
                self._give_back(key, at)
                continue
            for cloud in self._places[key].clouds if bool(before) != bool(before + change) else ():
                if change > 0:
                    self._leaving.opens(cloud)
                else:
                    self._leaving.closes(cloud, at)
            if change > 0:
                self._pending[key] = self._pending.get(key, 0) + change
                rises = True
            elif change < 0:
                self._lower(key, -change, at)
        return rises

    def _lower(self, key: PoolKey, count: int, at: int) -> None:
        """Remove seats: pending ones first, then those on the machines that were bought last."""
        waiting = min(count, self._pending.get(key, 0))
        self._pending[key] = self._pending.get(key, 0) - waiting
        count -= waiting
        for machine in reversed(self._machines):
            took = min(count, machine.pods.get(key, 0))
            if took:
                self._put(machine, key, -took, at)
                count -= took

    def _give_back(self, key: PoolKey, at: int) -> None:
        """Return whole nodes. Reserved ones are free at once: they are paid for whether they drain or not."""
        mine = [machine for machine in self._machines if machine.static == key]
        for machine in mine[self._levels[key] :]:
            self._close_interval(machine, at if machine.kind.reserved else at + REMOVAL_SECONDS)
            self._machines.remove(machine)

    def _put(self, machine: SimulatedMachine, key: PoolKey, change: int, at: int) -> None:
        """Add `change` seats of a pool to a machine."""
        machine.pods[key] = machine.pods.get(key, 0) + change
        if not machine.pods[key]:
            del machine.pods[key]
        payers = tuple(sorted(machine.pods.items())) or machine.payers
        if payers != machine.payers:
            self._close_interval(machine, at)
        machine.empty = None if machine.pods else at
        machine.payers = payers
        machine.node = None

    def _close_interval(self, machine: SimulatedMachine, until: int) -> None:
        if until > machine.since:
            self._intervals.append(
                MachineInterval(machine.number, machine.kind, machine.since, until, machine.payers)
            )
            machine.since = until

    def _ask(self, at: int) -> tuple[int, int]:
        """Schedule pending seats and whole nodes. Return the number of loops and of machines bought."""
        self._shortfalls = {}
        bought = sum(self._hold(key, at) for key in sorted(self._static) if self._levels.get(key))
        wanted = [(key, count) for key, count in sorted(self._pending.items()) if count]
        if not wanted:
            return (1 if bought else 0), bought
        answer = self._choose(self._questions.of_seats(wanted, self._machines, at))
        self._take(answer, at)
        self._pending = {}
        for left in answer.left:
            reservation, _, name = left.pod.partition("/")
            self._pending[reservation, name] = left.count
            self._shortfalls[reservation, name] = Shortfall(left.count, left.kind, left.message)
        return len(answer.loops), bought + len(answer.machines)

    def _take(self, answer: SchedulingResult, at: int) -> None:
        """Place seats by the names of the result: names of machines that existed, or of those it buys."""
        named = {machine.name: machine for machine in self._machines}
        number = 0
        for loop in answer.loops:
            for name, placed in loop.standing:
                self._fill(named[name], placed, at)
            for machine in loop.machines:
                simulated_machine = self._made(machine, at, None)
                named[f"{machine.pool}-{number:06}"] = simulated_machine
                number += 1
                self._fill(simulated_machine, machine.pods, at)

    def _fill(self, machine: SimulatedMachine, placed: Iterable[tuple[str, int]], at: int) -> None:
        for name, count in placed:
            reservation, _, resource_class = name.partition("/")
            self._put(machine, (reservation, resource_class), count, at)

    def _made(self, one: NewNode, at: int, static: PoolKey | None) -> SimulatedMachine:
        capacity = self._places[static].clouds[0] if static else self._catalog.capacities[one.pool]
        kind = MachineKind(capacity, one.type, one.zone, one.capacity_type, one.reservation)
        self._kinds.append(kind)
        # Named anew where nothing stood, so that what happens every week is the same question every week.
        self._named = self._named + 1 if self._machines else 0
        machine = SimulatedMachine(len(self._kinds) - 1, f"standing-{self._named:08}", kind, at, static)
        machine.labels = one.labels
        self._machines.append(machine)
        return machine

    def _hold(self, key: PoolKey, at: int) -> int:
        """Buy the whole nodes that a pool is missing. Return how many were bought."""
        question = self._questions.of_nodes(key, self._levels[key], self._machines, at)
        if question is None:
            return 0
        (pool,) = question.pools
        found = self._choose(question).static
        for one in found:
            self._made(one, at, key)
        missing = (pool.replicas or 0) - len(found)
        if missing:
            most = dict(pool.limits).get(NODES)
            reached = most is not None and most < (pool.replicas or 0) * ONE
            message = "its limit of nodes is reached" if reached else "no type is left that is offered"
            name = self._catalog.pools[self._places[key].clouds[0]]
            self._shortfalls[key] = Shortfall(missing, "limits" if reached else "pools", f"{name}: {message}")
        return len(found)

    def _note(self, at: int, touched: set[PoolKey], loops: int, bought: int) -> None:
        shortfalls = tuple(sorted(self._shortfalls.items())) if loops or bought or self._shortfalls else ()
        self._steps.append(MachineStep(at, loops, bought, shortfalls))
        for key in touched | {key for key, count in self._levels.items() if count and (loops or bought)}:
            placements = tuple(
                (machine.number, machine.pods.get(key, 0) or int(machine.static == key))
                for machine in self._machines
                if key in machine.pods or machine.static == key
            )
            mine = self._placements.setdefault(key, [])
            if not mine or mine[-1][1] != placements:
                mine.append((at, placements))
