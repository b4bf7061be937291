"""The Deployments of placeholders, one for each pool. Their templates are in templates/placeholder/.

Placeholders also bring the images of their class onto their nodes before sessions need them.
"""

from collections.abc import Iterator
from typing import Any

from berth.backends.backendinterface import Manifest
from berth.core.labels import CLASS
from berth.manifests import naming, nodeaffinity, window
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, ResourceClass, Site

TEMPLATE = "placeholder/deployment.yaml.j2"


def deployments(
    site: Site, placed: Placed, common: dict[str, Any], scheduler: str = ""
) -> Iterator[Manifest]:
    """Yield the Deployments in the order of the classes. `scheduler` replaces that of the class."""
    notes = {**naming.unjudged(placed.cluster.engine), **common["annotations"]}
    for name, resource_class in zip(names(placed), placed.classes, strict=True):
        values = _pool(site, placed, resource_class, scheduler)
        labels = {**common["labels"], CLASS: resource_class.name}
        yield Manifest(TEMPLATE, {**common, **values, "name": name, "labels": labels, "annotations": notes})


def names(placed: Placed) -> list[str]:
    """Return the names of the Deployments, in the order of the classes."""
    return [naming.pool(placed.reservation.name, resource_class.name) for resource_class in placed.classes]


def _pool(site: Site, placed: Placed, found: ResourceClass, scheduler: str) -> dict[str, Any]:
    cluster, seat = placed.cluster, seat_values(site, placed, found)
    placement = seat["placement"]
    own = placement.get("tolerations", ())
    placement = {**placement, "tolerations": window.briefly_unreachable(own)}
    if scheduler:
        placement = {**placement, "schedulerName": scheduler}
    return {
        **seat,
        "replicas_in_git": cluster.replicas_in_git,
        "selector": naming.of_pool(site, placed.reservation, found),
        "placement": placement,
        **_claims(found, seat["resources"]),
        **warmup_values(found, cluster, seat["resources"]),
    }


def _claims(found: ResourceClass, resources: dict[str, Any]) -> dict[str, Any]:
    """Return what claims the devices of a seat: in its pod, and in the container that holds it."""
    claims = [
        {
            "name": claim.name,
            "resourceClaimTemplateName": claim.resource_claim_template_name
            if claim.devices is None
            else naming.claim_template(*claim.devices),
        }
        for claim in found.resource_claims
    ]
    names = [{"name": claim.name} for claim in found.resource_claims]
    return {
        "resource_claims": claims,
        "resources": {**resources, "claims": names} if names else resources,
    }


def seat_values(site: Site, placed: Placed, found: ResourceClass) -> dict[str, Any]:
    """Return the parts of a pod that has the size and the place of a seat."""
    amounts = {"requests": found.requests, "limits": found.limits}
    placement = nodeaffinity.placement(found)
    return {
        "pod_labels": naming.of_placeholder(site, placed.reservation, found),
        "pod_annotations": found.pod_annotations,
        "has_user": not placed.cluster.assigns_users,
        "priority_class": naming.placeholder_class(site, placed.cluster),
        "placement": placement,
        "image": placed.cluster.images.pause,
        "resources": {key: amount for key, amount in amounts.items() if amount},
    }


IMAGE_VOLUMES = (1, 35)  # Kubernetes from which on image volumes are on by default
INIT_CONTAINER = "initContainer"


def warmup_mode(found: ResourceClass, cluster: Cluster) -> str:
    """Return how the placeholders of a class get its images: volume, background, initContainer or none.

    By default image volumes where the cluster is known to have them. With `volume` a placeholder is ready
    once the images are on its node; with `background` it does not wait for them.
    """
    if not found.images:
        return "none"
    has_volumes = cluster.kubernetes is not None and cluster.kubernetes >= IMAGE_VOLUMES
    return found.image_warm_up or ("volume" if has_volumes else INIT_CONTAINER)


def warmup_values(found: ResourceClass, cluster: Cluster, resources: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a placeholder's pod that pull its images.

    An init container has the resources of the placeholder, which then needs no more than without it.
    """
    how = warmup_mode(found, cluster)
    named = [(f"image-{n}", image) for n, image in enumerate(found.images)]
    volumes = [
        {"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}}
        for name, image in named
        if how in ("volume", "background")
    ]
    mounts = [
        {"name": name, "mountPath": f"/images/{n}", "readOnly": True}
        for n, (name, _) in enumerate(named)
        if how == "volume"
    ]
    containers = [
        {
            "name": name,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": list(found.warm_up_command),
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "resources": resources,
        }
        for name, image in named
        if how == INIT_CONTAINER
    ]
    return {
        "volumes": volumes,
        "volume_mounts": mounts,
        "init_containers": containers,
        **window.pull_secrets(cluster, () if how == "none" else found.image_pull_secrets),
    }
