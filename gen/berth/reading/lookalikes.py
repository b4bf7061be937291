"""Find characters that look like those of YAML, or are invisible: pasted spaces, dashes and quotes.

They belong in titles and comments. Where one keeps a value or a line from being what its author sees, a
finding names it with its column.
"""

import re
import unicodedata

from berth.reading.text import Lines

MISREAD = "B242"
SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
NOTHING = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\ufeff"
)
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
COLONS = "\u02d0\u2236\ua789\ufe55\uff1a"
MEANT = {
    **dict.fromkeys(SPACES, " "),
    **dict.fromkeys(NOTHING, ""),
    **dict.fromkeys(DASHES, "-"),
    **dict.fromkeys(COLONS, ": "),  # a wide one has its space in it
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\uff07", "'"),
    **dict.fromkeys("\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
    **dict.fromkeys("\uff0c\u3001\ufe50", ", "),
    "\uff5b": "{",
    "\uff5d": "}",
    "\uff3b": "[",
    "\uff3d": "]",
    "\uff03": "#",
    "\uff0e": ".",
    "\uff0f": "/",
    **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
}
"""What is meant by each, where it is not meant itself."""

LOOKALIKE = re.compile(f"[{re.escape(''.join(MEANT))}]")
_NAMES = {"\ufeff": "byte order mark", "\u00a0": "no-break space", "\u202f": "narrow no-break space"}


def named(character: str) -> str:
    """Return the name of a character with its number: `en dash (U+2013)`."""
    name = _NAMES.get(character) or unicodedata.name(character, "").lower()
    number = f"U+{ord(character):04X}"
    return f"{name} ({number})" if name else number


def advice(lines: Lines, start: int, end: int, told_at: int) -> tuple[str, list[int]]:
    """Return what to do about such characters in `[start, end)`, and where they are; empty without any.

    `told_at` is the line of the finding, for whose columns no line is written.
    """
    places = [match.start() for match in LOOKALIKE.finditer(lines.text, start, end)]
    sentences = []
    for at in places[:3]:
        line, column = lines.place(at)
        where = f"column {column}" if line == told_at else f"line {line}, column {column}"
        sentences.append(f"{instead(lines.text[at])} in {where}.")
    return " ".join(sentences), places


def instead(character: str) -> str:
    """Return what to do about it, without a full stop."""
    meant = MEANT[character].strip()
    if MEANT[character] == "":
        return f"Remove the {named(character)}"
    return f"Write {meant or 'a space, or nothing,'} for the {named(character)}"
