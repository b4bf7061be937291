"""Objects as the API server returns them, and lists of them in pages."""

from collections.abc import Callable, Mapping
from typing import Any

KubeObject = dict[str, Any]

PAGE = "500"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

Get = Callable[[str, Mapping[str, str], str], Any]
"""GET of a path with a query, accepting a media type: the object that is answered."""


def value_at(tree: Any, *keys: str) -> Any:
    """Return what is below these keys; None if there is nothing."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def list_all(ask: Get, path: str, selector: str, fields: str, accept: str) -> list[KubeObject]:
    """List all pages. An empty list may be sent as null."""
    query = {"limit": PAGE}
    query |= {"labelSelector": selector} if selector else {}
    query |= {"fieldSelector": fields} if fields else {}
    items: list[KubeObject] = []
    while True:
        answer = ask(path, query, accept)
        items += answer.get("items") or ()
        token = (answer.get("metadata") or {}).get("continue")
        if not token:
            return items
        query = {**query, "continue": token}
