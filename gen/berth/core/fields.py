"""The value of a field of an object at a path."""

from collections.abc import Sequence

from berth.core.holders import Step


def field_value(tree: object, path: Sequence[Step]) -> object:
    """Return the value at the path; None if it is missing."""
    for step in path:
        key, tree = step_below(tree, step)
        if key is None:
            return None
    return tree


def step_below(tree: object, step: Step) -> tuple[str | int | None, object]:
    """Return the key of a step in an object or list, None if it is missing, and the value there."""
    if isinstance(step, str):
        return (step, tree[step]) if isinstance(tree, dict) and step in tree else (None, None)
    items = tree if isinstance(tree, list) else []
    if isinstance(step, int):
        return (step, items[step]) if step < len(items) else (None, None)
    name, value = step
    for index, item in enumerate(items):
        if isinstance(item, dict) and item.get(name) == value:
            return index, item
    return None, None
