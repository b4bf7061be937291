"""Read an iCalendar file (RFC 5545) as values: its events as they are written, each with its lines.

Each event is read alone, so a faulty one does not hide the others.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from berth.dates.zone import DAY
from berth.edit.calendarlines import Component, ContentLine, NotACalendarError, read_components
from berth.edit.calendarrules import EventRule, parse_rule
from berth.edit.calendarvalues import (
    EventSpan,
    EventTime,
    parse_length,
    read_spans,
    read_time,
    read_times,
)
from berth.edit.calendarzones import FeedZones, known_zone
from berth.findings import FilePlace, Finding
from berth.reading.source import Source

UNREADABLE, NOT_IMPORTED, PARTLY_IMPORTED = "B205", "B206", "B207"
_METHODS = ("", "PUBLISH", "REQUEST", "ADD", "CANCEL")
_ONCE = ("METHOD", "X-WR-TIMEZONE")  # of a calendar
_CANCELED = ("CANCELED", "CANCELLED")
# How Outlook begins the title of a canceled event, and marks its time as free.
_CANCELED_TITLE = re.compile(
    r"^(?:cancell?ed|abgesagt|annulé|annullato|cancelad[oa]|geannuleerd)\s*:", re.IGNORECASE
)
_KEY = re.compile(r"^[A-Z-]+ of (?=[\"(])")  # of a path
_CORRECT = "Correct it in the calendar."
_T = TypeVar("_T")


class Event(NamedTuple):
    """A VEVENT. `lines` are those of its properties; the empty name is the first of them."""

    uid: str
    sequence: int
    lines: Mapping[str, int]
    title: str
    description: str
    is_canceled: bool
    span: EventSpan
    rules: tuple[EventRule, ...]
    excluded_rules: tuple[EventRule, ...]
    added: tuple[EventSpan, ...]
    excluded: tuple[EventTime, ...]
    instance: EventTime | None  # the start that it replaces
    is_for_following: bool  # it replaces all later ones, too
    zones: FeedZones  # of its VCALENDAR
    categories: tuple[str, ...] = ()
    is_free: bool = False  # it takes no time of whoever attends

    @property
    def says_canceled(self) -> bool:
        """Tell whether its title says so, as in Outlook."""
        return _CANCELED_TITLE.match(self.title) is not None

    @property
    def canceled_title(self) -> str:
        """Return the title of the event that a title such as `Canceled: Algebra` is about."""
        return _CANCELED_TITLE.sub("", self.title, count=1).strip()


class Feed(NamedTuple):
    """An iCalendar file. `zone`: of times without one in its first VCALENDAR, or empty.

    `findings`: what cannot be read.
    """

    file: str
    name: str
    zone: str
    events: tuple[Event, ...]
    findings: tuple[Finding, ...]
    program: str = ""  # that wrote it: PRODID
    calendar_id: str = ""  # X-WR-RELCALID: an id of the calendar itself

    def finding(self, event: Event, code: str, key: str, message: str, fix: str) -> Finding:
        """Return a finding at a property of an event, or at the event. Its path has the title."""
        where = key if key in event.lines else ""
        place = FilePlace(self.file, event.lines[where])
        return place.finding(code, message, fix, _path(where, event.title))


def read_feed(source: Source) -> Feed:
    """Read the events of a file. With an error among its findings, there are none."""
    try:
        calendars, outside = read_components(source.text)
    except NotACalendarError as error:
        fix = "Export the calendar again, as iCalendar (.ics)."
        finding = FilePlace(source.file, error.line).finding(UNREADABLE, error.message, fix)
        return Feed(source.file, "", "", (), (finding,))
    findings: list[Finding] = []
    events: list[Event] = []
    zones: list[FeedZones] = []
    for calendar in calendars:
        reading = _CalendarReading(source.file, calendar)
        events += reading.events()
        findings += reading.findings
        zones.append(reading.zones)
    if outside:
        message = "the line is outside of the calendar."
        findings.append(FilePlace(source.file, outside[0]).finding(PARTLY_IMPORTED, message, "Remove it."))
    first, default = calendars[0], known_zone(zones[0].default)
    return Feed(
        file=source.file,
        name=first.title("NAME") or first.title("X-WR-CALNAME") or PurePosixPath(source.file).name,
        zone=default.name if default else "",
        events=tuple(events),
        findings=tuple(findings),
        program=first.title("PRODID"),
        calendar_id=first.title("X-WR-RELCALID"),
    )


def _path(key: str, title: str, uid: str = "") -> str:
    named = f'"{title}"' if title or not uid else ""
    event = " ".join(filter(None, (named, uid and f"(UID {uid})")))
    return f"{key} of {event}" if key else event


def title_in(path: str) -> str:
    """Return the title of the event that the path of a finding names, or its UID if it has none."""
    event = _KEY.sub("", path)
    return event[1 : event.rindex('"')] if event.startswith('"') else event


class _CalendarReading:
    """The reading of one VCALENDAR: its zones and its method, and the findings so far."""

    def __init__(self, file: str, calendar: Component) -> None:
        self.file, self.calendar = file, calendar
        self.findings: list[Finding] = []
        definitions = [part for part in calendar.parts if part.kind == "VTIMEZONE" and part.title("TZID")]
        self.zones = FeedZones(calendar.title("X-WR-TIMEZONE"), definitions)
        self.method = calendar.title("METHOD").upper()
        self.doubtful: set[str] = set()

    def events(self) -> list[Event]:
        """Return the events that can be read, and report the others."""
        self._check_head()
        events = []
        for part in self.calendar.parts:
            if part.kind == "VEVENT":
                reading = _EventReading(part, self.zones, is_canceled=self.method == "CANCEL")
                event = reading.event()
                if event is None:
                    self._report_faults(reading)
                else:
                    events.append(event)
                    self._check_event(event, reading)
        return events

    def _report(self, code: str, place: tuple[int, str], message: str, fix: str) -> None:
        line, path = place
        self.findings.append(FilePlace(self.file, line).finding(code, message, fix, path))

    def _report_faults(self, reading: "_EventReading") -> None:
        title, uid = reading.part.title("SUMMARY"), reading.part.title("UID")
        for key, line, message in reading.faults:
            self._report(NOT_IMPORTED, (line, _path(key, title, uid)), message, _CORRECT)

    def _check_head(self) -> None:
        """Report what the calendar says of all its events and what cannot be used."""
        for name, definition in self.zones.contradictions.items():
            message = f'another VTIMEZONE of "{name}" has other rules; neither is used.'
            self._report(PARTLY_IMPORTED, (definition.number, "VTIMEZONE"), message, "Keep the right one.")
        places = {line.name: (line.number, line.name) for line in reversed(self.calendar.lines)}
        for line in self.calendar.lines:
            first, _ = places[line.name]
            if line.name in _ONCE and line.title != self.calendar.title(line.name):
                message = f"line {first} has another {line.name}, which counts."
                self._report(PARTLY_IMPORTED, (line.number, line.name), message, "Keep the right one.")
        default = self.zones.default
        if default and self.zones.clock(default) is None:
            message = f'no time zone named "{default}"; times without a zone are in another one.'
            fix = "Give --time-zone NAME, or the zone of the site is used."
            self._report(PARTLY_IMPORTED, places["X-WR-TIMEZONE"], message, fix)
        self._check_zone(default, places.get("X-WR-TIMEZONE", (0, "")))
        if self.method not in _METHODS:
            message = f"the file is a {self.method}, which does not say what takes place."
            self._report(PARTLY_IMPORTED, places["METHOD"], message, "Export the calendar itself.")
        self._check_lines(self.calendar, "")

    def _check_event(self, event: Event, reading: "_EventReading") -> None:
        self._check_lines(reading.part, _path("", event.title, event.uid))
        self._check_zone(event.span.start.zone, (event.lines["DTSTART"], _path("DTSTART", event.title)))
        if event.is_canceled and not reading.is_canceled:
            place = event.lines["SUMMARY"], _path("SUMMARY", event.title)
            message = "its title says that it is canceled, and its time is free; it is not imported."
            self._report(NOT_IMPORTED, place, message, "If it takes place, correct the title.")

    def _check_lines(self, part: Component, path: str) -> None:
        """Report the lines of a component that are not properties, at the first one."""
        if part.unread:
            others = f", and {len(part.unread) - 1} more" if len(part.unread) > 1 else ""
            message = f"the line is not a property{others}."
            self._report(PARTLY_IMPORTED, (part.unread[0], path), message, _CORRECT)

    def _check_zone(self, name: str, place: tuple[int, str]) -> None:
        """Report a zone whose clock never changes, although the calendar may mean a place, once."""
        if name not in self.doubtful and self.zones.is_doubtful(name):
            self.doubtful.add(name)
            message = f'"{name}" has one offset all year, and the file has no VTIMEZONE for it.'
            fix = "If clocks change there, choose a place such as America/New_York in the calendar."
            self._report(PARTLY_IMPORTED, place, message, fix)


class _EventReading:
    """The reading of one VEVENT. `faults`: what cannot be read, as property, line and message."""

    def __init__(self, part: Component, zones: FeedZones, *, is_canceled: bool) -> None:
        self.part, self.zones = part, zones
        self.is_canceled = is_canceled or any(line.title.upper() in _CANCELED for line in part.all("STATUS"))
        self.faults: list[tuple[str, int, str]] = []

    def event(self) -> Event | None:
        """Return the event; None if it has faults."""
        part = self.part
        lines = {"": part.number}
        for line in part.lines:
            lines.setdefault(line.name, line.number)
        is_free = (
            part.title("TRANSP").upper() == "TRANSPARENT"
            or part.title("X-MICROSOFT-CDO-BUSYSTATUS").upper() == "FREE"
        )
        instance = self._single("RECURRENCE-ID")
        span = self._span()
        event = Event(
            uid=self._text("UID"),
            sequence=self._sequence(),
            lines=lines,
            title=part.title("SUMMARY"),
            description="\n".join(line.text for line in part.all("DESCRIPTION")),
            is_canceled=self.is_canceled,
            span=span,
            rules=self._rules("RRULE", span.start),
            excluded_rules=self._rules("EXRULE", span.start),
            added=tuple(self._listed("RDATE", read_spans)),
            excluded=tuple(self._listed("EXDATE", read_times)),
            instance=None if instance is None else self._read(read_time, instance, None),
            is_for_following=instance is not None and "RANGE" in instance.parameters,
            zones=self.zones,
            categories=tuple(name for line in part.all("CATEGORIES") for name in line.texts),
            is_free=is_free,
        )
        if self.faults:
            return None
        return event._replace(is_canceled=event.is_canceled or (is_free and event.says_canceled))

    def _read(self, read: Callable[[ContentLine], _T], line: ContentLine, otherwise: _T) -> _T:
        """Return the value of a property, or record its fault."""
        try:
            return read(line)
        except ValueError as error:
            self.faults.append((line.name, line.number, str(error)))
            return otherwise

    def _single(self, name: str) -> ContentLine | None:
        """Return a property that can be there once; the same line may be there again."""
        lines = self.part.all(name)
        if any((line.parameters, line.value) != (lines[0].parameters, lines[0].value) for line in lines):
            self.faults.append((name, lines[1].number, f"the event has {name} twice."))
        return lines[0] if lines else None

    def _text(self, name: str) -> str:
        line = self._single(name)
        return line.title if line else ""

    def _sequence(self) -> int:
        line = self._single("SEQUENCE")
        return self._read(_version, line, 0) if line else 0

    def _listed(self, name: str, read: Callable[[ContentLine], list[_T]]) -> Iterator[_T]:
        none: list[_T] = []
        for line in self.part.all(name):
            yield from self._read(read, line, none)

    def _rules(self, name: str, start: EventTime) -> tuple[EventRule, ...]:
        none = EventRule("DAILY")
        return tuple(
            self._read(lambda line: parse_rule(line.value, start), line, none) for line in self.part.all(name)
        )

    def _span(self) -> EventSpan:
        """Return when the event happens. Without a later end, a date is a whole day; a time has no length."""
        begin, end, length = (self._single(name) for name in ("DTSTART", "DTEND", "DURATION"))
        none = EventTime(0)
        if begin is None:
            self.faults.append(("", self.part.number, "the event has no DTSTART."))
            return EventSpan(none)
        start = self._read(read_time, begin, none)
        minutes = self._read(lambda line: parse_length(line.value), length, 0) if length else None
        if end is None:
            return EventSpan(start, minutes=(DAY if start.is_date else 0) if minutes is None else minutes)
        last = self._read(lambda line: read_time(line, is_end=True), end, none)
        if length and (last.zone != start.zone or last.wall - start.wall != minutes):
            message = "the event has DTEND and DURATION, which differ."
            self.faults.append(("DURATION", length.number, message))
        return EventSpan(start, minutes=DAY) if start.is_date and last == start else EventSpan(start, last)


def _version(line: ContentLine) -> int:
    """Return a SEQUENCE; some clients write an empty one."""
    if line.title and not (line.title.isascii() and line.title.isdigit() and len(line.title) < 19):
        raise ValueError(f'"{line.title}" is not a number.')
    return int(line.title or 0)
