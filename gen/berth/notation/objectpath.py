"""Paths into an object, as people write them: `spec.limits.cpu`, `spec.flavors[name=default].quota`.

A key with dots or slashes is quoted in brackets, as `spec.limits["nvidia.com/gpu"]`; a number in brackets is
the index of an item, from 0, and `[key=value]` is the item with that value. What `object_path_text` writes is
the only way to write a path.
"""

import re

from berth.core.holders import Step

_STEP = re.compile(
    r"""\.?([A-Za-z_][-A-Za-z0-9_]*)|\[(0|[1-9][0-9]{0,2})\]|\[([A-Za-z]+)=([-A-Za-z0-9._/:]+)\]"""
    r"""|\["([-A-Za-z0-9._/:]+)"\]""",
    re.ASCII,
)
_LONGEST = 500


def parse_object_path(text: str) -> tuple[Step, ...] | None:
    """Return the steps of a path; None for what is not one, or is longer than 500 characters."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None or match[0].startswith(".") != (bool(match[1]) and place > 0):
            return None
        key, index, name, value, quoted = match.groups()
        steps.append((name, value) if name else int(index) if index else key or quoted)
        place = match.end()
    parsed = tuple(steps)
    return parsed if parsed and len(text) <= _LONGEST and object_path_text(parsed) == text else None


def object_path_text(steps: tuple[Step, ...]) -> str:
    """Return a path as people write it."""
    text = ""
    for step in steps:
        if isinstance(step, tuple):
            text += f"[{'='.join(step)}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if re.fullmatch(r"[A-Za-z_][-A-Za-z0-9_]*", step, re.ASCII) else f'["{step}"]'
    return text.removeprefix(".")
