"""Edit one document of a YAML or JSON file; comments, order, quotes and all other documents stay the same.

The result is read back and compared with the same edit of the plain values. If they differ, the edit is
refused. No other module uses ruamel.yaml.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from difflib import SequenceMatcher
from io import StringIO
from itertools import pairwise
from typing import Any, Protocol

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from berth.notation.refusal import CommandError, shown
from berth.output.yamltext import quote
from berth.reading.document import parse
from berth.reading.source import Source

_MARKER = re.compile(r"^---(?=\s|$)", re.MULTILINE)
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
        lost = _comments(piece) - _comments(edited)
        if lost:  # by the edit, which may remove what it is about, or by writing alone
            lost &= _comments(piece) - _comments(_written(piece, lambda *_: None))
    except (YAMLError, ValueError, TypeError) as error:
        raise CommandError(f"the file cannot be edited: {error}") from error
    if lost:
        comment = min(comment for comment, _ in lost)
        message = f'an edit would lose or move the comment "{comment}"'
        raise CommandError(f"{message}; move it out of brackets, and indent all lines alike")
    edited = edited if has_end else edited.removesuffix("\n")
    pieces[index] = edited.replace("\n", "\r\n") if crlf else edited
    return "".join(pieces[number] for number in sorted(pieces))


def _written(piece: str, edit: TreeEdit) -> str:
    yaml, stream = _writer(piece), StringIO()
    tree = yaml.load(piece)
    edit(tree, _inline)
    yaml.dump(tree, stream)
    return keep_comments(piece, stream.getvalue())


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


_is_comment = re.compile(r"[ \t]*(?:#.*)?\n?").fullmatch  # a whole line; empty lines count
_any_comment = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE).search  # also at the end of a line
_with_sign_in_quotes = re.compile(r"""(?<=[\s,\[{])(["'])(?:(?!\1|\n).)*#(?:(?!\1|\n).)*\1""")


def _comments(text: str) -> Counter[tuple[str, str]]:
    """Return the comments, each with the first word of the line that it is at or above, however indented."""
    found, word = list[tuple[str, str]](), ""
    for line in reversed(text.splitlines()):
        comment = _any_comment(line)
        content = line[: comment.start()] if comment else line
        word = next(iter(content.replace("- ", "").split()), word)
        if comment:
            found.append((" ".join(comment[0].split()), word))
    return Counter(found)


def lost_comments(before: str, after: str) -> list[str]:
    """Say of each comment that an edited text has no more that its line is removed."""
    texts = (_with_sign_in_quotes.sub("", text) for text in (before, after))
    old, new = (Counter(comment for comment, _ in _comments(text).elements()) for text in texts)
    return [f"the line with {shown(comment)} is removed" for comment in sorted(old - new)]


def keep_comments(before: str, after: str) -> str:
    """Return the edited text with the comment lines of the text before, each in its place.

    The library knows a comment line as the end of the value above it. It loses the line with that value, and
    adds values after it, though it may belong to what follows.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lost = Counter(filter(_is_comment, old))
    lost.subtract(filter(_is_comment, new))
    found: list[str] = []
    for tag, i, end, j, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        block = new[j:new_end]
        if tag == "insert":
            at = _place(block, found, new[new_end:])
            found[at:at] = block
            continue
        if tag == "equal":
            found += block
            continue
        first = next((n for n in range(i, end) if not _is_comment(old[n])), end)
        found += _lost(old[i:first], lost)
        found += block
        found += _lost(old[first:end], lost)
    return "".join(found)


def _lost(lines: list[str], lost: Counter[str]) -> list[str]:
    """Return the comment lines that are lost, which are not lost from then on."""
    kept = []
    for line in lines:
        if _is_comment(line) and lost[line] > 0:
            lost[line] -= 1
            kept.append(line)
    return kept


def _place(block: list[str], above: list[str], below: list[str]) -> int:
    """Return where in the lines above new lines belong: before comments that belong to what is below."""
    if _is_comment(block[0]):
        return len(above)
    indent = _indent(block[0])
    follower = next((line for line in below if not _is_comment(line)), "")
    is_flush = block[0].lstrip().startswith("- ") and not follower.lstrip().startswith("- ")
    at = len(above)
    first = at
    while first > 0 and _is_comment(above[first - 1]):
        first -= 1
    for n in range(first, at):
        if above[n].strip() and (_indent(above[n]) < indent or (is_flush and _indent(follower) == indent)):
            while n > first and not above[n - 1].strip():
                n -= 1  # noqa: PLW2901 - empty lines belong to what follows, too
            return n
    if at > first and not above[first].strip():
        return first
    return at


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
