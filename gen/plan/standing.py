"""A machine that stands while pods look for a place: it takes what fits, and never becomes another."""

from gen.plan.amounts import ONE, PODS, Amounts, added, fits
from gen.plan.claim import Refusal
from gen.plan.labels import HOSTNAME, NODEPOOL
from gen.plan.requirement import Requirements, of_labels
from gen.plan.shape import Shape
from gen.plan.taints import unborne
from gen.plan.topology import NoPlace, Topology, node_labels
from gen.plan.values import DaemonSet, Node


class Standing:
    def __init__(self, node: Node, daemons: tuple[DaemonSet, ...]) -> None:
        labels = node_labels(node)
        self.node = node
        self.host = labels[HOSTNAME]
        self.pool = labels.get(NODEPOOL, "")
        self.requirements = Requirements(of_labels((k, v) for k, v in labels.items() if k != HOSTNAME))
        self.free = _free(node, _coming(node, self.requirements, daemons))
        self.pods: list[tuple[int, int]] = []
        self._closed: dict[Shape, Requirements] = {}

    def closed(self, shape: Shape) -> bool:
        return self._closed.get(shape) is self.requirements

    def close(self, shape: Shape) -> None:
        self._closed[shape] = self.requirements

    def offer(self, shape: Shape, topology: Topology) -> Requirements | Refusal:
        """What it would ask of further pods if it took this one."""
        if unborne(self.node.taints, shape.pod.tolerations) is not None:
            return Refusal("taints", "")
        if not fits(shape.requests.items(), self.free):
            return Refusal("types", "")
        if shape.hostname and not shape.hostname.allows(self.host):
            return Refusal("requirements", "")
        if self.requirements.clash(shape.wanted, self.node.unknown) is not None:
            return Refusal("requirements", "")
        joined = self.requirements.plus(shape.wanted)
        if topology.binds(shape):
            narrowed = topology.narrowed(shape, self.host, joined, frozenset())
            if isinstance(narrowed, NoPlace):
                return Refusal("topology", *narrowed)
            joined = narrowed
        return self.requirements if joined == self.requirements else joined

    def most(self, shape: Shape) -> int:
        return min(self.free.get(name, 0) // value for name, value in shape.requests.items() if value > 0)

    def take(self, requirements: Requirements, shape: Shape, number: int, count: int) -> None:
        self.requirements = requirements
        for name, value in shape.requests.items():
            if name in self.free or value:
                self.free[name] = self.free.get(name, 0) - value * count
        self.pods.append((number, count))


def _coming(node: Node, requirements: Requirements, daemons: tuple[DaemonSet, ...]) -> Amounts:
    """What DaemonSets will yet request of it."""
    found = []
    for daemon in daemons:
        wanted = Requirements(
            (*of_labels(daemon.node_selector), *(daemon.required[0] if daemon.required else ()))
        )
        if unborne(node.taints, daemon.tolerations) is None and requirements.clash(wanted) is None:
            found.append(daemon)
    total = added(*(daemon.requests for daemon in found), ((PODS, ONE * len(found)),))
    running = dict(node.daemons)
    return tuple((name, max(value - running.get(name, 0), 0)) for name, value in total.items())


def _free(node: Node, coming: Amounts) -> dict[str, int]:
    used = added(node.daemons, *(_bound(pod.requests, pod.count) for pod in node.pods))
    rest = {name: value - used.get(name, 0) for name, value in node.allocatable}
    return {name: value - dict(coming).get(name, 0) for name, value in rest.items()}


def _bound(requests: Amounts, count: int) -> list[tuple[str, int]]:
    return [*((name, value * count) for name, value in requests), (PODS, ONE * count)]
