"""Occurrences as an iCalendar file (RFC 5545), for the calendars of those who teach and attend.

The same input gives the same bytes: DTSTAMP is the start, never the clock.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_LONGEST = 75  # octets in a line, without its end


class Event(NamedTuple):
    """Instants in seconds, UTC. `id` is for ever, so that a moved occurrence moves in calendars too."""

    id: str
    start: int
    end: int
    title: str
    description: str
    cancelled: bool


def text(events: Iterable[Event]) -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//berth.dev//Berth//EN"]
    for event in events:
        lines += [
            "BEGIN:VEVENT",
            f"UID:{_text(event.id)}",
            f"DTSTAMP:{_instant(event.start)}",
            f"DTSTART:{_instant(event.start)}",
            f"DTEND:{_instant(event.end)}",
            f"SUMMARY:{_text(event.title)}",
            f"DESCRIPTION:{_text(event.description)}",
            f"STATUS:{'CANCELLED' if event.cancelled else 'CONFIRMED'}",
            "TRANSP:TRANSPARENT",
            "END:VEVENT",
        ]
    return "".join(_folded(line) for line in [*lines, "END:VCALENDAR"])


def _instant(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%SZ")


def _text(value: str) -> str:  # control characters, which a calendar cannot hold, become spaces
    return "".join(" " if c < " " or c == "\x7f" else c for c in value.translate(_ESCAPES))


def _folded(line: str) -> str:  # between characters; what goes on begins with a space
    folded, size = "", 0
    for character in line:
        size += len(character.encode())
        if size > _LONGEST:
            folded += "\r\n "
            size = 1 + len(character.encode())
        folded += character
    return folded + "\r\n"
