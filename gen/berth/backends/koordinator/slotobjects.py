"""The objects of slots: Koordinator's Reservation of each seat, its owners, and what session pods need."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotmapping import PRE_ALLOCATION_REQUIRED, SEAT, merged, restricted_resources
from berth.backends.koordinator.slotoptions import Owner, OwnerObject, SlotOptions, SlotTaint
from berth.core.jsonvalues import part
from berth.core.labels import PERSISTENT, ROLE, SLOT
from berth.manifests.naming import of_pool, of_site, pool, slot
from berth.manifests.nodeaffinity import placement
from berth.manifests.placed import Placed
from berth.plugins.slots.slots import MAX_TTL, go_duration
from berth.plugins.slots.slotspec import slot_hash
from berth.schema.grammar import go_duration as go_duration_of
from berth.schema.reservation import Reservation
from berth.schema.scheduling import LabelExpression, LabelSelector
from berth.schema.site import KoordinatorSpec
from berth.schema.values import Cluster, ResourceClass, Site

# The owners of slots where a reservation does not set them: the pods of its sessions. Koordinator knows
# owners by the labels of pods, so this works where sessions are pods that labels and namespaces tell apart.

_POSITIVE = ("In", "Exists")
_SERVER = {"component": "singleuser-server"}  # on every pod of a user of JupyterHub, and on no other


def of_sessions(reservation: Reservation, found: ResourceClass) -> tuple[Owner, ...]:
    """Return an owner for each namespace in which the reservation has sessions of the class.

    There are none if there is a `hindrance`.
    """
    if hindrance(reservation, found):
        return ()
    assert found.sessions is not None  # that would be a hindrance
    selector = _selector(reservation, found)
    return tuple(_owner(name, selector) for name in _namespaces(reservation, found))


def _owner(namespace: str, selector: Mapping[str, Any]) -> Owner:
    """Return the owner for all pods of a namespace that a selector selects."""
    terms = tuple(LabelExpression.model_construct(**one) for one in selector.get("matchExpressions", ()))
    chosen = LabelSelector.model_construct(
        matchLabels=selector.get("matchLabels"), matchExpressions=terms or None
    )
    place = OwnerObject.model_construct(namespace=namespace)
    return Owner.model_construct(object=place, labelSelector=chosen)


def hindrance(reservation: Reservation, found: ResourceClass) -> str:
    """Return why labels of pods do not tell which are sessions of this reservation; empty if they do."""
    sessions, course = found.sessions, reservation.sessions
    if sessions is None:
        return "it has no `sessions`"
    if sessions.source == "renku":
        return "a pod does not say of which class its Renku session is"
    if sessions.source == "custom" and (sessions.group or sessions.resource != "pods"):
        return f"its sessions are {sessions.resource}, and their pods may have other labels"
    if sessions.match_annotations or sessions.inactive:
        return "it tells its sessions by more than labels"
    if course.match_annotations or course.project_template:
        return "this reservation narrows its sessions by more than labels"
    if sessions.namespace_labels and not course.namespaces:
        return "labels tell its namespaces, and a slot knows them only by name"
    if not _namespaces(reservation, found):
        return "it has no sessions in the namespaces of this reservation"
    return "" if is_positive(_selector(reservation, found)) else "its sessions have no labels of their own"


def _namespaces(reservation: Reservation, found: ResourceClass) -> tuple[str, ...]:
    here = found.sessions.namespace_names if found.sessions else ()
    narrowed_to = reservation.sessions.namespaces
    if found.sessions and found.sessions.namespace_labels:
        return narrowed_to
    return tuple(name for name in here if not narrowed_to or name in narrowed_to)


def _selector(reservation: Reservation, found: ResourceClass) -> dict[str, Any]:
    assert found.sessions is not None
    selector = {} if found.sessions.selector is None else found.sessions.selector.dump()
    if found.sessions.source == "jupyterhub":
        selector = narrowed(selector, _SERVER)
    return narrowed(selector, reservation.sessions.match_labels)


def is_positive(selector: Mapping[str, Any]) -> bool:
    """Tell whether a selector requires a label; nearly all pods match one that only excludes."""
    terms = selector.get("matchExpressions", ())
    return bool(selector.get("matchLabels")) or any(term["operator"] in _POSITIVE for term in terms)


def narrowed(selector: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a selector of what both select, even if they contradict each other."""
    own = selector.get("matchLabels", {})
    both = {**own, **{key: value for key, value in labels.items() if key not in own}}
    against = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in labels.items()
        if both[key] != value
    ]
    terms = [*selector.get("matchExpressions", ()), *against]
    return {**({"matchLabels": both} if both else {}), **({"matchExpressions": terms} if terms else {})}


# The Koordinator Reservation of a slot, as in timetables and in git. Koordinator validates very little, and
# one Reservation that it cannot decode stops it for everybody. So all are made here, and `berth validate`
# checks what is made here.

Object = dict[str, Any]
GROUP = "scheduling.koordinator.sh"
TAKING_OVER = "Restricted"  # with any other policy, a Reservation that takes over is never scheduled
NEVER = "0s"
# Where a cluster has none, the reservation is refused; its timetable is measured all the same.
_NONE = KoordinatorSpec.model_construct()


def slot_object(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> Object:
    """Return metadata (without name) and spec (without ttl and expires) of every slot of a pool."""
    slots = slots_of(reservation)
    koordinator = cluster.koordinator or _NONE
    labels = {**of_site(site), **of_pool(site, reservation, found), ROLE: SLOT}
    if slots.standing:
        labels[PERSISTENT] = "true"
    template: Object = {"metadata": {"labels": found.pod_labels}} if found.pod_labels else {}
    # Limits hold nothing. There is no priority: without preemption it has no effect.
    seat = {"name": SEAT, "resources": {"requests": found.requests}}
    template["spec"] = {**placement(found), "schedulerName": koordinator.scheduler_name, "containers": [seat]}
    spec: Object = {
        "template": template,
        "owners": owners(site, cluster, reservation, found),
        "allocateOnce": slots.allocate_once and not slots.with_placeholders,
        "allocatePolicy": koordinator.allocate_policy,
    }
    if slots.taints:
        spec["taints"] = [taint.dump() for taint in slots.taints]
    made = merged({"metadata": {"labels": labels}, "spec": spec}, found.slot_patch)
    spec = made["spec"]
    if spec.get("allocatePolicy") == "Default":  # as Koordinator calls one that is unset
        del spec["allocatePolicy"]
    if slots.with_placeholders:
        made["metadata"]["labels"][PRE_ALLOCATION_REQUIRED] = "true"
        spec |= {"allocatePolicy": TAKING_OVER, "preAllocation": True}
    spec.pop("ttl", None)
    spec.pop("expires", None)
    return made


def slots_of(reservation: Reservation) -> SlotOptions:
    """Return the options of a reservation of backend koordinator, and of no other."""
    assert isinstance(reservation.holder, SlotHolder), f"{reservation.name} has another backend"
    return reservation.holder.options


def pool_slots(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> Object:
    """Return what the timetable has about the slots of a pool."""
    slots, made = slots_of(reservation), slot_object(site, cluster, reservation, found)
    return {
        "placeholders": slots.with_placeholders,
        "allocateOnce": made["spec"]["allocateOnce"],
        "name": slot(site.name, pool(reservation.name, found.name)),
        "hash": slot_hash(made),
        "object": made,
    }


def persistent_slots(
    site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass, count: int
) -> Iterator[tuple[str, Object]]:
    """Yield the name and object of each persistent slot of a pool, by ordinal."""
    made = slot_object(site, cluster, reservation, found)
    spec = {**made["spec"], **_lifetime(part(found.slot_patch, "spec"))}
    name = slot(site.name, pool(reservation.name, found.name))
    for ordinal in range(count):
        yield f"{name}-{ordinal}-{slot_hash(made)}", {**made, "spec": spec}


def inventory_line(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> str:
    """Return the line of the inventory for a pool with persistent slots.

    It has the begin and the end of the names of its slots, and their number.
    """
    digest = slot_hash(slot_object(site, cluster, reservation, found))
    name = slot(site.name, pool(reservation.name, found.name))
    return f"{reservation.name} {name} {digest} {dict(reservation.seats).get(found.name, 0)}"


def _lifetime(patch: Mapping[str, Any]) -> dict[str, str]:
    """Return ttl and expires; without a ttl, Koordinator would use a day."""
    ttl, expires = patch.get("ttl"), patch.get("expires")
    if expires is None:
        return {"ttl": NEVER if ttl is None else go_duration_of(ttl)}
    return {"ttl": go_duration(MAX_TTL) if ttl is None else go_duration_of(ttl), "expires": expires}


def owners(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> list[Object]:
    """Return whose pods may take a slot, including placeholders if slots take over from them."""
    slots = slots_of(reservation)
    objects = [owner.parts() for owner in slots.owners or of_sessions(reservation, found)]
    if slots.with_placeholders:
        selector = {"matchLabels": of_pool(site, reservation, found)}
        objects.append({"object": {"namespace": cluster.namespace}, "labelSelector": selector})
    return objects


# `sessionAffinity`: what session pods need to start in a slot of their pool or not at all. Koordinator's
# webhook can add it to pods that labels and namespaces tell apart; otherwise it is text for what makes them.

AFFINITY = f"{GROUP}/reservation-affinity"
EXACT = f"{GROUP}/exact-match-reservation"


class Profile(NamedTuple):
    """The session pods of a pool: a selector of labels, and namespaces (empty: all)."""

    selector: dict[str, Any]
    namespaces: tuple[str, ...]


def is_by_profile(site: Site, placed: Placed) -> bool:
    """Tell whether Koordinator adds the session affinity; otherwise people have to."""
    koordinator = placed.cluster.koordinator
    may = koordinator is not None and koordinator.colocation_profiles
    return may and all(
        profiles(site, placed, resource_class) is not None for resource_class in placed.classes
    )


def profiles(site: Site, placed: Placed, found: ResourceClass) -> list[Profile] | None:
    """Return the profiles that match the owners of a pool's slots, without placeholders.

    None if an owner is known by something other than labels that it has: the webhook matches profiles against
    Reservations too, and a selector that only excludes would match these.
    """
    made: dict[str, Profile] = {}
    for owner in _sessions(site, placed, found):
        named = owner.get("object", {})
        if "labelSelector" not in owner or "controller" in owner or named.keys() - {"namespace", "kind"}:
            return None
        if not is_positive(owner["labelSelector"]):
            return None
        key = json.dumps(owner["labelSelector"], sort_keys=True)
        known = made.get(key)
        here = (named["namespace"],) if "namespace" in named else ()
        if known and here and known.namespaces:
            here = (*known.namespaces, *here)
        elif known:
            here = ()  # one of the two means all
        made[key] = Profile(owner["labelSelector"], here)
    return list(made.values())


def _sessions(site: Site, placed: Placed, found: ResourceClass) -> Iterator[dict[str, Any]]:
    slots = slots_of(placed.reservation)
    objects = owners(site, placed.cluster, placed.reservation, found)
    yield from objects[:-1] if slots.with_placeholders else objects


def pod_annotations(site: Site, placed: Placed, found: ResourceClass) -> dict[str, str]:
    """Return the annotations by which a pod requires a slot of this pool.

    They tolerate all taints of its slots, and require exactly their size: a smaller pod would leave a rest
    that no other pod can use.
    """
    slots = slots_of(placed.reservation)
    wanted: dict[str, Any] = {"reservationSelector": of_pool(site, placed.reservation, found)}
    tolerations = [toleration(taint) for taint in slots.taints]
    if tolerations:
        wanted["tolerations"] = tolerations
    restricted = restricted_resources(part(found.slot_patch, "metadata", "annotations"))
    sizes = restricted or tuple(found.requests)
    return {AFFINITY: json.dumps(wanted), EXACT: json.dumps({"resourceNames": sizes})}


def toleration(taint: SlotTaint) -> dict[str, Any]:
    """Return the toleration of this taint alone."""
    how = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **how, "effect": taint.effect}


def snippet(cluster: Cluster, annotations: dict[str, str]) -> str:
    """Return what to add to a pod template, as JSON, which is also YAML."""
    scheduler = cluster.koordinator.scheduler_name if cluster.koordinator else ""
    tree = {"metadata": {"annotations": annotations}, "spec": {"schedulerName": scheduler}}
    return json.dumps(tree, indent=2) + "\n"
