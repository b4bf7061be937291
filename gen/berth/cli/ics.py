"""Occurrences as an iCalendar file (RFC 5545), for the calendars of teachers and students.

The same input gives the same bytes: DTSTAMP is the start, not the clock's time.
"""

from collections.abc import Iterable
from typing import NamedTuple

from berth.core.instants import instant_text

_CONTROLS = dict.fromkeys((*range(0x20), 0x7F), " ")  # a calendar cannot hold them
_ESCAPES = _CONTROLS | str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_LONGEST = 75  # octets in a line


class Event(NamedTuple):
    """An entry of the calendar; a moved occurrence keeps its `id`, so calendars move it, too."""

    id: str
    start: int
    end: int
    title: str
    description: str
    canceled: bool


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
            f"STATUS:{'CANCELLED' if event.canceled else 'CONFIRMED'}",
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
