"""The objects that a cluster has once: namespace, PriorityClass, RBAC, sweep, and the code.

They stay when the last reservation is removed. Only the inventory names reservations.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from berth.backends.backendinterface import Manifest
from berth.core.labels import CODE, ROLE, SWEEP
from berth.manifests import code, naming, rbac, window
from berth.quantity import parse
from berth.schema.values import Cluster, ResourceClass, Site

INVENTORY_HEAD = "# All reservations of this cluster, one a line. What is not named here is removed."
OBJECTS_HEAD = "# All CronJobs of reservations but the first of each, which has the reservation's name."
SLOTS_HEAD = "# All slots that stand: reservation, name, shape and number of each pool."
SWEEP_MEMORY = "256Mi"  # the least limit


def manifests(site: Site, cluster: Cluster, classes: Sequence[ResourceClass]) -> list[Manifest]:
    """Return the objects of a cluster's base; `classes` are the classes of this cluster."""
    ours = naming.of_site(site)
    common = {"namespace": cluster.namespace, "labels": ours}
    found: list[Manifest] = []
    if cluster.creates_namespace:
        found.append(Manifest("base/namespace.yaml.j2", {"name": cluster.namespace, "labels": ours}))
    if not cluster.existing_priority_class:
        values = {
            "name": naming.priority_class(site.name, cluster.priority),
            "labels": ours,
            "value": cluster.priority,
        }
        found.append(Manifest("base/priorityclass.yaml.j2", values))
    found += rbac.of_base(site, cluster, classes)
    found.append(Manifest("base/sweep.yaml.j2", {**common, **_sweep(site, cluster)}))
    return [*found, *_claim_templates(common, classes)]


def _claim_templates(common: dict[str, Any], classes: Iterable[ResourceClass]) -> Iterator[Manifest]:
    """Yield the ResourceClaimTemplates of the devices that classes claim; equal claims share one."""
    claims = (claim for resource_class in classes for claim in resource_class.resource_claims)
    for count, device_class in sorted({claim.devices for claim in claims if claim.devices is not None}):
        values = {
            "name": naming.claim_template(count, device_class),
            "count": count,
            "device_class": device_class,
        }
        yield Manifest("base/resourceclaimtemplate.yaml.j2", {**common, **values})


def runtime(site: Site, cluster: Cluster, plugins: Iterable[str]) -> list[Manifest]:
    """Return the ConfigMaps of the in-cluster code; none where an image contains it.

    `plugins` are those that reservations use.
    """
    common = {
        "namespace": cluster.namespace,
        "labels": {**naming.of_site(site), ROLE: CODE},
        "annotations": {**naming.kept(cluster.engine), **naming.untouched(cluster.engine)},
    }
    return [
        Manifest(
            "base/code.yaml.j2",
            {
                **common,
                "name": found.name,
                "files": [{"name": file, "text": text} for file, text in found.files.items()],
            },
        )
        for found in code.of_cluster(cluster, plugins)
    ]


def _sweep(site: Site, cluster: Cluster) -> dict[str, Any]:
    return {
        "name": naming.SWEEP,
        "pod_labels": {**naming.of_job_pod(site, cluster), ROLE: SWEEP},
        "service_account": naming.SWEEP,
        "site": site.name,
        "engine": cluster.engine,
        "inventory": naming.INVENTORY if cluster.sweep_prunes else "",
        "kinds": ",".join(kind.name for kind in cluster.seat_kinds),
        **window.pod(cluster, code.of_sweep(cluster)),
        "resources": _with_memory(cluster.job_resources),
    }


def _with_memory(resources: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Raise the memory limit for the sweep, which holds all timetables: 118 MiB for a thousand."""
    limits = resources.get("limits", {})
    if "memory" not in limits or (parse(limits["memory"]) or 0) >= (parse(SWEEP_MEMORY) or 0):
        return resources
    return {**resources, "limits": {**limits, "memory": SWEEP_MEMORY}}


def inventory(
    site: Site, cluster: Cluster, reservations: Sequence[str], slots: Sequence[str], cronjobs: Sequence[str]
) -> Manifest:
    """Return the ConfigMap that names reservations, persistent slots and CronJobs, each sorted.

    Its first line tells an inventory without reservations from one that was emptied by hand.
    """
    values = {
        "name": naming.INVENTORY,
        "namespace": cluster.namespace,
        "labels": naming.of_site(site),
        "reservations": "".join(f"{line}\n" for line in (INVENTORY_HEAD, *reservations)),
        "has_slots": cluster.koordinator is not None,
        "objects": "".join(f"{line}\n" for line in (OBJECTS_HEAD, *cronjobs)),
        "slots": "".join(f"{line}\n" for line in (SLOTS_HEAD, *slots)),
    }
    return Manifest("base/inventory.yaml.j2", values)
