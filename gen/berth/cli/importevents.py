"""`berth import ics`: the events of a calendar as reservations, or as a Calendar."""

from collections.abc import Container, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import click

from berth.cli.command import Settings
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK
from berth.cli.selection import clock_of, require
from berth.cli.writing import checked_import, keep_schema
from berth.dates.moments import named
from berth.dates.zone import DAY, day_of
from berth.edit.create import write_file
from berth.edit.feed import EventOutcome, Feed, read_feed
from berth.edit.feedclosures import CLOSED, import_closed_dates
from berth.edit.feedgroups import GROUPINGS
from berth.edit.feedimport import EventFilter, EventPattern, ImportedFile, ImportOptions
from berth.edit.feedreservations import NEW, UNCHANGED, UPDATED, import_reservations
from berth.edit.seatcounts import seat_count
from berth.findings import in_order
from berth.notation.refusal import CommandError, nearest, read_at, shown
from berth.notation.zones import zone_at
from berth.output.answers import document
from berth.output.columns import Column, Table, as_json
from berth.output.table import Fit
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema import grammar

_MOST_ROWS = 20
_USED = (NEW, UPDATED, UNCHANGED, CLOSED)


def import_events(settings: Settings, pipeline: Pipeline, source: Source, given: Mapping[str, Any]) -> int:
    """Write what the events of a file become, or report why not; `given` are the values of the options."""
    calendar, resource_class = given["calendar"], given["resource_class"]
    if (calendar is None) == (resource_class is None):
        raise click.UsageError("Give --class NAME for reservations, or --calendar NAME for a Calendar.")
    for option in ("seats", "group") if calendar is not None else ():
        if given[option]:
            raise click.UsageError(f"--{option} does not go with --calendar.")
    require(pipeline, (), resource_class)
    options = _options(settings, pipeline, source, given)
    site = pipeline.site
    zone_name = options.zone or (site.zone if site else "UTC")
    feed = read_feed(source)
    if calendar is not None:
        name = read_at("--calendar", partial(grammar.dns_label, calendar))
        files = import_closed_dates(feed, pipeline, name, options, named(zone_name))
    else:
        files = import_reservations(feed, pipeline, options, named(zone_name))
    return _finish(settings, pipeline, feed, files, options.now)


def _options(
    settings: Settings, pipeline: Pipeline, source: Source, given: Mapping[str, Any]
) -> ImportOptions:
    clock = clock_of(settings, pipeline)
    first, last = clock.dates(given["first"], given["last"])
    group, feed = given["group"] or "", given["feed"]
    if group and group not in GROUPINGS:
        raise CommandError(f"--group {shown(group)}: {nearest(group, GROUPINGS, 'Write one of')}")
    if feed is None and source.file == "stdin":
        raise CommandError("Give --feed NAME, a name by which the next import recognizes the calendar.")
    name = PurePosixPath(source.file).name if feed is None else feed.strip()
    if not name or not name.isprintable():
        message = "write a name for the calendar, of characters that can be shown"
        raise CommandError(f"--feed: {message}" if feed is not None else f"Give --feed NAME: {message}")
    return ImportOptions(
        resource_class=given["resource_class"] or "",
        seats=None if given["seats"] is None else read_at("--seats", lambda: seat_count(given["seats"])),
        zone=read_at("--time-zone", partial(zone_at, given["time_zone"])) if given["time_zone"] else None,
        first=None if first is None else date.fromisoformat(first),
        last=None if last is None else date.fromisoformat(last),
        now=clock.now,
        today=day_of(clock.today * DAY),
        feed=name,
        is_feed_given=feed is not None,
        events=EventFilter(
            *(tuple(EventPattern.read(f"--{key}", text) for text in given[key]) for key in ("only", "skip"))
        ),
        group=group,
    )


def _finish(
    settings: Settings, pipeline: Pipeline, feed: Feed, files: Sequence[ImportedFile], now: int
) -> int:
    """Write the files unless the project would have errors then, and say what became of each event."""
    names = {written.file: written.event for written in files}
    after = checked_import(
        settings,
        pipeline,
        {written.file: written.text for written in files},
        lambda one: one._replace(file=f"{feed.file}, {names[one.file]}", line=0, column=0),
        findings=in_order(feed.findings),
        now=now,
    )
    for written in files:
        write_file(written.file, written.text, written.before)
    outcomes = sorted(feed.outcomes)
    settings.answer(
        lambda: document("ImportedEventList", {"items": as_json(_COLUMNS, outcomes)}),
        lambda: _table(settings, outcomes) + _unused_calendars(after, names),
    )
    keep_schema()
    return EXIT_OK if any(outcome.result in _USED for outcome in outcomes) else EXIT_BAD_INPUT


def _unused_calendars(pipeline: Pipeline, files: Container[str]) -> str:
    """Return what to write for the calendars in these files that nobody follows."""
    named_calendars = {name for one in pipeline.declared.reservations for name in one.recurrence.calendars}
    return "".join(
        f"Next: no reservation follows {calendar.name} yet. Write calendars: [{calendar.name}] in the Site "
        "for all, or in the recurrence of each that it holds for.\n"
        for calendar in pipeline.declared.calendars.values()
        if calendar.origin.file in files
        and not (calendar.is_site_wide or calendar.closes or calendar.name in named_calendars)
    )


_COLUMNS: tuple[Column[EventOutcome], ...] = (
    Column("event", "event", lambda outcome: outcome.event),
    Column("result", "result", lambda outcome: outcome.result),
    Column("file", "file", lambda outcome: outcome.file or None),
    Column("why", "reason", lambda outcome: outcome.reason),
    Column("", "line", lambda outcome: outcome.line or None),
)


def _table(settings: Settings, outcomes: Sequence[EventOutcome]) -> str:
    """Return a table of what became of events; of very many, those that are left out come first."""
    if not outcomes:
        return "There is no event to import.\n"
    rows, rest = list(outcomes), 0
    if len(rows) >= _MOST_ROWS:
        rows = sorted(rows, key=lambda outcome: outcome.result in _USED)[: _MOST_ROWS - 2]
        rest = len(outcomes) - len(rows)
    text = Table.of(_COLUMNS, rows).written("text", Fit(settings.columns, breaks=("why",)))
    return text + (f"{rest} more; -o json shows all.\n" if rest else "")
