"""What keeps seats from being ready, as the objects that hold them say in their conditions. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from berth.core.jsonvalues import Tree, part, parts

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
    failure = _condition(tree, "ReplicaFailure", "True")
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
    failure = _condition(tree, "Ready", "False")
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
        failure = _condition(tree, kind, status)
        if failure is not None and missing > 0:
            return Obstacle(cause, missing, failure)
    return None


def slot_refusal(tree: Tree) -> str:
    """Return why a Reservation of Koordinator is Pending; empty if it does not say."""
    return _condition(tree, "Scheduled", "False") or ""


def _condition(tree: Tree, kind: str, status: str) -> str | None:
    """Return the message of a condition with this status, or else its reason; None if there is none."""
    for one in parts(tree, "status", "conditions"):
        if (one.get("type"), one.get("status")) == (kind, status):
            return str(one.get("message") or one.get("reason") or kind)
    return None


def _number(tree: Tree, *path: str) -> int:
    """Return a number below spec or status, by default that of replicas; 0 if it is missing."""
    where, key = path[0], path[1] if len(path) > 1 else "replicas"
    value = part(tree, where).get(key)
    return value if isinstance(value, int) else 0
