"""Flux: a source and a Kustomization for each cluster, so that its file is whole wherever its Flux runs.

From 2.9 on the Kustomization leaves replicas alone; for older ones the field is not rendered.
"""

import re
from collections.abc import Mapping
from typing import Any

from gen.backend.base import Manifest
from gen.engine.base import metadata, source_path
from gen.manifest import naming
from gen.model import Cluster, Site
from gen.runtime.labels import SITE
from gen.schema.grammar import is_artifact

NAMESPACE = "flux-system"


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    options = cluster.engine_options
    name = naming.application(site.name, cluster.name)
    common = {**metadata(site, cluster, NAMESPACE, {}), "name": name}
    kustomization = Manifest(
        "gitops/kustomization.yaml.j2",
        {
            **common,
            "source_kind": _source_kind(site, cluster),
            "source": options.get("sourceName", name),
            "path": f"./{options.get('path', source_path(site, cluster))}",
            "interval": options.get("interval", "10m"),
            "retry_interval": options.get("retryInterval", "1m"),
            "timeout": options.get("timeout", "5m"),
            "prune": {"prune": options.get("prune", True)},
            **_optional(cluster),
            "has_koordinator": cluster.koordinator is not None,
            "ignores_replicas": cluster.replicas_in_git,
            "has_static_pools": cluster.has_static_pools and cluster.replicas_in_git,
            "site_label": f"{SITE}={site.name}",
        },
    )
    if "sourceName" in options:
        return [kustomization]
    if site.repository is None:
        return []
    reference = _of_artifact if is_artifact(site.repository.url) else _of_git
    source = {
        **common,
        "url": site.repository.url,
        "reference": reference(site.repository.revision),
        "interval": options.get("sourceInterval", "1m"),
        "has_provider": "sourceProvider" in options,
        "provider": options.get("sourceProvider", ""),
        "has_secret": "sourceSecret" in options,
        "secret": options.get("sourceSecret", ""),
    }
    template = f"gitops/{_source_kind(site, cluster).lower()}.yaml.j2"
    return [Manifest(template, source), kustomization]


def _source_kind(site: Site, cluster: Cluster) -> str:
    """Of their own source, or of ours."""
    if "sourceName" in cluster.engine_options:
        found: str = cluster.engine_options.get("sourceKind", "GitRepository")
        return found
    return "OCIRepository" if site.repository and is_artifact(site.repository.url) else "GitRepository"


def _optional(cluster: Cluster) -> dict[str, Any]:
    options = cluster.engine_options
    return {
        "suspend": options.get("suspend", False),
        "has_deletion_policy": "deletionPolicy" in options,
        "deletion_policy": options.get("deletionPolicy", ""),
        "has_dependencies": bool(options.get("dependsOn")),
        "dependencies": [{"name": name} for name in options.get("dependsOn", ())],
        "has_account": "serviceAccountName" in options,
        "account": options.get("serviceAccountName", ""),
        **_kube_config(options),
    }


def _kube_config(options: Mapping[str, Any]) -> dict[str, Any]:
    for option, key in (("kubeConfigSecret", "secretRef"), ("kubeConfigMap", "configMapRef")):
        if option in options:
            return {"has_kube_config": True, "kube_config": {key: {"name": options[option]}}}
    return {"has_kube_config": False, "kube_config": {}}


def _of_artifact(revision: str) -> dict[str, str]:
    return {"digest" if revision.startswith("sha256:") else "tag": revision}


def _of_git(revision: str) -> dict[str, str]:
    """A whole reference, a commit, or a branch."""
    if revision.startswith("refs/"):
        return {"name": revision}
    return {"commit": revision} if re.fullmatch(r"[0-9a-f]{40}", revision) else {"branch": revision}


def of_site(*_: object) -> dict[str, list[Manifest]]:
    """Nothing: what two clusters had in common would stand twice in the folder."""
    return {}
