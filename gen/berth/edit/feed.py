"""Read an iCalendar file: its events with their times, each with its lines in the file.

The library icalendar reads lines, dates and VTIMEZONEs. Each property is read alone, so that a faulty one
costs no more than itself, and is reported with its line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from icalendar.parser import Contentline, split_on_unescaped_comma, unescape_backslash
from icalendar.prop import vDDDTypes
from icalendar.prop.factory import TypesFactory

from berth.dates.zone import DAY, number
from berth.edit.feedclocks import UTC, FeedClock, FeedZones
from berth.findings import FilePlace, Finding, FindingsError
from berth.notation.refusal import close, shown
from berth.notation.zones import zone_advice
from berth.reading.source import Source

_LINE_END = re.compile(rb"\r\n|\n|\r")
_NAME = re.compile(r"\s*([A-Za-z0-9-]+)\s*[:;]")
_DATE, _LENGTH = r"[0-9]{8}(?:T[0-9]{6}Z?)?", r"[-+]?P[0-9WDTHMS]+"
_VALUE = re.compile(rf"{_DATE}(?:/(?:{_DATE}|{_LENGTH}))?|{_LENGTH}", re.ASCII)
_DATES = ("DTSTART", "DTEND", "DURATION", "RDATE", "EXDATE", "RECURRENCE-ID")
_READ = (*_DATES, "RRULE", "EXRULE", "SUMMARY", "DESCRIPTION", "UID", "STATUS", "SEQUENCE", "CATEGORIES")
_PARAMETERS = ("TZID", "VALUE", "RANGE")
_ALIKE = 0.75
_TEXTS = ("SUMMARY", "DESCRIPTION", "COMMENT", "LOCATION", "CONTACT")
# Exchange does not quote this name of a zone, which has a colon.
_MICROSOFT_ZONE = re.compile(r'TZID=(tzone:[^:;"]+)', re.IGNORECASE)
# How Outlook begins the title of a canceled event, and marks its time as free.
_CANCELED_TITLE = re.compile(
    r"^(?:cancell?ed|abgesagt|annulé|annullato|cancelad[oa]|geannuleerd)\s*:", re.IGNORECASE
)
_OWN_PROGRAM = "-//berth.dev//Berth//EN"
_CORRECT = "Correct it in the calendar."
_LONGEST_NAME = 100  # characters of a title in messages and tables


class EventTime(NamedTuple):
    """A date or time: minutes on a clock; None: on any, as whole days and times without a zone are."""

    wall: int
    clock: FeedClock | None = None
    is_date: bool = False


class EventSpan(NamedTuple):
    """A start, and an end or a length in minutes; neither: the length of the event."""

    start: EventTime
    end: EventTime | None = None
    minutes: int | None = None


class Event(NamedTuple):
    """A VEVENT. `lines`: of its properties by name; the empty name is its own."""

    uid: str
    sequence: int
    lines: Mapping[str, int]
    title: str
    description: str
    categories: tuple[str, ...]
    is_free: bool  # it takes no time of whoever attends
    is_canceled: bool
    says_canceled: bool  # in its title
    span: EventSpan
    rules: tuple[str, ...]  # RRULE
    excluded_rules: tuple[str, ...]
    added: tuple[EventSpan, ...]
    excluded: tuple[EventTime, ...]
    instance: EventTime | None  # the date of its series that it replaces
    is_for_following: bool  # it replaces all later ones, too
    zones: FeedZones  # of its VCALENDAR

    @property
    def name(self) -> str:
        return event_name(self.title, self.uid)

    @property
    def content(self) -> tuple[object, ...]:
        """Return what it says, without its place in the file."""
        return (*self[:2], *self[3:-1])


class NotImportedError(Exception):
    """An event is not imported: the property because of which, why, and what to do."""

    def __init__(self, key: str, message: str, fix: str = _CORRECT) -> None:
        super().__init__(message)
        self.key, self.message, self.fix = key, message, fix


class EventOutcome(NamedTuple):
    """What became of an event, or of several that are one reservation; `file` is that of the document."""

    line: int  # of the event in its file; 0: of dates that no event has
    event: str
    result: str
    file: str
    reason: str


REFUSED = "not imported"
BY_TITLE, BY_UID = "title", "uid"


class Feed:
    """An iCalendar file: its events, and what the import has to say about them so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.events: list[Event] = []
        self.is_berths = False  # Berth has written it
        self.findings: list[Finding] = []
        self.outcomes: list[EventOutcome] = []
        self.refused: set[tuple[str, str]] = set()  # UIDs and titles of events that are not imported

    def warn(self, event: Event, key: str, message: str, fix: str, code: str = "B207") -> None:
        """Report something about a property of an event, or about all of it."""
        where = key if key in event.lines else ""
        self.report(code, event.lines[where], where, event.name, message, fix)

    def report(self, code: str, line: int, key: str, name: str, message: str, fix: str) -> None:  # noqa: PLR0913, PLR0917
        path = f"{key} of {_quoted(name)}" if key else _quoted(name)
        self.findings.append(FilePlace(self.file, line).finding(code, message, fix, path))

    def tell(self, events: Sequence[Event], result: str, reason: str, file: str = "") -> None:
        """Note what became of events that are one reservation, or of one."""
        name = events[0].name if len(events) == 1 else f"{events[0].name} ({len(events)} events)"
        self.outcomes.append(EventOutcome(events[0].lines[""], name, result, file, reason))

    def refuse(self, events: Sequence[Event], error: NotImportedError) -> None:
        """Report that events are not imported."""
        self.warn(events[0], error.key, error.message, error.fix, "B206")
        self.tell(events, REFUSED, error.message.rstrip("."))
        self.refused |= {key for event in events for key in keys_of(event.uid, event.title)}


def event_name(title: str, uid: str) -> str:
    """Return by what people recognize an event."""
    name = title or (f"UID {uid}" if uid else "no title")
    cut = name[:_LONGEST_NAME] + ("..." if len(name) > _LONGEST_NAME else "")
    return cut if title else f"({cut})"


def _quoted(name: str) -> str:
    return name if name.startswith("(") else f'"{name}"'


def keys_of(uid: str, title: str) -> set[tuple[str, str]]:
    """Return by what a reservation of an event may be recognized."""
    return {(BY_UID, uid), (BY_TITLE, title)}


class _Property(NamedTuple):
    line: int
    name: str
    parameters: Mapping[str, str]
    value: str  # with its escapes

    @property
    def text(self) -> str:
        return str(unescape_backslash(self.value))


class _Component:
    """A part of a calendar, from BEGIN to END. `raw`: the lines of a VTIMEZONE."""

    def __init__(self, kind: str, line: int) -> None:
        self.kind, self.line = kind, line
        self.properties: list[_Property] = []
        self.parts: list[_Component] = []
        self.raw: list[str] = []
        self.unread: list[int] = []  # lines that are no properties

    def take(self, line: int, text: str, read: _Property | None) -> None:
        """Add a line. Where a text has line breaks in it, its next lines are more of it."""
        last = self.properties[-1].name if self.properties else ""
        if read:
            self.properties.append(read)
        elif last in _TEXTS or last.startswith("X-"):
            self.properties.append(_Property(line, last, {}, text))
        elif text.strip():
            self.unread.append(line)

    def all(self, name: str) -> list[_Property]:
        """Return the properties of a name; one without a value is as if it were not there."""
        return [one for one in self.properties if one.name == name and one.value.strip()]

    def title(self, name: str) -> str:
        """Return a text on one line, without characters that cannot be shown; empty if it is missing."""
        text = next((one.text for one in self.all(name)), "")
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def read_feed(source: Source) -> Feed:
    """Read the events of a file. With an error among its findings, there are none."""
    feed = Feed(source.file)
    try:
        calendars = _calendars(source)
    except FindingsError as error:
        feed.findings += error.findings
        return feed
    feed.is_berths = all(calendar.title("PRODID") == _OWN_PROGRAM for calendar in calendars)
    for calendar in calendars:
        definitions: dict[str, tuple[str, ...]] = {}
        for part in calendar.parts:
            if part.kind == "VTIMEZONE":
                lines = tuple(part.raw)
                # Of two that differ, none counts.
                is_clear = definitions.setdefault(part.title("TZID"), lines) == lines
                definitions[part.title("TZID")] = lines if is_clear else ()
        zones = FeedZones(calendar.title("X-WR-TIMEZONE"), definitions)
        if zones.default and zones.clock(zones.default) is None:
            message = (
                f"no time zone named {shown(zones.default)}; times without a zone are those of the site."
            )
            (line, *_) = calendar.all("X-WR-TIMEZONE")
            fix = f"Give --time-zone. {zone_advice(zones.default)}"
            feed.findings.append(FilePlace(feed.file, line.line).finding("B207", message, fix))
        is_canceled = calendar.title("METHOD").upper() == "CANCEL"
        for part in calendar.parts:
            if part.kind == "VEVENT":
                event = _EventReader(part, zones, feed).event(is_canceled=is_canceled)
                feed.events += [event] if event else []
    return feed


def _not_a_calendar(file: str, line: int, message: str) -> FindingsError:
    fix = "Export the calendar again, as iCalendar (.ics)."
    return FindingsError([FilePlace(file, line).finding("B205", message, fix)])


def _calendars(source: Source) -> list[_Component]:
    """Return the calendars of a file. Raise FindingsError if it is not one."""
    calendars: list[_Component] = []
    above: list[_Component] = []
    for line, text in _unfolded(source):
        read = _property(line, text)
        kind = read.value.strip().upper() if read else ""
        if read and read.name == "BEGIN":
            component = _Component(kind, line)
            (above[-1].parts if above else calendars).append(component)
            above.append(component)
        for component in above:
            component.raw += [text] if component.kind == "VTIMEZONE" else []
        if above and not (read and read.name in ("BEGIN", "END")):
            above[-1].take(line, text, read)
        elif above and read and read.name == "END":
            if kind != above[-1].kind:
                break
            above.pop()
    if above:
        message = f"BEGIN:{above[-1].kind} has no END:{above[-1].kind}."
        raise _not_a_calendar(source.file, above[-1].line, message)
    if not calendars or any(calendar.kind != "VCALENDAR" for calendar in calendars):
        raise _not_a_calendar(source.file, 1, "the file does not begin with BEGIN:VCALENDAR.")
    return calendars


def _property(line: int, text: str) -> _Property | None:
    """Return the property of a line; None for a line that is none, such as a part of a text."""
    match = _NAME.match(text)
    if match is None or ":" not in text or not (match[1].isupper() or match[1] in _KNOWN):
        return None
    try:
        line_text = _MICROSOFT_ZONE.sub(r'TZID="\1"', text)
        name, parameters, value = Contentline(line_text).raw_parts()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    return _Property(line, name.upper(), {key.upper(): str(one) for key, one in parameters.items()}, value)


_KNOWN = {name for word in (*TypesFactory.types_map, "BEGIN", "END") for name in (word, word.lower())}


def _unfolded(source: Source) -> Iterator[tuple[int, str]]:
    """Yield each line with its place. A line is decoded as a whole: folds cut characters, too."""
    first, parts = 1, list[bytes]()
    lines = _LINE_END.split(source.text.removeprefix(b"\xef\xbb\xbf"))
    for at, part in enumerate([*lines, b""], start=1):
        if part[:1] in (b" ", b"\t") and parts:
            parts.append(part[1:])
            continue
        try:
            yield first, b"".join(parts).decode()
        except UnicodeDecodeError:
            raise _not_a_calendar(source.file, first, "the file is not UTF-8 text.") from None
        first, parts = at, [part]


class _EventReader:
    """The reading of one VEVENT."""

    def __init__(self, part: _Component, zones: FeedZones, feed: Feed) -> None:
        self.part, self.zones, self.feed = part, zones, feed
        self.title = part.title("SUMMARY")
        self.name = event_name(self.title, part.title("UID"))

    def event(self, *, is_canceled: bool) -> Event | None:
        """Return the event, or report why it cannot be read."""
        part = self.part
        if part.unread:
            self._warn("B207", "", part.unread[0], "the line is not a property; it is left out.")
        self._name_misspelled()
        try:
            span = self._span()
            instance = self._single("RECURRENCE-ID")
            return Event(
                uid=part.title("UID"),
                sequence=int(text) if (text := part.title("SEQUENCE")[:18]).isdecimal() else 0,
                lines={"": part.line} | {one.name: one.line for one in reversed(part.properties)},
                title=self.title,
                description="\n".join(one.text for one in part.all("DESCRIPTION")),
                categories=tuple(
                    unescape_backslash(text).strip()
                    for one in part.all("CATEGORIES")
                    for text in split_on_unescaped_comma(one.value)
                ),
                is_free=part.title("TRANSP").upper() == "TRANSPARENT"
                or part.title("X-MICROSOFT-CDO-BUSYSTATUS").upper() == "FREE",
                is_canceled=is_canceled or part.title("STATUS").upper() in ("CANCELED", "CANCELLED"),
                says_canceled=_CANCELED_TITLE.match(self.title) is not None,
                span=span,
                rules=tuple(one.value for one in part.all("RRULE")),
                excluded_rules=tuple(one.value for one in part.all("EXRULE")),
                added=tuple(self._listed("RDATE")),
                excluded=tuple(span.start for span in self._listed("EXDATE")),
                instance=None if instance is None else self._time(instance),
                is_for_following=instance is not None and "RANGE" in instance.parameters,
                zones=self.zones,
            )
        except NotImportedError as error:
            line = next((one.line for one in part.all(error.key)), part.line)
            self._warn("B206", error.key, line, error.message, error.fix)
            reason = error.message.rstrip(".")
            self.feed.outcomes.append(EventOutcome(part.line, self.name, REFUSED, "", reason))
            self.feed.refused |= keys_of(part.title("UID"), self.title)
            return None

    def _name_misspelled(self) -> None:
        """Report names that are nearly one that is read."""
        for one in self.part.properties:
            parameters = one.parameters if one.name in _DATES else ()
            names = (*(() if one.name in _KNOWN else (one.name,)), *parameters)
            for name in names:
                if name not in _PARAMETERS and (near := close(name, (*_READ, *_PARAMETERS), _ALIKE)):
                    message = f"{shown(name)} is not read. Did you mean {near[0]}?"
                    self._warn("B207", one.name, one.line, message)

    def _warn(self, code: str, key: str, line: int, message: str, fix: str = _CORRECT) -> None:
        self.feed.report(code, line, key, self.name, message, fix)

    def _single(self, name: str) -> _Property | None:
        """Return a property that can be there once; some programs write it twice, with one value."""
        lines = self.part.all(name)
        if any(one.value != lines[0].value or one.parameters != lines[0].parameters for one in lines):
            raise NotImportedError(name, f"the event has two values of {name}.")
        return lines[0] if lines else None

    def _span(self) -> EventSpan:
        """Return when the event is. Without an end, a date is a whole day, and a time has no length."""
        begin, end, length = (self._single(name) for name in ("DTSTART", "DTEND", "DURATION"))
        if begin is None:
            raise NotImportedError("", "the event has no DTSTART.")
        start = self._time(begin)
        minutes = None if length is None else _minutes(length, _value(length, length.value))
        if end is None:
            return EventSpan(start, None, minutes)
        last = self._time(end, is_end=True)
        # Thunderbird adds a DURATION of zero to the DTEND of a changed date.
        if minutes and (last.wall - start.wall != minutes or last.clock != start.clock):
            raise NotImportedError("DURATION", "the event has DTEND and DURATION, which differ.")
        return EventSpan(start, last)

    def _listed(self, name: str) -> Iterator[EventSpan]:
        """Yield the dates and periods of a list. One that cannot be read is reported."""
        for line in self.part.all(name):
            for text in filter(None, map(str.strip, re.split("[,;]", line.value))):
                try:
                    value = _value(line, text)
                    start, last = value if isinstance(value, tuple) else (value, None)
                    begin = self._moment(line, start)
                    if isinstance(last, timedelta):
                        yield EventSpan(begin, None, _minutes(line, last))
                    else:
                        yield EventSpan(begin, last and self._moment(line, last, is_end=True))
                except NotImportedError as error:
                    message = f"{error.message} It is left out."
                    self._warn("B207", name, line.line, message, error.fix)

    def _time(self, line: _Property, *, is_end: bool = False) -> EventTime:
        return self._moment(line, _value(line, line.value), is_end=is_end)

    def _moment(self, line: _Property, value: object, *, is_end: bool = False) -> EventTime:
        """Return a time on the clock that its TZID names."""
        name = line.parameters.get("TZID", "").strip()
        clock = self.zones.clock(name) if name else None
        if name and clock is None and isinstance(value, datetime):
            message = (
                f"no time zone named {shown(name)}, and the file has no VTIMEZONE for it that can be read."
            )
            raise NotImportedError(line.name, message, zone_advice(name))
        found = moment_of(line.name, value, clock, is_end=is_end)
        if clock is not None and clock is not found.clock and not found.is_date:
            message = f'"{line.value}" is in UTC because of its Z, and in "{name}" because of its TZID.'
            raise NotImportedError(line.name, message)
        return found


def moment_of(name: str, value: object, clock: FeedClock | None, *, is_end: bool = False) -> EventTime:
    """Return a value as a time without its seconds; an end is rounded up. `clock`: of one without a Z."""
    if not isinstance(value, date):
        raise NotImportedError(name, f'"{value}" is not a date or time.')
    # UNTIL=99991231T235959Z: the time in other zones is in a year that Python knows, too.
    value = value.replace(year=min(max(value.year, 2), 9998))
    wall = number(value) * DAY
    if not isinstance(value, datetime):
        return EventTime(wall, None, is_date=True)
    wall += value.hour * 60 + value.minute + (is_end and value.second > 0)
    return EventTime(wall, UTC if value.tzinfo else clock)


def until_of(event: Event, text: str) -> EventTime:
    """Return the time of the UNTIL of a rule of an event. Raise NotImportedError."""
    clock = event.span.start.clock
    found = moment_of("RRULE", _value(_Property(0, "RRULE", {}, text), text), clock)
    return EventTime(found.wall + DAY - 1, clock) if found.is_date else found


def _minutes(line: _Property, value: object) -> int:
    if not isinstance(value, timedelta):
        raise NotImportedError(line.name, f'"{line.value}" is not a length such as PT1H30M.')
    return -(-value // timedelta(minutes=1))


def _value(line: _Property, text: str) -> object:
    """Return what icalendar reads. Raise NotImportedError."""
    try:
        plain = text.strip(" ,;").upper()
        if not _VALUE.fullmatch(plain):  # icalendar takes blanks and signs among the digits
            raise ValueError
        value: object = vDDDTypes.from_ical(plain)  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError):
        message = f'"{text.strip()[:60]}" is not a date such as 20260302, or a time such as 20260302T100000.'
        raise NotImportedError(line.name, message) from None
    return value
