"""Feeds for tests: written from short lines, and imported into a small project."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from berth.edit.calendarfeed import read_feed
from berth.edit.eventimport import ImportOptions, ImportResult
from berth.edit.eventreservations import import_reservations
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
""",
)


def event(*lines: str, uid: str = "1@example.org", title: str = "Course") -> str:
    """Return a VEVENT; the lines are its dates and what else it has."""
    return "\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{title}", *lines, "END:VEVENT", ""])


def world(name: str, file: str = "") -> Source:
    """Return a calendar in the style of a program; `file`: under another name."""
    return Source(file or name, (ROOT / "tests" / "cases" / "world" / name).read_bytes())


def feed(*parts: str, name: str = "Team", file: str = "team.ics") -> Source:
    """Return the file of a calendar of components."""
    head = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//example//EN\nX-WR-CALNAME:{name}\n"
    text = f"{head}{''.join(parts)}END:VCALENDAR\n"
    return Source(file, text.replace("\n", "\r\n").encode())


def imported(source: Source, *files: Source, **options: Any) -> ImportResult:
    """Import the events into a project that has these files, too; `options` as of ImportOptions."""
    chosen = ImportOptions("small", 25, None, None, None, 0)._replace(**options)
    return import_reservations(read_feed(source), Pipeline(sources=sorted([SITE, *files])), chosen)


def written(result: ImportResult) -> list[Source]:
    return [Source(file.file, file.text.encode()) for file in result.files]


def windows(files: Iterable[Source]) -> list[tuple[str, int, int]]:
    """Return the id and the instants of each occurrence of a valid project with these files."""
    project = Pipeline(sources=sorted([SITE, *files]))
    found = [
        (occurrence.id, occurrence.start, occurrence.end)
        for item in project.items()
        for occurrence in item.expansion.occurrences
    ]
    assert [finding for finding in project.findings() if finding.severity == "error"] == []
    return found


def starts(files: Iterable[Source]) -> list[str]:
    """Return the month, day and time in UTC at which each occurrence starts."""
    return [datetime.fromtimestamp(start, UTC).strftime("%m-%d %H:%M") for _, start, _ in windows(files)]


def text_of(result: ImportResult) -> str:
    """Return the text of the only file."""
    (one,) = result.files
    return one.text


def results(result: ImportResult) -> list[str]:
    """Return what became of each event, in the order of the feed."""
    return [outcome.result for outcome in result.outcomes]


def seats(files: Iterable[Source]) -> dict[str, dict[str, int]]:
    """Return the seats of each reservation by class."""
    project = Pipeline(sources=sorted([SITE, *files]))
    return {reservation.name: dict(reservation.seats) for reservation in project.declared.reservations}


def codes(result: ImportResult) -> list[tuple[str, int]]:
    """Return the code and the line of each finding."""
    return [(finding.code, finding.line) for finding in result.findings]
