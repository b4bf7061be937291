"""`berth new --from-request`: a reservation from the text of an issue form."""

from collections.abc import Sequence

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_BAD_INPUT, EXIT_OK, stderr, stdout
from berth.cli.selection import clock_of, read_files
from berth.cli.writing import keep_schema, noted_lines
from berth.edit.create import new_reservation, reservation_yaml, write_file
from berth.edit.edits import check_edit
from berth.edit.requestanswer import accepted_text, refused_text
from berth.edit.requestform import at_headings, read_request, requested, taken_name
from berth.findings import Finding, in_order
from berth.notation.refusal import CommandError, read_at
from berth.pipeline import Pipeline
from berth.reading.source import LIMIT
from berth.schema import grammar

MARKDOWN = "markdown"


def new_from_request(settings: Settings, name: str, files: Sequence[str], *, writes: bool) -> int:
    """Print the reservation that a request asks for, or write it; report what is wrong with the request.

    With `-o markdown`, print the answer for the people who asked instead.
    """
    pipeline = Pipeline()
    sources, problems = read_files(settings, files, LIMIT)
    if problems:
        return _refused(settings, pipeline.located(problems), "")
    if name:
        read_at("NAME", lambda: grammar.dns_label(name))
    clock = clock_of(settings, pipeline)
    form = read_request(sources)
    request, wrong_answers = requested(form.answers, name, pipeline.declared, clock.today)
    file = f"reservations/{request.name}.yaml"
    refused = {finding.path for finding in form.findings}
    findings = [*form.findings, *(finding for finding in wrong_answers if finding.path not in refused)]
    if any(source.file == file for source in pipeline.sources) and "title" in form.answers:
        findings.append(taken_name(request.name, form.answers))
    if findings:
        return _refused(settings, in_order(findings), sources[0].file)
    reservation = new_reservation(request)
    text = reservation_yaml(reservation)
    result = check_edit(pipeline, file, text, None, clock.now)
    if result.change is None and not result.findings:
        raise CommandError("the project has errors, which berth validate lists; nothing was written")
    dates = result.change.occurrences.added if result.change else ()
    found = at_headings([*result.findings, *result.warnings], file, request, form.answers, dates)
    if exit_code(found, strict=settings.strict) != EXIT_OK:
        return _refused(settings, found, sources[0].file)
    if writes:
        write_file(file, text, None)
        keep_schema()
    if settings.form == MARKDOWN:
        result = result._replace(warnings=tuple(found))  # without errors, these are all
        answer = accepted_text(result, reservation, pipeline.declared, sources[0].file, form.replaced)
        settings.write(answer)
        return EXIT_OK
    settings.report(found)
    stderr("".join(f"{line}\n" for line in noted_lines(result)))
    if writes:
        stdout(f"Wrote {settings.shown(file)}. Next: berth render\n")
    else:
        stdout(text, is_data=True)
    return EXIT_OK


def _refused(settings: Settings, findings: Sequence[Finding], issue: str) -> int:
    if settings.form == MARKDOWN:
        settings.write(refused_text(findings, issue, strict=settings.strict))
        return EXIT_BAD_INPUT
    return settings.refused(findings)
