"""The slot of a seat: the Koordinator Reservation that holds it, as it stands in timetables and in git.

Koordinator checks next to nothing, and one Reservation that it cannot decode stops it for everybody. So
there is one place that makes them, and what `validate` accepts is what is made here. Pure.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gen.manifest.cloudpools import placement
from gen.manifest.labels import of_pool, of_site
from gen.manifest.naming import pool, slot
from gen.manifest.owners import of_sessions
from gen.model import Cluster, Koordinator, Reservation, ResourceClass, Site, Slots
from gen.runtime.inventory import slots_line
from gen.runtime.labels import ROLE, SLOT, STANDING
from gen.runtime.slot import LONGEST, duration
from gen.runtime.timetable import slot_hash

Object = dict[str, Any]
GROUP = "scheduling.koordinator.sh"
KIND = "Reservation"
ORDER = f"{GROUP}/reservation-order"
PRE_ALLOCATION_REQUIRED = f"{GROUP}/pre-allocation-required"
RESTRICTED = f"{GROUP}/reservation-restricted-options"
PRIORITY = "koordinator.sh/priority"
CONTAINER = "seat"
TAKING_OVER = "Restricted"  # with any other policy, a Reservation that takes over is never scheduled
NEVER = "0s"
# Where a cluster has none, the reservation is refused; its timetable is measured all the same.
_NONE = Koordinator("koord-scheduler", "Restricted", colocation_profiles=False)


def slot_object(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> Object:
    """Metadata (but the name) and spec (but ttl and expires) of every slot of the pool of class `found`."""
    slots = slots_of(reservation)
    koordinator = cluster.koordinator or _NONE
    hands_over = slots.with_placeholders
    spec: Object = {
        "template": _template(koordinator, found, slots),
        "owners": owners(site, cluster, reservation, found),
        "allocateOnce": slots.allocate_once and not hands_over,
        "allocatePolicy": TAKING_OVER if hands_over else slots.allocate_policy or koordinator.allocate_policy,
    }
    if slots.pre_allocation or hands_over:
        spec["preAllocation"] = True
    if slots.pre_allocation_policy is not None:
        spec["preAllocationPolicy"] = slots.pre_allocation_policy.dump()
    if slots.unschedulable:
        spec["unschedulable"] = True
    if slots.taints:
        spec["taints"] = [one.dump() for one in slots.taints]
    return {"metadata": _metadata(site, reservation, found, slots), "spec": spec}


def slots_of(reservation: Reservation) -> Slots:
    """Of a reservation of backend koordinator, and of no other."""
    assert reservation.slots is not None, f"{reservation.name} has another backend"
    return reservation.slots


def pool_slots(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> Object:
    """What the timetable says of the slots of a pool."""
    slots, made = slots_of(reservation), slot_object(site, cluster, reservation, found)
    return {
        "placeholders": slots.with_placeholders,
        "allocateOnce": made["spec"]["allocateOnce"],
        "name": slot(site.name, pool(reservation.name, found.name)),
        "hash": slot_hash(made),
        "object": made,
    }


def standing(
    site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass, count: int
) -> Iterator[tuple[str, Object]]:
    """Name and object of each slot of a pool that stands in git, by ordinal."""
    made = slot_object(site, cluster, reservation, found)
    spec = {**made["spec"], **_lifetime(slots_of(reservation))}
    name = slot(site.name, pool(reservation.name, found.name))
    for ordinal in range(count):
        yield f"{name}-{ordinal}-{slot_hash(made)}", {**made, "spec": spec}


def standing_line(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> str:
    """What an inventory says of a pool whose slots stand."""
    digest = slot_hash(slot_object(site, cluster, reservation, found))
    name = slot(site.name, pool(reservation.name, found.name))
    return slots_line(reservation.name, name, digest, dict(reservation.seats).get(found.name, 0))


def _lifetime(slots: Slots) -> dict[str, str]:
    """A ttl that nobody writes would be a day."""
    if slots.expires is None:
        return {"ttl": slots.ttl or NEVER}
    return {"ttl": slots.ttl or duration(LONGEST), "expires": slots.expires}


def _metadata(site: Site, reservation: Reservation, found: ResourceClass, slots: Slots) -> Object:
    labels = {**of_site(site), **of_pool(site, reservation, found), ROLE: SLOT, **dict(slots.labels)}
    if slots.standing:
        labels[STANDING] = "true"
    if slots.order is not None:
        labels[ORDER] = str(slots.order)
    if slots.priority is not None:
        labels[PRIORITY] = str(slots.priority)
    if slots.pre_allocation_required or slots.with_placeholders:
        labels[PRE_ALLOCATION_REQUIRED] = "true"
    notes = dict(slots.annotations)
    if slots.restricted_resources:
        notes[RESTRICTED] = json.dumps({"resources": slots.restricted_resources})
    return {"labels": labels, "annotations": notes} if notes else {"labels": labels}


def _template(koordinator: Koordinator, found: ResourceClass, slots: Slots) -> Object:
    """One container with the requests of the class: limits hold nothing. No priority: without preemption a
    low one would only make the slot look like somebody's victim.
    """
    more_metadata, more = slots.template.named_metadata(), slots.template.spec()
    labels = {**dict(found.pod_labels), **more_metadata.get("labels", {})}
    metadata = {**more_metadata, **({"labels": labels} if labels else {})}
    container: Object = {"name": CONTAINER, "resources": {"requests": dict(found.requests)}}
    if slots.template.ports:
        container["ports"] = slots.template.container_ports()
    spec = {
        **placed(placement(found), more),
        "schedulerName": koordinator.scheduler,
        "containers": [container],
    }
    return {"metadata": metadata, "spec": spec} if metadata else {"spec": spec}


def placed(pod: Mapping[str, Any], more: Mapping[str, Any]) -> Object:
    """A class's placement with a reservation's additions. Lists grow, labels of nodes and kinds of affinity
    are replaced one by one: terms of node affinity are alternatives, and one more would hold less firmly.
    """
    made = dict(pod)
    for key, value in more.items():
        before = made.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            made[key] = {**before, **value}
        elif isinstance(value, list | tuple) and isinstance(before, list | tuple):
            made[key] = [*before, *value]
        else:
            made[key] = value
    return made


def owners(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> list[Object]:
    """Whose pods may take a slot. Our own placeholders may, where they hand over."""
    slots = slots_of(reservation)
    made = [one.parts() for one in slots.owners or of_sessions(reservation, found)]
    if slots.with_placeholders:
        selector = {"matchLabels": of_pool(site, reservation, found)}
        made.append({"object": {"namespace": cluster.namespace}, "labelSelector": selector})
    return made
