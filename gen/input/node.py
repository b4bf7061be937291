"""A text as a tree of nodes: each value with the characters that it is written with.

Readers of YAML and JSON make the same tree, by the rules that are here: a key is text and stands once in a
mapping, `<<` takes over another mapping, and a tree has a greatest depth and size. Nothing here reads text.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gen.input.scalar import Octalish, Value
from gen.input.text import Fault, Lines, visible

DEEPEST = 100
"""Levels of lists and mappings; people need ten. Whoever walks a value may use recursion."""
MOST = 100_000
"""Values in one document, repeated ones counted each time; a long reservation has 1,000."""


class Node(NamedTuple):
    """A value and the characters `[at, end)` it is written with: a block begins at its first key or dash.

    `children` are the items of a list, or of a mapping its keys and values in turn, each key once, also those
    that `<<` took over. An alias stands where it is; what is in it stands where it is written.
    """

    at: int
    end: int
    value: Value
    children: tuple["Node", ...] = ()

    def pairs(self) -> Iterator[tuple[str, "Node", "Node"]]:
        """Of a mapping: each key as text, its node, and the node of its value."""
        names = self.value if isinstance(self.value, dict) else ()
        return zip(names, self.children[::2], self.children[1::2], strict=True)


class Refused(Exception):  # noqa: N818 - it carries a fault, which is the word here
    """The text cannot be read any further."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def _key_of(node: Node, lines: Lines) -> str | None:
    """The key as text; of one that is not text, as it is written; `None` for a list or mapping as key."""
    if type(node.value) is str:
        return node.value
    return None if isinstance(node.value, list | dict) else lines.text[node.at : node.end]


def mapping(at: int, end: int, children: list[Node], lines: Lines, faults: list[Fault]) -> Node:
    """The node of a mapping with these keys and values. A key that is there twice keeps its first value."""
    pairs: dict[str, tuple[Node, Node]] = {}
    merges: dict[str, tuple[Node, Node]] = {}
    for key, value in zip(children[::2], children[1::2], strict=True):
        name = _key_of(key, lines)
        if name is None:
            faults.append(_key_is_collection(key))
            continue
        # In quotes, `<<` is a key like any other.
        target = merges if name == "<<" and lines.text[key.at : key.end] == name else pairs
        if name in target:
            faults.append(_duplicate(key, name, target[name][0], lines))
            continue
        if type(key.value) is not str:
            faults.append(_key_is_no_text(key, name))
        target[name] = key, value
    for _, value in merges.values():
        _merge(value, pairs, faults)
    values = {name: value.value for name, (_, value) in pairs.items()}
    return Node(at, end, values, tuple(node for pair in pairs.values() for node in pair))


def _merge(node: Node, pairs: dict[str, tuple[Node, Node]], faults: list[Fault]) -> None:
    """Takes over the keys that are not there yet; of several mappings, the first that has a key gives it."""
    for source in node.children if isinstance(node.value, list) else (node,):
        if not isinstance(source.value, dict):
            message = f'"<<" takes over the keys of a mapping, and this is {_kind(source.value)}.'
            fix = 'Give it the alias of a mapping, as in "<<: *name", or remove it.'
            faults.append(Fault("B005", source.at, message, fix))
            continue
        for name, key, value in source.pairs():
            pairs.setdefault(name, (key, value))


def too_deep(at: int) -> Fault:
    message = f"more than {DEEPEST} lists and mappings stand in one another here."
    return Fault(
        "B006", at, message, "Nothing that can be declared is that deep: remove brackets or indentation."
    )


def too_many(at: int) -> Fault:
    message = f"the document has more than {MOST:,} values, repeated ones counted each time."
    return Fault("B006", at, message, 'Use fewer aliases ("*name"), or split the file.')


def _duplicate(key: Node, name: str, first: Node, lines: Lines) -> Fault:
    line, _ = lines.place(first.at)
    message = f'the key "{visible(name)}" stands here again; it is in line {line} already.'
    return Fault("B004", key.at, message, "Keep one of the two.")


def _key_is_no_text(key: Node, name: str) -> Fault:
    shown = visible(name)
    message = (
        f"the key {shown} is {_kind(key.value)}, and keys are text." if name else "a key is missing here."
    )
    return Fault(
        "B005", key.at, message, f'Put it in quotes: "{shown}".' if name else 'Write one before the ":".'
    )


def _key_is_collection(key: Node) -> Fault:
    message = f"the key is {_kind(key.value)}, and keys are text."
    return Fault("B005", key.at, message, 'Put text that begins with "{" or "[" in quotes.')


def _kind(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "empty" if value is None else "a truth value"
    if isinstance(value, int | float | Octalish):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"
