"""Find the field that a short path means: `startDate` is `spec.recurrence.startDate`."""

from collections.abc import Iterator
from typing import Any

from berth.notation.refusal import CommandError
from berth.schema import outline
from berth.schema.declared import RESERVATION, document_of
from berth.schema.documentproblems import close
from berth.schema.outline import Known, Node, fields

FieldPath = tuple[str | int, ...]
_TOP = ("metadata", "spec")
_DEEPEST = 8  # models that contain themselves end here
_WITH_PATH = ("rehearses",)  # whose keys have the names of others, which people mean


def full_path(path: FieldPath, tree: Any) -> FieldPath:
    """Return the path from the top of a reservation's document.

    A path is below `spec` unless it begins with `metadata` or `spec`. If there is no such key, its first key
    is looked for everywhere: first outside of lists, then in those of the document; but not in rehearses,
    whose keys are those of a course. Raise CommandError if several fields have the name, or none but one
    elsewhere has nearly this name; another one that none has stays as it is. In a mapping of texts, such as
    annotations, all that follows is one key.
    """
    return _with_open_key(_found(path, tree))


def _with_open_key(path: FieldPath) -> FieldPath:
    for depth in range(1, len(path)):
        node = node_at(path[:depth])
        rest = path[depth:]
        if node and node.kind == outline.MAP and node.value.kind != outline.MODEL and len(rest) > 1:
            return (*path[:depth], ".".join(map(str, rest)))
    return path


def node_at(path: FieldPath) -> Node | None:
    """Return what may be at a path; None of a key that is unknown."""
    node: Node | None = None
    for step in path:
        if node is not None and node.kind == outline.LIST:
            node = node.item
            continue
        known = fields(document_of(RESERVATION)) if node is None else dict(_keys(node))
        if step not in known:
            return None
        node = known[str(step)].node
    return node


def _found(path: FieldPath, tree: Any) -> FieldPath:
    document = fields(document_of(RESERVATION))
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
            raise CommandError(f"several fields are named {name}: write {choices}")
    if path[0] not in _TOP:
        _check_nearly(str(name), document["spec"].node)
    return (top, *below)


def _check_nearly(name: str, spec: Node) -> None:
    """Raise CommandError for the name of no field that is nearly that of one below those of `spec`."""
    paths = {path[-1]: path for path in reversed([*_all_outside_lists(spec)])}
    names = close(name, [str(path) for path in paths])
    if names and len(paths[names[0]]) > 1:
        raise CommandError(f'no field is named "{name}". Did you mean {text_of(("spec", *paths[names[0]]))}?')


def _all_outside_lists(node: Node, depth: int = 0) -> Iterator[FieldPath]:
    for key, inner, _ in _inside(node, None) if depth < _DEEPEST else ():
        yield (key,)
        yield from ((key, *path) for path in _all_outside_lists(inner, depth + 1))


def _keys(node: Node) -> Iterator[tuple[str, Known]]:
    """Yield the keys of a place of any type that it may have."""
    for branch in node.branches if node.kind == outline.UNION else (node,):
        if branch.kind == outline.MODEL:
            yield from fields(branch.type).items()


def _inside(node: Node, value: Any) -> Iterator[tuple[str, Node, Any]]:
    """Yield the keys of a place, what is there, and its value in the document."""
    for key, known in _keys(node):
        yield key, known.node, value.get(key) if isinstance(value, dict) else None


def _outside_lists(node: Node, name: str, value: Any, depth: int = 0) -> Iterator[FieldPath]:
    """Yield the path of each key of this name that is in no list."""
    for key, inner, inner_value in _inside(node, value) if depth < _DEEPEST else ():
        if key == name:
            yield (key,)
        if key not in _WITH_PATH:
            yield from ((key, *path) for path in _outside_lists(inner, name, inner_value, depth + 1))


def _in_lists(node: Node, name: str, value: Any) -> Iterator[FieldPath]:
    """Yield the path of each key of this name in the items of lists that the document has."""
    if node.kind == outline.LIST:
        for index, item in enumerate(value if isinstance(value, list) else ()):
            for find in (_outside_lists, _in_lists):
                yield from ((index, *path) for path in find(node.item, name, item))
    else:
        for key, inner, inner_value in _inside(node, value):
            if inner_value is not None and key not in _WITH_PATH:
                yield from ((key, *path) for path in _in_lists(inner, name, inner_value))


def text_of(path: FieldPath) -> str:
    """Return a path as people write it: below `spec` without it."""
    short = path[1:] if path[:1] == ("spec",) else path
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in short).lstrip(".")
