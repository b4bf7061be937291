"""Read how many seats an event needs from its description: `seats: 60`, or a line for each class.

A line that speaks of seats and is not understood is reported: no part of it and no default stands for it.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise, zip_longest
from typing import NamedTuple
from unicodedata import normalize

from berth.edit.seatcounts import ONLY_CLASS, Counts
from berth.schema.counts import parse_count
from berth.schema.documentproblems import CONFLICT, TYPE, Refusal, shown

_BREAK = re.compile(r"<\s*/?\s*(?:br|p|div|li|ul|ol|tr|table|h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"\S+://\S+")
# Words for seats and for the people who take them, in some languages of calendars.
_SEATS = r"seats?|pl\u00e4tze|platz|places|posti|plazas|capacity|kapazit\u00e4t"
_PEOPLE = r"people|persons?|personen|students?|studierende|attendees?|participants?|teilnehmende|teilnehmer"
_FILLERS = r"number|total|of|in|for|needed|required|expected|anzahl|ben\u00f6tigt|nombre|de"
_OTHER_NAME = re.compile(r"[\"']?([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)[\"']?\s*[:=]\s*(.+)", re.ASCII)
# The tokens of a line, each with a letter. Quotes and braces are none.
_CLASS, _OTHER = "C", "O"
_TOKENS = (
    (_OTHER, r"\d{1,2}:\d\d(?!\d)|\d{4}-\d\d-\d\d|\d+(?:st|nd|rd|th)(?!\w)"),  # times and dates, 1st
    (_CLASS, None),
    ("S", rf"(?:{_SEATS})(?!\w)"),
    ("P", rf"(?:{_PEOPLE})(?!\w)"),
    ("F", rf"(?:{_FILLERS})(?!\w)"),
    ("N", r"\d+(?:[,.'\u2019 ]\d{3}(?!\d))*"),
    ("+", r"[+&]|(?:and|und|et|plus)(?!\w)"),
    (",", r"[,;]"),
    (":", r"[:=]|(?<=\s)[-\u2013\u2014](?=\s)"),
    ("x", r"[x\u00d7*](?!\w)"),
    (_OTHER, r"[^\W\d][\w-]*|[^\s\"'{}]"),
)
_LABELED = re.compile("([FSPC]*[SC][FSPC]*):(.*)")
_LABEL = re.compile("[FSPC]*[SPC][FSPC]*:?")
# Forms of counts: one with its words around it, or several that have them all before, or all behind.
_ONE = re.compile("[FSPC]*[:x]?Nx?[FSPC]*")
_LABELS_FIRST = re.compile("(?:[FSPC]+[:x]?N)+[FSP]*"), re.compile("[FSPC]+[:x]?N(?:[FSP]*$)?")
_NUMBERS_FIRST = re.compile("(?:Nx?[FSPC]+)+"), re.compile("Nx?[FSPC]+")
_FIX = 'Write lines such as "seats: 60", or "small: 60" with the name of a class.'


class DescribedSeats(NamedTuple):
    """The seats in a description, by class; ONLY_CLASS: those without one. `ignored`: lines like counts."""

    counts: Counts
    ignored: tuple[str, ...] = ()


def described_seats(description: str, classes: Collection[str]) -> DescribedSeats:
    """Return the seats in a description. Raise Refusal for a count that is there and cannot be read."""
    reading = _Reading(classes)
    lines = list(_lines(description))
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        reading.take(line, following)
    if reading.unclear and not reading.counts:
        raise Refusal(f"the count in {shown(reading.unclear[0])} is not clear.", _FIX, TYPE)
    if reading.unknown and not reading.counts:
        message = f"the line {shown(reading.unknown[0])} is like a count, but names no class."
        raise Refusal(message, f"Classes are {', '.join(classes)}; or write it in another way.", TYPE)
    return DescribedSeats(_by_class(reading.counts), (*reading.unclear, *reading.unknown))


def _by_class(counts: Counts) -> Counts:
    """Return the counts of classes without their sum. Raise Refusal for another number beside them."""
    named = {name: count for name, count in counts.items() if name != ONLY_CLASS}
    if not named or ONLY_CLASS not in counts:
        return counts
    if counts[ONLY_CLASS] != sum(named.values()):
        message = f"there are {counts[ONLY_CLASS]} seats, and {sum(named.values())} by class."
        raise Refusal(message, "Write the number of each class alone.", CONFLICT)
    return named


def _lines(description: str) -> Iterator[str]:
    """Yield the lines of a description that are not empty, without HTML and addresses."""
    text = html.unescape(_TAG.sub(" ", _BREAK.sub("\n", description)))
    for line in normalize("NFKC", text).splitlines():
        plain = " ".join(_ADDRESS.sub(" ", line).split()).lstrip("-*#\u2022 ").strip("{} ")
        is_whole = plain.startswith("(") and plain.endswith(")")
        if line := (plain[1:-1] if is_whole else plain).strip(" .;,!"):
            yield line


class _Token(NamedTuple):
    """A word, number or sign of a line, and the letter of its kind."""

    letter: str
    text: str
    end: int


class _Reading:
    """What the lines of one description said so far."""

    def __init__(self, classes: Iterable[str]) -> None:
        self.classes = {name.lower(): name for name in classes}
        names = "|".join(sorted(map(re.escape, self.classes), key=len, reverse=True))
        self.letters = [letter for letter, pattern in _TOKENS if names or pattern]
        patterns = [pattern or rf"(?:{names})(?!\w)" for _, pattern in _TOKENS if names or pattern]
        self.token = re.compile("|".join(f"({pattern})" for pattern in patterns), re.IGNORECASE)
        self.counts: dict[str, int] = {}
        self.unclear: list[str] = []  # lines that speak of seats
        self.unknown: list[str] = []  # lines with a name that is not a class

    def take(self, line: str, following: str) -> None:
        """Add the counts of a line. Raise Refusal if it has one that cannot be read."""
        tokens = self._tokens(line)
        letters = _letters(tokens)
        is_label = _LABEL.fullmatch(letters)
        if is_label and (count := _parsed(following)):
            self._add(tokens, count)
        elif "N" in letters and {*"SPC"} & {*letters}:
            self._take_counts(line, tokens)
        elif is_label:
            if "S" in letters or ("C" in letters and ":" in letters):
                self.unclear.append(line)
        elif _LABELED.fullmatch(letters):
            self._refuse(line, tokens)
        elif (named := _OTHER_NAME.fullmatch(line)) and _parsed(named[2]):
            self.unknown.append(line)

    def _tokens(self, line: str) -> list[_Token]:
        return [
            _Token(self.letters[(match.lastindex or 1) - 1], match[0], match.end())
            for match in self.token.finditer(line)
        ]

    def _take_counts(self, line: str, tokens: list[_Token]) -> None:
        """Add the counts of a line that has a number beside a class or a word for seats: all or none."""
        counts = [count for piece in _pieces(tokens) for count in _counts_of(piece)]
        words = [[token for token in count if token.letter not in "N:x"] for count in counts]
        are_clear = all(
            len(self._classes(labels)) <= 1 and {*_letters(labels)} & {*"SPC"} for labels in words
        )
        if not counts or not all(counts) or not are_clear:
            self._refuse(line, tokens)
            return
        for count, labels in zip(counts, words, strict=True):
            number = next(token.text for token in count if token.letter == "N")
            self._add(labels, parse_count(number))

    def _classes(self, tokens: Iterable[_Token]) -> list[str]:
        names = [self.classes[token.text.lower()] for token in tokens if token.letter == _CLASS]
        return [*dict.fromkeys(names)]

    def _refuse(self, line: str, tokens: list[_Token]) -> None:
        """Note a line as unclear. Raise Refusal if it names a class, or has a label and a wrong count."""
        letters = _letters(tokens)
        labeled = _LABELED.fullmatch(letters)
        if labeled and _CLASS not in labeled[2]:
            parse_count(line[tokens[labeled.end(1)].end :].strip(" .;,\"'"))
        if names := self._classes(tokens):
            message = f"the count in {shown(line)} is not clear."
            raise Refusal(message, f'Write a line for each class, such as "{names[-1]}: 4".', TYPE)
        self.unclear.append(line)

    def _add(self, labels: Iterable[_Token], count: int) -> None:
        name = next(iter(self._classes(labels)), ONLY_CLASS)
        if self.counts.setdefault(name, count) != count:
            message = f"{name or 'seats'} has two counts: {self.counts[name]} and {count}."
            raise Refusal(message, "Write one of them.", CONFLICT)


def _letters(tokens: Iterable[_Token]) -> str:
    return "".join(token.letter for token in tokens)


def _pieces(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """Yield what is between commas and words such as "and", without remarks between commas."""
    marks = [-1, *(at for at, token in enumerate(tokens) if token.letter in "+,"), len(tokens)]
    for first, last in pairwise(marks):
        piece = tokens[first + 1 : last]
        around = _letters([*tokens[max(first, 0) : first + 1], *tokens[last : last + 1]])
        if "+" in around or {"N", _CLASS} & {*_letters(piece)}:
            yield piece


def _counts_of(piece: list[_Token]) -> Iterator[list[_Token]]:
    """Yield the tokens of each count of a piece; an empty list if it is not understood."""
    letters = _letters(piece)
    if _ONE.fullmatch(letters):
        yield piece
        return
    for whole, part in (_LABELS_FIRST, _NUMBERS_FIRST):
        if whole.fullmatch(letters):
            yield from (piece[match.start() : match.end()] for match in part.finditer(letters))
            return
    yield []


def _parsed(text: str) -> int | None:
    try:
        return parse_count(text.strip(" .;,\"'"))
    except Refusal:
        return None
