"""Estimate the machines that seats need at one instant: reserved ones first, then the cheapest that fit.

Of Karpenter's rules these are kept: large seats first; each seat goes to the machine with the fewest seats,
else to a new machine of the first pool by weight. A new machine stays open to every type that fits its seats,
and holds an instance of every reservation that it may still use; at the end of a round it becomes the
cheapest. Limits count the largest type of a machine until then. Not counted: topology spread and affinity
between pods, except seats that share no machine, and `minValues`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple

from berth.machines.instancetypes import (
    NODES,
    ONE,
    PODS,
    InstanceType,
    Offering,
    ResourceList,
    allocatable,
    offering_requirements,
    type_requirements,
)
from berth.machines.nodelabels import (
    IN,
    INITIALIZED,
    NODEPOOL,
    ON_DEMAND,
    REGISTERED,
    RESERVED,
    SPOT,
    TOLERATE_PREFER_NO_SCHEDULE,
    WELL_KNOWN,
    Labels,
    Requirement,
    Requirements,
    Taint,
    Toleration,
    requirements_of_labels,
    toleration_by_plugin,
    untolerated,
)

APART = "apart/"
"""Begins the name of a resource of which each machine has one: seats that request it share no machine."""


class NodePool(NamedTuple):
    """A NodePool, or a shape of generic capacity."""

    name: str
    requirements: tuple[Requirement, ...] = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    weight: int = 0
    limits: ResourceList = ()
    types: tuple[InstanceType, ...] = ()


class PreferredTerm(NamedTuple):
    """A preferred term of node affinity."""

    weight: int
    requirements: tuple[Requirement, ...]


class Seats(NamedTuple):
    """`count` equal pods. `requests` does not include `pods`, of which each seat needs one."""

    name: str
    requests: ResourceList
    count: int = 1  # type: ignore[assignment] # hides tuple.count
    node_selector: Labels = ()
    required: tuple[tuple[Requirement, ...], ...] = ()  # node affinity: terms, of which one must hold
    preferred: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


class ExistingMachine(NamedTuple):
    """A machine that exists, with the seats on it. Its pool is the label `karpenter.sh/nodepool`."""

    name: str
    allocatable: ResourceList
    capacity: ResourceList = ()
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    seats: tuple[Seats, ...] = ()
    unknown: frozenset[str] = frozenset()  # labels that its type may have: whoever asks for one may come


class Question(NamedTuple):
    """Seats that are pending at one instant, and everything that decides which machines they get."""

    pools: tuple[NodePool, ...]
    seats: tuple[Seats, ...]
    machines: tuple[ExistingMachine, ...] = ()
    well_known: frozenset[str] = WELL_KNOWN


_WAITS = -1
_ORDER = (RESERVED, SPOT, ON_DEMAND)
LIMITS, RESERVATIONS, POOLS = "limits", "reserved", "pools"
"""Why seats get no machine: limits of the pools, full reservations, or anything else."""

SeatCounts = tuple[tuple[str, int], ...]
"""(name of the Seats, how many of it), sorted."""


class NewMachine(NamedTuple):
    """A machine that is bought, with its seats."""

    pool: str
    type: str
    zone: str
    capacity_type: str
    reservation: str  # empty where not reserved
    seats: SeatCounts
    labels: Labels


class Unplaced(NamedTuple):
    """Seats without a machine. `kind` is LIMITS, RESERVATIONS or POOLS."""

    seats: str
    count: int  # type: ignore[assignment] # hides tuple.count
    kind: str
    message: str


class Estimate(NamedTuple):
    """What is bought, what existing machines take, and what is left, after so many rounds of Karpenter."""

    bought: tuple[NewMachine, ...]
    taken: tuple[tuple[str, SeatCounts], ...]
    left: tuple[Unplaced, ...]
    rounds: int


def estimate(question: Question) -> Estimate:
    """Return the machines for the pending seats."""
    estimator = _Estimator(question)
    pending = sorted(question.seats, key=_size)
    rounds = 0
    while (left := estimator.round(pending)) != pending:
        pending = left
        rounds += 1
    every = estimator.standing
    return Estimate(
        tuple(machine.bought() for machine in every if machine.is_new),
        tuple((machine.name, machine.taken) for machine in every if machine.taken and not machine.is_new),
        tuple(Unplaced(seats.name, seats.count, *estimator.reason(seats)) for seats in pending),
        rounds,
    )


def first_round(question: Question) -> tuple[Counter[tuple[str, SeatCounts]], dict[str, int]]:
    """Return what machines take in the first round of Karpenter, by pool or name, and the seats left."""
    estimator = _Estimator(question)
    left = estimator.round(sorted(question.seats, key=_size))
    taken = Counter((machine.name, machine.taken) for machine in estimator.standing if machine.taken)
    return taken, {seats.name: seats.count for seats in left}


def _size(seats: Seats) -> tuple[int, int]:
    requests = dict(seats.requests)
    return -requests.get("cpu", 0), -requests.get("memory", 0)


class _Option(NamedTuple):
    """A type that a machine may become, with its room for pods and the offers left."""

    room: Mapping[str, int]
    type: InstanceType | None = None  # None: a machine that exists
    offers: tuple[Offering, ...] = ()

    def most(self, used: Mapping[str, int], each: Mapping[str, int]) -> int:
        """Return how many seats that request `each` fit beside what is used."""
        return min(
            ((ONE if name.startswith(APART) else self.room.get(name, 0)) - used.get(name, 0)) // amount
            for name, amount in each.items()
            if amount > 0
        )


class _Reservations:
    """The free instances of reservations, now and at the start of the round."""

    def __init__(self, types: Iterable[InstanceType]) -> None:
        self.free: dict[str, int] = {}
        for offer in (o for one in types for o in one.offerings if o.capacity_type == RESERVED):
            self.free[offer.reservation] = min(self.free.get(offer.reservation, offer.count), offer.count)
        self.at_start = dict(self.free)

    def is_booked(self, offer: Offering) -> bool:
        """Tell whether an offer was free at the start of the round."""
        return bool(offer.reservation) and self.at_start[offer.reservation] > 0


class _Machine:
    """A machine that exists, or one that is bought: then it stays open to several types until `decide`."""

    def __init__(
        self,
        source: NodePool | ExistingMachine,
        requirements: Requirements,
        options: Sequence[_Option],
        known: frozenset[str],
    ) -> None:
        self._source, self._requirements, self._options, self._known = source, requirements, options, known
        self.name = source.name  # of the pool, or of the machine that exists
        self.is_new = isinstance(source, NodePool)
        self._is_decided = not self.is_new
        self.used: dict[str, int] = {}
        self.seats: dict[str, int] = {}
        self._held: frozenset[str] = frozenset()
        self.largest: dict[str, int] = {}

    @property
    def taken(self) -> SeatCounts:
        return tuple(sorted(self.seats.items()))

    @property
    def capacity(self) -> ResourceList:
        """The capacity of a machine that is decided."""
        kind = self._options[0].type
        return kind.capacity if kind else ()

    def take(self, seats: Seats, wanted: Requirements, count: int, reservations: _Reservations) -> int:
        """Take as many of the seats as fit, and return how many; _WAITS if they wait for a reservation."""
        each = {**dict(seats.requests), PODS: ONE}
        rooms = [(room, option) for option in self._options if (room := option.most(self.used, each)) > 0]
        if not rooms or untolerated(self._source.taints, seats.tolerations):
            return 0
        if self._requirements.conflict(wanted, self._known):
            return 0
        asked = self._requirements.plus(wanted)
        if asked.by_key != self._requirements.by_key:
            room_of = {option.type: room for room, option in rooms}
            narrowed = _narrow((option for _, option in rooms), asked, self._known)
            rooms = [(room_of[option.type], option) for option in narrowed]
        most, held = max((room for room, _ in rooms), default=0), self._held
        if rooms and not self._is_decided:
            offers = [(room, offer) for room, option in rooms for offer in option.offers]
            booked = {offer.reservation for _, offer in offers if reservations.is_booked(offer)}
            held = frozenset(name for name in booked if name in self._held or reservations.free[name] > 0)
            if (booked or self._held) and not held:
                return _WAITS
            bound = held or {""}  # a machine never loses the last reservation that it holds
            most = max((room for room, offer in offers if offer.reservation in bound), default=_WAITS)
            if most == _WAITS:
                return _WAITS
        took = min(count, most)
        if not took:
            return 0
        self._requirements, self._options = asked, [option for room, option in rooms if room >= took]
        self.seats[seats.name] = self.seats.get(seats.name, 0) + took
        for name, value in each.items():
            self.used[name] = self.used.get(name, 0) + value * took
        if not self._is_decided:
            left = {offer.reservation for option in self._options for offer in option.offers}
            self._hold(held & left, reservations.free)
        return took

    def note_largest(self, limited: Iterable[str]) -> None:
        """Note the most that it may become of each resource with a limit."""
        types = [option.type for option in self._options if option.type]
        self.largest = {name: max(dict(one.capacity).get(name, 0) for one in types) for name in limited}

    def decide(self, free: dict[str, int]) -> None:
        """Become the cheapest: reserved before spot, spot before on-demand unless that costs less."""
        offers = [
            (option, offer)
            for option in self._options
            for offer in option.offers
            if not offer.reservation or offer.reservation in self._held
        ]
        by_hour = min((o.price for _, o in offers if o.capacity_type == ON_DEMAND), default=float("inf"))
        option, offer = min(
            ((option, o) for option, o in offers if o.capacity_type != SPOT or o.price <= by_hour),
            key=lambda pair: (
                _ORDER.index(pair[1].capacity_type),
                pair[1].price,
                pair[0].type.name if pair[0].type else "",
            ),
        )
        self._options, self._is_decided = [option._replace(offers=(offer,))], True
        self._hold(frozenset([offer.reservation] if offer.reservation else ()), free)

    def bought(self) -> NewMachine:
        """Return what it has become."""
        ((_, kind, (offer,)),) = self._options
        assert kind is not None
        where = (kind.name, offer.zone, offer.capacity_type, offer.reservation)
        return NewMachine(self.name, *where, self.taken, self._labels(kind, offer))

    def _labels(self, kind: InstanceType, offer: Offering) -> Labels:
        """Return the labels of its node: of its type and offer, custom ones it requires, and the pool's."""
        labels: dict[str, str] = {}
        for one in type_requirements(kind):
            if one.operator == IN:
                both = one.intersection(self._requirements.get(one.key)).values
                labels[one.key] = min(both or one.values)
        for one in offering_requirements(offer):
            labels.pop(one.key, None)
            labels |= {one.key: min(one.values)} if one.operator == IN else {}
        for one in self._requirements:
            if one.key not in self._known:
                value = _any_value(one)
                labels |= {one.key: value} if value else {}
        assert isinstance(self._source, NodePool)
        labels |= dict((*self._source.labels, (NODEPOOL, self.name)))
        return tuple(sorted((key, value) for key, value in labels.items() if key not in _OF_STARTED))

    def _hold(self, held: frozenset[str], free: dict[str, int]) -> None:
        for name in self._held ^ held:
            free[name] += -1 if name in held else 1
        self._held = held


_OF_STARTED = {REGISTERED, INITIALIZED}


def _any_value(one: Requirement) -> str:
    """Return a value for a custom label. Karpenter chooses one of several at random."""
    if one.operator == IN:
        return min(one.values)
    number = one.least or 0
    while one.complement and not one.allows(str(number)):
        number += 1
    return str(number) if one.complement else ""


def _narrow(options: Iterable[_Option], asked: Requirements, known: frozenset[str]) -> Iterator[_Option]:
    """Yield the types and offers that requirements allow."""
    for option in options:
        if option.type is None:
            yield option
        elif type_requirements(option.type).value_conflict(asked) is None:
            offers = tuple(
                offer for offer in option.offers if not asked.conflict(offering_requirements(offer), known)
            )
            if offers:
                yield option._replace(offers=offers)


class _Estimator:
    """The pools and machines of one question."""

    def __init__(self, question: Question) -> None:
        self._known = question.well_known
        pools = sorted(question.pools, key=lambda pool: pool.name, reverse=True)
        self._pools = sorted(pools, key=lambda pool: -pool.weight)
        self._options = {
            pool.name: [
                _Option(allocatable(kind.capacity, kind.overhead), kind, kind.offerings)
                for kind in pool.types
            ]
            for pool in pools
        }
        types = (kind for pool in pools for kind in pool.types)
        self._reservations = _Reservations(types)
        self._limits = {pool.name: dict(pool.limits) for pool in pools}
        self.standing = [self._existing(one) for one in sorted(question.machines, key=lambda one: one.name)]
        self._new: list[_Machine] = []

    def _existing(self, found: ExistingMachine) -> _Machine:
        pool = dict(found.labels).get(NODEPOOL, "")
        if pool in self._limits:
            self._spend(pool, dict((*found.capacity, (NODES, ONE))))
        asked = Requirements(requirements_of_labels(found.labels))
        machine = _Machine(found, asked, [_Option(dict(found.allocatable))], found.unknown)
        for seats in found.seats:
            for name, value in (*seats.requests, (PODS, ONE)):
                machine.used[name] = machine.used.get(name, 0) + value * seats.count
        return machine

    def round(self, pending: Iterable[Seats]) -> list[Seats]:
        """Place seats, then decide what new machines become. Return the seats that are left."""
        self._reservations.at_start = dict(self._reservations.free)
        left, is_placed = list(pending), True
        while is_placed:  # seats that wait are tried again after the others
            before = sum(seats.count for seats in left)
            left = [seats._replace(count=count) for seats in left if (count := self._place(seats))]
            is_placed = sum(seats.count for seats in left) < before
        for machine in self._new:
            machine.decide(self._reservations.free)
            self._spend(machine.name, machine.largest, -1)
            self._spend(machine.name, dict((*machine.capacity, (NODES, ONE))))
        self.standing += self._new
        self._new = []
        return left

    def _place(self, seats: Seats) -> int:
        """Place seats, and return how many are left."""
        left = seats.count
        for pod, wanted in _wishes(seats):
            for machine in self.standing:
                left -= max(0, machine.take(pod, wanted, left, self._reservations)) if left else 0
            left -= self._spread(pod, wanted, left)
            opened: _Machine | Literal["waits"] | None = None
            while left and isinstance(opened := self._open(pod, wanted), _Machine):
                left -= 1
                left -= max(0, opened.take(pod, wanted, left, self._reservations)) if left else 0
            if not left or opened == "waits":
                break
        return left

    def _spread(self, seats: Seats, wanted: Requirements, count: int) -> int:
        """Give each seat to the new machine with the fewest seats. Return how many were given."""
        heap = [(sum(one.seats.values()), number, one) for number, one in enumerate(self._new)]
        heapify(heap)
        left = count
        while left and heap:
            fewest, number, machine = heappop(heap)
            share = min(left, heap[0][0] - fewest + 1) if heap else left
            took = machine.take(seats, wanted, share, self._reservations)
            if took > 0:
                left -= took
                heappush(heap, (fewest + took, number, machine))
        return count - left

    def _open(self, seats: Seats, wanted: Requirements) -> _Machine | Literal["waits"] | None:
        """Open a machine with one seat in the first pool that the seat may use."""
        for pool in self._pools:
            limits, requirements = self._limits[pool.name], _of_pool(pool)
            if limits.get(NODES) == 0 or requirements.conflict(wanted, self._known):
                continue
            asked = requirements.plus(wanted)
            options = [option for option in self._options_for(pool, asked) if _is_within(option, limits)]
            machine = _Machine(pool, asked, options, self._known)
            took = machine.take(seats, wanted, 1, self._reservations)
            if took == _WAITS:
                return "waits"
            if took:
                machine.note_largest(limits)
                self._spend(pool.name, machine.largest)
                self._new.append(machine)
                return machine
        return None

    def _options_for(self, pool: NodePool, asked: Requirements) -> list[_Option]:
        """Return the types of a pool that requirements allow."""
        return list(_narrow(self._options[pool.name], asked, self._known))

    def reason(self, seats: Seats) -> tuple[str, str]:
        """Return the kind of reason why seats are left, and the reason of each pool."""
        reasons = [reason for pool in self._pools if (reason := self._refusal(pool, seats))]
        kinds = [kind for kind, _ in reasons]
        kind = next((kind for kind in (LIMITS, RESERVATIONS) if kind in kinds), POOLS)
        return kind, "; ".join(text for _, text in reasons) or "no pool of their capacities is left"

    def _refusal(self, pool: NodePool, seats: Seats) -> tuple[str, str] | None:
        """Return why a pool gives seats no machine; None for a pool that they do not name."""
        *_, (pod, wanted) = _wishes(seats)
        requirements, limits = _of_pool(pool), self._limits[pool.name]
        if taint := untolerated(pool.taints, pod.tolerations):
            hint = toleration_by_plugin(taint, dict(seats.requests))
            return POOLS, f"{pool.name}: the taint {taint.key} is not tolerated{hint}"
        if conflict := requirements.conflict(wanted, self._known):
            return None if conflict.key == NODEPOOL else (POOLS, f"{pool.name}: {conflict}")
        each = {**dict(seats.requests), PODS: ONE}
        options = self._options_for(pool, requirements.plus(wanted))
        fitting = [option for option in options if option.most({}, each) > 0]
        if not options:
            return POOLS, f"{pool.name}: no type that meets the requirements is offered"
        if not fitting:
            lacking = [name for name in each if all(o.most({}, {name: each[name]}) < 1 for o in options)]
            return POOLS, f"{pool.name}: no type has enough of {', '.join(sorted(lacking or each))}"
        if limits.get(NODES) == 0:
            return LIMITS, f"{pool.name}: its limit of nodes is reached"
        if not any(_is_within(option, limits) for option in fitting):
            return LIMITS, f"{pool.name}: every type that fits is larger than what its limits leave"
        return RESERVATIONS, f"{pool.name}: its reserved machines are all in use"

    def _spend(self, pool: str, amounts: Mapping[str, int], sign: int = 1) -> None:
        for name in self._limits[pool]:
            self._limits[pool][name] -= sign * amounts.get(name, 0)


def _of_pool(pool: NodePool) -> Requirements:
    """Return what a pool requires, and the labels of its nodes."""
    labels = (*pool.labels, (NODEPOOL, pool.name), *((label, "true") for label in _OF_STARTED))
    return Requirements((*pool.requirements, *requirements_of_labels(labels)))


def _is_within(option: _Option, limits: Mapping[str, int]) -> bool:
    """Tell whether a type fits into what the limits of a pool leave."""
    capacity = dict(option.type.capacity) if option.type else {}
    return all(capacity.get(name, 0) <= left for name, left in limits.items())


def _wishes(seats: Seats) -> Iterator[tuple[Seats, Requirements]]:
    """Yield what seats ask for, in turn: each term with the heaviest preference, then fewer preferences."""
    own = requirements_of_labels(seats.node_selector)
    preferred = [one.requirements for one in sorted(seats.preferred, key=lambda one: -one.weight)]
    terms = seats.required or ((),)
    for term in terms:
        yield seats, Requirements((*own, *(preferred[0] if preferred else ()), *term))
    for number in range(1, len(preferred) + 1):
        wish = preferred[number] if number < len(preferred) else ()
        yield seats, Requirements((*own, *wish, *terms[-1]))
    tolerant = seats._replace(tolerations=(*seats.tolerations, TOLERATE_PREFER_NO_SCHEDULE))
    yield tolerant, Requirements((*own, *terms[-1]))
