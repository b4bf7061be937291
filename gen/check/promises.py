"""What Koordinator cannot promise of slots, as far as git knows: nodes that are not there yet, sessions that
another scheduler places, more slots than a node takes pods, and seats that are larger than a node.
"""

import json
from collections.abc import Iterator

from gen import quantity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.manifest import affinity, naming
from gen.model import Cluster, Reservation, ResourceClass, Site, Slots
from gen.placed import Placed, class_names, cluster_of, placed

NO_NODES, UNSEEN, ONE_NODE, TWO_POOLS, TOO_LARGE = "B140", "B141", "B142", "B120", "B143"
MOST_PODS = 110  # of a node, unless its kubelet is told otherwise
_HOSTNAME = "kubernetes.io/hostname"


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Whether the sessions of a class are placed by the scheduler that knows slots: one warning a class, if
    any reservation holds slots for it.
    """
    told = set[str]()
    for reservation in declared.reservations:
        for one in placed(reservation, declared, site) if reservation.slots else ():
            for found in one.classes:
                problem = _unseen(site, one, found) if found.name not in told else None
                if problem:
                    told.add(found.name)
                    yield problem


def _unseen(site: Site, one: Placed, found: ResourceClass) -> Problem | None:
    koordinator, theirs = one.cluster.koordinator, found.pod.scheduler_name
    if koordinator is None or theirs == koordinator.scheduler:
        return None
    slots = one.reservation.slots
    if slots and slots.session_affinity and affinity.is_by_profile(site, one):
        return None  # the profile sends them there
    who = (
        f"its sessions are placed by {theirs}"
        if theirs
        else "it does not say which scheduler places its sessions"
    )
    message = f"{who}: only {koordinator.scheduler} knows the slots of reservation {one.reservation.name}."
    fix = f"Write schedulerName: {koordinator.scheduler}, if its sessions have it"
    if slots and slots.session_affinity:
        fix += f": ConfigMap {naming.affinity_snippet(one.reservation.name)} has what gives it to them."
    else:
        fix += (
            "; or, where Koordinator may change pods (koordinator.colocationProfiles), sessionAffinity: true "
            "in the reservation."
        )
    path: Path = ("spec", "schedulerName") if theirs else ("spec",)
    return Problem(UNSEEN, *found.origin[:2], path, message, fix)


def of_sizes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Whether a seat fits on the largest node of its cluster: one that does not waits for ever."""
    for found in declared.classes.values():
        cluster = cluster_of(found, site)
        for name, most in cluster.largest_node if cluster else ():
            asked = dict(found.requests).get(name)
            if asked is not None and _nanos(asked) > _nanos(most):
                yield Problem(
                    TOO_LARGE, *found.origin[:2], ("spec", "requests", name), *_larger(asked, name, most)
                )


def _slot_size(
    reservation: Reservation, slots: Slots, one: Placed, found: ResourceClass
) -> Iterator[Problem]:
    """What a slot holds beside a seat that fits."""
    overhead, requests = slots.template.overhead or {}, dict(found.requests)
    for name, most in one.cluster.largest_node if overhead else ():
        seat, more = requests.get(name, "0"), str(overhead.get(name, "0"))
        if _nanos(seat) <= _nanos(most) < _nanos(seat) + _nanos(more):
            yield _problem(
                reservation,
                TOO_LARGE,
                ("template", "overhead", name),
                *_larger(f"{seat} + {more}", name, most),
            )


def _larger(asked: str, name: str, most: str) -> tuple[str, str]:
    message = f"{asked} of {name} fits on no node: the largest has {most} for pods."
    return message, "Ask for less, or correct largestNode of the cluster in the Site."


def _nanos(amount: str) -> int:
    return quantity.parse(amount) or 0


def of_profiles(declared: Declared, site: Site) -> Iterator[Problem]:
    """Whether the webhook leads the same pods to two pools. There is one annotation for it, so they would
    require the slots of one, also while only the other is open.
    """
    known: dict[tuple[str, str], list[tuple[frozenset[str], str, ResourceClass]]] = {}
    for reservation in declared.reservations:
        if reservation.slots is None or not reservation.slots.session_affinity:
            continue
        for one in placed(reservation, declared, site):
            for found in one.classes if affinity.is_by_profile(site, one) else ():
                for profile in affinity.profiles(site, one, found) or ():
                    key = one.cluster.name, json.dumps(profile.selector, sort_keys=True)
                    here, others = frozenset(profile.namespaces), known.setdefault(key, [])
                    met = next(
                        (other for other in others if not here or not other[0] or here & other[0]), None
                    )
                    if met:
                        yield _two_pools(reservation, found, met[1], met[2])
                    others.append((here, reservation.name, found))


def _two_pools(reservation: Reservation, found: ResourceClass, other: str, theirs: ResourceClass) -> Problem:
    message = (
        f"the same pods would be led to the slots of class {found.name} and to those of class {theirs.name} "
        f"of reservation {other}: each requires the slots of one alone, and waits while only the other has "
        "some."
    )
    fix = "Give each owners of its own (a label that only its sessions have), or remove one sessionAffinity."
    return _problem(reservation, TWO_POOLS, ("sessionAffinity",), message, fix)


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
    for part in placed(reservation, declared, site):
        for found in part.classes:
            yield from _slot_size(reservation, slots, part, found)


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
    spec = slots.template.spec()
    selected = {**(found.pod.node_selector or {}), **spec.get("nodeSelector", {})}
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
