"""What the API server can do with objects of any kind: list, get, apply, delete.

Objects are plain trees of JSON, as the server sends them. Whatever goes wrong is an `ApiError`.
"""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

from gen.runtime.api import APPLY, JSON, Api, ApiError, Request
from gen.runtime.objectkind import Kind

Tree = dict[str, object]
PAGE = 500  # objects in one answer


def pages(api: Api, kind: Kind, namespace: str, labels: str, fields: str = "") -> Iterator[list[Tree]]:
    """All objects of a kind that the selectors find, one answer after the other. They lack their own kind.

    The objects are all those of one moment, or the last page raises: a list that ends without an error is
    complete.
    """
    query = {"labelSelector": labels, "limit": str(PAGE)} | ({"fieldSelector": fields} if fields else {})
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
            Request("DELETE", kind.path(namespace, name), json.dumps(options).encode(), JSON),
            kind.name,
            "Status",
        )
    except ApiError as error:
        if error.is_gone() or error.is_conflict():  # a conflict: another object has the name now
            return False
        raise
    return True
