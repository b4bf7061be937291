"""What imports of events share: options, results, and what earlier imports left in files."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from berth.dates.zone import Zone, load
from berth.edit.calendarfeed import Feed
from berth.edit.roundtrip import EditError
from berth.findings import Finding
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.schema.metadata import IMPORTED_FROM
from berth.schema.report import Origin


class ImportOptions(NamedTuple):
    """What the command line says. `zone`: of times without one; None: the calendar's or the site's."""

    resource_class: str
    seats: int | None
    zone: str | None
    first: date | None
    last: date | None
    now: int


class ImportedFile(NamedTuple):
    """A file to write. `changes`: what is new in a file that exists; empty for a new one."""

    file: str
    text: str
    before: bytes | None
    changes: tuple[str, ...]
    dates: int


class ImportResult(NamedTuple):
    """What an import writes. With an error among the findings, nothing is to be written."""

    files: tuple[ImportedFile, ...]
    unchanged: int
    over: int  # events that are over, or outside of the limits
    findings: tuple[Finding, ...]


def default_zone(given: str | None, feed: Feed, project: Pipeline) -> Zone:
    """Return the zone of times that have none."""
    if given is not None:
        found = load(given)
        if found is None:
            raise EditError(f'no time zone named "{given}"')
        return found
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
