"""A node in the scheduler's cache, and what is free on it for a pod.

Where a Reservation has owners, both count on the node; what the owners have of it is given back before
anything is decided.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tests.koordinator import amounts, selecting
from tests.koordinator.amounts import Amounts, Port, Tree
from tests.koordinator.objects import (
    allocated_to,
    is_available,
    labels_of,
    metadata,
    node_of,
    reserve_pod,
    spec_of,
    status_of,
    uid_of,
)
from tests.koordinator.reserved import Info, info_of, info_of_pod

CORDON = {"key": selecting.UNSCHEDULABLE, "effect": "NoSchedule"}


class Left(NamedTuple):
    """A node as one pod sees it, who may use some Reservations and not others."""

    trimmed: Amounts  # requested by all, each Reservation counted once with its owners
    requested: Amounts  # the same without the Reservations that it may use
    pods: int
    ports: frozenset[Port]


@dataclass
class Node:
    tree: Tree
    held: dict[str, Amounts] = field(default_factory=dict)  # by uid of a pod or Reservation
    pods: dict[str, Tree] = field(default_factory=dict)  # by uid; reserve pods too
    infos: dict[str, Info] = field(default_factory=dict)  # by uid; those that are Available
    total: Amounts = field(default_factory=dict)
    ports: dict[str, frozenset[Port]] = field(default_factory=dict)  # by uid, of those that take any
    repelling: list[Tree] = field(default_factory=list)  # pods with required anti-affinity

    def __post_init__(self) -> None:
        self.name: str = metadata(self.tree)["name"]
        status = status_of(self.tree)
        self.room = amounts.read(status.get("allocatable") or status.get("capacity"))

    def hold(self, pod: Tree) -> None:
        asked = amounts.requests_of(spec_of(pod))
        self.pods[uid_of(pod)], self.held[uid_of(pod)] = pod, asked
        self.total = amounts.add(self.total, asked)
        if ports := amounts.ports_of(spec_of(pod)):
            self.ports[uid_of(pod)] = ports
        if _terms((spec_of(pod).get("affinity") or {}).get("podAntiAffinity")):
            self.repelling.append(pod)

    def open(self, info: Info) -> None:
        """The Reservation is Available here."""
        self.infos[info.uid] = info
        if not info.is_pod:
            self.hold(reserve_pod(info.tree))

    def left(self, mine: Sequence[Info], others: Iterable[Info], donors: Iterable[Tree] = ()) -> Left:
        """`mine` may be used, `others` not; the room of `donors` is taken over."""
        trimmed = self.total
        for info in others:
            if info.pods:
                trimmed = amounts.subtract(trimmed, amounts.smaller(info.allocatable, info.allocated))
        requested = trimmed
        away = {info.uid for info in mine} | {uid_of(pod) for pod in donors}
        for uid in away:
            requested = amounts.subtract(requested, self.held[uid])
        ports = frozenset(port for uid, taken in self.ports.items() if uid not in away for port in taken)
        return Left(trimmed, requested, len(self.pods) - len(away), ports)

    def without(self, gone: Collection[str]) -> "Node":
        """As it would be if the pods of these uids had left."""
        left = Node(self.tree)
        for uid, pod in self.pods.items():
            if uid not in gone:
                left.hold(pod)
        for uid, info in self.infos.items():
            stay = {pod: asked for pod, asked in info.pods.items() if pod not in gone}
            left.infos[uid] = replace(info, pods=stay)
        return left

    def real_pods(self) -> Iterator[Tree]:
        return (pod for uid, pod in self.pods.items() if uid not in self.infos or self.infos[uid].is_pod)


def keeps_off(node: Node, pod: Tree, nodes: Iterable[Node]) -> str:
    """Why a pod may not be on the node, whatever room there is; empty where it may."""
    spec = spec_of(pod)
    wanted = pod.get("wanted") or ""
    if wanted and wanted != node.name:
        return "node(s) didn't match the nodeName specified by reservation"
    tolerations = spec.get("tolerations") or []
    cordoned = spec_of(node.tree).get("unschedulable")
    if cordoned and selecting.untolerated([CORDON], tolerations):
        return "node(s) were unschedulable"
    taint = selecting.untolerated(spec_of(node.tree).get("taints") or [], tolerations)
    if taint is not None:
        return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}"
    if not selecting.suits_node(spec, node.name, labels_of(node.tree)):
        return "node(s) didn't match Pod's node affinity/selector"
    return _company(node, pod, list(nodes))


def _company(node: Node, pod: Tree, nodes: list[Node]) -> str:
    """Required pod affinity and anti-affinity, those of the pods that are there too."""
    affinity = spec_of(pod).get("affinity") or {}
    for term in _terms(affinity.get("podAntiAffinity")):
        if any(_is_meant(term, pod, other) for other in _together(node, term, nodes)):
            return "node(s) didn't match pod anti-affinity rules"
    for term in _terms(affinity.get("podAffinity")):
        found = any(_is_meant(term, pod, other) for other in _together(node, term, nodes))
        first = _is_meant(term, pod, pod) and not any(
            _is_meant(term, pod, other) for one in nodes for other in one.pods.values()
        )
        if not found and not first:
            return "node(s) didn't match pod affinity rules"
    for other_node in nodes:
        for other in other_node.repelling:
            for term in _terms((spec_of(other).get("affinity") or {}).get("podAntiAffinity")):
                if _same_place(node, other_node, term) and _is_meant(term, other, pod):
                    return "node(s) didn't satisfy existing pods anti-affinity rules"
    return ""


def _terms(part: Tree | None) -> list[Tree]:
    return (part or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _same_place(one: Node, other: Node, term: Tree) -> bool:
    key = term.get("topologyKey", "")
    place = labels_of(one.tree).get(key)
    return place is not None and place == labels_of(other.tree).get(key)


def _together(node: Node, term: Tree, nodes: list[Node]) -> Iterator[Tree]:
    return (pod for one in nodes if _same_place(node, one, term) for pod in one.pods.values())


def _is_meant(term: Tree, owner: Tree, other: Tree) -> bool:
    namespaces = term.get("namespaces") or [metadata(owner).get("namespace")]
    selector = term.get("labelSelector")
    if selector is None or metadata(other).get("namespace") not in namespaces:
        return False
    return selecting.selects(selector, labels_of(other))


def cached(nodes: Iterable[Tree], pods: Iterable[Tree], reservations: Iterable[Tree]) -> dict[str, Node]:
    """The scheduler's cache: by name. What is on a node that is gone counts for nothing."""
    found = {metadata(tree)["name"]: Node(tree) for tree in nodes}
    infos: dict[str, Info] = {}
    for tree in reservations:
        if is_available(tree) and node_of(tree) in found:
            infos[uid_of(tree)] = info = info_of(tree)
            found[info.node].open(info)
    there = [pod for pod in pods if _is_on(pod) in found]
    for pod in there:
        node = found[_is_on(pod)]
        node.hold(pod)
        operating = info_of_pod(pod)
        if operating is not None and is_operating(pod):
            infos[operating.uid] = operating
            node.open(operating)
    for pod in there:
        info_or_none = infos.get(allocated_to(pod))
        if info_or_none is not None and info_or_none.node == _is_on(pod):
            info_or_none.assign(pod)
    return found


def is_operating(pod: Tree) -> bool:
    """Whether a pod that is a reservation may be matched: Running and Ready."""
    ready = any(
        one["type"] == "Ready" and one["status"] == "True" for one in status_of(pod).get("conditions") or []
    )
    return ready and status_of(pod).get("phase") == "Running"


def _is_on(pod: Tree) -> str:
    """The node that it takes room on; it takes none once it has ended."""
    ended = status_of(pod).get("phase") in ("Succeeded", "Failed")
    return "" if ended else spec_of(pod).get("nodeName") or ""


def leanest(nodes: Iterable[tuple[Node, Amounts]]) -> dict[str, float]:
    """By name, how much is free on a node where so much would be requested: 0 to 100, of CPU and memory."""
    scores = {}
    for node, requested in nodes:
        room = node.room
        free = [
            max(0, room[name] - requested.get(name, 0)) * 100 / room[name]
            for name in ("cpu", "memory")
            if room.get(name)
        ]
        scores[node.name] = sum(free) / len(free) if free else 0.0
    return scores
