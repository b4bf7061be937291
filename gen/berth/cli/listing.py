"""`berth list` and `berth occurrences`: the reservations, and every dated occurrence of them."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import click

from berth.cli.command import CommandError, Settings, command
from berth.cli.console import EXIT_OK
from berth.cli.selection import (
    class_option,
    clock_of,
    cluster_option,
    names_argument,
    published,
    require_class,
    require_cluster,
    require_reservations,
    week_option,
)
from berth.core.jsonvalues import instant_text
from berth.dates.moments import (
    day_span,
    hours_text,
    local_day,
    local_text,
    named,
    near_span_text,
    near_text,
    no_date_text,
    span_text,
)
from berth.dates.occurrence import Occurrence, Skipped
from berth.dates.zone import Zone
from berth.manifests.placed import behaviors_by_class
from berth.output import report, table
from berth.output.report import hours_json, seats_text
from berth.output.table import Fit
from berth.pipeline import Item, Part, Pipeline
from berth.schema.holders import Persistence, Replicas, Unit
from berth.schema.values import Reservation, Site

_NONE = "No occurrences.\n"
_NONE_COMING = "No occurrences from today on; --from DATE shows earlier ones.\n"
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
    "yaml",
    "csv",
    "markdown",
    name="list",
    examples=("berth list", "berth list --week", "berth list --class small -o wide"),
)
@week_option
@class_option()
@cluster_option
def list_(settings: Settings, week: str | None, resource_class: str | None, cluster: str | None) -> int:
    """List the reservations: seats, seat-hours, next opening.

    With --week, only what they have in that week.
    """
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    since, until = (None, None) if week is None else clock.week(week)
    selection = _Selection(
        frozenset(),
        None,
        since,
        until,
        require_class(resource_class, pipeline),
        require_cluster(cluster, pipeline),
    )
    rows: list[_Summary] = []
    for item in settings.progress(pipeline.items(), len(pipeline.declared.reservations)):
        found = [_summary(item, part, selection, clock.now) for part in item.parts if selection.classes(part)]
        rows += [one for one in found if week is None or one.occurrences or _persistent(item, selection)]
    code = settings.report(pipeline.findings())
    if code == EXIT_OK:
        settings.answer(lambda: _summaries_answer(rows), lambda: _summaries(rows, settings, clock.now))
    return code


def _summary(item: Item, part: Part, selection: "_Selection", now: int) -> _Summary:
    here = selection.classes(part)
    names = [one.name for one in part.placed.classes if one.name in here]
    most = dict.fromkeys(names, 0)
    seat_seconds, number = 0, 0
    coming: int | None = None
    selected = (one.of_classes(names) for one in part.occurrences)
    for found in (one for one in selected if selection.has_time(one.open, one.end)):
        seat_seconds += found.seat_seconds(item.reservation.profile)
        for name, count in found.seats:
            most[name] = max(most[name], count)
        if found.seats:
            number += 1
            if found.open >= now and (coming is None or found.open < coming):  # a later start may open first
                coming = found.open
    if item.reservation.suspend:
        coming = None
    if item.reservation.holder.persistence is not None:
        most |= {name: count for name, count in item.reservation.seats if name in most}
    cluster = part.placed.cluster.name
    return _Summary(item.reservation, cluster, tuple(most.items()), number, seat_seconds, coming)


def _summaries_answer(rows: list[_Summary]) -> report.Answer:
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
            "owner": report.owner_json(row.reservation.owner),
            "file": row.reservation.origin.file,
        }
        for row in rows
    ]
    return report.document("ReservationList", {"items": items})


def _persistence_json(found: Persistence | None) -> dict[str, str | None] | None:
    """Return None for a reservation with windows."""
    if found is None:
        return None
    return {"until": None if found.until is None else instant_text(found.until)}


def _summaries(rows: list[_Summary], settings: Settings, now: int) -> str:
    if not rows:
        return "No reservations.\n"
    headings = ["name", "cluster", "seats", "occurrences", "seat-hours", "next opening"]
    cells = [_cells(row, now) for row in rows]
    if settings.form == "wide":
        headings += ["behavior", "zone", "file", "title"]
        for cell, row in zip(cells, rows, strict=True):
            one = row.reservation
            behaviors = dict.fromkeys(chain.from_iterable(behaviors_by_class(one).values()))
            cell += [", ".join(behaviors), one.recurrence.zone, one.origin.file, one.title]
        if any(row.reservation.holder.backend != Replicas.backend for row in rows):
            headings.append("backend")
            for cell, row in zip(cells, rows, strict=True):
                cell.append(row.reservation.holder.backend)
        if any(row.reservation.owner for row in rows):
            headings.append("owner")
            for cell, row in zip(cells, rows, strict=True):
                cell.append(row.reservation.owner.text if row.reservation.owner else "")
    if settings.form == "markdown":
        return table.markdown(headings, cells)
    fit = Fit(settings.columns, ("seats",), ("seat-hours", "occurrences", "cluster"), ("name",))
    return table.text(headings, cells, fit)


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
    return f"until {until}" if found.is_open(now) else f"expired {until}"


class _Row(NamedTuple):
    """One occurrence in one cluster, with the selected seats."""

    occurrence: Occurrence  # with the selected classes
    cluster: str
    reservation: Reservation

    @property
    def unit(self) -> Unit:
        return self.reservation.holder.unit

    @property
    def seats(self) -> Seats:
        return self.occurrence.seats

    @property
    def seats_text(self) -> str:
        return seats_text(self.seats, self.unit)


class _Persistent(NamedTuple):
    """A reservation without windows in one cluster; `until` None: for ever."""

    reservation: Reservation
    cluster: str
    seats: Seats
    until: int | None


class _Listed(NamedTuple):
    """What `berth occurrences` shows."""

    rows: list[_Row]  # by their starts
    skipped: list[tuple[str, Skipped]]  # with the name of the reservation
    persistent: list[_Persistent]
    days: set[int]  # local ones on which something starts, whatever time is selected


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
    "yaml",
    "csv",
    "markdown",
    "ics",
    examples=(
        "berth occurrences my-course --from 2026-02-02 --until 2026-03-01",
        "berth occurrences --week",
        "berth occurrences --week +7d",
        "berth occurrences --at '2026-02-02 09:30'",
        "berth occurrences -o ics > courses.ics",
    ),
)
@names_argument
@click.option("--at", metavar="INSTANT", help="Only what is open at this instant.")
@click.option(
    "--from",
    "since",
    metavar="INSTANT",
    help="Only what ends later; default: today, but all dates with -o ics or an --until that is past.",
)
@click.option("--until", metavar="INSTANT", help="Only what opens earlier.")
@week_option
@class_option()
@cluster_option
def occurrences(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    names: tuple[str, ...],
    at: str | None,
    since: str | None,
    until: str | None,
    week: str | None,
    resource_class: str | None,
    cluster: str | None,
) -> int:
    """List every dated occurrence, in local time and UTC.

    With NAMEs, only of these reservations.
    """
    if week is not None and (at, since, until) != (None, None, None):
        raise CommandError("Give --week, or --at, --from and --until.")
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    first, end = clock.instant("--from", since), clock.instant("--until", until)
    if week is not None:
        first, end = clock.week(week)
    has_past = first is not None or at is not None or settings.form == "ics"
    begins_today = not has_past and (end is None or end > clock.midnight)
    selection = _Selection(
        require_reservations(names, pipeline),
        clock.instant("--at", at),
        clock.midnight if begins_today else first,
        end,
        require_class(resource_class, pipeline),
        require_cluster(cluster, pipeline),
    )
    listed = _listed(settings.progress(pipeline.items(), len(pipeline.declared.reservations)), selection)
    code = settings.report(pipeline.findings())
    site = pipeline.site
    if code == EXIT_OK and site is not None:
        nothing = _NONE_COMING if begins_today else _NONE
        if selection.at is not None:
            nothing = _none_at(local_day(selection.at, clock.zone), listed.days)
        settings.answer(
            lambda: _occurrences_answer(listed),
            lambda: (
                _calendar(listed, site, published(settings, pipeline))
                if settings.form == "ics"
                else _tables(listed, settings, nothing, site.zone)
            ),
        )
    return code


def _listed(items: Iterable[Item], selection: _Selection) -> _Listed:
    listed = _Listed([], [], [], set())
    for item in items:
        if not selection.names or item.reservation.name in selection.names:
            listed.rows.extend(_rows(item, selection))
            listed.skipped.extend((item.reservation.name, one) for one in _skipped(item, selection))
            listed.persistent.extend(_persistent(item, selection))
            listed.days.update(_days(item, selection))
    listed.rows.sort(key=_order)
    return listed


def _days(item: Item, selection: _Selection) -> set[int]:
    """Return the local days of selected occurrences at any time, if they are to be compared with one."""
    if selection.at is None:
        return set()
    zone = named(item.reservation.recurrence.zone)
    every = selection._replace(at=None, since=None, until=None)
    return {local_day(row.occurrence.start, zone) for row in _rows(item, every)}


def _none_at(day: int, days: set[int]) -> str:
    """Say that nothing is open at an instant, and where no date is, the nearest ones."""
    return _NONE if day in days else f"No occurrences: {no_date_text(day, day, days)}.\n"


def _order(row: _Row) -> tuple[int, str, str, str]:
    found = row.occurrence
    return found.start, found.reservation, found.id, row.cluster


def _rows(item: Item, selection: _Selection) -> list[_Row]:
    rows = []
    for part in item.parts:
        here = selection.classes(part)
        for found in part.occurrences:
            selected = found.of_classes(here)
            if selected.seats and selection.has_time(selected.open, selected.end):
                rows.append(_Row(selected, part.placed.cluster.name, item.reservation))
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
            rows.append(_Persistent(item.reservation, part.placed.cluster.name, seats, found.until))
    return rows


def _tables(listed: _Listed, settings: Settings, nothing: str, site_zone: str) -> str:
    """Return what there is as tables; `nothing` says that there are no rows."""
    fit = Fit(
        settings.columns,
        ("seats", "reason"),
        ("UTC", "opens UTC", "zone", "cluster"),
        ("reservation", "skipped", "without windows"),
    )

    def write(headings: Sequence[str], cells: table.Rows) -> str:
        if settings.form == "markdown":
            return table.markdown(headings, cells)
        return table.text(headings, cells, fit)

    cells = _brief(listed.rows, site_zone) if settings.form == "text" else _full(listed.rows)
    parts = [write(cells[0], cells[1:]) if listed.rows else nothing]
    if listed.skipped:
        left_out = [(name, _local_text(one), one.reason) for name, one in listed.skipped]
        parts.append(write(("skipped", "local time", "reason"), left_out))
    if listed.persistent:
        cells = [
            [one.reservation.name, _until(one), seats_text(one.seats), one.cluster]
            for one in listed.persistent
        ]
        parts.append(write(("without windows", "open", "seats", "cluster"), cells))
    return "\n".join(parts)


def _local_text(one: Skipped) -> str:
    """Return `2026-02-09 09:00`, and the name of its entry."""
    return one.id.rpartition("/")[2].replace("T", " ").replace("~", " ")


def _until(one: _Persistent) -> str:
    return "always" if one.until is None else f"until {instant_text(one.until)}"


def _occurrences_answer(listed: _Listed) -> report.Answer:
    items = [
        {
            "reservation": row.occurrence.reservation,
            "id": row.occurrence.id,
            "cluster": row.cluster,
            **report.counts_json(row.seats, row.unit),
            "open": instant_text(row.occurrence.open),
            **_opens_json(row.occurrence),
            "start": instant_text(row.occurrence.start),
            "end": instant_text(row.occurrence.end),
            "timeZone": row.occurrence.zone,
            "marks": row.occurrence.marks,
        }
        for row in listed.rows
    ]
    left_out = [
        {"reservation": name, "id": one.id, "date": one.date, "reason": one.reason}
        for name, one in listed.skipped
    ]
    standing = [
        {
            "reservation": one.reservation.name,
            "cluster": one.cluster,
            "seats": dict(one.seats),
            "until": None if one.until is None else instant_text(one.until),
        }
        for one in listed.persistent
    ]
    return report.document("OccurrenceList", {"items": items, "skipped": left_out, "standing": standing})


def _opens_json(found: Occurrence) -> dict[str, dict[str, str]]:
    """Return when each class opens, where they do not open together."""
    opens = found.opens_by_class()
    texts = {name: instant_text(at) for name, at in opens.items()}
    return {"opens": texts} if len({*opens.values()}) > 1 else {}


def _brief(rows: list[_Row], site_zone: str) -> list[list[str]]:
    """Return short cells for terminals: name and cluster only if they differ from row to row.

    The zone is there if it is not the site's everywhere.
    """
    utc = named("UTC")
    lines = [["reservation", "local time", "name", "zone", "opens UTC", "UTC", "seats", "cluster", "marks"]]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        zone = named(found.zone)
        day = local_day(found.start, zone)
        local = span_text(found.start, found.end, zone)
        times = near_text(found.open, utc, day), near_span_text(found.start, found.end, utc, day)
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.name, found.zone, *times, seats, cluster, marks])
    same = [i for i in (2, 7) if len({line[i] for line in lines[1:]}) == 1]
    return _without(lines, [*same, 3] if {line[3] for line in lines[1:]} == {site_zone} else same)


def _without(lines: list[list[str]], columns: Collection[int]) -> list[list[str]]:
    return [[cell for i, cell in enumerate(line) if i not in columns] for line in lines]


def _full(rows: list[_Row]) -> list[list[str]]:
    opens = "open (UTC)"
    lines = [
        ["reservation", "local time", "name", "zone", opens, "start", "end", "seats", "cluster", "marks"]
    ]
    for row in rows:
        found, cluster, seats = row.occurrence, row.cluster, row.seats_text
        local = span_text(found.start, found.end, named(found.zone))
        times = [instant_text(at)[:16].replace("T", " ") for at in (found.open, found.start, found.end)]
        marks = " ".join(found.marks)
        lines.append([found.reservation, local, found.name, found.zone, *times, seats, cluster, marks])
    return lines if any(row.occurrence.name for row in rows) else _without(lines, (2,))


def _calendar(listed: _Listed, site: Site, stamp: int) -> str:
    """Return an iCalendar with one event for each occurrence, and one for what stands."""
    from berth.output.calendar import Feed, calendar_bytes  # noqa: PLC0415 - slow, and only for ics
    from berth.webcalendar.events import EventSource, event_order, events_of, feed_name  # noqa: PLC0415

    sources: dict[str, EventSource] = {}

    def source(reservation: Reservation) -> EventSource:
        return sources.setdefault(reservation.name, EventSource.of(reservation, site))

    for row in listed.rows:
        source(row.reservation).occurrences.append((row.cluster, row.occurrence))
    for one in listed.persistent:
        source(one.reservation).standing.append((one.cluster, one.seats))
    names = [found.reservation.title for found in sources.values()]
    name = names[0] if len(names) == 1 else feed_name(site)
    events = [event for found in sources.values() for event in events_of(found)]
    feed = Feed(name, site.name, stamp)
    return calendar_bytes(feed, sorted(events, key=event_order)).decode()
