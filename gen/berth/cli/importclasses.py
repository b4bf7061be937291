"""`berth import z2jh` and `renku-classes`: resource classes of what a hub, or Renku, already knows."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Any

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stderr, stdout
from berth.cli.writing import keep_schema
from berth.edit.classes import (
    HubRequest,
    ImportedClasses,
    import_renku_classes,
    import_z2jh,
    why_not_replaced,
)
from berth.edit.create import remove_file, write_file
from berth.edit.sample import SampleReplacement, readme_with_class, replace_sample, sample_source
from berth.edit.scaffold import README
from berth.findings import Finding
from berth.notation.refusal import CommandError, read_at
from berth.output import table
from berth.output.escape import visible
from berth.pipeline import Pipeline
from berth.reading.source import Source, is_input
from berth.schema import grammar
from berth.schema.z2jh import SCHEDULER


def import_hub(
    settings: Settings, pipeline: Pipeline, sources: Sequence[Source], given: Mapping[str, Any]
) -> int:
    """Write the classes of a hub, or report why not; `given` are the values of the options."""
    file = given["file_name"] or "reservations/jupyterhub-classes.yaml"
    sample = sample_source(pipeline, "jupyterhub")
    taken = _taken(pipeline, file, sample)
    request = HubRequest(
        tuple(sources),
        given["cluster"],
        given["namespace"] or "",
        _keys(given["prefix"]),
        given["release"] or "",
    )
    imported = import_z2jh(request, taken)
    code = _write(settings, _without(pipeline, sources), imported, file, sample)
    if code != EXIT_OK:
        return code
    _tell_to_remove(settings, pipeline, sources)
    if imported.unlabeled:
        stdout("Label the pods in kubespawner_override, so that each class counts its own sessions:\n")
        for title, labels in imported.unlabeled:
            stdout(f"  {visible(title)}: extra_labels: {visible(labels)}\n")
    if imported.needs_release:
        stdout(
            f"The hub has its own scheduler, and placeholders should have the same. Add schedulerName: "
            f"RELEASE{SCHEDULER} to each class, or import again with --release RELEASE.\n"
        )
    return code


def import_classes_of_renku(
    settings: Settings, pipeline: Pipeline, source: Source, given: Mapping[str, Any]
) -> int:
    """Write the classes of Renku, or report why not; `given` are the values of the options."""
    file = given["file_name"] or "reservations/renku-classes.yaml"
    namespace = given["namespace"] or "renku"
    sample = sample_source(pipeline, "renku")
    taken = _taken(pipeline, file, sample)
    imported = import_renku_classes(source, given["cluster"], namespace, given["pools"], taken)
    code = _write(settings, _without(pipeline, [source]), imported, file, sample)
    if code == EXIT_OK:
        _tell_to_remove(settings, pipeline, [source])
    if code == EXIT_OK and imported.skipped:
        stdout("Left out:\n")
        for title, why in imported.skipped:
            stdout(f"  {visible(f'{title}: {why}')}\n")
    return code


def _without(pipeline: Pipeline, sources: Sequence[Source]) -> Pipeline:
    """Return the project without files that are imported, which may be in reservations/."""
    files = {source.file for source in sources}
    kept = [source for source in pipeline.sources if source.file not in files]
    return pipeline if len(kept) == len(pipeline.sources) else Pipeline(sources=kept)


def _tell_to_remove(settings: Settings, pipeline: Pipeline, sources: Sequence[Source]) -> None:
    files = {source.file for source in pipeline.sources}
    for source in sources:
        if source.file in files:
            stdout(f"Remove {settings.shown(source.file)}: the new file replaces it.\n")


def _taken(pipeline: Pipeline, file: str, sample: Source | None) -> list[str]:
    """Return the names of classes in other files than the one to be written, and than the sample."""
    files = (file, "" if sample is None else sample.file)
    return [
        declared.name for declared in pipeline.declared.classes.values() if declared.origin.file not in files
    ]


def _keys(text: str | None) -> tuple[str, ...]:
    return () if text is None else read_at("--prefix", lambda: grammar.keys(text))


def _write(
    settings: Settings, pipeline: Pipeline, imported: ImportedClasses, file: str, sample: Source | None
) -> int:
    """Write the classes, instead of the sample class of a new repository, unless there would be errors."""
    if exit_code(imported.findings, strict=settings.strict) != EXIT_OK:
        return _refused(settings, imported.findings)
    settings.report(imported.findings)
    if not is_input(file) or not file.startswith("reservations/"):
        raise CommandError(f"--file {file} is not a YAML file in reservations/.")
    _check_file(settings, pipeline, Source(file, imported.text.encode()))
    texts: dict[str, str | None] = {file: imported.text}
    replacement = SampleReplacement({})
    if sample is not None:
        replaced = _after(pipeline, {**texts, sample.file: None})
        invalid = [finding for finding in replaced.findings() if finding.file == file]
        if exit_code(invalid, strict=False) != EXIT_OK:
            return _refused(settings, imported.at_origins(invalid, file))
        replacement = replace_sample(pipeline, sample, imported, replaced.declared)
        texts.update(replacement.files)
    after = _after(pipeline, texts)
    for _ in after.items():
        pass
    findings = after.findings()
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        return _refused(settings, imported.at_origins(findings, file))
    settings.report(findings)
    _write_files(settings, {source.file: source.text for source in pipeline.sources}, texts, file)
    if replacement.files:
        _change_readme(settings, imported.default)
    if replacement.kept and sample is not None:
        names = ", ".join(replacement.kept)
        stdout(f"Kept {settings.shown(sample.file)}, a sample, because of {names}.\n")
    rows = [(row.name, row.requests, row.sessions) for row in imported.classes]
    stdout(table.text(("class", "requests", "counts"), rows))
    keep_schema()
    return EXIT_OK


def _refused(settings: Settings, findings: Sequence[Finding]) -> int:
    code = settings.report(findings)
    stderr("Nothing was written.\n")
    return code


def _write_files(
    settings: Settings, before: Mapping[str, bytes], texts: Mapping[str, str | None], new: str
) -> None:
    """Write each file, or remove it, and say so; of classes that were there, show what changed."""
    for name, text in texts.items():
        if text is None:
            remove_file(name, before[name])
            stdout(f"Removed {settings.shown(name)}: a sample.\n")
        elif text.encode() == before.get(name):
            stdout(f"Unchanged: {settings.shown(name)}.\n")
        else:
            write_file(name, text, before.get(name))
            stdout(f"{'Changed' if name in before else 'Wrote'} {settings.shown(name)}.\n")
            if name == new and name in before:
                stdout(_differences(before[name].decode(), text))


def _differences(before: str, after: str) -> str:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return "".join(f"{line}\n" for line in islice(lines, 2, None))  # without the names of the files


def _check_file(settings: Settings, pipeline: Pipeline, new: Source) -> None:
    """Raise CommandError if the file of classes is there and an import must not replace it."""
    old = next((source for source in pipeline.sources if source.file == new.file), None)
    if old is None and not Path(new.file).exists():
        return
    why = "it cannot be read" if old is None else why_not_replaced(old, new)
    if why:
        shown = settings.shown(new.file)
        advice = "Import into another file (--file), or remove this one to import again"
        raise CommandError(f"{shown}: the file exists, and {why}; nothing was written. {advice}")


def _after(pipeline: Pipeline, texts: Mapping[str, str | None]) -> Pipeline:
    """Return the project with other files; None: without it."""
    kept = [source for source in pipeline.sources if source.file not in texts]
    added = [Source(name, text.encode()) for name, text in texts.items() if text is not None]
    return Pipeline(sources=sorted([*kept, *added]))


def _change_readme(settings: Settings, name: str) -> None:
    """Let the example in the README of a new repository name a class that there is."""
    path = Path(README)
    if not path.is_file():
        return
    before = path.read_bytes()
    text = before.decode("utf-8", "replace")
    after = readme_with_class(text, name)
    if after != text:
        write_file(README, after, before)
        stdout(f"Changed {settings.shown(README)}.\n")
