"""What the API server can do with objects of any kind: list, get, create, apply, patch, delete.

Objects are plain trees of JSON, as the server sends them. Whatever goes wrong is an `ApiError`.
"""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

from gen.runtime.api import APPLY, JSON, Api, ApiError, Request
from gen.runtime.objectkind import SLOT, Kind

Tree = dict[str, object]
PAGE = 500  # objects in one answer
SLOTS_PAGE = 100  # whoever lists these has less memory


def pages(api: Api, kind: Kind, namespace: str, labels: str, fields: str = "") -> Iterator[list[Tree]]:
    """All objects of a kind that the selectors find, one answer after the other. They lack their own kind.

    The objects are all those of one moment, or the last page raises: a list that ends without an error is
    complete.
    """
    most = SLOTS_PAGE if kind is SLOT else PAGE
    query = {"labelSelector": labels, "limit": str(most)} | ({"fieldSelector": fields} if fields else {})
    while True:
        answer = api.ask(Request("GET", f"{kind.path(namespace)}?{urlencode(query)}"), f"{kind.name}List")
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
        return api.get(kind, namespace, name)
    except ApiError as error:
        if error.is_gone():
            return None
        raise


def apply(api: Api, kind: Kind, namespace: str, name: str, tree: Tree) -> Tree:
    """Creates the object, or makes ours what the tree says of it, whoever said otherwise."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}&force=true"
    return api.ask(Request("PATCH", path, body, APPLY), kind.name)


def create(api: Api, kind: Kind, namespace: str, tree: Tree) -> bool:
    """False: there is one of this name already, whatever it is."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("POST", path, body, JSON), kind.name)
    except ApiError as error:
        if error.status == 409 and error.reason == "AlreadyExists":
            return False
        raise
    return True


def patch(api: Api, kind: Kind, namespace: str, name: str, tree: Tree) -> bool:
    """Merges the tree into the object. False: it is gone, or has changed since the version that the tree
    tells.
    """
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("PATCH", path, json.dumps(tree).encode()), kind.name)
    except ApiError as error:
        if error.is_gone() or error.is_conflict():
            return False
        raise
    return True


def delete(api: Api, kind: Kind, namespace: str, name: str, **preconditions: str) -> bool:
    """The object, if it has this `uid`, and this `resourceVersion`; what it owns follows by itself. False:
    there is none any more.
    """
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": preconditions,
    }
    try:
        api.ask(
            Request("DELETE", kind.path(namespace, name), json.dumps(options).encode(), JSON),
            kind.name,
            "Status",
        )
    except ApiError as error:
        if error.is_gone() or error.is_conflict():  # a conflict: it is another one now
            return False
        raise
    return True
