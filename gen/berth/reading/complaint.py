"""Translate an error of libyaml into a message for people: what is wrong, where, and what to write."""

import re

from berth.findings import Fault
from berth.reading.text import Lines, visible

_AT, _FROM = "at", "from"
# Part of libyaml's message; whether the fault is at the problem or where its context begins; message; fix.
# The first that matches is used.
_COMPLAINTS = (
    (
        "Unicode character escape",
        _AT,
        "this escape is not a whole character.",
        "Write the character itself.",
    ),
    (
        "hexdecimal",
        _AT,
        "this escape has too few hexadecimal digits.",
        'Write "\\\\" for a backslash, or use single quotes.',
    ),
    (
        "unknown escape",
        _AT,
        'unknown escape: in double quotes, "\\" begins one.',
        'Write "\\\\" for a backslash, or use single quotes.',
    ),
    (
        "quoted scalar: found unexpected",
        _FROM,
        "the quote that begins here is never closed.",
        "Close it, or put the text in the other kind of quotes.",
    ),
    (
        "mapping values are not allowed",
        _AT,
        "unexpected key.",
        'Check the indentation of its line; if this is a value with ": " in it, put it in quotes.',
    ),
    (
        "could not find expected ':'",
        _FROM,
        'this is neither "key: value" nor "- item".',
        'Write ":" and a space after a key, "-" and a space before an item.',
    ),
    (
        "block sequence entries",
        _AT,
        "unexpected list item.",
        'Begin a list on a line of its own, or write it as "[a, b]".',
    ),
    (
        "expected '-' indicator",
        _AT,
        "this is not an item of the list that begins in line {line}.",
        'Begin it with "- ", or check its indentation.',
    ),
    (
        "expected <document start>",
        _AT,
        "unexpected text after the end of the document.",
        'Remove it, or begin another document with a line "---".',
    ),
    (
        "cannot start any token",
        _AT,
        "text without quotes cannot begin with {character}.",
        "Put it in quotes.",
    ),
    (
        "scanning a block scalar",
        _AT,
        'after "|" or ">" the line must end.',
        "Begin the text in the next line, or put it in quotes.",
    ),
    (
        "scanning an a",
        _FROM,
        "after {character} a name must follow.",
        "Text that begins with {character} goes in quotes.",
    ),
    (
        "tag",
        _FROM,
        "unsupported tag.",
        'Remove it; text that begins with "!" goes in quotes.',
    ),
    (
        "directive",
        _FROM,
        'unsupported directive: the line begins with "%".',
        'Remove it; text that begins with "%" goes in quotes.',
    ),
    (
        "incompatible YAML",
        _AT,
        "the file asks for another version of YAML than 1.2.",
        'Remove the line that begins with "%YAML".',
    ),
    (
        "expected node content",
        _AT,
        "unexpected {character}.",
        "Remove it, or put the text in quotes.",
    ),
)


def explain(complaint: str, start: int, at: int, bracket: int | None, lines: Lines) -> Fault[int]:
    """Return the fault for a complaint, which is libyaml's context and problem, separated by `: `.

    The context begins at `start`, the problem is at `at`; both may be past the end. `bracket` is the
    innermost one that is open there.
    """
    text = lines.text
    last = max(len(text.rstrip()) - 1, 0)
    is_end = at > last
    at, start = min(at, last), min(start, last)
    if conflict := re.search("^<<<<<<< ", text, re.MULTILINE):
        fix = "Keep one of both versions, and remove the lines of <<<<<<<, ======= and >>>>>>>."
        return Fault("B003", conflict.start(), "git has marked a merge conflict here.", fix)
    if text[at : at + 1] == "\t" or "tab character" in complaint:
        return Fault("B003", at, "the line is indented with a tab.", "Indent with spaces.")
    if "while parsing a flow" in complaint and bracket is not None:
        return _in_brackets(at, is_end, bracket, lines)
    if "did not find expected key" in complaint:
        return _in_block(at, start, lines)
    for words, where, message, fix in _COMPLAINTS:
        if words in complaint:
            place = at if where == _AT else start
            line, _ = lines.place(start)
            character = f'"{visible(text[place : place + 1])}"'
            return Fault(
                "B003", place, message.format(line=line, character=character), fix.format(character=character)
            )
    return Fault(
        "B003", at, "the text is not valid YAML from here on.", "Check quotes, brackets and indentation."
    )


def _in_brackets(at: int, is_end: bool, bracket: int, lines: Lines) -> Fault[int]:
    text = lines.text
    closing = "]" if text[bracket] == "[" else "}"
    if is_end or closing not in text[at:] or _is_after_block(at, bracket, text):
        message = f'the bracket "{text[bracket]}" is never closed.'
        return Fault("B003", bracket, message, f'Write "{closing}" after its last value.')
    if text[at] == "," and text[:at].rstrip()[-1] in "[{,":
        return Fault("B003", at, "a value is missing before this comma.", "Write it, or remove the comma.")
    line, _ = lines.place(bracket)
    message = f'a "," or "{closing}" is missing before this, in the bracket of line {line}.'
    return Fault("B003", at, message, "Write it; text with brackets, commas or quotes in it goes in quotes.")


def _is_after_block(at: int, bracket: int, text: str) -> bool:
    """Tell whether the line looks like the next key or item of the block that contains the bracket."""
    line, opening = _line_start(at, text), _line_start(bracket, text)
    key = text[line:].lstrip(" ")
    first = text[opening:].lstrip(" ")
    is_as_deep = len(text) - line - len(key) <= len(text) - opening - len(first)
    return line > bracket and is_as_deep and key[0] not in "[]{}\"'," and len(text) - len(first) < bracket


def _in_block(at: int, start: int, lines: Lines) -> Fault[int]:
    text = lines.text
    line, _ = lines.place(start)
    if text[at] in "]}":
        return Fault("B003", at, f'unexpected bracket "{text[at]}": none is open.', "Remove it.")
    if text[_line_start(at, text) : at].strip():
        message = "the value is complete before this."
        return Fault("B003", at, message, "Put the whole value in one pair of quotes, or remove the rest.")
    if text[at] == "-":
        message = f"this is a list item, but the block that begins in line {line} has keys."
        return Fault("B003", at, message, "Write the list below a separate key, or check its indentation.")
    message = f"the line is not indented like the block that begins in line {line}."
    return Fault("B003", at, message, "Give all keys of a block the same number of spaces.")


def _line_start(at: int, text: str) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
