"""Find the field that a short path means: `startDate` is `spec.recurrence.startDate`."""

from collections.abc import Iterator
from typing import Any

from berth.edit.roundtrip import EditError
from berth.schema import outline
from berth.schema.outline import Node, fields
from berth.schema.reservation import ReservationDocument

FieldPath = tuple[str | int, ...]
_TOP = ("metadata", "spec")
_DEEPEST = 8  # models that contain themselves end here


def full_path(path: FieldPath, tree: Any) -> FieldPath:
    """Return the path from the top of a reservation's document.

    A path is below `spec` unless it begins with `metadata` or `spec`. If there is no such key, its first key
    is looked for everywhere: first outside of lists, then in those of the document. Raise EditError if
    several fields have the name; one that none has stays as it is.
    """
    document = fields(ReservationDocument)
    top, *below = path if path[0] in _TOP else ("spec", *path)
    if not below or below[0] in fields(document[str(top)].node.type) or (path[0] in _TOP and len(below) > 1):
        return (top, *below)
    name, *rest = below
    for paths in (_outside_lists, _in_lists):
        found = [
            (start, *inner)
            for start in (_TOP if path[0] not in _TOP else (str(top),))
            for inner in paths(document[start].node, str(name), tree.get(start))
        ]
        if len(found) == 1:
            return (*found[0], *rest)
        if found:
            choices = " or ".join(text_of((*one, *rest)) for one in found)
            raise EditError(f"several fields are named {name}: write {choices}")
    return (top, *below)


def _inside(node: Node, value: Any) -> Iterator[tuple[str, Node, Any]]:
    """Yield the keys of a place, what is there, and its value in the document."""
    for one in node.branches if node.kind == outline.UNION else (node,):
        if one.kind == outline.MODEL:
            for key, known in fields(one.type).items():
                yield key, known.node, value.get(key) if isinstance(value, dict) else None


def _outside_lists(node: Node, name: str, value: Any, depth: int = 0) -> Iterator[FieldPath]:
    """Yield the path of each key of this name that is in no list."""
    for key, inner, inner_value in _inside(node, value) if depth < _DEEPEST else ():
        if key == name:
            yield (key,)
        yield from ((key, *path) for path in _outside_lists(inner, name, inner_value, depth + 1))


def _in_lists(node: Node, name: str, value: Any) -> Iterator[FieldPath]:
    """Yield the path of each key of this name in the items of lists that the document has."""
    if node.kind == outline.LIST:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            for find in (_outside_lists, _in_lists):
                yield from ((index, *path) for path in find(node.item, name, item))
    else:
        for key, inner, inner_value in _inside(node, value):
            if inner_value is not None:
                yield from ((key, *path) for path in _in_lists(inner, name, inner_value))


def text_of(path: FieldPath) -> str:
    """Return a path as people write it: below `spec` without it."""
    short = path[1:] if path[0] == "spec" else path
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in short).lstrip(".")
