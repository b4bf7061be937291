"""What imports of events share: options, the identity of a feed, results, and what earlier ones recorded."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from berth.dates.moments import named
from berth.dates.zone import Zone, load
from berth.edit.calendarfeed import NOT_IMPORTED, Event, Feed, title_in
from berth.edit.eventfilter import EventFilter
from berth.findings import FilePlace, Finding, Origin
from berth.notation.refusal import read_at
from berth.notation.zones import zone
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.schema.metadata import IMPORTED_CALENDAR, IMPORTED_FEED, IMPORTED_FROM

IDLE_PATTERN = "B206"
_VERSION = re.compile(r"\s*v?\d[\d.]*")  # of a program
PIPE = "stdin"
NO_TITLE = "(no title)"


class ImportOptions(NamedTuple):
    """What the command line says. `zone`: of times without one; None: the calendar's or the site's.

    `group`: title, uid or none; empty: by title where events are single dates. `feed`: of `--feed`, or empty.
    """

    resource_class: str
    seats: int | None
    zone: str | None
    first: date | None
    last: date | None
    now: int
    events: EventFilter = EventFilter()
    group: str = ""
    feed: str = ""
    has_terms: bool = False


class EventPlace(NamedTuple):
    """An event as findings name it: its line in the feed, and its title, UID and first date."""

    file: str
    line: int
    label: str

    @classmethod
    def of(cls, feed: Feed, event: Event, day: date) -> "EventPlace":
        uid = f" (UID {event.uid})" if event.uid else ""
        return cls(feed.file, event.lines[""], f'"{event.title}" of {day}{uid}')

    def named(self, finding: Finding) -> Finding:
        """Return a finding of a file that is not written as one of the event."""
        path = f"{self.label}, {finding.path}" if finding.path else self.label
        return finding._replace(file=self.file, line=self.line, column=1, path=path)


class ImportedFile(NamedTuple):
    """A file to write. `changes`: what is new in a file that exists; empty for a new one."""

    file: str
    text: str
    before: bytes | None
    changes: tuple[str, ...]
    dates: int
    event: EventPlace


class EventOutcome(NamedTuple):
    """What became of an event, or of several that are one reservation. `into`: the name of the document."""

    line: int  # in the feed
    event: str
    result: str
    into: str
    reason: str


class ImportResult(NamedTuple):
    """What an import writes. With an error among the findings, nothing is to be written."""

    files: tuple[ImportedFile, ...]
    outcomes: tuple[EventOutcome, ...]
    findings: tuple[Finding, ...]


class FeedIdentity(NamedTuple):
    """Which feed this is: its name, an id of the calendar or of the program, and the title for people.

    The name is that of the file, or of `--feed`, which decides alone.
    """

    name: str
    calendar: str
    title: str
    is_given: bool
    has_id: bool  # `calendar` is an id of the calendar

    @classmethod
    def of(cls, feed: Feed, options: ImportOptions) -> "FeedIdentity":
        program = " ".join(_VERSION.sub("", feed.program).split())
        name = options.feed or PurePosixPath(feed.file).name
        return cls(name, feed.calendar_id or program, feed.name, bool(options.feed), bool(feed.calendar_id))

    def has_made(self, recorded: Mapping[str, Any]) -> bool:
        """Tell whether a document with these annotations was imported from this feed."""
        if self.is_given:
            return bool(recorded.get(IMPORTED_FEED) == self.name)
        if self.has_id:
            return bool(recorded.get(IMPORTED_CALENDAR) == self.calendar)
        return self.annotations == {
            key: recorded[key] for key in (IMPORTED_FROM, IMPORTED_FEED, IMPORTED_CALENDAR) if key in recorded
        }

    def is_recorded(self, recorded: Mapping[str, Any]) -> bool:
        """Tell whether these annotations need no change. Only `--feed` joins feeds that differ otherwise."""
        ours = {key: recorded.get(key) for key in (IMPORTED_FROM, IMPORTED_FEED, IMPORTED_CALENDAR)}
        return self.has_made(recorded) and (not self.is_given or {**ours, **self.annotations} == ours)

    @property
    def annotations(self) -> dict[str, str]:
        """Return what a document records of the feed."""
        found = {IMPORTED_FROM: self.title, IMPORTED_FEED: self.name}
        return {**found, IMPORTED_CALENDAR: self.calendar} if self.calendar else found


def default_zone(given: str | None, feed: Feed, project: Pipeline) -> Zone:
    """Return the zone of times that have none."""
    if given is not None:
        return named(read_at("--time-zone", lambda: zone(given)))
    site = project.site
    found = load(feed.zone) or load(site.zone if site else "UTC")
    assert found is not None  # the site's is checked
    return found


def annotations_of(project: Pipeline, kind: str) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    """Yield where each document of a kind is, and its annotations."""
    for source in project.sources:
        if IMPORTED_FROM.encode() in source.text:
            for one in parse(source)[0]:
                if isinstance(one.value, dict) and one.value.get("kind") == kind:
                    metadata = one.value.get("metadata")
                    found = metadata.get("annotations") if isinstance(metadata, dict) else None
                    yield Origin(source.file, one.index), found if isinstance(found, dict) else {}


def not_read(feed: Feed, older: Sequence[Finding]) -> list[EventOutcome]:
    """Return the outcomes of events that count for nothing: those that cannot be read, and older versions."""
    lines = {line for event in feed.events for line in event.lines.values()}
    unread = [
        finding for finding in feed.findings if finding.code == NOT_IMPORTED and finding.line not in lines
    ]
    return [
        EventOutcome(
            finding.line, title_in(finding.path) or NO_TITLE, "not imported", "", finding.message.rstrip(".")
        )
        for finding in (*unread, *older)
    ]


def idle_patterns(feed: Feed, options: ImportOptions) -> list[Finding]:
    """Report the patterns of `--only` and `--skip` that select no event."""
    fix = "Compare it with the titles and categories in the calendar; * stands for any text."
    return [
        FilePlace(feed.file).finding(IDLE_PATTERN, "it selects no event.", fix, pattern.text)
        for pattern in options.events.idle(feed.events)
    ]
