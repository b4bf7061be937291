"""Every rule of RBAC."""

from collections.abc import Iterable
from typing import Any

from berth.manifests import naming
from berth.manifests.backends.base import Manifest
from berth.manifests.naming import of_site
from berth.manifests.placed import Placed
from berth.schema.sessions import ClassSessions
from berth.schema.values import Cluster, ResourceClass, Site

# What our two ServiceAccounts may do, as rules of RBAC: what they need, and nothing else. What is granted
# for objects by name stands in the file of their reservation; what is granted for a whole namespace, in the
# cluster's base. Whoever may list an object may read it: `list` has all of its content.

Rule = dict[str, Any]
READ = ("list", "watch")
SLOTS = ("scheduling.koordinator.sh", ["reservations"])


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Rule:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


def granted(common: dict[str, Any], rules: list[Rule], account: str, home: str) -> list[Manifest]:
    """A Role and its binding. `common` has what both share: name, namespace, labels, perhaps annotations.
    `home` is the namespace of the ServiceAccount.
    """
    notes = common.get("annotations", {})
    shared = {**common, "annotations": notes, "has_annotations": bool(notes)}
    return [
        Manifest("rbac/role.yaml.j2", {**shared, "rules": rules}),
        Manifest("rbac/rolebinding.yaml.j2", {**shared, "service_account": account, "home": home}),
    ]


def of_pools(deployments: list[str]) -> list[Rule]:
    """The occurrence's, for the Deployments of one reservation."""
    return [
        _rule("apps", ["deployments"], ["get"], deployments),
        _rule("apps", ["deployments/scale"], ["get", "patch"], deployments),
    ]


def of_occurrences() -> list[Rule]:
    """In our namespace. Timetables of others are read because their sessions may be ours; the record of an
    occurrence is written to its Job.
    """
    return [
        _rule("", ["configmaps"], ["get", *READ]),
        _rule("", ["events"], ["create"]),
        _rule("batch", ["jobs"], ["get", "patch"]),
    ]


def of_sweep(*, prunes: bool) -> list[Rule]:
    """In our namespace. Jobs are made by server-side apply, which is `patch` and `create`; of any name, for a
    name does not limit what a Job may mount. Where it prunes, the sweep marks timetables of reservations that
    are gone, and removes their Roles; elsewhere, Deployments that have lost their timetable.
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
    """By ServiceAccount, for all of a cluster: slots have no namespace, and no name before they are made. The
    occurrence patches what ends later than it was thought to; the sweep lets such ones go and makes others.
    """
    return {
        naming.OCCURRENCE: [_rule(*SLOTS, ["list", "create", "patch", "delete"])],
        naming.SWEEP: [_rule(*SLOTS, ["list", "create", "delete"])],
    }


def over_slots(site: Site, cluster: Cluster) -> list[Manifest]:
    """ClusterRoles and their bindings, where the cluster has Koordinator."""
    if cluster.koordinator is None:
        return []
    found = []
    for account, rules in of_slots().items():
        name = naming.slot_role(site.name, account)
        found += _everywhere(name, of_site(site), rules, account, cluster.namespace)
    return found


def of_nodes(pools: list[str]) -> list[Rule]:
    """The occurrence's and the sweep's, for the NodePools of one reservation. Neither removes them: an engine
    does, wherever there may be any.
    """
    return [
        _rule("karpenter.sh", ["nodepools"], ["get"], pools),
        _rule("karpenter.sh", ["nodepools/scale"], ["get", "patch"], pools),
    ]


def over_nodes(site: Site, placed: Placed, labels: dict[str, str]) -> list[Manifest]:
    """ClusterRoles of a reservation and their bindings: NodePools have no namespace."""
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
    """A ClusterRole and its binding."""
    common = {"name": name, "labels": labels}
    bound = {**common, "service_account": account, "home": home}
    return [
        Manifest("rbac/clusterrole.yaml.j2", {**common, "rules": rules}),
        Manifest("rbac/clusterrolebinding.yaml.j2", bound),
    ]


def of_all_nodes() -> Rule:
    """The sweep's."""
    return _rule("karpenter.sh", ["nodepools"], ["list"])


def over_all_nodes(site: Site, cluster: Cluster) -> list[Manifest]:
    """The sweep's, where there may be NodePools of ours: to look for them."""
    if not cluster.has_static_pools:
        return []
    name = naming.sweep_nodes_role(site.name)
    return _everywhere(name, of_site(site), [of_all_nodes()], naming.SWEEP, cluster.namespace)


def of_sessions(classes: Iterable[ResourceClass]) -> dict[str, list[Rule]]:
    """By namespace, sorted: the kinds in which the sessions of `classes` show themselves."""
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
    """API group and plural name."""
    if sessions.source == "renku":
        return "amalthea.dev", "amaltheasessions"
    if sessions.source == "custom":
        return sessions.group or "", sessions.resource or ""
    return "", "pods"


def in_namespaces_of_sessions(
    site: Site, cluster: Cluster, classes: Iterable[ResourceClass]
) -> list[Manifest]:
    """Roles where sessions live: these namespaces are other people's, so names carry the site."""
    found = []
    for namespace, rules in of_sessions(classes).items():
        common = {
            "name": naming.session_role(site.name),
            "namespace": namespace,
            "labels": of_site(site),
        }
        found += granted(common, rules, naming.OCCURRENCE, cluster.namespace)
    return found
