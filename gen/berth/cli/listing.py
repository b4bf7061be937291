"""`berth list` and `berth occurrences`: the reservations, and every dated occurrence of them."""

import time
from typing import NamedTuple

import click

from berth.cli.command import Settings, command
from berth.cli.console import EXIT_OK, progress, stdout
from berth.cli.selection import (
    class_option,
    cluster_option,
    instant,
    names_argument,
    require_class,
    require_cluster,
    require_reservations,
)
from berth.core.instants import instant_text
from berth.dates.moments import (
    day_span,
    hours_text,
    local_day,
    local_text,
    named,
    near_span_text,
    near_text,
    span_text,
)
from berth.dates.occurrence import Occurrence, Skipped
from berth.dates.zone import Zone
from berth.output import report, table
from berth.output.report import hours_json, seats_text
from berth.pipeline import Item, Part, Pipeline
from berth.schema.holders import Persistence, Replicas, Unit
from berth.schema.values import Reservation

_END_OF_TIME = 2**40
Seats = tuple[tuple[str, int], ...]


class _Summary(NamedTuple):
    """One reservation in one cluster."""

    reservation: Reservation
    cluster: str
    seats: Seats  # the most of one occurrence, or those of a persistent reservation
    occurrences: int
    seat_seconds: int
    next: int | None  # the instant at which it opens next

    @property
    def unit(self) -> Unit:
        return self.reservation.holder.unit

    @property
    def has_seat_hours(self) -> bool:
        """Whole nodes have none, and a reservation without windows has no end of them."""
        return self.unit.has_seat_hours and self.reservation.holder.persistence is None


@command(
    "text",
    "wide",
    "json",
    "markdown",
    name="list",
    examples=("berth list", "berth list --class small -o wide"),
)
@class_option
@cluster_option
def list_(settings: Settings, resource_class: str | None, cluster: str | None) -> int:
    """List the reservations: seats, seat-hours, next opening."""
    pipeline = Pipeline()
    require_class(resource_class, pipeline)
    require_cluster(cluster, pipeline)
    now = instant("--now", settings.now, pipeline)
    now = int(time.time()) if now is None else now
    rows: list[_Summary] = []
    for item in progress(pipeline.items(), len(pipeline.declared.reservations)):
        rows += [
            _summary(item, part, resource_class, now)
            for part in item.parts
            if cluster in (None, part.placed.cluster.name) and _has_class(part, resource_class)
        ]
    code = settings.report(pipeline.findings())
    if code == EXIT_OK:
        stdout(_summaries_json(rows) if settings.form == "json" else _summaries(rows, settings.form, now))
    return code


def _has_class(part: Part, resource_class: str | None) -> bool:
    return resource_class is None or any(one.name == resource_class for one in part.placed.classes)


def _summary(item: Item, part: Part, resource_class: str | None, now: int) -> _Summary:
    names = [one.name for one in part.placed.classes if resource_class in (None, one.name)]
    most = dict.fromkeys(names, 0)
    seat_seconds, number = 0, 0
    coming: int | None = None
    for found in part.occurrences:
        seats = [(name, count) for name, count in found.seats if name in most]
        for name, count in seats:
            most[name] = max(most[name], count)
            seat_seconds += count * (found.end - found.open)
        if seats:
            number += 1
            if found.open >= now and (coming is None or found.open < coming):  # a later start may open first
                coming = found.open
    if item.reservation.suspend:
        coming = None
    if item.reservation.holder.persistence is not None:
        most |= {name: count for name, count in item.reservation.seats if name in most}
    cluster = part.placed.cluster.name
    return _Summary(item.reservation, cluster, tuple(most.items()), number, seat_seconds, coming)


def _summaries_json(rows: list[_Summary]) -> str:
    items = [
        {
            "name": row.reservation.name,
            "title": row.reservation.title,
            "cluster": row.cluster,
            **report.counts_json(row.seats, row.unit),
            "backend": row.reservation.holder.backend,
            "behavior": row.reservation.behavior,
            "occurrences": row.occurrences,
            "seatHours": hours_json(row.seat_seconds) if row.has_seat_hours else None,
            "next": None if row.next is None else instant_text(row.next),
            "suspend": row.reservation.suspend,
            "standing": _persistence_json(row.reservation.holder.persistence),
        }
        for row in rows
    ]
    return report.document("ReservationList", {"items": items})


def _persistence_json(found: Persistence | None) -> dict[str, str | None] | None:
    """Return None for a reservation with windows."""
    if found is None:
        return None
    return {"until": None if found.until is None else instant_text(found.until)}


def _summaries(rows: list[_Summary], form: str, now: int) -> str:
    if not rows:
        return "No reservations.\n"
    headings = ["name", "cluster", "seats", "occurrences", "seat-hours", "next opening"]
    cells = [_cells(row, now) for row in rows]
    if form == "wide":
        headings += ["behavior", "zone", "title"]
        for cell, row in zip(cells, rows, strict=True):
            one = row.reservation
            cell += [one.behavior, one.recurrence.zone, one.title]
        if any(row.reservation.holder.backend != Replicas.backend for row in rows):
            headings.append("backend")
            for cell, row in zip(cells, rows, strict=True):
                cell.append(row.reservation.holder.backend)
    return table.markdown(headings, cells) if form == "markdown" else table.text(headings, cells)


def _cells(row: _Summary, now: int) -> list[str]:
    zone, persistent = named(row.reservation.recurrence.zone), row.reservation.holder.persistence
    coming = "none" if row.next is None else local_text(row.next, zone)
    if persistent is not None:
        coming = _persistence(persistent, zone, now)
    return [
        row.reservation.name,
        row.cluster,
        seats_text(row.seats, row.unit),
        str(row.occurrences) if persistent is None else "",
        hours_text(row.seat_seconds) if row.has_seat_hours else "",
        "suspended" if row.reservation.suspend else coming,
    ]


def _persistence(found: Persistence, zone: Zone, now: int) -> str:
    if found.until is None:
        return "always open"
    until = local_text(found.until, zone)
    return f"open until {until}" if found.is_open(now) else f"expired {until}"


class _Row(NamedTuple):
    """One occurrence in one cluster, with the selected seats."""

    occurrence: Occurrence
    cluster: str
    seats: Seats
    title: str
    unit: Unit

    @property
    def seats_text(self) -> str:
        return seats_text(self.seats, self.unit)


class _Persistent(NamedTuple):
    """A reservation without windows in one cluster; `until` None: for ever."""

    reservation: str
    cluster: str
    seats: Seats
    until: int | None


class _Selection(NamedTuple):
    names: frozenset[str]
    at: int | None
    since: int | None
    until: int | None
    resource_class: str | None
    cluster: str | None

    def has_time(self, first: int, end: int) -> bool:
        """Whether [first, end) contains the instant and overlaps [since, until)."""
        return (
            (self.at is None or first <= self.at < end)
            and (self.since is None or end > self.since)
            and (self.until is None or first < self.until)
        )

    def classes(self, part: Part) -> frozenset[str]:
        """Return the selected classes of this part."""
        if self.cluster not in (None, part.placed.cluster.name):
            return frozenset()
        names = [one.name for one in part.placed.classes]
        return frozenset(name for name in names if self.resource_class in (None, name))


@command(
    "text",
    "wide",
    "json",
    "markdown",
    "ics",
    examples=(
        "berth occurrences my-course --from 2026-02-02 --until 2026-03-01",
        "berth occurrences --at '2026-02-02 09:30'",
        "berth occurrences -o ics > courses.ics",
    ),
)
@names_argument
@click.option("--at", metavar="INSTANT", help="Only what is open at this instant.")
@click.option("--from", "since", metavar="INSTANT", help="Only what ends later.")
@click.option("--until", metavar="INSTANT", help="Only what opens earlier.")
@class_option
@cluster_option
def occurrences(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    at: str | None,
    since: str | None,
    until: str | None,
    resource_class: str | None,
    cluster: str | None,
) -> int:
    """List every dated occurrence, in local time and UTC.

    With NAMEs, only of these reservations.
    """
    pipeline = Pipeline()
    selection = _Selection(
        require_reservations(names, pipeline),
        instant("--at", at, pipeline),
        instant("--from", since, pipeline),
        instant("--until", until, pipeline),
        require_class(resource_class, pipeline),
        require_cluster(cluster, pipeline),
    )
    rows: list[_Row] = []
    skipped: list[tuple[str, Skipped]] = []
    persistent: list[_Persistent] = []
    for item in progress(pipeline.items(), len(pipeline.declared.reservations)):
        if not selection.names or item.reservation.name in selection.names:
            rows += _rows(item, selection)
            skipped += [(item.reservation.name, one) for one in _skipped(item, selection)]
            persistent += _persistent(item, selection)
    code = settings.report(pipeline.findings())
    if code == EXIT_OK:
        rows.sort(key=_order)
        stdout(_answer(rows, skipped, persistent, settings.form))
    return code


def _order(row: _Row) -> tuple[int, str, str, str]:
    found = row.occurrence
    return found.start, found.reservation, found.id, row.cluster


def _rows(item: Item, selection: _Selection) -> list[_Row]:
    rows = []
    for part in item.parts:
        here = selection.classes(part)
        for found in part.occurrences:
            seats = tuple(pair for pair in found.seats if pair[0] in here)
            if seats and selection.has_time(found.open, found.end):
                cluster, reservation = part.placed.cluster.name, item.reservation
                rows.append(_Row(found, cluster, seats, reservation.title, reservation.holder.unit))
    return rows


def _skipped(item: Item, selection: _Selection) -> list[Skipped]:
    """Return the skipped dates on selected days, of a reservation with selected seats."""
    if not any(selection.classes(part) for part in item.parts):
        return []
    zone = named(item.reservation.recurrence.zone)
    return [one for one in item.expansion.skipped if selection.has_time(*day_span(one.date, zone))]


def _persistent(item: Item, selection: _Selection) -> list[_Persistent]:
    """Return what is open without windows in the selected time, one for each cluster."""
    found = item.reservation.holder.persistence
    if found is None or not selection.has_time(0, _END_OF_TIME if found.until is None else found.until):
        return []
    rows = []
    for part in item.parts:
        here = selection.classes(part)
        seats = tuple(pair for pair in item.reservation.seats if pair[0] in here)
        if seats:
            rows.append(_Persistent(item.reservation.name, part.placed.cluster.name, seats, found.until))
    return rows


def _answer(
    rows: list[_Row], skipped: list[tuple[str, Skipped]], persistent: list[_Persistent], form: str
) -> str:
    if form == "json":
        return _json(rows, skipped, persistent)
    if form == "ics":
        return _calendar(rows)
    write = table.markdown if form == "markdown" else table.text
    cells = _brief(rows) if form == "text" else _full(rows)
    answer = write(cells[0], cells[1:]) if rows else "No occurrences.\n"
    if skipped:
        left_out = [(name, one.id.rpartition("/")[2].replace("T", " "), one.reason) for name, one in skipped]
        answer += "\n" + write(("skipped", "local time", "reason"), left_out)
    if persistent:
        cells = [[one.reservation, _until(one), seats_text(one.seats), one.cluster] for one in persistent]
        answer += "\n" + write(("without windows", "open", "seats", "cluster"), cells)
    return answer


def _until(one: _Persistent) -> str:
    return "always" if one.until is None else f"until {instant_text(one.until)}"


def _json(rows: list[_Row], skipped: list[tuple[str, Skipped]], persistent: list[_Persistent]) -> str:
    items = [
        {
            "reservation": row.occurrence.reservation,
            "id": row.occurrence.id,
            "cluster": row.cluster,
            **report.counts_json(row.seats, row.unit),
            "open": instant_text(row.occurrence.open),
            "start": instant_text(row.occurrence.start),
            "end": instant_text(row.occurrence.end),
            "timeZone": row.occurrence.zone,
            "marks": row.occurrence.marks,
        }
        for row in rows
    ]
    left_out = [
        {"reservation": name, "id": one.id, "date": one.date, "reason": one.reason} for name, one in skipped
    ]
    standing = [
        {
            "reservation": one.reservation,
            "cluster": one.cluster,
            "seats": dict(one.seats),
            "until": None if one.until is None else instant_text(one.until),
        }
        for one in persistent
    ]
    return report.document("OccurrenceList", {"items": items, "skipped": left_out, "standing": standing})


def _brief(rows: list[_Row]) -> list[list[str]]:
    """Return short cells for terminals: zone and cluster only if they differ from row to row."""
    utc = named("UTC")
    lines = [["reservation", "local time", "zone", "opens UTC", "UTC", "seats", "cluster", "marks"]]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        zone = named(found.zone)
        day = local_day(found.start, zone)
        local = span_text(found.start, found.end, zone)
        times = near_text(found.open, utc, day), near_span_text(found.start, found.end, utc, day)
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.zone, *times, seats, cluster, marks])
    same = [i for i in (2, 6) if len({line[i] for line in lines[1:]}) == 1]
    return [[cell for i, cell in enumerate(line) if i not in same] for line in lines]


def _full(rows: list[_Row]) -> list[list[str]]:
    opens = "open (UTC)"
    lines = [["reservation", "local time", "zone", opens, "start", "end", "seats", "cluster", "marks"]]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        local = span_text(found.start, found.end, named(found.zone))
        times = [instant_text(at)[:16].replace("T", " ") for at in (found.open, found.start, found.end)]
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.zone, *times, seats, cluster, marks])
    return lines


def _calendar(rows: list[_Row]) -> str:
    """Return an iCalendar with one event for each occurrence, in the order of the rows."""
    from berth.output.calendar import CalendarEvent, calendar_bytes  # noqa: PLC0415 - slow, and only for ics

    events: dict[str, CalendarEvent] = {}
    for row in rows:
        found = row.occurrence
        line = f"{row.seats_text} in {row.cluster}, from {instant_text(found.open)} on"
        before = events.get(found.id)
        if before is None:
            canceled = "suspended" in found.marks
            events[found.id] = CalendarEvent(found.id, found.start, found.end, row.title, line, canceled)
        else:
            events[found.id] = before._replace(description=f"{before.description}\n{line}")
    return calendar_bytes(events.values()).decode()
