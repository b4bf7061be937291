"""Node affinity: which NodePools the placeholders and session pods of a class may use."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from berth.machines.nodelabels import NODEPOOL, WELL_KNOWN
from berth.manifests import naming
from berth.schema.values import ResourceClass

if TYPE_CHECKING:
    from berth.schema.cloudcapacity import CloudCapacity

Expression = dict[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pools(site: str, clouds: Iterable[str]) -> list[str]:
    """Return the names of the NodePools, in the order of the clouds."""
    return [naming.node_pool(site, cloud) for cloud in clouds]


def placement(found: ResourceClass) -> dict[str, Any]:
    """Return the placement of a class's placeholders as in a pod's spec, on nodes of its node pools if any.

    The order of pools is that of their weights. A preference would make Karpenter hold a pod back: it treats
    the heaviest one as required while any machine could meet it, so the pod waits for reserved machines that
    other pods take in the same round.
    """
    pod = found.pod.placement
    return among(pod, [[in_pools(list(found.node_pools))]]) if found.node_pools else pod


def in_pools(names: list[str]) -> Expression:
    """Return the expression that matches nodes of these pools."""
    return {"key": NODEPOOL, "operator": "In", "values": names}


def among(pod: Mapping[str, Any], alternatives: Sequence[Sequence[Expression]]) -> dict[str, Any]:
    """Restrict the placement of a pod to nodes that meet one of these alternatives.

    The terms of node affinity are alternatives too, so the result has every combination. Karpenter tries them
    in order.
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
    """Return the part of a node selector that describes a machine, for a pool of whole nodes.

    Other labels come from the cloud capacity; the pool of a node does not describe its machine.
    """
    return [(key, value) for key, value in selector if key in WELL_KNOWN and key != NODEPOOL]


def as_requirements(found: ResourceClass) -> list[Expression]:
    """Return which machines the class selects, as requirements of the NodePool of its whole nodes."""
    pairs = selected((found.pod.node_selector or {}).items())
    return [{"key": key, "operator": "In", "values": [value]} for key, value in pairs]


def own_budgets(cloud: "CloudCapacity") -> tuple[dict[str, Any], ...]:
    """Return the disruption budgets that are not of windows.

    Without any, this is Karpenter's default, which the budgets of windows would otherwise replace.
    """
    said = cloud.disruption.budgets
    return ({"nodes": "10%"},) if said is None else tuple(budget.dump() for budget in said)


# What session pods of a class need to run on the nodes of its cloud capacities and nowhere else.
# Only what makes these pods can add it, so it is text.


def snippet(site: str, found: ResourceClass, clouds: "Sequence[CloudCapacity]") -> str:
    """Return what to add to a pod template, as JSON, which is also YAML.

    `found` is the class without its node pools; `clouds` are those that it names, in its order.
    """
    return json.dumps({"spec": _placement(site, found, clouds)}, indent=2) + "\n"


def _placement(site: str, found: ResourceClass, clouds: "Sequence[CloudCapacity]") -> dict[str, Any]:
    """Return where placeholders of the class may run, and the nodes of pools of whole nodes.

    Those are known by labels alone. Of the class's affinity only that to nodes applies; the rest is about
    labels of placeholders.
    """
    said = found.pod.placement
    pod = {key: said[key] for key in ("nodeSelector", "tolerations") if said.get(key)}
    node = said.get("affinity", {}).get("nodeAffinity")
    if node:
        pod["affinity"] = {"nodeAffinity": node}
    labels = clouds[0].labels
    if labels and all(cloud.labels == labels for cloud in clouds):
        return {**pod, "nodeSelector": {**pod.get("nodeSelector", {}), **labels}}
    return among(pod, _alternatives(site, clouds))


def _alternatives(site: str, clouds: "Sequence[CloudCapacity]") -> list[list[Expression]]:
    """Return the labels of each capacity; those without labels are one alternative, known by their pools."""
    plain = pools(site, [cloud.name for cloud in clouds if not cloud.labels])
    found: list[list[Expression]] = []
    for cloud in clouds:
        labels = [{"key": key, "operator": "In", "values": [value]} for key, value in cloud.labels.items()]
        only = labels or [in_pools(plain)]
        if only not in found:
            found.append(only)
    return found
