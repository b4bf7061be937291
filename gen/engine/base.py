"""What an engine is: a module with the names of `Engine`."""

from collections.abc import Sequence
from typing import Protocol

from gen.backend.base import Manifest
from gen.model import Cluster, ResourceClass, Site

RENDERED = "rendered"  # as engines find it below the repository's path


class Engine(Protocol):
    def of_cluster(self, site: Site, cluster: Cluster) -> list[Manifest]:
        """Its own objects for one cluster: gitops/<engine>/<cluster>.yaml. Empty: no file."""

    def of_site(
        self, site: Site, clusters: Sequence[Cluster], classes: Sequence[ResourceClass]
    ) -> dict[str, list[Manifest]]:
        """Its own objects for all of its clusters together, by file name below gitops/<engine>/."""


def source_path(site: Site, cluster: Cluster) -> str:
    """Of a cluster's manifests in the repository."""
    assert site.repository is not None
    inside = f"{RENDERED}/clusters/{cluster.name}"
    start = site.repository.path.strip("/").removeprefix("./")
    return inside if start in ("", ".") else f"{start}/{inside}"
