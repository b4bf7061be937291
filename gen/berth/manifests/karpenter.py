"""Karpenter's objects: EC2NodeClass and NodePool of a CloudCapacity, and static NodePools.

Karpenter hashes what it makes nodes of, and replaces every node when that changes. So labels of Berth, and
those in `metadata`, are on the objects themselves only. The templates are in templates/karpenter/.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from berth.backends.backendinterface import Manifest
from berth.core.labels import AFFINITY, CLASS, ROLE
from berth.machines.nodelabels import CAPACITY_TYPE
from berth.manifests import naming, nodeaffinity
from berth.manifests.nodeaffinity import as_requirements, own_budgets
from berth.quantity import canonical
from berth.schema.basemodel import Model
from berth.schema.cloudcapacity import CloudCapacity
from berth.schema.declared import Declared
from berth.schema.values import Cluster, ResourceClass, Site

if TYPE_CHECKING:
    from berth.machines.windowbudgets import WindowBudget, WindowBudgets

TEMPLATE = "karpenter/nodepool.yaml.j2"


def manifests(site: Site, cluster: Cluster, cloud: CloudCapacity, held: "WindowBudgets") -> list[Manifest]:
    """Return the EC2NodeClass and the NodePool of a capacity."""
    name, ours = naming.node_pool(site.name, cloud.name), naming.of_site(site)
    annotations = {**naming.untouched(cluster.engine), **cloud.own_annotations}
    metadata = {"name": name, "labels": {**ours, **cloud.own_labels}, "annotations": annotations}
    values = {
        **metadata,
        "is_static": False,
        "weight": cloud.weight,
        "limits": _limits(cloud),
        **_disruption(cloud, held.held),
        **_template(cloud, name, ()),
    }
    return [
        Manifest("karpenter/nodeclass.yaml.j2", {**metadata, "spec": _node_class(cloud)}),
        Manifest(TEMPLATE, values),
    ]


def snippets(site: Site, cluster: Cluster, cloud: CloudCapacity, declared: Declared) -> Iterator[Manifest]:
    """Yield what session pods need, for each class that prefers this capacity, by name.

    A class is in the file of one capacity only, so it has one such text.
    """
    for _, resource_class in sorted(declared.classes.items()):
        if resource_class.cloud_capacity[:1] != (cloud.name,):
            continue
        clouds = [declared.clouds[name] for name in resource_class.cloud_capacity]
        values = {
            "name": naming.session_snippet(resource_class.name),
            "namespace": cluster.namespace,
            "labels": {**naming.of_site(site), CLASS: resource_class.name, ROLE: AFFINITY},
            "text": nodeaffinity.snippet(site.name, resource_class, clouds),
        }
        yield Manifest("karpenter/snippet.yaml.j2", values)


def static_pool(
    site: Site, name: str, common: dict[str, Any], found: ResourceClass, cloud: CloudCapacity
) -> Manifest:
    """Return the NodePool of a pool of whole nodes; a Job sets its number of nodes, which is 0 in git.

    No pod requests anything, so the class alone selects the machines. A static NodePool takes no weight, and
    of limits only that of nodes.
    """
    limits = {key: amount for key, amount in _limits(cloud).items() if key == "nodes"}
    values = {
        "name": name,
        "labels": {**common["labels"], CLASS: found.name},
        "annotations": common["annotations"],
        "is_static": True,
        "weight": None,
        "limits": limits,
        **_disruption(cloud, ()),
        **_template(cloud, naming.node_pool(site.name, cloud.name), as_requirements(found)),
    }
    return Manifest(TEMPLATE, values)


def _node_class(cloud: CloudCapacity) -> dict[str, Any]:
    """Return the spec of the EC2NodeClass; the API refuses an empty list of terms."""
    spec, selected = cloud.node_class.dump(), cloud.capacity_terms
    spec.pop("capacityReservationSelectorTerms", None)
    return {**spec, **({"capacityReservationSelectorTerms": selected} if selected else {})}


def _limits(cloud: CloudCapacity) -> dict[str, str]:
    """Return the limits as Kubernetes writes them, so that git and the cluster do not differ."""
    return {key: canonical(amount) for key, amount in cloud.limits.items()}


def _template(cloud: CloudCapacity, node_class: str, selected: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the template of nodes. Karpenter hashes all of it but the requirements."""
    types = {"key": CAPACITY_TYPE, "operator": "In", "values": cloud.capacity_types}
    node = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": node_class},
        "requirements": [types, *_dumped(cloud.requirements), *selected],
        "taints": _dumped(cloud.taints),
        "startupTaints": _dumped(cloud.startup_taints),
        "expireAfter": cloud.expire_after,
        "terminationGracePeriod": cloud.termination_grace_period,
    }
    return {"node_labels": cloud.labels, "node": {key: value for key, value in node.items() if value}}


def _dumped(models: Sequence[Model]) -> tuple[dict[str, Any], ...]:
    """Return the models as in the API."""
    return tuple(model.dump() for model in models)


def _disruption(cloud: CloudCapacity, held: "Sequence[WindowBudget]") -> dict[str, Any]:
    """Return the disruption settings, with a line for each window, so that changes to two do not conflict."""
    said = {**cloud.disruption.dump(), "consolidateAfter": cloud.empty_after}
    said.pop("budgets", None)
    return {
        "disruption": said,
        "budgets": own_budgets(cloud),
        "is_held": any(not window_budget.schedule for window_budget in held),
        "windows": [
            window_budget._asdict() | {"duration": window_budget.duration}
            for window_budget in held
            if window_budget.schedule
        ],
    }
