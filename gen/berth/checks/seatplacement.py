"""Check that seats can be placed: size and volumes, room for Berth's own Jobs, devices that are claimed.

On a full cluster the pod of an occurrence preempts a placeholder, but only on a node that it may run on:
without the tolerations of the class it stays pending. kube-scheduler, up to 1.36, preempts no pod for
devices: a session gets those of a placeholder that is removed because sessions are counted. Karpenter 1.15
skips pods with claims by default.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from berth.checks.project import CheckedReservation, Project
from berth.dates.exceptions import entry_path
from berth.findings import Path, Problem
from berth.machines.nodelabels import ARCH, OS
from berth.machines.versions import version_text
from berth.quantity import parse
from berth.schema import grammar
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass

if TYPE_CHECKING:
    from berth.schema.scheduling import PodToleration


def check_seats_fit_on_nodes(project: Project) -> Iterator[Problem]:
    """Check that a seat fits on the largest node of its cluster; otherwise it stays pending."""
    for resource_class, cluster in project.homes:
        for name, most in cluster.largest_node.items():
            asked = resource_class.requests.get(name)
            if asked is not None and nanos(asked) > nanos(most):
                yield resource_class.origin.problem(
                    "B143", ("spec", "requests", name), *too_large(asked, name, most)
                )


def check_seats_request_something(project: Project) -> Iterator[Problem]:
    """Check that a seat requests something: any number of others would fit on one node.

    Where all seats of a class may hold something else, their backend asks for it.
    """
    classes = project.declared.classes.values()
    empty = [seat for seat in classes if not any(map(nanos, seat.requests.values()))]
    excused: dict[str, bool] = {}
    for one, *_ in project.parts if empty else ():
        for seat in one.classes:
            excused[seat.name] = excused.get(seat.name, True) and not one.reservation.holder.needs_requests
    for seat in empty:
        if not excused.get(seat.name, False):
            message = "the requests are 0: a seat holds nothing, so any number of them fits on one node."
            yield seat.origin.problem(
                "B022", ("spec", "requests"), message, "Write what one session requests."
            )


def too_large(asked: str, name: str, most: str) -> tuple[str, str]:
    message = f"{asked} of {name} does not fit on any node: the largest has {most} for pods."
    return message, "Request less, or correct largestNode of the cluster in the Site."


def nanos(amount: str) -> int:
    return parse(amount) or 0


def check_volume_capacities(project: Project) -> Iterator[Problem]:
    """Check that somebody says how many volumes a node takes, where sessions attach some.

    Placeholders attach none, so an autoscaler may put more seats on a node than it takes sessions with
    volumes.
    """
    declared = project.declared
    for resource_class in declared.classes.values():
        if not resource_class.volumes:
            continue
        named = [declared.capacities.get(name) for name in resource_class.cloud_capacity]
        lacking = [capacity.name for capacity in named if capacity is not None and not capacity.says_volumes]
        if lacking or not named:
            where = f"CloudCapacity {', '.join(lacking)}" if lacking else "no CloudCapacity"
            verb = "does not say" if lacking else "says"
            message = f"{where} {verb} how many volumes a node takes: those of sessions are not counted."
            fix = "Add volumes to its nodes, or volumesPerNode: kubectl get csinode -o yaml shows the number."
            if not lacking:
                fix = "Add cloudCapacity to the class, or remove volumes."
            yield resource_class.origin.problem("B285", ("spec", "volumes"), message, fix)


_CONDITIONS = "node.kubernetes.io/"  # taints that come and go with the state of a node
_COMMON = (OS, ARCH)  # labels that choose no group of nodes


def check_job_placement(project: Project) -> Iterator[Problem]:
    """Check each class, unless the site sends its Jobs to other nodes."""
    for resource_class, cluster in project.homes:
        asked, chosen = resource_class.pod.node_selector or {}, cluster.runtime.node_selector or {}
        if any(key not in _COMMON and asked.get(key) != value for key, value in chosen.items()):
            continue  # the site sends its Jobs to nodes that the class does not select
        ours = cluster.runtime.tolerations or ()
        closed = [
            (i, toleration)
            for i, toleration in enumerate(resource_class.pod.tolerations or ())
            if names_a_taint(toleration)
            and not any(may_match_same_taint(toleration, other) for other in ours)
        ]
        if closed:
            taints = ", ".join(taint_text(toleration) for _, toleration in closed)
            message = (
                f"Berth's Jobs do not tolerate {taints}: while cluster {cluster.name} is full, they cannot "
                "preempt a placeholder of this class."
            )
            fix = (
                f"Add {'them' if len(closed) > 1 else 'it'} to the site's runtime.tolerations, or select "
                "nodes for Jobs by runtime.nodeSelector; if those have capacity, annotate berth.dev/ignore: "
                '"B033: <reason>".'
            )
            path = ("spec", "tolerations", closed[0][0])
            yield resource_class.origin.problem("B033", path, message, fix)


def names_a_taint(one: "PodToleration") -> bool:
    """Tell whether a toleration implies a permanent taint that keeps pods away.

    One that tolerates every taint implies none.
    """
    key = one.key or ""
    lasts = one.toleration_seconds is None and not key.startswith(_CONDITIONS)
    return key != "" and lasts and one.effect != "PreferNoSchedule"


def may_match_same_taint(one: "PodToleration", other: "PodToleration") -> bool:
    """Tell whether both may tolerate the same taint. As the nodes are not known, assume so if in doubt."""
    if other.key is None:
        same_key = same_value = True
    else:
        same_key = one.key == other.key
        values = {toleration.value or "" for toleration in (one, other) if toleration.operator != "Exists"}
        same_value = len(values) < 2
    effects = {toleration.effect for toleration in (one, other) if toleration.effect}
    return same_key and same_value and len(effects) < 2


def taint_text(one: "PodToleration") -> str:
    """Format a taint as `kubectl taint` does."""
    value = f"={one.value}" if one.value else ""
    effect = f":{one.effect}" if one.effect else ""
    return f"{one.key}{value}{effect}"


SINCE = (1, 34)  # Kubernetes that has resource.k8s.io/v1
_CLAIMS: Path = ("spec", "resourceClaims")


def check_device_claims(project: Project) -> Iterator[Problem]:
    """Check each class that claims devices, and its cluster."""
    for resource_class in project.declared.classes.values():
        if resource_class.resource_claims:
            yield from _requested_devices(resource_class)
    for resource_class, cluster in project.homes:
        if resource_class.resource_claims:
            yield from _claims_in_cluster(resource_class, cluster)


def _requested_devices(found: ResourceClass) -> Iterator[Problem]:
    for name, amount in found.requests.items():
        is_device = name not in grammar.SHARED and not grammar.page_size(name)
        if is_device and parse(amount):
            message = f"a seat requests {name}, and claims devices besides: it takes both."
            fix = "Remove one of the two if they mean the same devices."
            yield found.origin.problem("B314", ("spec", "requests", name), message, fix, at_key=True)


def _claims_in_cluster(found: ResourceClass, cluster: Cluster) -> Iterator[Problem]:
    if cluster.kubernetes is None or cluster.kubernetes < SINCE:
        least = version_text(SINCE)
        message = f"nothing says which Kubernetes cluster {cluster.name} has: claims need {least} or later."
        fix = f'Write kubernetes: "{least}", or its later version, for the cluster in the Site.'
        if cluster.kubernetes is not None:
            version = version_text(cluster.kubernetes)
            message = f"Kubernetes {version} of cluster {cluster.name} has no resource.k8s.io/v1."
            fix = f"Use Kubernetes {least} or later, or request devices of a device plugin in requests."
        yield found.origin.problem("B283", _CLAIMS, message, fix, at_key=True)
    if cluster.autoscaler == "karpenter":
        message = f"Karpenter in cluster {cluster.name} adds no nodes for pods with claims by default."
        fix = "Keep enough nodes with devices; or set IGNORE_DRA_REQUESTS=false, and ignore this finding."
        yield found.origin.problem("B140", _CLAIMS, message, fix, at_key=True)


def check_claims_are_held(checked: CheckedReservation) -> Iterator[Problem]:
    """Check that the backend of a reservation holds the devices of its seats until sessions need them."""
    reservation = checked.reservation
    for place in checked.places:
        for resource_class in place.classes:
            if not resource_class.resource_claims:
                continue
            path = _lasting(reservation, resource_class)
            if not reservation.holder.claims_devices:
                message = (
                    f"backend {reservation.holder.backend} does not hold the devices that class "
                    f"{resource_class.name} claims."
                )
                fix = "Write type: placeholder, or choose a class without resourceClaims."
                yield reservation.problem("B311", ("spec", "backend"), message, fix)
            elif path is not None:
                message = (
                    f"placeholders of class {resource_class.name} keep their devices until the end, and "
                    "sessions cannot preempt them for devices."
                )
                fix = "Write scaleDownBehavior: maintain, with which each session removes a placeholder."
                yield reservation.problem("B312", path, message, fix)


def _lasting(reservation: Reservation, found: ResourceClass) -> Path | None:
    """Return where behavior `none` is declared for a class; None where its placeholders follow sessions."""
    for i, name, scaling in reservation.scalings():
        if name == found.name and scaling.behavior == "none":
            is_usual = reservation.behavior == "none"
            return ("spec", "provisioning") if is_usual else entry_path(i, reservation.recurrence)
    return None
