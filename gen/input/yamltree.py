"""YAML text as trees of nodes, one a document: the whole grammar, with everything that can be wrong told.

libyaml gives the events; what is made of them is ours and has no recursion, so no nesting and no alias hurts.
Importing this module is dear: only text that is not plainly good, or findings that need a place, come here.
"""

import re
from typing import NamedTuple

import yaml
from yaml import events

from gen.input.complaint import explain
from gen.input.node import DEEPEST, MOST, Node, Refused, mapping, too_deep, too_many
from gen.input.scalar import plain
from gen.input.text import Fault, Lines, visible

_TAG = re.compile(r"![^\s,\[\]{}]*")
_PROPERTIES = re.compile(r"(?:[&!]\S*\s*)*")
_TEXT_TAG = "tag:yaml.org,2002:str"
_HIDDEN = re.compile("[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def trees(lines: Lines) -> tuple[list[Node], list[Fault]]:
    """The documents, empty ones too, up to where reading cannot go on; and all faults."""
    hidden = _HIDDEN.search(lines.text)
    if hidden is not None:
        return [], [_hidden(hidden[0], hidden.start())]
    reader = _Reader(lines)
    parser = yaml.CLoader(lines.text)
    try:
        while (event := parser.get_event()) is not None:
            reader.take(event)
    except Refused as refused:
        reader.faults.append(refused.fault)
    except yaml.MarkedYAMLError as error:
        complaint = f"{error.context or ''}: {error.problem}"
        at = error.problem_mark.index if error.problem_mark else len(lines.text)
        start = error.context_mark.index if error.context_mark else at
        reader.faults.append(explain(complaint, start, at, reader.bracket(), lines))
        if "expected <document start>" in complaint:
            del reader.documents[-1:]  # more of it follows, so it is not what its author meant
    return reader.documents, reader.faults


class _Anchored(NamedTuple):
    node: Node
    size: int  # values, itself included
    height: int  # levels of lists and mappings


class _Open:
    """A list or mapping that is not closed yet."""

    __slots__ = ("anchor", "at", "before", "bracket", "children", "height")

    def __init__(self, event: events.CollectionStartEvent, before: int) -> None:
        self.at, end = _span(event)
        self.bracket = end - 1 if event.flow_style else -1
        self.anchor = event.anchor
        self.before = before  # values of the document before it
        self.height = 1
        self.children: list[Node] = []


class _Reader:
    def __init__(self, lines: Lines) -> None:
        self.documents: list[Node] = []
        self.faults: list[Fault] = []
        self._lines = lines
        self._stack: list[_Open] = []
        self._anchors: dict[str | None, _Anchored | None] = {}
        self._size = 0
        self._root = Node(0, 0, None)

    def take(self, event: events.Event) -> None:
        if isinstance(event, events.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, events.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, events.CollectionEndEvent):
            self._end(event)
        elif isinstance(event, events.AliasEvent):
            self._alias(event)
        elif isinstance(event, events.DocumentStartEvent):
            self._anchors = {}
            self._size = 0
            if event.version == (1, 1):
                self.faults.append(_old_version(_span(event)[0]))
        elif isinstance(event, events.DocumentEndEvent):
            self.documents.append(self._root)

    def bracket(self) -> int | None:
        """Where the innermost bracket stands that is not closed yet."""
        places = (block.bracket for block in reversed(self._stack) if block.bracket >= 0)
        # A pair within a list, as in `[a: 1]`, is a mapping too, without a bracket of its own.
        return next((at for at in places if self._lines.text[at] in "[{"), None)

    def _scalar(self, event: events.ScalarEvent) -> None:
        at, end = _span(event)
        self._grow(1, at)
        if event.tag is not None and event.tag != _TEXT_TAG:
            self.faults.append(self._tag(at))
        if event.tag is not None or event.anchor is not None:
            properties = _PROPERTIES.match(self._lines.text, at, end)
            at = properties.end() if properties else at
        is_plain = event.tag is None and not event.style
        node = Node(at, end, plain(event.value) if is_plain else event.value)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(node, 1, 0)
        self._add(node, 0)

    def _begin(self, event: events.CollectionStartEvent) -> None:
        block = _Open(event, self._size)
        self._grow(1, block.at)
        if len(self._stack) >= DEEPEST:
            raise Refused(too_deep(block.at))
        if event.tag is not None:
            self.faults.append(self._tag(block.at))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(block)

    def _end(self, event: events.CollectionEndEvent) -> None:
        block = self._stack.pop()
        end = _span(event)[1]
        if isinstance(event, events.MappingEndEvent):
            node = mapping(block.at, end, block.children, self._lines, self.faults)
        else:
            node = Node(block.at, end, [child.value for child in block.children], tuple(block.children))
        if block.anchor is not None:
            self._anchors[block.anchor] = _Anchored(node, self._size - block.before, block.height)
        self._add(node, block.height)

    def _alias(self, event: events.AliasEvent) -> None:
        at, end = _span(event)
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            self.faults.append(_no_anchor(at, event.anchor or "", event.anchor in self._anchors))
            anchored = _Anchored(Node(at, end, self._lines.text[at:end]), 1, 0)
        self._grow(anchored.size, at)
        if len(self._stack) + anchored.height > DEEPEST:
            raise Refused(too_deep(at))
        self._add(anchored.node._replace(at=at, end=end), anchored.height)

    def _add(self, node: Node, height: int) -> None:
        if self._stack:
            block = self._stack[-1]
            block.children.append(node)
            block.height = max(block.height, height + 1)
        else:
            self._root = node

    def _grow(self, size: int, at: int) -> None:
        self._size += size
        if self._size > MOST:
            raise Refused(too_many(at))

    def _tag(self, at: int) -> Fault:
        tag = _TAG.search(self._lines.text, at)
        message = f'the tag "{visible(tag[0]) if tag else "!"}" is not understood.'
        return Fault("B005", at, message, 'Remove it; text that begins with "!" goes in quotes.')


def _span(event: events.Event) -> tuple[int, int]:
    """Its characters, from the first to before the end."""
    start, end = event.start_mark, event.end_mark
    assert start is not None
    assert end is not None
    return start.index, end.index


def _hidden(character: str, at: int) -> Fault:
    message = f"the character U+{ord(character):04X} stands here, which cannot be seen."
    return Fault(
        "B002", at, message, 'Remove it; if there are many, save the file with the encoding "UTF-8".'
    )


def _old_version(at: int) -> Fault:
    message = "the file asks for YAML 1.1, but it is read as YAML 1.2."
    return Fault("B005", at, message, 'Remove the line that begins with "%YAML".')


def _no_anchor(at: int, name: str, is_open: bool) -> Fault:
    shown = visible(name)
    if is_open:
        message = f'the alias "*{shown}" stands within the value that it repeats.'
        return Fault("B005", at, message, "Write the value out here.")
    message = f'the alias "*{shown}" repeats nothing: no value before it is marked "&{shown}".'
    return Fault(
        "B005", at, message, 'Mark one in the same document; text that begins with "*" goes in quotes.'
    )
