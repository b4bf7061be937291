"""A number at a path of an object that somebody else owns, changed as a window changes it.

The patch names the version of the object that it was made from, so that it never changes the wrong item of a
list which somebody has edited meanwhile.
"""

import re
from typing import Any

from tests.e2e.direct import Direct, Object, RefusedError

MANAGER = "berth"
_JSON_PATCH = "application/json-patch+json"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(?:([^=\]]+)=)?([^\]]+)\]")


def hold(direct: Direct, url: str, path: str, value: object, version: str = "") -> Object:
    """Set the field, which may be missing, and return the object. `version` is that of the object now."""
    while True:
        try:
            return _hold(direct, url, path, value, version)
        except RefusedError as error:
            if version or error.status != 409:  # a controller writes the status meanwhile
                raise


def _hold(direct: Direct, url: str, path: str, value: object, version: str) -> Object:
    tree = direct.get(url)
    version = version or tree["metadata"]["resourceVersion"]
    patch: Any = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}]
    parents, _, _ = path.rpartition(".")
    parent, there = locate(tree, parents)
    if there is None:
        patch.append({"op": "add", "path": parent, "value": {}})
    patch.append({"op": "add", "path": locate(tree, path)[0], "value": value})  # replaces what is there
    return direct.ask("PATCH", f"{url}?fieldManager={MANAGER}", patch, _JSON_PATCH)


def locate(tree: object, path: str) -> tuple[str, object]:
    """Return the JSON pointer of a path such as `spec.flavors[name=lab].resources[0].quota`, and the value
    there, None if it is missing.
    """
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
        if isinstance(tree, list) and isinstance(place, int):
            tree = tree[place]
        else:
            tree = tree.get(place) if isinstance(tree, dict) else None
    return pointer, tree
