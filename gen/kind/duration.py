"""Spans of time and instants as Go and RFC 3339 have them, for Koordinator.

Its scheduler reads them into Go's types, and a single text that it cannot read keeps it from seeing any
Reservation at all. So nothing may pass that `time.ParseDuration` or a timestamp in UTC would not.
"""

import re
from datetime import datetime

from gen.core.slots import go_duration
from gen.kind.shape import Refusal, shown

UNREADABLE = "B107"
MOST_HOURS = 2_562_047  # whole hours in Go's 63 bits of nanoseconds
_LONGEST = 40  # characters: enough for any that is meant
_SCALE = 10**_LONGEST
_UNITS = {"h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([hms])", re.ASCII)
_GO = re.compile(r"([-+]?)(0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)[hms])+)", re.ASCII)
_LONGER = re.compile(r"([0-9]{1,5})(d|w)", re.ASCII)
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}Z", re.ASCII)


def duration(text: str) -> str:
    """As Go writes it: `720h0m0s`. Takes hours, minutes and seconds, in Go's grammar; the whole must come to
    whole seconds from 0 to 2562047 hours.
    """
    match = _GO.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise Refusal(f"{shown(text)} is not a duration that Go reads.", _advice(text), UNREADABLE)
    total = sum(_scaled(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if match[1] == "-" and total:
        raise Refusal(f"{text} is negative: it would be over at once.", "Write 0s or more.", UNREADABLE)
    if total > MOST_HOURS * 3600 * _SCALE:
        raise Refusal(f"{text} is more than Go counts.", f"Write at most {MOST_HOURS}h.", UNREADABLE)
    if total % _SCALE:
        raise Refusal(f"{text} does not come to whole seconds.", "Write whole seconds.", UNREADABLE)
    return go_duration(total // _SCALE)


def _scaled(number: str) -> int:
    """The number times 10 to the power of `_LONGEST`, exactly: it has fewer digits than that."""
    whole, _, part = number.partition(".")
    scale: int = 10 ** (_LONGEST - len(part))
    return int(whole + part) * scale


def _advice(text: str) -> str:
    longer = _LONGER.fullmatch(text)
    if longer is None:
        return "Write hours, minutes or seconds, for instance 720h."
    return f"Write {int(longer[1]) * (24 if longer[2] == 'd' else 168)}h."


def utc(text: str) -> str:
    """An instant in UTC, to the second, which exists."""
    if not _INSTANT.fullmatch(text):
        message = f"{shown(text)} is not an instant in UTC."
        raise Refusal(message, "Write it as 2026-12-31T23:00:00Z.", UNREADABLE)
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        message = f"{text} does not exist."
        raise Refusal(message, "Write a date and a time that exist.", UNREADABLE) from None
    if not 2000 <= year <= 2099:
        raise Refusal(f"{text} is outside of the years 2000 to 2099.", "Write one within.", UNREADABLE)
    return text
