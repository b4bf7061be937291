"""Argo CD: an AppProject that allows only the kinds that Berth renders, and an Application for each cluster.

Occurrences set replicas: the Application ignores them, and does not sync them.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from berth.backends.backendinterface import Manifest, backends_in
from berth.manifests import naming
from berth.manifests.engines.engineinterface import metadata, scaled_kinds, source_path
from berth.manifests.placed import cluster_named, cluster_of
from berth.manifests.rbac import RBAC, kinds_of_sessions
from berth.schema.declared import Declared
from berth.schema.engine import NAMESPACES
from berth.schema.values import Cluster, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.engineoptions import ArgoCD

NAMESPACE = NAMESPACES["argocd"]
_KINDS = (
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("apps", "Deployment"),
    ("batch", "CronJob"),
    (RBAC, "Role"),
    (RBAC, "RoleBinding"),
)
# Of classes with device claims. The claims themselves are children of pods.
_OF_DEVICES = tuple(("resource.k8s.io", kind) for kind in ("ResourceClaim", "ResourceClaimTemplate"))
_OF_MONITORING = (("monitoring.coreos.com", "PrometheusRule"),)
# What these create; Argo CD hides children of kinds that a project does not allow.
_CHILDREN = (("", "Pod"), ("apps", "ReplicaSet"), ("batch", "Job"))
# The project comes before its Applications, if another Application applies both.
_FIRST = {"argocd.argoproj.io/sync-wave": "-1"}
_COMPARED = {
    # With server-side apply, Argo CD no longer maintains the other way to compare.
    "argocd.argoproj.io/compare-options": "ServerSideDiff=true",
    # A commit that touches only other folders does not need new manifests.
    "argocd.argoproj.io/manifest-generate-paths": ".",
}
_SYNC_OPTIONS = (
    "RespectIgnoreDifferences=true",  # else what is ignored is still written whenever something else is
    "ServerSideApply=true",  # a long timetable would not fit into the annotation of client-side apply
    "ApplyOutOfSyncOnly=true",  # what did not change is left alone
)


def argocd_of(cluster: Cluster) -> "ArgoCD":
    """Return the options of a cluster whose engine is Argo CD."""
    assert cluster.engine == "argocd"
    return cast("ArgoCD", cluster.engine_options)


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    if site.repository is None:
        return []
    options = argocd_of(cluster)
    # Each option once, as Argo CD only looks for lines; options of the site replace the defaults.
    lines = (*_SYNC_OPTIONS, *(options.sync_options or ()))
    values = {
        **metadata(site, cluster, NAMESPACE, _COMPARED),
        "name": naming.application(site.name, cluster.name),
        "project": options.project or naming.project(site.name),
        "has_finalizer": bool(options.cascade),
        "repository": site.repository.url,
        "revision": site.repository.revision,
        "path": source_path(site, cluster),
        "is_folder": not site.kustomization,
        "destination": _destination(cluster, cluster.namespace),
        "has_koordinator": cluster.koordinator is not None,
        "scaled_kinds": scaled_kinds(cluster),
        "is_automated": options.automated is not False,
        "automated": {"prune": options.prune is not False, "selfHeal": options.self_heal is not False},
        "retries": 5 if options.retries is None else options.retries,
        "options": list({line.partition("=")[0]: line for line in lines}.values()),
    }
    return [Manifest("gitops/application.yaml.j2", values)]


def of_site(site: Site, clusters: Sequence[Cluster], declared: Declared) -> dict[str, list[Manifest]]:
    """Return the project, in each namespace of an Argo CD unless all its clusters name their own project."""
    by_namespace: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        options = argocd_of(cluster)
        if options.project is None:
            by_namespace.setdefault(options.namespace or NAMESPACE, []).append(cluster)
    projects = [_project(site, ours, declared) for ours in by_namespace.values()] if site.repository else []
    return {"project.yaml": projects} if projects else {}


def _project(site: Site, clusters: Sequence[Cluster], declared: Declared) -> Manifest:
    """Return the AppProject; its labels and annotations are those of the first of its clusters."""
    assert site.repository is not None
    destinations: dict[tuple[str, ...], dict[str, str]] = {}
    for cluster in clusters:
        for namespace in _namespaces(site, cluster, declared):
            destinations[(*cluster.destination_of_argocd, namespace)] = _destination(cluster, namespace)
    accounts = {tuple(one.values()): one for cluster in clusters for one in _account(cluster)}
    values = {
        **metadata(site, clusters[0], NAMESPACE, _FIRST),
        "name": naming.project(site.name),
        "repository": site.repository.url,
        "destinations": list(destinations.values()),
        "cluster_kinds": _cluster_kinds(site, clusters, declared),
        "kinds": [{"group": group, "kind": kind} for group, kind in sorted(_kinds(site, clusters, declared))],
        "accounts": list(accounts.values()),
    }
    return Manifest("gitops/appproject.yaml.j2", values)


def _kinds(site: Site, clusters: Sequence[Cluster], declared: Declared) -> set[tuple[str, str]]:
    """Return the groups and kinds of namespaced objects."""
    claims_devices = any(
        one.resource_claims and cluster_of(one, site) in clusters for one in declared.classes.values()
    )
    has_rules = any(cluster.monitoring.prometheus_rule for cluster in clusters)
    of_backends = {
        kind for cluster in clusters for backend in backends_in(cluster) for kind in backend.namespaced_kinds
    }
    return {
        *_KINDS,
        *_CHILDREN,
        *of_backends,
        *(_OF_DEVICES if claims_devices else ()),
        *(_OF_MONITORING if has_rules else ()),
    }


def _destination(cluster: Cluster, namespace: str) -> dict[str, str]:
    key, value = cluster.destination_of_argocd
    return {key: value, "namespace": namespace}


def _namespaces(site: Site, cluster: Cluster, declared: Declared) -> list[str]:
    """Return the Berth namespace, and those of sessions and held numbers, which have Roles of Berth."""
    found = {cluster.namespace, *(name for held in cluster.held for name in held.namespaces or ())}
    for resource_class in _classes(site, cluster, declared):
        if resource_class.sessions:
            found.update(resource_class.sessions.namespace_names)
    return sorted(found)


def _classes(site: Site, cluster: Cluster, declared: Declared) -> Iterator[ResourceClass]:
    return (one for one in declared.classes.values() if cluster_of(one, site) is cluster)


def _account(cluster: Cluster) -> list[dict[str, str]]:
    """Return the account to sync with; only servers are known here, destinations restrict the rest."""
    account = argocd_of(cluster).service_account
    if account is None:
        return []
    key, value = cluster.destination_of_argocd
    server = value if key == "server" else "*"
    return [{"server": server, "namespace": cluster.namespace, "defaultServiceAccount": account}]


def _cluster_kinds(site: Site, clusters: Sequence[Cluster], declared: Declared) -> list[dict[str, str]]:
    """Return cluster-scoped kinds, by name, so that a mistake here cannot reach another team's objects."""
    named = {("", "Namespace", cluster.namespace) for cluster in clusters if cluster.creates_namespace}
    for cluster in clusters:
        for backend in backends_in(cluster):
            named.update(backend.cluster_kinds(site, cluster))
        if any(cluster_named(cloud.cluster, site) is cluster for cloud in declared.clouds.values()):
            pattern = naming.node_pool(site.name, "*")  # so that a new capacity changes no project
            named |= {("karpenter.k8s.aws", "EC2NodeClass", pattern), ("karpenter.sh", "NodePool", pattern)}
        named.update(kinds_of_sessions(site, _classes(site, cluster, declared)))
    named |= {
        ("scheduling.k8s.io", "PriorityClass", naming.priority_class(site.name, cluster.priority))
        for cluster in clusters
        if not cluster.existing_priority_class
    }
    if any(argocd_of(cluster).version == "3.2" for cluster in clusters):
        return [{"group": group, "kind": kind} for group, kind in sorted({one[:2] for one in named})]
    return [{"group": group, "kind": kind, "name": name} for group, kind, name in sorted(named)]
