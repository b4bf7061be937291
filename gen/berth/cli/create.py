"""The commands that begin: `berth init`, `berth import`, `berth schema`."""

import time
from datetime import UTC, datetime
from pathlib import Path

import click

from berth.cli.command import FILE, FOLDER, CommandError, Settings, command
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.edit import keep_schema
from berth.cli.selection import instant
from berth.edit.create import import_renku, reservation_yaml, write_file
from berth.edit.roundtrip import EditError
from berth.edit.scaffold import project_of, render_files, starter_files
from berth.pipeline import Pipeline
from berth.reading.source import Source, read_file
from berth.schema.describe import json_schema_text
from berth.schema.renkunames import slug

_NEXT = """\
{folder} is a repository of reservations now. Next:
  1. Edit reservations/site.yaml and classes.yaml: your clusters, your seats.
  2. Run berth render, and commit everything.
"""


@command(
    in_project=False,
    examples=("berth init seats --time-zone Europe/Zurich --engine flux",),
)
@click.argument("directory", metavar="DIR", type=FOLDER)
@click.option("--time-zone", metavar="ZONE", default="UTC", help="Time zone of the site; default: UTC.")
@click.option("--engine", metavar="NAME", default="argocd", help="argocd, flux or none; default: argocd.")
def init(settings: Settings, directory: str, time_zone: str, engine: str) -> int:
    """Start a repository of reservations that passes its checks.

    Nothing is overwritten: if a file of it exists, nothing is written.
    """
    folder = Path(directory)
    now = instant("--now", settings.now, None)
    today = datetime.fromtimestamp(int(time.time()) if now is None else now, UTC).date()
    texts = starter_files(slug(folder.resolve().name), time_zone or "UTC", engine or "argocd", today)
    pipeline = project_of(texts)
    texts.update(render_files(pipeline, "rendered"))
    if pipeline.has_errors():
        settings.report(pipeline.findings())
        stderr("Nothing was written.\n")
        return EXIT_BAD_INPUT
    existing = [path for path in ("reservations", "rendered", *texts) if (folder / path).exists()]
    if existing:
        raise CommandError(f"{folder / existing[0]} exists; nothing was written.")
    try:
        for path, text in texts.items():
            write_file(str(folder / path), text, None)
    except EditError as error:
        raise CommandError(f"{error}.") from error
    stdout(_NEXT.format(folder=folder))
    return EXIT_OK


@command(
    name="import",
    examples=("berth import renku export.json --time-zone Europe/Zurich --suspend",),
)
@click.argument("source", metavar="renku", type=click.Choice(("renku",)))
@click.argument("file", type=FILE)
@click.option("--time-zone", metavar="ZONE", help="Write its times in this time zone.")
@click.option("--suspend", is_flag=True, help="Suspend the reservations: they open once you remove it.")
def import_(settings: Settings, source: str, file: str, time_zone: str | None, suspend: bool) -> int:  # noqa: ARG001
    """Convert an export of Renku's API to editable files.

    FILE is not changed. If it is in reservations/, remove it afterwards.
    """
    path = settings.given(file)
    pipeline = Pipeline()
    try:
        found = import_renku(read_file(path), pipeline, time_zone)
    except (EditError, OSError) as error:
        raise CommandError(f"{file}: {error}.") from error
    if found.findings:
        settings.report(found.findings)
        return EXIT_BAD_INPUT
    reservations = [one._replace(suspend=suspend) for one in found.reservations]
    texts = {f"reservations/{one.name}.yaml": reservation_yaml(one) for one in reservations}
    try:
        code = _write(settings, pipeline, texts, path)
    except EditError as error:
        raise CommandError(f"{error}.") from error
    if code == EXIT_OK and any(one.file == path for one in pipeline.sources):
        stdout(f"Remove {file}: the new files replace it.\n")
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
