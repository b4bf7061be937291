"""Templates without jinja2: the plain ones, which all of ours are, as a row of small functions.

jinja2 defines what a template means, and a test holds the two together. What is not plainly lines of text
with holes, an `if` on a name or a loop is not read here; what does not fit into a hole raises. Then jinja2
renders, or says what is wrong. A run with plain templates and fitting values need not even import it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gen.output.yamltext import block, literal, number, quote

Values = Mapping[str, Any]
Quick = Callable[[Values], str]
"""The text of a template for its values."""

_HOLE = re.compile(
    r"\{\{ ([a-z_]+)(?:\.([a-z_]+))? \| (?:(quote|number)|(block|literal)\(([1-9][0-9]?)\)) \}\}"
)
_TAG = re.compile(
    r" *\{% (?:if (?P<asked>[a-z_]+)|for (?P<each>[a-z_]+) in (?P<all>[a-z_]+)"
    r"|(?P<end>else|endif|endfor)) %\}\n?"
)
_MARK = re.compile(r"\{(?:[{%#]|\Z)")  # jinja2 would look into it; before a hole even a single brace
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SIMPLE = {"quote": quote, "number": number}
_INDENTED = {"block": block, "literal": literal}


class _Odd(Exception):  # noqa: N818 - odd is no error: jinja2 decides
    """Not plainly what is read here."""


def quick(source: str) -> Quick | None:
    """What renders a template that is plain. Lines of `source` end in line feeds."""
    try:
        return _body(iter(_LINE.findall(source)), "")[0]
    except _Odd:
        return None


def _body(lines: Iterator[str], *ends: str) -> tuple[Quick, str]:
    """What the lines give up to one of the tags `ends`, and which that was; "" is the end of the template."""
    parts: list[Quick] = []
    pieces: list[str] = []  # of the text since the last tag; every hole is five pieces, as its pattern has it
    for line in lines:
        tag = _TAG.fullmatch(line)
        if tag is None:
            found = _HOLE.split(line)
            if any(map(_MARK.search, found[::6])):
                raise _Odd
            pieces = _joined(pieces, found)
            continue
        parts.append(_text(pieces))
        pieces = []
        if tag["end"]:
            if tag["end"] not in ends:
                raise _Odd
            return _all(parts), tag["end"]
        parts.append(_if(tag["asked"], lines) if tag["asked"] else _for(tag["each"], tag["all"], lines))
    if "" not in ends:
        raise _Odd
    return _all([*parts, _text(pieces)]), ""


def _joined(pieces: list[str], more: list[str]) -> list[str]:
    """Where they meet, text meets text."""
    return [*pieces[:-1], pieces[-1] + more[0], *more[1:]] if pieces else more


def _all(parts: list[Quick]) -> Quick:
    return lambda values: "".join([part(values) for part in parts])


def _text(pieces: list[str]) -> Quick:
    holes = [(pieces[i], _written(*pieces[i + 1 : i + 5])) for i in range(1, len(pieces), 6)]
    blank = [""] * (2 * len(holes) + 1)
    blank[::2] = pieces[::6] or [""]

    def filled(values: Values) -> str:
        text = blank.copy()
        text[1::2] = [write(values[name]) for name, write in holes]
        return "".join(text)

    return filled


def _written(part: str | None, simple: str, indented: str, indent: str) -> Callable[[Any], str]:
    """How a hole writes the value that it names."""
    if part is not None:
        if hasattr(dict, part):  # jinja2 would rather take that
            raise _Odd
        write = _written(None, simple, indented, indent)
        return lambda value: write(_mapping(value)[part])
    if simple:
        return _SIMPLE[simple]
    write_lines, column = _INDENTED[indented], int(indent)
    return lambda value: write_lines(value, column)


def _mapping(value: Any) -> Values:
    if type(value) is not dict:
        raise TypeError(f"{value!r} is no mapping")
    return value


def _if(asked: str, lines: Iterator[str]) -> Quick:
    then, end = _body(lines, "else", "endif")
    otherwise = _text([]) if end == "endif" else _body(lines, "endif")[0]
    return lambda values: then(values) if values[asked] else otherwise(values)


def _for(each: str, every: str, lines: Iterator[str]) -> Quick:
    body, _ = _body(lines, "endfor")
    return lambda values: "".join([body({**values, each: item}) for item in values[every]])
