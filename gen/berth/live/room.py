"""Whether the limits of a cluster have room for all seats of the next windows. Pure.

A ResourceQuota of the Berth namespace limits pods there; limits of NodePools bound what new nodes may have.
Where a limit cannot be compared with seats, it is listed without a number of what they need.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth import quantity
from berth.checks.ceilings import Steps, peak, pool_steps
from berth.checks.project import Item
from berth.live.kubeobject import KubeObject, value_at
from berth.live.overbooking import Amounts, amounts, pod_requests
from berth.machines.nodelabels import (
    NODEPOOL,
    WELL_KNOWN,
    Requirement,
    Requirements,
    Taint,
    Toleration,
    requirement,
    requirements_of_labels,
    untolerated,
)
from berth.machines.windowbudgets import merge_windows
from berth.manifests.naming import pool
from berth.reading.document import parse
from berth.reading.source import Source

HORIZON = 14 * 1440  # minutes
PODS = "pods"
_NODES = "nodes"
_HARD = ("NoSchedule", "NoExecute")  # effects that keep a pod away
_COMPUTE = ("cpu", "memory", "ephemeral-storage")


class WindowSteps(NamedTuple):
    """How many pods the windows of a cluster need over time: of each pool by the name of its object, and of
    the Jobs of each reservation.
    """

    pools: dict[str, Steps]
    jobs: dict[str, Steps]


def steps_by_cluster(items: Iterable[Item]) -> dict[str, WindowSteps]:
    """Return what the windows of all reservations need in each cluster that has some."""
    by_cluster: dict[str, WindowSteps] = {}
    for item in items:
        reservation = item.reservation
        if reservation.suspend or reservation.holder.persistence is not None:
            continue
        for part in item.parts:
            here = by_cluster.setdefault(part.placed.cluster.name, WindowSteps({}, {}))
            for each in part.placed.classes:
                steps = pool_steps(reservation, each, part.occurrences)
                here.pools[pool(reservation.name, each.name)] = steps
            spans = [
                (occurrence.open, occurrence.end + reservation.sessions.handover)
                for occurrence in part.occurrences
            ]
            here.jobs[reservation.name] = [
                step for first, last in merge_windows(spans) for step in (first // 60, 1, -(-last // 60), -1)
            ]
    return by_cluster


class PodLoad(NamedTuple):
    """Pods that come and go: minutes and changes of their number, and the spec that all of them have."""

    steps: Steps
    spec: KubeObject


class Room(NamedTuple):
    """A limit of one resource. Amounts are in billionths.

    `used` counts now, `own` is the part of it that Berth's pods should have now. `needed` is the most that
    they need at one time, first at the minute `at`; None where it cannot be compared.
    """

    resource: str
    most: int
    used: int
    needed: int | None = None
    own: int = 0
    at: int = 0

    @property
    def is_too_small(self) -> bool:
        """Whether it would not suffice if nobody else used anything."""
        return self.needed is not None and self.needed > self.most

    @property
    def is_taken(self) -> bool:
        """Whether it does not suffice beside what others use now."""
        return self.needed is not None and self.needed - self.own > self.most - self.used

    @property
    def text(self) -> str:
        """What is needed, and the limit: `requests.cpu 25 of 40`."""
        most = quantity.text(self.most)
        if self.needed is None:
            return f"{self.resource} {quantity.text(self.used)} of {most} now, not compared"
        return f"{self.resource} {quantity.text(self.needed)} of {most}"


class LimitingObject(NamedTuple):
    """An object with limits, or several that serve the same pods: `ResourceQuota/compute`."""

    name: str
    rooms: tuple[Room, ...]
    unknown: str = ""  # why it cannot be compared


def quota_room(quota: KubeObject, loads: Iterable[PodLoad], now: int) -> LimitingObject:
    """Compare a ResourceQuota with the pods in its namespace. `now` is a minute."""
    name = f"ResourceQuota/{quota['metadata']['name']}"
    scopes = [*_scopes(quota)]
    if unknown := sorted({scope for scope, _, _ in scopes} - _KNOWN_SCOPES):
        return LimitingObject(name, (), f"its scope {', '.join(unknown)} is not looked at")
    counted = [load for load in loads if all(_is_in_scope(load.spec, *scope) for scope in scopes)]
    hard = amounts(value_at(quota, "status", "hard") or value_at(quota, "spec", "hard"))
    used = amounts(value_at(quota, "status", "used"))
    rooms = [
        _compared(Room(key, most, used.get(key, 0)), _counted_by(key), counted, now)
        for key, most in sorted(hard.items())
    ]
    return LimitingObject(name, tuple(rooms))


def nodepool_rooms(
    pools: Sequence[KubeObject], nodes: Iterable[KubeObject], loads: Iterable[PodLoad], now: int
) -> Iterator[LimitingObject]:
    """Compare the limits of NodePools with the pods that may come there, together for those that serve the
    same pods. Nodes of no NodePool count as room, too. `now` is a minute.
    """
    others = [node for node in nodes if NODEPOOL not in (value_at(node, "metadata", "labels") or {})]
    groups: dict[tuple[int, ...], list[PodLoad]] = {}
    for load in loads:
        suitable = tuple(i for i, pool in enumerate(pools) if _fits_pool(load.spec, pool))
        if suitable:
            groups.setdefault(suitable, []).append(load)
    for suitable in sorted(groups):
        inside = [load for some, group in groups.items() if set(some) <= set(suitable) for load in group]
        limits = [amounts(value_at(pools[i], "spec", "limits")) for i in suitable]
        used = [amounts(value_at(pools[i], "status", "resources")) for i in suitable]
        free = [_allocatable(node) for node in others if _fits_any(inside, node)]
        rooms = []
        for resource in sorted(set.intersection(*map(set, limits))):
            limit = Room(resource, _total(resource, (*limits, *free)), _total(resource, used))
            counted = None if resource == _NODES else _Counted(resource)
            rooms.append(_compared(limit, counted, inside, now))
        if rooms:
            names = ", ".join(str(pools[i]["metadata"]["name"]) for i in suitable)
            yield LimitingObject(f"NodePool/{names}", tuple(rooms))


def autoscaler_rooms(configmap: KubeObject) -> Iterator[LimitingObject]:
    """Yield the node groups of cluster-autoscaler with their maximum, as its status ConfigMap has them.

    What a node of a group has is not in there, so nothing is compared.
    """
    text = str(value_at(configmap, "data", "status") or "")
    documents, _ = parse(Source("", text.encode()))
    groups = value_at(documents[0].value, "nodeGroups") if documents else None
    name = f"ConfigMap/{configmap['metadata']['name']}"
    if not isinstance(groups, list):
        yield LimitingObject(name, (), "it has no list of node groups, as since cluster-autoscaler 1.30")
        return
    for group in groups:
        most, size = (value_at(group, "health", key) for key in ("maxSize", "cloudProviderTarget"))
        if isinstance(most, int) and isinstance(size, int):
            nodes = Room(_NODES, most * quantity.NANO, size * quantity.NANO)
            yield LimitingObject(f"node group {group.get('name')}", (nodes,))


def _total(resource: str, several: Iterable[Amounts]) -> int:
    return sum(each.get(resource, 0) for each in several)


class _Counted(NamedTuple):
    """What of a pod counts against a limit: what it requests of a resource, or its own limits of it."""

    resource: str
    is_limit: bool = False

    def amount(self, spec: KubeObject) -> int:
        if self.resource == PODS:
            return quantity.NANO
        if not self.is_limit:
            return pod_requests(spec).get(self.resource, 0)
        containers = spec.get("containers") or ()
        return _total(
            self.resource, (amounts(value_at(container, "resources", "limits")) for container in containers)
        )


def _compared(limit: Room, counted: _Counted | None, loads: Iterable[PodLoad], now: int) -> Room:
    """Return the limit with what the pods need. None: nothing of pods counts."""
    if counted is None:
        return limit
    changes: dict[int, int] = {}
    for load in loads:
        each = counted.amount(load.spec)
        for minute, change in zip(load.steps[::2], load.steps[1::2], strict=True):
            changes[minute] = changes.get(minute, 0) + each * change
    own = sum(change for minute, change in changes.items() if minute <= now)
    needed, at = peak(changes, now, now + HORIZON) or (0, now)
    return limit._replace(needed=needed, own=own, at=at)


# Quotas


_KNOWN_SCOPES = frozenset(("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass"))


def _counted_by(key: str) -> _Counted | None:
    """Return what of pods counts against a key of a quota; None for what is not about pods."""
    if key in (PODS, "count/pods"):
        return _Counted(PODS)
    prefix, _, resource = key.partition(".")
    if prefix in ("requests", "limits") and resource not in ("", "storage"):
        return _Counted(resource, prefix == "limits")
    return _Counted(key) if key in _COMPUTE else None


def _scopes(quota: KubeObject) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield scope, operator and values."""
    for scope in value_at(quota, "spec", "scopes") or ():
        yield str(scope), "Exists", ()
    for expression in value_at(quota, "spec", "scopeSelector", "matchExpressions") or ():
        yield str(expression["scopeName"]), str(expression["operator"]), tuple(expression.get("values") or ())


def _is_in_scope(spec: KubeObject, scope: str, operator: str, values: Sequence[str]) -> bool:
    if scope == "PriorityClass":
        name = str(spec.get("priorityClassName") or "")
        answers = {
            "In": name in values,
            "NotIn": name not in values,
            "Exists": bool(name),
            "DoesNotExist": not name,
        }
        return answers.get(operator, True)
    is_terminating = spec.get("activeDeadlineSeconds") is not None
    is_best_effort = not any(pod_requests(spec).values())
    return {
        "Terminating": is_terminating,
        "NotTerminating": not is_terminating,
        "BestEffort": is_best_effort,
        "NotBestEffort": not is_best_effort,
    }[scope]


# Nodes


def _fits_pool(spec: KubeObject, nodepool: KubeObject) -> bool:
    template = value_at(nodepool, "spec", "template") or {}
    labels = {**(value_at(template, "metadata", "labels") or {}), NODEPOOL: str(nodepool["metadata"]["name"])}
    node = Requirements(
        (*_requirements(value_at(template, "spec", "requirements")), *requirements_of_labels(labels.items()))
    )
    return _fits(spec, node, value_at(template, "spec", "taints"), WELL_KNOWN)


def _fits_any(loads: Iterable[PodLoad], node: KubeObject) -> bool:
    labels = value_at(node, "metadata", "labels") or {}
    has = Requirements(requirements_of_labels(labels.items()))
    is_closed = value_at(node, "spec", "unschedulable") is True
    return not is_closed and any(
        _fits(load.spec, has, value_at(node, "spec", "taints"), frozenset()) for load in loads
    )


def _fits(spec: KubeObject, node: Requirements, taints: object, known: frozenset[str]) -> bool:
    """Return whether a pod may come to a node by its labels and taints. `known`: labels of any value."""
    kept = [
        Taint(taint["key"], taint.get("value") or "", taint["effect"])
        for taint in (taints if isinstance(taints, list) else ())
        if taint.get("effect") in _HARD
    ]
    tolerations = [
        Toleration(*(toleration.get(key) or other for key, other in _TOLERATION.items()))
        for toleration in spec.get("tolerations") or ()
    ]
    if untolerated(kept, tolerations):
        return False
    required = value_at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    declared: list[KubeObject] = value_at(required, "nodeSelectorTerms") or [{}]
    terms = [_requirements(term.get("matchExpressions")) for term in declared]
    selector = requirements_of_labels((spec.get("nodeSelector") or {}).items())
    return any(node.conflict(Requirements((*selector, *term)), known) is None for term in terms)


_TOLERATION: Mapping[str, str] = {"key": "", "operator": "Equal", "value": "", "effect": ""}


def _requirements(declared: object) -> tuple[Requirement, ...]:
    return tuple(
        requirement(
            str(expression["key"]), str(expression["operator"]), tuple(expression.get("values") or ())
        )
        for expression in (declared if isinstance(declared, list) else ())
    )


def _allocatable(node: KubeObject) -> Amounts:
    """Return what pods may have on a node; as a limit of a NodePool counts it, it is also one node."""
    return {**amounts(value_at(node, "status", "allocatable")), _NODES: quantity.NANO}
