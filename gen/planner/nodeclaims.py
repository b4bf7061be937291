"""DOC"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gen.karpenter.nodelabels import CAPACITY_TYPE, HOSTNAME, RESERVATION_ID, RESERVED
from gen.karpenter.requirements import IN, Conflict, Requirement, Requirements, requirement
from gen.karpenter.resourcelists import ResourceList
from gen.karpenter.taints import untolerated
from gen.planner.nodeclaimtemplates import (
    InstanceTypeOption,
    NodeClaimTemplate,
    PoolInstanceType,
    missing_min_values,
)
from gen.planner.podqueue import PodShape
from gen.planner.tiebreaks import TieBreaker
from gen.planner.topology import NoDomain, Topology


class ReservationManager:
    """`version` grows with every booking and release: who was refused need not ask again before."""

    def __init__(self, free: dict[str, int]) -> None:
        self._free = free
        self.version = 0

    def reservable(self, reservations: Iterable[str], held: Collection[str]) -> tuple[str, ...]:
        """Those that a claim that holds `held` may hold next, each once, in order."""
        return tuple(dict.fromkeys(r for r in reservations if r in held or self._free[r] != 0))

    def update(self, held: Collection[str], wanted: Collection[str]) -> None:
        """Book what is `wanted` and not yet held, release what is not wanted any more."""
        for reservation in wanted:
            if reservation not in held:
                self._free[reservation] -= 1
                self.version += 1
        for reservation in held:
            if reservation not in wanted:
                self._free[reservation] += 1
                self.version += 1


class Unschedulable(NamedTuple):
    """Why a pod was not taken.

    `kind`: taints, requirements, topology, types, min-values, reserved, limits or pools. `lasting`: asking
    again helps only when the claim's requirements have changed. `static`: neither does any other claim of
    the same pool help.
    """

    kind: str
    message: str
    lasting: bool = True
    static: bool = False


class NodeClaimUpdate(NamedTuple):
    """What a claim would be with the pod."""

    requirements: Requirements
    candidates: tuple[InstanceTypeOption, ...]
    held: tuple[str, ...]


class NodeClaim:
    """`order` sorts claims as Karpenter's repeated stable sort by number of pods leaves them: of equals, the
    one that grew last comes first, but new ones come last.
    """

    def __init__(
        self, template: NodeClaimTemplate, entries: frozenset[PoolInstanceType] | None, host: str
    ) -> None:
        """`entries`: the types that the pool's limits leave; None: all."""
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
        return self._rejected.get(shape) is self.requirements

    def mark_rejected(self, shape: PodShape) -> None:
        self._rejected[shape] = self.requirements

    def can_add(
        self, shape: PodShape, topology: Topology, bookings: ReservationManager, relax: bool = False
    ) -> NodeClaimUpdate | Unschedulable:
        """With one more pod. `relax`: let go of `min_values` where the setting allows it."""
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
        if lacking and not relax:
            message = f"too few values of {', '.join(sorted(lacking))} are left"
            return Unschedulable("min-values", message, lasting=not bound)
        if lacking:
            joined = _with_min_values(joined, lacking)
        held = self._reservations_to_hold(candidates, bookings)
        return held if isinstance(held, Unschedulable) else NodeClaimUpdate(joined, candidates, held)

    def _with_pod(self, shape: PodShape) -> Requirements | Unschedulable:
        taint = untolerated(self.template.pool.taints, shape.pod.tolerations)
        if taint is not None:
            return Unschedulable("taints", f"the taint {taint.key} is not tolerated", static=True)
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
        found = topology.add_requirements(shape, self.hostname, joined, self.template.settings.well_known)
        return (
            Unschedulable("topology", *found) if isinstance(found, NoDomain) else self.template.intern(found)
        )

    def extend(self, offer: NodeClaimUpdate, shape: PodShape, count: int) -> tuple[NodeClaimUpdate, int]:
        """The offer for as many as go in without a surprise on the way, `count` at most: until the next type
        drops out, or where no type has reservations and any number of types will do, until it is full.
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
        """Another claim that went the same way."""
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
        """Claims with the same state take the same pods."""
        return self.template, self.requirements, self.candidates, tuple(sorted(self.used.items())), self.held

    def final_requirements(self) -> Requirements:
        """What it is launched with: a claim that holds reservations may use nothing else."""
        if not self.held:
            return self.requirements
        bound: list[Requirement] = [requirement(RESERVATION_ID, IN, self.held)]
        rest = self.requirements.without(CAPACITY_TYPE)
        return rest.plus((requirement(CAPACITY_TYPE, IN, (RESERVED,)), *bound))

    def _capacity_for(
        self, requirements: Requirements, shape: PodShape
    ) -> tuple[dict[InstanceTypeOption, int], int]:
        """For each type that meets the requirements how many such pods it takes, beside others, and how many
        of these were taken since.
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
        """The reservations to hold, strictly: who could have a reserved machine waits for one."""
        if not self.template.settings.reserved_capacity:
            return ()
        possible = [reservation for c in candidates for reservation in c.reserved]
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
        found = self.template.filter_options(requirements)
        static = not self.used
        if not found.candidates:
            missing = {
                "requirements": "no type meets the requirements",
                "offering": "no type is offered that way",
                "both": "no type that meets the requirements is offered that way",
            }
            return Unschedulable("types", missing[found.missing], static=static)
        return Unschedulable(
            "types",
            "no type has enough of " + _insufficient_resources(found.candidates, shape),
            static=static,
        )


def _insufficient_resources(candidates: tuple[InstanceTypeOption, ...], shape: PodShape) -> str:
    """The resources that no type has enough of for one such pod; or all, where only together they miss."""
    rooms = [room for candidate in candidates for room in candidate.free_resources]
    wanted = {name: value for name, value in shape.requests.items() if value > 0}
    short = [n for n, value in wanted.items() if all(room.get(n, 0) < value for room in rooms)]
    return ", ".join(sorted(short or wanted))


def _with_min_values(requirements: Requirements, counts: dict[str, int]) -> Requirements:
    return Requirements(
        one._replace(min_values=counts[one.key]) if one.key in counts else one for one in requirements
    )


STABLE_SORT_SIZE = 12
"""Up to so many claims Go's sort happens to be stable; beyond, the order of equals is open."""


class InFlightNodeClaims:
    """For one shape. Who waits for a reservation is asked again when one was released."""

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
        """The first that takes the pod; it is out until it comes `back`."""
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
        """May the pod after this one go to another claim, although this one has room?"""
        return bool(self._candidates) or (bool(self._waiting) and offer.held != claim.held)

    def put_back(self, claim: NodeClaim) -> None:
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
        """How many at the front have equally many pods, where it may matter which of them comes first."""
        if len(self._all) <= STABLE_SORT_SIZE or len(self._candidates) < 2:
            return 1
        first = self._candidates[0]
        equal = bisect_right(self._candidates, (first.count, self._endless), key=_claim_order)
        return 1 if self._candidates[equal - 1].equivalence_key() == first.equivalence_key() else equal

    def _choice(self, takers: list[tuple[NodeClaim, NodeClaimUpdate]]) -> int:
        """The first or the last of equals."""
        last = len(takers) - 1
        return (
            0
            if takers[0][0].equivalence_key() == takers[last][0].equivalence_key()
            else last * self._ties.pick(2)
        )

    _endless = 2**62


def _claim_order(claim: NodeClaim) -> tuple[int, int]:
    return claim.order
