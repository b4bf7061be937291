"""Roles and RoleBindings in a cluster, and which of git's permissions they do not grant."""

from collections.abc import Iterable, Iterator, Sequence

from berth.core import labels
from berth.core.objects import ROLE, ROLE_BINDING, ObjectKind
from berth.live.clusterfacts import LiveGrants
from berth.live.kubeobject import METADATA_LIST, ClusterError, Get, KubeObject, list_or_error, value_at
from berth.manifests.naming import EVERYWHERE
from berth.manifests.rbac import RBAC, Access, Grant, allowed

CLUSTER_ROLE = ObjectKind("ClusterRole", f"{RBAC}/v1", "clusterroles", of_cluster=True)
CLUSTER_ROLE_BINDING = ObjectKind("ClusterRoleBinding", f"{RBAC}/v1", "clusterrolebindings", of_cluster=True)
_NAMED = 2  # permissions that a message names one by one


def read_grants(ask: Get, home: str, others: Iterable[str]) -> LiveGrants:
    """List Roles and RoleBindings in the Berth namespace and in those of sessions.

    An empty namespace lists ClusterRoles and their bindings.
    """
    accesses: dict[tuple[str, str], frozenset[Access]] = {}
    bindings: dict[tuple[str, str], tuple[str, frozenset[tuple[str, str]]]] = {}
    unread, missing = set(), set()
    for namespace in dict.fromkeys((home, *others)):
        roles, bound = (list_or_error(ask, kind.path(namespace), labels.SITE) for kind in _kinds(namespace))
        if isinstance(roles, ClusterError) or isinstance(bound, ClusterError):
            unread.add(namespace)
            continue
        accesses |= {(namespace, role["metadata"]["name"]): _access(role, namespace) for role in roles}
        bindings |= {(namespace, binding["metadata"]["name"]): _subjects(binding) for binding in bound}
        if not bound and namespace not in ("", home):
            fields = f"metadata.name={namespace}"  # without permission to know, it is not missing
            if list_or_error(ask, "/api/v1/namespaces", "", fields, METADATA_LIST) == []:
                missing.add(namespace)
    return LiveGrants(accesses, bindings, frozenset(unread), frozenset(missing))


def _kinds(namespace: str) -> tuple[ObjectKind, ObjectKind]:
    """Return the kinds of a role and of its binding in a namespace, or (empty) in the whole cluster."""
    return (ROLE, ROLE_BINDING) if namespace else (CLUSTER_ROLE, CLUSTER_ROLE_BINDING)


def _access(role: KubeObject, namespace: str) -> frozenset[Access]:
    rules = [rule for rule in role.get("rules") or () if "apiGroups" in rule and "resources" in rule]
    return frozenset(each for rule in rules for each in allowed(rule, namespace))


def _subjects(binding: KubeObject) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the name of its role, and its ServiceAccounts with their namespaces."""
    subjects = binding.get("subjects") or ()
    accounts = {(str(subject.get("namespace")), str(subject.get("name"))) for subject in subjects}
    return str(value_at(binding, "roleRef", "name") or ""), frozenset(accounts)


def missing_grants(
    granted: Sequence[Grant], live_grants: LiveGrants, home: str
) -> Iterator[tuple[Grant, str]]:
    """Yield the grants of git that the cluster lacks, of those that could be read, each with what its account
    may not do, and why.

    `home` is the namespace of the accounts. Of ClusterRoles, only those for sessions are compared.
    """
    for grant in granted:
        is_compared = grant.namespace or grant.role.startswith(f"{EVERYWHERE}.")
        if not is_compared or grant.namespace in live_grants.unread:
            continue
        of_role, of_binding = (kind.name for kind in _kinds(grant.namespace))
        role, accounts = live_grants.bindings.get((grant.namespace, grant.binding), ("", frozenset()))
        access = live_grants.roles.get((grant.namespace, grant.role))
        where = f" in the namespace {grant.namespace}" if grant.namespace else ""
        lacks = grant.access
        if grant.namespace in live_grants.missing:
            why = f"the namespace {grant.namespace} does not exist"
        elif not role:
            why = f"the {of_binding} {grant.binding} is missing{where}"
        elif role != grant.role or (home, grant.account) not in accounts:
            why = f"the {of_binding} {grant.binding}{where} does not bind it"
        elif access is None:
            why = f"the {of_role} {grant.role} is missing{where}"
        elif lacks := tuple(each for each in grant.access if not _is_granted(each, access)):
            why = f"the {of_role} {grant.role}{where} does not grant it"
        else:
            continue
        named = ", ".join(each.describe() for each in lacks[:_NAMED])
        more = f" and {len(lacks) - _NAMED} more" if len(lacks) > _NAMED else ""
        yield grant, f"the ServiceAccount {grant.account} may not {named}{more}: {why}"


def _is_granted(asked: Access, access: frozenset[Access]) -> bool:
    """Return whether a Role grants what is asked; `*` stands for everything, an empty name for all."""
    return any(
        {permission.verb} & {asked.verb, "*"}
        and {permission.group} & {asked.group, "*"}
        and {permission.resource} & {asked.resource, "*"}
        and permission.name in ("", asked.name)
        for permission in access
    )
