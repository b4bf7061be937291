"""How the API servers in memory answer a list: selectors and pages."""

import json
from collections.abc import Iterable
from typing import Any

from berth.runtime.apiclient import Response

Tree = dict[str, Any]


def selects(selector: str, values: Tree) -> bool:
    """`key=value`, `key!=value`, `key` and `!key`."""
    return all(_holds(term, values) for term in selector.split(",") if term)


def _holds(term: str, values: Tree) -> bool:
    if term.startswith("!"):
        return term[1:] not in values
    key, unequal, value = term.partition("!=")
    if unequal:
        return bool(values.get(key) != value)
    key, equal, value = term.partition("=")
    return key in values and (not equal or bool(values[key] == value))


def list_page(kind: str, trees: Iterable[Tree], asked: Tree, most: int) -> Response:
    """At most `most` of those that the labels select. `continue` is how many were given before."""
    found = [
        {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}
        for tree in trees
        if selects(asked["labelSelector"], tree["metadata"].get("labels", {}))
    ]
    begin = int(asked.get("continue", "0"))
    end = begin + min(most, int(asked["limit"]))
    metadata = {"resourceVersion": "1"} | ({"continue": str(end)} if end < len(found) else {})
    items = found[begin:end] or None
    return Response(200, json.dumps({"kind": kind, "metadata": metadata, "items": items}).encode())
