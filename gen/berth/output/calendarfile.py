"""Write occurrences as an iCalendar file (RFC 5545), for the calendars of those who teach and attend.

The same input gives the same bytes: all instants are given. A client replaces an event that it has if the
UID is the same and SEQUENCE and DTSTAMP are not smaller. Both come from the instant of publication, so an
event can also move to an earlier date.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import icalendar

_REFRESH = timedelta(hours=1)  # how often those who subscribe should look
_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)  # seconds from here on fit into 32 bits until 2088
_DAY = timedelta(days=1)
_END = b"END:VCALENDAR\r\n"
_BEGIN_EVENT, _END_EVENT = b"BEGIN:VEVENT\r\n", b"END:VEVENT\r\n"


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
    calendar = icalendar.Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//berth.dev//Berth//EN")
    calendar.add("method", "PUBLISH")
    for key in ("name", "x-wr-calname"):  # RFC 7986, and what clients knew before
        calendar.add(key, icalendar.vText(feed.name))
    calendar.add("refresh-interval", _REFRESH, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", "PT1H")
    head = bytes(calendar.to_ical(sorted=False)).removesuffix(_END)
    return b"".join([head, *events, _END])


def event_bytes(feed: FeedHeader, event: CalendarEvent | StandingEvent) -> bytes:
    """Return the VEVENT of one event."""
    own = icalendar.Event()
    own.add("uid", f"{event.id}@{feed.site}")
    if isinstance(event, CalendarEvent):
        own.add("dtstart", datetime.fromtimestamp(event.start, UTC))
        own.add("dtend", datetime.fromtimestamp(event.end, UTC))
    else:
        first, last = datetime.fromtimestamp(feed.published, UTC).date(), event.last
        first = first if last is None else min(first, last)
        own.add("dtstart", first)
        own.add("dtend", first + _DAY)
        # Each whole day: an event without end is only possible as one that recurs.
        own.add("rrule", {"freq": ["DAILY"], **({} if last is None else {"until": [last]})})
    own.add("description", event.description)
    shared = _shared_lines(feed.published, event.title, event.url, canceled=event.canceled)
    return b"".join([_BEGIN_EVENT, _lines(own), shared, _END_EVENT])


@lru_cache(maxsize=64)
def _shared_lines(published: int, title: str, url: str, *, canceled: bool) -> bytes:
    """Return the lines that most events of a reservation share, which takes half of the time."""
    stamp = datetime.fromtimestamp(published, UTC)
    shared = icalendar.Event()
    shared.add("summary", title)
    if url:
        shared.add("url", url)
    shared.add("status", "CANCELLED" if canceled else "CONFIRMED")
    shared.add("transp", "TRANSPARENT")
    shared.add("dtstamp", stamp)
    shared.add("last-modified", stamp)
    shared.add("sequence", max(0, int((stamp - _EPOCH).total_seconds())))
    return _lines(shared)


def _lines(event: icalendar.Event) -> bytes:
    """Return the lines between BEGIN and END."""
    return bytes(event.to_ical(sorted=False)).removeprefix(_BEGIN_EVENT).removesuffix(_END_EVENT)
