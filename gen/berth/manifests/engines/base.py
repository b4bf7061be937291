"""What an engine is: a module with the names of `Engine`; and what its own objects share."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from berth.manifests import naming
from berth.manifests.backends.base import Manifest
from berth.schema.declared import Declared
from berth.schema.values import Cluster, Site

RENDERED = "rendered"  # as engines find it below the repository's path


class Engine(Protocol):
    def of_cluster(self, site: Site, cluster: Cluster) -> list[Manifest]:
        """Its own objects for one cluster: gitops/<engine>/<cluster>.yaml. Empty: no file."""

    def of_site(
        self, site: Site, clusters: Sequence[Cluster], declared: Declared
    ) -> dict[str, list[Manifest]]:
        """Its own objects for its `clusters` together, by file name below gitops/<engine>/."""


def source_path(site: Site, cluster: Cluster) -> str:
    """Of a cluster's manifests in the repository."""
    inside = f"{RENDERED}/clusters/{cluster.name}"
    start = site.repository.path if site.repository else ""
    return f"{start}/{inside}" if start else inside


def metadata(site: Site, cluster: Cluster, namespace: str, notes: Mapping[str, str]) -> dict[str, Any]:
    """Of an engine's own object; `notes` are our annotations, and what people write is put over them."""
    options = cluster.engine_options
    assert options.type != "none"
    annotations = {**notes, **options.annotations}
    return {
        "namespace": options.namespace or namespace,
        "labels": {**naming.of_site(site), **options.labels},
        "annotations": annotations,
        "has_annotations": bool(annotations),
    }
