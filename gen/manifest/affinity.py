"""What session pods need so that they start in a slot of their pool or not at all: `sessionAffinity`.

Koordinator's webhook can add it to the very pods that labels and namespaces tell apart; where it cannot, it
is text for whatever makes the pods. Pure.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from gen.manifest.labels import of_pool
from gen.manifest.owners import is_positive
from gen.manifest.slot import GROUP, owners, slots_of
from gen.model import Cluster, ResourceClass, Site
from gen.placed import Placed
from gen.schema.slots import SlotTaint

AFFINITY = f"{GROUP}/reservation-affinity"
EXACT = f"{GROUP}/exact-match-reservation"


class Profile(NamedTuple):
    """The session pods of a pool: a selector of labels, and namespaces (empty: all)."""

    selector: dict[str, Any]
    namespaces: tuple[str, ...]


def is_by_profile(site: Site, placed: Placed) -> bool:
    """Whether Koordinator adds it by itself. False: people have to."""
    koordinator = placed.cluster.koordinator
    may = koordinator is not None and koordinator.colocation_profiles
    return may and all(profiles(site, placed, found) is not None for found in placed.classes)


def profiles(site: Site, placed: Placed, found: ResourceClass) -> list[Profile] | None:
    """Those that tell apart whoever may own a slot of the pool, but for our placeholders. None where an owner
    is known by something else than labels that it has: the webhook matches a profile against Reservations
    too, and what only excludes would match these.
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
    made = owners(site, placed.cluster, placed.reservation, found)
    yield from made[:-1] if slots.with_placeholders else made


def pod_annotations(site: Site, placed: Placed, found: ResourceClass) -> dict[str, str]:
    """Required, of this pool and no other, with all taints of its slots tolerated, and of exactly their size:
    a pod of another size would leave a rest that nobody can use.
    """
    slots = slots_of(placed.reservation)
    wanted: dict[str, Any] = {"reservationSelector": of_pool(site, placed.reservation, found)}
    tolerations = [toleration(taint) for taint in slots.taints]
    if tolerations:
        wanted["tolerations"] = tolerations
    sizes = slots.restricted_resources or tuple(name for name, _ in found.requests)
    return {AFFINITY: json.dumps(wanted), EXACT: json.dumps({"resourceNames": sizes})}


def toleration(taint: SlotTaint) -> dict[str, Any]:
    """That bears the taint, and no other."""
    how = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **how, "effect": taint.effect}


def snippet(cluster: Cluster, annotations: dict[str, str]) -> str:
    """For a pod template, as JSON, which is YAML too."""
    scheduler = cluster.koordinator.scheduler if cluster.koordinator else ""
    tree = {"metadata": {"annotations": annotations}, "spec": {"schedulerName": scheduler}}
    return json.dumps(tree, indent=2) + "\n"
