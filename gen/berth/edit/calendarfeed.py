"""Read an iCalendar file (RFC 5545) as values: its events as they are written, each with its lines.

Each event is parsed alone, so a faulty one does not hide the others.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import icalendar
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from berth.dates.zone import DAY, Zone, load, local, number, resolve
from berth.findings import Finding, severity
from berth.reading.source import Source

UNREADABLE, NOT_IMPORTED, PARTLY_IMPORTED = "B205", "B206", "B207"
_MARKER = re.compile(r"(BEGIN|END):([A-Z0-9-]+)\s*", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9-]+")
_OF_CALENDAR = re.compile(
    r"^(?:NAME|X-WR-CALNAME|X-WR-TIMEZONE|X-WR-RELCALID|PRODID|METHOD)[;:].*\r\n(?:[ \t].*\r\n)*", re.M | re.I
)
# How Outlook begins the title of an event that was canceled; it keeps the event, and marks it as free.
_CANCELED = re.compile(
    r"\s*(?:cancell?ed|abgesagt|annul\u00e9e?|annullato|cancelado|geannuleerd)\s*:", re.IGNORECASE
)
_READ = ("DTSTART", "DTEND", "DURATION", "RRULE", "EXRULE", "RDATE", "EXDATE", "RECURRENCE-ID", "SEQUENCE")
_SINGLE = ("DTSTART", "DTEND", "DURATION", "RECURRENCE-ID")


class EventTime(NamedTuple):
    """A date or time as an event has it: minutes on the clock of `zone`, the TZID; empty: of any zone."""

    wall: int
    zone: str = ""
    is_date: bool = False

    @property
    def day(self) -> int:
        return self.wall // DAY


class EventSpan(NamedTuple):
    """A start, and an end or a length in minutes; neither: the length of the event."""

    start: EventTime
    end: EventTime | None = None
    minutes: int | None = None


class Event(NamedTuple):
    """A VEVENT. `lines` are those of its properties; the empty name is the first of them."""

    uid: str
    sequence: int
    lines: Mapping[str, int]
    title: str
    description: str
    is_canceled: bool
    span: EventSpan
    rules: tuple[str, ...]
    excluded_rules: tuple[str, ...]
    added: tuple[EventSpan, ...]
    excluded: tuple[EventTime, ...]
    instance: EventTime | None  # the start that it replaces
    is_for_following: bool  # it replaces all later ones, too
    categories: tuple[str, ...] = ()
    is_free: bool = False  # it takes no time of whoever attends

    @property
    def says_canceled(self) -> bool:
        """Tell whether its title says so, as in Outlook."""
        return _CANCELED.match(self.title) is not None


class ZoneClock(NamedTuple):
    """The clock of a zone of the tz database."""

    zone: Zone

    def instant(self, wall: int) -> int:
        return resolve(self.zone, wall)

    def wall(self, instant: int) -> int:
        return local(self.zone, instant)


class FeedClock(NamedTuple):
    """The clock of a zone that a feed defines in a VTIMEZONE and does not name as others do."""

    zone: tzinfo

    def instant(self, wall: int) -> int:
        return int((_EPOCH + timedelta(minutes=wall)).replace(tzinfo=self.zone).timestamp())

    def wall(self, instant: int) -> int:
        return _minutes(datetime.fromtimestamp(instant, self.zone))


EventClock = ZoneClock | FeedClock
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - walls have no zone


class Feed(NamedTuple):
    """An iCalendar file. `zone`: of times without one, or empty. `findings`: what cannot be read."""

    file: str
    name: str
    zone: str
    events: tuple[Event, ...]
    clocks: Mapping[str, EventClock]  # of the zones that it defines
    findings: tuple[Finding, ...]
    program: str = ""  # that wrote it: PRODID
    calendar_id: str = ""  # X-WR-RELCALID: an id of the calendar itself

    def clock(self, zone: str) -> EventClock | None:
        """Return the clock of a TZID, a name of the tz database or of Windows, or a path; None if unknown."""
        found = _known_zone(zone)
        return ZoneClock(found) if found else self.clocks.get(zone)

    def finding(self, event: Event, code: str, key: str, message: str, fix: str) -> Finding:
        """Return a finding at a property of an event, or at the event. Its path has the title."""
        where = key if key in event.lines else ""
        at = (self.file, event.lines[where], 1)
        path = f'{where} of "{event.title}"' if where else f'"{event.title}"'
        return Finding(*at, code, severity(code), path, message, fix)


class _Block(NamedTuple):
    """A component of the file: its text, and the first line of each of its own properties."""

    kind: str
    text: str
    lines: dict[str, int]


def read_feed(source: Source) -> Feed:
    """Read the events of a file. With an error among its findings, there are none."""
    try:
        text = source.text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.text[: error.start].count(b"\n") + 1
        return _unreadable(source.file, line, "the file is not UTF-8 text.")
    blocks = list(_blocks(text))
    head = next((one for one in blocks if one.kind == "VCALENDAR"), None)
    if head is None:
        return _unreadable(source.file, 1, "the file has no line BEGIN:VCALENDAR.")
    unclosed = next((one for one in blocks if not one.text), None)
    if unclosed is not None:
        message = f"BEGIN:{unclosed.kind} has no END:{unclosed.kind}."
        return _unreadable(source.file, unclosed.lines[""], message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library guesses zones, too; its guesses are not used
        return _feed(source.file, head, blocks)


def _feed(file: str, head: _Block, blocks: Sequence[_Block]) -> Feed:
    """Return the feed of the components of a file."""
    events, findings = [], []
    for one in blocks:
        if one.kind == "VEVENT":
            found = _event(file, one)
            if isinstance(found, Event):
                events.append(found)
            else:
                findings.append(found)
    calendar = _head(head)
    name = _line(calendar, "NAME") or _line(calendar, "X-WR-CALNAME") or PurePosixPath(file).name
    clocks = dict(filter(None, (_clock(one) for one in blocks if one.kind == "VTIMEZONE")))
    if _line(calendar, "METHOD").upper() == "CANCEL":
        events = [event._replace(is_canceled=True) for event in events]
    zone, program, calendar_id = (
        _line(calendar, key) for key in ("X-WR-TIMEZONE", "PRODID", "X-WR-RELCALID")
    )
    return Feed(file, name, zone, tuple(events), clocks, tuple(findings), program, calendar_id)


def _head(block: _Block) -> Any:
    """Return the properties of a calendar that are used; other ones may be faulty."""
    lines = "".join(match[0] for match in _OF_CALENDAR.finditer(block.text))
    try:
        return icalendar.Calendar.from_ical(f"BEGIN:VCALENDAR\r\n{lines}END:VCALENDAR\r\n")
    except ValueError:
        return {}


def _unreadable(file: str, line: int, message: str) -> Feed:
    fix = "Export the calendar again, as iCalendar (.ics)."
    return Feed(file, "", "", (), {}, (Finding(file, line, 1, UNREADABLE, "error", "", message, fix),))


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the calendar without its components, and its events and time zones; without text if unclosed."""
    above: list[str] = []  # the components that a line is in
    open_blocks: dict[str, tuple[list[str], dict[str, int]]] = {}
    for at, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        marker = _MARKER.fullmatch(line)
        kind = marker[2].upper() if marker else ""
        if marker and marker[1].upper() == "BEGIN":
            above.append(kind)
            if kind in ("VCALENDAR", "VEVENT", "VTIMEZONE"):
                open_blocks.setdefault(kind, ([], {"": at}))
        owner = next((one for one in reversed(above) if one in open_blocks), None)
        if owner is not None and (owner != "VCALENDAR" or above[-1] == "VCALENDAR"):
            lines, places = open_blocks[owner]
            lines.append(line)
            name = _NAME.match(line)
            if name and above[-1] == owner:
                places.setdefault(name[0].upper(), at)
        if marker and marker[1].upper() == "END" and kind in above:
            del above[len(above) - 1 - above[::-1].index(kind) :]
            if kind in open_blocks and kind not in above:
                lines, places = open_blocks.pop(kind)
                yield _Block(kind, "\r\n".join([*lines, ""]), places)
    for kind, (_, places) in open_blocks.items():
        yield _Block(kind, "", places)


def _line(component: Any, key: str) -> str:
    """Return a text on one line, without characters that cannot be shown; empty if it is missing."""
    value = component.get(key, "")
    text = str(value[0] if isinstance(value, list) else value)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _clock(block: _Block) -> tuple[str, EventClock] | None:
    """Return the TZID and the clock of a VTIMEZONE."""
    try:
        zone: Any = icalendar.Timezone.from_ical(block.text)
        located = _known_zone(_line(zone, "X-LIC-LOCATION"))
        return str(zone["TZID"]), ZoneClock(located) if located else FeedClock(zone.to_tz(lookup_tzid=False))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError):  # what the library raises
        return None  # events in this zone are not imported


def _known_zone(name: str) -> Zone | None:
    """Return the zone that a name means, also at the end of a path: `/example.org/Europe/Berlin`."""
    parts = name.strip('"').split("/")
    names = ["/".join(parts[-count:]) for count in (len(parts), 3, 2, 1)]
    return next(filter(None, (load(WINDOWS_TO_OLSON.get(one, one)) for one in names)), None)


def _event(file: str, block: _Block) -> Event | Finding:
    lines = block.lines
    try:
        found: Any = icalendar.Event.from_ical(block.text)
    except ValueError:
        return _faulty(file, lines, "", "the event cannot be read.")
    except OSError:  # the library reads files: `Europe` is a folder of the tz database
        return _faulty(file, lines, "", "the event has a TZID that is not a time zone.")
    if "DTSTART" not in found:
        return _faulty(file, lines, "", "the event has no DTSTART.")
    faulty = {str(name).upper() for name, _ in found.errors}
    for key in _READ:
        if key in faulty:
            return _faulty(file, lines, key, f"the event has a {key} that cannot be read.")
        if key in _SINGLE and isinstance(found.get(key), list):
            return _faulty(file, lines, key, f"the event has {key} twice.")
    try:
        return _parsed(found, lines)
    except (ValueError, TypeError, AttributeError, OverflowError):  # a value of an unexpected type
        return _faulty(file, lines, "", "the event has a date that cannot be read.")


def _faulty(file: str, lines: Mapping[str, int], key: str, message: str) -> Finding:
    key = key if key in lines else ""
    fix = "Correct it in the calendar."
    return Finding(file, lines[key], 1, NOT_IMPORTED, severity(NOT_IMPORTED), key, message, fix)


def _parsed(found: Any, lines: Mapping[str, int]) -> Event:
    instance = found.get("RECURRENCE-ID")
    is_free = _line(found, "TRANSP").upper() == "TRANSPARENT" or (
        _line(found, "X-MICROSOFT-CDO-BUSYSTATUS").upper() == "FREE"
    )
    event = Event(
        uid=_line(found, "UID"),
        sequence=int(found.get("SEQUENCE", 0)),
        lines=lines,
        title=_line(found, "SUMMARY"),
        description=str(found.get("DESCRIPTION", "")),
        is_canceled=_line(found, "STATUS").upper() in ("CANCELLED", "CANCELED"),
        span=_span(found),
        rules=tuple(one.to_ical().decode() for one in _values(found, "RRULE")),
        excluded_rules=tuple(one.to_ical().decode() for one in _values(found, "EXRULE")),
        added=tuple(_added(*pair) for pair in _listed(found, "RDATE")),
        excluded=tuple(_time(*pair) for pair in _listed(found, "EXDATE")),
        instance=None if instance is None else _time(instance.dt, instance.params),
        is_for_following=instance is not None and "RANGE" in instance.params,
        categories=tuple(str(name) for one in _values(found, "CATEGORIES") for name in one.cats),
        is_free=is_free,
    )
    return event._replace(is_canceled=event.is_canceled or (is_free and event.says_canceled))


def _span(found: Any) -> EventSpan:
    """Return when an event happens. Without a later end, a date is a whole day, and a time has no length."""
    start = _time(found["DTSTART"].dt, found["DTSTART"].params)
    if "DTEND" in found:
        end = _time(found["DTEND"].dt, found["DTEND"].params, is_end=True)
        return EventSpan(start, minutes=DAY) if start.is_date and end == start else EventSpan(start, end)
    if "DURATION" in found:
        return EventSpan(start, minutes=_length(found["DURATION"].dt))
    return EventSpan(start, minutes=DAY if start.is_date else 0)


def _values(found: Any, key: str) -> list[Any]:
    value = found.get(key, [])
    return value if isinstance(value, list) else [value]


def _listed(found: Any, key: str) -> Iterable[tuple[Any, Mapping[str, str]]]:
    """Yield each value of a property that has lists, with its parameters."""
    return ((item.dt, one.params) for one in _values(found, key) for item in one.dts)


def _added(value: Any, params: Mapping[str, str]) -> EventSpan:
    """Return a date of RDATE, which may be a period."""
    if not isinstance(value, tuple):
        return EventSpan(_time(value, params))
    first, last = value
    if isinstance(last, timedelta):
        return EventSpan(_time(first, params), minutes=_length(last))
    return EventSpan(_time(first, params), _time(last, params, is_end=True))


def _time(value: Any, params: Mapping[str, str], *, is_end: bool = False) -> EventTime:
    """Return a time without its seconds; an end is rounded up."""
    if not isinstance(value, datetime):
        if not isinstance(value, date):
            raise TypeError(f"{value} is not a date")
        return EventTime(number(value) * DAY, is_date=True)
    wall = _minutes(value) + (is_end and value.second > 0)
    is_utc = value.tzinfo is not None and (not params.get("TZID") or value.tzinfo is UTC)
    return EventTime(wall, "UTC" if is_utc else str(params.get("TZID", "")))


def _minutes(value: datetime) -> int:
    return number(value.date()) * DAY + value.hour * 60 + value.minute


def _length(value: timedelta) -> int:
    """Return minutes, rounded up."""
    return -(-round(value.total_seconds()) // 60)
