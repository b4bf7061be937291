"""JSON text as a value, quickly; or as a tree of nodes like YAML's, for faults and places.

JSON is nearly YAML, but not quite: long keys and escaped pairs such as `\\ud83d\\ude00` are JSON only. So
text that is JSON is read as JSON, whatever its file is called; all other text is left to YAML.
"""

import json
import re

from gen.input.node import DEEPEST, Node, Refused, mapping, too_deep
from gen.input.scalar import Value, whole
from gen.input.text import Fault, Lines

_DECODER = json.JSONDecoder()
_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'[\s,:]*([\[\]{}"]|[^\s,:\[\]{}"]+)')


def value(text: str) -> Value:
    """The one value of the text. `ValueError` if it is not JSON, and if it needs a closer look."""
    if _PAIR.search(text):
        raise ValueError
    try:
        result: Value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_int=whole)
    except RecursionError:
        raise ValueError from None
    if text.count("[") + text.count("{") > DEEPEST and _is_too_deep(result):
        raise ValueError
    return result


def tree(lines: Lines) -> tuple[list[Node], list[Fault]] | None:
    """The one document, unless it cannot be read, and all faults; `None` if the text is not JSON."""
    try:
        json.loads(lines.text, parse_constant=_refuse, parse_int=whole)
    except ValueError:
        return None
    except RecursionError:
        pass  # far too deep: the tree stops at the bracket that is too much
    faults: list[Fault] = []
    try:
        return [_root(lines, faults)], faults
    except Refused as refused:
        return [], [*faults, refused.fault]


def _root(lines: Lines, faults: list[Fault]) -> Node:
    text = lines.text
    stack: list[tuple[int, list[Node]]] = []  # where each open bracket is, and what is in it so far
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # the text is JSON
        mark, start, at = match[1], match.start(1), match.end()
        if mark in "[{":
            if len(stack) >= DEEPEST:
                raise Refused(too_deep(start))
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
                node = Node(start, at, [child.value for child in children], tuple(children))
        else:
            node = Node(start, at, json.loads(mark, parse_int=whole))
        if not stack:
            return node
        stack[-1][1].append(node)


def _string(text: str, start: int, faults: list[Fault]) -> Node:
    string, end = _DECODER.raw_decode(text, start)
    half = _HALF.search(string)
    if half is not None:
        message = f'the text has the escape "\\u{ord(half[0]):x}", which is half of a character.'
        faults.append(Fault("B002", start, message, "Write the character itself."))
        string = _HALF.sub("\ufffd", string)
    return Node(start, end, string)


def _unique(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError
    return values


def _refuse(_: str) -> Value:
    raise ValueError


def _is_too_deep(root: Value) -> bool:
    level, depth = [root], 0
    while nested := [value for value in level if isinstance(value, dict | list)]:
        depth += 1
        level = [
            inner for value in nested for inner in (value.values() if isinstance(value, dict) else value)
        ]
    return depth > DEEPEST
