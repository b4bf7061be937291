"""`berth list` and `berth occurrences`: the reservations, and every dated occurrence of them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.checks.project import Item, Part
from berth.cli.command import Settings, command
from berth.cli.console import EXIT_OK
from berth.cli.selection import (
    Selection,
    class_option,
    cluster_option,
    items_of,
    names_argument,
    opened,
    published,
    selected,
    since_option,
    until_option,
    week_option,
)
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence, Skipped
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
from berth.dates.zone import Zone
from berth.manifests.placed import used_behaviors
from berth.output.answers import (
    Answer,
    count_columns,
    document,
    hours_json,
    instant_column,
    instant_json,
    owner_column,
    seats_text,
)
from berth.output.columns import Column, Table, as_json
from berth.output.recurrencewords import recurrence_json, recurrence_text
from berth.output.table import Fit
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Persistence, Unit
from berth.schema.values import Site

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
    is_shared: bool = False  # others hold the same number

    @property
    def unit(self) -> Unit:
        return self.reservation.holder.unit

    @property
    def persistence(self) -> Persistence | None:
        """Return None for a reservation with windows."""
        return self.reservation.holder.persistence


@command(
    "text wide json yaml csv markdown",
    name="list",
    examples=("berth list", "berth list --week", "berth list --class small -o wide"),
)
@week_option
@class_option()
@cluster_option
def list_(settings: Settings, **options: Any) -> int:
    """List the reservations: seats, seat-hours, next opening.

    With --week, only what they have in that week.
    """
    pipeline, clock = opened(settings)
    selection = selected(clock, pipeline, **options)
    rows: list[_Summary] = []
    for item in items_of(settings, pipeline):
        parts = [part for part in item.parts if selection.classes(part)]
        summaries = [_summary(item, part, selection, clock.now) for part in parts]
        is_shown = selection.since is None or bool(_persistent(item, selection))
        rows += [row for row in summaries if is_shown or row.occurrences]
    code = settings.report(pipeline.findings())
    if code == EXIT_OK:
        settings.answer(
            lambda: document("ReservationList", {"items": as_json(_COLUMNS, rows)}),
            lambda: _summaries(rows, settings, clock.now),
        )
    return code


def _summary(item: Item, part: Part, selection: Selection, now: int) -> _Summary:
    reservation, here = item.reservation, selection.classes(part)
    names = [placed.name for placed in part.placed.classes if placed.name in here]
    selected = [occurrence.of_classes(names) for occurrence in part.occurrences]
    occurrences = [one for one in selected if selection.has_time(one.open, one.end)]
    if reservation.holder.persistence is None:
        counts = [pair for one in occurrences for pair in one.seats]
    else:
        counts = [pair for pair in reservation.seats if pair[0] in here]
    most = {name: max((count for other, count in counts if other == name), default=0) for name in names}
    # A later start may open first.
    coming = [one.open for one in occurrences if one.seats and one.open >= now and not reservation.suspend]
    return _Summary(
        reservation,
        part.placed.cluster.name,
        tuple(most.items()),
        occurrences=sum(bool(one.seats) for one in occurrences),
        seat_seconds=sum(one.seat_seconds() for one in occurrences),
        next=min(coming, default=None),
        is_shared=bool(part.placed.peers),
    )


_COLUMNS: tuple[Column[_Summary], ...] = (
    Column("name", "name", lambda row: row.reservation.name),
    Column("title", "title", lambda row: row.reservation.title),
    Column("cluster", "cluster", lambda row: row.cluster),
    *count_columns(lambda row: (row.seats, row.unit)),
    Column("backend", "backend", lambda row: row.reservation.holder.backend),
    Column("target", "target", lambda row: row.reservation.holder.target_text or None, is_optional=True),
    Column("path", "path", lambda row: row.reservation.holder.path_text or None, is_optional=True),
    Column("otherwise", "", lambda row: row.reservation.holder.otherwise_text),
    Column(  # what a number of somebody else is outside of windows
        "",
        "otherwise",
        lambda row: row.reservation.holder.otherwise_count if row.reservation.holder.target_text else None,
        is_optional=True,
    ),
    Column(
        "overlap", "overlap", lambda row: row.reservation.overlap if row.is_shared else None, is_optional=True
    ),
    Column("lead", "", lambda row: _leads(row.reservation)),
    Column("", "leadTimeMinutes", lambda row: None if row.persistence else row.reservation.lead),
    Column(
        "recurrence", "recurrence", lambda row: row.reservation.recurrence, recurrence_text, recurrence_json
    ),
    Column("", "behavior", lambda row: row.reservation.behavior),
    Column("behavior", "", lambda row: ", ".join(used_behaviors(row.reservation))),
    Column("", "occurrences", lambda row: row.occurrences),
    Column("occurrences", "", lambda row: row.occurrences if row.persistence is None else None),
    Column(
        "seat-hours",
        "seatHours",
        lambda row: row.seat_seconds if row.unit.has_seat_hours and row.persistence is None else None,
        hours_text,
        hours_json,
    ),
    instant_column("", "next", lambda row: row.next),
    Column("", "suspend", lambda row: row.reservation.suspend),
    Column(
        "", "standing", lambda row: row.persistence, json=lambda always: {"until": instant_json(always.until)}
    ),
    owner_column(lambda row: row.reservation.owner),
    Column("file", "file", lambda row: row.reservation.origin.file),
    Column("zone", "", lambda row: row.reservation.recurrence.zone),
)


def _leads(reservation: Reservation) -> str | None:
    """Return the leads of a reservation, the longest first; None without windows."""
    if reservation.holder.persistence is not None:
        return None
    lines = reservation.recurrence.lines
    leads = {scaling.lead for line in lines for scaling in reservation.scaling_of(line)}
    return ", ".join(f"{lead} min" for lead in sorted(leads or {reservation.lead}, reverse=True))


_NARROW = ("name", "cluster", "seats", "occurrences", "seat-hours", "next opening")
_UNUSUAL = ("target", "path", "otherwise", "overlap", "owner")
_WIDE = (*_NARROW, "recurrence", "lead", "behavior", "zone", "file", "title", "backend", *_UNUSUAL)


def _summaries(rows: list[_Summary], settings: Settings, now: int) -> str:
    if not rows:
        return "No reservations.\n"
    columns = (*_COLUMNS, Column("next opening", "", lambda row: _opening(row, now)))
    if settings.form == "wide":
        table = Table.of(columns, rows, _WIDE).without_empty(*_UNUSUAL)
        if table.values("backend") == {DEFAULT_HOLDER.backend}:
            table = table.without("backend")
    else:
        table = Table.of(columns, rows, _NARROW)
    return table.written(settings.form, Fit(settings.columns, ("seats",)))


def _opening(row: _Summary, now: int) -> str:
    zone = named(row.reservation.recurrence.zone)
    if row.reservation.suspend:
        return "suspended"
    persistence = row.persistence
    if persistence is None:
        return "none" if row.next is None else local_text(row.next, zone)
    if persistence.until is None:
        return "always open"
    until = local_text(persistence.until, zone)
    return f"until {until}" if persistence.is_open(now) else f"expired {until}"


class _Row(NamedTuple):
    """One occurrence in one cluster, with the selected seats."""

    occurrence: Occurrence  # with the selected classes
    cluster: str
    reservation: Reservation

    @property
    def zone(self) -> Zone:
        return named(self.occurrence.zone)

    @property
    def day(self) -> int:
        return local_day(self.occurrence.start, self.zone)


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


@command(
    "text wide json yaml csv markdown ics",
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
@since_option("First date; default: today, but all dates with -o ics or an --until that is past.")
@until_option
@week_option
@class_option()
@cluster_option
def occurrences(settings: Settings, **options: Any) -> int:
    """List every dated occurrence, in local time and UTC.

    With NAMEs, only of these reservations; write them before --week. -o ics leaves out rehearsals.
    """
    pipeline, clock = opened(settings)
    selection = selected(clock, pipeline, **options)
    has_past = (selection.since, selection.at) != (None, None) or settings.form == "ics"
    begins_today = not has_past and (selection.until is None or selection.until > clock.midnight)
    if begins_today:
        selection = selection._replace(since=clock.midnight)
    listed, days = _listed(items_of(settings, pipeline), selection)
    site = settings.valid_site(pipeline)
    nothing = _NONE_COMING if begins_today else _NONE
    if selection.at is not None and (day := local_day(selection.at, clock.zone)) not in days:
        nothing = f"No occurrences: {no_date_text(day, day, days)}.\n"
    settings.answer(
        lambda: _occurrences_answer(listed),
        lambda: (
            _calendar(listed, site, published(settings, pipeline))
            if settings.form == "ics"
            else _tables(listed, settings, nothing, site.zone)
        ),
    )
    return EXIT_OK


def _listed(items: Iterable[Item], selection: Selection) -> tuple[_Listed, set[int]]:
    """Return what is selected and, for --at, the local days on which something starts at any time."""
    listed, days = _Listed([], [], []), set[int]()
    every = selection._replace(at=None, since=None, until=None)
    for item in items:
        name, zone = item.reservation.name, named(item.reservation.recurrence.zone)
        if selection.names and name not in selection.names:
            continue
        listed.rows.extend(_rows(item, selection))
        if any(selection.classes(part) for part in item.parts):
            dates = item.expansion.skipped
            listed.skipped.extend(
                (name, date) for date in dates if selection.has_time(*day_span(date.date, zone))
            )
        listed.persistent.extend(_persistent(item, selection))
        if selection.at is not None:
            days |= {row.day for row in _rows(item, every)}
    listed.rows.sort(
        key=lambda row: (row.occurrence.start, row.occurrence.reservation, row.occurrence.id, row.cluster)
    )
    return listed, days


def _rows(item: Item, selection: Selection) -> list[_Row]:
    rows = []
    for part in item.parts:
        here = selection.classes(part)
        for occurrence in part.occurrences:
            selected = occurrence.of_classes(here)
            if selected.seats and selection.has_time(selected.open, selected.end):
                rows.append(_Row(selected, part.placed.cluster.name, item.reservation))
    return rows


def _persistent(item: Item, selection: Selection) -> list[_Persistent]:
    """Return what is open without windows in the selected time, one for each cluster."""
    persistence = item.reservation.holder.persistence
    if persistence is None:
        return []
    if not selection.has_time(0, _END_OF_TIME if persistence.until is None else persistence.until):
        return []
    rows = []
    for part in item.parts:
        here = selection.classes(part)
        seats = tuple(pair for pair in item.reservation.seats if pair[0] in here)
        if seats:
            rows.append(_Persistent(item.reservation, part.placed.cluster.name, seats, persistence.until))
    return rows


def _opens_json(occurrence: Occurrence) -> dict[str, str] | None:
    """Return when each class opens, where they do not open together."""
    opens = occurrence.opens_by_class()
    if len({*opens.values()}) < 2:
        return None
    return {name: instant_text(instant) for name, instant in opens.items()}


_OCCURRENCE: tuple[Column[_Row], ...] = (
    Column("reservation", "reservation", lambda row: row.occurrence.reservation),
    Column("", "id", lambda row: row.occurrence.id),
    Column("local time", "", lambda row: span_text(row.occurrence.start, row.occurrence.end, row.zone)),
    Column("name", "", lambda row: row.occurrence.name),
    Column("cluster", "cluster", lambda row: row.cluster),
    *count_columns(lambda row: (row.occurrence.seats, row.reservation.holder.unit)),
    instant_column("open (UTC)", "open", lambda row: row.occurrence.open),
    Column("", "opens", lambda row: _opens_json(row.occurrence), is_optional=True),
    instant_column("start", "start", lambda row: row.occurrence.start),
    instant_column("end", "end", lambda row: row.occurrence.end),
    Column("opens UTC", "", lambda row: near_text(row.occurrence.open, named("UTC"), row.day)),
    Column(
        "UTC",
        "",
        lambda row: near_span_text(row.occurrence.start, row.occurrence.end, named("UTC"), row.day),
    ),
    Column("zone", "timeZone", lambda row: row.occurrence.zone),
    Column("marks", "marks", lambda row: row.occurrence.marks, " ".join),
)
_TIMES = ("reservation", "local time", "name", "zone")
_BRIEF = (*_TIMES, "opens UTC", "UTC", "seats", "cluster", "marks")
_FULL = (*_TIMES, "open (UTC)", "start", "end", "seats", "cluster", "marks")
_SKIPPED: tuple[Column[tuple[str, Skipped]], ...] = (
    Column("skipped", "reservation", lambda row: row[0]),
    Column("", "id", lambda row: row[1].id),
    Column("local time", "", lambda row: row[1].id.rpartition("/")[2].replace("T", " ").replace("~", " ")),
    Column("", "date", lambda row: row[1].date),
    Column("reason", "reason", lambda row: row[1].reason),
)
_STANDING: tuple[Column[_Persistent], ...] = (
    Column("without windows", "reservation", lambda row: row.reservation.name),
    Column(
        "open",
        "",
        lambda row: row.until and local_text(row.until, named(row.reservation.recurrence.zone)),
        "until {}".format,
        none="always",
    ),
    Column("", "cluster", lambda row: row.cluster),
    Column("seats", "seats", lambda row: row.seats, seats_text, dict),
    Column("cluster", "", lambda row: row.cluster),
    instant_column("", "until", lambda row: row.until),
)


def _occurrences_answer(listed: _Listed) -> Answer:
    content = {
        "items": as_json(_OCCURRENCE, listed.rows),
        "skipped": as_json(_SKIPPED, listed.skipped),
        "standing": as_json(_STANDING, listed.persistent),
    }
    return document("OccurrenceList", content)


def _tables(listed: _Listed, settings: Settings, nothing: str, site_zone: str) -> str:
    """Return what there is as tables; `nothing` says that there are no rows."""
    fit = Fit(settings.columns, ("seats", "reason"))
    tables = (
        _dates(listed.rows, settings.form, site_zone),
        Table.of(_SKIPPED, listed.skipped),
        Table.of(_STANDING, listed.persistent),
    )
    parts = [table.written(settings.form, fit) for table in tables if table.rows]
    return "\n".join(parts if listed.rows else [nothing, *parts])


def _dates(rows: list[_Row], form: str, site_zone: str) -> Table:
    """Return all cells, or for terminals only what differs from row to row and from the site's zone."""
    if form != "text":
        return Table.of(_OCCURRENCE, rows, _FULL).without_empty("name")
    table = Table.of(_OCCURRENCE, rows, _BRIEF)
    same = [heading for heading in ("name", "cluster") if len(table.values(heading)) == 1]
    return table.without(*same, *(["zone"] if table.values("zone") == {site_zone} else []))


def _calendar(listed: _Listed, site: Site, stamp: int) -> str:
    """Return an iCalendar with one event for each date of a course, and one for what stands.

    Nobody comes to a rehearsal.
    """
    from berth.output.calendarfile import FeedHeader, calendar_bytes  # noqa: PLC0415 - slow, and only for ics
    from berth.webcalendar.events import EventSource, event_order, events_of, feed_name  # noqa: PLC0415

    sources: dict[str, EventSource] = {}

    def source(reservation: Reservation) -> EventSource:
        return sources.setdefault(reservation.name, EventSource.of(reservation, site))

    for row in (row for row in listed.rows if not row.occurrence.rehearses):
        source(row.reservation).occurrences.append((row.cluster, row.occurrence))
    for persistent in listed.persistent:
        source(persistent.reservation).standing.append((persistent.cluster, persistent.seats))
    names = [shown.reservation.title for shown in sources.values()]
    name = names[0] if len(names) == 1 else feed_name(site)
    events = [event for shown in sources.values() for event in events_of(shown)]
    feed = FeedHeader(name, site.name, stamp)
    return calendar_bytes(feed, sorted(events, key=event_order)).decode()
