"""Check what the values of a JupyterHub mean for placeholders: priorities, schedulers, people at once.

The findings are in the files of the values. docs/jupyterhub.md explains them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from berth.checks.project import ComparedHub, Project
from berth.dates.moments import local_text, named
from berth.findings import Path, Problem
from berth.schema.values import ResourceClass

if TYPE_CHECKING:
    from berth.schema.z2jh import ProfileSession

_STOCK = "default-scheduler"
_IGNORED_BELOW = -10  # the priority below which cluster-autoscaler adds no nodes for a pod


def counts_sessions_of(resource_class: ResourceClass, hub: ComparedHub) -> bool:
    """Tell whether the sessions of a class may be those of a hub of its cluster."""
    sessions, namespace = resource_class.sessions, hub.files.namespace
    if sessions is None or sessions.source != "jupyterhub":
        return False
    return not namespace or bool(sessions.namespace_labels) or namespace in sessions.namespace_names


def check_priorities(hub: ComparedHub) -> Iterator[Problem]:
    """Check that sessions and image pullers preempt the placeholders, and user placeholders do not."""
    scheduling, ours = hub.hub.values.scheduling, hub.cluster.priority
    own, users = scheduling.pod_priority, scheduling.user_placeholder
    priorities: Path = ("scheduling", "podPriority")
    low = _IGNORED_BELOW - 1 if hub.cluster.autoscaler != "karpenter" else ours
    if own.enabled and own.default_priority <= max(ours, low):
        whose = "sessions and all pods without a priority class" if own.global_default else "sessions"
        message = (
            f"{whose} have priority {own.default_priority}: they must preempt the placeholders of Berth, "
            f"which have {ours}, and cluster-autoscaler adds no node for pods below {_IGNORED_BELOW}."
        )
        fix = f"Write a defaultPriority above {max(ours, _IGNORED_BELOW)}, such as 0."
        yield hub.hub.written.problem("B262", (*priorities, "defaultPriority"), message, fix)
    if own.enabled and own.image_puller_priority <= ours:
        message = (
            f"image pullers have priority {own.image_puller_priority}, and the placeholders of Berth {ours}: "
            "on a node without room for one more pod, they cannot preempt a placeholder."
        )
        fix = f"Write an imagePullerPriority above {ours}, such as -5."
        yield hub.hub.written.problem("B262", (*priorities, "imagePullerPriority"), message, fix)
    theirs, sessions = (own.user_placeholder_priority, own.default_priority) if own.enabled else (0, 0)
    if users.enabled and users.replicas and (theirs >= sessions or theirs > ours):
        message = (
            f"the {users.replicas} user placeholders of the chart have priority {theirs}, sessions "
            f"{sessions}, and the placeholders of Berth {ours}: user placeholders must be "
            "below sessions, and not above the placeholders."
        )
        path = (*priorities, "userPlaceholderPriority")
        path = path if own.enabled else ("scheduling", "userPlaceholder", "replicas")
        enable = "" if own.enabled else "podPriority.enabled: true and "
        fix = f"Write {enable}userPlaceholderPriority: {ours}, or scheduling.userPlaceholder.replicas: 0."
        yield hub.hub.written.problem("B262", path, message, fix)


def check_schedulers(
    hub: ComparedHub, pairs: "Sequence[tuple[ResourceClass, Sequence[ProfileSession]]]"
) -> Iterator[Problem]:
    """Report classes whose placeholders are placed by another scheduler than their sessions."""
    from berth.schema.z2jh import SCHEDULER as ENDING  # noqa: PLC0415 - few sites have a hub

    usual = hub.hub.user_scheduler or _STOCK
    is_unknown = hub.hub.values.scheduling.user_scheduler.enabled and usual == _STOCK
    for resource_class, counted in pairs:
        ours = resource_class.pod.scheduler_name or _STOCK
        for session in counted:
            own = session.placement.get("schedulerName")
            if ours == (own or usual) and (own or not is_unknown):
                continue
            if not own and is_unknown and ours.endswith(ENDING):
                continue
            theirs = own or (f"RELEASE{ENDING}" if is_unknown else usual)
            path = session.path if own else ("scheduling", "userScheduler", "enabled")
            message = (
                f"{session.phrase} are scheduled by {theirs}, and placeholders of class "
                f"{resource_class.name} by {ours}: neither of the two sees the room that the other is "
                "about to use."
            )
            fix = f"Write schedulerName: {theirs} in the class."
            if theirs == _STOCK:
                fix = "Remove schedulerName from the class."
            yield hub.hub.written.problem("B262", path, message, fix)
            break


def check_arrivals(project: Project) -> Iterator[Problem]:
    """Compare how many people each hub may expect at one start with its spawn limit.

    Nobody comes to a rehearsal.
    """
    for hub in project.hubs:
        limit, path = hub.hub.values.spawn_limit
        counts: Counter[int] = Counter()
        by_start: dict[int, dict[str, str]] = {}  # the time zone of each reservation
        for placed, occurrences, *_ in project.parts:
            reservation = placed.reservation
            is_idle = reservation.suspend or reservation.recurrence.type == "standing"
            if is_idle or reservation.spec.rehearses or hub.cluster is not placed.cluster:
                continue
            names = {one.name for one in placed.classes if counts_sessions_of(one, hub)}
            for occurrence in occurrences if names else ():
                counts[occurrence.start] += sum(n for name, n in occurrence.seats if name in names)
                by_start.setdefault(occurrence.start, {})[reservation.name] = occurrence.zone
        start, most = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if not limit or most <= limit:
            continue
        zones = by_start[start]
        when = local_text(start, named(next(iter(zones.values()))))
        message = (
            f"{most} people may come at the same time, at the start of {', '.join(sorted(zones))} on "
            f"{when}, and the hub starts at most {limit} servers at a time: it turns the others away "
            "until these run."
        )
        fix = f"Write hub.concurrentSpawnLimit: {most}, if your API server can take it; 0 is no limit."
        yield hub.hub.written.problem("B265", path, message, fix)
