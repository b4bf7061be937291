"""Loop after loop: what Karpenter buys for pods that come at one instant.

A loop packs, and its claims are launched; what found no place comes again in the next loop, when fewer
machines of reservations are free and machines stand that were only claims before. It ends when a loop neither
bought nor placed anything. Pods that have a place keep it.
"""

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gen.plan.amounts import NODES, ONE, fits
from gen.plan.bookings import Bookings
from gen.plan.claim import Claim, Refusal
from gen.plan.launch import buy
from gen.plan.line import Run
from gen.plan.market import Bought, market, pool_template
from gen.plan.packing import Packing
from gen.plan.requirement import Labels
from gen.plan.shape import Shape, left_alone
from gen.plan.standing import Standing
from gen.plan.stock import Stock, labels, limits, node
from gen.plan.ties import Ties
from gen.plan.values import Node, Pod, Question

Placed = tuple[tuple[str, int], ...]
"""(name of the pod, how many of it)."""


class Machine(NamedTuple):
    """A machine that is bought. `options`: all types that it could have become, cheapest first."""

    pool: str
    type: str
    zone: str
    capacity_type: str
    price: float  # an hour, as the offering has it: next to nothing where reserved
    reservation: str  # empty where not reserved
    pods: Placed
    options: tuple[str, ...]
    labels: Labels  # of its node


class Loop(NamedTuple):
    machines: tuple[Machine, ...]
    standing: tuple[tuple[str, Placed], ...]  # (machine that stood before, what it took in this loop)
    deferred: int  # pods without a place after it


class Left(NamedTuple):
    """Pods that find no place. `kind` as in `Refusal`, or `label` where Karpenter leaves them alone."""

    pod: str
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody misses
    kind: str
    message: str


class Purchase(NamedTuple):
    """`static` are the machines of pools with `replicas`; they stand before the first loop."""

    static: tuple[Machine, ...]
    loops: tuple[Loop, ...]
    left: tuple[Left, ...]

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Of all loops, in the order in which they are bought; without the static ones."""
        return tuple(machine for loop in self.loops for machine in loop.machines)


@lru_cache(maxsize=4096)
def purchase(question: Question) -> Purchase:
    """In the plainest order wherever Karpenter's is open. The same question is answered once."""
    return bought(question, Ties())


def bought(question: Question, ties: Ties) -> Purchase:
    return _Buying(question, ties).all()


class _Buying:
    def __init__(self, question: Question, ties: Ties) -> None:
        self._question = question
        self._ties = ties
        self._stock = Stock(question)
        self._given = sorted(question.nodes, key=lambda one: (not one.initialized, one.name))
        self._made: list[Node] = []
        self._new: list[tuple[Claim, Bought]] = []
        self._shapes: dict[Pod, Shape] = {}
        self._refusals: dict[int, Refusal] = {}

    def all(self) -> Purchase:
        tolerate = market(self._question).tolerate
        runs: list[Run] = []
        left: list[Left] = []
        for number, pod in enumerate(self._question.pods):
            reason = left_alone(pod, self._question.settings.well_known)
            if reason is not None:
                left.append(Left(pod.name, pod.count, "label", reason))
            elif pod.count > 0:
                runs.append((number, self._shape(pod, tolerate), pod.count))
        static = self._static()
        loops: list[Loop] = []
        while runs:
            loop, runs = self._loop(runs)
            if not loop.machines and not loop.standing:
                break
            loops.append(loop)
        for number, _, count in runs:
            refusal = self._refusals[number]
            left.append(Left(self._question.pods[number].name, count, refusal.kind, refusal.message))
        return Purchase(tuple(static), tuple(loops), tuple(left))

    def _shape(self, pod: Pod, tolerate: bool) -> Shape:
        """Equal pods are one shape, whatever their names."""
        plain = pod._replace(name="", count=1)
        if plain not in self._shapes:
            self._shapes[plain] = Shape(plain, self._question.settings, tolerate)
        return self._shapes[plain]

    def _loop(self, runs: Sequence[Run]) -> tuple[Loop, list[Run]]:
        question = self._question
        self._join()
        standing = [Standing(one, question.daemons) for one in self._given]
        standing += self._made_in_order(runs)
        bookings = Bookings(self._stock.free())
        room = limits(question.pools, [one.node for one in standing])
        packing = Packing(market(question, self._stock.spent()), standing, room, bookings, self._ties)
        left = packing.pack(runs)
        self._refusals = packing.refusals
        machines, failed = self._launch(packing.claims, {number: shape for number, shape, _ in runs})
        runs = _merged([*left, *failed])
        took = tuple((one.node.name, self._placed(one.pods)) for one in standing if one.pods)
        if runs:
            self._bind(standing)
        return Loop(tuple(machines), took, sum(count for _, _, count in runs)), runs

    def _launch(self, claims: Sequence[Claim], shapes: dict[int, Shape]) -> tuple[list[Machine], list[Run]]:
        """The machines, and the pods of claims that turn out to have too few types."""
        machines: list[Machine] = []
        failed: list[Run] = []
        for claim, got in zip(claims, self._bought(claims), strict=True):
            if got is None:
                failed += [(number, shapes[number], count) for number, count in claim.pods]
                message = f"{claim.template.pool.name}: too few values are left"
                self._refusals.update((n, Refusal("min-values", message)) for n, _ in claim.pods)
                continue
            machines.append(self._machine(claim, got))
            self._new.append((claim, got))
        return machines, failed

    def _bought(self, claims: Sequence[Claim]) -> list[Bought | None]:
        """Claims are launched side by side: the provider sees how many machines a reservation has left before
        all of them, or in one order or the other.
        """
        choosy = any(len(claim.held) > 1 for claim in claims)
        way = self._ties.pick(3) if choosy and sum(bool(claim.held) for claim in claims) > 1 else 0
        before = dict(self._stock.taken)
        found: list[Bought | None] = []
        for claim in reversed(claims) if way == 2 else claims:
            got = buy(claim, self._stock.taken if way else before)
            self._stock.take("" if got is None else got.offering.reservation)
            found.append(got)
        return found[::-1] if way == 2 else found

    def _static(self) -> list[Machine]:
        """Pools with `replicas` get their machines one after the other, without booking reservations."""
        machines = []
        for pool in self._question.pools:
            most = dict(pool.limits).get(NODES)
            for _ in range(min(pool.replicas or 0, most // ONE if most is not None else sys.maxsize)):
                template = pool_template(self._question, pool, self._stock.spent())
                claim = Claim(template, None, "")
                claim.candidates = template.narrow(template.requirements).candidates
                if not claim.candidates:
                    break
                got = buy(claim, self._stock.taken)
                if got is None:
                    break
                self._stock.take(got.offering.reservation)
                machines.append(self._machine(claim, got))
                self._new.append((claim, got))
        return machines

    def _join(self) -> None:
        """What was launched stands now."""
        for claim, got in self._new:
            pods = tuple(self._question.pods[number]._replace(count=count) for number, count in claim.pods)
            name = f"{claim.template.pool.name}-{len(self._made):06}"
            self._made.append(node(claim, got, name, pods, self._question.settings.well_known))
        self._new.clear()

    def _bind(self, standing: Sequence[Standing]) -> None:
        pods = self._question.pods
        for one in standing:
            if one.pods:
                more = tuple(pods[number]._replace(count=count) for number, count in one.pods)
                nodes = self._made if one.node in self._made else self._given
                nodes[nodes.index(one.node)] = one.node._replace(pods=(*one.node.pods, *more))

    def _made_in_order(self, runs: Sequence[Run]) -> list[Standing]:
        """New machines go by name, and the end of a name is chance."""
        made = [Standing(one, self._question.daemons) for one in self._made]
        roomy = [one for one in made if any(fits(shape.requests.items(), one.free) for _, shape, _ in runs)]
        if len(roomy) > 1 and self._ties.pick(2):
            made.reverse()
        return made

    def _machine(self, claim: Claim, got: Bought) -> Machine:
        offering = got.offering
        return Machine(
            claim.template.pool.name,
            got.entry.name,
            offering.zone,
            offering.capacity_type,
            offering.price,
            offering.reservation,
            self._placed(claim.pods),
            got.options,
            labels(claim, got, self._question.settings.well_known),
        )

    def _placed(self, pods: Sequence[tuple[int, int]]) -> Placed:
        counts: dict[str, int] = {}
        for number, count in pods:
            name = self._question.pods[number].name
            counts[name] = counts.get(name, 0) + count
        return tuple(counts.items())


def _merged(runs: Sequence[Run]) -> list[Run]:
    """One run of each of the batch's pods, in their order."""
    counts: dict[int, int] = {}
    shapes: dict[int, Shape] = {}
    for number, shape, count in runs:
        counts[number] = counts.get(number, 0) + count
        shapes[number] = shape
    return [(number, shapes[number], counts[number]) for number in sorted(counts)]
