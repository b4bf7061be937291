"""What keeps placeholders from being ready, and which nodes have them, as pods and their Events say. Pure.

The scheduler says on the pod that there is no room. Why no node comes is in Events of the autoscaler.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from berth.core.jsonvalues import Tree, part, parts
from berth.core.labels import CLASS
from berth.core.objects import containers, is_terminating, pull_failures
from berth.core.obstacles import (
    ADMISSION,
    IMAGE,
    LIMIT,
    MAXIMUM,
    NO_ROOM,
    STARTING,
    Obstacle,
    merge_obstacles,
)

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
    if failure := next(pull_failures(pod), None):
        return IMAGE, failure.said()
    waiting = (str(part(container, "state", "waiting").get("reason") or "") for container in containers(pod))
    return STARTING, next(filter(None, waiting), "their containers start")


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
