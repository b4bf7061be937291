"""A field of an object of somebody else: what changes it, and which manager wrote it. Pure."""

from collections.abc import Collection, Sequence
from typing import Any

from berth.core.holders import Step
from berth.core.jsonvalues import TimetableError, Tree, parse_mapping, part, parts
from berth.plugins.numbers.foreignnumbers import step_below


def field_patch(tree: Tree, path: Sequence[Step], value: object) -> list[Tree]:
    """Return a JSON patch that sets the value at the path, or removes it for None.

    It has the resourceVersion of the tree, so that the server refuses it with a conflict once the object has
    changed. Objects that are missing on the way are added; raises KeyError for a missing item of a list.
    """
    version = part(tree, "metadata").get("resourceVersion")
    patch: list[Tree] = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}]
    pointer, here, key = "", tree, None  # type: str, object, str | int | None
    for number, step in enumerate(path, start=1):
        key, below = step_below(here, step)
        if key is None and not isinstance(step, str):
            raise KeyError(f"no item {step!r} at {pointer}")
        pointer += f"/{str(step if key is None else key).replace('~', '~0').replace('/', '~1')}"
        if number == len(path):
            break
        if below is None and value is not None:  # missing, or null
            patch.append({"op": "add", "path": pointer, "value": {}})
        here = below
    if value is not None:  # `add` replaces what a key has, and inserts into a list
        patch.append({"op": "replace" if isinstance(key, int) else "add", "path": pointer, "value": value})
    elif key is not None:
        patch.append({"op": "remove", "path": pointer})
    return patch


def field_manager(tree: Tree, path: Sequence[Step], ours: Sequence[str]) -> str:
    """Return the last manager that wrote the field, except `ours`; empty if the server does not know."""
    entries = sorted(parts(tree, "metadata", "managedFields"), key=lambda entry: str(entry.get("time", "")))
    names = [str(entry.get("manager", "")) for entry in entries if _owns(entry.get("fieldsV1"), path)]
    return next((name for name in reversed(names) if name not in ours), "")


def _owns(fields: Any, path: Sequence[Step]) -> bool:
    """Return whether managed fields have the path: keys, indices, and items of lists by their keys in JSON.

    A list without keys, and an atomic object, has no fields below.
    """
    for step in path:
        if fields == {}:
            return True
        names = fields if isinstance(fields, dict) else {}
        name = f"i:{step}" if isinstance(step, int) else f"f:{step}"
        if isinstance(step, tuple):
            name = next((name for name in names if name.startswith("k:") and step[1] in _keys(name)), "")
        fields = names.get(name)
    return fields is not None


def _keys(name: str) -> Collection[object]:
    """Return the values of the keys of an item, as managed fields name it."""
    try:
        return parse_mapping(name.removeprefix("k:"), name).values()
    except TimetableError:
        return ()
