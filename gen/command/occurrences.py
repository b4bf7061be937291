"""`berth occurrences`: every dated occurrence, in local time and UTC, with what is special about it."""

import argparse
import sys
from typing import NamedTuple

from gen import report, table
from gen.cli import UsageError
from gen.command.answer import exit_code, form, tell
from gen.dates.moment import named, read, span_text
from gen.dates.occurrence import Occurrence, Skipped
from gen.kind.shape import nearest
from gen.pipeline import Item, Pipeline
from gen.runtime.instant import instant_text


class _Row(NamedTuple):
    """One occurrence in one cluster. Sorts as it is told."""

    start: int
    reservation: str
    id: str
    cluster: str
    seats: tuple[tuple[str, int], ...]
    occurrence: Occurrence


class _Wanted(NamedTuple):
    names: frozenset[str]
    at: int | None
    since: int | None
    until: int | None
    resource_class: str | None
    cluster: str | None

    def time(self, item: Occurrence) -> bool:
        """Open at the instant; overlapping [since, until)."""
        return (
            (self.at is None or item.open <= self.at < item.end)
            and (self.since is None or item.end > self.since)
            and (self.until is None or item.open < self.until)
        )


def run(asked: argparse.Namespace) -> int:
    wanted_form = form(asked, "text", "json", "markdown")
    pipeline = Pipeline()
    wanted = _wanted(asked, pipeline)
    rows: list[_Row] = []
    skipped: list[tuple[str, Skipped]] = []
    for item in pipeline.items():
        if not wanted.names or item.reservation.name in wanted.names:
            rows += _rows(item, wanted)
            skipped += [(item.reservation.name, one) for one in item.expansion.skipped]
    findings = pipeline.findings()
    tell(findings, asked)
    rows.sort(key=lambda row: row[:4])
    if wanted_form == "json":
        sys.stdout.write(_json(rows, skipped))
    else:
        sys.stdout.write(_table(rows, skipped, wanted_form))
    return exit_code(findings, asked)


def _wanted(asked: argparse.Namespace, pipeline: Pipeline) -> _Wanted:
    known = tuple(one.name for one in pipeline.declared.reservations)
    for name in asked.names:
        if name not in known and name not in pipeline.declared.mentioned["CapacityReservation"]:
            raise UsageError(f'No reservation is named "{name}". {nearest(name, known, "There are")}')
    at, since, until = (
        instant_argument(getattr(asked, key), flag, pipeline)
        for key, flag in (("at", "--at"), ("since", "--from"), ("until", "--until"))
    )
    return _Wanted(frozenset(asked.names), at, since, until, *selection(asked, pipeline))


def selection(asked: argparse.Namespace, pipeline: Pipeline) -> tuple[str | None, str | None]:
    """The class and the cluster that were asked for; both must exist."""
    classes = tuple(sorted(pipeline.declared.classes))
    clusters = tuple(one.name for one in pipeline.site.clusters) if pipeline.site else ()
    for what, value, known in (
        ("class", asked.resource_class, classes),
        ("cluster", asked.cluster, clusters),
    ):
        if value is not None and known and value not in known:
            raise UsageError(f'No {what} is named "{value}". {nearest(value, known, "There are")}')
    return asked.resource_class, asked.cluster


def instant_argument(text: str | None, flag: str, pipeline: Pipeline) -> int | None:
    if text is None:
        return None
    found = read(text, named(pipeline.site.zone if pipeline.site else "UTC"))
    if found is None:
        raise UsageError(f'{flag}: "{text}" is no instant. Write 2026-02-02T08:00:00Z, or 2026-02-02 09:00.')
    return found


def _rows(item: Item, wanted: _Wanted) -> list[_Row]:
    rows = []
    for part in item.parts:
        cluster = part.placed.cluster.name
        if wanted.cluster not in (None, cluster):
            continue
        here = {one.name for one in part.placed.classes if wanted.resource_class in (None, one.name)}
        for found in part.occurrences:
            seats = tuple(pair for pair in found.seats if pair[0] in here)
            if seats and wanted.time(found):
                rows.append(_Row(found.start, found.reservation, found.id, cluster, seats, found))
    return rows


def _json(rows: list[_Row], skipped: list[tuple[str, Skipped]]) -> str:
    items = [
        {
            "reservation": row.reservation,
            "id": row.id,
            "cluster": row.cluster,
            "seats": dict(row.seats),
            "open": instant_text(row.occurrence.open),
            "start": instant_text(row.start),
            "end": instant_text(row.occurrence.end),
            "timeZone": row.occurrence.zone,
            "marks": row.occurrence.marks,
        }
        for row in rows
    ]
    left_out = [
        {"reservation": name, "id": one.id, "date": one.date, "reason": one.reason} for name, one in skipped
    ]
    return report.document("OccurrenceList", {"items": items, "skipped": left_out})


def _table(rows: list[_Row], skipped: list[tuple[str, Skipped]], wanted: str) -> str:
    headings = (
        "reservation",
        "local time",
        "zone",
        "open (UTC)",
        "start",
        "end",
        "seats",
        "cluster",
        "marks",
    )
    cells = [_cells(row) for row in rows]
    write = table.markdown if wanted == "markdown" else table.text
    answer = write(headings, cells) if rows else "No occurrence.\n"
    if skipped:
        left_out = [(name, one.id.rpartition("/")[2].replace("T", " "), one.reason) for name, one in skipped]
        answer += "\n" + write(("skipped", "local time", "because of"), left_out)
    return answer


def _cells(row: _Row) -> tuple[str, ...]:
    found = row.occurrence
    zone = named(found.zone)
    opens, starts, ends = (
        instant_text(at)[:16].replace("T", " ") for at in (found.open, found.start, found.end)
    )
    return (
        row.reservation,
        span_text(found.start, found.end, zone),
        found.zone,
        opens,
        starts[11:] if starts[:10] == opens[:10] else starts,
        ends[11:] if ends[:10] == opens[:10] else ends,
        seats_text(row.seats),
        row.cluster,
        " ".join(found.marks),
    )


def seats_text(seats: tuple[tuple[str, int], ...]) -> str:
    """`25 small`; several classes with commas."""
    return ", ".join(f"{count} {name}" for name, count in seats)
