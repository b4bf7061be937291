"""`berth render`: writes what was declared as manifests, all or none; with --check it only compares."""

import os

from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD, STALE
from gen.command.filling import fill
from gen.command.say import say
from gen.finding import in_order
from gen.output.folder import OutputError
from gen.output.stage import Check, Stage
from gen.output.templates import TemplateError
from gen.pipeline import Pipeline

_INPUT = "reservations"


def run(asked: Asked) -> int:
    folder = _folder(asked.value("--output-dir"))
    pipeline = Pipeline(folder=_INPUT)
    try:
        return _check(pipeline, folder, asked) if asked.has("--check") else _write(pipeline, folder, asked)
    except (OutputError, TemplateError) as error:
        tell(in_order([*pipeline.findings(), *error.findings]), asked)
        return BAD_INPUT


def _folder(given: str | None) -> str:
    """Where to write: not where we read, or the next run would take manifests for declarations."""
    if given is None:
        return "rendered"
    read, written = os.path.realpath(_INPUT), os.path.realpath(given)
    if not given or os.path.commonpath((read, written)) == read:
        raise UsageError(f'--output-dir "{given}" is no place to write. Name one outside of {_INPUT}/.')
    return given.rstrip("/") or given


def _write(pipeline: Pipeline, folder: str, asked: Asked) -> int:
    with Stage(folder, folder) as stage:
        code = fill(pipeline, stage, asked)
        if code != GOOD:
            return code
        outcome = stage.finish()
    removed = "".join(f"removed {folder}/{path}\n" for path in outcome.removed)
    numbers = f"{len(outcome.written)} written, {len(outcome.removed)} removed, {outcome.unchanged} unchanged"
    say(f"{removed}{folder}/: {numbers}.\n")
    return GOOD


def _check(pipeline: Pipeline, folder: str, asked: Asked) -> int:
    check = Check(folder, folder)
    code = fill(pipeline, check, asked)
    if code != GOOD:
        return code
    differences = check.finish()
    if not differences:
        say(f"{folder}/ is up to date.\n")
        return GOOD
    listed = "".join(f"{folder}/{path} {kind}\n" for path, kind in differences)
    number = f"{len(differences)} files are" if len(differences) > 1 else "1 file is"
    say(f"{listed}{number} not up to date. Run: berth render\n")
    return STALE
