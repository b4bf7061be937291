"""Read a text as a tree of nodes: each value with the characters that it is written with.

YAML and JSON become the same tree: a key is text and occurs once in a mapping, `<<` merges another mapping,
and depth and size are limited. Events of libyaml are processed without recursion.

Long keys and escaped pairs such as `\\ud83d\\ude00` are valid in JSON but not in YAML. So text that is JSON
is read as JSON, whatever the name of its file; all other text is YAML.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from sys import intern
from typing import Any, NamedTuple

import yaml
from yaml import events

from berth.findings import Fault
from berth.reading.complaint import explain
from berth.reading.scalar import MAY_BE_MORE_THAN_TEXT, Value, ZeroPrefixedNumber, no_constant, plain, whole
from berth.reading.text import HIDDEN, Lines, may_be_json, visible

DEEPEST = 100
"""The most levels of lists and mappings, so that values can be processed recursively."""
_MOST_HIDDEN = 10  # that are reported of one line
MOST = 100_000
"""The most values in one document, repeated ones counted each time; a long reservation has 1,000."""
_ONLY_TEXT = frozenset({str})


class TextNode(NamedTuple):
    """A value and its characters `[at, end)`. A block begins at its first key or dash.

    `children` are the items of a list, or the keys and values of a mapping in turn, each key once, including
    merged ones. An alias has the place where it is used; values in it have that where they are written.
    """

    at: int
    end: int
    value: Value
    children: tuple["TextNode", ...] = ()

    def pairs(self) -> Iterator[tuple[str, "TextNode", "TextNode"]]:
        """Return for each key of a mapping its text, its node, and the node of its value."""
        names = self.value if isinstance(self.value, dict) else ()
        return zip(names, self.children[::2], self.children[1::2], strict=True)


class ReadingStopped(Exception):  # noqa: N818 - it carries a fault
    """The text cannot be read any further."""

    def __init__(self, fault: Fault[int]) -> None:
        super().__init__(fault)
        self.fault = fault


def _key_of(node: TextNode, lines: Lines) -> str | None:
    """Return a key as text, or as it is written if it is not text; None for a list or mapping."""
    if type(node.value) is str:
        return node.value
    return None if isinstance(node.value, list | dict) else lines.text[node.at : node.end]


def mapping(at: int, end: int, children: list[TextNode], lines: Lines, faults: list[Fault[int]]) -> TextNode:
    """Return the node of a mapping with these keys and values. A duplicate key keeps its first value."""
    names: list[Any] = [key.value for key in children[::2]]
    if _ONLY_TEXT.issuperset(map(type, names)) and "<<" not in names:
        values: dict[str, Value] = dict(zip(names, [value.value for value in children[1::2]], strict=True))
        if len(values) == len(names):
            return TextNode(at, end, values, tuple(children))
    pairs = _unusual_pairs(children, lines, faults)
    values = {name: value.value for name, (_, value) in pairs.items()}
    return TextNode(at, end, values, tuple(node for pair in pairs.values() for node in pair))


def _unusual_pairs(
    children: list[TextNode], lines: Lines, faults: list[Fault[int]]
) -> dict[str, tuple[TextNode, TextNode]]:
    """Return keys and values of a mapping where keys occur twice, are not text, or merge another mapping."""
    pairs: dict[str, tuple[TextNode, TextNode]] = {}
    merges: dict[str, tuple[TextNode, TextNode]] = {}
    for key, value in zip(children[::2], children[1::2], strict=True):
        name = _key_of(key, lines)
        if name is None:
            message = f"the key is {_kind(key.value)}; keys must be text."
            fix = 'Put text that begins with "{" or "[" in quotes.'
            faults.append(Fault("B005", key.at, message, fix))
            continue
        # In quotes, `<<` is a key like any other.
        target = merges if name == "<<" and lines.text[key.at : key.end] == name else pairs
        if name in target:
            line, _ = lines.place(target[name][0].at)
            message = f'duplicate key "{visible(name)}": it is in line {line} already.'
            faults.append(Fault("B004", key.at, message, "Keep one of the two."))
            continue
        if type(key.value) is not str:
            faults.append(_key_is_not_text(key, name))
        target[name] = key, value
    for _, value in merges.values():
        _merge(value, pairs, faults)
    return pairs


def _merge(node: TextNode, pairs: dict[str, tuple[TextNode, TextNode]], faults: list[Fault[int]]) -> None:
    """Add the keys that are missing; of several mappings, the first that has a key is used."""
    for source in node.children if isinstance(node.value, list) else (node,):
        if not isinstance(source.value, dict):
            message = f'"<<" merges a mapping, and this is {_kind(source.value)}.'
            fix = 'Give it the alias of a mapping, as in "<<: *name", or remove it.'
            faults.append(Fault("B005", source.at, message, fix))
            continue
        for name, key, value in source.pairs():
            pairs.setdefault(name, (key, value))


def too_deep(at: int) -> Fault[int]:
    message = f"lists and mappings are nested more than {DEEPEST} levels deep here."
    return Fault("B006", at, message, "Remove brackets or indentation.")


def _key_is_not_text(key: TextNode, name: str) -> Fault[int]:
    shown = visible(name)
    message = (
        f"the key {shown} is {_kind(key.value)}; keys must be text." if name else "a key is missing here."
    )
    return Fault(
        "B005", key.at, message, f'Put it in quotes: "{shown}".' if name else 'Write one before the ":".'
    )


def _kind(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return "empty" if value is None else "a truth value"
    if isinstance(value, int | float | ZeroPrefixedNumber):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"


_DECODER = json.JSONDecoder()
_HALF = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'[\s,:]*([\[\]{}"]|[^\s,:\[\]{}"]+)')


_TAG = re.compile(r"![^\s,\[\]{}]*")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s*)*")
_TEXT_TAG = "tag:yaml.org,2002:str"


def trees(lines: Lines) -> tuple[list[TextNode], list[Fault[int]]]:
    """Return the documents, empty ones too, up to where reading cannot go on; and all faults."""
    if may_be_json(lines.text):
        found = _json_tree(lines)
        if found is not None:
            return found
    return _yaml_trees(lines)


def _json_tree(lines: Lines) -> tuple[list[TextNode], list[Fault[int]]] | None:
    """Return the one document, unless it cannot be read, and all faults; `None` if the text is not JSON."""
    try:
        json.loads(lines.text, parse_constant=no_constant, parse_int=whole)
    except ValueError:
        return None
    except RecursionError:
        pass  # too deep: the tree stops at the first bracket beyond the limit
    faults: list[Fault[int]] = []
    try:
        return [_root(lines, faults)], faults
    except ReadingStopped as refused:
        return [], [*faults, refused.fault]


def _root(lines: Lines, faults: list[Fault[int]]) -> TextNode:
    text = lines.text
    stack: list[tuple[int, list[TextNode]]] = []  # the place and the children of each open bracket
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # the text is JSON
        mark, start, at = match[1], match.start(1), match.end()
        if mark in "[{":
            if len(stack) >= DEEPEST:
                raise ReadingStopped(too_deep(start))
            stack.append((start, []))
            continue
        if mark == '"':
            node = _string(text, start, faults)
            at = node.end
        elif mark in "]}":
            start, children = stack.pop()
            if mark == "}":
                node = mapping(start, at, children, lines, faults)
            else:
                node = TextNode(start, at, [child.value for child in children], tuple(children))
        else:
            node = TextNode(start, at, json.loads(mark, parse_int=whole))
        if not stack:
            return node
        stack[-1][1].append(node)


def _string(text: str, start: int, faults: list[Fault[int]]) -> TextNode:
    string, end = _DECODER.raw_decode(text, start)
    half = _HALF.search(string)
    if half is not None:
        message = f'the escape "\\u{ord(half[0]):x}" is half of a character.'
        faults.append(Fault("B002", start, message, "Write the character itself."))
        string = _HALF.sub("\ufffd", string)
    return TextNode(start, end, string)


def _yaml_trees(lines: Lines) -> tuple[list[TextNode], list[Fault[int]]]:
    first = HIDDEN.search(lines.text)
    if first is not None:
        line = lines.text[: lines.text.find("\n", first.start()) + 1 or None]
        hidden = islice(HIDDEN.finditer(line, first.start()), _MOST_HIDDEN)
        return [], [_hidden(one[0], one.start()) for one in hidden]
    reader = _Reader(lines)
    parser = yaml.CLoader(lines.text)
    try:
        while (event := parser.get_event()) is not None:
            reader.take(event)
    except ReadingStopped as refused:
        reader.faults.append(refused.fault)
    except yaml.MarkedYAMLError as error:
        complaint = f"{error.context or ''}: {error.problem}"
        at = error.problem_mark.index if error.problem_mark else len(lines.text)
        start = error.context_mark.index if error.context_mark else at
        reader.faults.append(explain(complaint, start, at, reader.bracket(), lines))
        if "expected <document start>" in complaint:
            del reader.documents[-1:]  # it is incomplete: text of it follows
    return reader.documents, reader.faults


class _Anchored(NamedTuple):
    node: TextNode
    size: int  # values, itself included
    height: int  # levels of lists and mappings


class _OpenCollection:
    """A list or mapping that is not closed yet; the lowest one of the stack holds the root of a document."""

    __slots__ = ("anchor", "at", "before", "bracket", "children", "height")

    def __init__(self, at: int = 0, bracket: int = -1, anchor: str | None = None, before: int = 0) -> None:
        self.at = at
        self.bracket = bracket
        self.anchor = anchor
        self.before = before  # values of the document before it
        self.height = 1
        self.children: list[TextNode] = []

    def add(self, node: TextNode, height: int) -> None:
        self.children.append(node)
        self.height = max(self.height, height + 1)


class _Reader:
    def __init__(self, lines: Lines) -> None:
        self.documents: list[TextNode] = []
        self.faults: list[Fault[int]] = []
        self._lines = lines
        self._block = _OpenCollection()  # the innermost
        self._stack: list[_OpenCollection] = []  # those around it
        self._anchors: dict[str | None, _Anchored | None] = {}
        self._size = 0

    def take(self, event: events.Event) -> None:
        assert event.start_mark is not None
        assert event.end_mark is not None
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, events.ScalarEvent):
            self._grow(1, start)
            text = intern(event.value)  # most texts occur many times, and files are many
            if event.tag is not None or event.anchor is not None:
                node = self._unusual_scalar(event, start, end)
            elif event.style or (text and text[0] not in MAY_BE_MORE_THAN_TEXT):
                node = TextNode(start, end, text)
            else:
                node = TextNode(start, end, plain(text))
            self._block.children.append(node)
        elif isinstance(event, events.CollectionStartEvent):
            self._begin(event, start, end)
        elif isinstance(event, events.CollectionEndEvent):
            self._end(isinstance(event, events.MappingEndEvent), end)
        elif isinstance(event, events.AliasEvent):
            self._alias(event, start, end)
        elif isinstance(event, events.DocumentStartEvent):
            self._anchors = {}
            self._size = 0
            if event.version == (1, 1):
                message = "the file asks for YAML 1.1, but it is read as YAML 1.2."
                fix = 'Remove the line that begins with "%YAML".'
                self.faults.append(Fault("B005", start, message, fix))
        elif isinstance(event, events.DocumentEndEvent):
            self.documents.append(self._block.children.pop())

    def bracket(self) -> int | None:
        """Return the place of the innermost open bracket."""
        places = (block.bracket for block in (self._block, *reversed(self._stack)) if block.bracket >= 0)
        # A pair in a list, as in `[a: 1]`, is a mapping without a bracket.
        return next((at for at in places if self._lines.text[at] in "[{"), None)

    def _unusual_scalar(self, event: events.ScalarEvent, at: int, end: int) -> TextNode:
        """Return a value with a tag or an anchor."""
        if event.tag is not None and event.tag != _TEXT_TAG:
            self.faults.append(self._tag(at))
        properties = _PROPERTIES.match(self._lines.text, at, end)
        at = properties.end() if properties else at
        is_plain = event.tag is None and not event.style
        node = TextNode(at, end, plain(event.value) if is_plain else event.value)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(node, 1, 0)
        return node

    def _begin(self, event: events.CollectionStartEvent, at: int, end: int) -> None:
        before = self._size
        self._grow(1, at)
        if len(self._stack) >= DEEPEST:
            raise ReadingStopped(too_deep(at))
        if event.tag is not None:
            self.faults.append(self._tag(at))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(self._block)
        self._block = _OpenCollection(at, end - 1 if event.flow_style else -1, event.anchor, before)

    def _end(self, is_mapping: bool, end: int) -> None:
        block, self._block = self._block, self._stack.pop()
        if is_mapping:
            node = mapping(block.at, end, block.children, self._lines, self.faults)
        else:
            node = TextNode(block.at, end, [child.value for child in block.children], tuple(block.children))
        if block.anchor is not None:
            self._anchors[block.anchor] = _Anchored(node, self._size - block.before, block.height)
        self._block.add(node, block.height)

    def _alias(self, event: events.AliasEvent, at: int, end: int) -> None:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            self.faults.append(_no_anchor(at, event.anchor or "", event.anchor in self._anchors))
            anchored = _Anchored(TextNode(at, end, self._lines.text[at:end]), 1, 0)
        self._grow(anchored.size, at)
        if len(self._stack) + anchored.height > DEEPEST:
            raise ReadingStopped(too_deep(at))
        self._block.add(anchored.node._replace(at=at, end=end), anchored.height)

    def _grow(self, size: int, at: int) -> None:
        self._size += size
        if self._size > MOST:
            message = f"the document has more than {MOST:,} values, repeated ones counted each time."
            fix = 'Use fewer aliases ("*name"), or split the file.'
            raise ReadingStopped(Fault("B006", at, message, fix))

    def _tag(self, at: int) -> Fault[int]:
        tag = _TAG.search(self._lines.text, at)
        message = f'unsupported tag "{visible(tag[0]) if tag else "!"}".'
        return Fault("B005", at, message, 'Remove it; text that begins with "!" goes in quotes.')


def _hidden(character: str, at: int) -> Fault[int]:
    from berth.reading.lookalikes import named  # noqa: PLC0415 - few files need it

    message = f"invisible character: {named(character)}."
    return Fault(
        "B002", at, message, 'Remove it; if there are many, save the file with the encoding "UTF-8".'
    )


def _no_anchor(at: int, name: str, is_open: bool) -> Fault[int]:
    shown = visible(name)
    if is_open:
        message = f'the alias "*{shown}" is inside the value that it repeats.'
        return Fault("B005", at, message, "Write the value out here.")
    message = f'unknown alias "*{shown}": no value before it has the anchor "&{shown}".'
    return Fault(
        "B005",
        at,
        message,
        'Give one this anchor, in the same document; text that begins with "*" goes in quotes.',
    )
