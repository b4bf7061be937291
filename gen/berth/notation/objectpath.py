"""Paths into an object, as people write them: `spec.limits.cpu`, `spec.flavors[name=default].quota`.

A key with dots or slashes is quoted in brackets, as `spec.limits["nvidia.com/gpu"]`; a number in brackets is
the index of an item, from 0, and `[key=value]` is the item with that value. What `object_path_text` writes is
the only way to write a path. In a pattern of paths, `*` is any key, and `[*]` any item of a list.
"""

import re

from berth.core.holders import Step, path_text

_STEP = re.compile(
    r"""\.?([A-Za-z_][-A-Za-z0-9_]*)|\[(0|[1-9][0-9]{0,2})\]|\[([A-Za-z]+)=([-A-Za-z0-9._/:]+)\]"""
    r"""|\["([-A-Za-z0-9._/:]+)"\]""",
    re.ASCII,
)
_WILDCARD = re.compile(r"\.(\*)(?=[.\[]|$)|\[(\*)\]", re.ASCII)
_LONGEST = 500

ANY_KEY: Step = "*"
ANY_ITEM: Step = ("*", "*")
"""Steps of patterns only: no path has a key or a value with an asterisk."""


def parse_object_path(text: str, *, is_pattern: bool = False) -> tuple[Step, ...] | None:
    """Return the steps of a path; None for what is not one, or is longer than 500 characters."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if is_pattern and (wildcard := _WILDCARD.match(text, place)):
            steps.append(ANY_KEY if wildcard[1] else ANY_ITEM)
            place = wildcard.end()
            continue
        match = _STEP.match(text, place)
        if match is None or match[0].startswith(".") != (bool(match[1]) and place > 0):
            return None
        key, index, name, value, quoted = match.groups()
        steps.append((name, value) if name else int(index) if index else key or quoted)
        place = match.end()
    parsed = tuple(steps)
    return parsed if parsed and len(text) <= _LONGEST and object_path_text(parsed) == text else None


def object_path_text(steps: tuple[Step, ...]) -> str:
    """Return a path, or a pattern of paths, as people write it."""
    return path_text(steps).replace('["*"]', ".*").replace("[*=*]", "[*]")


def matches_pattern(path: tuple[Step, ...], pattern: tuple[Step, ...]) -> bool:
    """Return whether a path is one of a pattern, step by step."""
    return len(path) == len(pattern) and all(map(_matches, path, pattern))


def _matches(step: Step, allowed: Step) -> bool:
    if allowed == ANY_ITEM:
        return not isinstance(step, str)
    return step == allowed or (allowed == ANY_KEY and isinstance(step, str))


def may_be_same(path: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    """Return whether two different paths may lead to one value: items of lists have several names."""
    return path != other and len(path) == len(other) and all(map(_may_be_same, path, other))


def _may_be_same(step: Step, other: Step) -> bool:
    if isinstance(step, tuple) and isinstance(other, tuple):
        return step == other or step[0] != other[0]
    return step == other or (
        isinstance(step, int | tuple) and type(step) is not type(other) and not isinstance(other, str)
    )
