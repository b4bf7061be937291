"""`berth import ics`: the events of a calendar as reservations, or as a Calendar."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import click

from berth.cli.command import CommandError, Settings
from berth.cli.console import EXIT_OK, stderr, stdout
from berth.cli.edit import keep_schema
from berth.cli.selection import Clock, clock_of, require_class
from berth.edit.calendarfeed import read_feed
from berth.edit.create import write_file
from berth.edit.eventcalendar import import_closed_dates
from berth.edit.eventimport import ImportedFile, ImportOptions, ImportResult
from berth.edit.eventreservations import import_reservations
from berth.edit.roundtrip import EditError
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema import grammar
from berth.schema.report import Refusal


def import_events(
    settings: Settings, pipeline: Pipeline, source: Source, given: Mapping[str, str | None]
) -> int:
    """Write what the events of a file become, or report why not; `given` are the values of the options."""
    calendar, resource_class = given["calendar"], given["resource_class"]
    if (calendar is None) == (resource_class is None):
        raise click.UsageError("Give --class NAME for reservations, or --calendar NAME for a Calendar.")
    if calendar is not None and given["seats"] is not None:
        raise click.UsageError("--seats does not go with --calendar.")
    require_class(resource_class, pipeline)
    options = _options(clock_of(settings, pipeline), given)
    feed = read_feed(source)
    if calendar is not None:
        result = import_closed_dates(feed, pipeline, _name(calendar), options)
    else:
        result = import_reservations(feed, pipeline, options)
    return _finish(settings, pipeline, result, options.now)


def _options(clock: Clock, given: Mapping[str, str | None]) -> ImportOptions:
    seats = given["seats"]
    if seats is not None and not (seats.isascii() and seats.isdigit() and int(seats[:9]) > 0):
        raise CommandError(f'--seats "{seats}" is not a number from 1 up.')
    first, last = (
        None if text is None else clock.date(option, text)
        for option, text in (("--from", given["first"]), ("--until", given["last"]))
    )
    return ImportOptions(
        resource_class=given["resource_class"] or "",
        seats=None if seats is None else int(seats[:9]),
        zone=given["time_zone"],
        first=None if first is None else date.fromisoformat(first),
        last=None if last is None else date.fromisoformat(last),
        now=clock.now,
    )


def _name(text: str) -> str:
    try:
        return grammar.dns_label(text)
    except Refusal as refusal:
        raise CommandError(f"--calendar: {refusal.message} {refusal.fix}") from refusal


def _finish(settings: Settings, pipeline: Pipeline, result: ImportResult, now: int) -> int:
    """Write the files unless the project would have errors then, and say what was done."""
    texts = {one.file: one.text for one in result.files}
    kept = [one for one in pipeline.sources if one.file not in texts]
    after = Pipeline(sources=sorted([*kept, *(Source(file, text.encode()) for file, text in texts.items())]))
    for _ in after.items(now=now):
        pass
    found = [one for one in after.findings() if one.file in texts or one.severity == "error"]
    code = settings.report([*result.findings, *found])
    if code != EXIT_OK:
        stderr("Nothing was written.\n")
        return code
    for one in result.files:
        if one.before is None and Path(one.file).exists():
            raise EditError(f"{settings.shown(one.file)}: the file exists; nothing was written")
    for one in result.files:
        write_file(one.file, one.text, one.before)
        stdout(f"{_line(settings, one)}\n")
    stdout(_summary(result))
    keep_schema()
    return EXIT_OK


def _line(settings: Settings, one: ImportedFile) -> str:
    shown = settings.shown(one.file)
    if one.before is not None:
        return f"Updated {shown}: {', '.join(one.changes)}."
    return f"Wrote {shown}: {one.dates} date{'' if one.dates == 1 else 's'}."


def _summary(result: ImportResult) -> str:
    """Return a line about what was not written; empty if it was everything."""
    parts = [
        (result.unchanged, "unchanged"),
        (result.over, "over, or outside of --from and --until"),
    ]
    words = [f"{number} {what}" for number, what in parts if number]
    if not words and not result.files:
        return "There is no event to import.\n"
    return f"Events: {'; '.join(words)}.\n" if words else ""
