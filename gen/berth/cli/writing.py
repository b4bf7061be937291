"""Write the file of an edit unless the project would have errors then, and say what changed."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import click

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.diff.wording import clock_changes, detail_lines, left_out_lines, policy_line, title_line
from berth.edit.create import refuse_link, remove_file, write_file
from berth.edit.edits import EditResult, EditStep
from berth.findings import ERROR, Finding
from berth.git import staged_text
from berth.notation.refusal import CommandError
from berth.output.escape import visible
from berth.pipeline import Pipeline
from berth.reading.source import SCHEMA
from berth.schema.describe import json_schema_text

Places = tuple[Mapping[str, str], str]
"""Which option or argument each field of a new document comes from, by path; and that of all other fields."""

_WITH_ERRORS = (
    "The project has errors, so the dates above may be wrong: holidays, terms or time zones may be missing. "
    "berth validate lists the errors.\n"
)


def finish_edit(
    settings: Settings,
    pipeline: Pipeline,
    edited: EditResult,
    places: Places | None = None,
    notes: Sequence[str] = (),
) -> int:
    """Write the file and say what changed, with the notes, or report why not.

    `places`: where the values of a document come from that is new; findings about one that is not written
    name these, because there is no such line.
    """
    shown = settings.shown(edited.file)
    before = next((source.text for source in pipeline.sources if source.file == edited.file), None)
    findings = [*edited.findings, *edited.warnings]
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        settings.report(of_options(findings, edited.file, places) if places else findings)
        stderr(f"{shown} is not {'written' if before is None else 'changed'}.\n")
        return EXIT_BAD_INPUT
    settings.report(findings)
    if edited.text is None:
        remove_file(edited.file, before)
        shown += " is removed"
    elif before == edited.text.encode():
        stdout(settings.wrapped(f"{shown} is unchanged: {edited.note or 'it already says so'}.\n"))
        return EXIT_OK
    else:
        write_file(edited.file, edited.text, before)
    lines = [title_line(edited.change), *detail_lines(edited.change)] if edited.change else []
    lines += left_out_lines(edited.expansion.skipped) if before is None else []
    lines += [policy_line(result) for result in edited.policies]
    changes = "".join(f"! {line}\n" for line in (*noted_lines(edited), *edited.rehearsals, *notes))
    changes += "".join(f"{line.sign} {visible(line.text)}".rstrip() + "\n" for line in lines)
    outcome = (
        f"{shown}:\n{changes}Next: berth render\n" if changes else f"Wrote {shown}. Next: berth render\n"
    )
    stdout(settings.wrapped(outcome + _undo_line(settings, edited.file, before)))
    if before is None and pipeline.has_errors():
        stderr(_WITH_ERRORS)
    return EXIT_OK


def _undo_line(settings: Settings, file: str, before: bytes | None) -> str:
    """Return the command that takes an edit back: of a new file, or of one that was as git has it."""
    shown, folder = settings.shown(file), settings.folder
    if before is None:
        return f"Undo: rm {shlex.quote(str(Path(folder, shown)))}\n"
    if staged_text(file) != before:
        return ""
    there = f"-C {shlex.quote(folder)} " if folder else ""
    return f"Undo: git {there}restore {shlex.quote(shown)}\n"


def finish_steps(settings: Settings, steps: Sequence[EditStep]) -> int:
    """Write the files of edits that follow each other; none of them if one is refused."""
    refused = [
        (project, edited)
        for project, edited in steps
        if exit_code([*edited.findings, *edited.warnings], strict=settings.strict) != EXIT_OK
    ]
    return max(finish_edit(settings, *step) for step in refused[:1] or steps)


def noted_lines(edited: EditResult) -> list[str]:
    """Return which new dates a clock change moves, and whose sessions take the seats, too."""
    if edited.change is None:
        return []
    dates = edited.change.occurrences
    lines = clock_changes([*dates.added, *(after for _, after in dates.changed)])
    if edited.shared:
        name = edited.change.name
        label = f"sessions.matchLabels.course={name}"
        lines += [*edited.shared, f"To count only its own, label their pods, and: berth set {name} {label}"]
    return lines


def of_options(findings: Sequence[Finding], file: str, places: Places) -> list[Finding]:
    """Return findings about a document that is not written with the options that its values come from."""
    return [_of_option(finding, places) if finding.file == file else finding for finding in findings]


def _of_option(finding: Finding, places: Places) -> Finding:
    by_path, otherwise = places
    path = re.sub(r"\[[^]]*\]", "", finding.path)  # of an index, or of a name
    while path and path not in by_path:
        path = path.rpartition(".")[0]
    if path:
        return finding._replace(file=by_path[path], line=0, column=0, path="")
    return finding._replace(file=otherwise, line=0, column=0) if otherwise else finding


def checked_import(  # noqa: PLR0913 - what is imported, and from where
    settings: Settings,
    pipeline: Pipeline,
    texts: Mapping[str, str],
    at_source: Callable[[Finding], Finding],
    *,
    findings: Sequence[Finding] = (),
    now: int | None = None,
) -> Pipeline:
    """Return the project with the files of an import; if it would have errors, end the command.

    A finding about text that is not written is shown `at_source`, what it is made of, after the `findings`
    about that.
    """
    after = pipeline.with_files(texts)
    after.items(now=now)
    problems = [one for one in after.findings() if one.file in texts or one.severity == ERROR]
    if exit_code([*findings, *problems], strict=settings.strict) != EXIT_OK:
        shown = [at_source(one) if one.file in texts else one for one in problems]
        raise click.exceptions.Exit(settings.refused([*findings, *shown]))
    settings.report([*findings, *problems])
    known = {source.file for source in pipeline.sources}
    for file in texts:
        refuse_link(file)
        if file not in known and Path(file).exists():
            raise CommandError(f"{settings.shown(file)}: the file exists; nothing was written")
    return after


def write_imported(settings: Settings, pipeline: Pipeline, texts: Mapping[str, str], source: str) -> None:
    """Write the files of an import of a `source`; show what changed in them."""
    before = {known.file: known.text for known in pipeline.sources}
    checked_import(settings, pipeline, texts, lambda one: _at_source(one, texts[one.file], source))
    for file, text in texts.items():
        old = before.get(file)
        if old == text.encode():
            stdout(f"Unchanged: {settings.shown(file)}.\n")
            continue
        write_file(file, text, old)
        stdout(f"{'Wrote' if old is None else 'Changed'} {settings.shown(file)}.\n")
        if old is not None:
            lines = unified_diff(old.decode().splitlines(), text.splitlines(), n=1, lineterm="")
            stdout("".join(f"{line}\n" for line in islice(lines, 2, None)))  # without the names of files
    keep_schema()


def _at_source(finding: Finding, text: str, source: str) -> Finding:
    number = sum(line.startswith("---") for line in text.splitlines()[: finding.line])
    name = re.search(r"^  name: (.+)$", re.split(r"^---", text, flags=re.MULTILINE)[number], re.MULTILINE)
    return finding._replace(file=f"{source}, {name[1]}" if name else source, line=0, column=0)


def keep_schema() -> None:
    """Write the JSON Schema, which new files name for editors, if it is not there yet."""
    file = f"reservations/{SCHEMA}"
    if not Path(file).exists():
        write_file(file, json_schema_text(), None)
