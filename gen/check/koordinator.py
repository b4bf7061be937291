"""Slots that Koordinator would not hold as they are meant: what needs a look at class and cluster too."""

from collections.abc import Iterator
from typing import Any

from gen.declared import Declared
from gen.finding import Path, Problem
from gen.kind import slotkeys
from gen.kind.backend import PRE_ALLOCATION
from gen.manifest import naming, owners
from gen.model import Cluster, Koordinator, Reservation, ResourceClass, Site, Slots
from gen.placed import class_names, cluster_of

ABSENT, NO_OWNERS, POLICY, ANYWHERE = "B100", "B101", "B105", "B111"
SHARED, REFUSED_PODS, HOW, NOT_ALL = "B117", "B118", "B119", "B120"
CONFLICT, IDLE_KEY = "B016", "B029"
_BACKEND: Path = ("spec", "backend")
_QOS = "koordinator.sh/qosClass"
_AFFINITY = "scheduling.koordinator.sh/reservation-affinity"


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Whether placeholders of a class pass Koordinator's webhook for pods: their priority is below 0, which is
    in none of its bands.
    """
    for found in declared.classes.values():
        cluster = cluster_of(found, site)
        qos = dict(found.pod_labels).get(_QOS)
        if cluster is not None and cluster.koordinator is not None and qos in ("BE", "LSR"):
            message = (
                f"Koordinator in cluster {cluster.name} refuses pods of {_QOS} {qos} with priority "
                f"{cluster.priority}: no placeholder could be made."
            )
            path = ("spec", "podLabels", _QOS)
            yield Problem(REFUSED_PODS, *found.origin[:2], path, message, "Remove the label.")


def of_reservation(reservation: Reservation, declared: Declared, site: Site) -> Iterator[Problem]:
    slots = reservation.slots
    if slots is None:
        return
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    clusters = {one.name: one for found in classes if (one := cluster_of(found, site))}
    for cluster in clusters.values():
        if cluster.koordinator is None:
            message = f"cluster {cluster.name} has no Koordinator."
            fix = "Add koordinator: {} to the cluster in the Site, or write type: placeholder."
            yield _problem(reservation, ABSENT, ("type",), message, fix)
        else:
            yield from _policy(reservation, slots, cluster, cluster.koordinator)
    for found in classes:
        yield from _class(reservation, slots, found)
    yield from _owners(reservation, slots, classes)
    yield from _affinity(reservation, slots, [one for one in clusters.values() if one.koordinator])


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
            message = f"class {found.name} says {key}={other}: its sessions never run where the slots would be."
            path = ("template", "nodeSelector", key)
            yield _problem(reservation, CONFLICT, path, message, "Remove it.")
    if "namespace" not in slots.template["metadata"]:
        where = _in_its_namespace({**found.pod, **spec})
        if where:
            message = f"{where} of class {found.name} looks into namespace default: a slot is in none of its own."
            fix = "Add template.metadata.namespace: where its pods are, or namespaces to the terms."
            yield _problem(reservation, ANYWHERE, (), message, fix)
    for key, _ in found.pod_labels:
        if slotkeys.is_foreign(key) and key not in slots.template["metadata"].get("labels", {}):
            message = f"podLabels go on slots too, and {key} makes something else of a slot."
            path = ("spec", "podLabels", key)
            fix = f"Remove it, or give reservation {reservation.name} a class of its own."
            yield Problem(slotkeys.FOREIGN, *found.origin[:2], path, message, fix, at_key=True)


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


def _owners(reservation: Reservation, slots: Slots, classes: list[ResourceClass]) -> Iterator[Problem]:
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


def _affinity(reservation: Reservation, slots: Slots, clusters: list[Cluster]) -> Iterator[Problem]:
    """How session pods come to require their slots; with more sessions than slots, the last ones wait."""
    if not slots.session_affinity:
        return
    path = ("sessionAffinity",)
    for cluster in clusters:
        profiles = cluster.koordinator is not None and cluster.koordinator.colocation_profiles
        if profiles:
            message = (
                f"in cluster {cluster.name} a ClusterColocationProfile puts the annotation {_AFFINITY} on "
                "session pods."
            )
        else:
            name = naming.fit(f"{reservation.name}-session-affinity")
            message = (
                f"in cluster {cluster.name} put the annotation {_AFFINITY} on session pods yourself: the "
                f"ConfigMap {name} has it."
            )
        fix = "A session without a free slot waits then."
        yield _problem(reservation, HOW, path, message, fix)
        if profiles and any(not one.selector for one in slots.owners):
            message = "a ClusterColocationProfile finds pods by labels, and an owner names none."
            yield _problem(reservation, NOT_ALL, path, message, "Add labelSelector to each owner.")
