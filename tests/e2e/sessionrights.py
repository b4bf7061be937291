"""What the session tests ask the API server about rights, and what it should say."""

from typing import NamedTuple

from tests.e2e.direct import Direct
from tests.e2e.project import Document

NAMESPACE = "berth-sessions"
NAME = "by-maintain"  # of a reservation and its account; its sessions are in sessions-pods
LABELED = "labeled"  # of one whose sessions are in namespaces with a label
USER = f"system:serviceaccount:{NAMESPACE}:{{}}"


class Question(NamedTuple):
    """Whether the account of a reservation may do something."""

    verb: str
    group: str
    resource: str
    namespace: str


ACCOUNTS = {
    "sessions-renku": ["renku"],
    "sessions-jupyterhub": ["jupyterhub"],
    "sessions-pods": ["by-maintain", "by-reduce", "pods"],
    "sessions-custom": ["custom"],
    "sessions-crowd": ["crowd"],
}  # that may read the sessions there
MAY = {
    "sessions-renku": [("amalthea.dev", "amaltheasessions")],
    "sessions-jupyterhub": [("", "pods")],
    "sessions-pods": [("", "pods")],
    "sessions-custom": [("batch", "jobs")],
    "sessions-crowd": [("", "pods")],
}
NEVER = (
    Question("list", "", "secrets", NAMESPACE),
    Question("list", "", "pods", NAMESPACE),
    Question("create", "apps", "deployments", NAMESPACE),
    Question("delete", "apps", "deployments", NAMESPACE),
    Question("create", "batch", "jobs", NAMESPACE),
    Question("list", "", "pods", "sessions-renku"),
    Question("delete", "", "pods", "sessions-pods"),
    Question("list", "", "pods", "default"),
    Question("list", "", "nodes", ""),
    Question("list", "", "pods", "sessions-crowd"),
    Question("list", "amalthea.dev", "amaltheasessions", "sessions-renku"),
    Question("get", "", "configmaps", NAMESPACE),
    Question("patch", "", "configmaps", NAMESPACE),
    Question("patch", "apps", "deployments/scale", NAMESPACE),
    Question("patch", "batch", "jobs", NAMESPACE),
    Question("list", "", "pods", ""),
    Question("list", "", "namespaces", ""),
)
EVERYWHERE = {
    Question(verb, "", resource, ""): verb in ("list", "watch") and resource != "secrets"
    for verb in ("list", "watch", "get", "patch", "delete")
    for resource in ("pods", "namespaces", "secrets")
}  # whether the account of LABELED may do it in the whole cluster


def granted(direct: Direct, namespace: str) -> tuple[list[Document], list[Document]]:
    """Rules and subjects of all Roles and bindings there."""
    root = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    rules = [rule for role in direct.items(f"{root}/roles") for rule in role["rules"]]
    return rules, [one for binding in direct.items(f"{root}/rolebindings") for one in binding["subjects"]]


def _resource(question: Question) -> Document:
    resource, _, subresource = question.resource.partition("/")
    return {"resource": resource, "subresource": subresource}


def is_allowed(direct: Direct, question: Question, account: str = NAME) -> bool:
    user = USER.format(account)
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": {**question._asdict(), **_resource(question)}},
    }
    answer = direct.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])
