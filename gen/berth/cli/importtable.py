"""`berth import csv`: each row of a table becomes a reservation, as a request by form does."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from berth.checks.typos import check_dates_are_ahead
from berth.cli.command import Settings, exit_code
from berth.cli.console import EXIT_OK, stderr, stdout
from berth.cli.selection import clock_of
from berth.cli.writing import write_imported
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.moments import named, span_text
from berth.diff.wording import clock_changes, left_out_lines, number_of
from berth.edit.create import ReservationRequest, new_reservation, reservation_yaml
from berth.edit.edits import annotations_of
from berth.edit.requestform import FormAnswer, at_headings, requested, taken_name
from berth.edit.requesttable import read_table, updated_text
from berth.findings import ERROR, Finding, in_order
from berth.notation.refusal import CommandError
from berth.output.answers import seats_text
from berth.output.escape import visible
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.documentproblems import shown
from berth.schema.metadata import IMPORTED_FEED, IMPORTED_TITLE
from berth.schema.reservation import Reservation


class _WrittenRow(NamedTuple):
    """A row that can be a reservation: where it is written, and from what."""

    file: str
    request: ReservationRequest
    answers: dict[str, FormAnswer]
    is_changed: bool


class _TableImport:
    """What rows become: the texts of files by path."""

    def __init__(self, pipeline: Pipeline, feed: str, today: int, *, is_feed_given: bool) -> None:
        self._pipeline, self._feed, self._today = pipeline, feed, today
        self._is_feed_given = is_feed_given
        self.before = {one.file: one.text for one in pipeline.sources}
        self.texts, self.rows = dict[str, str](), dict[str, _WrittenRow]()
        by_place = {one.origin[:2]: one for one in pipeline.declared.reservations}
        self.own, self._others = dict[str, Reservation](), dict[str, tuple[str, str]]()
        for origin, annotations in annotations_of(pipeline, "CapacityReservation"):
            reservation = by_place.get(origin[:2])
            other, title = (annotations.get(key) for key in (IMPORTED_FEED, IMPORTED_TITLE))
            if reservation is None or other is None or title is None:
                continue
            if other == feed:
                self.own[title] = reservation
            else:
                self._others[title] = reservation.name, other

    def add(self, answers: dict[str, FormAnswer]) -> list[Finding]:
        """Write a row, or return what is wrong with its cells."""
        title, declared = answers["title"].text, self._pipeline.declared
        known = self.own.get(title)
        request, wrong_answers = requested(answers, known.name if known else "", declared, self._today)
        name = request.name
        file = known.origin.file if known else f"reservations/{name}.yaml"
        is_taken = known is None and (
            file in self.before or any(one.name == name for one in declared.reservations)
        )
        if name in self.rows:
            line = self.rows[name].answers["title"].place.line
            fix = "Write its dates in one row, or another title."
            return [*wrong_answers, answers["title"].finding("B060", f"line {line} has this course.", fix)]
        if known is None and title in self._others and (is_taken or not self._is_feed_given):
            other, feed = self._others[title]
            return [*wrong_answers, taken_name(other, answers, feed)]
        if is_taken:
            return [*wrong_answers, taken_name(name, answers)]
        if not wrong_answers:
            imported = ((IMPORTED_FEED, self._feed), (IMPORTED_TITLE, title))
            text = reservation_yaml(new_reservation(request)._replace(annotations=imported))
            if known:
                old = self.texts.get(file) or self.before[file].decode()
                text = updated_text(old, known.origin.index, text)
            self.texts[file] = text
            is_changed = file not in self.before or text.encode() != self.before[file]
            self.rows[name] = _WrittenRow(file, request, answers, is_changed)
        return wrong_answers

    def checked(self, now: int) -> tuple[list[Finding], dict[str, Expansion]]:
        """Return what is wrong with the project then, of rows at their cells, and the dates of courses."""
        after = self._pipeline.with_files(self.texts)
        dates: dict[str, Expansion] = {}
        for item in after.items(now=now):
            name, dates[item.reservation.name] = item.reservation.name, item.expansion
            if name in self.rows and self.rows[name].is_changed:
                after.problems += check_dates_are_ahead(item.reservation, item.expansion.occurrences, now)
        found = after.findings()
        findings = [one for one in found if one.file not in self.texts and one.severity == ERROR]
        for name, row in self.rows.items():
            of_file = [self._of_entry(finding, row) for finding in found if finding.file == row.file]
            occurrences = dates[name].occurrences if name in dates else ()
            findings += at_headings(of_file, row.file, row.request, row.answers, occurrences)
        return findings, dates

    def _of_entry(self, finding: Finding, row: _WrittenRow) -> Finding:
        """Name in a finding the entry of the file that it is about, which no cell has."""
        entry = re.match(r"spec\.recurrence\.(except|moved|extra)\[(\d+)\]", finding.path)
        known = self.own.get(row.answers["title"].text)
        if entry is None or known is None:
            return finding
        path = ("spec", "recurrence", entry[1], int(entry[2]))
        (there,) = self._pipeline.located([known.problem(finding.code, path, "", "")])
        message = (
            f"{entry[1]}[{entry[2]}] in {there.file}:{there.line} does not fit the row: {finding.message}"
        )
        return finding._replace(message=message, fix="Remove that entry from the file, or correct the row.")


def import_table(settings: Settings, pipeline: Pipeline, source: Source, feed: str | None) -> int:
    """Write a reservation for each row unless a cell is refused; update those of an earlier import."""
    if feed is None and source.file == "stdin":
        raise CommandError("Give --feed NAME, a name for the table: the next import finds its courses by it.")
    clock = clock_of(settings, pipeline)
    table = read_table(source)
    for heading in table.unread:
        where = f"{settings.shown(source.file)}:{heading.place.line}:{heading.place.column}"
        stderr(f"{where}: the column {shown(heading.text)} is not read.\n")
    name = feed or source.file.rpartition("/")[2]
    found = _TableImport(pipeline, name, clock.today, is_feed_given=feed is not None)
    findings = [*table.findings, *(finding for row in table.rows for finding in found.add(row))]
    of_project, dates = found.checked(clock.now)
    findings += of_project
    if exit_code(findings, strict=settings.strict) != EXIT_OK:
        return settings.refused(in_order(findings))
    write_imported(settings, pipeline, found.texts, source.file)
    settings.report([finding for finding in in_order(findings) if finding.code == "B081"])
    for name, row in found.rows.items():
        occurrences, skipped, _ = dates[name]
        stdout(f"{visible(row.answers['title'].text)}: {_dates_text(row.request, occurrences)}.\n")
        stdout("".join(f"! {line}\n" for line in clock_changes(occurrences)))
        stdout("".join(f"{line.sign} {visible(line.text)}\n" for line in left_out_lines(skipped)))
    for title, reservation in found.own.items():
        if reservation.name not in found.rows:
            how = f"To remove it: berth delete {reservation.name}"
            stdout(f"{visible(title)} is not in the table any more. {how}\n")
    return EXIT_OK


def _dates_text(request: ReservationRequest, dates: Sequence[Occurrence]) -> str:
    """Repeat what was understood of a row: the seats of each group, and the first and the last date."""
    if not dates:
        return "no date"
    groups = dict.fromkeys(zip((span.name for span in request.spans()), request.seats(), strict=True))
    seats = ", ".join(seats_text(counts) + (name and f" for {name}") for name, counts in groups)
    first, last = (span_text(one.start, one.end, named(one.zone)) for one in (dates[0], dates[-1]))
    until = f", the last {last}" if len(dates) > 1 else ""
    return f"{seats}, {number_of(len(dates), 'date')} in {dates[0].zone}, {first}{until}"
