"""`berth render`: writes what was declared as manifests, all or none; with --check it only compares."""

import os
from collections.abc import Iterator
from typing import Protocol

from gen.command.answer import tell
from gen.command.asked import Asked, UsageError
from gen.command.exits import BAD_INPUT, GOOD, STALE
from gen.command.progress import watched
from gen.command.say import say
from gen.finding import Problem, in_order
from gen.output.folder import OutputError
from gen.output.stage import Check, Stage
from gen.output.template import Renderer, TemplateError
from gen.pipeline import Part, Pipeline
from gen.render import (
    base_file,
    base_text,
    engine_texts,
    inventory_file,
    inventory_text,
    kustomization_file,
    kustomization_text,
    reservation_file,
    reservation_text,
)

_INPUT = "reservations"


class _Sink(Protocol):
    def put(self, path: str, text: str) -> None: ...


def run(asked: Asked) -> int:
    folder = _folder(asked.value("--output-dir"))
    pipeline = Pipeline(folder=_INPUT)
    try:
        if asked.has("--check"):
            return _check(pipeline, folder, asked)
        return _write(pipeline, folder, asked)
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
        code = _fill(pipeline, stage, asked)
        if code != GOOD:
            return code
        outcome = stage.finish()
    removed = "".join(f"removed {folder}/{path}\n" for path in outcome.removed)
    numbers = f"{len(outcome.written)} written, {len(outcome.removed)} removed, {outcome.unchanged} unchanged"
    say(f"{removed}{folder}/: {numbers}.\n")
    return GOOD


def _check(pipeline: Pipeline, folder: str, asked: Asked) -> int:
    check = Check(folder, folder)
    code = _fill(pipeline, check, asked)
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


def _fill(pipeline: Pipeline, sink: _Sink, asked: Asked) -> int:
    """Puts every file into the sink, tells the findings, and answers the exit code that they mean."""
    for path, text in _files(pipeline, asked.value("--templates")):
        sink.put(path, text)
    return tell(pipeline.findings(), asked)


def _files(pipeline: Pipeline, templates: str | None) -> Iterator[tuple[str, str]]:
    """Path and text of every file, one at a time. After an error nothing more is rendered, only checked."""
    renderer = Renderer(templates)
    names: list[str] = []

    def text_of(part: Part) -> str | Problem:
        assert pipeline.site is not None  # without it there are no parts
        return reservation_text(renderer, pipeline.site, part)

    for item in watched(pipeline.items(text_of), len(pipeline.declared.reservations)):
        for part, text in zip(item.parts, item.texts, strict=False):  # no texts where something is wrong
            if isinstance(text, str):
                names.append(reservation_file(part))
                if not pipeline.has_errors():
                    yield names[-1], text
            else:
                pipeline.problems.append(text)
    if pipeline.has_errors() or pipeline.site is None:
        return
    classes = pipeline.declared.classes.values()
    yield from engine_texts(renderer, pipeline.site, classes)
    for cluster in pipeline.site.clusters:
        names.append(base_file(cluster))
        yield names[-1], base_text(renderer, pipeline.site, cluster, classes)
        inventory = inventory_text(renderer, pipeline.site, cluster, names)
        if inventory is not None:
            names.append(inventory_file(cluster))
            yield names[-1], inventory
        if pipeline.site.kustomization:
            text = kustomization_text(renderer, pipeline.site, cluster, names)
            yield kustomization_file(cluster), text
