"""What the API server can do with objects of any kind: list, get, patch, apply, delete.

Objects are plain trees of JSON, as the server sends them. Whatever goes wrong is an `ApiError`.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, urlencode

from gen.runtime.api import APPLY, JSON, Api, ApiError, Request

Tree = dict[str, object]
PAGE = 500  # objects in one answer


class Kind(NamedTuple):
    name: str
    version: str  # with its group
    plural: str


CONFIG_MAP = Kind("ConfigMap", "v1", "configmaps")
POD = Kind("Pod", "v1", "pods")
DEPLOYMENT = Kind("Deployment", "apps/v1", "deployments")
JOB = Kind("Job", "batch/v1", "jobs")
CRON_JOB = Kind("CronJob", "batch/v1", "cronjobs")
ROLE = Kind("Role", "rbac.authorization.k8s.io/v1", "roles")
ROLE_BINDING = Kind("RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings")


def pages(api: Api, kind: Kind, namespace: str, labels: str, fields: str = "") -> Iterator[list[Tree]]:
    """All objects of a kind that the selectors find, one answer after the other. They lack their own kind.

    The objects are all those of one moment, or the last page raises: a list that ends without an error is
    complete.
    """
    query = {"labelSelector": labels, "limit": str(PAGE)} | ({"fieldSelector": fields} if fields else {})
    while True:
        answer = api.ask(Request("GET", f"{_path(kind, namespace)}?{urlencode(query)}"), f"{kind.name}List")
        items, metadata = answer.get("items") or [], answer.get("metadata") or {}
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise ApiError(200, "Nonsense", f"the answer is no {kind.name}List: its items are no list")
        yield items
        if not metadata.get("continue"):
            return
        query["continue"] = str(metadata["continue"])


def get(api: Api, kind: Kind, namespace: str, name: str) -> Tree | None:
    """None if there is no such object."""
    try:
        return api.ask(Request("GET", _path(kind, namespace, name)), kind.name)
    except ApiError as error:
        if error.is_gone():
            return None
        raise


def annotate(api: Api, kind: Kind, namespace: str, name: str, annotations: dict[str, str | None]) -> None:
    """Those that are None are taken away; others stay."""
    body = json.dumps({"metadata": {"annotations": annotations}}).encode()
    path = f"{_path(kind, namespace, name)}?fieldManager={api.field_manager}"
    api.ask(Request("PATCH", path, body), kind.name)


def apply(api: Api, kind: Kind, namespace: str, name: str, tree: Tree) -> Tree:
    """Creates the object, or makes ours what the tree says of it, whoever said otherwise."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{_path(kind, namespace, name)}?fieldManager={api.field_manager}&force=true"
    return api.ask(Request("PATCH", path, body, APPLY), kind.name)


def delete(api: Api, kind: Kind, namespace: str, name: str, uid: str) -> bool:
    """The object with this uid; what it owns follows by itself. False: there is none any more."""
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": uid},
    }
    try:
        api.ask(
            Request("DELETE", _path(kind, namespace, name), json.dumps(options).encode(), JSON),
            kind.name,
            "Status",
        )
    except ApiError as error:
        if error.is_gone() or error.is_conflict():  # a conflict: another object has the name now
            return False
        raise
    return True


def _path(kind: Kind, namespace: str, name: str = "") -> str:
    prefix = "apis" if "/" in kind.version else "api"
    path = f"/{prefix}/{kind.version}/namespaces/{quote(namespace, safe='')}/{kind.plural}"
    return f"{path}/{quote(name, safe='')}" if name else path
