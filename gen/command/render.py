"""`berth render`: writes what was declared as manifests, all or none; with --check it only compares.

What takes long to import is imported when it is clear that --check must look at more than digests.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gen import remembered
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD, STALE
from gen.command.say import say
from gen.finding import in_order
from gen.input.source import Source, read
from gen.output.fingerprint import fingerprint
from gen.output.folder import OutputError
from gen.output.templatefiles import TemplateError

if TYPE_CHECKING:
    from gen.pipeline import Pipeline

_INPUT = "reservations"


def run(asked: Asked) -> int:
    folder = _folder(asked.value("--output-dir"))
    program = remembered.program(folder, asked.value("--templates"))
    sources: Sequence[Source] | None = None
    if asked.has("--check") and program is not None:
        sources = _sources()
        code = None if sources is None else _as_remembered(folder, program, sources, asked)
        if code is not None:
            return code
    from gen.command.answer import tell  # noqa: PLC0415
    from gen.pipeline import Pipeline  # noqa: PLC0415

    pipeline = Pipeline(folder=_INPUT, sources=sources)
    try:
        if asked.has("--check"):
            return _check(pipeline, folder, asked)
        return _write(pipeline, folder, program, asked)
    except (OutputError, TemplateError) as error:
        tell(in_order([*pipeline.findings(), *error.findings]), asked)
        return BAD_INPUT


def _sources() -> Sequence[Source] | None:
    """The input as it stands there; None where some of it cannot be read, which a whole run must tell."""
    sources, problems = read(f"./{_INPUT}", _INPUT)
    return None if problems else sources


def _as_remembered(folder: str, program: str, sources: Sequence[Source], asked: Asked) -> int | None:
    """The exit code where nothing has changed since the last render; None where a whole run must say."""
    known = remembered.recall(folder, program, sources)
    try:
        if known is None or fingerprint(folder) != known.fingerprint:
            return None
    except OSError:
        return None
    if known.findings:
        from gen.command.answer import tell  # noqa: PLC0415

        code = tell(known.findings, asked)
        if code != GOOD:
            return code
    return _up_to_date(folder)


def _up_to_date(folder: str) -> int:
    say(f"{folder}/ is up to date.\n")
    return GOOD


def _folder(given: str | None) -> str:
    """Where to write: not where we read, or the next run would take manifests for declarations."""
    if given is None:
        return "rendered"
    read, written = os.path.realpath(_INPUT), os.path.realpath(given)
    if not given or os.path.commonpath((read, written)) == read:
        raise UsageError(f'--output-dir "{given}" is no place to write. Name one outside of {_INPUT}/.')
    return given.rstrip("/") or given


def _write(pipeline: "Pipeline", folder: str, program: str | None, asked: Asked) -> int:
    from gen.command.filling import fill  # noqa: PLC0415
    from gen.output.stage import Stage  # noqa: PLC0415

    with Stage(folder, folder) as stage:
        code = fill(pipeline, stage, asked)
        if code != GOOD:
            return code
        outcome = stage.finish()
        if program is not None and program == remembered.program(folder, asked.value("--templates")):
            known = remembered.Remembered(stage.fingerprint.text(), tuple(pipeline.findings()))
            remembered.keep(folder, program, pipeline.sources, known)
    removed = "".join(f"removed {folder}/{path}\n" for path in outcome.removed)
    numbers = f"{len(outcome.written)} written, {len(outcome.removed)} removed, {outcome.unchanged} unchanged"
    say(f"{removed}{folder}/: {numbers}.\n")
    return GOOD


def _check(pipeline: "Pipeline", folder: str, asked: Asked) -> int:
    from gen.command.filling import fill  # noqa: PLC0415
    from gen.output.stage import Check  # noqa: PLC0415

    check = Check(folder, folder)
    code = fill(pipeline, check, asked)
    if code != GOOD:
        return code
    differences = check.finish()
    if not differences:
        return _up_to_date(folder)
    listed = "".join(f"{folder}/{path} {kind}\n" for path, kind in differences)
    number = f"{len(differences)} files are" if len(differences) > 1 else "1 file is"
    say(f"{listed}{number} not up to date. Run: berth render\n")
    return STALE
