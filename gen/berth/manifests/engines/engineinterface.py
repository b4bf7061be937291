"""The interface of an engine, a module with the functions of `Engine`; and what engines' objects share."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from berth.backends.backendinterface import Manifest
from berth.core.objects import DEPLOYMENT, SCALED, ObjectKind
from berth.manifests import naming
from berth.schema.declared import Declared
from berth.schema.values import Cluster, Site

RENDERED = "rendered"  # as engines find it below the repository's path


class Engine(Protocol):
    def of_cluster(self, site: Site, cluster: Cluster) -> list[Manifest]:
        """Return its own objects for one cluster: gitops/<engine>/<cluster>.yaml. Empty: no file."""

    def of_site(
        self, site: Site, clusters: Sequence[Cluster], declared: Declared
    ) -> dict[str, list[Manifest]]:
        """Return its own objects for its `clusters` together, by file name below gitops/<engine>/."""


def source_path(site: Site, cluster: Cluster) -> str:
    """Return the path of a cluster's manifests in the repository."""
    inside = f"{RENDERED}/clusters/{cluster.name}"
    start = site.repository.path if site.repository else ""
    return f"{start}/{inside}" if start else inside


def scaled_kinds(cluster: Cluster) -> list[ObjectKind]:
    """Return the kinds whose replicas an engine leaves alone."""
    return [kind for kind in (DEPLOYMENT, *cluster.seat_kinds) if kind in SCALED]


def metadata(site: Site, cluster: Cluster, namespace: str, notes: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata of an engine's object; annotations of the site replace those in `notes`."""
    options = cluster.engine_options
    assert options.type != "none"
    return {
        "namespace": options.namespace or namespace,
        "labels": {**naming.of_site(site), **options.labels},
        "annotations": {**notes, **options.annotations},
    }
