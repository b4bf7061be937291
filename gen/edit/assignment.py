"""`provisioning.placeholderCount=30`: where in a document a value goes, and putting it there. Pure."""

import re
from typing import Any, NamedTuple

from gen.edit.roundtrip import EditError, Make
from gen.input.document import parse
from gen.input.source import Source

_step = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_TOP = ("metadata", "spec")


class Assignment(NamedTuple):
    """`path` from the top of the document. `value` None takes the key away."""

    path: tuple[str | int, ...]
    value: Any


def assignment(said: str) -> Assignment:
    """`PATH=VALUE` with a path below spec, or one that begins with metadata or spec; the value in YAML."""
    path, equals, text = said.partition("=")
    steps = [int(match[2]) if match[2] else match[1] for match in _step.finditer(path)]
    rebuilt = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    if not equals or not steps or rebuilt != f".{path}":
        raise EditError(f'"{said}" is no PATH=VALUE such as provisioning.placeholderCount=30')
    return Assignment(tuple(steps) if steps[0] in _TOP else ("spec", *steps), _value(text))


def _value(text: str) -> Any:
    if not text.strip() or text.strip() in ("null", "~"):
        return None
    documents, faults = parse(Source("", f"x: {text}\n".encode()))
    if faults or len(documents) != 1 or not isinstance(documents[0].value, dict):
        if text.isprintable() and text[0] not in "[{\"'&*!|>%@`":
            return text  # a title with a colon is still a title
        raise EditError(f'"{text}" is no value in YAML')
    return documents[0].value["x"]


def assign(tree: Any, one: Assignment, make: Make) -> None:
    *above, last = one.path
    at = tree
    for depth, step in enumerate(above):
        at = _step_into(at, step, one.path[: depth + 1], make)
    if isinstance(last, int) and not (isinstance(at, list) and last < len(at)):
        raise EditError(f"{_shown(one.path)} does not stand in the file")
    if one.value is None:
        if isinstance(at, dict) and last not in at:
            raise EditError(f"{_shown(one.path)} does not stand in the file")
        del at[last]
    else:
        at[last] = make(one.value)


def _step_into(at: Any, step: str | int, path: tuple[str | int, ...], make: Make) -> Any:
    if isinstance(step, int):
        if isinstance(at, list) and step < len(at):
            return at[step]
    elif isinstance(at, dict):
        if at.get(step) is None:
            at[step] = make({})
        return at[step]
    raise EditError(f"{_shown(path)} does not stand in the file")


def _shown(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
