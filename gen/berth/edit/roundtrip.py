"""Edit one document of a YAML or JSON file; comments, order, quotes and all other documents stay the same.

The result is read back and compared with the same edit of the plain values. If they differ, the edit is
refused. No other module uses ruamel.yaml.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import date
from io import StringIO
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    ScalarToken,
)

from berth.notation.refusal import CommandError, shown
from berth.output.yamltext import quote
from berth.reading.document import parse
from berth.reading.source import Source

_MARKER = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_Path = tuple[Any, ...]
_is_date = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII).fullmatch

MakeNode = Callable[[Any], Any]
"""Turns a plain value into a node of the tree that is edited."""


class TreeEdit(Protocol):
    """Changes a tree of mappings and lists in place. Raises CommandError if it cannot."""

    def __call__(self, tree: Any, make: MakeNode) -> object: ...


def edit_document(text: str, index: int, edit: TreeEdit) -> str:
    """Return the text with one document edited.

    `index` counts documents from 0, including empty ones, as `berth.reading.document` does. Raise
    CommandError if the edit is not possible or the result is not exact.
    """
    wanted = _plain(text)
    edit(wanted[index], lambda value: value)
    found = _json(text, wanted) if text.lstrip()[:1] in ("{", "[") else _yaml(text, index, edit)
    try:
        is_exact = _plain(found) == wanted
    except CommandError:
        is_exact = False
    if not is_exact:
        raise CommandError("the file uses YAML that Berth cannot edit safely; edit it by hand")
    return found


def only_document(text: str, index: int) -> str:
    """Return the text with one of its documents, and what is above the first."""
    pieces = _pieces(text)
    return f"{pieces.get(-1, '')}{pieces[index]}".removeprefix("---\n")


def without_document(text: str, index: int) -> str | None:
    """Return the text without one of its documents; None if there is no other one."""
    pieces = _pieces(text)
    del pieces[index]
    rest = "".join(pieces[number] for number in sorted(pieces))
    return rest if _has_content(rest) else None


def _plain(text: str) -> dict[int, Any]:
    documents, faults = parse(Source("", text.encode()))
    if faults:
        raise CommandError("the file cannot be read")
    return {document.index: deepcopy(document.value) for document in documents}


def _json(text: str, wanted: dict[int, Any]) -> str:
    """Write the document with the indentation of the file."""
    first = re.search(r"\n( +)\S", text)
    indent = len(first.group(1)) if first else None
    return json.dumps(wanted[0], indent=indent, ensure_ascii=False) + ("\n" if text.endswith("\n") else "")


def _yaml(text: str, index: int, edit: TreeEdit) -> str:
    pieces = _pieces(text)
    crlf, has_end = "\r\n" in pieces[index], pieces[index].endswith("\n")
    piece = pieces[index].replace("\r\n", "\n") + ("" if has_end else "\n")
    try:
        edited = _written(piece, edit)
    except _LostCommentError as lost:
        number = lost.line + sum(pieces[before].count("\n") for before in pieces if before < index)
        message = f'line {number}: an edit would lose or move the comment "{lost}"'
        raise CommandError(f"{message}; write it in a line of its own, above the key or item") from lost
    except (YAMLError, ValueError, TypeError) as error:
        raise CommandError(f"the file cannot be edited: {error}") from error
    edited = edited if has_end else edited.removesuffix("\n")
    pieces[index] = edited.replace("\n", "\r\n") if crlf else edited
    return "".join(pieces[number] for number in sorted(pieces))


def _pieces(text: str) -> dict[int, str]:
    """Return the text of each document with its marker, by index; text before the first has the index -1."""
    starts = [match.start() for match in _MARKER.finditer(text)]
    head = text[: starts[0]] if starts else text
    has_content = _has_content(head)
    found = {0 if has_content else -1: head}
    for number, (start, end) in enumerate(pairwise([*starts, len(text)]), start=has_content):
        found[number] = text[start:end]
    return found


def _has_content(text: str) -> bool:
    """Whether there is more than comments, directives and markers."""
    lines = (line.strip() for line in text.splitlines())
    return any(line and line != "---" and not line.startswith(("#", "%")) for line in lines)


def _writer(piece: str) -> YAML:
    """Return a writer that indents as this text does."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    yaml.explicit_start = piece.startswith("---")
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    mapping = re.search(r"^[\w.-]+:[ \t]*(?:#.*)?\n( +)[^\s#-]", piece, re.MULTILINE)
    step = len(mapping.group(1)) if mapping else 2
    listed = re.search(r"^( *)[\w.-]+:[ \t]*(?:#.*)?\n(?: *#.*\n)*( *)-( +)", piece, re.MULTILINE)
    offset = len(listed.group(2)) - len(listed.group(1)) if listed else 2
    dash = 1 + len(listed.group(3)) if listed else 2
    yaml.indent(mapping=step, sequence=offset + dash, offset=offset)
    return yaml


# The library knows a comment as the end of the value above it, though it may belong to what follows. So it
# does not see them: they are taken out of the text, and put back where the values went that they stand at.

_comment = re.compile(r"(?:^|(?<=\s))#")
_REMOVED, _REPLACED = -1, -2  # instead of the line to which a value went: with a whole item or key, or not


class _LostCommentError(Exception):
    """A comment that has no place after an edit, and the number of its line."""

    def __init__(self, comment: str, line: int) -> None:
        super().__init__(comment.strip())
        self.line = line


class _Line(NamedTuple):
    """A line with a value, the comment at its end, and the lines above it that have none.

    `is_text` and `is_inside`: it begins within a text, and within a text or brackets.
    """

    text: str
    beside: str
    above: list[str]
    number: int
    is_text: bool = False
    is_inside: bool = False


def lost_comments(before: str, after: str) -> list[str]:
    """Say of each comment that an edited text has no more that its line is removed."""
    old, new = (
        Counter(" ".join(text.split()) for line in _lines(f"{file}\n") for text in (line.beside, *line.above))
        for file in (before, after)
    )
    return [f"the line with {shown(comment)} is removed" for comment in sorted(old - new) if comment]


def _written(piece: str, edit: TreeEdit) -> str:
    lines = _lines(piece)
    yaml, stream = _writer(piece), StringIO()
    tree = yaml.load("".join(f"{line.text}\n" for line in lines[:-1]))
    old: dict[_Path, tuple[Any, int]] = {}
    for path, parent, step in _places(tree):
        if step in (parent.lc.data or ()) and step not in parent.ca.items:
            old[path] = parent, parent.lc.data[step][0]
            parent.ca.items[step] = path  # goes with the value, as a comment would
    edit(tree, _inline)
    places = [*_places(tree)]
    kept = {path: parent.ca.items[step] for path, parent, step in places if step in parent.ca.items}
    for parent in (*(parent for parent, _ in old.values()), *(parent for _, parent, _ in places)):
        parent.ca.items.clear()
    yaml.dump(tree, stream)
    went = dict[int, int]()
    for path, parent, step in _places(yaml.load(stream.getvalue())):
        if path in kept and step in (parent.lc.data or ()):
            went.setdefault(old[kept[path]][1], parent.lc.data[step][0])
    there = {id(tree), *(id(parent[step]) for _, parent, step in places)}
    removed, replaced, stayed = set[_Path](), set[int](), {(), *kept.values()}
    for path, (parent, line) in old.items():
        if path[:-1] in removed or (path not in stayed and path[:-1] in stayed and id(parent) in there):
            removed.add(path)  # as a whole, or in what is
        elif path not in stayed:
            replaced.add(line)
    became = {line: went.get(line, _REPLACED if line in replaced else _REMOVED) for _, line in old.values()}
    found = _with_comments(lines, stream.getvalue().split("\n")[:-1], became)
    return "".join(f"{line}\n" for line in found)


def _places(tree: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any, Any]]:
    """Yield the path of each value of mappings and lists, what it is in, and its key or index."""
    if isinstance(tree, CommentedMap | CommentedSeq):
        for step in tree if isinstance(tree, CommentedMap) else range(len(tree)):
            yield (*path, step), tree, step
            yield from _places(tree[step], (*path, step))


def _lines(piece: str) -> list[_Line]:
    """Take the comments out of a text. The last line is its end."""
    is_scalar, is_inside, opened = bytearray(len(piece) + 1), bytearray(len(piece) + 1), list[int]()
    for token in YAML(typ="safe", pure=True).scan(piece):
        if isinstance(token, ScalarToken):
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in ("|", ">"):
                first = piece.index("\n", start)
                if "+" not in piece[start:first]:
                    end = start + len(piece[start:end].rstrip())
                start, end = first, max(first, end)
            is_scalar[start:end] = is_inside[start:end] = b"\1" * (end - start)
        elif isinstance(token, FlowSequenceStartToken | FlowMappingStartToken):
            opened.append(token.start_mark.index)
        elif isinstance(token, FlowSequenceEndToken | FlowMappingEndToken):
            start, end = opened.pop(), token.end_mark.index
            is_inside[start:end] = b"\1" * (end - start)
    lines, above, at = list[_Line](), list[str](), 0
    for number, line in enumerate(piece.split("\n")[:-1], 1):
        signs = (match.start() for match in _comment.finditer(line))
        sign = next((sign for sign in signs if not is_scalar[at + sign]), None)
        text = line if sign is None else line[:sign].rstrip()
        if text.strip() or is_scalar[at]:
            begins = (bool(where[at - 1] and where[at]) for where in (is_scalar, is_inside))
            lines.append(_Line(text, line[len(text) :], above, number, *begins))
            above = []
        else:
            above.append(line)
        at += len(line) + 1
    return [*lines, _Line("", "", above, piece.count("\n") + 1)]


def _with_comments(lines: list[_Line], new: list[str], became: dict[int, int]) -> list[str]:
    """Put the comments back into the new lines. Raise _LostCommentError if one has no place.

    `became`: by the index of a line in which a value begins, what became of it.
    """
    above, beside = [list[str]() for _ in range(len(new) + 1)], [""] * (len(new) + 1)
    ends = {*became.values()}
    last, shift, before = -1, 0, _REPLACED  # of the values above
    for index, line in enumerate(lines):
        is_end = line is lines[-1]
        is_next = last + 1 < len(new) and new[last + 1] == line.text  # such as a marker
        is_rest = line.is_inside or not line.text.lstrip().startswith(("-", ".", "<<"))  # of the value above
        other = len(new) if is_end else last + 1 if is_next else before if is_rest else _REPLACED
        to = became.get(index, other)
        if to == before >= 0:  # one line became of two
            _check_between(lines[index - 1], line)
        tail = len(line.above) if to < 0 else _tail(line, is_end=is_end)
        if tail:
            indent = _indent("".join(line.above[:tail]))
            by = shift if indent else 0
            at, indent = last + 1, indent + by
            while at < len(new) and at not in ends and (_indent(new[at]) > indent or not new[at].strip()):
                at += 1
            above[at] += [_shifted(text, by) for text in line.above[:tail]]
        if to == _REPLACED:
            _check_none(line.beside, line.number)
        elif to >= 0:
            if not line.is_inside:
                shift = 0 if is_end else _indent(new[to]) - _indent(line.text)
            above[to] += [_shifted(text, shift) for text in line.above[tail:]]
            _check_none(beside[to] and line.beside, line.number)
            beside[to] = beside[to] or line.beside
            last = max(last, to)
        before = to
    for n, text in enumerate(new):
        above[n].append(text.rstrip() + beside[n] if beside[n] else text)
    return [text for texts in above for text in texts]


def _check_between(first: _Line, line: _Line) -> None:
    """Raise _LostCommentError if there is a comment between two lines; empty lines go."""
    if not line.is_text:
        _check_none(first.beside, first.number)
    for number, comment in enumerate(line.above, line.number - len(line.above)):
        _check_none(comment, number)
    line.above.clear()


def _check_none(comment: str, line: int) -> None:
    if comment.strip():
        raise _LostCommentError(comment, line)


def _tail(line: _Line, *, is_end: bool) -> int:
    """Return how many of the lines above belong to what is above them: those with a larger indent."""
    outer = (n for n, text in enumerate(line.above) if text.strip() and _indent(text) <= _indent(line.text))
    end = len(line.above) if is_end else next(outer, len(line.above))
    while end > 0 and not line.above[end - 1].strip():
        end -= 1
    return end


def _shifted(comment: str, shift: int) -> str:
    return " " * max(0, _indent(comment) + shift) + comment.lstrip() if comment.strip() else comment


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _inline(value: Any) -> Any:
    """Return a node in flow style, on one line."""
    if isinstance(value, dict):
        mapping = CommentedMap((key, _inline(inner)) for key, inner in value.items())
        mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_inline(inner) for inner in value)
        sequence.fa.set_flow_style()
        return sequence
    if isinstance(value, str):
        return _text(value)
    return value


def plain_value(value: Any) -> Any:
    """Return a value of a document without comments and styles: mappings, lists, numbers and texts."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_value(inner) for inner in value]
    return value if isinstance(value, bool | int | float) else str(value)


def to_block(entries: Any) -> None:
    """Write each entry of a list on its own line, unless what it is in is written on one line."""
    if isinstance(entries, CommentedSeq):
        entries.fa.set_block_style()


def insert_key(mapping: Any, key: str, value: Any, before: str) -> None:
    """Add a key to a mapping, above the key `before` if there is one."""
    if isinstance(mapping, CommentedMap) and before in mapping:
        mapping.insert(list(mapping).index(before), key, value)
    else:
        mapping[key] = value


def _text(value: str) -> Any:
    if _is_date(value):
        try:
            return date.fromisoformat(value)
        except ValueError:  # validation says what is wrong with it
            return DoubleQuotedScalarString(value)
    return value if quote(value) == value else DoubleQuotedScalarString(value)
