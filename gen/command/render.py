"""`berth render`: writes what was declared as manifests, all of it or nothing; with --check it only compares."""

import argparse
import sys
from collections.abc import Iterator
from typing import Protocol

from gen.cli import BAD_INPUT, GOOD, STALE
from gen.command.answer import exit_code, form, tell
from gen.finding import in_order
from gen.manifest.render import (
    base_file,
    base_text,
    kustomization_file,
    kustomization_text,
    reservation_file,
    reservation_text,
)
from gen.output.folder import OutputError
from gen.output.stage import Check, Stage
from gen.output.template import Renderer, TemplateError
from gen.pipeline import Pipeline


class _Sink(Protocol):
    def put(self, path: str, text: str) -> None: ...


def run(asked: argparse.Namespace) -> int:
    form(asked, "text", "json", "github")
    pipeline = Pipeline()
    folder = asked.output_dir
    try:
        if asked.check:
            return _check(pipeline, Check(folder, folder), asked)
        with Stage(folder, folder) as stage:
            return _write(pipeline, stage, asked)
    except (OutputError, TemplateError) as error:
        tell(in_order([*pipeline.findings(), *error.findings]), asked)
        return BAD_INPUT


def _write(pipeline: Pipeline, stage: Stage, asked: argparse.Namespace) -> int:
    code = _fill(pipeline, stage, asked)
    if code != GOOD:
        return code
    outcome = stage.finish()
    folder = asked.output_dir
    for path in outcome.removed:
        sys.stdout.write(f"removed {folder}/{path}\n")
    sys.stdout.write(
        f"{folder}/: {len(outcome.written)} written, {len(outcome.removed)} removed, "
        f"{outcome.unchanged} unchanged.\n"
    )
    return GOOD


def _check(pipeline: Pipeline, check: Check, asked: argparse.Namespace) -> int:
    code = _fill(pipeline, check, asked)
    if code != GOOD:
        return code
    differences = check.finish()
    if not differences:
        sys.stdout.write(f"{asked.output_dir}/ is up to date.\n")
        return GOOD
    for path, kind in differences:
        sys.stdout.write(f"{asked.output_dir}/{path} {kind}\n")
    number = len(differences)
    sys.stdout.write(f"{number} file{'s are' if number > 1 else ' is'} not up to date. Run: berth render\n")
    return STALE


def _fill(pipeline: Pipeline, sink: _Sink, asked: argparse.Namespace) -> int:
    """Puts every file into the sink, tells the findings, and answers the exit code that they mean."""
    for path, text in _files(pipeline, asked.templates):
        sink.put(path, text)
    findings = pipeline.findings()
    tell(findings, asked)
    return exit_code(findings, asked)


def _files(pipeline: Pipeline, templates: str | None) -> Iterator[tuple[str, str]]:
    """Path and text of every file, one at a time. After an error nothing more is rendered, only checked."""
    renderer = Renderer(templates)
    names: list[str] = []
    for item in pipeline.items():
        if pipeline.has_errors() or pipeline.site is None:
            continue
        for part in item.parts:
            text = reservation_text(renderer, pipeline.site, part)
            if isinstance(text, str):
                names.append(reservation_file(part))
                yield names[-1], text
            else:
                pipeline.problems.append(text)
    if pipeline.has_errors() or pipeline.site is None:
        return
    for cluster in pipeline.site.clusters:
        yield base_file(cluster), base_text(renderer, pipeline.site, cluster)
        names.append(base_file(cluster))
        if pipeline.site.kustomization:
            text = kustomization_text(renderer, pipeline.site, cluster, names)
            yield kustomization_file(cluster), text
