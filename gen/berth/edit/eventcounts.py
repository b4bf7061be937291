"""Read how many seats an event needs from its description: `seats: 60`, or a line for each class.

A line that speaks of seats and is not understood is reported: no part of it and no default stands for it.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import normalize

from berth.edit.seats import ONLY_CLASS, Counts
from berth.schema.counts import parse_count
from berth.schema.report import CONFLICT, TYPE, Refusal, shown

_BREAK = re.compile(r"<\s*/?\s*(?:br|p|div|li|ul|ol|tr|table|h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"\S+://\S+")
# Words for seats without a class, in some languages of calendars.
_SEATS = r"(?:seats?|pl\u00e4tze|platz|places|posti|plazas)(?: (?:needed|required|(?:in )?total))?"
_SPEAKS_OF_SEATS = re.compile(rf"(?<![\w-]){_SEATS}(?![\w-])", re.IGNORECASE)
_UNIT = re.compile(r" (?:seats?|people|persons|participants|students)$", re.IGNORECASE)
_NEXT_PAIR = re.compile(r"[,;]\s*(?=[\"']?[^\W\d][^,;:=]*[:=])")  # not the comma of 1,200
_OTHER_NAME = re.compile(r"[\"']?([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)[\"']?\s*[:=]\s*(.+)", re.ASCII)
_FIX = 'Write lines such as "seats: 60", or "small: 60" with the name of a class.'


class DescribedSeats(NamedTuple):
    """The seats in a description, by class; ONLY_CLASS: those without one. `ignored`: lines like counts."""

    counts: Counts
    ignored: tuple[str, ...] = ()


def described_seats(description: str, classes: Iterable[str]) -> DescribedSeats:
    """Return the seats in a description. Raise Refusal for a count that is there and cannot be read."""
    reading = _Reading(classes)
    lines = list(_lines(description))
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        reading.take(line, following)
    if reading.unclear and not reading.counts:
        raise Refusal(f"the count in {shown(reading.unclear[0])} is not clear.", _FIX, TYPE)
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
    """Yield the pieces of a description that may have one count each, without HTML and addresses."""
    text = html.unescape(_TAG.sub(" ", _BREAK.sub("\n", description)))
    for line in normalize("NFKC", text).splitlines():
        plain = " ".join(_ADDRESS.sub(" ", line).split()).lstrip("-*#\u2022 ").strip("{} ")
        yield from (piece.strip() for piece in _NEXT_PAIR.split(plain) if piece.strip())


class _Reading:
    """What the lines of one description said so far."""

    def __init__(self, classes: Iterable[str]) -> None:
        self.classes = {name.lower(): name for name in classes}
        names = sorted(map(re.escape, self.classes), key=len, reverse=True)
        word = rf"[\"']?({'|'.join([*names, _SEATS])})[\"']?"
        self.pair = re.compile(rf"(?:(?<![\w-])|^){word}\s*(?:[:=]|\s[-\u2013\u2014](?=\s))\s*(.*)", re.I)
        self.alone = re.compile(word, re.IGNORECASE)
        self.behind = re.compile(rf"(.*\d.*?) {word}", re.IGNORECASE)  # 60 seats
        self.counts: dict[str, int] = {}
        self.unclear: list[str] = []  # lines that speak of seats
        self.unknown: list[str] = []  # lines with a name that is not a class

    def take(self, line: str, following: str) -> None:
        """Add the count of a line. Raise Refusal if it has one that cannot be read."""
        if found := self.pair.search(line):
            value = found[2] or (following if _parsed(following) else "")
            if value:
                self._add(found[1], parse_count(_value(value)))
            else:
                self.unclear.append(line)
        elif (found := self.alone.fullmatch(line)) and (count := _parsed(following)):
            self._add(found[1], count)
        elif (found := self.behind.fullmatch(line.rstrip(".;,"))) and (count := _parsed(found[1])):
            self._add(found[2], count)
        elif _SPEAKS_OF_SEATS.search(line) and (self.alone.fullmatch(line) or re.search(r"\d", line)):
            self.unclear.append(line)
        elif (found := _OTHER_NAME.fullmatch(line)) and _parsed(found[2]):
            self.unknown.append(line)

    def _add(self, word: str, count: int) -> None:
        name = self.classes.get(word.lower(), ONLY_CLASS)
        if self.counts.setdefault(name, count) != count:
            message = f"{word} has two counts: {self.counts[name]} and {count}."
            raise Refusal(message, "Write one of them.", CONFLICT)


def _value(text: str) -> str:
    """Return a count without the quotes, the unit and the end of a sentence around it."""
    value = text.strip(" .;,\"'")
    return _UNIT.sub("", value if "(" in value else value.rstrip(")")).strip(" \"'")


def _parsed(text: str) -> int | None:
    try:
        return parse_count(_value(text))
    except Refusal:
        return None
