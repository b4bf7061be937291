"""Flux: a source and one Kustomization a cluster.

From 2.9 on the Kustomization leaves replicas alone; for older ones the field is not rendered.
"""

from typing import Any

from gen.backend.base import Manifest
from gen.engine.base import source_path
from gen.manifest import labels, naming
from gen.model import Cluster, Site


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    options = cluster.engine_options
    assert site.repository is not None
    notes = dict(options.get("annotations", ()))
    common = {
        "namespace": options.get("namespace", "flux-system"),
        "labels": {**labels.of_site(site), **dict(options.get("labels", ()))},
        "annotations": notes,
        "has_annotations": bool(notes),
    }
    source = options.get("sourceName", naming.engine(site.name))
    found = []
    if "sourceName" not in options:
        found.append(Manifest("gitops/gitrepository.yaml.j2", {**common, **_repository(site, cluster)}))
    kustomization = {
        **common,
        "name": naming.application(site.name, cluster.name),
        "source_kind": options.get("sourceKind", "GitRepository"),
        "source": source,
        "path": f"./{source_path(site, cluster)}",
        "interval": options.get("interval", "10m"),
        "retry_interval": options.get("retryInterval", "1m"),
        "timeout": options.get("timeout", "5m"),
        "prune": options.get("prune", True),
        "suspend": options.get("suspend", False),
        "has_account": "serviceAccountName" in options,
        "account": options.get("serviceAccountName", ""),
        "has_kube_config": "kubeConfigSecret" in options,
        "kube_config": options.get("kubeConfigSecret", ""),
        "ignores_replicas": cluster.replicas_in_git,
        "site_label": f"{labels.SITE}={site.name}",
    }
    return [*found, Manifest("gitops/kustomization.yaml.j2", kustomization)]


def _repository(site: Site, cluster: Cluster) -> dict[str, Any]:
    assert site.repository is not None
    options = cluster.engine_options
    revision = site.repository.revision
    return {
        "name": naming.engine(site.name),
        "url": site.repository.url,
        "reference": {"name": revision if revision.startswith("refs/") else _reference(revision)},
        "interval": options.get("sourceInterval", "1m"),
        "has_secret": "sourceSecret" in options,
        "secret": options.get("sourceSecret", ""),
    }


def _reference(revision: str) -> str:
    return "HEAD" if revision == "HEAD" else f"refs/heads/{revision}"


def of_site(*_: object) -> dict[str, list[Manifest]]:
    """Nothing: each cluster has a Flux of its own, or shares one, and its file is whole."""
    return {}
