"""Write values in YAML so that every reader gets back exactly the same value.

Parsers of YAML 1.1 (PyYAML), of YAML 1.2 (ruamel.yaml) and that of Kubernetes disagree about many plain
texts. Words, names, addresses and amounts that mean the same to all of them are plain, also within brackets;
every other text is in double quotes, on one line. A value that cannot be written raises TypeError or
ValueError; nothing is left out or changed.
"""

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from math import isfinite
from typing import Any

# The ranges are written out because `str.isprintable` answers by the Unicode version of the Python at hand.
_CHANGED_BY_READERS = (
    "\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
# Invisible, or changes the direction of text, which could mislead reviewers. Joiners are allowed: scripts and
# emoji need them.
_HIDDEN_FROM_PEOPLE = "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb\U000e0000-\U000e0fff"
# Compiled only when needed: that takes as long as rendering thirty reservations.
_ESCAPED = f'["\\\\\n{_CHANGED_BY_READERS}{_HIDDEN_FROM_PEOPLE}]'
_is_plain_ascii = re.compile(r"[ !#-\[\]-~]*").fullmatch
# Words with single spaces; a colon only between other characters, so that it ends no key. The letters of
# Latin-1 are in every table of Unicode.
_LETTER, _INNER = "A-Za-zÀ-ÖØ-öø-ÿ", "A-Za-zÀ-ÖØ-öø-ÿ0-9_/.()+@=*~-"
_is_plain = re.compile(
    rf"[{_LETTER}][{_INNER}]*(?::[{_INNER}]+)*(?: [{_INNER}]+(?::[{_INNER}]+)*)*|[0-9]+(?:m|[KMGT]i|%)"
).fullmatch
_WORDS_OF_YAML = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off", "null"})
_WIDTH = 120  # of a line with a list or mapping in brackets
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LINE_BYTES = bytes(range(0x20, 0x7F)) + b"\n"

_LONGEST_KEY = 1000
"""Characters as written: readers look for the colon within 1,024. No key of Kubernetes is longer than 317."""

_COLLECTIONS = (dict, list, tuple)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"the text has half of a surrogate pair (U+{code:04X}), which is not a character")
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _quote(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not text")
    if len(text) <= _WIDTH and _is_plain(text) and text.lower() not in _WORDS_OF_YAML:
        return text
    if _is_plain_ascii(text):
        return f'"{text}"'
    return f'"{re.sub(_ESCAPED, _escape, text)}"'


quote: Callable[[str], str] = lru_cache(maxsize=512)(_quote)
"""Write the text on one line, in double quotes where it needs them.

Cached: the objects of a reservation share most texts."""


def number(value: object) -> str:
    """Write a whole number that fits in 64 bits, or a finite float, as all readers understand it."""
    if type(value) is int:
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit in 64 bits")
        return str(value)
    if type(value) is not float:
        raise TypeError(f"{value!r} is not a number")
    if not isfinite(value):
        raise ValueError(f"{value} is not finite")
    text = repr(value)
    if "e" in text and "." not in text:  # YAML 1.1 takes 1e+16 for text, and 1.0e+16 for a number
        text = text.replace("e", ".0e")
    return text


def literal(text: str, indent: int) -> str:
    """Write code or JSON as a literal block at `indent` (at least 1), which a reviewer can read.

    What such a block cannot carry exactly and visibly (tabs, control characters, spaces or empty lines at the
    beginning or end) is written as one quoted line instead: always the same text, only harder to read.
    """
    if indent < 1:
        raise ValueError(f"a literal block needs an indentation of at least 1, not {indent}")
    if not isinstance(text, str) or not _is_made_of_lines(text):
        return _quote(text)
    pad = " " * indent
    style, body = ("|", text[:-1]) if text.endswith("\n") else ("|-", text)
    return style + "\n" + "\n".join([pad + line if line else line for line in body.split("\n")])


def _is_made_of_lines(text: str) -> bool:
    if not text or text[0] in " \n" or text.endswith((" ", "\n\n")):
        return False
    # Removing the usual bytes is much faster than searching the whole text. It also removes quotes,
    # backslashes and line feeds, which a block may have, so the pattern finds only what it cannot have.
    odd = text.encode("utf-8", "surrogatepass").translate(None, _LINE_BYTES)
    return not odd or re.search(_ESCAPED, odd.decode("utf-8", "surrogatepass")) is None


def flow(value: object) -> str:
    """Write any value on one line, collections in brackets."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_key(key)} {flow(item)}" for key, item in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, date) else number(value)


def block(value: object, indent: int) -> str:
    """Write a mapping or list as a YAML block, in its order.

    Short lists of texts, and short mappings in lists, are on one line. The first line has no indentation: the
    template has it. All others have `indent` spaces.
    """
    if not isinstance(value, _COLLECTIONS):
        raise TypeError(f"{value!r} is neither a mapping nor a list")
    if not value:
        return flow(value)
    lines: list[str] = []
    _add_lines(lines, value, " " * indent)
    return "\n".join(lines)[indent:]


def _add_lines(lines: list[str], value: dict[Any, Any] | list[Any] | tuple[Any, ...], pad: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if type(item) is str:  # first, because nearly all are
                lines.append(pad + _pair(key, item))
                continue
            start = pad + _key(key)
            line = "" if item and isinstance(item, dict) else _one_line(start, item)
            lines.append(line or start)
            if not line:
                _add_lines(lines, item, pad + "  ")
    else:
        for item in value:
            if line := _one_line(f"{pad}-", item):
                lines.append(line)
                continue
            first = len(lines)
            _add_lines(lines, item, pad + "  ")
            lines[first] = f"{pad}- {lines[first][len(pad) + 2 :]}"


def _one_line(start: str, value: object) -> str:
    """Return the value after its start; empty for a collection that is long or has others in it."""
    if not value or not isinstance(value, _COLLECTIONS):
        return f"{start} {flow(value)}"
    items = value.values() if isinstance(value, dict) else value
    line = "" if any(isinstance(item, _COLLECTIONS) for item in items) else f"{start} {flow(value)}"
    return line if len(line) <= _WIDTH else ""


@lru_cache(maxsize=512)
def _pair(key: str, text: str) -> str:
    return f"{_key(key)} {quote(text)}"


def _key(key: str) -> str:
    written = quote(key)
    if len(written) > _LONGEST_KEY:
        raise ValueError(f"a key of {len(key)} characters is longer than readers look for its colon")
    return f"{written}:"
