"""DOC"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gen import quantity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.kind import slotkeys
from gen.kind.backend import PRE_ALLOCATION
from gen.manifest import affinity, naming, owners
from gen.manifest.slot import placed as placed_on
from gen.model import Cluster, Koordinator, Reservation, ResourceClass, Site, Slots
from gen.placed import Placed, class_names, cluster_of, has_placeholders, placed

ABSENT, NO_OWNERS, POLICY, ANYWHERE = "B100", "B101", "B105", "B111"
SHARED, REFUSED_PODS, HOW, HOLDS_NOTHING = "B117", "B118", "B119", "B121"
CONFLICT, IDLE_KEY = "B016", "B029"
_BACKEND: Path = ("spec", "backend")
_QOS = "koordinator.sh/qosClass"


def of_reservation(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    slots, places = reservation.slots, placed(reservation, declared, site)
    if has_placeholders(reservation):
        for one in places:
            yield from _placeholders(one)
    if slots is None:
        return
    for one in places:
        if one.cluster.koordinator is None:
            message = f"cluster {one.cluster.name} has no Koordinator."
            fix = "Add koordinator: {} to the cluster in the Site, or write type: placeholder."
            yield _problem(reservation, ABSENT, ("type",), message, fix)
        else:
            yield from _policy(reservation, slots, one.cluster, one.cluster.koordinator)
    classes = [found for one in places for found in one.classes]
    for found in classes:
        yield from _class(reservation, slots, found)
    yield from _resources(reservation, slots, classes)
    for one in places:
        yield from _owners(reservation, slots, one.classes)
    if slots.session_affinity:
        yield from (_affinity_notice(site, one) for one in places if one.cluster.koordinator is not None)


def _placeholders(one: Placed) -> Iterator[Problem]:
    """Whether they pass Koordinator's webhook for pods: their priority is below 0, which is in no band."""
    for found in one.classes if one.cluster.koordinator else ():
        qos = dict(found.pod_labels).get(_QOS)
        if qos in ("BE", "LSR"):
            message = (
                f"Koordinator in cluster {one.cluster.name} refuses pods of {_QOS} {qos} with priority "
                f"{one.cluster.priority}: no placeholder could be made."
            )
            path = ("spec", "podLabels", _QOS)
            yield Problem(REFUSED_PODS, *found.origin[:2], path, message, "Remove the label.")


def _problem(reservation: Reservation, code: str, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, *reservation.origin[:2], (*_BACKEND, *path), message, fix)


def _policy(
    reservation: Reservation, slots: Slots, cluster: Cluster, koordinator: Koordinator
) -> Iterator[Problem]:
    said, theirs = slots.allocate_policy, koordinator.allocate_policy
    if said is not None and said != theirs:
        message = f"allocatePolicy {said} is not that of cluster {cluster.name}, {theirs}."
        fix = f"Write {theirs}, or leave it out; or change koordinator.allocatePolicy in the Site."
        yield _problem(reservation, POLICY, ("allocatePolicy",), message, fix)
    elif said is None and theirs != "Restricted" and slots.pre_allocation:
        why = "withPlaceholders" if slots.with_placeholders else "preAllocation"
        message = f"{why} needs allocatePolicy Restricted; cluster {cluster.name} has {theirs}."
        fix = f"Remove {why}, or change koordinator.allocatePolicy in the Site."
        yield _problem(reservation, PRE_ALLOCATION, (why,), message, fix)
    if slots.restricted_resources and (said or theirs) != "Restricted":
        message = f"only allocatePolicy Restricted looks at them; cluster {cluster.name} has {theirs}."
        yield _problem(reservation, IDLE_KEY, ("restrictedResources",), message, "Remove it.")


def _class(reservation: Reservation, slots: Slots, found: ResourceClass) -> Iterator[Problem]:
    spec = slots.template["spec"]
    for key, value in spec.get("nodeSelector", {}).items():
        other = found.pod.get("nodeSelector", {}).get(key, value)
        if other != value:
            message = (
                f"class {found.name} says {key}={other}: its sessions never run where the slots would be."
            )
            path = ("template", "nodeSelector", key)
            yield _problem(reservation, CONFLICT, path, message, "Remove it.")
    if "namespace" not in slots.template["metadata"]:
        where = _in_its_namespace(placed_on(found.pod, spec))
        if where:
            message = (
                f"{where} of class {found.name} is about pods of its own namespace; a slot's is default."
            )
            fix = "Add template.metadata.namespace: where those pods are, or namespaces to the terms."
            yield _problem(reservation, ANYWHERE, (), message, fix)
    amounts = (*dict(found.requests).values(), *spec.get("overhead", {}).values())
    if not any(quantity.parse(str(amount)) for amount in amounts):
        message = f"class {found.name} requests nothing: a slot would hold no room for a session."
        fix = "Write what a session requests."
        yield Problem(HOLDS_NOTHING, *found.origin[:2], ("spec", "requests"), message, fix)
    for key, _ in found.pod_labels:
        if slotkeys.is_foreign(key):
            message = f"podLabels go on slots too, and {key} makes something else of a slot."
            path = ("spec", "podLabels", key)
            fix = f"Remove it, or give reservation {reservation.name} a class of its own."
            yield Problem(slotkeys.FOREIGN, *found.origin[:2], path, message, fix, at_key=True)
        elif key == slotkeys.CHARGED:
            message = (
                f"podLabels go on slots too: {key} charges a slot to a quota, and the session that takes it "
                "once more."
            )
            fix = (
                f"Give reservation {reservation.name} a class without it, unless the quota has room for both."
            )
            path = ("spec", "podLabels", key)
            yield Problem(slotkeys.QUOTA, *found.origin[:2], path, message, fix, at_key=True)


def _resources(reservation: Reservation, slots: Slots, classes: list[ResourceClass]) -> Iterator[Problem]:
    held = {name for found in classes for name, _ in found.requests} | set(
        slots.template["spec"].get("overhead", ())
    )
    for i, name in enumerate(slots.restricted_resources):
        if held and name not in held:
            message = f"no class of this reservation requests {name}: a slot holds none of it."
            yield _problem(reservation, IDLE_KEY, ("restrictedResources", i), message, "Remove it.")


def _in_its_namespace(pod: dict[str, Any]) -> str:
    """The first part of a pod's placement that asks about pods of the pod's own namespace."""
    affinity = pod.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        for name, terms in affinity.get(kind, {}).items():
            plain = [one["podAffinityTerm"] for one in terms] if name.startswith("preferred") else terms
            if any(not one.get("namespaces") and "namespaceSelector" not in one for one in plain):
                return kind
    spreads = pod.get("topologySpreadConstraints", ())
    return "topologySpreadConstraints" if any("labelSelector" in one for one in spreads) else ""


def _owners(reservation: Reservation, slots: Slots, classes: Sequence[ResourceClass]) -> Iterator[Problem]:
    """Whether each slot has somebody who may take it, and whether that is its own class's sessions."""
    if not slots.owners:
        for found in classes:
            why = owners.hindrance(reservation, found)
            if why:
                message = f"owners are missing, and class {found.name} does not say them: {why}."
                fix = "Add backend.owners: labels (and namespace) of the pods that may take a seat."
                yield _problem(reservation, NO_OWNERS, (), message, fix)
    theirs = [slots.owners or owners.of_sessions(reservation, found) for found in classes]
    for i, found in enumerate(classes):
        same = [other for other, who in zip(classes[:i], theirs, strict=False) if who and who == theirs[i]]
        if same:
            message = f"the same pods may take the seats of class {same[0].name} and of class {found.name}."
            fix = "Write a reservation for each class, with its own owners."
            yield _problem(reservation, SHARED, ("owners",) if slots.owners else (), message, fix)
            return


def _affinity_notice(site: Site, one: Placed) -> Problem:
    """How session pods come to require their slots; with more sessions than slots, the last ones wait."""
    name, cluster = one.reservation.name, one.cluster
    if affinity.is_by_profile(site, one):
        message = (
            f"cluster {cluster.name}: a ClusterColocationProfile makes session pods require their slots, but "
            "for those that come while Koordinator's webhook is away."
        )
    else:
        message = (
            f"cluster {cluster.name}: session pods require their slots once they have what stands in the "
            f"ConfigMap {naming.affinity_snippet(name)}."
        )
    fix = "Sessions beyond the slots then wait: have as many slots as sessions."
    return _problem(one.reservation, HOW, ("sessionAffinity",), message, fix)


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
    koordinator, theirs = one.cluster.koordinator, found.pod.get("schedulerName")
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
    overhead, requests = slots.template.get("spec", {}).get("overhead", {}), dict(found.requests)
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


def limits_of_reservation(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
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
