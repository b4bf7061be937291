"""The plain YAML that people really write, read quickly: keys, lists, one-line scalars and brackets.

Whatever is not plainly within that is `None`, and YAML's own grammar decides. It never gives a value that
differs from the grammar's: a test holds the two together.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from gen.input.scalar import Scalar, Value, plain

_PLAIN = r"""(?:[^\s\-?:,\[\]{}\#&*!|>'"%@`]|-(?=[0-9]))"""  # the first character
_QUOTED = r""""[^"\\]*+"|'[^']*+'"""
_LINE = re.compile(
    rf"""
    (?P<indent>[ ]*+)
    (?P<dash>-[ ]++)?
    (?:(?P<key>[A-Za-z0-9_][A-Za-z0-9_./-]*+|{_QUOTED}):(?:[ ]++|$))?
    (?P<value>{_QUOTED}|[\[{{][^\#]*[\]}}]|{_PLAIN}[^:\#]*+(?::[^\s:\#][^:\#]*+)*+)?
    [ ]*+(?:(?<![^ ])\#.*)?
    """,
    re.VERBOSE,
)
_FLOW = re.compile(
    rf"""
    ([\[\]{{}},])[ ]*
    |({_QUOTED}|{_PLAIN}[^:,\[\]{{}}\#]*+(?::[^\s:?,\[\]{{}}\#][^:,\[\]{{}}\#]*+)*+)
     (:[ ])?[ ]*
    |.
    """,
    re.VERBOSE,
)

_Line = tuple[int, int, str | None, Any, Callable[[Any], Any] | None]
"""Indent; columns from a dash to its content, else 0; key; value; what makes a fresh one if it can change."""
_Block = tuple[Any, int, bool]
"""A mapping or list; its column; whether it is a list."""
_Token = tuple[str, str, str]
"""Of a flow collection: a bracket or comma; or a scalar; and the colon, if the scalar is a key."""

_BLANK: _Line = (-1, 0, None, None, None)
_DOCUMENT: _Line = (-2, 0, None, None, None)
_BELOW = object()  # the value of a key that has nothing on its own line
_LONGEST = 1000  # characters; the grammar allows a key 1,024
_DEEPEST = 50  # columns of indent, and brackets on a line; the grammar's reader refuses 100 levels
_MOST = 2048

_known: dict[str, _Line] = {}  # most lines in a folder of reservations are alike


class _Odd(Exception):  # noqa: N818 - odd text is no error: the grammar decides
    """Not plainly within the subset."""


def read(text: str) -> list[Value] | None:
    """The documents of the text, empty ones too; `None` if it is not plainly within the subset."""
    documents: list[Value] = []
    rows: list[_Line] = []
    is_open = False
    try:
        for line in text.replace("\r\n", "\n").split("\n"):
            row = _known.get(line) or _learn(line)
            if row[0] >= 0:
                rows.append(row)
            elif row is _DOCUMENT:
                if rows or is_open:
                    documents.append(_document(rows))
                rows, is_open = [], True
        if rows or is_open:
            documents.append(_document(rows))
    except _Odd:
        return None
    return documents


def _document(rows: list[_Line]) -> Value:
    """The value of these lines. `node` is the innermost block, `at` its column, `stack` what is around it."""
    root: dict[str, Value] = {"": None}
    node: Any = root
    inner: Any
    at, is_list, stack = -1, False, list[_Block]()
    hole: str | None = ""  # the key whose value the next lines are, if they are indented
    for indent, dash, key, template, fresh in rows:
        if hole is not None and (indent > at or (indent == at and dash)):
            stack.append((node, at, is_list))
            is_list = dash > 0
            node[hole] = inner = [] if is_list else {}
            node, at = inner, indent
        elif indent != at or (dash > 0) is not is_list:
            node, at, is_list = _outer((node, at, is_list), stack, indent, dash)
        value = template if fresh is None else fresh(template)
        if dash:
            if key is None:
                node.append(value)
                hole = None
                continue
            stack.append((node, at, is_list))
            inner = {}
            node.append(inner)
            node, at, is_list = inner, indent + dash, False
        elif key in node:
            raise _Odd
        if value is _BELOW:
            node[key] = None
            hole = key
        else:
            node[key] = value
            hole = None
    return root[""]


def _outer(block: _Block, stack: list[_Block], indent: int, dash: int) -> _Block:
    """The block around this one that the line belongs to. A list may stand in the column of its key."""
    _, at, is_list = block
    while indent < at or (indent == at and is_list and not dash):
        _, at, is_list = block = stack.pop()
    if indent != at or is_list is not (dash > 0):
        raise _Odd
    return block


def _learn(line: str) -> _Line:
    row = _line(line)
    if len(_known) >= _MOST:
        _known.clear()
    _known[line] = row
    return row


def _line(line: str) -> _Line:
    if len(line) > _LONGEST or not line.isprintable():
        raise _Odd
    match = _LINE.fullmatch(line)
    if match is None:
        if line.rstrip(" ") == "---" or line.startswith("--- #"):
            return _DOCUMENT
        raise _Odd
    space, hyphen, name, text = match.groups()
    indent, dash = len(space), len(hyphen or "")
    if name is None and text is None and not dash:
        return _BLANK
    if indent > _DEEPEST or (name is None and (text is None or not dash)):
        raise _Odd
    key = None if name is None else _key(name)
    if text is None:
        return indent, dash, key, _BELOW, None
    if text[0] not in "[{":
        return indent, dash, key, _scalar(text), None
    value: Any = _flow(text)
    if any(isinstance(inner, list | dict) for inner in (value.values() if text[0] == "{" else value)):
        return indent, dash, key, text, _flow
    return indent, dash, key, value, type(value).copy


def _key(text: str) -> str:
    key = _scalar(text)
    if type(key) is not str or text == "<<":
        raise _Odd
    return key


def _scalar(text: str) -> Scalar:
    return text[1:-1] if text[0] in "\"'" else plain(text.rstrip(" "))


def _flow(text: str) -> Any:
    if text.count("[") + text.count("{") > _DEEPEST:
        raise _Odd
    tokens = iter(_FLOW.findall(text))
    try:
        value = _inner(next(tokens), tokens)
    except StopIteration:
        raise _Odd from None
    if next(tokens, None) is not None:
        raise _Odd
    return value


def _inner(token: _Token, tokens: Iterator[_Token]) -> Any:
    mark, text, colon = token
    if text and not colon:
        return _scalar(text)
    if mark == "[":
        return _list(tokens)
    if mark == "{":
        return _mapping(tokens)
    raise _Odd


def _list(tokens: Iterator[_Token]) -> list[Value]:
    values: list[Value] = []
    token = next(tokens)
    while token[0] != "]" or values:
        values.append(_inner(token, tokens))
        if _is_last(next(tokens), "]"):
            break
        token = next(tokens)
    return values


def _mapping(tokens: Iterator[_Token]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    token = next(tokens)
    while token[0] != "}" or values:
        _, text, colon = token
        if not colon:
            raise _Odd
        key = _key(text)
        if key in values:
            raise _Odd
        values[key] = _inner(next(tokens), tokens)
        if _is_last(next(tokens), "}"):
            break
        token = next(tokens)
    return values


def _is_last(token: _Token, closing: str) -> bool:
    if token[0] not in (",", closing):
        raise _Odd
    return token[0] == closing
