"""Feeds for tests: written from short lines, and imported into a small project."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from berth.dates.moments import named
from berth.edit.feed import EventOutcome, read_feed
from berth.edit.feedclosures import import_closed_dates
from berth.edit.feedimport import EventFilter, ImportedFile, ImportOptions
from berth.edit.feedreservations import import_reservations
from berth.findings import Finding, in_order
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.console import ROOT

NOW = 1_767_225_600  # 2026-01-01T00:00:00Z
SITE = Source(
    "reservations/a.yaml",
    b"""\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: a}
spec: {timeZone: Europe/Zurich, clusters: [{name: prod}]}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec: {requests: {cpu: "1"}}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: gpu}
spec: {requests: {cpu: "4"}}
""",
)


class Imported(NamedTuple):
    """What an import writes and says."""

    files: list[ImportedFile]
    findings: list[Finding]
    outcomes: list[EventOutcome]

    @property
    def codes(self) -> list[tuple[str, int]]:
        """Return the code and the line of each finding."""
        return [(finding.code, finding.line) for finding in self.findings]

    @property
    def results(self) -> list[str]:
        """Return what became of each event, in the order of the feed."""
        return [outcome.result for outcome in self.outcomes]

    @property
    def sources(self) -> list[Source]:
        return [Source(file.file, file.text.encode()) for file in self.files]

    @property
    def text(self) -> str:
        """Return the text of the only file."""
        (one,) = self.files
        return one.text


def event(*lines: str, uid: str = "1@example.org", title: str = "Course") -> str:
    """Return a VEVENT; the lines are its dates and what else it has."""
    return "\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{title}", *lines, "END:VEVENT", ""])


def world(name: str, file: str = "") -> Source:
    """Return a calendar in the style of a program; `file`: under another name."""
    path = next(path for path in (ROOT / "tests" / "cases").rglob(name))
    return Source(file or name, path.read_bytes())


def feed(*parts: str, file: str = "team.ics") -> Source:
    """Return the file of a calendar of components."""
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//example//EN\n{''.join(parts)}END:VCALENDAR\n"
    return Source(file, text.replace("\n", "\r\n").encode())


def imported(
    source: Source, *files: Source, site: Source = SITE, calendar: str = "", **options: Any
) -> Imported:
    """Import the events into a project that has these files, too; `options` as of ImportOptions."""
    now = options.setdefault("now", NOW)
    today = datetime.fromtimestamp(now, UTC).date()
    given = ImportOptions("small", 25, None, None, None, now, today, source.file, False, EventFilter(), "")
    chosen = given._replace(**options)
    result = read_feed(source)
    project = Pipeline(sources=sorted([site, *files]))
    assert project.site is not None
    zone = named(chosen.zone or project.site.zone)
    if calendar:
        written = import_closed_dates(result, project, calendar, chosen, zone)
    else:
        written = import_reservations(result, project, chosen, zone)
    return Imported(written, in_order(result.findings), sorted(result.outcomes))


def windows(files: Iterable[Source], site: Source = SITE) -> list[tuple[str, int, int]]:
    """Return the id and the instants of each occurrence of a valid project with these files."""
    project = Pipeline(sources=sorted([site, *files]))
    found = [
        (occurrence.id, occurrence.start, occurrence.end)
        for item in project.items()
        for occurrence in item.expansion.occurrences
    ]
    assert [finding for finding in project.findings() if finding.severity == "error"] == []
    return found


def starts(found: Imported) -> list[str]:
    """Return the month, day and time in UTC at which each occurrence starts."""
    return [moment(start) for _, start, _ in windows(found.sources)]


def moment(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%m-%d %H:%M")


def seats(files: Iterable[Source]) -> dict[str, dict[str, int]]:
    """Return the seats of each reservation by class."""
    project = Pipeline(sources=sorted([SITE, *files]))
    return {reservation.name: dict(reservation.seats) for reservation in project.declared.reservations}


def day(text: str) -> date:
    return date.fromisoformat(text)
