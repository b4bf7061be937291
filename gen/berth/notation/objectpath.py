"""Paths into an object, as people write them: `spec.limits.cpu`, `spec.flavors[name=default].quota`.

A key with dots or slashes is quoted in brackets, as `spec.limits["nvidia.com/gpu"]`; a number in brackets is
the index of an item, from 0, and `[key=value]` is the item with that value. Other keys and values may be
quoted, too: what is read are the steps, and `object_path_text` writes them in one way. In a pattern of paths,
`*` is any key, and `[*]` any item of a list.
"""

import re

from berth.core.holders import Step
from berth.plugins.numbers.foreignnumbers import path_text

_NAME = r"[-A-Za-z0-9._/:]+"
_STEP = re.compile(
    r"\.?(?P<key>[A-Za-z_][-A-Za-z0-9_]*)|\[(?P<index>0|[1-9][0-9]{0,2})\]"
    rf"""|\[(?P<name>[A-Za-z]+)=(?P<quote>["']?)(?P<value>{_NAME})(?P=quote)\]"""
    rf"""|\[(?P<around>["'])(?P<quoted>{_NAME})(?P=around)\]""",
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
        if match is None or match[0].startswith(".") != (bool(match["key"]) and place > 0):
            return None
        if match["name"]:
            steps.append((match["name"], match["value"]))
        else:
            steps.append(int(match["index"]) if match["index"] else match["key"] or match["quoted"])
        place = match.end()
    return tuple(steps) if steps and len(text) <= _LONGEST else None


def object_path_text(steps: tuple[Step, ...]) -> str:
    """Return a path, or a pattern of paths, as people write it."""
    return path_text(steps).replace('["*"]', ".*").replace("[*=*]", "[*]")


def yaml_path(steps: tuple[Step, ...]) -> str:
    """Return a path to be pasted into YAML, also within braces, where brackets need quotes."""
    text = object_path_text(steps)
    return f"'{text}'" if "[" in text else text


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
