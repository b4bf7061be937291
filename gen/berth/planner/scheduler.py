"""One loop of Karpenter's scheduler: pods onto existing nodes, onto in-flight claims, onto new claims.

Equal pods that no topology rule applies to are scheduled in groups: what happens to one happens to the next
until something changes.
"""

from collections.abc import Iterable, Sequence

from berth.karpenter.nodelabels import HOSTNAME, NODEPOOL
from berth.karpenter.requirements import Requirements, requirements_of_labels
from berth.karpenter.resourcelists import NODES, ONE, PODS, ResourceList, fits, sum_resources
from berth.karpenter.taints import untolerated
from berth.planner.inputs import StateNode
from berth.planner.nodeclaims import (
    InFlightNodeClaims,
    NodeClaim,
    NodeClaimUpdate,
    ReservationManager,
    Unschedulable,
)
from berth.planner.nodeclaimtemplates import NodeClaimCatalog, NodeClaimTemplate, PoolInstanceType
from berth.planner.podqueue import PodQueue, PodRun, PodShape, queue_order
from berth.planner.tiebreaks import TieBreaker
from berth.planner.topology import NoDomain, Topology, labels_with_hostname


class ExistingNode:
    """A node that exists while pods are scheduled. It takes what fits and never changes its type."""

    def __init__(self, node: StateNode) -> None:
        labels = labels_with_hostname(node)
        self.node = node
        self.hostname = labels[HOSTNAME]
        self.pool = labels.get(NODEPOOL, "")
        self.requirements = Requirements(
            requirements_of_labels((k, v) for k, v in labels.items() if k != HOSTNAME)
        )
        self.free = _free_resources_of(node)
        self.pods: list[tuple[int, int]] = []
        self._rejected: dict[PodShape, Requirements] = {}

    def rejects(self, shape: PodShape) -> bool:
        return self._rejected.get(shape) is self.requirements

    def mark_rejected(self, shape: PodShape) -> None:
        self._rejected[shape] = self.requirements

    def can_add(self, shape: PodShape, topology: Topology) -> Requirements | Unschedulable:
        """Return the node's requirements with the pod, or why it does not take it."""
        if untolerated(self.node.taints, shape.pod.tolerations) is not None:
            return Unschedulable("taints", "")
        if not fits(shape.requests.items(), self.free):
            return Unschedulable("types", "")
        if shape.hostname and not shape.hostname.allows(self.hostname):
            return Unschedulable("requirements", "")
        if self.requirements.conflict(shape.requirements, self.node.unknown) is not None:
            return Unschedulable("requirements", "")
        joined = self.requirements.plus(shape.requirements)
        if topology.applies_to(shape):
            narrowed = topology.add_requirements(shape, self.hostname, joined, frozenset())
            if isinstance(narrowed, NoDomain):
                return Unschedulable("topology", *narrowed)
            joined = narrowed
        return self.requirements if joined == self.requirements else joined

    def most(self, shape: PodShape) -> int:
        """Return how many such pods fit."""
        return min(self.free.get(name, 0) // value for name, value in shape.requests.items() if value > 0)

    def add(self, requirements: Requirements, shape: PodShape, number: int, count: int) -> None:
        self.requirements = requirements
        for name, value in shape.requests.items():
            if name in self.free or value:
                self.free[name] = self.free.get(name, 0) - value * count
        self.pods.append((number, count))


def _free_resources_of(node: StateNode) -> dict[str, int]:
    used = sum_resources(*(_bound_requests(pod.requests, pod.count) for pod in node.pods))
    return {name: value - used.get(name, 0) for name, value in node.allocatable}


def _bound_requests(requests: ResourceList, count: int) -> list[tuple[str, int]]:
    return [*((name, value * count) for name, value in requests), (PODS, ONE * count)]


RemainingLimits = dict[str, dict[str, int]]
"""By pool: what it may still add of each resource that it limits."""


class Scheduler:
    """Schedule pods. After `solve`, `unschedulable` tells by the pod's number why the rest found no place."""

    def __init__(
        self,
        catalog: NodeClaimCatalog,
        standing: Sequence[ExistingNode],
        limits: RemainingLimits,
        bookings: ReservationManager,
        ties: TieBreaker,
    ) -> None:
        self.claims: list[NodeClaim] = []
        self.unschedulable: dict[int, Unschedulable] = {}
        self._catalog = catalog
        self._existing = standing
        self._limits = limits
        self._bookings = bookings
        self._ties = ties
        self._clock = 0
        self._topology = Topology(catalog.domains, [existing_node.node for existing_node in standing], ties)

    def solve(self, runs: Sequence[PodRun]) -> list[PodRun]:
        """Schedule all pods. Return those without a place."""
        for _, shape, _ in runs:
            self._topology.add_pod(shape)
        for one in self._existing:
            self._topology.register(one.hostname)
        queue = PodQueue(queue_order(runs, self._ties))
        while (run := queue.next()) is not None:
            queue.requeue(run, *self._schedule_run(run))
        return queue.left()

    def _schedule_run(self, run: PodRun) -> tuple[int, int]:
        """Return how many of the run are placed and how many are refused.

        What is true of the first without a place is true of the rest, except where Karpenter's order is open.
        """
        number, shape, count = run
        placed = 0
        self.unschedulable.pop(number, None)
        while placed < count:
            answers = len(self._ties.asked)
            took, refusal = self._schedule_with_relaxation(shape, number, count - placed)
            placed += took
            if not took and refusal is not None:
                self.unschedulable[number] = refusal
                return placed, count - placed if len(self._ties.asked) == answers else 1
        return placed, 0

    def _schedule_with_relaxation(
        self, shape: PodShape, number: int, count: int
    ) -> tuple[int, Unschedulable | None]:
        """Place some of `count`, at least one if possible.

        Each pod starts with all its preferences and drops one after the other, unless it only waits for a
        reservation.
        """
        wish: PodShape | None = shape
        while wish is not None:
            self._topology.add_pod(wish)
            bound = self._topology.applies_to(wish)
            took, refusal = self._schedule_shape(wish, number, 1 if bound else count)
            if took or refusal is None or refusal.kind == "reserved":
                return took, refusal
            if bound or not refusal.static:
                count = 1
            wish = wish.relaxed
        return 0, refusal

    def _schedule_shape(self, shape: PodShape, number: int, count: int) -> tuple[int, Unschedulable | None]:
        """Place up to `count` pods of this shape. Return how many, and why the next one has no place."""
        placed = self._add_to_existing(shape, number, count)
        if placed == count:
            return placed, None
        opened = InFlightNodeClaims(self.claims, shape, self._topology, self._bookings, self._ties)
        fresh: NodeClaim | None = None
        while placed < count:
            found = opened.next()
            if found is None and fresh is not None:
                placed += self._repeat_claim(fresh, shape, number, count - placed)
                if placed == count:
                    break
            if found is None:
                bought = self._add_new_claim(shape)
                if isinstance(bought, Unschedulable):
                    return placed, bought
                found, fresh = bought, bought[0]
            claim, offer = found
            took = 1
            if not opened.has_alternatives(claim, offer):
                offer, took = claim.extend(offer, shape, count - placed)
            self._take(claim, offer, shape, (number, took))
            opened.put_back(claim)
            placed += took
        return placed, None

    def _add_to_existing(self, shape: PodShape, number: int, count: int) -> int:
        placed = 0
        for one in self._existing:
            if placed == count:
                break
            if one.rejects(shape):
                continue
            offer = one.can_add(shape, self._topology)
            if isinstance(offer, Unschedulable):
                if offer.lasting:
                    one.mark_rejected(shape)
                continue
            took = min(count - placed, one.most(shape))
            one.add(offer, shape, number, took)
            self._topology.record(shape, one.hostname, one.node.taints, offer, took)
            placed += took
        return placed

    def _add_new_claim(self, shape: PodShape) -> tuple[NodeClaim, NodeClaimUpdate] | Unschedulable:
        """Make a claim of the first pool that accepts the pod. A pool where it would wait for a reservation
        ends the search.
        """
        refusals: list[tuple[str, Unschedulable]] = []
        for template in self._catalog.templates:
            allowed = self._allowed(template)
            if isinstance(allowed, Unschedulable):
                refusals.append((template.pool.name, allowed))
                continue
            claim = NodeClaim(template, allowed, self._next_hostname())
            offer = claim.can_add(shape, self._topology, self._bookings)
            if isinstance(offer, NodeClaimUpdate):
                self.claims.append(claim)
                claim.largest = _largest_capacity(offer, self._limits[template.pool.name])
                self._spend_limits(template, claim.largest)
                return claim, offer
            if offer.kind == "reserved":
                return offer
            refusals.append((template.pool.name, self._explain_limits(template, allowed, shape, offer)))
        return _combined(refusals)

    def _repeat_claim(self, fresh: NodeClaim, shape: PodShape, number: int, count: int) -> int:
        """Repeat a claim that these pods filled alone, as long as that makes no difference."""
        several, entries = divmod(count, fresh.count)[0], fresh.allowed
        template = fresh.template
        alone = fresh.pods == [(number, fresh.count)] and fresh.rejects(shape) and fresh.lasting
        if not alone or template.filter_options(fresh.requirements).reserved:
            return 0
        for made in range(several):
            if self._allowed(template) != entries:
                return made * fresh.count
            self._clock += 1
            twin = fresh.copy(self._next_hostname(), self._clock)
            self.claims.append(twin)
            self._spend_limits(template, fresh.largest)
            self._record(twin, shape, twin.count)
        return several * fresh.count

    def _take(self, claim: NodeClaim, offer: NodeClaimUpdate, shape: PodShape, pods: tuple[int, int]) -> None:
        self._clock += 1
        claim.add(offer, shape, pods, self._bookings, self._clock)
        self._record(claim, shape, pods[1])

    def _record(self, claim: NodeClaim, shape: PodShape, count: int) -> None:
        self._topology.register(claim.hostname)
        self._topology.record(shape, claim.hostname, claim.template.pool.taints, claim.requirements, count)

    def _next_hostname(self) -> str:
        self._clock += 1
        return f"new-{self._clock}"

    def _allowed(self, template: NodeClaimTemplate) -> frozenset[PoolInstanceType] | Unschedulable | None:
        """Return the types that the pool's limits allow; None stands for all."""
        limits = self._limits[template.pool.name]
        if limits.get(NODES) == 0:
            return Unschedulable("limits", "its limit of nodes is reached")
        left = frozenset(e for e in template.instance_types if _fits_limits(e, limits)) if limits else None
        if left is not None and not left:
            return Unschedulable("limits", "every type is larger than what its limits leave")
        return None if left is None or len(left) == len(template.instance_types) else left

    def _explain_limits(
        self,
        template: NodeClaimTemplate,
        allowed: frozenset[PoolInstanceType] | None,
        shape: PodShape,
        refusal: Unschedulable,
    ) -> Unschedulable:
        """Return the reason, or that it is the limits: without them the pod would get a node or wait for
        one.
        """
        if allowed is None:
            return refusal
        without = NodeClaim(template, None, "?").can_add(shape, self._topology, self._bookings)
        if isinstance(without, Unschedulable) and without.kind != "reserved":
            return refusal
        return Unschedulable("limits", "every type that it could use is larger than what its limits leave")

    def _spend_limits(self, template: NodeClaimTemplate, largest: dict[str, int]) -> None:
        """Subtract the largest type of a claim from the limits, as Karpenter does."""
        limits = self._limits[template.pool.name]
        for name, value in largest.items():
            limits[name] -= value


def _fits_limits(entry: PoolInstanceType, limits: dict[str, int]) -> bool:
    capacity = dict(entry.type.capacity)
    return all(capacity.get(name, 0) <= left for name, left in limits.items())


def _largest_capacity(offer: NodeClaimUpdate, names: Iterable[str]) -> dict[str, int]:
    """Return the most that any type of the claim has of each of these resources."""
    capacities = [dict(c.instance_type.type.capacity) for c in offer.candidates] if names else []
    return {name: max(capacity.get(name, 0) for capacity in capacities) for name in names}


def _combined(refusals: list[tuple[str, Unschedulable]]) -> Unschedulable:
    """Combine the reasons of all pools into one, of the kind that is easiest to act on."""
    if not refusals:
        return Unschedulable(
            "pools", "no pool has a type left that is offered as the pool requires", static=True
        )
    kind = min((one.kind for _, one in refusals), key=_REASONS_BY_PRIORITY.index)
    message = "; ".join(f"{pool}: {one.message}" for pool, one in refusals)
    return Unschedulable(kind, message, static=all(one.static for _, one in refusals))


_REASONS_BY_PRIORITY = ("limits", "topology", "types", "min-values", "requirements", "taints", "pools")
