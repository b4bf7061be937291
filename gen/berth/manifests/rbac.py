"""Every rule of RBAC: what the ServiceAccounts of the reservations and of the sweep need, and nothing else.

Each reservation has an account. What it may do is in the file of the reservation; what the sweep may do, and
what sessions there are to read, in the cluster's base. `list` includes reading the content of an object.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from berth.core.labels import RESERVATION
from berth.manifests import naming
from berth.manifests.backends.backendinterface import Manifest
from berth.manifests.naming import of_site
from berth.manifests.placed import Placed, SessionKind, counts_sessions, session_kinds
from berth.schema.seatholders import BufferHolder, SlotHolder
from berth.schema.values import Cluster, ResourceClass, Site

Rule = dict[str, Any]
Values = Mapping[str, Any]
READ = ("list", "watch")
SLOTS = ("scheduling.koordinator.sh", ["reservations"])
BUFFERS = ("autoscaling.x-k8s.io", ["capacitybuffers"])


class Access(NamedTuple):
    """A request that a ServiceAccount may make. An empty namespace is the whole cluster."""

    verb: str
    group: str
    resource: str  # perhaps with a subresource
    namespace: str = ""
    name: str = ""

    def describe(self) -> str:
        what = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {what}{name}{f' in {self.namespace}' if self.namespace else ''}"


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
    ours = [one.values for one in manifests if one.template.startswith("rbac/")]
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
    for one in found:
        by_account.setdefault(one.account, []).extend(one.access)
    return by_account


def allowed(rule: Rule, namespace: str) -> Iterator[Access]:
    """Yield what a rule of a Role allows; an empty name means all names."""
    for group, resource, name, verb in product(
        rule["apiGroups"], rule["resources"], rule.get("resourceNames") or [""], rule["verbs"]
    ):
        yield Access(verb, group, resource, namespace, name)


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Rule:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


def _granted(common: Values, rules: list[Rule], account: str, home: str) -> list[Manifest]:
    """Return a ServiceAccount, its Role and its RoleBinding, which share name, labels and annotations."""
    return [
        Manifest("rbac/serviceaccount.yaml.j2", _annotated(common)),
        Manifest("rbac/role.yaml.j2", {**_annotated(common), "rules": rules}),
        _binding(common, common["name"], account, home),
    ]


def _binding(common: Values, role: str, account: str, home: str) -> Manifest:
    """Return a RoleBinding. `home` is the namespace of the account."""
    bound = {"role": role, "service_account": account, "home": home}
    return Manifest("rbac/rolebinding.yaml.j2", {**_annotated(common), **bound})


def _annotated(common: Values) -> dict[str, Any]:
    notes = common.get("annotations", {})
    return {**common, "annotations": notes, "has_annotations": bool(notes)}


def _cluster_role(name: str, labels: Values, rules: list[Rule]) -> Manifest:
    return Manifest("rbac/clusterrole.yaml.j2", {"name": name, "labels": labels, "rules": rules})


def _cluster_binding(name: str, labels: Values, role: str, account: str, home: str) -> Manifest:
    bound = {"role": role, "service_account": account, "home": home}
    return Manifest("rbac/clusterrolebinding.yaml.j2", {"name": name, "labels": labels, **bound})


# Of a reservation


def of_reservation(site: Site, placed: Placed, deployments: Sequence[str] = ()) -> list[Manifest]:
    """Return the ServiceAccount of a reservation, its Role, and its RoleBindings.

    Those in the namespaces of its sessions bind it to a Role of the base for each kind that they are. No
    label or annotation of an author is on them: a label may add a role to others, and an annotation may give
    an account a role in the cloud.
    """
    account, home = naming.single(placed.reservation.name), placed.cluster.namespace
    common = {
        "name": account,
        "namespace": home,
        "labels": naming.of_permissions(site, placed.reservation),
        "annotations": naming.untouched(placed.cluster.engine),
    }
    found = _granted(common, of_occurrences(placed, deployments), account, home)
    for namespace, kinds in session_kinds(placed.classes).items() if counts_sessions(placed) else ():
        here = placed.session_kinds[namespace]
        for kind in kinds:
            name = naming.session_binding(site.name, placed.reservation.name, _suffix(kind, here))
            role = naming.session_role(site.name, _suffix(kind, here))
            found.append(_binding({**common, "name": name, "namespace": namespace}, role, account, home))
    return found


def _suffix(kind: SessionKind, kinds: Sequence[SessionKind]) -> str:
    """Return what distinguishes the Role of a kind among the `kinds` of a namespace; nothing for the first.

    Nearly every namespace has one kind.
    """
    return "" if kind == kinds[0] else kind.qualified


def of_occurrences(placed: Placed, deployments: Sequence[str]) -> list[Rule]:
    """Return the rules of a reservation's Jobs in the Berth namespace.

    They scale their Deployments or CapacityBuffers and write their record by server-side apply, both by name.
    Where they count sessions, they read all timetables of the site to know whose a session is. Placeholders
    that hand over to slots lose an annotation, for which `pods/status` is enough.
    """
    name = placed.reservation.name
    rules = [
        _rule("", ["configmaps"], ["get"], [naming.single(name)]),
        _rule("", ["configmaps"], ["get", "create", "patch"], [naming.record(name)]),
        _rule("", ["events"], ["create"]),
    ]
    if counts_sessions(placed):
        rules.insert(0, _rule("", ["configmaps"], READ))
    if deployments:
        rules += _of_scaled("apps", "deployments", deployments)
    if isinstance(placed.reservation.holder, BufferHolder):
        buffers = [naming.pool(name, one.name) for one in placed.classes]
        rules.append(_rule(*BUFFERS, ["get", "patch"], buffers))
    if deployments and isinstance(placed.reservation.holder, SlotHolder):
        rules.append(_rule("", ["pods/status"], ["patch"]))
    return rules


def _of_scaled(group: str, resource: str, names: Iterable[str]) -> list[Rule]:
    return [
        _rule(group, [resource], ["get"], names),
        _rule(group, [f"{resource}/scale"], ["get", "patch"], names),
    ]


def of_nodes(pools: Sequence[str]) -> list[Rule]:
    """Return the rules of occurrences and the sweep for the NodePools of a reservation."""
    return _of_scaled("karpenter.sh", "nodepools", pools)


def over_nodes(site: Site, placed: Placed) -> list[Manifest]:
    """Return the ClusterRoles and bindings of a reservation with NodePools, which have no namespace.

    Jobs and sweep scale them. Neither removes them: an engine does.
    """
    name, labels = placed.reservation.name, naming.of_permissions(site, placed.reservation)
    pools = [naming.static_pool(site.name, naming.pool(name, one.name)) for one in placed.classes]
    found = []
    for kind, account in ((naming.OCCURRENCE, naming.single(name)), (naming.SWEEP, naming.SWEEP)):
        role = naming.nodes_role(site.name, kind, name)
        found.append(_cluster_role(role, labels, of_nodes(pools)))
        found.append(_cluster_binding(role, labels, role, account, placed.cluster.namespace))
    return found


def over_own_slots(site: Site, placed: Placed) -> Manifest:
    """Return the binding of a reservation with slots to the ClusterRole of the base."""
    name = placed.reservation.name
    role = naming.slot_role(site.name, naming.OCCURRENCE)
    binding = naming.slot_binding(site.name, name)
    labels = naming.of_permissions(site, placed.reservation)
    return _cluster_binding(binding, labels, role, naming.single(name), placed.cluster.namespace)


# Of a cluster


def of_base(site: Site, cluster: Cluster, classes: Iterable[ResourceClass]) -> list[Manifest]:
    """Return what the sweep may do, and the roles that reservations bind their accounts to."""
    ours, home = of_site(site), cluster.namespace
    common = {"name": naming.SWEEP, "namespace": home, "labels": ours}
    rules = of_sweep(prunes=cluster.sweep_prunes, has_buffers=cluster.has_buffers)
    found = _granted(common, rules, naming.SWEEP, home)
    for namespace, kinds in session_kinds(classes).items():
        for kind in kinds:
            name = naming.session_role(site.name, _suffix(kind, kinds))
            values = {"name": name, "namespace": namespace, "labels": ours}
            rules = [_rule(kind.group, [kind.resource], READ)]
            found.append(Manifest("rbac/role.yaml.j2", {**_annotated(values), "rules": rules}))
    if cluster.koordinator is not None:
        slots = {kind: naming.slot_role(site.name, kind) for kind in (naming.OCCURRENCE, naming.SWEEP)}
        found += [_cluster_role(role, ours, of_slots()[kind]) for kind, role in slots.items()]
        sweep = slots[naming.SWEEP]
        found.append(_cluster_binding(sweep, ours, sweep, naming.SWEEP, home))
    if cluster.has_static_pools:
        role = naming.sweep_nodes_role(site.name)
        found.append(_cluster_role(role, ours, [of_all_nodes()]))
        found.append(_cluster_binding(role, ours, role, naming.SWEEP, home))
    return found


def of_sweep(*, prunes: bool, has_buffers: bool = False) -> list[Rule]:
    """Return the rules of the sweep in the Berth namespace.

    It creates Jobs by server-side apply, which needs `patch` and `create`; not by name, as a name does not
    limit what a Job may mount. Where it prunes, it marks timetables of removed reservations and removes their
    accounts and Roles; elsewhere, it marks pools that have lost their timetable.
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
    if has_buffers:
        rules.append(_rule(*BUFFERS, ["get", "list", "patch", "delete"]))
    if prunes:
        rules.append(_rule("", ["serviceaccounts"], ["list", "delete"]))
        rules.append(_rule("rbac.authorization.k8s.io", ["rolebindings", "roles"], ["list", "delete"]))
    return rules


def of_slots() -> dict[str, list[Rule]]:
    """Return the rules for slots, of occurrences and of the sweep.

    They hold for the whole cluster: slots have no namespace, and their names are not known before. An
    occurrence patches a slot that ends later than planned; the sweep replaces it.
    """
    return {
        naming.OCCURRENCE: [_rule(*SLOTS, ["list", "create", "patch", "delete"])],
        naming.SWEEP: [_rule(*SLOTS, ["list", "create", "delete"])],
    }


def of_all_nodes() -> Rule:
    """Return the rule by which the sweep lists NodePools."""
    return _rule("karpenter.sh", ["nodepools"], ["list"])
