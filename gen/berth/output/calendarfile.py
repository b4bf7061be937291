"""Write occurrences as an iCalendar file (RFC 5545), for the calendars of those who teach and attend.

The same input gives the same bytes: all instants are given. A client replaces an event that it has if the
UID is the same and SEQUENCE and DTSTAMP are not smaller. Both come from the instant of publication, so an
event can also move to an earlier date.

Berth writes the lines itself: with the icalendar library, they take longer than all other work together.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from berth.core.jsonvalues import instant_text

# A calendar cannot hold control characters. Four other characters are escaped in texts.
_ESCAPES = str.maketrans(
    {
        **dict.fromkeys(map(chr, (*range(0x20), 0x7F)), " "),
        **{"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"},
    }
)
_LENGTH = 75  # octets of a line at most
# The pieces of a folded line: no character is cut, and some clients want an escaped one in one piece.
_PIECE = re.compile(rb"(?s).{1,74}\Z|.{0,73}[^\\](?![\x80-\xbf])|.{1,74}")
_EPOCH = int(datetime(2020, 1, 1, tzinfo=UTC).timestamp())  # seconds from here on fit into 32 bits until 2088
_DAY = timedelta(days=1)


class CalendarEvent(NamedTuple):
    """Instants in seconds, UTC. `id` never changes, so that a moved occurrence moves in calendars too."""

    id: str
    start: int
    end: int
    title: str
    description: str
    canceled: bool
    url: str = ""


class StandingEvent(NamedTuple):
    """What is open on whole days, from the day of publication to `last` (inclusive); None: without end."""

    id: str
    last: date | None
    title: str
    description: str
    canceled: bool
    url: str = ""


class FeedHeader(NamedTuple):
    """What the events of a feed share: its name, the site, and the instant of publication in seconds."""

    name: str
    site: str
    published: int


def calendar_bytes(feed: FeedHeader, events: Iterable[CalendarEvent | StandingEvent]) -> bytes:
    """Return the calendar with one VEVENT for each event, in their order."""
    return join_events(feed, [event_bytes(feed, event) for event in events])


def join_events(feed: FeedHeader, events: Iterable[bytes]) -> bytes:
    """Return the calendar of events that are written already, as they are in several feeds."""
    head = _lines(
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//berth.dev//Berth//EN",
        "METHOD:PUBLISH",
        f"NAME:{_escape(feed.name)}",  # RFC 7986
        f"X-WR-CALNAME:{_escape(feed.name)}",  # what clients knew before
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H",  # how often those who subscribe should look
        "X-PUBLISHED-TTL:PT1H",
    )
    return b"".join([head, *events, _lines("END:VCALENDAR")])


def event_bytes(feed: FeedHeader, event: CalendarEvent | StandingEvent) -> bytes:
    """Return the VEVENT of one event."""
    stamp = _instant(feed.published)
    return _lines(
        "BEGIN:VEVENT",
        f"UID:{_escape(f'{event.id}@{feed.site}')}",
        *_times(feed, event),
        f"DESCRIPTION:{_escape(event.description)}",
        f"SUMMARY:{_escape(event.title)}",
        *([f"URL:{event.url}"] if event.url else ()),
        f"STATUS:{'CANCELLED' if event.canceled else 'CONFIRMED'}",
        "TRANSP:TRANSPARENT",
        f"DTSTAMP:{stamp}",
        f"LAST-MODIFIED:{stamp}",
        f"SEQUENCE:{max(0, feed.published - _EPOCH)}",
        "END:VEVENT",
    )


def _times(feed: FeedHeader, event: CalendarEvent | StandingEvent) -> tuple[str, ...]:
    """Return when it is. What stands takes each whole day; without end it can only recur."""
    if isinstance(event, CalendarEvent):
        return f"DTSTART:{_instant(event.start)}", f"DTEND:{_instant(event.end)}"
    today = datetime.fromtimestamp(feed.published, UTC).date()
    first = today if event.last is None else min(today, event.last)
    until = "" if event.last is None else f";UNTIL={_day(event.last)}"
    return (
        f"DTSTART;VALUE=DATE:{_day(first)}",
        f"DTEND;VALUE=DATE:{_day(first + _DAY)}",
        f"RRULE:FREQ=DAILY{until}",
    )


def _instant(seconds: int) -> str:
    return instant_text(seconds).replace("-", "").replace(":", "")


def _day(day: date) -> str:
    return day.isoformat().replace("-", "")


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def _lines(*lines: str) -> bytes:
    """Return the lines, each folded if it is too long."""
    return b"".join([_folded(line.encode()) + b"\r\n" for line in lines])


def _folded(line: bytes) -> bytes:
    return line if len(line) < _LENGTH else b"\r\n ".join(_PIECE.findall(line))
