"""Find the field that a short path means: `startDate` is `spec.recurrence.startDate`."""

from collections.abc import Iterator

from berth.notation.refusal import CommandError
from berth.schema import outline
from berth.schema.declared import RESERVATION, document_of
from berth.schema.documentproblems import close
from berth.schema.outline import Known, Node, fields

FieldPath = tuple[str | int, ...]
_TOP = ("metadata", "spec")
_WITH_PATH = ("rehearses",)  # whose keys have the names of others, which people mean


def full_path(path: FieldPath) -> FieldPath:
    """Return the path from the top of a reservation's document.

    A path is below `spec` unless it begins with `metadata` or `spec`. The name of a key of `metadata`, or of
    a mapping below `spec`, is enough where only one has it. Raise CommandError if several have it, or one has
    nearly this name; any other name stays as it is. In a mapping of texts, such as annotations, all that
    follows is one key.
    """
    path = path if path[0] in _TOP else _below_spec(path)
    for depth in range(1, len(path)):
        node = node_at(path[:depth])
        rest = path[depth:]
        if node and node.kind == outline.MAP and node.value.kind != outline.MODEL and len(rest) > 1:
            return (*path[:depth], ".".join(map(str, rest)))
    return path


def _below_spec(path: FieldPath) -> FieldPath:
    document = fields(document_of(RESERVATION))
    spec = fields(document["spec"].node.type)
    if path[0] in spec:
        return ("spec", *path)
    places: dict[str, list[FieldPath]] = {}
    mappings: dict[FieldPath, Known] = {("metadata",): document["metadata"]}
    mappings |= {("spec", key): known for key, known in spec.items() if key not in _WITH_PATH}
    for place, known in mappings.items():
        for key in fields(known.node.type) if known.node.kind == outline.MODEL else ():
            places.setdefault(key, []).append((*place, key))
    name, rest = str(path[0]), path[1:]
    found = [(*place, *rest) for place in places.get(name, ())]
    if len(found) > 1:
        raise CommandError(f"several fields are named {name}: write {' or '.join(map(text_of, found))}")
    if not found and (near := close(name, [*spec, *places])) and near[0] in places:
        raise CommandError(f'no field is named "{name}". Did you mean {text_of(places[near[0]][0])}?')
    return found[0] if found else ("spec", *path)


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


def _keys(node: Node) -> Iterator[tuple[str, Known]]:
    """Yield the keys of a place of any type that it may have."""
    for branch in node.branches if node.kind == outline.UNION else (node,):
        if branch.kind == outline.MODEL:
            yield from fields(branch.type).items()


def text_of(path: FieldPath) -> str:
    """Return a path as people write it: below `spec` without it."""
    short = path[1:] if path[:1] == ("spec",) else path
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in short).lstrip(".")
