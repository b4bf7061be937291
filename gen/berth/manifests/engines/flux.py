"""Flux: a source and a Kustomization for each cluster, whose file is complete wherever its Flux runs.

From 2.9 on the Kustomization leaves replicas alone; for older ones the field is not rendered.
"""

import re
from typing import TYPE_CHECKING, Any, cast

from berth.backends.backendinterface import Manifest
from berth.core.labels import SITE
from berth.manifests import naming
from berth.manifests.engines.engineinterface import metadata, scaled_kinds, source_path
from berth.schema.engine import NAMESPACES
from berth.schema.grammar import is_artifact
from berth.schema.values import Cluster, Site

if TYPE_CHECKING:
    from berth.schema.engineoptions import Flux

NAMESPACE = NAMESPACES["flux"]


def flux_of(cluster: Cluster) -> "Flux":
    """Return the options of a cluster whose engine is Flux."""
    assert cluster.engine == "flux"
    return cast("Flux", cluster.engine_options)


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    options = flux_of(cluster)
    name = naming.application(site.name, cluster.name)
    common = {**metadata(site, cluster, NAMESPACE, {}), "name": name}
    kustomization = Manifest(
        "gitops/kustomization.yaml.j2",
        {
            **common,
            "source_kind": _source_kind(site, cluster),
            "source": options.source_name or name,
            "path": f"./{source_path(site, cluster) if options.path is None else options.path}",
            "interval": options.interval or "10m",
            "retry_interval": options.retry_interval or "1m",
            "timeout": options.timeout or "5m",
            "prune": {"prune": options.prune is not False},
            "suspend": bool(options.suspend),
            "deletion_policy": options.deletion_policy,
            "dependencies": [{"name": name} for name in options.depends_on or ()],
            "account": options.service_account_name,
            "kube_config": _kube_config(options),
            "has_koordinator": cluster.koordinator is not None,
            "scaled_kinds": scaled_kinds(cluster) if cluster.replicas_in_git else (),
            "site_label": f"{SITE}={site.name}",
        },
    )
    if options.source_name is not None:
        return [kustomization]
    if site.repository is None:
        return []
    reference = _of_artifact if is_artifact(site.repository.url) else _of_git
    source = {
        **common,
        "url": site.repository.url,
        "reference": reference(site.repository.revision),
        "interval": options.source_interval or "1m",
        "provider": options.source_provider,
        "secret": options.source_secret,
    }
    template = f"gitops/{_source_kind(site, cluster).lower()}.yaml.j2"
    return [Manifest(template, source), kustomization]


def _source_kind(site: Site, cluster: Cluster) -> str:
    """Return the kind of the source: one of the site's own, or the one that Berth renders."""
    options = flux_of(cluster)
    if options.source_name is not None:
        return options.source_kind or "GitRepository"
    return "OCIRepository" if site.repository and is_artifact(site.repository.url) else "GitRepository"


def _kube_config(options: "Flux") -> dict[str, Any]:
    if options.kube_config_secret is not None:
        return {"secretRef": {"name": options.kube_config_secret}}
    return {"configMapRef": {"name": options.kube_config_map}} if options.kube_config_map else {}


def _of_artifact(revision: str) -> dict[str, str]:
    return {"digest" if revision.startswith("sha256:") else "tag": revision}


def _of_git(revision: str) -> dict[str, str]:
    """Return the reference of a revision: a whole reference, a commit, or a branch."""
    if revision.startswith("refs/"):
        return {"name": revision}
    return {"commit": revision} if re.fullmatch(r"[0-9a-f]{40}", revision) else {"branch": revision}


def of_site(*_: object) -> dict[str, list[Manifest]]:
    """Return nothing: what two clusters share would be in the folder twice."""
    return {}
