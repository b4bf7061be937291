"""The commands about other formats: `berth import`, `berth schema`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from berth.cli.command import FILE, CommandError, Settings, command
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.edit import keep_schema
from berth.cli.selection import class_option
from berth.edit.create import import_renku, reservation_yaml, write_file
from berth.edit.roundtrip import EditError
from berth.findings import Problem, severity
from berth.pipeline import Pipeline
from berth.reading.source import LIMIT, Source, read_file, unreadable
from berth.schema.describe import json_schema_text

FEED_LIMIT = 16 * LIMIT  # bytes of a calendar: some tens of thousands of events
_FLAGS = {
    "renku": ("time_zone", "suspend"),
    "renku-classes": ("cluster", "namespace", "pools", "file_name"),
    "z2jh": ("cluster", "namespace", "prefix", "release", "file_name"),
    "ics": (
        "resource_class",
        "seats",
        "calendar",
        "terms",
        "first",
        "last",
        "time_zone",
        "only",
        "skip",
        "group",
        "feed",
    ),
}
_NAMES = {
    "resource_class": "--class",
    "first": "--from",
    "last": "--until",
    "pools": "--pool",
    "file_name": "--file",
}


@command(
    name="import",
    examples=(
        "berth import ics courses.ics --class small --seats 25 --until 2026-07-31",
        "berth import ics labs.ics --class small --seats 25 --only 'title:Lab*'",
        "curl https://example.org/holidays.ics | berth import ics - --calendar holidays",
        "berth import renku export.json --time-zone Europe/Zurich --suspend",
        "berth import z2jh values.yaml production.yaml --release hub",
        "berth import z2jh apps/hub/helmrelease.yaml",
        "berth import renku-classes resource-pools.json",
    ),
)
@click.argument("source", metavar="ics|renku|renku-classes|z2jh", type=click.Choice(tuple(_FLAGS)))
@click.argument("files", metavar="FILE...", type=FILE, nargs=-1, required=True)
@class_option("ics: make reservations; of this class where an event names none.")
@click.option("--seats", metavar="NUMBER", help="ics: seats of events whose description has no `seats: 25`.")
@click.option("--calendar", metavar="NAME", help="ics: make a Calendar of all events, such as holidays.")
@click.option("--terms", is_flag=True, help="ics: with --calendar, make terms of events longer than 28 days.")
@click.option("--from", "first", metavar="DATE", help="ics: leave out earlier dates.")
@click.option("--until", "last", metavar="DATE", help="ics: leave out later dates.")
@click.option(
    "--only",
    metavar="PATTERN",
    multiple=True,
    help="ics: import only these events: 'title:Lab*', category:Exam, free or busy; may be repeated.",
)
@click.option("--skip", metavar="PATTERN", multiple=True, help="ics: leave out such events; may be repeated.")
@click.option(
    "--group",
    metavar="WORD",
    help="ics: which events are one reservation: title, uid or none; default: single dates of one title.",
)
@click.option(
    "--feed",
    metavar="NAME",
    help="ics: name by which the calendar is recognized; default: that of FILE.",
)
@click.option(
    "--time-zone", metavar="ZONE", help="renku: write its times in this time zone. ics: of times without one."
)
@click.option("--suspend", is_flag=True, help="renku: suspend the reservations until you remove it.")
@click.option("--cluster", metavar="NAME", help="Classes: their cluster; default: the only one.")
@click.option(
    "--namespace",
    metavar="NAME",
    help="Classes: where sessions run; default: that of the Helm release, jupyterhub or renku.",
)
@click.option("--prefix", metavar="KEYS", help="z2jh: keys that lead to the values: basehub.jupyterhub.")
@click.option("--release", metavar="NAME", help="z2jh: name of the Helm release of the hub.")
@click.option(
    "--pool", "pools", metavar="NAME", multiple=True, help="renku-classes: only this resource pool."
)
@click.option("--file", "file_name", metavar="FILE", help="Classes: the file to write, in reservations/.")
def import_(settings: Settings, source: str, files: tuple[str, ...], **options: Any) -> int:
    """Convert calendars, Renku's exports, or JupyterHub's profiles.

    ics: an iCalendar file. With --class, events become reservations; with --calendar, all become a Calendar.
    Run it again to update them.

    renku: reservations that Renku's API exported. renku-classes: its resource pools, from GET
    /api/data/resource_pools; each class becomes a resource class.

    z2jh: the profiles in the values of the Zero to JupyterHub chart; each becomes a resource class. FILE is a
    file of values, a HelmRelease of Flux or an Application of Argo CD. Later files win, as in Helm.

    FILE is not changed. If it is in reservations/, remove it afterwards. With -, stdin is read.
    """
    for name, value in options.items():
        if value and name not in _FLAGS[source]:
            flag = _NAMES.get(name, f"--{name.replace('_', '-')}")
            raise click.UsageError(f"{flag} does not go with {source}.")
    if len(files) > 1 and source != "z2jh":
        raise click.UsageError(f"{source} takes one FILE.")
    pipeline = Pipeline()
    sources: list[Source] = []
    for file in files:
        found = _source(settings, file, LIMIT if source != "ics" else FEED_LIMIT)
        if isinstance(found, Problem):
            return settings.report(pipeline.located([found], severity))
        sources.append(found)
    try:
        return _import(settings, pipeline, source, sources, options)
    except EditError as error:
        raise CommandError.of(error) from error


def _import(
    settings: Settings, pipeline: Pipeline, source: str, sources: list[Source], options: Mapping[str, Any]
) -> int:
    given = {name: options[name] for name in _FLAGS[source]}
    if source == "ics":
        from berth.cli.importevents import import_events  # noqa: PLC0415 - it loads icalendar

        return import_events(settings, pipeline, sources[0], given)
    if source == "renku":
        return _import_reservations(
            settings, pipeline, sources[0], given["time_zone"], suspend=given["suspend"]
        )
    from berth.cli.importclasses import import_classes_of_renku, import_hub  # noqa: PLC0415 - it loads models

    if source == "z2jh":
        return import_hub(settings, pipeline, sources, given)
    return import_classes_of_renku(settings, pipeline, sources[0], given)


def _source(settings: Settings, file: str, limit: int) -> Source | Problem:
    """Return a file, or stdin for `-`."""
    if file != "-":
        try:
            return read_file(settings.given(file), limit)
        except OSError as error:
            return unreadable(settings.given(file), error)
    return Source("stdin", b"" if sys.stdin is None else sys.stdin.buffer.read())


def _import_reservations(
    settings: Settings, pipeline: Pipeline, source: Source, time_zone: str | None, *, suspend: bool
) -> int:
    path = source.file
    try:
        found = import_renku(source, pipeline, time_zone)
    except EditError as error:
        raise EditError(f"{settings.shown(path)}: {error}") from error
    if found.findings:
        settings.report(found.findings)
        return EXIT_BAD_INPUT
    reservations = [
        one._replace(spec=one.spec.model_copy(update={"suspend": suspend})) for one in found.reservations
    ]
    texts = {f"reservations/{one.name}.yaml": reservation_yaml(one) for one in reservations}
    code = _write(settings, pipeline, texts, path)
    if code == EXIT_OK and any(one.file == path for one in pipeline.sources):
        stdout(f"Remove {settings.shown(path)}: the new files replace it.\n")
    return code


def _write(settings: Settings, pipeline: Pipeline, texts: dict[str, str], file: str) -> int:
    kept = [one for one in pipeline.sources if one.file != file and one.file not in texts]
    sources = [*kept, *(Source(name, text.encode()) for name, text in texts.items())]
    after = Pipeline(sources=sorted(sources))
    for _ in after.items():
        pass
    code = settings.report(after.findings())
    if code != EXIT_OK:
        stderr("Nothing was written.\n")
        return code
    existing = [name for name in texts if Path(name).exists()]
    if existing:
        raise EditError(f"{settings.shown(existing[0])}: the file exists; nothing was written")
    for name, text in texts.items():
        write_file(name, text, None)
        stdout(f"Wrote {settings.shown(name)}.\n")
    keep_schema()
    return EXIT_OK


@command(in_project=False, examples=("berth schema > reservations/berth.schema.json",))
def schema(settings: Settings) -> int:  # noqa: ARG001 - one signature for all
    """Print the JSON Schema of the declarations, for editors."""
    stdout(json_schema_text())
    return EXIT_OK
