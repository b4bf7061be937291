"""Write occurrences as an iCalendar file (RFC 5545), for the calendars of those who teach and attend.

The same input gives the same bytes: DTSTAMP is the start of an event, never the clock.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import icalendar

_CONTROLS = dict.fromkeys((*range(0x0A), *range(0x0B, 0x20), 0x7F), " ")  # a calendar cannot hold them


class CalendarEvent(NamedTuple):
    """Instants in seconds, UTC. `id` never changes, so that a moved occurrence moves in calendars too."""

    id: str
    start: int
    end: int
    title: str
    description: str
    canceled: bool


def calendar_bytes(events: Iterable[CalendarEvent]) -> bytes:
    """Return the calendar with one VEVENT for each event, in their order."""
    calendar = icalendar.Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//berth.dev//Berth//EN")
    for event in events:
        calendar.add_component(_component(event))
    return bytes(calendar.to_ical(sorted=False))


def _component(event: CalendarEvent) -> icalendar.Event:
    start, end = (datetime.fromtimestamp(at, UTC) for at in (event.start, event.end))
    component = icalendar.Event()
    component.add("uid", event.id.translate(_CONTROLS))
    component.add("dtstamp", start)
    component.add("dtstart", start)
    component.add("dtend", end)
    component.add("summary", event.title.translate(_CONTROLS))
    component.add("description", event.description.translate(_CONTROLS))
    component.add("status", "CANCELLED" if event.canceled else "CONFIRMED")
    component.add("transp", "TRANSPARENT")
    return component
