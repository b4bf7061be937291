"""Argo CD: an AppProject that allows just our kinds, and one Application a cluster.

Replicas are the occurrence's: the Application ignores them, and leaves them alone when it syncs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gen.backend.base import Manifest
from gen.engine.base import source_path
from gen.manifest import labels, naming
from gen.model import Cluster, ResourceClass, Site

_KINDS = (
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("apps", "Deployment"),
    ("batch", "CronJob"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
)
# What these make; Argo CD hides the children of kinds that a project does not allow.
_CHILDREN = (("", "Event"), ("", "Pod"), ("apps", "ReplicaSet"), ("batch", "Job"))


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    options = cluster.engine_options
    assert site.repository is not None
    return [
        Manifest(
            "gitops/application.yaml.j2",
            {
                **_common(site, cluster),
                "name": naming.application(site.name, cluster.name),
                "project": options.get("project", naming.engine(site.name)),
                "has_finalizer": options.get("cascade", False),
                "repository": site.repository.url,
                "revision": site.repository.revision,
                "path": source_path(site, cluster),
                "destination": _destination(cluster, cluster.namespace),
                "is_automated": options.get("automated", True),
                "automated": {"prune": options.get("prune", True), "selfHeal": options.get("selfHeal", True)},
                "retries": options.get("retries", 5),
                "options": _sync_options(options),
            },
        )
    ]


def of_site(
    site: Site, clusters: Sequence[Cluster], classes: Sequence[ResourceClass]
) -> dict[str, list[Manifest]]:
    """The project, where not all clusters name one of their own."""
    ours = [cluster for cluster in clusters if "project" not in cluster.engine_options]
    if not ours or site.repository is None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for cluster in ours:
        values = found.setdefault(
            cluster.engine_options.get("namespace", "argocd"),
            {
                **_common(site, cluster),
                "name": naming.engine(site.name),
                "repository": site.repository.url,
                "destinations": [],
                "cluster_kinds": _cluster_kinds(site, ours),
                "kinds": [{"group": group, "kind": kind} for group, kind in sorted({*_KINDS, *_CHILDREN})],
            },
        )
        values["destinations"] += [
            _destination(cluster, namespace) for namespace in _namespaces(cluster, classes, site)
        ]
    return {"project.yaml": [Manifest("gitops/appproject.yaml.j2", values) for values in found.values()]}


def _common(site: Site, cluster: Cluster) -> dict[str, Any]:
    options = cluster.engine_options
    notes = dict(options.get("annotations", ()))
    return {
        "namespace": options.get("namespace", "argocd"),
        "labels": {**labels.of_site(site), **dict(options.get("labels", ()))},
        "annotations": notes,
        "has_annotations": bool(notes),
    }


def _destination(cluster: Cluster, namespace: str) -> dict[str, str]:
    key, value = cluster.destination
    return {key: value, "namespace": namespace}


def _namespaces(cluster: Cluster, classes: Sequence[ResourceClass], site: Site) -> list[str]:
    """Ours, and those of the sessions, where our Roles are."""
    found = {cluster.namespace}
    for one in classes:
        if one.sessions and (one.cluster or site.clusters[0].name) == cluster.name:
            found.update(one.sessions.namespaces)
    return sorted(found)


def _cluster_kinds(site: Site, clusters: Sequence[Cluster]) -> list[dict[str, str]]:
    """By name, so that a mistake in this repository cannot reach another team's."""
    named = {("", "Namespace", cluster.namespace) for cluster in clusters}
    named |= {
        ("scheduling.k8s.io", "PriorityClass", naming.priority_class(site.name, cluster.priority))
        for cluster in clusters
    }
    return [{"group": group, "kind": kind, "name": name} for group, kind, name in sorted(named)]


def _sync_options(options: Mapping[str, Any]) -> list[str]:
    """A person's own come after ours: of one that stands twice, Argo CD takes the last."""
    return ["RespectIgnoreDifferences=true", "ServerSideApply=true", *options.get("syncOptions", ())]
