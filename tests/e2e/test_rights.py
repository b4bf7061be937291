"""What our ServiceAccounts may do, by the word of a real API server: what they must, and nothing else."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

from tests.e2e import project
from tests.e2e.applying import one_by_one
from tests.e2e.cluster import Cluster

NAMESPACES = ("berth", "renku", "jhub")


class Right(NamedTuple):
    """`resource` may end in a subresource: deployments/scale."""

    verb: str
    group: str
    resource: str
    name: str = ""
    namespace: str = "berth"


def rights(group: str, resource: str, *verbs: str, name: str = "", namespace: str = "berth") -> list[Right]:
    return [Right(verb, group, resource, name, namespace) for verb in verbs]


COURSE, POOL = "data-science-101", "data-science-101-small"
EXAM = "night-exam"  # without sessions
SESSIONS = rights("amalthea.dev", "amaltheasessions", "list", "watch", namespace="renku")
ALLOWED = {
    COURSE: [
        *rights("", "configmaps", "list", "watch"),
        *rights("", "configmaps", "get", name=COURSE),
        *rights("", "configmaps", "get", "create", "patch", name=f"{COURSE}-record"),
        *rights("", "events", "create"),
        *rights("coordination.k8s.io", "leases", "get", "create", "patch", name=POOL),
        *rights("apps", "deployments", "get", name=POOL),
        *rights("apps", "deployments/scale", "get", "patch", name=POOL),
        *SESSIONS,
    ],
    EXAM: [
        *rights("", "configmaps", "get", name=EXAM),
        *rights("", "configmaps", "get", "create", "patch", name=f"{EXAM}-record"),
        *rights("", "events", "create"),
        *rights("coordination.k8s.io", "leases", "get", "create", "patch", name=f"{EXAM}-small"),
        *rights("apps", "deployments", "get", name=f"{EXAM}-small"),
        *rights("apps", "deployments/scale", "get", "patch", name=f"{EXAM}-small"),
    ],
    "berth-sweep": [
        *rights("", "configmaps", "list", "delete"),
        *rights("", "events", "create"),
        *rights("coordination.k8s.io", "leases", "get", "list"),
        *rights("apps", "deployments", "list", "patch", "delete"),
        *rights("apps", "deployments/scale", "get", "patch"),
        *rights("batch", "cronjobs", "list", "delete"),
        *rights("batch", "jobs", "get", "list", "create", "patch", "delete"),
    ],
}
NOBODYS = [
    *rights("", "secrets", "get", "list", "watch", "create"),
    *rights("", "pods", "get", "create", "patch", "delete"),
    *rights("", "pods/exec", "create"),
    *rights("", "serviceaccounts", "impersonate"),
    *rights("", "serviceaccounts/token", "create"),
    *rights("", "events", "list", "delete"),
    *rights("", "configmaps", "create", "update", "deletecollection"),
    *rights("", "nodes", "list"),
    *rights("", "namespaces", "list"),
    *rights("apps", "deployments", "create", "deletecollection"),
    *rights("apps", "deployments/scale", "update", name=POOL),
    *rights("batch", "cronjobs", "create"),
    *rights("batch", "jobs", "create", namespace="renku"),
    *rights("apps", "replicasets", "create"),
    *rights("rbac.authorization.k8s.io", "roles", "list", "patch", "create", "escalate", "bind"),
    *rights("rbac.authorization.k8s.io", "rolebindings", "list", "patch", "create"),
    *rights("", "pods", "list", namespace="renku"),
    *rights("", "secrets", "list", namespace="renku"),
    *rights("amalthea.dev", "amaltheasessions", "get", "patch", "delete", namespace="renku"),
    *rights("amalthea.dev", "amaltheasessions", "list", namespace="jhub"),
    *rights("", "pods", "list", namespace="jhub"),
]
REFUSED = {
    COURSE: [
        *NOBODYS,
        *rights("", "configmaps", "get", "patch", "delete"),
        *rights("", "configmaps", "patch", "delete", name=COURSE),
        *rights("", "configmaps", "get", "patch", name=f"{EXAM}-record"),
        *rights("", "pods", "list"),
        *rights("batch", "jobs", "get", "list", "create", "patch", "delete"),
        *rights("batch", "cronjobs", "get", "patch", "delete"),
        *rights("coordination.k8s.io", "leases", "list", "delete"),
        *rights("coordination.k8s.io", "leases", "get", "create", "patch", name=f"{EXAM}-small"),
        *rights("apps", "deployments", "get", "list", "watch"),
        *rights("apps", "deployments", "patch", "delete", name=POOL),
        *rights("apps", "deployments/scale", "patch", name=f"{EXAM}-small"),
    ],
    EXAM: [
        *NOBODYS,
        *rights("", "configmaps", "get", "list", "watch", "patch"),
        *rights("batch", "jobs", "get", "patch"),
        *rights("apps", "deployments/scale", "get", "patch", name=POOL),
        *SESSIONS,
    ],
    "berth-sweep": [
        *NOBODYS,
        *rights("", "configmaps", "patch", "watch"),
        *rights("", "pods", "list"),
        *rights("coordination.k8s.io", "leases", "create", "patch", "delete"),
        *rights("apps", "deployments", "get", "watch"),
        *rights("batch", "cronjobs", "patch"),
        *SESSIONS,
    ],
}


@pytest.fixture(scope="module")
def applied(cluster: Cluster) -> Iterator[Cluster]:
    for name in NAMESPACES:
        cluster.create_namespace(name)
    cluster.apply(project.ROOT / "rendered" / "clusters" / "prod")
    # The API server knows a moment later what it was told to grant.
    cluster.wait_for(
        lambda: all(granted(cluster, account, asked) == asked for account, asked in ALLOWED.items()),
        20,
        "the rights of all accounts",
    )
    yield cluster
    cluster.kubectl("delete", "namespace", *NAMESPACES, "--wait=true", "--timeout=120s", timeout=150)


def granted(cluster: Cluster, account: str, asked: Sequence[Right], home: str = "berth") -> list[Right]:
    """Those that the API server grants to an account of the namespace `home`, in their order."""
    reviews = [_review(f"system:serviceaccount:{home}:{account}", right) for right in asked]
    manifest = json.dumps({"apiVersion": "v1", "kind": "List", "items": reviews})
    answers = one_by_one(cluster.kubectl("create", "-f", "-", "-o", "json", input=manifest))
    assert len(answers) == len(asked)
    return [right for right, answer in zip(asked, answers, strict=True) if answer["status"]["allowed"]]


def _review(user: str, right: Right) -> project.Document:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "name": right.name,
        "namespace": right.namespace,
    }
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }


@pytest.mark.parametrize("account", ALLOWED)
def test_the_accounts_have_exactly_the_permissions_that_they_need(applied: Cluster, account: str) -> None:
    allowed = ALLOWED[account]

    assert granted(applied, account, allowed) == allowed
    assert granted(applied, account, REFUSED[account]) == []
    assert granted(applied, account, [right._replace(namespace="default") for right in allowed]) == []


@pytest.mark.parametrize("account", ALLOWED)
def test_an_account_of_another_namespace_has_no_permissions(applied: Cluster, account: str) -> None:
    """Whoever may make accounts there gets none of our rights."""
    assert granted(applied, account, ALLOWED[account], home="renku") == []
