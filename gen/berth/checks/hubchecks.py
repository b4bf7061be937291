"""Check what the values of a JupyterHub mean for placeholders: priorities, schedulers, people at once.

The findings are in the files of the values. docs/jupyterhub.md explains them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from berth.dates.expansion import Occurrence
from berth.dates.moments import local_text, named
from berth.findings import Path, Problem
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, HubFiles, ResourceClass

if TYPE_CHECKING:
    from berth.schema.z2jh import Hub, ProfileSession

NOT_PREEMPTED, SPAWN_LIMIT = "B262", "B265"
_STOCK = "default-scheduler"
_IGNORED_BELOW = -10  # the priority below which cluster-autoscaler adds no nodes for a pod


class ComparedHub(NamedTuple):
    """A JupyterHub of a cluster; `path` leads to it in the Site."""

    cluster: Cluster
    files: HubFiles
    path: Path
    hub: "Hub"


def counts_sessions_of(resource_class: ResourceClass, hub: ComparedHub) -> bool:
    """Tell whether the sessions of a class may be those of a hub of its cluster."""
    sessions, namespace = resource_class.sessions, hub.files.namespace
    if sessions is None or sessions.source != "jupyterhub":
        return False
    return not namespace or bool(sessions.namespace_labels) or namespace in sessions.namespace_names


def check_hub(
    hub: ComparedHub, pairs: "Sequence[tuple[ResourceClass, Sequence[ProfileSession]]]"
) -> Iterator[Problem]:
    """Check a hub against the classes that count its sessions."""
    yield from _user_placeholders(hub)
    yield from _priorities(hub)
    yield from _schedulers(hub, pairs)


# Priorities


def _user_placeholders(hub: ComparedHub) -> Iterator[Problem]:
    scheduling, ours = hub.hub.values.scheduling, hub.cluster.priority
    own, priorities = scheduling.user_placeholder, scheduling.pod_priority
    if not own.enabled or not own.replicas:
        return
    if not priorities.enabled:
        message = (
            f"the {own.replicas} user placeholders of the chart have the priority of sessions, because "
            "podPriority is not enabled: they preempt the placeholders of Berth, and sessions cannot preempt "
            "them."
        )
        fix = "Write scheduling.podPriority.enabled: true, or scheduling.userPlaceholder.replicas: 0."
        yield hub.hub.written.problem(
            NOT_PREEMPTED, ("scheduling", "userPlaceholder", "replicas"), message, fix
        )
        return
    placeholder_priority = priorities.user_placeholder_priority
    path = ("scheduling", "podPriority", "userPlaceholderPriority")
    if placeholder_priority >= priorities.default_priority:
        message = (
            f"the user placeholders of the chart have priority {placeholder_priority}, and sessions "
            f"{priorities.default_priority}: sessions cannot preempt them."
        )
        fix = "Write a userPlaceholderPriority below defaultPriority, such as -10."
        yield hub.hub.written.problem(NOT_PREEMPTED, path, message, fix)
    elif placeholder_priority > ours:
        message = (
            f"the user placeholders of the chart have priority {placeholder_priority}, and the placeholders "
            f"of Berth {ours}: they preempt them."
        )
        fix = f"Write userPlaceholderPriority: {ours}, or scheduling.userPlaceholder.replicas: 0."
        yield hub.hub.written.problem(NOT_PREEMPTED, path, message, fix)


def _priorities(hub: ComparedHub) -> Iterator[Problem]:
    own, ours = hub.hub.values.scheduling.pod_priority, hub.cluster.priority
    if not own.enabled:
        return
    reasons = []
    if own.default_priority <= ours:
        reasons.append(f"the placeholders of Berth have {ours}, so sessions cannot preempt them")
    if own.default_priority < _IGNORED_BELOW and hub.cluster.autoscaler != "karpenter":
        reasons.append(f"cluster-autoscaler adds no node for pods below {_IGNORED_BELOW}")
    if reasons:
        whose = "sessions"
        if own.global_default:
            whose = (
                "sessions, and with globalDefault the Jobs of Berth and all pods without a priority class,"
            )
        message = f"{whose} have priority {own.default_priority}: {', and '.join(reasons)}."
        fix = f"Write a defaultPriority above {max(ours, _IGNORED_BELOW)}, such as 0."
        yield hub.hub.written.problem(
            NOT_PREEMPTED, ("scheduling", "podPriority", "defaultPriority"), message, fix
        )
    if own.image_puller_priority <= ours:
        message = (
            f"image pullers have priority {own.image_puller_priority}, and the placeholders of Berth {ours}: "
            "on a node without room for one more pod, they cannot preempt a placeholder."
        )
        fix = f"Write an imagePullerPriority above {ours}, such as -5."
        yield hub.hub.written.problem(
            NOT_PREEMPTED, ("scheduling", "podPriority", "imagePullerPriority"), message, fix
        )


# Schedulers


def _schedulers(
    hub: ComparedHub, pairs: "Sequence[tuple[ResourceClass, Sequence[ProfileSession]]]"
) -> Iterator[Problem]:
    """Report classes whose placeholders are placed by another scheduler than their sessions."""
    from berth.schema.z2jh import SCHEDULER as ENDING  # noqa: PLC0415 - few sites have a hub

    has_own = hub.hub.values.scheduling.user_scheduler.enabled
    usual = hub.hub.user_scheduler or (f"RELEASE{ENDING}" if has_own else _STOCK)
    is_known = bool(hub.hub.user_scheduler) or not has_own
    differing: dict[tuple[str, str, Path], list[str]] = {}
    for resource_class, counted in pairs:
        ours = resource_class.pod.scheduler_name or _STOCK
        for session in counted:
            own = session.placement.get("schedulerName")
            scheduler = own or usual
            if ours == scheduler or (not own and not is_known and ours.endswith(ENDING)):
                continue
            path = session.path if own else ("scheduling", "userScheduler", "enabled")
            differing.setdefault((ours, scheduler, path), []).append(resource_class.name)
            break
    for (ours, scheduler, path), names in differing.items():
        which = f"class{'es' if len(names) > 1 else ''} {', '.join(names)}"
        if ours.endswith(ENDING) and not has_own:
            message = (
                f"the chart runs no scheduler, and placeholders of {which} name {ours}: they stay pending."
            )
            yield hub.hub.written.problem(
                NOT_PREEMPTED, path, message, "Remove schedulerName from the class."
            )
            continue
        message = (
            f"sessions are scheduled by {scheduler}, and placeholders of {which} by {ours}: neither of the "
            "two sees the room that the other is about to use."
        )
        fix = f"Write schedulerName: {scheduler} in the class."
        if scheduler == _STOCK:
            fix = "Remove schedulerName from the class."
        elif not is_known and scheduler == usual:
            fix = f"Write schedulerName: {scheduler} in the class, with the name of the Helm release."
        yield hub.hub.written.problem(NOT_PREEMPTED, path, message, fix)


# Arrivals


class HubArrivals:
    """Collect how many people each hub may expect at each start, then compare with its spawn limit."""

    def __init__(self, hubs: Sequence[ComparedHub]) -> None:
        self._hubs = hubs
        self._counts: list[Counter[int]] = [Counter() for _ in hubs]
        self._names: list[dict[int, dict[str, str]]] = [{} for _ in hubs]  # start: reservation: time zone

    def take(self, placed: Placed, occurrences: Sequence[Occurrence]) -> None:
        """Collect the starts of one part of a reservation."""
        reservation = placed.reservation
        if reservation.suspend or reservation.recurrence.type == "standing":
            return
        for i, hub in enumerate(self._hubs):
            if hub.cluster is not placed.cluster or not hub.hub.values.spawn_limit:
                continue
            names = {
                resource_class.name
                for resource_class in placed.classes
                if counts_sessions_of(resource_class, hub)
            }
            for occurrence in occurrences if names else ():
                count = sum(number for name, number in occurrence.seats if name in names)
                self._counts[i][occurrence.start] += count
                self._names[i].setdefault(occurrence.start, {})[reservation.name] = occurrence.zone

    def problems(self) -> Iterator[Problem]:
        """Report the start with the most people of each hub whose limit is lower."""
        for hub, counts, by_start in zip(self._hubs, self._counts, self._names, strict=True):
            values = hub.hub.values
            start, most = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
            if most <= values.spawn_limit:
                continue
            names = by_start[start]
            when = local_text(start, named(next(iter(names.values()))))
            message = (
                f"{most} people may come at the same time, at the start of {', '.join(sorted(names))} on "
                f"{when}, and the hub starts at most {values.spawn_limit} servers at a time: it turns the "
                "others away until these run."
            )
            fix = f"Write hub.concurrentSpawnLimit: {most}, if your API server stands it; 0 is no limit."
            yield hub.hub.written.problem(SPAWN_LIMIT, values.spawn_limit_path, message, fix)
