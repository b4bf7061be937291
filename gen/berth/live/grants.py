"""Roles and RoleBindings in a cluster, and which of git's permissions they do not grant."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.core import labels
from berth.core.objects import ROLE, ROLE_BINDING
from berth.live.clusterfacts import LiveGrants
from berth.live.kubeobject import METADATA_LIST, Get, KubeObject, list_all, value_at
from berth.manifests.rbac import Access, Grant, allowed
from berth.runtime.apiclient import JSON

_NAMED = 2  # permissions that a message names one by one


def read_grants(ask: Get, home: str, others: Iterable[str], refused: type[Exception]) -> LiveGrants:
    """List Roles and RoleBindings in the Berth namespace and in those of sessions."""
    found: dict[tuple[str, str], frozenset[Access]] = {}
    bindings: dict[tuple[str, str], tuple[str, frozenset[tuple[str, str]]]] = {}
    unread, missing = set(), set()
    for namespace in dict.fromkeys((home, *others)):
        try:
            roles = list_all(ask, ROLE.path(namespace), labels.SITE, "", JSON)
            bound = list_all(ask, ROLE_BINDING.path(namespace), labels.SITE, "", JSON)
        except refused:
            unread.add(namespace)
            continue
        found |= {(namespace, one["metadata"]["name"]): _access(one, namespace) for one in roles}
        bindings |= {(namespace, one["metadata"]["name"]): _subjects(one) for one in bound}
        if not bound and namespace != home and _is_missing(ask, namespace, refused):
            missing.add(namespace)
    return LiveGrants(found, bindings, frozenset(unread), frozenset(missing))


def _access(role: KubeObject, namespace: str) -> frozenset[Access]:
    rules = [one for one in role.get("rules") or () if "apiGroups" in one and "resources" in one]
    return frozenset(each for one in rules for each in allowed(one, namespace))


def _subjects(binding: KubeObject) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the name of its role, and its ServiceAccounts with their namespaces."""
    found = binding.get("subjects") or ()
    accounts = {(str(one.get("namespace")), str(one.get("name"))) for one in found}
    return str(value_at(binding, "roleRef", "name") or ""), frozenset(accounts)


def _is_missing(ask: Get, namespace: str, refused: type[Exception]) -> bool:
    """Return whether a namespace does not exist; False without permission to know."""
    try:
        return not list_all(ask, "/api/v1/namespaces", "", f"metadata.name={namespace}", METADATA_LIST)
    except refused:
        return False


class MissingGrant(NamedTuple):
    """Permissions that git grants and the cluster does not, and the object that should."""

    grant: Grant
    access: tuple[Access, ...]
    why: str  # about the object

    def describe(self) -> str:
        """Describe what the account may not do, and why."""
        named = [one.describe() for one in self.access[:_NAMED]]
        more = f" and {len(self.access) - _NAMED} more" if len(self.access) > _NAMED else ""
        return f"the ServiceAccount {self.grant.account} may not {', '.join(named)}{more}: {self.why}"


def missing_grants(granted: Sequence[Grant], found: LiveGrants, home: str) -> Iterator[MissingGrant]:
    """Yield the grants of git that the cluster lacks, of those that could be read.

    `home` is the namespace of the accounts. Roles of the whole cluster are not compared.
    """
    for one in granted:
        if not one.namespace or one.namespace in found.unread:
            continue
        role, accounts = found.bindings.get((one.namespace, one.binding), ("", frozenset()))
        access = found.roles.get((one.namespace, one.role))
        where = f"in the namespace {one.namespace}"
        if one.namespace in found.missing:
            yield MissingGrant(one, one.access, f"the namespace {one.namespace} does not exist")
        elif not role:
            yield MissingGrant(one, one.access, f"the RoleBinding {one.binding} is missing {where}")
        elif role != one.role or (home, one.account) not in accounts:
            yield MissingGrant(one, one.access, f"the RoleBinding {one.binding} {where} does not bind it")
        elif access is None:
            yield MissingGrant(one, one.access, f"the Role {one.role} is missing {where}")
        elif lacks := tuple(each for each in one.access if not _is_granted(each, access)):
            yield MissingGrant(one, lacks, f"the Role {one.role} {where} does not grant it")


def _is_granted(asked: Access, access: frozenset[Access]) -> bool:
    """Return whether a Role grants what is asked; `*` stands for everything, an empty name for all."""
    return any(
        {one.verb} & {asked.verb, "*"}
        and {one.group} & {asked.group, "*"}
        and {one.resource} & {asked.resource, "*"}
        and one.name in ("", asked.name)
        for one in access
    )
