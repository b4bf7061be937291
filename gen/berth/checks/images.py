"""Check that somebody can bring the images of a class onto its nodes before its sessions come."""

from collections.abc import Iterator

from berth.findings import Problem
from berth.machines.versions import version_text
from berth.manifests.placed import cluster_of
from berth.schema.declared import Declared
from berth.schema.values import Site

NO_VOLUMES = "B283"
VOLUMES_SINCE = (1, 33)  # Kubernetes whose kubelet can mount images, at least behind a feature gate


def check_image_volumes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Report image volumes in a cluster that is too old for them: its API server drops them."""
    for resource_class in declared.classes.values():
        cluster = cluster_of(resource_class, site)
        if cluster is None or cluster.kubernetes is None or not resource_class.images:
            continue
        if resource_class.image_warm_up in ("volume", "background") and cluster.kubernetes < VOLUMES_SINCE:
            version = version_text(cluster.kubernetes)
            message = f"Kubernetes {version} of cluster {cluster.name} cannot mount images as volumes."
            path = ("spec", "imageWarmUp")
            yield resource_class.origin.problem(
                NO_VOLUMES, path, message, "Write initContainer, or leave it out."
            )
