"""Slots that Koordinator would not hold as they are meant: what needs a look at class and cluster too."""

from collections.abc import Iterator, Sequence
from typing import Any

from gen import quantity
from gen.declared import Declared
from gen.finding import Path, Problem
from gen.manifest import affinity, naming, owners
from gen.manifest.cloudpools import placement
from gen.manifest.slot import placed as placed_on
from gen.model import Cluster, Koordinator, Reservation, ResourceClass, Site, Slots
from gen.placed import Placed, has_placeholders, placed
from gen.schema import slots as slotkeys
from gen.schema.backend import PRE_ALLOCATION

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
        yield from (_how(site, one) for one in places if one.cluster.koordinator is not None)


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
    spec = slots.template.spec()
    for key, value in spec.get("nodeSelector", {}).items():
        other = (found.pod.node_selector or {}).get(key, value)
        if other != value:
            message = (
                f"class {found.name} says {key}={other}: its sessions never run where the slots would be."
            )
            path = ("template", "nodeSelector", key)
            yield _problem(reservation, CONFLICT, path, message, "Remove it.")
    if "namespace" not in slots.template.named_metadata():
        where = _in_its_namespace(placed_on(placement(found), spec))
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
    held = {name for found in classes for name, _ in found.requests} | set(slots.template.overhead or ())
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


def _how(site: Site, one: Placed) -> Problem:
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
