"""Occurrences as an iCalendar file (RFC 5545), for the calendars of those who teach and attend.

The same input gives the same bytes: DTSTAMP is the start, never the clock.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gen.core.instants import instant_text

_CONTROLS = dict.fromkeys((*range(0x20), 0x7F), " ")  # a calendar cannot hold them
_ESCAPES = _CONTROLS | str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_LONGEST = 75  # octets in a line


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
            f"UID:{event.id.translate(_ESCAPES)}",
            f"DTSTAMP:{_instant(event.start)}",
            f"DTSTART:{_instant(event.start)}",
            f"DTEND:{_instant(event.end)}",
            f"SUMMARY:{event.title.translate(_ESCAPES)}",
            f"DESCRIPTION:{event.description.translate(_ESCAPES)}",
            f"STATUS:{'CANCELLED' if event.cancelled else 'CONFIRMED'}",
            "TRANSP:TRANSPARENT",
            "END:VEVENT",
        ]
    return "".join(_folded(line) for line in [*lines, "END:VCALENDAR"])


def _instant(seconds: int) -> str:
    return instant_text(seconds).replace("-", "").replace(":", "")


def _folded(line: str) -> str:  # between characters; what goes on begins with a space
    if len(line.encode()) <= _LONGEST:
        return line + "\r\n"
    folded, size = "", 0
    for character in line:
        size += len(character.encode())
        if size > _LONGEST:
            folded += "\r\n "
            size = 1 + len(character.encode())
        folded += character
    return folded + "\r\n"
