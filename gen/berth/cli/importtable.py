"""`berth import csv`: each row of a table becomes a reservation, as a request by form does."""

from collections.abc import Sequence
from typing import NamedTuple

from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stderr, stdout
from berth.cli.selection import clock_of
from berth.cli.writing import write_imported
from berth.dates.expansion import Occurrence
from berth.dates.moments import named, span_text
from berth.diff.wording import clock_changes, number_of
from berth.edit.create import ReservationRequest, new_reservation, reservation_yaml
from berth.edit.requestform import TWICE, FormAnswer, at_headings, requested, taken_name
from berth.edit.requesttable import imported_titles, read_table, updated_text
from berth.findings import ERROR, Finding, in_order
from berth.notation.refusal import CommandError
from berth.output.answers import seats_text
from berth.output.escape import visible
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.documentproblems import shown
from berth.schema.metadata import IMPORTED_FEED, IMPORTED_TITLE


class _WrittenRow(NamedTuple):
    """A row that can be a reservation: where it is written, and from what."""

    file: str
    request: ReservationRequest
    answers: dict[str, FormAnswer]


class _TableImport:
    """What rows become: the texts of files by path."""

    def __init__(self, pipeline: Pipeline, feed: str, today: int) -> None:
        self._pipeline, self._feed, self._today = pipeline, feed, today
        self.before = {one.file: one.text for one in pipeline.sources}
        self.texts, self.rows = dict[str, str](), dict[str, _WrittenRow]()
        by_place = {one.origin[:2]: one for one in pipeline.declared.reservations}
        titles = imported_titles(pipeline.sources, feed)
        self.own = {title: by_place[place] for place, title in titles.items() if place in by_place}

    def add(self, answers: dict[str, FormAnswer]) -> list[Finding]:
        """Write a row, or return what is wrong with its cells."""
        title, declared = answers["title"].text, self._pipeline.declared
        known = self.own.get(title)
        wanted = requested(answers, known.name if known else "", declared, self._today)
        name = wanted.request.name
        file = known.origin.file if known else f"reservations/{name}.yaml"
        is_taken = known is None and (
            file in self.before or any(one.name == name for one in declared.reservations)
        )
        if name in self.rows:
            line = self.rows[name].answers["title"].place.line
            fix = "Write its dates in one row, or another title."
            return [*wanted.findings, answers["title"].finding(TWICE, f"line {line} has this course.", fix)]
        if is_taken:
            return [*wanted.findings, taken_name(name, answers)]
        if not wanted.findings:
            imported = ((IMPORTED_FEED, self._feed), (IMPORTED_TITLE, title))
            text = reservation_yaml(new_reservation(wanted.request)._replace(annotations=imported))
            if known:
                old = self.texts.get(file) or self.before[file].decode()
                text = updated_text(old, known.origin.index, text)
            self.texts[file] = text
            self.rows[name] = _WrittenRow(file, wanted.request, answers)
        return [*wanted.findings]

    def checked(self, now: int) -> tuple[list[Finding], dict[str, Sequence[Occurrence]]]:
        """Return what is wrong with the project then, of rows at their cells, and the dates of courses."""
        kept = [source for source in self._pipeline.sources if source.file not in self.texts]
        after = Pipeline(
            sources=sorted([*kept, *(Source(file, text.encode()) for file, text in self.texts.items())])
        )
        dates: dict[str, Sequence[Occurrence]] = {}
        for item in after.items(now=now):
            dates[item.reservation.name] = item.expansion.occurrences
        found = after.findings()
        findings = [one for one in found if one.file not in self.texts and one.severity == ERROR]
        for name, row in self.rows.items():
            of_file = [finding for finding in found if finding.file == row.file]
            findings += at_headings(of_file, row.file, row.request, row.answers, dates.get(name, ()))
        return findings, dates


def import_table(settings: Settings, pipeline: Pipeline, source: Source, feed: str | None) -> int:
    """Write a reservation for each row unless a cell is refused; update those of an earlier import."""
    if feed is None and source.file == "stdin":
        raise CommandError("Give --feed NAME, a name for the table: the next import finds its courses by it.")
    clock = clock_of(settings, pipeline)
    table = read_table(source)
    for heading in table.unread:
        where = f"{settings.shown(source.file)}:1:{heading.place.column}"
        stderr(f"{where}: the column {shown(heading.text)} is not read.\n")
    found = _TableImport(pipeline, feed or source.file.rpartition("/")[2], clock.today)
    findings = [*table.findings, *(finding for row in table.rows for finding in found.add(row))]
    of_project, dates = found.checked(clock.now)
    findings += of_project
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        return settings.refused(in_order(findings))
    if code := write_imported(settings, pipeline, found.texts, source.file):
        return code
    for name, row in found.rows.items():
        stdout(f"{visible(row.answers['title'].text)}: {_dates_text(dates[name])}.\n")
        stdout("".join(f"! {line}\n" for line in clock_changes(dates[name])))
    for title, reservation in found.own.items():
        if reservation.name not in found.rows:
            how = f"To remove it: berth delete {reservation.name}"
            stdout(f"{visible(title)} is not in the table any more. {how}\n")
    return EXIT_OK


def _dates_text(dates: Sequence[Occurrence]) -> str:
    """Repeat what was understood of a row: seats, and the first and the last date."""
    if not dates:
        return "no date"
    first, last = (span_text(one.start, one.end, named(one.zone)) for one in (dates[0], dates[-1]))
    until = f", the last {last}" if len(dates) > 1 else ""
    return f"{seats_text(dates[0].seats)}, {number_of(len(dates), 'date')} in {dates[0].zone}, {first}{until}"
