"""No engine: people, or something of their own, run `kubectl apply -R -f`. There is nothing to render."""

from collections.abc import Sequence

from gen.backend.base import Manifest
from gen.model import Cluster, ResourceClass, Site


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    return []


def of_site(
    site: Site, clusters: Sequence[Cluster], classes: Sequence[ResourceClass]
) -> dict[str, list[Manifest]]:
    return {}
