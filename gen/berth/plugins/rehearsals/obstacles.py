"""What keeps seats from being ready, and which nodes they are on: as the objects that hold them say in their
conditions, and placeholders and their Events. Pure.

The scheduler says on the pod that there is no room. Why no node comes is in Events of the autoscaler.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.core.jsonvalues import Tree, part, parts
from berth.core.labels import CLASS
from berth.core.objects import CAPACITY_BUFFER, NODE_POOL, condition_message, is_terminating

if TYPE_CHECKING:
    from berth.core.pooldecision import PoolFound
    from berth.core.poolobjects import PoolObject

NO_ROOM, IMAGE, STARTING = "no room", "image", "starting"
LIMIT, MAXIMUM = "NodePool limit", "autoscaler maximum"  # Karpenter's and cluster-autoscaler's
QUOTA, ADMISSION, NOT_READY = "quota", "admission", "not ready"
CAUSES = (NO_ROOM, IMAGE, STARTING, LIMIT, MAXIMUM, QUOTA, ADMISSION, NOT_READY)

_FORBIDDEN = "is forbidden: "  # before the reason, in what the API server answers
_OVER_QUOTA = ("exceeded quota", "failed quota")


class Obstacle(NamedTuple):
    """Why some seats are not ready. `message` is from the cluster."""

    cause: str
    missing: int
    message: str

    def describe(self, kind: str, resource_class: str) -> str:
        """Return one line. `kind`: of what holds the seats, in the plural."""
        what = kind if self.missing != 1 else kind.removesuffix("s")
        return f"{self.cause}: {self.missing} {what} of {resource_class}: {self.message}"


def is_obstacle(fault: str) -> bool:
    """Return whether a line is one that `Obstacle.describe` returns."""
    return fault.partition(": ")[0] in CAUSES


def merge_obstacles(obstacles: Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Return one obstacle for each cause, the largest first; each has its most frequent message."""
    by_cause: dict[str, list[Obstacle]] = {}
    for obstacle in _by_message(obstacles):
        by_cause.setdefault(obstacle.cause, []).append(obstacle)
    merged = (
        Obstacle(cause, sum(same.missing for same in some), max(some, key=lambda same: same.missing).message)
        for cause, some in by_cause.items()
    )
    return tuple(sorted(merged, key=lambda obstacle: (-obstacle.missing, obstacle.cause)))


def _by_message(obstacles: Iterable[Obstacle]) -> Iterable[Obstacle]:
    counts: dict[tuple[str, str], int] = {}
    for cause, count, message in obstacles:
        counts[cause, message] = counts.get((cause, message), 0) + count
    return (Obstacle(cause, count, message) for (cause, message), count in counts.items())


def deployment_obstacle(tree: Tree) -> Obstacle | None:
    """Return why pods of a Deployment are refused; None if none are."""
    missing = _number(tree, "spec") - _number(tree, "status")
    failure = condition_message(tree, "ReplicaFailure", "True")
    if failure is None or missing <= 0:
        return None
    message = failure.partition(_FORBIDDEN)[2] or failure
    is_quota = any(words in message for words in _OVER_QUOTA)
    return Obstacle(QUOTA if is_quota else ADMISSION, missing, message)


def node_pool_obstacle(tree: Tree) -> Obstacle | None:
    """Return why nodes of a NodePool with a fixed number of them are missing, as far as it says so."""
    replicas = _number(tree, "spec")
    missing = replicas - _number(tree, "status", "nodes")
    if missing <= 0:
        return None
    failure = condition_message(tree, "Ready", "False")
    if failure is not None:
        return Obstacle(NOT_READY, missing, failure)
    limit = part(tree, "spec", "limits").get("nodes")
    if limit is not None and str(limit).isdigit() and int(str(limit)) < replicas:
        return Obstacle(LIMIT, missing, f"limits.nodes of the NodePool is {limit}")
    return None


def buffer_obstacle(tree: Tree, ready: int) -> Obstacle | None:
    """Return why a CapacityBuffer has no room for all its replicas. `ready`: for how many it has."""
    missing = _number(tree, "spec") - ready
    for cause, kind, status in (
        (QUOTA, "LimitedByQuotas", "True"),
        (NOT_READY, "ReadyForProvisioning", "False"),
        (NO_ROOM, "Provisioning", "False"),
    ):
        failure = condition_message(tree, kind, status)
        if failure is not None and missing > 0:
            return Obstacle(cause, missing, failure)
    return None


def pool_obstacles(found: PoolFound) -> tuple[Obstacle, ...]:
    """Return what keeps seats of a pool from being ready, as far as the objects that hold them say so."""
    obstacles = [_of_object(found.object)] if found.object else []
    for slot in found.slots.pending if found.slots else ():
        untried = Obstacle(STARTING, 1, "Koordinator's scheduler has not tried them yet")
        obstacles.append(Obstacle(NO_ROOM, 1, slot.refusal) if slot.refusal else untried)
    return merge_obstacles(obstacle for obstacle in obstacles if obstacle)


def _of_object(pool: PoolObject) -> Obstacle | None:
    tree, kind = pool.tree or {}, pool.number.object_kind
    if pool.number.foreign:
        return None
    if kind is CAPACITY_BUFFER:
        return buffer_obstacle(tree, pool.ready)
    return node_pool_obstacle(tree) if kind is NODE_POOL else deployment_obstacle(tree)


def _number(tree: Tree, *path: str) -> int:
    """Return a number below spec or status, by default that of replicas; 0 if it is missing."""
    where, key = path[0], path[1] if len(path) > 1 else "replicas"
    value = part(tree, where).get(key)
    return value if isinstance(value, int) else 0


IMAGE_PULL_REASONS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
)


def containers(pod: Tree) -> list[dict[str, Any]]:
    """Return the status of all containers, including sidecars."""
    return [*parts(pod, "status", "initContainerStatuses"), *parts(pod, "status", "containerStatuses")]


KARPENTER_EVENTS = "involvedObject.kind=Pod,reason=FailedScheduling,source=karpenter"
CLUSTER_AUTOSCALER_EVENTS = "involvedObject.kind=Pod,reason=NotTriggerScaleUp"
"""Selectors of fields: Events of an autoscaler about pods for which it gets no node."""

_LIMITS = ("exceed limits for nodepool", "node limits have been exhausted")
_MAXIMUM = re.compile(r"max node group size reached|max cluster .*limit reached")


class Placeholder(NamedTuple):
    """A pod that holds a seat. An empty `cause`: it is ready."""

    name: str
    resource_class: str
    node: str
    cause: str = ""
    message: str = ""


class ScaleUpRefusal(NamedTuple):
    """An Event by which an autoscaler says why it gets no node for a pod."""

    pod: str
    at: str  # an instant
    cause: str
    message: str


def parse_placeholder(pod: Tree) -> Placeholder | None:
    """Parse a placeholder; None for one that is deleted."""
    if is_terminating(pod):
        return None
    name = str(part(pod, "metadata").get("name", ""))
    resource_class = str(part(pod, "metadata", "labels").get(CLASS, ""))
    node = str(part(pod, "spec").get("nodeName") or "")
    return Placeholder(name, resource_class, node, *_cause(pod, node))


def _cause(pod: Tree, node: str) -> tuple[str, str]:
    conditions = {str(one.get("type")): one for one in parts(pod, "status", "conditions")}
    if part(conditions, "Ready").get("status") == "True":
        return "", ""
    scheduled = part(conditions, "PodScheduled")
    if not node:
        if scheduled.get("status") != "False":
            return STARTING, "no scheduler has looked at them"
        message = str(scheduled.get("message") or scheduled.get("reason") or "")
        return (ADMISSION if scheduled.get("reason") == "SchedulingGated" else NO_ROOM), message
    waiting = [(container, part(container, "state", "waiting")) for container in containers(pod)]
    for container, state in waiting:
        if (reason := state.get("reason")) in IMAGE_PULL_REASONS:
            image, message = container.get("image", ""), state.get("message", "")
            return IMAGE, f"its image {image} cannot be pulled: {reason}: {message}"
    reasons = (str(state.get("reason") or "") for _, state in waiting)
    return STARTING, next(filter(None, reasons), "their containers start")


def parse_scale_up_refusal(event: Tree) -> ScaleUpRefusal | None:
    """Parse an Event about a pod; None if it has no name or no message."""
    pod, message = str(part(event, "involvedObject").get("name") or ""), str(event.get("message") or "")
    if not pod or not message:
        return None
    cause = NO_ROOM
    for clause in message.split("; "):  # one for each NodePool
        if any(words in clause for words in _LIMITS):
            cause, message = LIMIT, clause.removeprefix("Failed to schedule pod, ")
            break
    if _MAXIMUM.search(message):
        cause = MAXIMUM
    at = str(event.get("lastTimestamp") or event.get("eventTime") or "")
    return ScaleUpRefusal(pod, at, cause, message)


def pod_obstacles(
    placeholders: Iterable[Placeholder], refusals: Iterable[ScaleUpRefusal]
) -> dict[str, tuple[Obstacle, ...]]:
    """Return the obstacles by class. The last Event of a pod says more than its scheduler."""
    last = {refusal.pod: refusal for refusal in sorted(refusals, key=lambda refusal: refusal.at)}
    by_class: dict[str, list[Obstacle]] = {}
    for pod in placeholders:
        if pod.cause:
            refusal = last.get(pod.name) if pod.cause == NO_ROOM else None
            cause, message = (refusal.cause, refusal.message) if refusal else (pod.cause, pod.message)
            by_class.setdefault(pod.resource_class, []).append(Obstacle(cause, 1, message))
    return {name: merge_obstacles(obstacles) for name, obstacles in by_class.items()}


def nodes_by_class(placeholders: Iterable[Placeholder]) -> dict[str, Mapping[str, int]]:
    """Return how many placeholders each node has, by class."""
    nodes: dict[str, Counter[str]] = {}
    for pod in placeholders:
        if pod.node:
            nodes.setdefault(pod.resource_class, Counter())[pod.node] += 1
    return dict(nodes)
