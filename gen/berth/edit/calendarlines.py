"""Read an iCalendar file (RFC 5545, 3.1) as components of lines, each with its place in the file."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r")
_NAME = r"\s*([A-Za-z0-9_.-]+)\s*"
_LINE = re.compile(rf'{_NAME}((?:;(?:[^":]|"[^"]*")*)?):(.*)', re.DOTALL)
_LINE_WITH_A_LOST_QUOTE = re.compile(rf"{_NAME}((?:;[^:]*)?):(.*)", re.DOTALL)
# Names of zones have colons, too, and some clients do not quote them: `TZID=tzone://Microsoft/Utc`.
_LINE_OF_DATES = re.compile(rf"{_NAME}((?:;.*)?):\s*((?:\d{{8}}[^:]*)?[\s,;]*)", re.DOTALL)
_PARAMETER = re.compile(r';\s*([A-Za-z0-9-]+)\s*=((?:[^";]|"[^"]*")*)')
_ESCAPE = re.compile(r'\\(?:([nN])|([\\;,:"]))')
_DATES = frozenset({"DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE"})
_TEXTS = frozenset({"SUMMARY", "DESCRIPTION", "COMMENT", "LOCATION", "CONTACT"})
_OTHERS = (
    "BEGIN END CALSCALE METHOD PRODID VERSION NAME ACTION ATTACH ATTENDEE CATEGORIES CLASS COLOR "
    "COMPLETED CONFERENCE CREATED DTSTAMP DUE DURATION EXRULE FREEBUSY GEO IMAGE LAST-MODIFIED "
    "ORGANIZER PERCENT-COMPLETE PRIORITY REFRESH-INTERVAL RELATED-TO REPEAT REQUEST-STATUS RESOURCES "
    "RRULE SEQUENCE SOURCE STATUS TRANSP TRIGGER TZID TZNAME TZOFFSETFROM TZOFFSETTO TZURL UID URL"
)
_PROPERTIES = _DATES | _TEXTS | frozenset(_OTHERS.split())


class NotACalendarError(Exception):
    """A file that is not a calendar, or only a part of one: the line, and why."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


class ContentLine(NamedTuple):
    """A property. Names are upper case; the value is as written, with its escapes."""

    number: int  # of its first line in the file
    name: str
    parameters: Mapping[str, str]
    value: str

    @property
    def text(self) -> str:
        """Return the value as text: without escapes, of several lines."""
        return _unescaped(self.value)

    @property
    def title(self) -> str:
        """Return the value as text on one line, without characters that cannot be shown."""
        return _one_line(self.text)

    @property
    def texts(self) -> list[str]:
        """Return the texts of a list, each on one line."""
        parts = re.split(r"(?<!\\),", self.value)
        return [text for text in (_one_line(_unescaped(part)) for part in parts) if text]


class Component(NamedTuple):
    """A part of a calendar, from BEGIN to END. `unread`: the places of lines that are not properties."""

    kind: str
    number: int
    lines: list[ContentLine]
    parts: list["Component"]
    unread: list[int]

    def all(self, name: str) -> list[ContentLine]:
        return [line for line in self.lines if line.name == name]

    def title(self, name: str) -> str:
        """Return a text on one line; empty if it is missing."""
        return next((line.title for line in self.lines if line.name == name), "")


def read_components(data: bytes) -> tuple[list[Component], list[int]]:
    """Return the calendars of a file, and the places of lines outside of them. Raise NotACalendarError."""
    calendars: list[Component] = []
    outside: list[int] = []
    above: list[Component] = []
    for number, line in _content_lines(data):
        if line and line.name == "BEGIN":
            component = Component(line.value.strip().upper(), number, [], [], [])
            _check_begin(component, above)
            (above[-1].parts if above else calendars).append(component)
            above.append(component)
        elif line and line.name == "END" and above:
            if line.value.strip().upper() != above[-1].kind:
                break
            above.pop()
        elif not above:
            outside.append(number)
        elif line:
            above[-1].lines.append(line)
        else:
            above[-1].unread.append(number)
    if above:
        raise _unclosed(above[-1])
    if not calendars:
        raise NotACalendarError(1, "the file has no line BEGIN:VCALENDAR.")
    return calendars, outside


def _check_begin(component: Component, above: list[Component]) -> None:
    """Refuse what can only be where it is if the END of what is above is missing."""
    if component.kind == "VCALENDAR" and above:
        raise _unclosed(above[-1])
    if component.kind in ("VEVENT", "VTIMEZONE") and (not above or above[-1].kind != "VCALENDAR"):
        if above:
            raise _unclosed(above[-1])
        raise NotACalendarError(component.number, f"BEGIN:{component.kind} is not in a VCALENDAR.")


def _unclosed(component: Component) -> NotACalendarError:
    return NotACalendarError(component.number, f"BEGIN:{component.kind} has no END:{component.kind}.")


def _content_lines(data: bytes) -> Iterator[tuple[int, ContentLine | None]]:
    """Yield each property with its place, and None for a line that is none.

    Where a client did not escape the line breaks of a text, its other lines are more of the text.
    """
    number, line, more = 0, None, list[str]()
    for following, text in _unfolded(data):
        read = _content_line(following, text)
        if line and _is_text(line.name) and not (read and _is_property(read.name)):
            more.append(text)
            continue
        if line:
            yield number, line._replace(value="\\n".join([line.value, *more])) if more else line
        if not read and text.strip():
            yield following, None
        number, line, more = following, read, []
    if line:
        yield number, line


def _unescaped(value: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] else match[2], value)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _is_text(name: str) -> bool:
    return name in _TEXTS or name.startswith("X-")


def _is_property(name: str) -> bool:
    return name in _PROPERTIES or _is_text(name)


def _unfolded(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each line with its place. A line is decoded as a whole: folds cut characters, too."""
    first, parts = 1, list[bytes]()
    for number, part in enumerate(_LINE_END.split(data.removeprefix(b"\xef\xbb\xbf")), start=1):
        if part[:1] in (b" ", b"\t") and parts:
            parts.append(part[1:])
            continue
        yield first, _decoded(first, b"".join(parts))
        first, parts = number, [part]
    yield first, _decoded(first, b"".join(parts))


def _decoded(number: int, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise NotACalendarError(number, "the file is not UTF-8 text.") from error


def _content_line(number: int, text: str) -> ContentLine | None:
    match = _LINE.fullmatch(text) or _LINE_WITH_A_LOST_QUOTE.fullmatch(text)
    if match is None:
        return None
    name = match[1].upper()
    if name in _DATES:
        match = _LINE_OF_DATES.fullmatch(text) or match
    parameters = {key.upper(): value.strip().replace('"', "") for key, value in _PARAMETER.findall(match[2])}
    return ContentLine(number, name, parameters, match[3])
