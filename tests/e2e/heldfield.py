"""A number at a path of an object that somebody else owns, changed as a window does: until the backend does it.

The patch names the version of the object that it was made from, so that it never changes the wrong item of a
list which somebody has edited meanwhile.
"""

import re
from typing import Any

from tests.e2e.direct import Direct, Object

MANAGER = "berth"
_JSON_PATCH = "application/json-patch+json"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(?:([^=\]]+)=)?([^\]]+)\]")


def hold(direct: Direct, url: str, path: str, value: object) -> Object:
    """Set the field, which may be missing, and return the object as the API server answers."""
    tree = direct.get(url)
    pointer, before = locate(tree, path)
    patch: Any = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": tree["metadata"]["resourceVersion"]},
        {"op": "add" if before is None else "replace", "path": pointer, "value": value},
    ]
    return direct.ask("PATCH", f"{url}?fieldManager={MANAGER}", patch, _JSON_PATCH)


def locate(tree: object, path: str) -> tuple[str, object]:
    """Return the JSON pointer of a path such as `spec.flavors[name=lab].resources[0].quota`, and its value."""
    pointer = ""
    for step in _STEP.finditer(path):
        key, name, value = step.groups()
        place: str | int = key
        if name is not None:
            assert isinstance(tree, list)
            (place,) = [number for number, item in enumerate(tree) if item[name] == value]
        elif value is not None:
            place = int(value)
        pointer += f"/{str(place).replace('~', '~0').replace('/', '~1')}"
        tree = tree[place] if isinstance(place, int) and isinstance(tree, list) else _value(tree, place)
    return pointer, tree


def _value(tree: object, key: str | int) -> object:
    assert isinstance(tree, dict)
    return tree.get(key)
