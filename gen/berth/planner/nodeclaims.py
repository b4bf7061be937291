"""In-flight NodeClaims: nodes to be bought, the instance types that they may still become, and their pods."""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from berth.karpenter.nodelabels import CAPACITY_TYPE, HOSTNAME, RESERVATION_ID, RESERVED
from berth.karpenter.requirements import IN, Conflict, Requirement, Requirements, requirement
from berth.karpenter.resourcelists import ResourceList
from berth.karpenter.taints import toleration_by_plugin, untolerated
from berth.planner.nodeclaimtemplates import (
    InstanceTypeOption,
    NodeClaimTemplate,
    PoolInstanceType,
    missing_min_values,
)
from berth.planner.podqueue import PodShape
from berth.planner.tiebreaks import TieBreaker
from berth.planner.topology import NoDomain, Topology


class ReservationManager:
    """Track the free instances of reservations within one loop.

    Each claim holds one instance of every reservation that it may use. `version` grows with each change, so
    that a refused claim is not asked again before.
    """

    def __init__(self, free: dict[str, int]) -> None:
        self._free = free
        self.version = 0

    def reservable(self, reservations: Iterable[str], held: Collection[str]) -> tuple[str, ...]:
        """Return the reservations that a claim that holds `held` may hold next, in order."""
        return tuple(dict.fromkeys(r for r in reservations if r in held or self._free[r] != 0))

    def update(self, held: Collection[str], wanted: Collection[str]) -> None:
        """Reserve what is in `wanted` but not in `held`, and release the opposite."""
        for reservation in wanted:
            if reservation not in held:
                self._free[reservation] -= 1
                self.version += 1
        for reservation in held:
            if reservation not in wanted:
                self._free[reservation] += 1
                self.version += 1


class Unschedulable(NamedTuple):
    """Why a pod cannot be added to a node.

    `kind` is one of taints, requirements, topology, types, min-values, reserved, limits and pools.
    `lasting`: the answer changes only with the node's requirements. `static`: the answer is the same for
    every node of the pool.
    """

    kind: str
    message: str
    lasting: bool = True
    static: bool = False


class NodeClaimUpdate(NamedTuple):
    """What a claim becomes if it takes the pod."""

    requirements: Requirements
    candidates: tuple[InstanceTypeOption, ...]
    held: tuple[str, ...]


class NodeClaim:
    """A node to be bought.

    `order` sorts claims as Karpenter's repeated stable sort by number of pods does: of equal ones, the one
    that grew last comes first, but new ones come last.
    """

    def __init__(
        self, template: NodeClaimTemplate, entries: frozenset[PoolInstanceType] | None, host: str
    ) -> None:
        """`instance_types` are those that the pool's limits allow; None stands for all."""
        self.template = template
        self.hostname = host
        self.requirements = template.requirements
        self.candidates: tuple[InstanceTypeOption, ...] | None = None  # None: as yet all
        self.held: tuple[str, ...] = ()
        self.used: dict[str, int] = {}
        self.pods: list[tuple[int, int]] = []  # (number of the batch's pod, how many of it)
        self.count = 0
        self.order = (0, 0)
        self.largest: dict[str, int] = {}  # of what the pool limits, among the types after the first pod
        self.lasting = False  # was it a lack of room that closed it last?
        self.allowed = entries
        self._rejected: dict[PodShape, Requirements] = {}
        self._max_pods_cache: tuple[ResourceList, dict[InstanceTypeOption, int], int] | None = None

    def rejects(self, shape: PodShape) -> bool:
        """Tell whether the claim is known not to take such a pod."""
        return self._rejected.get(shape) is self.requirements

    def mark_rejected(self, shape: PodShape) -> None:
        """Remember that the claim does not take such a pod until its requirements change."""
        self._rejected[shape] = self.requirements

    def can_add(
        self, shape: PodShape, topology: Topology, bookings: ReservationManager
    ) -> NodeClaimUpdate | Unschedulable:
        """Return the claim with one more pod, or why it does not take it."""
        joined = self._with_pod(shape)
        bound = topology.applies_to(shape)
        if not isinstance(joined, Unschedulable) and bound:
            joined = self._with_topology(joined, shape, topology)
        if isinstance(joined, Unschedulable):
            return joined
        candidates = self._fitting_options(joined, shape)
        if not candidates:
            return self._no_instance_type(joined, shape)._replace(lasting=not bound)
        lacking = missing_min_values(joined, (c.instance_type for c in candidates))
        if lacking:
            message = f"too few values of {', '.join(sorted(lacking))} are left"
            return Unschedulable("min-values", message, lasting=not bound)
        held = self._reservations_to_hold(candidates, bookings)
        return held if isinstance(held, Unschedulable) else NodeClaimUpdate(joined, candidates, held)

    def _with_pod(self, shape: PodShape) -> Requirements | Unschedulable:
        taint = untolerated(self.template.pool.taints, shape.pod.tolerations)
        if taint is not None:
            hint = toleration_by_plugin(taint, shape.requests)
            return Unschedulable("taints", f"the taint {taint.key} is not tolerated{hint}", static=True)
        joined = self.template.combine(self.requirements, shape.requirements)
        if isinstance(joined, Conflict):
            return Unschedulable("requirements", str(joined), static=not joined.unknown)
        if shape.hostname and not shape.hostname.allows(self.hostname):
            return Unschedulable("requirements", f"a new node has no known {HOSTNAME}", static=True)
        return joined

    def _with_topology(
        self, joined: Requirements, shape: PodShape, topology: Topology
    ) -> Requirements | Unschedulable:
        if not self._has_capacity(shape):
            return self._no_instance_type(joined, shape)
        requirements = topology.add_requirements(
            shape, self.hostname, joined, self.template.settings.well_known
        )
        return (
            Unschedulable("topology", *requirements)
            if isinstance(requirements, NoDomain)
            else self.template.intern(requirements)
        )

    def extend(self, offer: NodeClaimUpdate, shape: PodShape, count: int) -> tuple[NodeClaimUpdate, int]:
        """Extend an update to several equal pods, `count` at most, as far as nothing changes on the way.

        That is until the next type drops out, or until the node is full where reservations and `min_values`
        do not matter.
        """
        most, added = self._capacity_for(offer.requirements, shape)
        left = [most[candidate] - added for candidate in offer.candidates]
        if offer.requirements.min_values or self.template.filter_options(offer.requirements).reserved:
            return offer, min(count, *left)
        took = min(count, max(left))
        kept = tuple([c for c, room in zip(offer.candidates, left, strict=True) if room >= took])
        return offer._replace(candidates=kept), took

    def add(
        self,
        offer: NodeClaimUpdate,
        shape: PodShape,
        pods: tuple[int, int],
        bookings: ReservationManager,
        clock: int,
    ) -> None:
        """Add pods according to an update."""
        number, count = pods
        if not self.used:
            self._max_pods_cache = (shape.pod.requests, self.template.most(offer.requirements, shape), count)
        elif (
            self._max_pods_cache
            and self._max_pods_cache[0] == shape.pod.requests
            and offer.requirements is self.requirements
        ):
            self._max_pods_cache = (*self._max_pods_cache[:2], self._max_pods_cache[2] + count)
        else:
            self._max_pods_cache = None
        bookings.update(self.held, offer.held)
        self.requirements, self.candidates, self.held = offer
        for name, value in shape.requests.items():
            self.used[name] = self.used.get(name, 0) + value * count
        if self.pods and self.pods[-1][0] == number:
            self.pods[-1] = (number, self.pods[-1][1] + count)
        else:
            self.pods.append(pods)
        self.count += count
        self.order = (self.count, clock if self.count == 1 else -clock)

    def copy(self, host: str, clock: int) -> "NodeClaim":
        """Return another claim with the same history."""
        twin = NodeClaim(self.template, self.allowed, host)
        twin.requirements, twin.candidates, twin.held = self.requirements, self.candidates, self.held
        twin.used, twin.pods, twin.count, twin._max_pods_cache = (
            dict(self.used),
            list(self.pods),
            self.count,
            self._max_pods_cache,
        )
        twin._rejected, twin.largest = dict(self._rejected), self.largest
        twin.order = (self.count, clock if self.count == 1 else -clock)
        return twin

    def equivalence_key(self) -> object:
        """Return a key: claims with equal keys take the same pods."""
        return self.template, self.requirements, self.candidates, tuple(sorted(self.used.items())), self.held

    def final_requirements(self) -> Requirements:
        """Return the requirements to launch with: a claim that holds reservations uses nothing else."""
        if not self.held:
            return self.requirements
        bound: list[Requirement] = [requirement(RESERVATION_ID, IN, self.held)]
        rest = self.requirements.without(CAPACITY_TYPE)
        return rest.plus((requirement(CAPACITY_TYPE, IN, (RESERVED,)), *bound))

    def _capacity_for(
        self, requirements: Requirements, shape: PodShape
    ) -> tuple[dict[InstanceTypeOption, int], int]:
        """Return how many such pods each matching type takes besides the claim's pods, and how many of
        those were added since that was computed.
        """
        if not self.used:
            return self.template.most(requirements, shape), 0
        known = self._max_pods_cache
        if known is None or known[0] != shape.pod.requests or requirements is not self.requirements:
            candidates = self.template.filter_options(requirements).candidates
            most = {c: c.most(self.used, shape.requests) for c in candidates}
            known = (shape.pod.requests, most, 0)
            if requirements is self.requirements:
                self._max_pods_cache = known
        return known[1], known[2]

    def _fitting_options(self, requirements: Requirements, shape: PodShape) -> tuple[InstanceTypeOption, ...]:
        if self.candidates is not None and requirements is self.requirements:
            candidates = self.candidates
        else:
            candidates = self.template.filter_options(requirements).candidates
            if self.candidates is not None:
                left = {c.instance_type for c in self.candidates}
                candidates = tuple([c for c in candidates if c.instance_type in left])
            elif self.allowed is not None:
                allowed = self.allowed
                candidates = tuple([c for c in candidates if c.instance_type in allowed])
        most, added = self._capacity_for(requirements, shape)
        fitting = tuple([c for c in candidates if most[c] > added])
        return candidates if len(fitting) == len(candidates) else fitting

    def _has_capacity(self, shape: PodShape) -> bool:
        if self.candidates is None:
            return True
        most, added = self._capacity_for(self.requirements, shape)
        return any(most[c] > added for c in self.candidates)

    def _reservations_to_hold(
        self, candidates: tuple[InstanceTypeOption, ...], bookings: ReservationManager
    ) -> tuple[str, ...] | Unschedulable:
        """Return the reservations to hold. A claim that may use a reserved instance waits for one."""
        possible = [reservation for c in candidates for reservation in c.reserved]
        if all(candidate.only_full for candidate in candidates):
            return Unschedulable("reserved", "its reserved machines are all in use", lasting=False)
        held = bookings.reservable(possible, self.held)
        if possible and not held:
            return Unschedulable(
                "reserved", "its reserved machines are all booked in this loop", lasting=False
            )
        if self.held and not held:
            return Unschedulable(
                "reserved", "it would lose the last reservation that the machine may use", lasting=False
            )
        return held

    def _no_instance_type(self, requirements: Requirements, shape: PodShape) -> Unschedulable:
        filtered_options = self.template.filter_options(requirements)
        static = not self.used
        if not filtered_options.candidates:
            missing = {
                "requirements": "no type meets the requirements",
                "offering": "no type is offered that way",
                "both": "no type that meets the requirements is offered that way",
            }
            return Unschedulable("types", missing[filtered_options.missing], static=static)
        return Unschedulable(
            "types",
            "no type has enough of " + _insufficient_resources(filtered_options.candidates, shape),
            static=static,
        )


def _insufficient_resources(candidates: tuple[InstanceTypeOption, ...], shape: PodShape) -> str:
    """Return the resources of which no type has enough, or all if only their combination is missing."""
    rooms = [candidate.instance_type.free for candidate in candidates]
    wanted = {name: value for name, value in shape.requests.items() if value > 0}
    short = [n for n, value in wanted.items() if all(room.get(n, 0) < value for room in rooms)]
    return ", ".join(sorted(short or wanted))


STABLE_SORT_SIZE = 12
"""Go's sort is stable for up to this many claims; beyond, the order of equal ones is open."""


class InFlightNodeClaims:
    """The claims that may take pods of one shape, in the order in which they are tried: fewest pods first.

    A claim that waits for a reservation is tried again when one is released.
    """

    def __init__(
        self,
        claims: Sequence[NodeClaim],
        shape: PodShape,
        topology: Topology,
        bookings: ReservationManager,
        ties: TieBreaker,
    ) -> None:
        self._all = claims
        self._shape = shape
        self._topology = topology
        self._bookings = bookings
        self._ties = ties
        self._candidates = sorted((claim for claim in claims if not claim.rejects(shape)), key=_claim_order)
        self._waiting: list[tuple[NodeClaim, int]] = []

    def next(self) -> tuple[NodeClaim, NodeClaimUpdate] | None:
        """Return the first claim that takes the pod. It is removed until `put_back`."""
        self._reopen()
        while self._candidates:
            equal = self._equally_full()
            block = self._candidates[:equal]
            del self._candidates[:equal]
            takers = [(claim, offer) for claim in block if (offer := self._try(claim)) is not None]
            if takers:
                chosen = takers.pop(self._choice(takers))
                self._candidates[:0] = [claim for claim, _ in takers]
                return chosen
        return None

    def has_alternatives(self, claim: NodeClaim, offer: NodeClaimUpdate) -> bool:
        """Tell whether the next pod may go to another claim although this one has room."""
        return bool(self._candidates) or (bool(self._waiting) and offer.held != claim.held)

    def put_back(self, claim: NodeClaim) -> None:
        """Put a claim back at its place in the order."""
        insort(self._candidates, claim, key=_claim_order)

    def _reopen(self) -> None:
        version = self._bookings.version
        for claim, seen in self._waiting:
            if seen != version:
                insort(self._candidates, claim, key=_claim_order)
        self._waiting = [(claim, seen) for claim, seen in self._waiting if seen == version]

    def _try(self, claim: NodeClaim) -> NodeClaimUpdate | None:
        offer = claim.can_add(self._shape, self._topology, self._bookings)
        if isinstance(offer, NodeClaimUpdate):
            return offer
        if offer.lasting:
            claim.mark_rejected(self._shape)
            claim.lasting = offer.kind == "types"
        else:
            self._waiting.append((claim, self._bookings.version))
        return None

    def _equally_full(self) -> int:
        """Count the claims at the front with equally many pods, where their order is open and may matter."""
        if len(self._all) <= STABLE_SORT_SIZE or len(self._candidates) < 2:
            return 1
        first = self._candidates[0]
        equal = bisect_right(self._candidates, (first.count, self._endless), key=_claim_order)
        return 1 if self._candidates[equal - 1].equivalence_key() == first.equivalence_key() else equal

    def _choice(self, takers: list[tuple[NodeClaim, NodeClaimUpdate]]) -> int:
        """Choose the first or the last of equal claims."""
        last = len(takers) - 1
        return (
            0
            if takers[0][0].equivalence_key() == takers[last][0].equivalence_key()
            else last * self._ties.pick(2)
        )

    _endless = 2**62


def _claim_order(claim: NodeClaim) -> tuple[int, int]:
    return claim.order
