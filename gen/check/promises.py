"""What Koordinator cannot promise of slots, as far as git knows: nodes that are not there yet, sessions that
another scheduler places, and more slots than a node takes pods.
"""

from collections.abc import Iterator

from gen.declared import Declared
from gen.finding import Path, Problem
from gen.model import Cluster, Reservation, ResourceClass, Site, Slots
from gen.placed import class_names, cluster_of

NO_NODES, UNSEEN, ONE_NODE = "B140", "B141", "B142"
MOST_PODS = 110  # of a node, unless its kubelet is told otherwise
_HOSTNAME = "kubernetes.io/hostname"


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Whether the sessions of a class are placed by the scheduler that knows slots: one warning a class, if
    any reservation holds slots for it.
    """
    told = set[str]()
    for reservation in declared.reservations:
        slots = reservation.slots
        for name in class_names(reservation) if slots else ():
            found = declared.classes.get(name)
            cluster = cluster_of(found, site) if found else None
            if slots and found and cluster and name not in told:
                problem = _unseen(reservation.name, slots, found, cluster)
                if problem:
                    told.add(name)
                    yield problem


def _unseen(reservation: str, slots: Slots, found: ResourceClass, cluster: Cluster) -> Problem | None:
    koordinator, theirs = cluster.koordinator, found.pod.get("schedulerName")
    if koordinator is None or theirs == koordinator.scheduler:
        return None
    if slots.session_affinity and koordinator.colocation_profiles:
        return None  # the profile sends them there
    who = (
        f"its sessions are placed by {theirs}"
        if theirs
        else "it does not say which scheduler places its sessions"
    )
    message = f"{who}: only {koordinator.scheduler} knows the slots of reservation {reservation}."
    fix = (
        f"Write schedulerName: {koordinator.scheduler}, if its sessions have it; or, where Koordinator may "
        "change pods (koordinator.colocationProfiles), sessionAffinity: true in the reservation."
    )
    path: Path = ("spec", "schedulerName") if theirs else ("spec",)
    return Problem(UNSEEN, *found.origin[:2], path, message, fix)


def of_reservation(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    slots = reservation.slots
    if slots is None:
        return
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    clusters = {one.name: one for found in classes if (one := cluster_of(found, site)) and one.koordinator}
    for cluster in clusters.values():
        if cluster.autoscaler != "none" and not slots.with_placeholders:
            yield _no_nodes(reservation, slots, cluster)
    for found in classes:
        yield from _one_node(reservation, slots, found)


def _no_nodes(reservation: Reservation, slots: Slots, cluster: Cluster) -> Problem:
    """Autoscalers see pods alone: a slot that waits adds no node, and one that is free keeps none."""
    message = (
        f"{cluster.autoscaler} in cluster {cluster.name} does not see slots: it adds no node for one that "
        "waits, and takes away a node that has nothing else."
    )
    fix = "Write withPlaceholders: true: placeholders come first and make it add nodes."
    if slots.standing:
        fix = (
            "Keep nodes for them (a node group of a fixed size), and annotate berth.dev/ignore with the "
            "reason."
        )
    return _problem(reservation, NO_NODES, (), message, fix)


def _one_node(reservation: Reservation, slots: Slots, found: ResourceClass) -> Iterator[Problem]:
    """Each slot is a pod to the scheduler, with one of the places that a node has for pods."""
    spec = slots.template.get("spec", {})
    selected = {**found.pod.get("nodeSelector", {}), **spec.get("nodeSelector", {})}
    node = spec.get("nodeName") or selected.get(_HOSTNAME)
    recurrence = reservation.recurrence
    counts = [reservation.seats, *(one.seats for one in recurrence.schedule)]
    counts += [one.seats for one in recurrence.extras]
    most = max(dict(each).get(found.name, 0) for each in counts)
    if node and most > MOST_PODS:
        message = (
            f"{most} slots of class {found.name} are to be on node {node}: each takes the place of a pod, "
            f"and a node has {MOST_PODS} unless its kubelet says otherwise."
        )
        fix = "Spread them over several nodes, or make sure of the kubelet's maxPods."
        yield _problem(reservation, ONE_NODE, ("template",) if spec else (), message, fix)


def _problem(reservation: Reservation, code: str, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, *reservation.origin[:2], ("spec", "backend", *path), message, fix)
