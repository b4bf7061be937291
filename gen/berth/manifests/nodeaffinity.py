"""Node affinity of placeholders and session pods: which NodePools a class may use."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from berth.karpenter.nodelabels import NODEPOOL, WELL_KNOWN
from berth.manifests import naming
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.values import ResourceClass

# What NodePools are called, which of them the seats of a class are led to, and what holds for them always.
# Pure.

Expression = dict[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pools(site: str, clouds: Iterable[str]) -> list[str]:
    """Their names, in the order of the clouds."""
    return [naming.node_pool(site, cloud) for cloud in clouds]


def placement(found: ResourceClass) -> dict[str, Any]:
    """The placement of a class's placeholders, as a pod's spec has it: led to its node pools, if any."""
    pod = found.pod.placement
    return led(pod, list(found.node_pools)) if found.node_pools else pod


def led(pod: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """The placement of a pod that may be on nodes of these pools only, besides what it says itself.

    The order of pools is that of their weights. A preference would have Karpenter hold a pod back: it takes
    the heaviest for a must while any machine could meet it, so the pod waits for reserved ones that others
    have booked in the same round.
    """
    return among(pod, [[in_pools(names)]])


def in_pools(names: list[str]) -> Expression:
    return {"key": NODEPOOL, "operator": "In", "values": names}


def among(pod: Mapping[str, Any], alternatives: Sequence[Sequence[Expression]]) -> dict[str, Any]:
    """The placement of a pod that may be on nodes that meet one of these only, besides what it says itself.

    Terms of node affinity are alternatives too, so each of them is said of each. Karpenter tries them in
    order.
    """
    affinity = dict(pod.get("affinity", {}))
    node = dict(affinity.get("nodeAffinity", {}))
    terms: Iterable[dict[str, Any]] = node.get(_REQUIRED, {}).get("nodeSelectorTerms") or ({},)
    node[_REQUIRED] = {
        "nodeSelectorTerms": [
            {**term, "matchExpressions": [*term.get("matchExpressions", ()), *only]}
            for only in alternatives
            for term in terms
        ]
    }
    return {**pod, "affinity": {**affinity, "nodeAffinity": node}}


def selected(selector: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What of a node selector says what a machine is, for a pool of whole nodes; other labels are for the
    capacity to give, and which pool it is in is no matter of what it is.
    """
    return [(key, value) for key, value in selector if key in WELL_KNOWN and key != NODEPOOL]


def as_requirements(found: ResourceClass) -> list[Expression]:
    """What the class selects of what a machine is, for the NodePool of its whole nodes."""
    pairs = selected((found.pod.node_selector or {}).items())
    return [{"key": key, "operator": "In", "values": [value]} for key, value in pairs]


def own_budgets(cloud: CloudCapacity) -> tuple[dict[str, Any], ...]:
    """Disruption budgets that are not of windows. Where nobody says any, Karpenter's own default: with those
    of windows in the list it would be gone.
    """
    said = cloud.disruption.budgets
    return ({"nodes": "10%"},) if said is None else tuple(one.dump() for one in said)


# What session pods of a class need so that they run on the nodes of its cloud capacities and nowhere else.
# Nobody but who makes these pods can add it, so it is text. Pure.


def snippet(site: str, found: ResourceClass, clouds: Sequence[CloudCapacity]) -> str:
    """For a pod template, as JSON, which is YAML too. `found` is not led yet; `clouds` are those that it
    names, in its order.
    """
    return json.dumps({"spec": _placement(site, found, clouds)}, indent=2) + "\n"


def _placement(site: str, found: ResourceClass, clouds: Sequence[CloudCapacity]) -> dict[str, Any]:
    """Where placeholders of the class may be, and on whole nodes too: these are known by labels alone. Of the
    class's affinity what concerns nodes; the rest speaks of the labels of placeholders.
    """
    said = found.pod.placement
    pod = {key: said[key] for key in ("nodeSelector", "tolerations") if said.get(key)}
    node = said.get("affinity", {}).get("nodeAffinity")
    if node:
        pod["affinity"] = {"nodeAffinity": node}
    labels = clouds[0].labels
    if labels and all(dict(one.labels) == dict(labels) for one in clouds):
        return {**pod, "nodeSelector": {**pod.get("nodeSelector", {}), **dict(labels)}}
    return among(pod, _alternatives(site, clouds))


def _alternatives(site: str, clouds: Sequence[CloudCapacity]) -> list[list[Expression]]:
    """The labels of each; those without any are known by their pools, all at once."""
    plain = pools(site, [one.name for one in clouds if not one.labels])
    found: list[list[Expression]] = []
    for one in clouds:
        labels = [{"key": key, "operator": "In", "values": [value]} for key, value in one.labels]
        only = labels or [in_pools(plain)]
        if only not in found:
            found.append(only)
    return found
