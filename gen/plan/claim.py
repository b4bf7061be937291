"""A machine that is going to be bought: a set of types that it may still become, and pods that share it."""

from typing import NamedTuple

from gen.plan.amounts import Amounts
from gen.plan.bookings import Bookings
from gen.plan.labels import CAPACITY_TYPE, HOSTNAME, RESERVATION_ID, RESERVED
from gen.plan.market import Candidate, Entry, Template, lacking_values
from gen.plan.requirement import IN, Clash, Requirement, Requirements, requirement
from gen.plan.shape import Shape
from gen.plan.taints import unborne
from gen.plan.topology import NoPlace, Topology


class Refusal(NamedTuple):
    """Why a pod was not taken.

    `kind`: taints, requirements, topology, types, min-values, reserved, limits or pools. `lasting`: asking
    again helps only when the claim's requirements have changed. `static`: neither does any other claim of
    the same pool help.
    """

    kind: str
    message: str
    lasting: bool = True
    static: bool = False


class Offer(NamedTuple):
    """What a claim would be with the pod."""

    requirements: Requirements
    candidates: tuple[Candidate, ...]
    held: tuple[str, ...]


class Claim:
    """`order` sorts claims as Karpenter's repeated stable sort by number of pods leaves them: of equals, the
    one that grew last comes first, but new ones come last.
    """

    def __init__(self, template: Template, entries: frozenset[Entry] | None, host: str) -> None:
        """`entries`: the types that the pool's limits leave; None: all."""
        self.template = template
        self.host = host
        self.requirements = template.requirements
        self.candidates: tuple[Candidate, ...] | None = None  # None: as yet all
        self.held: tuple[str, ...] = ()
        self.used: dict[str, int] = {}
        self.pods: list[tuple[int, int]] = []  # (number of the batch's pod, how many of it)
        self.count = 0
        self.order = (0, 0)
        self.largest: dict[str, int] = {}  # of what the pool limits, among the types after the first pod
        self.lasting = False  # was it a lack of room that closed it last?
        self.allowed = entries
        self._closed: dict[Shape, Requirements] = {}
        self._most: tuple[Amounts, dict[Candidate, int], int] | None = None

    def closed(self, shape: Shape) -> bool:
        return self._closed.get(shape) is self.requirements

    def close(self, shape: Shape) -> None:
        self._closed[shape] = self.requirements

    def offer(
        self, shape: Shape, topology: Topology, bookings: Bookings, relax: bool = False
    ) -> Offer | Refusal:
        """With one more pod. `relax`: let go of `min_values` where the setting allows it."""
        joined = self._joined(shape)
        bound = topology.binds(shape)
        if not isinstance(joined, Refusal) and bound:
            joined = self._narrowed(joined, shape, topology)
        if isinstance(joined, Refusal):
            return joined
        candidates = self._fitting(joined, shape)
        if not candidates:
            return self._no_type(joined, shape)._replace(lasting=not bound)
        lacking = lacking_values(joined, (c.entry for c in candidates))
        if lacking and not relax:
            message = f"too few values of {', '.join(sorted(lacking))} are left"
            return Refusal("min-values", message, lasting=not bound)
        if lacking:
            joined = _with_min_values(joined, lacking)
        held = self._held(candidates, bookings)
        return held if isinstance(held, Refusal) else Offer(joined, candidates, held)

    def _joined(self, shape: Shape) -> Requirements | Refusal:
        taint = unborne(self.template.pool.taints, shape.pod.tolerations)
        if taint is not None:
            return Refusal("taints", f"the taint {taint.key} is not tolerated", static=True)
        joined = self.template.join(self.requirements, shape.wanted)
        if isinstance(joined, Clash):
            return Refusal("requirements", str(joined), static=not joined.unknown)
        if shape.hostname and not shape.hostname.allows(self.host):
            return Refusal("requirements", f"a new node has no known {HOSTNAME}", static=True)
        return joined

    def _narrowed(self, joined: Requirements, shape: Shape, topology: Topology) -> Requirements | Refusal:
        if not self._has_room(shape):
            return self._no_type(joined, shape)
        found = topology.narrowed(shape, self.host, joined, self.template.settings.well_known)
        return Refusal("topology", *found) if isinstance(found, NoPlace) else self.template.intern(found)

    def stretch(self, offer: Offer, shape: Shape, count: int) -> tuple[Offer, int]:
        """The offer for as many as go in without a surprise on the way, `count` at most: until the next type
        drops out, or where no type has reservations and any number of types will do, until it is full.
        """
        most, added = self._room_for(offer.requirements, shape)
        left = [most[candidate] - added for candidate in offer.candidates]
        if offer.requirements.min_values or self.template.narrow(offer.requirements).reserved:
            return offer, min(count, *left)
        took = min(count, max(left))
        kept = tuple([c for c, room in zip(offer.candidates, left, strict=True) if room >= took])
        return offer._replace(candidates=kept), took

    def take(self, offer: Offer, shape: Shape, pods: tuple[int, int], bookings: Bookings, clock: int) -> None:
        number, count = pods
        if not self.used:
            self._most = (shape.pod.requests, self.template.most(offer.requirements, shape), count)
        elif self._most and self._most[0] == shape.pod.requests and offer.requirements is self.requirements:
            self._most = (*self._most[:2], self._most[2] + count)
        else:
            self._most = None
        bookings.change(self.held, offer.held)
        self.requirements, self.candidates, self.held = offer
        for name, value in shape.requests.items():
            self.used[name] = self.used.get(name, 0) + value * count
        if self.pods and self.pods[-1][0] == number:
            self.pods[-1] = (number, self.pods[-1][1] + count)
        else:
            self.pods.append(pods)
        self.count += count
        self.order = (self.count, clock if self.count == 1 else -clock)

    def copy(self, host: str, clock: int) -> "Claim":
        """Another claim that went the same way."""
        twin = Claim(self.template, self.allowed, host)
        twin.requirements, twin.candidates, twin.held = self.requirements, self.candidates, self.held
        twin.used, twin.pods, twin.count, twin._most = (
            dict(self.used),
            list(self.pods),
            self.count,
            self._most,
        )
        twin._closed, twin.largest = dict(self._closed), self.largest
        twin.order = (self.count, clock if self.count == 1 else -clock)
        return twin

    def state(self) -> object:
        """Claims with the same state take the same pods."""
        return self.template, self.requirements, self.candidates, tuple(sorted(self.used.items())), self.held

    def final(self) -> Requirements:
        """What it is launched with: a claim that holds reservations may use nothing else."""
        if not self.held:
            return self.requirements
        bound: list[Requirement] = [requirement(RESERVATION_ID, IN, self.held)]
        rest = self.requirements.without(CAPACITY_TYPE)
        return rest.plus((requirement(CAPACITY_TYPE, IN, (RESERVED,)), *bound))

    def _room_for(self, requirements: Requirements, shape: Shape) -> tuple[dict[Candidate, int], int]:
        """For each type that meets the requirements how many such pods it takes, beside others, and how many
        of these were taken since.
        """
        if not self.used:
            return self.template.most(requirements, shape), 0
        known = self._most
        if known is None or known[0] != shape.pod.requests or requirements is not self.requirements:
            candidates = self.template.narrow(requirements).candidates
            most = {c: c.most(self.used, shape.requests) for c in candidates}
            known = (shape.pod.requests, most, 0)
            if requirements is self.requirements:
                self._most = known
        return known[1], known[2]

    def _fitting(self, requirements: Requirements, shape: Shape) -> tuple[Candidate, ...]:
        if self.candidates is not None and requirements is self.requirements:
            candidates = self.candidates
        else:
            candidates = self.template.narrow(requirements).candidates
            if self.candidates is not None:
                left = {c.entry for c in self.candidates}
                candidates = tuple([c for c in candidates if c.entry in left])
            elif self.allowed is not None:
                allowed = self.allowed
                candidates = tuple([c for c in candidates if c.entry in allowed])
        most, added = self._room_for(requirements, shape)
        fitting = tuple([c for c in candidates if most[c] > added])
        return candidates if len(fitting) == len(candidates) else fitting

    def _has_room(self, shape: Shape) -> bool:
        if self.candidates is None:
            return True
        most, added = self._room_for(self.requirements, shape)
        return any(most[c] > added for c in self.candidates)

    def _held(self, candidates: tuple[Candidate, ...], bookings: Bookings) -> tuple[str, ...] | Refusal:
        """The reservations to hold, strictly: who could have a reserved machine waits for one."""
        if not self.template.settings.reserved_capacity:
            return ()
        possible = [reservation for c in candidates for reservation in c.reserved]
        held = bookings.bookable(possible, self.held)
        if possible and not held:
            return Refusal("reserved", "its reserved machines are all booked in this loop", lasting=False)
        if self.held and not held:
            return Refusal(
                "reserved", "it would lose the last reservation that the machine may use", lasting=False
            )
        return held

    def _no_type(self, requirements: Requirements, shape: Shape) -> Refusal:
        found = self.template.narrow(requirements)
        static = not self.used
        if not found.candidates:
            missing = {
                "requirements": "no type meets the requirements",
                "offering": "no type is offered that way",
                "both": "no type that meets the requirements is offered that way",
            }
            return Refusal("types", missing[found.missing], static=static)
        return Refusal("types", "no type has enough of " + _short(found.candidates, shape), static=static)


def _short(candidates: tuple[Candidate, ...], shape: Shape) -> str:
    """The resources that no type has enough of for one such pod; or all, where only together they miss."""
    rooms = [room for candidate in candidates for room in candidate.rooms]
    wanted = {name: value for name, value in shape.requests.items() if value > 0}
    short = [n for n, value in wanted.items() if all(room.get(n, 0) < value for room in rooms)]
    return ", ".join(sorted(short or wanted))


def _with_min_values(requirements: Requirements, counts: dict[str, int]) -> Requirements:
    return Requirements(
        one._replace(min_values=counts[one.key]) if one.key in counts else one for one in requirements
    )
