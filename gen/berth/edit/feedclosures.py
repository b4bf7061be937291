"""Turn the events of a feed into a Calendar: dates on which nothing happens."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

from berth.dates.zone import DAY, Zone, day_of, local, number
from berth.edit.create import MODELINE
from berth.edit.datelists import add_entry
from berth.edit.edits import annotations_of
from berth.edit.feed import EventOutcome, Feed, NotImportedError, event_name
from berth.edit.feeddates import DateReader, Series, Span, series_of
from berth.edit.feedimport import ImportedFile, ImportOptions
from berth.edit.roundtrip import MakeNode, edit_document
from berth.notation.refusal import CommandError
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import SCHEMA, Source
from berth.schema.calendardocument import Calendar, ClosedDates
from berth.schema.grammar import LONGEST_TITLE
from berth.schema.metadata import IMPORTED_FEED

LONGEST_BREAK = 28  # days; what is closed for longer is probably a term
CLOSED, OPENED = "closed", "no longer closed"
_OBSERVANCE = "observance"
_HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata:
  name: {name}
  annotations:
    {key}: {feed}
spec:
"""


def import_closed_dates(
    feed: Feed, project: Pipeline, name: str, options: ImportOptions, zone: Zone
) -> list[ImportedFile]:
    """Return the file of a Calendar with the whole days of the events; dates that stay are not written anew.

    Raise CommandError if the Calendar is not of this feed.
    """
    before = project.declared.calendars.get(name)
    if before is not None:
        _check_feed(before, project, options)
    known = [closed.first for closed in before.dates] if before else []
    first = options.first or min([options.today, *known])
    reading = _ClosureImport(feed, name, options, first, zone)
    closed = sorted(reading.closed())
    if not closed or (before is not None and {*before.dates} == {*closed}):
        return []
    text = "".join(["  dates:\n", *(f"    - {_closed_text(one)}\n" for one in closed)])
    if before is None:
        file = f"reservations/{name}.yaml"
        head = _HEAD.format(name=name, key=IMPORTED_FEED, feed=quote(options.feed))
        return [ImportedFile(file, f"{MODELINE.format(SCHEMA)}{head}{text}", None, name)]
    source = next(one for one in project.sources if one.file == before.origin.file)
    wanted: Any = parse(Source("", text.encode()))[0][0].value
    entries = dict(zip(closed, wanted["dates"], strict=True))

    def edit(tree: Any, make: MakeNode) -> None:
        added = [one for one in closed if one not in before.dates]
        for index, old in reversed([*enumerate(before.dates)]):
            changed = next((one for one in added if one[:2] == old[:2]), None)
            if old not in entries and changed is not None:
                tree["spec"]["dates"][index] = make(entries[changed])
                added.remove(changed)
            elif old not in entries:
                del tree["spec"]["dates"][index]
        for one in added:
            add_entry(tree["spec"], "dates", entries[one], make)

    edited = edit_document(source.text.decode(), before.origin.index, edit)
    file = before.origin.file
    for title, dates in _opened(before.dates, closed):
        shown = event_name(title, "")
        feed.outcomes.append(EventOutcome(0, shown, OPENED, file, _dates_text(dates)))
    return [ImportedFile(file, edited, source.text, name)]


def _opened(
    before: Iterable[ClosedDates], after: Iterable[ClosedDates]
) -> Iterator[tuple[str, list[ClosedDates]]]:
    """Yield the title and the dates of each entry of a Calendar that has dates which close no more."""
    closed = {day for one in after for day in _days(one)}
    for one in before:
        days = {*_days(one)} - closed
        starts = sorted(day for day in days if day - 1 not in days)
        ends = sorted(day for day in days if day + 1 not in days)
        if days:
            spans = zip(starts, ends, strict=True)
            yield one.title, [ClosedDates(day_of(first * DAY), day_of(last * DAY)) for first, last in spans]


def _days(one: ClosedDates) -> range:
    return range(number(one.first), number(one.last) + 1)


def _check_feed(before: Calendar, project: Pipeline, options: ImportOptions) -> None:
    found = {origin[:2]: pairs for origin, pairs in annotations_of(project, "Calendar")}
    recorded = found.get(before.origin[:2], {}).get(IMPORTED_FEED)
    where = f"the Calendar {before.name} in {before.origin.file}"
    if recorded is None:
        raise CommandError(f"{where} was not imported; choose another name")
    if recorded != options.feed:
        advice = f'give --feed "{recorded}" if this is the same calendar, or choose another name'
        raise CommandError(f'{where} was imported from "{recorded}"; {advice}')


class _ClosureImport:
    """One import of events to a Calendar."""

    def __init__(self, feed: Feed, name: str, options: ImportOptions, first: date, zone: Zone) -> None:
        self.feed, self.options, self.zone = feed, options, zone
        self.file = f"reservations/{name}.yaml"
        self.first, self.last = number(first), number(options.last_day)
        self.reader = DateReader(feed, options, zone)

    def closed(self) -> set[ClosedDates]:
        """Return what the events close, and tell what becomes of each."""
        every = series_of(self.feed, joins_uids=True)
        whole = [one.first for one in every if one.first.span.start.is_date and not one.first.is_canceled]
        # In many feeds of holidays all events are marked as free: then the mark tells nothing.
        counts_free = self.options.events.decides_free or all(event.is_free for event in whole)
        found: set[ClosedDates] = set()
        for series in every:
            event = series.first
            if event.is_canceled or event.says_canceled:
                self.feed.tell([event], "canceled", "canceled in the calendar")
                continue
            if reason := self.options.events.refusal(event):
                self.feed.tell([event], "skipped", reason)
                continue
            try:
                spans = self._spans(series, counts_free=counts_free)
            except NotImportedError as error:
                self.feed.refuse([event], error)
                continue
            closed = [one for span in spans for one in self._clipped(span, event.title)]
            if not closed:
                self.feed.tell([event], *self.options.left_out(spans))
                continue
            found |= {*closed}
            self.feed.tell([event], CLOSED, _dates_text(closed), self.file)
            if event.description.strip().lower().startswith(_OBSERVANCE) and not self.options.events.only:
                message = "its description says that it is an observance; its dates close all the same."
                fix = "Where work goes on, give --skip 'description:Observance*'."
                self.feed.warn(event, "DESCRIPTION", message, fix)
        return found

    def _spans(self, series: Series, *, counts_free: bool) -> list[Span]:
        """Return the whole days of an event, each run of them as one. Raise NotImportedError."""
        event = series.first
        dated = self.reader.read(series)
        spans: list[Span] = []
        for span in dated.spans:
            start, end = span
            if dated.clock.zone != self.zone:
                start, end = (local(self.zone, dated.clock.instant(wall)) for wall in span)
            end += end % DAY == DAY - 1  # 23:59, as some programs write whole days
            if start % DAY or end % DAY:
                message = "it is not of whole days, so it closes nothing."
                fix = 'Write it into another Calendar: {date: 2026-12-24, from: "12:00"}.'
                raise NotImportedError("DTSTART", message, fix)
            if spans and start <= spans[-1].end:
                spans[-1] = Span(spans[-1].start, max(end, spans[-1].end))
            else:
                spans.append(Span(start, end))
        longest = max((span.end - span.start for span in spans), default=0) // DAY
        if longest > LONGEST_BREAK and not self.options.events.selects_by_name(event):
            message = f"it lasts {longest} days, longer than a break, so it closes nothing."
            fix = "Write a term into a Calendar; to close its dates, give --only 'title:...'."
            raise NotImportedError("", message, fix)
        if event.is_free and not counts_free:
            message = "it is marked as free, so it closes nothing."
            raise NotImportedError("TRANSP", message, "Mark it as busy, or give --only free or --skip busy.")
        return spans

    def _clipped(self, span: Span, title: str) -> Iterator[ClosedDates]:
        first = max(span.start // DAY, self.first)
        last = min(span.end // DAY - 1, self.last)
        if first <= last:
            yield ClosedDates(day_of(first * DAY), day_of(last * DAY), title[:LONGEST_TITLE])


def _dates_text(closed: Sequence[ClosedDates]) -> str:
    """Return the dates of an event for the table: the first of them, and how many more there are."""
    first = closed[0]
    text = str(first.first) if first.first == first.last else f"{first.first} to {first.last}"
    return text if len(closed) == 1 else f"{text}, and {len(closed) - 1} more"


def _closed_text(one: ClosedDates) -> str:
    """Return an item of the dates of a Calendar."""
    fields = [f"date: {one.first}"] if one.first == one.last else [f"from: {one.first}", f"to: {one.last}"]
    if one.title:
        fields.append(f"title: {quote(one.title)}")
    return str(one.first) if fields == [f"date: {one.first}"] else f"{{{', '.join(fields)}}}"
