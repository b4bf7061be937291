"""Which nodes are overbooked: their pods and Reservations request more than the node has. Pure.

Koordinator's scheduler lets no session take a slot of such a node, and still shows the slots as Available.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from berth import quantity
from berth.live.kubeobject import KubeObject, value_at
from berth.plugins.slots.slots import ALLOCATED, AVAILABLE, FINISHED_PHASES

_REQUESTS = ("resources", "requests")

Amounts = dict[str, int]
"""By resource, in billionths of its unit."""


class OverbookedNode(NamedTuple):
    """A node with too little of `resource`, in billionths of its unit."""

    name: str
    resource: str
    requested: int
    allocatable: int


def overbooked_nodes(
    nodes: Iterable[KubeObject], pods: Iterable[KubeObject], reservations: Iterable[KubeObject]
) -> tuple[OverbookedNode, ...]:
    """Return the overbooked nodes, each with the first resource of which too much is requested.

    A session in a slot requests nothing beside it. Its annotation tells, which comes before its node; the
    status of the slot is a little late.
    """
    held = {
        reservation["metadata"]["uid"]: reservation
        for reservation in reservations
        if value_at(reservation, "status", "phase") == AVAILABLE
    }
    by_node: dict[str, Amounts] = {}
    by_slot: dict[str, Amounts] = {}
    for pod in pods:
        node = value_at(pod, "spec", "nodeName")
        if node and value_at(pod, "status", "phase") not in FINISHED_PHASES:
            uid = _allocated(pod)
            is_inside = uid in held and _node_of(held[uid]) == node
            total = by_slot.setdefault(uid, {}) if is_inside else by_node.setdefault(node, {})
            _add(total, pod_requests(pod["spec"]))
    for uid, reservation in held.items():
        room = amounts(value_at(reservation, "status", "allocatable"))
        _add(by_node.setdefault(_node_of(reservation), {}), _larger(room, by_slot.get(uid, {})))
    overbooked = (_overbooked(node, by_node.get(node["metadata"]["name"], {})) for node in nodes)
    return tuple(node for node in overbooked if node)


def pod_requests(spec: KubeObject) -> Amounts:
    """Return what a pod requests: containers that run together, or an init container if it needs more."""
    running: Amounts = {}
    largest: Amounts = {}
    for container in spec.get("initContainers") or ():
        step = dict(running)
        _add(step, amounts(value_at(container, *_REQUESTS)))
        largest = _larger(largest, step)
        if container.get("restartPolicy") == "Always":
            running = step
    for container in spec.get("containers") or ():
        _add(running, amounts(value_at(container, *_REQUESTS)))
    requests = {**_larger(largest, running), **amounts(value_at(spec, *_REQUESTS))}
    _add(requests, amounts(spec.get("overhead")))
    return requests


def _overbooked(node: KubeObject, requested: Amounts) -> OverbookedNode | None:
    room = amounts(value_at(node, "status", "allocatable"))
    for resource, amount in sorted(requested.items()):
        if amount > room.get(resource, 0):
            return OverbookedNode(node["metadata"]["name"], resource, amount, room.get(resource, 0))
    return None


def _allocated(pod: KubeObject) -> str:
    """Return the uid of the Reservation that a pod is in; empty if it is in none."""
    try:
        allocated = json.loads(value_at(pod, "metadata", "annotations", ALLOCATED) or "{}")
    except (ValueError, RecursionError):
        return ""
    return str(allocated.get("uid", "")) if isinstance(allocated, dict) else ""


def _node_of(reservation: KubeObject) -> str:
    return str(value_at(reservation, "status", "nodeName"))


def amounts(declared: KubeObject | None) -> Amounts:
    """Read quantities by resource; what is not one is 0."""
    return {name: quantity.parse(str(amount)) or 0 for name, amount in (declared or {}).items()}


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _larger(left: Amounts, right: Amounts) -> Amounts:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}
