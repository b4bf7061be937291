"""One loop of the scheduler told plainly: pod by pod, every claim and every type asked each time.

Slow, without groups, without anything remembered. What a set of labels is, and where topology leads, is the
real code's; who goes where is told here again.
"""

from gen.plan.amounts import NODES, ONE, PODS, added, allocatable, fits
from gen.plan.labels import RESERVED
from gen.plan.market import lacking_values, pool_requirements, types_of
from gen.plan.offered import offering_requirements, type_requirements
from gen.plan.requirement import Requirements
from gen.plan.shape import Shape, left_alone
from gen.plan.taints import unborne
from gen.plan.ties import Ties
from gen.plan.topology import NoPlace, Topology, domains
from gen.plan.values import InstanceType, Pool, Question

Told = tuple[str, tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...]]
"""(pool, types left, pods, reservations held)."""


class _Claim:
    def __init__(self, pool: Pool, types: list[InstanceType], host: str) -> None:
        self.pool, self.types, self.host = pool, types, host
        self.asked = pool_requirements(pool)
        self.used: dict[str, int] = {}
        self.names: list[str] = []
        self.held: list[str] = []


class Plainly:
    """Without nodes that stand and without DaemonSets."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.known = question.settings.well_known
        pools = [pool for pool in question.pools if pool.replicas is None]
        pools = sorted(sorted(pools, key=lambda p: p.name, reverse=True), key=lambda p: -p.weight)
        self.pools = [(p, self._types(p)) for p in pools]
        self.topology = Topology(domains((p, types_of(p, question.types)) for p in pools), (), Ties())
        self.limits = {p.name: dict(p.limits) for p in pools}
        self.free: dict[str, int] = {}
        for pool in question.pools:
            for one in types_of(pool, question.types):
                for o in one.offerings:
                    if o.capacity_type == RESERVED:
                        self.free[o.reservation] = min(self.free.get(o.reservation, o.count), o.count)
        self.claims: list[_Claim] = []
        self.why: dict[str, str] = {}

    def _types(self, pool: Pool) -> list[InstanceType]:
        asked = pool_requirements(pool)
        types = [t for t in types_of(pool, self.question.types) if self._holds(t, {}, asked)]
        return [] if self._too_few(types, asked) else types

    def _too_few(self, types: list[InstanceType], asked: Requirements) -> bool:
        class Entry:
            def __init__(self, one: InstanceType) -> None:
                self.requirements = type_requirements(one)

        return bool(lacking_values(asked, [Entry(t) for t in types]))  # type: ignore[misc]

    def _holds(self, one: InstanceType, used: dict[str, int], asked: Requirements) -> bool:
        if type_requirements(one).crossing(asked) is not None:
            return False
        for offering in one.offerings:
            overhead = tuple(added(one.overhead, offering.overhead).items())
            room = allocatable(added(one.capacity, offering.capacity).items(), overhead)
            asks = offering_requirements(offering)
            if offering.available and asked.clash(asks, self.known) is None and fits(used.items(), room):
                return True
        return False

    def tell(self) -> tuple[list[Told], dict[str, str]]:
        """The claims in the order in which they were opened, and why pods have no place."""
        tolerate = any(t.effect == "PreferNoSchedule" for pool, _ in self.pools for t in pool.taints)
        line = []
        for pod in self.question.pods:
            for number in range(pod.count):
                if left_alone(pod, self.known) is None:
                    line.append((f"{pod.name}-{number}", Shape(pod, self.question.settings, tolerate)))
        line.sort(key=lambda one: (-one[1].requests.get("cpu", 0), -one[1].requests.get("memory", 0)))
        for _, shape in line:
            self.topology.watch(shape)
        opened: list[_Claim] = []
        pushed: dict[str, int] = {}
        while line and pushed.get(line[0][0]) != len(line):
            name, shape = line.pop(0)
            why = self._relaxing(name, shape, opened)
            if why is None:
                self.why.pop(name, None)
            else:
                self.why[name] = why
                line.append((name, shape))
                pushed[name] = len(line)
        return [_told(claim) for claim in opened], self.why

    def _relaxing(self, name: str, shape: Shape, opened: list[_Claim]) -> str | None:
        wish: Shape | None = shape
        why: str | None = None
        while wish is not None:
            self.topology.watch(wish)
            why = self._add(name, wish, opened)
            if why is None or why == "reserved":
                return why
            wish = wish.relaxed
        return why

    def _add(self, name: str, shape: Shape, opened: list[_Claim]) -> str | None:
        self.claims.sort(key=lambda claim: len(claim.names))
        for claim in self.claims:
            if self._take(claim, name, shape) is None:
                return None
        why = "pools"
        for pool, types in self.pools:
            limits = self.limits[pool.name]
            left = [t for t in types if all(dict(t.capacity).get(r, 0) <= v for r, v in limits.items())]
            if limits.get(NODES) == 0 or not left:
                why = "no"
                continue
            claim = _Claim(pool, left, f"host-{len(opened)}")
            why = self._take(claim, name, shape) or ""
            if why == "reserved":
                return why
            if not why:
                self.claims.append(claim)
                opened.append(claim)
                for resource in limits:
                    limits[resource] -= max(dict(t.capacity).get(resource, 0) for t in claim.types)
                return None
        return why

    def _take(self, claim: _Claim, name: str, shape: Shape) -> str | None:
        if unborne(claim.pool.taints, shape.pod.tolerations) is not None:
            return "no"
        if claim.asked.clash(shape.wanted, self.known) is not None:
            return "no"
        asked: Requirements | NoPlace = claim.asked.plus(shape.wanted)
        asked = self.topology.narrowed(shape, claim.host, asked, self.known)  # type: ignore[arg-type]
        if isinstance(asked, NoPlace):
            return "no"
        used = added(claim.used.items(), shape.requests.items())
        types = [one for one in claim.types if self._holds(one, used, asked)]
        if not types or self._too_few(types, asked):
            return "no"
        possible = [
            o.reservation
            for t in types
            for o in t.offerings
            if o.capacity_type == RESERVED and o.available
            if asked.clash(offering_requirements(o), self.known) is None
        ]
        held = [r for r in dict.fromkeys(possible) if r in claim.held or self.free[r] > 0]
        if (possible or claim.held) and not held:
            return "reserved"
        for reservation in held:
            self.free[reservation] -= reservation not in claim.held
        for reservation in claim.held:
            self.free[reservation] += reservation not in held
        claim.asked, claim.used, claim.types, claim.held = asked, used, types, held
        claim.names.append(name)
        self.topology.register(claim.host)
        self.topology.record(shape, claim.host, claim.pool.taints, asked, 1)
        return None


def _told(claim: _Claim) -> Told:
    counts: dict[str, int] = {}
    for name in claim.names:
        pod = name.rpartition("-")[0]
        counts[pod] = counts.get(pod, 0) + 1
    assert claim.used[PODS] == ONE * len(claim.names)
    types = tuple(sorted(one.name for one in claim.types))
    return claim.pool.name, types, tuple(sorted(counts.items())), tuple(sorted(claim.held))
