"""Objects as the API server returns them, and lists of them in pages."""

from collections.abc import Callable, Mapping
from typing import Any

from berth.core.objects import ObjectKind
from berth.runtime.apiclient import JSON

KubeObject = dict[str, Any]

NODE = ObjectKind("Node", "v1", "nodes", of_cluster=True)
POD_TEMPLATE = ObjectKind("PodTemplate", "v1", "podtemplates")
PAGE = "500"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

Get = Callable[[str, Mapping[str, str], str], Any]
"""GET of a path with a query, accepting a media type: the object that is answered."""


def value_at(tree: Any, *keys: str) -> Any:
    """Return what is below these keys; None if there is nothing."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


class ClusterError(Exception):
    """A request failed. `status` is 0 without a response; the message is one line for people, like `fix`."""

    def __init__(self, status: int, message: str, fix: str = "") -> None:
        super().__init__(" ".join(message.split())[:400].removesuffix("."))
        self.status = status
        self.fix = fix


def list_all(
    ask: Get, path: str, selector: str = "", fields: str = "", accept: str = JSON
) -> list[KubeObject]:
    """List all pages. An empty list may be sent as null. Raises ClusterError."""
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


def list_or_error(
    ask: Get, path: str, selector: str = "", fields: str = "", accept: str = JSON
) -> list[KubeObject] | ClusterError:
    """List all pages, or return why they cannot be listed."""
    try:
        return list_all(ask, path, selector, fields, accept)
    except ClusterError as error:
        return error
