"""`berth import ics`: the events of a calendar as reservations, or as a Calendar."""

from collections.abc import Container, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stderr, stdout
from berth.cli.selection import Clock, clock_of, require_class
from berth.cli.writing import keep_schema
from berth.edit.calendarfeed import Feed, read_feed
from berth.edit.create import refuse_link, write_file
from berth.edit.eventcalendar import import_closed_dates
from berth.edit.eventfilter import event_filter
from berth.edit.eventgroups import GROUPINGS
from berth.edit.eventimport import PIPE, EventOutcome, ImportedFile, ImportOptions, ImportResult
from berth.edit.eventreservations import import_reservations
from berth.edit.seatcounts import seat_count
from berth.notation.refusal import CommandError, read_at
from berth.output.columns import Column, Table
from berth.output.table import Fit
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.documentproblems import nearest


def import_events(settings: Settings, pipeline: Pipeline, source: Source, given: Mapping[str, Any]) -> int:
    """Write what the events of a file become, or report why not; `given` are the values of the options."""
    calendar, resource_class = given["calendar"], given["resource_class"]
    if (calendar is None) == (resource_class is None):
        raise click.UsageError("Give --class NAME for reservations, or --calendar NAME for a Calendar.")
    for option in ("seats", "group") if calendar is not None else ("terms",):
        if given[option]:
            other = "--calendar" if calendar is not None else "--class"
            raise click.UsageError(f"--{option} does not go with {other}.")
    require_class(resource_class, pipeline)
    options = _options(clock_of(settings, pipeline), given)
    feed = read_feed(source)
    if calendar is not None:
        result = import_closed_dates(
            feed, pipeline, read_at("--calendar", partial(grammar.dns_label, calendar)), options
        )
    else:
        _require_feed(feed, options)
        result = import_reservations(feed, pipeline, options)
    return _finish(settings, pipeline, result, options.now)


def _options(clock: Clock, given: Mapping[str, Any]) -> ImportOptions:
    first, last = (
        None if text is None else clock.date(option, text)
        for option, text in (("--from", given["first"]), ("--until", given["last"]))
    )
    group, feed = given["group"] or "", given["feed"]
    if group and group not in GROUPINGS:
        raise CommandError(f'--group "{group}": {nearest(group, GROUPINGS, "Write one of")}')
    if feed is not None and not feed.strip():
        raise CommandError("--feed has no text. Write a name for the calendar.")
    return ImportOptions(
        resource_class=given["resource_class"] or "",
        seats=None if given["seats"] is None else read_at("--seats", lambda: seat_count(given["seats"])),
        zone=given["time_zone"],
        first=None if first is None else date.fromisoformat(first),
        last=None if last is None else date.fromisoformat(last),
        now=clock.now,
        events=event_filter(given["only"], given["skip"]),
        group=group,
        feed=(feed or "").strip(),
        has_terms=given["terms"],
    )


def _require_feed(feed: Feed, options: ImportOptions) -> None:
    """Refuse a calendar from a pipe that nothing identifies: UIDs are unique within one calendar only."""
    if feed.file == PIPE and not options.feed and not feed.calendar_id and feed.events:
        raise CommandError(
            "Give --feed NAME, a name for the calendar: the next import recognizes its reservations by it."
        )


def _finish(settings: Settings, pipeline: Pipeline, result: ImportResult, now: int) -> int:
    """Write the files unless the project would have errors then, and say what became of each event."""
    places = {written.file: written.event for written in result.files}
    kept = [source for source in pipeline.sources if source.file not in places]
    sources = [Source(written.file, written.text.encode()) for written in result.files]
    after = Pipeline(sources=sorted([*kept, *sources]))
    for _ in after.items(now=now):
        pass
    findings = after.findings()
    problems = [finding for finding in findings if finding.file in places or finding.severity == "error"]
    if exit_code([*result.findings, *problems], strict=settings.strict) != EXIT_OK:
        # The files are not written, so their lines say nothing.
        named = [
            places[finding.file].named(finding) if finding.file in places else finding for finding in problems
        ]
        code = settings.report([*result.findings, *named])
        stderr("Nothing was written.\n")
        return code
    settings.report([*result.findings, *problems])
    for written in result.files:
        refuse_link(written.file)
        if written.before is None and Path(written.file).exists():
            raise CommandError(f"{settings.shown(written.file)}: the file exists; nothing was written")
    for written in result.files:
        write_file(written.file, written.text, written.before)
        stdout(f"{_line(settings, written)}\n")
    stdout(_outcomes(settings, result.outcomes))
    for name in _unused_calendars(after, places):
        stdout(
            f"Next: no reservation follows {name} yet. Write calendars: [{name}] in the Site for all, "
            "or in the recurrence of each that it holds for.\n"
        )
    keep_schema()
    return EXIT_OK


def _unused_calendars(pipeline: Pipeline, files: Container[str]) -> list[str]:
    """Return the calendars with closed dates in these files that nobody follows."""
    named = {name for one in pipeline.declared.reservations for name in one.recurrence.calendars}
    return [
        calendar.name
        for calendar in pipeline.declared.calendars.values()
        if calendar.origin.file in files
        and calendar.dates
        and not (calendar.is_site_wide or calendar.closes or calendar.name in named)
    ]


def _line(settings: Settings, written: ImportedFile) -> str:
    shown = settings.shown(written.file)
    if written.before is not None:
        return f"Updated {shown}: {', '.join(written.changes)}."
    return f"Wrote {shown}: {written.dates} date{'' if written.dates == 1 else 's'}."


_OUTCOME: tuple[Column[EventOutcome], ...] = (
    Column("event", "", lambda outcome: outcome.event),
    Column("result", "", lambda outcome: outcome.result),
    Column("into", "", lambda outcome: outcome.into),
    Column("why", "", lambda outcome: outcome.reason),
)


def _outcomes(settings: Settings, outcomes: Sequence[EventOutcome]) -> str:
    """Return a table of what became of each event, and why."""
    if not outcomes:
        return "There is no event to import.\n"
    fit = Fit(settings.columns, breaks=("why",))
    return Table.of(_OUTCOME, outcomes).written("text", fit)
