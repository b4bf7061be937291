"""Objects as the API server returns them."""

from collections.abc import Mapping
from typing import Any

KubeObject = dict[str, Any]


def value_at(tree: Any, *keys: str) -> Any:
    """Return what is below these keys; None if there is nothing."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree
