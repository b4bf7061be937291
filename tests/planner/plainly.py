"""One loop of the scheduler told plainly: pod by pod, every claim and every type asked each time.

Slow, without groups, without anything remembered. What a set of labels is, and where topology leads, is the
real code's; who goes where is told here again.
"""

from berth.karpenter.instancetypes import InstanceType, offering_requirements, type_requirements
from berth.karpenter.nodelabels import HOSTNAME, NODEPOOL, RESERVED
from berth.karpenter.requirements import Requirements, requirements_of_labels
from berth.karpenter.resourcelists import NODES, ONE, PODS, allocatable, fits, sum_resources
from berth.karpenter.taints import untolerated
from berth.planner.inputs import NodePool, SchedulingInput, StateNode
from berth.planner.nodeclaimtemplates import missing_min_values, pool_instance_types, pool_requirements
from berth.planner.podqueue import PodShape, ignored_reason
from berth.planner.tiebreaks import TieBreaker
from berth.planner.topology import NoDomain, Topology, domains, labels_with_hostname

Told = tuple[str, tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...]]
"""(pool, types left, pods, reservations held)."""


class _Claim:
    def __init__(self, pool: NodePool, types: list[InstanceType], host: str) -> None:
        self.pool, self.types, self.hostname = pool, types, host
        self.asked = pool_requirements(pool)
        self.used: dict[str, int] = {}
        self.names: list[str] = []
        self.held: list[str] = []


class _Node:
    def __init__(self, node: StateNode) -> None:
        labels = labels_with_hostname(node)
        self.node, self.hostname = node, labels.pop(HOSTNAME)
        self.asked = Requirements(requirements_of_labels(labels.items()))
        self.free = dict(node.allocatable)
        self.names: list[str] = []


class Plainly:
    """On nodes without pods."""

    def __init__(self, question: SchedulingInput) -> None:
        self.question = question
        self.known = question.settings.well_known
        pools = [pool for pool in question.pools if pool.replicas is None]
        pools = sorted(sorted(pools, key=lambda p: p.name, reverse=True), key=lambda p: -p.weight)
        self.pools = [(p, self._types(p)) for p in pools]
        nodes = sorted(question.nodes, key=lambda one: one.name)
        self.nodes = [_Node(one) for one in nodes]
        universe = domains((p, pool_instance_types(p, question.types)) for p in pools)
        self.topology = Topology(universe, nodes, TieBreaker())
        self.limits = {p.name: dict(p.limits) for p in pools}
        for node in nodes:
            limits = self.limits.get(dict(node.labels).get(NODEPOOL, ""), {})
            for resource, value in (*node.capacity, (NODES, ONE)):
                limits.update({resource: limits[resource] - value} if resource in limits else {})
        self.free: dict[str, int] = {}
        for pool in question.pools:
            for pool_instance_type_ in pool_instance_types(pool, question.types):
                for o in pool_instance_type_.offerings:
                    if o.capacity_type == RESERVED:
                        self.free[o.reservation] = min(self.free.get(o.reservation, o.count), o.count)
        self.claims: list[_Claim] = []
        self.why: dict[str, str] = {}

    def _types(self, pool: NodePool) -> list[InstanceType]:
        asked = pool_requirements(pool)
        types = [t for t in pool_instance_types(pool, self.question.types) if self._holds(t, {}, asked)]
        return [] if self._too_few(types, asked) else types

    def _too_few(self, types: list[InstanceType], asked: Requirements) -> dict[str, int]:
        class Entry:
            def __init__(self, one: InstanceType) -> None:
                self.requirements = type_requirements(one)

        return missing_min_values(asked, [Entry(t) for t in types])  # type: ignore[misc]

    def _holds(self, one: InstanceType, used: dict[str, int], asked: Requirements) -> bool:
        if type_requirements(one).value_conflict(asked) is not None:
            return False
        if not fits(used.items(), allocatable(one.capacity, one.overhead)):
            return False
        asks = [offering_requirements(offering) for offering in one.offerings if offering.available]
        return any(asked.conflict(each, self.known) is None for each in asks)

    def tell(self) -> tuple[list[Told], dict[str, str]]:
        """What nodes took, then the claims in the order of opening, and why pods have no place."""
        tolerate = any(t.effect == "PreferNoSchedule" for pool, _ in self.pools for t in pool.taints)
        line = []
        for pod in self.question.pods:
            for number in range(pod.count):
                if ignored_reason(pod, self.known) is None:
                    line.append((f"{pod.name}-{number}", PodShape(pod, tolerate)))
        line.sort(key=lambda one: (-one[1].requests.get("cpu", 0), -one[1].requests.get("memory", 0)))
        for _, shape in line:
            self.topology.add_pod(shape)
        for node in self.nodes:
            self.topology.register(node.hostname)
        opened: list[_Claim] = []
        pushed: dict[str, int] = {}
        while line and pushed.get(line[0][0]) != len(line):
            name, shape = line.pop(0)
            why = self._schedule_with_relaxation(name, shape, opened)
            if why is None:
                self.why.pop(name, None)
            else:
                self.why[name] = why
                line.append((name, shape))
                pushed[name] = len(line)
        nodes: list[Told] = [
            (node.hostname, (), _counted(node.names), ()) for node in self.nodes if node.names
        ]
        return nodes + [_told(claim) for claim in opened], self.why

    def _schedule_with_relaxation(self, name: str, shape: PodShape, opened: list[_Claim]) -> str | None:
        wish: PodShape | None = shape
        why: str | None = None
        while wish is not None:
            self.topology.add_pod(wish)
            why = self._add(name, wish, opened)
            if why is None or why == "reserved":
                return why
            wish = wish.relaxed
        return why

    def _add(self, name: str, shape: PodShape, opened: list[_Claim]) -> str | None:
        for node in self.nodes:
            if self._onto(node, name, shape):
                return None
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

    def _onto(self, one: _Node, name: str, shape: PodShape) -> bool:
        if untolerated(one.node.taints, shape.pod.tolerations) is not None:
            return False
        if one.asked.conflict(shape.requirements) is not None or not fits(shape.requests.items(), one.free):
            return False
        asked = self.topology.add_requirements(
            shape, one.hostname, one.asked.plus(shape.requirements), frozenset()
        )
        if isinstance(asked, NoDomain):
            return False
        one.asked = asked
        for resource, value in shape.requests.items():
            one.free[resource] = one.free.get(resource, 0) - value
        one.names.append(name)
        self.topology.record(shape, one.hostname, one.node.taints, asked, 1)
        return True

    def _take(self, claim: _Claim, name: str, shape: PodShape) -> str | None:
        if untolerated(claim.pool.taints, shape.pod.tolerations) is not None:
            return "no"
        if claim.asked.conflict(shape.requirements, self.known) is not None:
            return "no"
        asked: Requirements | NoDomain = claim.asked.plus(shape.requirements)
        asked = self.topology.add_requirements(shape, claim.hostname, asked, self.known)  # type: ignore[arg-type]
        if isinstance(asked, NoDomain):
            return "no"
        used = sum_resources(claim.used.items(), shape.requests.items())
        types = [type_ for type_ in claim.types if self._holds(type_, used, asked)]
        if not types or self._too_few(types, asked):
            return "no"
        offered = [
            o
            for t in types
            for o in t.offerings
            if o.available and asked.conflict(offering_requirements(o), self.known) is None
        ]
        if self.question.settings.offers_full:
            offered = [o for o in offered if o.capacity_type != RESERVED or o.count]
        if not offered:
            return "reserved"
        possible = [o.reservation for o in offered if o.capacity_type == RESERVED]
        held = [r for r in dict.fromkeys(possible) if r in claim.held or self.free[r] > 0]
        if (possible or claim.held) and not held:
            return "reserved"
        for reservation in held:
            self.free[reservation] -= reservation not in claim.held
        for reservation in claim.held:
            self.free[reservation] += reservation not in held
        claim.asked, claim.used, claim.types, claim.held = asked, used, types, held
        claim.names.append(name)
        self.topology.register(claim.hostname)
        self.topology.record(shape, claim.hostname, claim.pool.taints, asked, 1)
        return None


def _counted(names: list[str]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for name in names:
        pod = name.rpartition("-")[0]
        counts[pod] = counts.get(pod, 0) + 1
    return tuple(sorted(counts.items()))


def _told(claim: _Claim) -> Told:
    assert claim.used[PODS] == ONE * len(claim.names)
    types = tuple(sorted(type_.name for type_ in claim.types))
    return claim.pool.name, types, _counted(claim.names), tuple(sorted(claim.held))
