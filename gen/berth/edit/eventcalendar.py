"""Turn the events of a feed into a Calendar, and update it."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from berth.dates.zone import DAY, clock, day_of
from berth.edit.calendarfeed import Feed
from berth.edit.create import MODELINE, SCHEMA
from berth.edit.datelists import set_keys
from berth.edit.eventdates import Limits, NotImportedError, Span, dates_of, series_of
from berth.edit.eventimport import ImportedFile, ImportOptions, ImportResult, annotations_of, default_zone
from berth.edit.roundtrip import EditError, MakeNode, edit_document, is_plain, to_block
from berth.findings import ERROR, severity
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.metadata import IMPORTED_FROM
from berth.schema.values import ClosedDates

_HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata:
  name: {name}
  annotations:
    {key}: {feed}
spec:
  dates:
"""


def import_closed_dates(feed: Feed, project: Pipeline, name: str, options: ImportOptions) -> ImportResult:
    """Return the file of a Calendar with the dates of the events. Raise EditError if it was not imported."""
    limits = Limits(
        default_zone(options.zone, feed, project), options.first, options.last, options.zone is not None
    )
    findings, found = list(feed.findings), []
    over = 0
    for series in series_of(feed):
        if series.is_canceled:
            continue
        try:
            dates, doubts = dates_of(series, feed, limits, in_zone=True)
        except NotImportedError as refused:
            findings.append(refused.finding)
            continue
        findings += doubts
        over += not dates.happening
        found += [one for span in dates.happening for one in _closed(span, series.first.title)]
    closed = sorted(set(found))
    if any(severity(one.code) == ERROR for one in findings) or not closed:
        return ImportResult((), 0, over, tuple(sorted(findings)))
    file = _calendar_file(feed, project, name, closed)
    files = () if file is None else (file,)
    return ImportResult(files, 1 - len(files), over, tuple(sorted(findings)))


def _closed(span: Span, title: str) -> Iterator[ClosedDates]:
    """Yield the dates that are closed: whole days as one range, and parts of a day."""
    first, last = -(-span.start // DAY), span.end // DAY
    if span.start % DAY:
        yield _hours(span.start, min(span.end, first * DAY), title)
    if first < last:
        yield ClosedDates(_day(first), _day(last - 1), title)
    if span.end % DAY and last >= first:
        yield _hours(max(span.start, last * DAY), span.end, title)


def _hours(start: int, end: int, title: str) -> ClosedDates:
    day = _day(start // DAY)
    return ClosedDates(day, day, title, start % DAY, (end - 1) % DAY + 1)


def _day(number: int) -> date:
    return day_of(number * DAY)


def _calendar_file(
    feed: Feed, project: Pipeline, name: str, closed: Sequence[ClosedDates]
) -> ImportedFile | None:
    """Return the file of the Calendar; None if it has these dates already."""
    lines = "".join(f"    - {_closed_text(one)}\n" for one in closed)
    before = project.declared.calendars.get(name)
    if before is None:
        file = f"reservations/{name}.yaml"
        head = _HEAD.format(name=name, key=IMPORTED_FROM, feed=quote(feed.name))
        text = f"{MODELINE.format(SCHEMA)}{head}{lines}"
        if any(one.file == file for one in project.sources):
            raise EditError(f"{file}: the file exists; nothing was written")
        return ImportedFile(file, text, None, (), len(closed))
    found = {origin[:2]: pairs for origin, pairs in annotations_of(project, "Calendar")}
    if IMPORTED_FROM not in found.get(before.origin[:2], {}):
        raise EditError(f"the Calendar {name} in {before.origin.file} was not imported; choose another name")
    if sorted(before.dates) == [*closed]:
        return None
    source = next(one for one in project.sources if one.file == before.origin.file)
    wanted: Any = parse(Source("", f"dates:\n{lines}".encode()))[0][0].value

    def edit(tree: Any, make: MakeNode) -> None:
        tree["spec"]["dates"] = make(wanted["dates"])
        to_block(tree["spec"]["dates"])
        set_keys(tree["metadata"]["annotations"], {IMPORTED_FROM: feed.name}, make)

    text = edit_document(source.text.decode(), before.origin.index, edit)
    return ImportedFile(before.origin.file, text, source.text, ("dates",), len(closed))


def _closed_text(one: ClosedDates) -> str:
    """Return an item of the dates of a Calendar."""
    fields = [f"date: {one.first}"] if one.first == one.last else [f"from: {one.first}", f"to: {one.last}"]
    if (one.since, one.until) != (0, DAY):
        fields += [f'from: "{_time(one.since)}"', f'until: "{_time(one.until)}"']
    if one.title:
        fields.append(f"title: {one.title if is_plain(one.title) else quote(one.title)}")
    return str(one.first) if fields == [f"date: {one.first}"] else f"{{{', '.join(fields)}}}"


def _time(minutes: int) -> str:
    return "24:00" if minutes == DAY else clock(minutes)
