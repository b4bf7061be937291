"""Provision nodes for pods that arrive at one instant: what Karpenter buys, loop after loop.

A loop schedules pods and launches its claims. Pods without a place come again in the next loop, when fewer
reserved instances are free and the claims of before are nodes. The last loop is the one that neither buys
nor places anything. Placed pods stay where they are.

Where Karpenter's own order is open, `result_range` gives the fewest and the most nodes: every combination
of orders is tried if there are few; otherwise as many as `runs` allows, half of them in sequence, half at
random with fixed seeds.
"""

import sys
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from berth.karpenter.requirements import Labels
from berth.karpenter.resourcelists import NODES, ONE, fits
from berth.planner.inputs import PodSet, SchedulingInput, StateNode
from berth.planner.launch import (
    ReservationUsage,
    choose_launch,
    launched_labels,
    launched_node,
    remaining_limits,
)
from berth.planner.nodeclaims import NodeClaim, ReservationManager, Unschedulable
from berth.planner.nodeclaimtemplates import LaunchChoice, nodeclaim_catalog, static_template
from berth.planner.podqueue import PodRun, PodShape, ignored_reason
from berth.planner.scheduler import ExistingNode, Scheduler
from berth.planner.tiebreaks import TieBreaker

PodCounts = tuple[tuple[str, int], ...]
"""(name of the PodSet, how many of it)."""


class NewNode(NamedTuple):
    """A node that is bought. `options` are all types that it could have become, cheapest first."""

    pool: str
    type: str
    zone: str
    capacity_type: str
    price: float  # an hour, as the offering has it: next to nothing where reserved
    reservation: str  # empty where not reserved
    pods: PodCounts
    options: tuple[str, ...]
    labels: Labels  # of its node


class SchedulingLoop(NamedTuple):
    """One loop: the nodes bought in it, and what existing nodes took."""

    machines: tuple[NewNode, ...]
    standing: tuple[tuple[str, PodCounts], ...]  # (machine that stood before, what it took in this loop)
    deferred: int  # pods without a place after it


class UnscheduledPods(NamedTuple):
    """Pods without a place. `kind` is as in `Unschedulable`, or `label` if Karpenter ignores the pods."""

    pod: str
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody misses
    kind: str
    message: str


class SchedulingResult(NamedTuple):
    """What is bought. `static` are the nodes of pools with `replicas`, which exist before the first loop."""

    static: tuple[NewNode, ...]
    loops: tuple[SchedulingLoop, ...]
    left: tuple[UnscheduledPods, ...]

    @property
    def machines(self) -> tuple[NewNode, ...]:
        """The nodes of all loops, in the order in which they are bought, without the static ones."""
        return tuple(machine for loop in self.loops for machine in loop.machines)


@lru_cache(maxsize=4096)
def schedule(question: SchedulingInput) -> SchedulingResult:
    """Return what is bought if every open order is the default one. Results are cached."""
    return schedule_with(question, TieBreaker())


def schedule_with(question: SchedulingInput, ties: TieBreaker) -> SchedulingResult:
    """Return what is bought with these answers to open orders."""
    return _Provisioner(question, ties).all()


class _Provisioner:
    def __init__(self, question: SchedulingInput, ties: TieBreaker) -> None:
        self._question = question
        self._ties = ties
        self._reservations = ReservationUsage(question)
        self._given = sorted(question.nodes, key=lambda node: node.name)
        self._made: list[StateNode] = []
        self._launched: list[tuple[NodeClaim, LaunchChoice]] = []
        self._shapes: dict[PodSet, PodShape] = {}
        self._refusals: dict[int, Unschedulable] = {}

    def all(self) -> SchedulingResult:
        tolerate = nodeclaim_catalog(self._question).tolerate
        runs: list[PodRun] = []
        left: list[UnscheduledPods] = []
        for number, pod in enumerate(self._question.pods):
            reason = ignored_reason(pod, self._question.settings.well_known)
            if reason is not None:
                left.append(UnscheduledPods(pod.name, pod.count, "label", reason))
            elif pod.count > 0:
                runs.append((number, self._shape(pod, tolerate), pod.count))
        static = self._static()
        loops: list[SchedulingLoop] = []
        while runs:
            loop, runs = self._loop(runs)
            if not loop.machines and not loop.standing:
                break
            loops.append(loop)
        for number, _, count in runs:
            refusal = self._refusals[number]
            left.append(
                UnscheduledPods(self._question.pods[number].name, count, refusal.kind, refusal.message)
            )
        return SchedulingResult(tuple(static), tuple(loops), tuple(left))

    def _shape(self, pod: PodSet, tolerate: bool) -> PodShape:
        """Return the shape of a pod: one for all equal pods, whatever their names."""
        plain = pod._replace(name="", count=1)
        if plain not in self._shapes:
            self._shapes[plain] = PodShape(plain, tolerate)
        return self._shapes[plain]

    def _loop(self, runs: Sequence[PodRun]) -> tuple[SchedulingLoop, list[PodRun]]:
        question = self._question
        self._join()
        standing = [ExistingNode(one) for one in self._given]
        standing += self._made_in_order(runs)
        bookings = ReservationManager(self._reservations.free())
        room = remaining_limits(question.pools, [one.node for one in standing])
        scheduler = Scheduler(
            nodeclaim_catalog(question, self._reservations.spent()), standing, room, bookings, self._ties
        )
        left = scheduler.solve(runs)
        self._refusals = scheduler.unschedulable
        machines, failed = self._launch(scheduler.claims, {number: shape for number, shape, _ in runs})
        runs = _merged([*left, *failed])
        took = tuple((one.node.name, self._placed(one.pods)) for one in standing if one.pods)
        if runs:
            self._bind(standing)
        return SchedulingLoop(tuple(machines), took, sum(count for _, _, count in runs)), runs

    def _launch(
        self, claims: Sequence[NodeClaim], shapes: dict[int, PodShape]
    ) -> tuple[list[NewNode], list[PodRun]]:
        """Launch the claims. Return the nodes, and the pods of claims that have too few types."""
        machines: list[NewNode] = []
        failed: list[PodRun] = []
        for claim, got in zip(claims, self._bought(claims), strict=True):
            if got is None:
                failed += [(number, shapes[number], count) for number, count in claim.pods]
                message = f"{claim.template.pool.name}: too few values are left"
                self._refusals.update((n, Unschedulable("min-values", message)) for n, _ in claim.pods)
                continue
            machines.append(self._machine(claim, got))
            self._launched.append((claim, got))
        return machines, failed

    def _bought(self, claims: Sequence[NodeClaim]) -> list[LaunchChoice | None]:
        """Choose what each claim is launched as. Claims are launched in parallel: the provider sees the
        free instances of a reservation before all of them, or in one order or the other.
        """
        choosy = any(len(claim.held) > 1 for claim in claims)
        way = self._ties.pick(3) if choosy and sum(bool(claim.held) for claim in claims) > 1 else 0
        before = dict(self._reservations.taken)
        found: list[LaunchChoice | None] = []
        for claim in reversed(claims) if way == 2 else claims:
            got = choose_launch(claim, self._reservations.taken if way else before)
            self._reservations.add("" if got is None else got.offering.reservation)
            found.append(got)
        return found[::-1] if way == 2 else found

    def _static(self) -> list[NewNode]:
        """Buy the nodes of static pools one after the other, without holding reservations."""
        machines = []
        for pool in self._question.pools:
            most = dict(pool.limits).get(NODES)
            for _ in range(min(pool.replicas or 0, most // ONE if most is not None else sys.maxsize)):
                template = static_template(self._question, pool, self._reservations.spent())
                claim = NodeClaim(template, None, "")
                claim.candidates = template.filter_options(template.requirements).candidates
                if not claim.candidates:
                    break
                got = choose_launch(claim, self._reservations.taken)
                if got is None:
                    break
                self._reservations.add(got.offering.reservation)
                machines.append(self._machine(claim, got))
                self._launched.append((claim, got))
        return machines

    def _join(self) -> None:
        """Turn launched claims into nodes."""
        for claim, got in self._launched:
            pods = tuple(self._question.pods[number]._replace(count=count) for number, count in claim.pods)
            name = f"{claim.template.pool.name}-{len(self._made):06}"
            self._made.append(launched_node(claim, got, name, pods, self._question.settings.well_known))
        self._launched.clear()

    def _bind(self, standing: Sequence[ExistingNode]) -> None:
        pods = self._question.pods
        for existing_node in standing:
            if existing_node.pods:
                more = tuple(pods[number]._replace(count=count) for number, count in existing_node.pods)
                nodes = self._made if existing_node.node in self._made else self._given
                nodes[nodes.index(existing_node.node)] = existing_node.node._replace(
                    pods=(*existing_node.node.pods, *more)
                )

    def _made_in_order(self, runs: Sequence[PodRun]) -> list[ExistingNode]:
        """Return the new nodes by name. The end of a name is random, so their order is open."""
        existing_nodes = [ExistingNode(one) for one in self._made]
        roomy = [
            one
            for one in existing_nodes
            if any(fits(shape.requests.items(), one.free) for _, shape, _ in runs)
        ]
        if len(roomy) > 1 and self._ties.pick(2):
            existing_nodes.reverse()
        return existing_nodes

    def _machine(self, claim: NodeClaim, got: LaunchChoice) -> NewNode:
        offering = got.offering
        return NewNode(
            claim.template.pool.name,
            got.instance_type.name,
            offering.zone,
            offering.capacity_type,
            offering.price,
            offering.reservation,
            self._placed(claim.pods),
            got.options,
            launched_labels(claim, got, self._question.settings.well_known),
        )

    def _placed(self, pods: Sequence[tuple[int, int]]) -> PodCounts:
        counts: dict[str, int] = {}
        for number, count in pods:
            name = self._question.pods[number].name
            counts[name] = counts.get(name, 0) + count
        return tuple(counts.items())


def _merged(runs: Sequence[PodRun]) -> list[PodRun]:
    """Merge runs of the same PodSet, in the order of the input."""
    counts: dict[int, int] = {}
    shapes: dict[int, PodShape] = {}
    for number, shape, count in runs:
        counts[number] = counts.get(number, 0) + count
        shapes[number] = shape
    return [(number, shapes[number], counts[number]) for number in sorted(counts)]


class ResultRange(NamedTuple):
    """`plain` is the result of `schedule`. `complete`: all orders were tried, so nothing lies outside."""

    plain: SchedulingResult
    least: SchedulingResult
    most: SchedulingResult
    complete: bool
    runs: int


@lru_cache(maxsize=4096)
def result_range(question: SchedulingInput, runs: int = 16) -> ResultRange:
    """Return the results with the fewest and with the most nodes.

    Of results with equally many nodes, the one that leaves fewer pods counts, then the earlier one.
    """
    ties = TieBreaker()
    plain = schedule_with(question, ties)
    found = [plain]
    tape = ties.next_tape()
    while tape is not None and len(found) < max(runs // 2, 1):
        ties = TieBreaker(tape)
        found.append(schedule_with(question, ties))
        tape = ties.next_tape()
    complete = tape is None
    while not complete and len(found) < runs:
        found.append(schedule_with(question, TieBreaker(dice=Random(len(found)))))
    least = min(found, key=lambda one: (len(one.machines), _unscheduled_count(one)))
    most = max(found, key=lambda one: (len(one.machines), -_unscheduled_count(one)))
    return ResultRange(plain, least, most, complete, len(found))


def _unscheduled_count(one: SchedulingResult) -> int:
    return sum(left.count for left in one.left)
