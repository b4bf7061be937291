"""Read the documents of a file as plain values, and find what is wrong with its text.

PyYAML's loader on libyaml, with the scalars of YAML 1.2, reads most files, and the `json` module those that
are JSON. Neither knows places. Texts that they do not support (with faults, tags or aliases) are read a
second time by `berth.reading.tree`, which returns the same values and knows what is wrong where. Reading
never raises an exception, whatever the bytes are.
"""

import json
import re
from sys import intern
from typing import NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from berth.findings import Fault, FilePlace, Finding, Origin
from berth.reading.scalar import MAY_BE_MORE_THAN_TEXT, Value, no_constant, plain, whole
from berth.reading.source import Source
from berth.reading.text import HIDDEN, Lines, decode, may_be_json
from berth.reading.tree import DEEPEST, MOST, trees

_SECOND_READING = re.compile(r"[*!%]|<<")  # marks of aliases, tags, directives and merges
_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Document(NamedTuple):
    """A document that is not empty. `index` counts from 0 among all of the file, empty ones too."""

    file: str
    index: int  # type: ignore[assignment] # hides tuple.index
    value: Value

    @property
    def origin(self) -> Origin:
        return Origin(self.file, self.index)


class UnsupportedText(Exception):  # noqa: N818 - not an error: the second reading decides
    """A text that the fast loader does not support."""


def parse(source: Source) -> tuple[list[Document], list[Finding]]:
    """Return the documents before the first that cannot be read, and everything that is wrong.

    A document is among them if the rest of it is certain despite its fault, such as a duplicate key. So one
    run reports all of its problems.
    """
    text, fault = decode(source.text)
    lines = Lines(text)
    faults: list[Fault[int]] = []
    values: list[Value] = []
    if fault is not None:
        faults = [fault]
    else:
        try:
            values = load(text)
        except UnsupportedText:
            nodes, faults = trees(lines)
            values = [node.value for node in nodes]
        if not text.isascii():
            from berth.reading.misreading import blame, misread  # noqa: PLC0415 - most files are ASCII

            faults = blame(lines, faults) if faults else misread(lines)
    documents = [Document(source.file, at, value) for at, value in enumerate(values) if value is not None]
    if not documents and not faults:
        faults = [Fault("B007", 0, "the file is empty.", "Write a document, or remove the file.")]
    return documents, [
        FilePlace(source.file, *lines.place(fault.at)).finding(fault.code, fault.message, fault.fix)
        for fault in faults
    ]


def load(text: str) -> list[Value]:
    """Return the documents, empty ones too; raise UnsupportedText if the second reading has to decide."""
    try:
        return [_json(text)] if may_be_json(text) else _yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise UnsupportedText from error


def _yaml(text: str) -> list[Value]:
    if _SECOND_READING.search(text) or HIDDEN.search(text):
        raise UnsupportedText
    loader = _Loader(text)
    values = []
    while loader.check_node():
        loader.size = 0
        root = loader.get_node()
        assert root is not None
        values.append(_value(root))
    return values


class _Loader(yaml.CBaseLoader):
    """Composes nodes without tags; the value of a scalar is resolved later."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = self.size = 0

    def resolve(self, _kind: object, _value: object, _implicit: object) -> None:
        """Return no tag."""

    def descend_resolver(self, _parent: object, _index: object) -> None:
        """Count the node that the composer begins."""
        self.depth += 1
        self.size += 1
        if self.depth > DEEPEST or self.size > MOST:
            raise UnsupportedText

    def ascend_resolver(self) -> None:
        self.depth -= 1


def _value(node: Node) -> Value:
    if isinstance(node, ScalarNode):
        text = intern(node.value)  # most texts occur many times
        is_text = node.style or (text and text[0] not in MAY_BE_MORE_THAN_TEXT)
        return text if is_text else plain(text)
    if isinstance(node, MappingNode):
        return _mapping(node)
    assert isinstance(node, SequenceNode)
    return [_value(item) for item in node.value]


def _mapping(node: MappingNode) -> Value:
    values: dict[str, Value] = {}
    for key, inner in node.value:
        name = _value(key)
        if type(name) is not str or name in values:
            raise UnsupportedText
        values[name] = _value(inner)
    return values


def _json(text: str) -> Value:
    if _HALF_OF_A_PAIR.search(text):
        raise UnsupportedText
    value: Value = json.loads(text, object_pairs_hook=_unique, parse_constant=no_constant, parse_int=whole)
    if text.count("[") + text.count("{") > DEEPEST and _is_too_deep(value):
        raise UnsupportedText
    return value


def _unique(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise UnsupportedText
    return values


def _is_too_deep(root: Value) -> bool:
    level, depth = [root], 0
    while nested := [value for value in level if isinstance(value, dict | list)]:
        depth += 1
        level = [
            inner for value in nested for inner in (value.values() if isinstance(value, dict) else value)
        ]
    return depth > DEEPEST
