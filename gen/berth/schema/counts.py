"""The text of a number of seats, as people write it: `25`, `1,200`, `40-50 students`, `100+`."""

import re
from collections.abc import Mapping

from berth.notation.refusal import as_typed
from berth.schema.documentproblems import Refusal, shown

MOST_SEATS = 1_000_000  # of one entry: 2,000 of them at once are still fewer than a Deployment can count
SEAT_WORDS = "whole number from 1 up"
# Thousands may have one separator: 1,200 and 1.200, 1'200 and 1 200, also with what word processors write.
_NUMBER = "(?:[1-9][0-9]{0,2}(?:([,.'\u2019 \u00a0\u202f])[0-9]{3})(?:\\%d[0-9]{3})*|[0-9]{1,9})"
_COUNT = f"({_NUMBER % 2})"
_ABOUT = r"(?:~|about|around|approx\.?|approximately|ca\.?|up to|at most|max\.?)"
_OF_WHOM = "(?:students?|people|persons?|participants?|attendees|users|learners|seats?)"
_PEOPLE = (  # the upper end of a range
    rf"{_ABOUT}? ?(?:({_NUMBER % 2}) ?(?:-|to) ?)?({_NUMBER % 4})(?:[.]0)? ?\+?(?: ?{_OF_WHOM})?"
)
_NEGATIVE = re.compile("[-\u2212\u2013] ?[0-9]+", re.ASCII)
_AMOUNT = re.compile("([0-9]{1,9}) ?([KMGTP]i|[kMGTP])", re.ASCII)
LARGE_UNITS = {"Ti": (1024, "Gi"), "Pi": (1024**2, "Gi"), "T": (1000, "G"), "P": (1000**2, "G")}
"""Units that are too large for `backend.unit`: how many of which other one each is."""


def parse_count(text: str) -> int:
    """Read a whole number of seats, also with separators of thousands. Raise Refusal for anything else.

    No part of the text is left out: `~60`, `25-30` and `60 (max 80)` are not numbers.
    """
    stripped = text.strip()
    if re.fullmatch(_COUNT, stripped, re.ASCII):
        count = _value(stripped)
        if 1 <= count <= MOST_SEATS:
            return count
        side = "below 1" if count < 1 else f"above {MOST_SEATS}"
        raise Refusal(f"{stripped} is {side}.", "Write a whole number from 1 up.", "B012")
    if _NEGATIVE.fullmatch(stripped):
        raise Refusal(f"{shown(stripped)} is below 1.", "Write a whole number from 1 up.", "B012")
    readings = meant_counts(stripped)
    fix = f"Write {' or '.join(readings)}." if readings else "Write one number, such as 25."
    raise Refusal(f"{shown(stripped)} is not a whole number from 1 up.", fix, "B013", readings=readings)


def meant_counts(text: str) -> Mapping[str, int]:
    """Return the number of seats that a text means, by how it is written; none if it is not clear."""
    match = re.fullmatch(_PEOPLE, as_typed(" ".join(text.lower().split())), re.ASCII)
    if match is None:
        return {}
    count = _value(match[3])
    is_in_order = match[1] is None or _value(match[1]) <= count
    return {str(count): count} if is_in_order and 1 <= count <= MOST_SEATS else {}


def amount_advice(text: str) -> str:
    """Advise on an amount of bytes such as 64Gi: the number and its unit are written at two places."""
    amount = _AMOUNT.fullmatch(text)
    if amount is None:
        return ""
    factor, unit = LARGE_UNITS.get(amount[2], (1, amount[2]))
    count = int(amount[1]) * factor
    if not 1 <= count <= MOST_SEATS:
        return ""
    return f"Write {count}; of memory or storage that backend value holds, {unit} goes into backend.unit."


def _value(text: str) -> int:
    return int("".join(re.findall("[0-9]", text)))
