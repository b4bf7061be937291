"""Find characters that look like those of YAML, or are invisible: pasted spaces, dashes and quotes.

They belong in titles and comments. Where one keeps a value or a line from being what its author sees, a
finding names it with its column.
"""

import re
import unicodedata
from string import ascii_letters

from berth.reading.text import Lines

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

# fmt: off
_CYRILLIC_AND_GREEK = {
    "A": "\u0410\u0391", "B": "\u0412\u0392", "C": "\u0421", "E": "\u0415\u0395", "H": "\u041d\u0397",
    "I": "\u0406\u0399", "J": "\u0408", "K": "\u041a\u039a", "M": "\u041c\u039c", "N": "\u039d",
    "O": "\u041e\u039f", "P": "\u0420\u03a1", "S": "\u0405", "T": "\u0422\u03a4", "X": "\u0425\u03a7",
    "Y": "\u0423\u03a5", "Z": "\u0396", "a": "\u0430\u03b1", "b": "\u0432", "c": "\u0441", "d": "\u0501",
    "e": "\u0435\u03b5", "h": "\u04bb", "i": "\u0456\u03b9", "j": "\u0458", "k": "\u043a\u03ba",
    "m": "\u043c", "o": "\u043e\u03bf", "p": "\u0440\u03c1", "q": "\u051b", "s": "\u0455",
    "t": "\u0442\u03c4", "u": "\u03c5", "v": "\u03bd", "w": "\u051d", "x": "\u0445\u03c7", "y": "\u0443",
}
# fmt: on
LETTERS = {
    **{other: letter for letter, others in _CYRILLIC_AND_GREEK.items() for other in others},
    **{chr(ord(letter) + 0xFEE0): letter for letter in ascii_letters},  # wide
}
"""What is meant by letters that look like others, in a word that has others too."""

LOOKALIKE = re.compile(f"[{re.escape(''.join(MEANT))}]")
_WORD = re.compile(r"[^\W_]+")
_MOST_NAMED = 20
_NAMES = {"\ufeff": "byte order mark", "\u00a0": "no-break space", "\u202f": "narrow no-break space"}


def named(character: str) -> str:
    """Return the name of a character with its number: `en dash (U+2013)`."""
    name = _NAMES.get(character) or unicodedata.name(character, "").lower()
    number = f"U+{ord(character):04X}"
    return f"{name} ({number})" if name else number


def advice(lines: Lines, start: int, end: int, told_at: int, fix: str) -> tuple[str, list[int]]:
    """Return what to do about such characters in `[start, end)`, and where they are; empty without any.

    `told_at` is the line of the finding, for whose columns no line is written; `fix` is its advice.
    """
    value = lines.text[start:end].strip("\"'")
    places = places_in(lines.text, start, end)
    sentences = []
    for at in places[:_MOST_NAMED]:
        line, column = lines.place(at)
        where = f"column {column}" if line == told_at else f"line {line}, column {column}"
        sentences.append(f"{note(value, lines.text[at], fix)} in {where}.")
    more = len(places) - _MOST_NAMED
    sentences += [f"There are {more} more such characters."] if more > 0 else []
    return " ".join(sentences), places


def places_in(text: str, start: int, end: int) -> list[int]:
    """Return where such characters are in `[start, end)`."""
    places = [match.start() for match in LOOKALIKE.finditer(text, start, end)]
    for word in _WORD.finditer(text, start, end):  # a word of a language has letters of one script
        if not word[0].isascii() and any(letter in ascii_letters for letter in word[0]):
            places += (word.start() + i for i, letter in enumerate(word[0]) if letter in LETTERS)
    return sorted(places)


def mended(text: str) -> str:
    """Return a text with what is meant in place of each such character."""
    characters = list(text)
    for at in places_in(text, 0, len(text)):
        meant = _meant(text[at])
        characters[at] = meant.strip() or meant
    return "".join(characters)


def _meant(character: str) -> str:
    return MEANT[character] if character in MEANT else LETTERS[character]


def note(value: str, character: str, fix: str) -> str:
    """Return what to do about a character of a value, or only name it if `fix` has the value without any."""
    parts = (re.escape(part) for part in re.split(rf"\s*{LOOKALIKE.pattern}+\s*", value))
    if re.search(f"Write {'.{0,4}'.join(parts)}[.;]", fix, re.IGNORECASE):
        return f"Mind the {named(character)}"
    return instead(character)


def instead(character: str) -> str:
    """Return what to do about it, without a full stop."""
    meant = _meant(character).strip()
    if _meant(character) == "":
        return f"Remove the {named(character)}"
    return f"Write {meant or 'a space, or nothing,'} for the {named(character)}"
