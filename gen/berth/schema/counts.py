"""The text of a number of seats, as people write it to people: in descriptions of events.

Options and answers take what the field of a file takes; this grammar advises on what is meant by others.
"""

import re

from berth.schema.documentproblems import RANGE, TYPE, Refusal, shown

MOST_SEATS = 1_000_000  # of one entry: 2,000 of them at once are still fewer than a Deployment can count
SEAT_WORDS = "whole number from 1 up"
_PLAIN = re.compile(r"[0-9]+", re.ASCII)
# Thousands with one separator: 1,200 and 1.200, 1'200 and 1 200, also with what word processors write.
_GROUPED = re.compile("[1-9][0-9]{0,2}(?:([,.'\u2019 \u00a0\u202f])[0-9]{3})(?:\\1[0-9]{3})*", re.ASCII)
_NEGATIVE = re.compile("[-\u2212\u2013] ?[0-9]+", re.ASCII)
_DIGITS = re.compile("[0-9]+", re.ASCII)
_AMOUNT = re.compile("([0-9]{1,9}) ?([KMGTP]i|[kMGTP])", re.ASCII)
LARGE_UNITS = {"Ti": (1024, "Gi"), "Pi": (1024**2, "Gi"), "T": (1000, "G"), "P": (1000**2, "G")}
"""Units that are too large for `backend.unit`: how many of which other one each is."""

_LONGEST = 20  # characters; no number of seats has more


def parse_count(text: str) -> int:
    """Read a whole number of seats, also with separators of thousands. Raise Refusal for anything else.

    No part of the text is left out: `~60`, `25-30` and `60 (max 80)` are not numbers.
    """
    stripped = text.strip()
    is_plain = _PLAIN.fullmatch(stripped) or _GROUPED.fullmatch(stripped)
    if is_plain and len(stripped) <= _LONGEST:
        count = int("".join(_DIGITS.findall(stripped)))
        if 1 <= count <= MOST_SEATS:
            return count
        side = "below 1" if count < 1 else f"above {MOST_SEATS}"
        raise Refusal(f"{stripped} is {side}.", "Write a whole number from 1 up.", RANGE)
    if _NEGATIVE.fullmatch(stripped):
        raise Refusal(f"{shown(stripped)} is below 1.", "Write a whole number from 1 up.", RANGE)
    raise Refusal(f"{shown(stripped)} is not a whole number from 1 up.", _advice(stripped), TYPE)


def meant_count(text: str) -> str:
    """Advise on a text that is not a whole number: the number that it means, or the only one in it."""
    try:
        return f"Write {parse_count(text)}."
    except Refusal as refusal:
        return _amount_advice(text) or refusal.fix


def _amount_advice(text: str) -> str:
    """Advise on an amount of bytes such as 64Gi: the number and its unit are written at two places."""
    amount = _AMOUNT.fullmatch(text)
    if amount is None:
        return ""
    factor, unit = LARGE_UNITS.get(amount[2], (1, amount[2]))
    count = int(amount[1]) * factor
    if not 1 <= count <= MOST_SEATS:
        return ""
    return f"Write {count}; of memory or storage that backend value holds, {unit} goes into backend.unit."


def _advice(text: str) -> str:
    """Name the only number in the text, which is probably meant."""
    numbers = _DIGITS.findall(text)
    is_sure = len(numbers) == 1 and len(numbers[0]) < _LONGEST and 1 <= int(numbers[0]) <= MOST_SEATS
    return f"Write {int(numbers[0])}." if is_sure else "Write one number, such as 25."
