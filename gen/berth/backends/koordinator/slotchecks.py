"""Check slots of Koordinator: conflicts between reservation, class and cluster, and what Koordinator cannot
guarantee.

Git does not know the nodes that do not exist yet, the sessions that another scheduler places, and how many
pods or which seats a node takes.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from berth import quantity
from berth.backends.koordinator import slotmapping
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotobjects import (
    TAKING_OVER,
    hindrance,
    is_by_profile,
    of_sessions,
    profiles,
    slot_object,
    slots_of,
)
from berth.backends.koordinator.slotoptions import SlotOptions
from berth.checks.project import CheckedReservation, Project
from berth.core.jsonvalues import part
from berth.findings import Path, Problem
from berth.manifests import naming
from berth.manifests.placed import Placed, class_names, cluster_of
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

_BACKEND: Path = ("spec", "backend")
_MAPPING: Path = ("spec", "reservation", "spec")


def check_reserved_slots(checked: CheckedReservation) -> Iterator[Problem]:
    """Check a reservation with slots."""
    reservation, slots = checked.reservation, slots_of(checked.reservation)
    for place in checked.places:
        if place.cluster.koordinator is None:
            message = f"cluster {place.cluster.name} has no Koordinator."
            fix = "Add koordinator: {} to the cluster in the Site, or write type: placeholder."
            yield _problem(reservation, "B283", ("type",), message, fix)
        for resource_class in place.classes:
            yield from _class(reservation, resource_class)
            yield from _object(checked.project.site, reservation, place.cluster, resource_class)
    for place in checked.places:
        yield from _owners(reservation, slots, place.classes)


def _problem(reservation: Reservation, code: str, path: Path, message: str, fix: str) -> Problem:
    return reservation.origin.problem(code, (*_BACKEND, *path), message, fix)


def _object(
    site: Site, reservation: Reservation, cluster: Cluster, found: ResourceClass
) -> Iterator[Problem]:
    """Check the Reservation that its class makes, against its cluster and the reservation."""
    slots, spec = slots_of(reservation), slot_object(site, cluster, reservation, found)["spec"]
    patch, template = part(found.slot_patch, "spec"), spec["template"]
    for key in ("ttl", "expires"):
        if patch.get(key) is not None and not slots.standing:
            message = f"slots end with their window, and class {found.name} sets {key} for standing ones."
            fix = "Write another class; or have the platform team remove it from the class."
            yield _problem(reservation, "B016", (), message, fix)
    yield from _policy(reservation, cluster, found, spec)
    yield from _pre_allocation(reservation, found, spec)
    where = _in_its_namespace(template["spec"])
    if where and "namespace" not in template.get("metadata", {}):
        message = (
            f"{where} of class {found.name} selects pods of its own namespace; that of a slot is default."
        )
        fix = (
            "Add reservation.spec.template.metadata.namespace to the class, where those pods are, or add "
            "namespaces to the terms."
        )
        yield _problem(reservation, "B111", (), message, fix)
    requests = [part(container, "resources", "requests") for container in template["spec"]["containers"]]
    amounts = [
        amount for each in (*requests, template["spec"].get("overhead", {})) for amount in each.values()
    ]
    if not any(quantity.parse(str(amount)) for amount in amounts):
        message = f"class {found.name} requests nothing: a slot would reserve nothing for a session."
        fix = "Write what a session requests."
        yield found.origin.problem("B121", ("spec", "requests"), message, fix)


def _policy(
    reservation: Reservation, cluster: Cluster, found: ResourceClass, spec: dict[str, Any]
) -> Iterator[Problem]:
    policy = spec.get("allocatePolicy", "Default")
    if cluster.koordinator is not None and policy != cluster.koordinator.allocate_policy:
        theirs = cluster.koordinator.allocate_policy
        if slots_of(reservation).with_placeholders:
            message = (
                f"withPlaceholders needs allocatePolicy Restricted; cluster {cluster.name} has {theirs}."
            )
            fix = "Remove withPlaceholders, or change koordinator.allocatePolicy in the Site."
            yield _problem(reservation, "B106", ("withPlaceholders",), message, fix)
            return
        message = (
            f"slots have allocatePolicy {policy}, and cluster {cluster.name} has {theirs}: they share no "
            "node with other Reservations."
        )
        fix = "Remove it, or keep its nodes for this class alone."
        path = (*_MAPPING, "allocatePolicy")
        yield found.origin.problem("B105", path, message, fix)


def _pre_allocation(
    reservation: Reservation, found: ResourceClass, spec: dict[str, Any]
) -> Iterator[Problem]:
    """Check that slots that take over from running pods can do so."""
    slots, patch = slots_of(reservation), part(found.slot_patch, "spec")
    mode = part(patch, "preAllocationPolicy").get("mode")
    if slots.with_placeholders:
        for key, is_right in (
            ("preAllocation", patch.get("preAllocation") in (None, True)),
            ("allocatePolicy", patch.get("allocatePolicy", TAKING_OVER) == TAKING_OVER),
            ("preAllocationPolicy", mode in (None, "Default")),
        ):
            if not is_right:
                message = f"slots do not take over from placeholders with {key} of class {found.name}."
                fix = "Remove it, or write another class."
                yield _problem(reservation, "B106", ("withPlaceholders",), message, fix)
        return
    if not spec.get("preAllocation"):
        return
    if spec.get("allocatePolicy") != TAKING_OVER:
        message = f"preAllocation needs allocatePolicy {TAKING_OVER}: a slot is never scheduled with another."
        path = (*_MAPPING, "preAllocation")
        yield found.origin.problem("B106", path, message, f"Write {TAKING_OVER}, or remove it.")
    if slots.allocate_once:
        message = f"class {found.name} has preAllocation, by which a slot would be used up at once."
        yield _problem(reservation, "B106", ("allocateOnce",), message, "Remove it.")
    if mode != "Cluster" and slots.owners and not any(owner.has_labels for owner in slots.owners):
        message = "a slot can take over only from pods of an owner with a labelSelector."
        yield _problem(reservation, "B106", ("owners",), message, "Add labelSelector to an owner.")


def _class(reservation: Reservation, found: ResourceClass) -> Iterator[Problem]:
    """Check the labels of a class, which its slots have, too."""
    for key in found.pod_labels:
        if slotmapping.is_foreign(key):
            message = f"podLabels are also set on slots, and {key} changes what a slot is."
            path = ("spec", "podLabels", key)
            fix = f"Remove it, or give reservation {reservation.name} a class of its own."
            yield found.origin.problem("B112", path, message, fix, at_key=True)
        elif key == slotmapping.CHARGED:
            message = (
                f"podLabels are also set on slots: {key} counts a slot in a quota, and the session that "
                "uses it again."
            )
            fix = (
                f"Give reservation {reservation.name} a class without it, unless the quota is large enough "
                "for both."
            )
            path = ("spec", "podLabels", key)
            yield found.origin.problem("B113", path, message, fix, at_key=True)


def _in_its_namespace(pod: dict[str, Any]) -> str:
    """Return the first part of a pod's placement that selects pods of its own namespace."""
    affinity = pod.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        for name, terms in affinity.get(kind, {}).items():
            plain = [term["podAffinityTerm"] for term in terms] if name.startswith("preferred") else terms
            if any(not one.get("namespaces") and "namespaceSelector" not in one for one in plain):
                return kind
    spreads = pod.get("topologySpreadConstraints", ())
    return "topologySpreadConstraints" if any("labelSelector" in spread for spread in spreads) else ""


def _owners(
    reservation: Reservation, slots: SlotOptions, classes: Sequence[ResourceClass]
) -> Iterator[Problem]:
    """Check that pods may use each slot, and that they are the sessions of its class."""
    if not slots.owners:
        for resource_class in classes:
            why = hindrance(reservation, resource_class)
            if why:
                message = f"owners are missing and cannot be derived from class {resource_class.name}: {why}."
                fix = "Add backend.owners: labels (and namespace) of the pods that may use a slot."
                yield _problem(reservation, "B101", (), message, fix)
    theirs = [slots.owners or of_sessions(reservation, resource_class) for resource_class in classes]
    for i, resource_class in enumerate(classes):
        same = [other for other, who in zip(classes[:i], theirs, strict=False) if who and who == theirs[i]]
        if same:
            message = (
                f"the same pods may use the slots of class {same[0].name} and of class {resource_class.name}."
            )
            fix = "Write a reservation for each class, with its own owners."
            yield _problem(reservation, "B117", ("owners",) if slots.owners else (), message, fix)
            return


def check_scheduler_of_slots(project: Project) -> Iterator[Problem]:
    """Check, once a class, that its sessions use the scheduler that knows their slots."""
    told = set[str]()
    for one, *_ in project.parts:
        for resource_class in one.classes if one.reservation.holder.backend == SlotHolder.backend else ():
            problem = _unseen(project.site, one, resource_class) if resource_class.name not in told else None
            if problem:
                told.add(resource_class.name)
                yield problem


def _unseen(site: Site, one: Placed, found: ResourceClass) -> Problem | None:
    koordinator, theirs = one.cluster.koordinator, found.pod.scheduler_name
    if koordinator is None or theirs == koordinator.scheduler_name:
        return None
    has_affinity = one.reservation.holder.renders_affinity
    if has_affinity and is_by_profile(site, one):
        return None  # the profile sends them there
    who = f"its sessions are scheduled by {theirs}" if theirs else "it has no schedulerName for its sessions"
    message = (
        f"{who}: only {koordinator.scheduler_name} knows the slots of reservation {one.reservation.name}."
    )
    fix = f"Write schedulerName: {koordinator.scheduler_name}, if its sessions have it"
    if has_affinity:
        fix += f": ConfigMap {naming.affinity_snippet(one.reservation.name)} has what sets it."
    else:
        fix += (
            "; or, where Koordinator may change pods (koordinator.colocationProfiles), sessionAffinity: true "
            "in the reservation."
        )
    path: Path = ("spec", "schedulerName") if theirs else ("spec",)
    return found.origin.problem("B141", path, message, fix)


def check_slot_profiles(project: Project) -> Iterator[Problem]:
    """Check that the webhook does not send the same pods to two pools.

    There is one annotation for it, so they would require the slots of one even while only the other is
    open.
    """
    known: dict[tuple[str, str], list[tuple[frozenset[str], str, ResourceClass]]] = {}
    for one, *_ in project.parts:
        reservation = one.reservation
        has_profile = reservation.holder.renders_affinity and is_by_profile(project.site, one)
        for resource_class in one.classes if has_profile else ():
            for profile in profiles(project.site, one, resource_class) or ():
                key = one.cluster.name, json.dumps(profile.selector, sort_keys=True)
                here, others = frozenset(profile.namespaces), known.setdefault(key, [])
                met = next((other for other in others if not here or not other[0] or here & other[0]), None)
                if met:
                    yield _two_pools(reservation, resource_class, met[1], met[2])
                others.append((here, reservation.name, resource_class))


def _two_pools(reservation: Reservation, found: ResourceClass, other: str, theirs: ResourceClass) -> Problem:
    message = (
        f"the same pods would be sent to the slots of class {found.name} and of class {theirs.name} of "
        f"reservation {other}: each pod requires the slots of one, and waits while only the other has some."
    )
    fix = "Give each its own owners (a label that only its sessions have), or remove one sessionAffinity."
    return _problem(reservation, "B120", ("sessionAffinity",), message, fix)


def check_limits_of_slots(checked: CheckedReservation) -> Iterator[Problem]:
    """Check what Koordinator cannot guarantee for a reservation."""
    reservation, declared, site = checked.reservation, checked.project.declared, checked.project.site
    slots = slots_of(reservation)
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    clusters = {
        one.name: one
        for resource_class in classes
        if (one := cluster_of(resource_class, site)) and one.koordinator
    }
    for cluster in clusters.values():
        if cluster.autoscaler != "none" and not slots.with_placeholders:
            yield _no_nodes(reservation, slots, cluster)


def _no_nodes(reservation: Reservation, slots: SlotOptions, cluster: Cluster) -> Problem:
    """Report that autoscalers see only pods: a pending slot adds no node, and a free one keeps none."""
    message = (
        f"{cluster.autoscaler} in cluster {cluster.name} does not see slots: it adds no node for a pending "
        "one, and removes a node that has nothing else."
    )
    fix = "Write withPlaceholders: true: placeholders are created first and make it add nodes."
    if slots.standing:
        fix = (
            "Keep nodes for them (a node group of a fixed size), and annotate berth.dev/ignore with the "
            "reason."
        )
    return _problem(reservation, "B140", (), message, fix)
