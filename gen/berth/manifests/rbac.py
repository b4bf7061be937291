"""Every rule of RBAC: what the ServiceAccounts of the reservations and of the sweep need, and nothing else.

Each reservation has an account. What it may do is in the file of the reservation; what the sweep may do, and
what sessions there are to read, in the cluster's base. `list` includes reading the content of an object.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from berth.backends.backendinterface import Manifest, backends_in
from berth.core.labels import RESERVATION
from berth.core.objects import LEASE
from berth.manifests import naming
from berth.manifests.naming import of_site
from berth.manifests.placed import Placed, SessionKind, counts_sessions, session_kinds
from berth.schema.values import Cluster, ResourceClass, Site

Rule = dict[str, Any]
Values = Mapping[str, Any]
READ = ("list", "watch")
RBAC = "rbac.authorization.k8s.io"


class Access(NamedTuple):
    """A request that a ServiceAccount may make. An empty namespace is the whole cluster."""

    verb: str
    group: str
    resource: str  # perhaps with a subresource
    namespace: str = ""
    name: str = ""

    def describe(self) -> str:
        what = f"{self.resource}.{self.group}" if self.group else self.resource
        where = f" in {self.namespace}" if self.namespace else "" if self.name else " in the whole cluster"
        return f"{self.verb} {what}{f' {self.name}' if self.name else ''}{where}"


class Grant(NamedTuple):
    """A RoleBinding or ClusterRoleBinding, and what it lets a ServiceAccount do.

    An empty namespace is the whole cluster. `reservation` is empty for the sweep.
    """

    reservation: str
    account: str
    namespace: str
    binding: str
    role: str
    access: tuple[Access, ...]


def grants(manifests: Iterable[Manifest]) -> Iterator[Grant]:
    """Yield what the roles and bindings among the manifests grant."""
    ours = [manifest.values for manifest in manifests if manifest.template.startswith("rbac/")]
    rules = {(one.get("namespace", ""), one["name"]): one["rules"] for one in ours if "rules" in one}
    for one in ours:
        if "role" in one:
            namespace, role = one.get("namespace", ""), one["role"]
            access = tuple(each for rule in rules[namespace, role] for each in allowed(rule, namespace))
            reservation = one["labels"].get(RESERVATION, "")
            yield Grant(reservation, one["service_account"], namespace, one["name"], role, access)


def access_by_account(found: Iterable[Grant]) -> dict[str, list[Access]]:
    """Return what each ServiceAccount may do."""
    by_account: dict[str, list[Access]] = {}
    for grant in found:
        by_account.setdefault(grant.account, []).extend(grant.access)
    return by_account


def allowed(rule: Rule, namespace: str) -> Iterator[Access]:
    """Yield what a rule of a Role allows; an empty name means all names."""
    for group, resource, name, verb in product(
        rule["apiGroups"], rule["resources"], rule.get("resourceNames") or [""], rule["verbs"]
    ):
        yield Access(verb, group, resource, namespace, name)


def rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Rule:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


def _granted(common: Values, rules: list[Rule], account: str, home: str) -> list[Manifest]:
    """Return a ServiceAccount, its Role and its RoleBinding, which share name, labels and annotations."""
    return [
        Manifest("rbac/serviceaccount.yaml.j2", common),
        Manifest("rbac/role.yaml.j2", {**common, "rules": rules}),
        _binding(common, common["name"], account, home),
    ]


def _binding(common: Values, role: str, account: str, home: str) -> Manifest:
    """Return a RoleBinding. `home` is the namespace of the account."""
    bound = {"role": role, "service_account": account, "home": home}
    return Manifest("rbac/rolebinding.yaml.j2", {**common, **bound})


def cluster_role(name: str, labels: Values, rules: list[Rule]) -> Manifest:
    return Manifest("rbac/clusterrole.yaml.j2", {"name": name, "labels": labels, "rules": rules})


def cluster_binding(name: str, labels: Values, role: str, account: str, home: str) -> Manifest:
    bound = {"role": role, "service_account": account, "home": home}
    return Manifest("rbac/clusterrolebinding.yaml.j2", {"name": name, "labels": labels, **bound})


def namespaced_role(  # noqa: PLR0913, PLR0917
    name: str, namespace: str, labels: Values, rules: list[Rule], account: str, home: str
) -> list[Manifest]:
    """Return a Role in a namespace of somebody else, and its binding to an account in namespace `home`."""
    common = {"name": name, "namespace": namespace, "labels": labels, "annotations": {}}
    role = Manifest("rbac/role.yaml.j2", {**common, "rules": rules})
    return [role, _binding(common, name, account, home)]


# Of a reservation


def of_reservation(
    site: Site, placed: Placed, leases: Iterable[str], scaled: Iterable[Rule] = ()
) -> list[Manifest]:
    """Return the ServiceAccount of a reservation, its Role, and its RoleBindings.

    Those in the namespaces of its sessions bind it to a Role of the base for each kind that they are; where
    labels tell these namespaces, ClusterRoleBindings bind it to a ClusterRole. No label or annotation of an
    author is on them: a label may add a role to others, and an annotation may give an account a role in the
    cloud.
    """
    account, home = naming.single(placed.reservation.name), placed.cluster.namespace
    common: dict[str, Any] = {
        "name": account,
        "namespace": home,
        "labels": naming.of_permissions(site, placed.reservation),
        "annotations": naming.untouched(placed.cluster.engine),
    }
    manifests = _granted(common, of_occurrences(placed, leases, scaled), account, home)
    for namespace, kinds in session_kinds(placed.classes).items() if counts_sessions(placed) else ():
        here = placed.session_kinds[namespace]
        for suffix in (_suffix(kind, here) for kind in kinds):
            if namespace:
                name = naming.session_binding(site.name, placed.reservation.name, suffix)
                values = {**common, "name": name, "namespace": namespace}
                made = _binding(values, naming.session_role(site.name, suffix), account, home)
            else:
                name = naming.everywhere_binding(site.name, placed.reservation.name, suffix)
                role = naming.everywhere_role(site.name, suffix)
                made = cluster_binding(name, common["labels"], role, account, home)
            manifests.append(made)
    return manifests


def _suffix(kind: SessionKind, kinds: Sequence[SessionKind]) -> str:
    """Return what distinguishes the Role of a kind among the `kinds` of a namespace; nothing for the first.

    Nearly every namespace has one kind.
    """
    return "" if kind == kinds[0] else kind.qualified


def of_occurrences(placed: Placed, leases: Iterable[str], scaled: Iterable[Rule]) -> list[Rule]:
    """Return the rules of a reservation's Jobs in the Berth namespace.

    `scaled` are those of what they scale. They write their record and Leases by server-side apply,
    by name. Where they count sessions, they read all timetables of the site to know whose a session is.
    """
    name = placed.reservation.name
    rules = [
        rule("", ["configmaps"], ["get"], [naming.single(name)]),
        rule("", ["configmaps"], ["get", "create", "patch"], [naming.record(name)]),
        rule("", ["events"], ["create"]),
        rule(LEASE.group, ["leases"], ["get", "create", "patch"], leases),
    ]
    if counts_sessions(placed):
        rules.insert(0, rule("", ["configmaps"], READ))
    return [*rules, *scaled]


def of_deployments(placed: Placed, names: Sequence[str]) -> list[Rule]:
    """Return the rules by which the Jobs of a reservation scale its Deployments.

    In a rehearsal they read why placeholders are not ready, which their pods and the Events about them say.
    """
    reads = [rule("", ["events", "pods"], ["list"])] if placed.reservation.spec.rehearses else []
    return [*reads, *of_scaled("apps", "deployments", names)]


def of_scaled(group: str, resource: str, names: Iterable[str]) -> list[Rule]:
    return [
        rule(group, [resource], ["get"], names),
        rule(group, [f"{resource}/scale"], ["get", "patch"], names),
    ]


def kinds_of_sessions(site: Site, classes: Iterable[ResourceClass]) -> Iterator[tuple[str, str, str]]:
    """Yield group, kind and name of what the sessions of a cluster need beyond namespaces, by patterns."""
    if "" in session_kinds(classes):
        for kind in ("", "*"):
            yield RBAC, "ClusterRole", naming.everywhere_role(site.name, kind)
        yield RBAC, "ClusterRoleBinding", naming.everywhere_binding(site.name, "*")


# Of a cluster


def of_base(site: Site, cluster: Cluster, classes: Iterable[ResourceClass]) -> list[Manifest]:
    """Return what the sweep may do, and the roles that reservations bind their accounts to."""
    ours, home = of_site(site), cluster.namespace
    common = {"name": naming.SWEEP, "namespace": home, "labels": ours, "annotations": {}}
    more = [sweep_rule for backend in backends_in(cluster) for sweep_rule in backend.sweep_rules()]
    rules = of_sweep(more, prunes=cluster.sweep_prunes)
    manifests = _granted(common, rules, naming.SWEEP, home)
    for namespace, kinds in session_kinds(classes).items():
        for kind in kinds:
            suffix, rules = _suffix(kind, kinds), [rule(kind.group, [kind.resource], READ)]
            if not namespace:
                rules.append(rule("", ["namespaces"], READ))
                manifests.append(cluster_role(naming.everywhere_role(site.name, suffix), ours, rules))
                continue
            values = {**common, "name": naming.session_role(site.name, suffix), "namespace": namespace}
            manifests.append(Manifest("rbac/role.yaml.j2", {**values, "rules": rules}))
    for backend in backends_in(cluster):
        manifests += backend.cluster_permissions(site, cluster)
    return manifests


def of_sweep(more: Iterable[Rule] = (), *, prunes: bool) -> list[Rule]:
    """Return the rules of the sweep in the Berth namespace. `more`: those of single backends.

    It creates Jobs by server-side apply, which needs `patch` and `create`; not by name, as a name does not
    limit what a Job may mount. Where it prunes, it marks timetables of removed reservations and removes their
    accounts and Roles; elsewhere, it marks pools that have lost their timetable.
    """
    rules = [
        rule("", ["configmaps"], ["list", "patch", "delete"] if prunes else ["list", "delete"]),
        rule("", ["events"], ["create"]),
        rule("apps", ["deployments"], ["list", "delete"] if prunes else ["list", "patch", "delete"]),
        rule("apps", ["deployments/scale"], ["get", "patch"]),
        rule("batch", ["cronjobs"], ["list", "delete"]),
        rule("batch", ["jobs"], ["get", "list", "create", "patch", "delete"]),
        rule(LEASE.group, ["leases"], ["get", "list"]),
    ]
    rules += more
    if prunes:
        rules.append(rule("", ["serviceaccounts"], ["list", "delete"]))
        rules.append(rule(RBAC, ["rolebindings", "roles"], ["list", "delete"]))
    return rules
