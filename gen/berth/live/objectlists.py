"""List objects of a cluster, in pages."""

from collections.abc import Callable, Mapping
from typing import Any

from berth.live.kubeobject import KubeObject

PAGE = "500"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

Get = Callable[[str, Mapping[str, str], str], Any]
"""GET of a path with a query, accepting a media type: the object that is answered."""


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
