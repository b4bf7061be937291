"""How placeholders bring the images of their class onto their nodes before sessions need them."""

from typing import Any

from berth.manifests import window
from berth.schema.values import Cluster, ResourceClass

IMAGE_VOLUMES = (1, 35)  # Kubernetes from which on image volumes are on by default
INIT_CONTAINER = "initContainer"


def mode(found: ResourceClass, cluster: Cluster) -> str:
    """Return how the placeholders of a class get its images: volume, background, initContainer or none.

    By default image volumes where the cluster is known to have them. With `volume` a placeholder is ready
    once the images are on its node; with `background` it does not wait for them.
    """
    if not found.images.names:
        return "none"
    has_volumes = cluster.kubernetes is not None and cluster.kubernetes >= IMAGE_VOLUMES
    return found.images.warm_up or ("volume" if has_volumes else INIT_CONTAINER)


def pod_values(found: ResourceClass, cluster: Cluster, resources: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a placeholder's pod that pull its images.

    An init container has the resources of the placeholder, which then needs no more than without it.
    """
    how = mode(found, cluster)
    named = [(f"image-{n}", image) for n, image in enumerate(found.images.names)]
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
            "command": list(found.images.command),
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
        "has_volumes": bool(volumes),
        "volume_mounts": mounts,
        "has_volume_mounts": bool(mounts),
        "init_containers": containers,
        "has_init_containers": bool(containers),
        **window.pull_secrets(cluster, () if how == "none" else found.images.pull_secrets),
    }
