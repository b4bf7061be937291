"""`berth new --from-request`: a reservation from the text of an issue form."""

import errno
import sys
from collections.abc import Sequence

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.selection import clock_of
from berth.cli.writing import keep_schema, shared_lines
from berth.dates.recurrence import NOTHING
from berth.edit.create import new_reservation, reservation_yaml, write_file
from berth.edit.edits import check_edit
from berth.edit.requestanswer import accepted_answer, refused_answer
from berth.edit.requestform import LIMIT, at_headings, read_request, requested, taken_name
from berth.findings import ERROR, FilePlace, Finding, in_order
from berth.notation.refusal import CommandError, read_at
from berth.pipeline import Pipeline
from berth.reading.source import TOO_LARGE, Source, read_file, unreadable
from berth.schema import grammar

MARKDOWN = "markdown"


def new_from_request(settings: Settings, name: str, files: Sequence[str], *, writes: bool) -> int:
    """Print the reservation that a request asks for, or write it; report what is wrong with the request.

    With `-o markdown`, print the answer for the people who asked instead.
    """
    texts = [_source(settings, file) for file in files]
    sources = [text for text in texts if isinstance(text, Source)]
    too_large = [text for text in texts if isinstance(text, Finding)]
    if too_large:
        return _refused(settings, too_large, settings.given(files[0]))
    if name:
        read_at("NAME", lambda: grammar.dns_label(name))
    pipeline = Pipeline()
    clock = clock_of(settings, pipeline)
    form = read_request(sources)
    wanted = requested(form.answers, name, pipeline.declared)
    file = f"reservations/{wanted.request.name}.yaml"
    refused = {finding.path for finding in form.findings}
    findings = [*form.findings, *(finding for finding in wanted.findings if finding.path not in refused)]
    if any(source.file == file for source in pipeline.sources):
        findings.append(taken_name(wanted.request.name, form.answers))
    if findings:
        return _refused(settings, in_order(findings), sources[0].file)
    text = reservation_yaml(new_reservation(wanted.request))
    result = check_edit(pipeline, file, text, None, clock.now)
    if result.change is None and not result.findings:
        raise CommandError("the project has errors, which berth validate lists; nothing was written")
    found = [
        finding._replace(severity=ERROR) if finding.code == NOTHING else finding  # nobody asks for no date
        for finding in at_headings([*result.findings, *result.warnings], file, wanted.request, form.answers)
    ]
    if exit_code(found, strict=settings.strict) != EXIT_OK:
        return _refused(settings, found, sources[0].file)
    if writes:
        write_file(file, text, None)
        keep_schema()
    if settings.form == MARKDOWN:
        result = result._replace(warnings=tuple(found))  # without errors, these are all
        settings.write(accepted_answer(result, form.answers["title"], sources[0].file, form.replaced))
        return EXIT_OK
    settings.report(found)
    stderr("".join(f"{line}\n" for line in shared_lines(result)))
    if writes:
        stdout(f"Wrote {settings.shown(file)}. Next: berth render\n")
    else:
        stdout(text, is_data=True)
    return EXIT_OK


def _refused(settings: Settings, findings: Sequence[Finding], issue: str) -> int:
    if settings.form == MARKDOWN:
        settings.write(refused_answer(findings, issue, strict=settings.strict))
    else:
        settings.report(findings)
        stderr("Nothing was written.\n")
    return EXIT_BAD_INPUT


def _source(settings: Settings, file: str) -> Source | Finding:
    """Return a text, or the finding that it is too large; `-` is stdin."""
    if file == "-":
        text = b"" if sys.stdin is None else sys.stdin.buffer.read(LIMIT + 1)
        return Source("stdin", text) if len(text) <= LIMIT else _too_large("stdin")
    path = settings.given(file)
    try:
        return read_file(path, LIMIT)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return _too_large(path)
        problem = unreadable(path, error)
        raise CommandError(f"{file}: {problem.message}") from error


def _too_large(shown: str) -> Finding:
    message = f"the text is larger than {LIMIT // 1024} KiB."
    return FilePlace(shown).finding(TOO_LARGE, message, "Shorten the notes.")
