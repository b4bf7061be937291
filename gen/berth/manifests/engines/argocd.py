"""Argo CD: an AppProject that allows just our kinds, and one Application a cluster.

Replicas are the occurrence's: the Application ignores them, and leaves them alone when it syncs.
"""

from collections.abc import Iterator, Sequence

from berth.manifests import naming, slots
from berth.manifests.backends.base import Manifest
from berth.manifests.engines.base import metadata, source_path
from berth.manifests.placed import cluster_named, cluster_of
from berth.schema.declared import Declared
from berth.schema.engine import ArgoCD
from berth.schema.values import Cluster, Site

NAMESPACE = "argocd"
_KINDS = (
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("apps", "Deployment"),
    ("batch", "CronJob"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
)
# What these make; Argo CD hides the children of kinds that a project does not allow.
_CHILDREN = (("", "Pod"), ("apps", "ReplicaSet"), ("batch", "Job"))
# The project is there before its Applications, where they are applied by an Application of their own.
_FIRST = {"argocd.argoproj.io/sync-wave": "-1"}
_COMPARED = {
    # With server-side apply, the other way to compare is no longer looked after.
    "argocd.argoproj.io/compare-options": "ServerSideDiff=true",
    # A commit that touches other folders only is no reason to make the manifests again.
    "argocd.argoproj.io/manifest-generate-paths": ".",
}
_SYNC_OPTIONS = (
    "RespectIgnoreDifferences=true",  # else what is ignored is still written whenever something else is
    "ServerSideApply=true",  # a long timetable would not fit into the annotation of client-side apply
    "ApplyOutOfSyncOnly=true",  # what did not change is left alone
)


def argocd_of(cluster: Cluster) -> ArgoCD:
    """Return the options of a cluster whose engine is Argo CD."""
    assert isinstance(cluster.engine_options, ArgoCD)
    return cluster.engine_options


def of_cluster(site: Site, cluster: Cluster) -> list[Manifest]:
    if site.repository is None:
        return []
    options = argocd_of(cluster)
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
        "has_static_pools": cluster.has_static_pools,
        "is_automated": options.automated is not False,
        "automated": {"prune": options.prune is not False, "selfHeal": options.self_heal is not False},
        "retries": 5 if options.retries is None else options.retries,
        "options": _sync_options(options.sync_options or ()),
    }
    return [Manifest("gitops/application.yaml.j2", values)]


def of_site(site: Site, clusters: Sequence[Cluster], declared: Declared) -> dict[str, list[Manifest]]:
    """The project, in each namespace of an Argo CD whose clusters do not all name one of their own."""
    by_namespace: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        options = argocd_of(cluster)
        if options.project is None:
            by_namespace.setdefault(options.namespace or NAMESPACE, []).append(cluster)
    projects = [_project(site, ours, declared) for ours in by_namespace.values()] if site.repository else []
    return {"project.yaml": projects} if projects else {}


def _project(site: Site, clusters: Sequence[Cluster], declared: Declared) -> Manifest:
    """Labels and annotations are those that the first of its clusters asks for."""
    assert site.repository is not None
    destinations: dict[tuple[str, ...], dict[str, str]] = {}
    for cluster in clusters:
        for namespace in _namespaces(site, cluster, declared):
            destinations[(*cluster.destination, namespace)] = _destination(cluster, namespace)
    accounts = {tuple(one.values()): one for cluster in clusters for one in _account(cluster)}
    values = {
        **metadata(site, clusters[0], NAMESPACE, _FIRST),
        "name": naming.project(site.name),
        "repository": site.repository.url,
        "destinations": list(destinations.values()),
        "cluster_kinds": _cluster_kinds(site, clusters, declared),
        "kinds": [{"group": group, "kind": kind} for group, kind in sorted({*_KINDS, *_CHILDREN})],
        "has_accounts": bool(accounts),
        "accounts": list(accounts.values()),
    }
    return Manifest("gitops/appproject.yaml.j2", values)


def _destination(cluster: Cluster, namespace: str) -> dict[str, str]:
    key, value = cluster.destination
    return {key: value, "namespace": namespace}


def _namespaces(site: Site, cluster: Cluster, declared: Declared) -> list[str]:
    """Ours, and those of the sessions, where our Roles are."""
    found = {cluster.namespace}
    for one in declared.classes.values():
        if one.sessions and cluster_of(one, site) is cluster:
            found.update(one.sessions.namespaces)
    return sorted(found)


def _account(cluster: Cluster) -> list[dict[str, str]]:
    """Argo CD knows servers only here; destinations are held to ours elsewhere in the project."""
    account = argocd_of(cluster).service_account
    if account is None:
        return []
    key, value = cluster.destination
    server = value if key == "server" else "*"
    return [{"server": server, "namespace": cluster.namespace, "defaultServiceAccount": account}]


def _cluster_kinds(site: Site, clusters: Sequence[Cluster], declared: Declared) -> list[dict[str, str]]:
    """By name, so that a mistake in this repository cannot reach another team's."""
    named = {("", "Namespace", cluster.namespace) for cluster in clusters}
    for cluster in clusters:
        if cluster.koordinator is not None:
            named.update(_koordinator_kinds(site, cluster))
        named.update(_karpenter_kinds(site, cluster, declared))
    named |= {
        ("scheduling.k8s.io", "PriorityClass", naming.priority_class(site.name, cluster.priority))
        for cluster in clusters
    }
    if any(argocd_of(cluster).version == "3.2" for cluster in clusters):
        return [{"group": group, "kind": kind} for group, kind in sorted({one[:2] for one in named})]
    return [{"group": group, "kind": kind, "name": name} for group, kind, name in sorted(named)]


def _koordinator_kinds(site: Site, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """With patterns, for slots and profiles are called after reservations."""
    for account in (naming.OCCURRENCE, naming.SWEEP):
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            yield "rbac.authorization.k8s.io", kind, naming.slot_role(site.name, account)
    yield slots.GROUP, slots.KIND, naming.slot(site.name, "*")
    if cluster.koordinator is not None and cluster.koordinator.colocation_profiles:
        yield "config.koordinator.sh", "ClusterColocationProfile", naming.affinity_profile(site.name, "*", 1)


def _karpenter_kinds(site: Site, cluster: Cluster, declared: Declared) -> Iterator[tuple[str, str, str]]:
    """With patterns too: a new course with nodes of its own changes no project."""
    if any(cluster_named(cloud.cluster, site) is cluster for cloud in declared.clouds.values()):
        yield "karpenter.k8s.aws", "EC2NodeClass", naming.node_pool(site.name, "*")
        yield "karpenter.sh", "NodePool", naming.node_pool(site.name, "*")
    if cluster.has_static_pools:
        yield "karpenter.sh", "NodePool", naming.static_pool(site.name, "*")
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            for account in (naming.OCCURRENCE, naming.SWEEP):
                yield "rbac.authorization.k8s.io", kind, naming.nodes_role(site.name, account, "*")
            yield "rbac.authorization.k8s.io", kind, naming.sweep_nodes_role(site.name)


def _sync_options(own: Sequence[str]) -> list[str]:
    """Each once, for Argo CD only asks whether a line is there: a person's own replace ours."""
    lines = (*_SYNC_OPTIONS, *own)
    return list({line.partition("=")[0]: line for line in lines}.values())
