"""Every rule of RBAC: what the two ServiceAccounts of Berth need, and nothing else.

What is granted for objects by name is in the file of their reservation; what is granted for a whole
namespace, in the cluster's base. `list` includes reading the content of an object.
"""

from collections.abc import Iterable
from typing import Any

from berth.manifests import naming
from berth.manifests.backends.base import Manifest
from berth.manifests.naming import of_site
from berth.manifests.placed import Placed
from berth.schema.sessions import ClassSessions
from berth.schema.values import Cluster, ResourceClass, Site

Rule = dict[str, Any]
READ = ("list", "watch")
SLOTS = ("scheduling.koordinator.sh", ["reservations"])


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Rule:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


def granted(common: dict[str, Any], rules: list[Rule], account: str, home: str) -> list[Manifest]:
    """Return a Role and its binding.

    `common` has what both share: name, namespace, labels, perhaps annotations. `home` is the namespace of the
    ServiceAccount.
    """
    notes = common.get("annotations", {})
    shared = {**common, "annotations": notes, "has_annotations": bool(notes)}
    return [
        Manifest("rbac/role.yaml.j2", {**shared, "rules": rules}),
        Manifest("rbac/rolebinding.yaml.j2", {**shared, "service_account": account, "home": home}),
    ]


def of_pools(deployments: list[str]) -> list[Rule]:
    """Return the rules of an occurrence for the Deployments of its reservation."""
    return [
        _rule("apps", ["deployments"], ["get"], deployments),
        _rule("apps", ["deployments/scale"], ["get", "patch"], deployments),
    ]


def of_occurrences() -> list[Rule]:
    """Return the rules of occurrences in the Berth namespace.

    They read the timetables of other reservations to know whose a session is, and write their record to
    their Job.
    """
    return [
        _rule("", ["configmaps"], ["get", *READ]),
        _rule("", ["events"], ["create"]),
        _rule("batch", ["jobs"], ["get", "patch"]),
    ]


def of_sweep(*, prunes: bool) -> list[Rule]:
    """Return the rules of the sweep in the Berth namespace.

    It creates Jobs by server-side apply, which needs `patch` and `create`; not by name, as a name does not
    limit what a Job may mount. Where it prunes, it marks timetables of removed reservations and removes their
    Roles; elsewhere, it marks Deployments that have lost their timetable.
    """
    rules = [
        _rule("", ["configmaps"], ["list", "patch", "delete"] if prunes else ["list", "delete"]),
        _rule("", ["events"], ["create"]),
        _rule("", ["pods"], ["list"]),
        _rule("apps", ["deployments"], ["list", "delete"] if prunes else ["list", "patch", "delete"]),
        _rule("apps", ["deployments/scale"], ["get", "patch"]),
        _rule("batch", ["cronjobs"], ["list", "delete"]),
        _rule("batch", ["jobs"], ["get", "list", "create", "patch", "delete"]),
    ]
    if prunes:
        rules.append(_rule("rbac.authorization.k8s.io", ["rolebindings", "roles"], ["list", "delete"]))
    return rules


def of_slots() -> dict[str, list[Rule]]:
    """Return the rules for slots by ServiceAccount.

    They hold for the whole cluster: slots have no namespace, and their names are not known before. An
    occurrence patches a slot that ends later than planned; the sweep replaces it.
    """
    return {
        naming.OCCURRENCE: [_rule(*SLOTS, ["list", "create", "patch", "delete"])],
        naming.SWEEP: [_rule(*SLOTS, ["list", "create", "delete"])],
    }


def over_slots(site: Site, cluster: Cluster) -> list[Manifest]:
    """Return the ClusterRoles and bindings for slots, if the cluster has Koordinator."""
    if cluster.koordinator is None:
        return []
    found = []
    for account, rules in of_slots().items():
        name = naming.slot_role(site.name, account)
        found += _everywhere(name, of_site(site), rules, account, cluster.namespace)
    return found


def of_nodes(pools: list[str]) -> list[Rule]:
    """Return the rules of the occurrence and the sweep for the NodePools of a reservation.

    Neither removes them: an engine does.
    """
    return [
        _rule("karpenter.sh", ["nodepools"], ["get"], pools),
        _rule("karpenter.sh", ["nodepools/scale"], ["get", "patch"], pools),
    ]


def over_nodes(site: Site, placed: Placed, labels: dict[str, str]) -> list[Manifest]:
    """Return the ClusterRoles and bindings of a reservation with NodePools, which have no namespace."""
    names = [
        naming.static_pool(site.name, naming.pool(placed.reservation.name, one.name))
        for one in placed.classes
    ]
    found = []
    for account in (naming.OCCURRENCE, naming.SWEEP):
        name = naming.nodes_role(site.name, account, placed.reservation.name)
        found += _everywhere(name, labels, of_nodes(names), account, placed.cluster.namespace)
    return found


def _everywhere(
    name: str, labels: dict[str, str], rules: list[Rule], account: str, home: str
) -> list[Manifest]:
    """Return a ClusterRole and its binding."""
    common = {"name": name, "labels": labels}
    bound = {**common, "service_account": account, "home": home}
    return [
        Manifest("rbac/clusterrole.yaml.j2", {**common, "rules": rules}),
        Manifest("rbac/clusterrolebinding.yaml.j2", bound),
    ]


def of_all_nodes() -> Rule:
    """Return the rule by which the sweep lists NodePools."""
    return _rule("karpenter.sh", ["nodepools"], ["list"])


def over_all_nodes(site: Site, cluster: Cluster) -> list[Manifest]:
    """Return the ClusterRole and binding by which the sweep finds NodePools, where Berth may have some."""
    if not cluster.has_static_pools:
        return []
    name = naming.sweep_nodes_role(site.name)
    return _everywhere(name, of_site(site), [of_all_nodes()], naming.SWEEP, cluster.namespace)


def of_sessions(classes: Iterable[ResourceClass]) -> dict[str, list[Rule]]:
    """Return the rules by namespace, sorted: to read the kinds that the sessions of `classes` are."""
    found: dict[str, dict[str, set[str]]] = {}
    for one in classes:
        if one.sessions is not None:
            group, resource = _kind(one.sessions)
            for namespace in one.sessions.namespaces:
                found.setdefault(namespace, {}).setdefault(group, set()).add(resource)
    return {
        namespace: [_rule(group, sorted(found[namespace][group]), READ) for group in sorted(found[namespace])]
        for namespace in sorted(found)
    }


def _kind(sessions: ClassSessions) -> tuple[str, str]:
    """Return the API group and plural name of the kind that sessions are."""
    if sessions.source == "renku":
        return "amalthea.dev", "amaltheasessions"
    if sessions.source == "custom":
        return sessions.group or "", sessions.resource or ""
    return "", "pods"


def in_namespaces_of_sessions(
    site: Site, cluster: Cluster, classes: Iterable[ResourceClass]
) -> list[Manifest]:
    """Return the Roles and bindings in the namespaces of sessions; they carry the site in their name."""
    found = []
    for namespace, rules in of_sessions(classes).items():
        common = {
            "name": naming.session_role(site.name),
            "namespace": namespace,
            "labels": of_site(site),
        }
        found += granted(common, rules, naming.OCCURRENCE, cluster.namespace)
    return found
