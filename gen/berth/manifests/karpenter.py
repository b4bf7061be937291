"""Karpenter's objects: EC2NodeClass and NodePool of a CloudCapacity, and NodePools of a fixed number of
nodes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from berth.core.labels import AFFINITY, CLASS, ROLE
from berth.karpenter.disruption import WindowBudget, WindowBudgets
from berth.karpenter.nodelabels import CAPACITY_TYPE
from berth.manifests import naming, nodeaffinity
from berth.manifests.backends.base import Manifest
from berth.manifests.nodeaffinity import as_requirements, own_budgets
from berth.quantity import canonical
from berth.schema.base import Model
from berth.schema.cloudvalues import CloudCapacity, terms
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site

# What Karpenter is told of a cloud capacity: its EC2NodeClass, its NodePool, and pools that are whole
# nodes. Karpenter hashes what it makes nodes of, and replaces every node when that changes. So nothing of
# ours stands there: our labels, and what people say in metadata, are on the objects themselves. How these
# look stands in templates/karpenter/.

TEMPLATE = "karpenter/nodepool.yaml.j2"


def manifests(site: Site, cluster: Cluster, cloud: CloudCapacity, held: WindowBudgets) -> list[Manifest]:
    """Of one file: what every node of the capacity is, and what buys such nodes for pods that wait."""
    name, ours = naming.node_pool(site.name, cloud.name), naming.of_site(site)
    annotations = {**naming.untouched(cluster.engine), **dict(cloud.own_annotations)}
    metadata = {
        "name": name,
        "labels": {**ours, **dict(cloud.own_labels)},
        "has_annotations": bool(annotations),
        "annotations": annotations,
    }
    weight = {"has_weight": cloud.weight is not None, "weight": cloud.weight}
    values = {
        **metadata,
        "is_static": False,
        **weight,
        "has_limits": bool(cloud.limits),
        "limits": _limits(cloud),
        **_disruption(cloud, held.held),
        **_template(cloud, name, ()),
    }
    return [
        Manifest("karpenter/nodeclass.yaml.j2", {**metadata, "spec": _node_class(cloud)}),
        Manifest(TEMPLATE, values),
    ]


def snippets(site: Site, cluster: Cluster, cloud: CloudCapacity, declared: Declared) -> Iterator[Manifest]:
    """What session pods need, of each class that prefers this capacity; by name. In one file each, so that
    there is one text for a class.
    """
    for _, found in sorted(declared.classes.items()):
        if found.cloud_capacity[:1] != (cloud.name,):
            continue
        clouds = [declared.clouds[name] for name in found.cloud_capacity]
        values = {
            "name": naming.session_snippet(found.name),
            "namespace": cluster.namespace,
            "labels": {**naming.of_site(site), CLASS: found.name, ROLE: AFFINITY},
            "text": nodeaffinity.snippet(site.name, found, clouds),
        }
        yield Manifest("karpenter/snippet.yaml.j2", values)


def static_pool(
    site: Site, name: str, common: dict[str, Any], found: ResourceClass, cloud: CloudCapacity
) -> Manifest:
    """Nodes of the capacity in a number that somebody sets; none in git. Without pods to ask for anything,
    only the class says which machines they are. Of limits it takes that of nodes alone, and no weight.
    """
    limits = {key: amount for key, amount in _limits(cloud).items() if key == "nodes"}
    values = {
        "name": name,
        "labels": {**common["labels"], CLASS: found.name},
        "annotations": common["annotations"],
        "has_annotations": bool(common["annotations"]),
        "is_static": True,
        "has_weight": False,
        "has_limits": bool(limits),
        "limits": limits,
        **_disruption(cloud, ()),
        **_template(cloud, naming.node_pool(site.name, cloud.name), as_requirements(found)),
    }
    return Manifest(TEMPLATE, values)


def _node_class(cloud: CloudCapacity) -> dict[str, Any]:
    """An empty list of terms would be refused."""
    selected = terms(cloud.reservations)
    return {**cloud.node_class.dump(), **({"capacityReservationSelectorTerms": selected} if selected else {})}


def _limits(cloud: CloudCapacity) -> dict[str, str]:
    """As Kubernetes would write them: who compares git with the cluster finds no difference."""
    return {key: canonical(amount) for key, amount in cloud.limits}


def _template(cloud: CloudCapacity, node_class: str, selected: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Requirements are not hashed; all else is, and says nothing but what people declared."""
    types = {"key": CAPACITY_TYPE, "operator": "In", "values": cloud.capacity_types}
    node = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": node_class},
        "requirements": [types, *_dumped(cloud.requirements), *selected],
        "taints": _dumped(cloud.taints),
        "startupTaints": _dumped(cloud.startup_taints),
        "expireAfter": cloud.expire_after,
        "terminationGracePeriod": cloud.termination_grace,
    }
    return {
        "has_node_labels": bool(cloud.labels),
        "node_labels": dict(cloud.labels),
        "node": {key: value for key, value in node.items() if value},
    }


def _dumped(models: Sequence[Model]) -> tuple[dict[str, Any], ...]:
    """As the API has them."""
    return tuple(one.dump() for one in models)


def _disruption(cloud: CloudCapacity, held: Sequence[WindowBudget]) -> dict[str, Any]:
    """One line a window, for two people who change different windows."""
    said = {**cloud.disruption.dump(), "consolidateAfter": cloud.empty_after}
    said.pop("budgets", None)
    return {
        "disruption": said,
        "budgets": own_budgets(cloud),
        "is_held": any(not one.schedule for one in held),
        "windows": [one._asdict() | {"duration": one.duration} for one in held if one.schedule],
    }
