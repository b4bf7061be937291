"""Read how many seats an event needs from its description: lines such as `seats: 60` or `small: 60`."""

import html
import re
from collections.abc import Collection, Iterator
from unicodedata import normalize

from berth.edit.seatcounts import ONLY_CLASS, Counts
from berth.schema.counts import parse_count
from berth.schema.documentproblems import Refusal, shown

_BREAK = re.compile(r"<\s*/?\s*(?:br|p|div|li|ul|ol|tr|table|h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LABELED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9]{0,62})\s*:\s*(.+)")
# Berth's own feeds: "25 small in prod, open from Mon 2026-02-02 08:30 (Europe/Zurich)".
_OWN = re.compile(r"((?:[0-9]+ [-a-z0-9]+, )*[0-9]+ [-a-z0-9]+) in [-a-z0-9]+, (?:open from |always open)")
_LONGEST = 200  # characters of a line with a count


def described_seats(description: str, classes: Collection[str], *, is_berths: bool = False) -> Counts:
    """Return the counts by class; ONLY_CLASS is that of `seats`. Raise Refusal for a wrong one.

    Any other line says nothing of seats. `is_berths`: Berth has written it.
    """
    names = {"seats": ONLY_CLASS} | {name.lower(): name for name in classes}
    counts: dict[str, int] = {}
    for label, number in _labeled(description, is_berths=is_berths):
        if label.lower() in names:
            name = names[label.lower()]
            count = parse_count(number.strip(" .;,"))
            if counts.setdefault(name, count) != count:
                message = f"{name or 'seats'} has two counts: {counts[name]} and {count}."
                raise Refusal(message, "Write one of them.", "B016")
    if ONLY_CLASS in counts and len(counts) > 1:
        message = f"there is a count of seats, and one of {shown(next(name for name in counts if name))}."
        raise Refusal(message, "Write the number of each class alone.", "B016")
    return counts


def _labeled(description: str, *, is_berths: bool) -> Iterator[tuple[str, str]]:
    """Yield what is before and after the colon of each line that has nothing else; HTML is left out."""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", description)))
    for line in text.splitlines():
        plain = normalize("NFKC", line[: _LONGEST + 1]).strip(" \t-*\u2022")
        if len(plain) > _LONGEST:
            continue
        if match := _LABELED.fullmatch(plain):
            yield match[1], match[2]
        elif is_berths and (own := _OWN.match(plain)):
            for part in own[1].split(", "):
                count, _, name = part.partition(" ")
                yield name, count
