"""Turn the events of a feed into a Calendar of closed dates and terms, and update it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from berth.dates.zone import DAY, clock, day_of
from berth.edit.calendarfeed import Event, Feed
from berth.edit.calendarvalues import EventSpan
from berth.edit.create import MODELINE
from berth.edit.datelists import set_keys
from berth.edit.eventdates import Limits, NotImportedError, Series, Span, dates_of
from berth.edit.eventgroups import series_of
from berth.edit.eventimport import (
    NO_TITLE,
    EventOutcome,
    EventPlace,
    FeedIdentity,
    ImportedFile,
    ImportOptions,
    ImportResult,
    annotations_of,
    default_zone,
    idle_patterns,
    not_read,
)
from berth.edit.roundtrip import MakeNode, edit_document, to_block
from berth.findings import ERROR, severity
from berth.notation.refusal import CommandError
from berth.output.yamltext import quote
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import SCHEMA, Source
from berth.schema.calendardocument import Calendar, ClosedDates, Term
from berth.schema.metadata import IMPORTED_FEED
from berth.schema.renkunames import slug

LEFT_OUT = "B206"
LONGEST_BREAK = 28  # days; what is closed for longer is probably a term
_LONGEST_NAME = 50  # characters, without the date
_HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata:
  name: {name}
  annotations:
{annotations}
spec:
"""
CLOSED, TERM, NOT_CLOSED, REFUSED, OUTSIDE = "closed", "term", "left out", "not imported", "outside"


class _Days(NamedTuple):
    """What an import has for a Calendar."""

    closed: tuple[ClosedDates, ...]
    terms: tuple[Term, ...]


def import_closed_dates(feed: Feed, project: Pipeline, name: str, options: ImportOptions) -> ImportResult:
    """Return the file of a Calendar with the dates of the events. Raise CommandError for another feed's."""
    return _Import(feed, project, name, options).result()


class _Import:
    """One import of events to a Calendar: what it has found so far."""

    def __init__(self, feed: Feed, project: Pipeline, name: str, options: ImportOptions) -> None:
        self.feed, self.project, self.name, self.options = feed, project, name, options
        self.identity = FeedIdentity.of(feed, options)
        self.zone = default_zone(options.zone, feed, project)
        self.findings = [*feed.findings, *idle_patterns(feed, options)]
        self.outcomes: list[EventOutcome] = []
        self.closed: set[ClosedDates] = set()
        self.terms: set[Term] = set()
        self.first_event: Event | None = None

    def result(self) -> ImportResult:
        every, older = series_of(self.feed)
        self.findings += older
        self.outcomes += not_read(self.feed, older)
        all_day = [one.first for one in every if one.first.span.start.is_date and not one.is_canceled]
        # In many feeds of holidays all events are marked as free: then the mark tells nothing.
        tells_free = not self.options.events.decides_free and not all(event.is_free for event in all_day)
        for series in every:
            self._take(series, tells_free=tells_free)
        days = _Days(tuple(sorted(self.closed)), _with_own_names(self.terms))
        findings, outcomes = tuple(sorted({*self.findings})), tuple(sorted(self.outcomes))
        if any(severity(finding.code) == ERROR for finding in findings) or not (days.closed or days.terms):
            return ImportResult((), outcomes, findings)
        file = self._file(days)
        return ImportResult(() if file is None else (file,), outcomes, findings)

    def _take(self, series: Series, *, tells_free: bool) -> None:
        """Add what an event closes, or the terms that it is."""
        event = series.first
        if series.is_canceled:
            self._tell(event, "canceled", "canceled in the calendar")
            return
        if reason := self.options.events.refusal(event):
            self._tell(event, "skipped", reason)
            return
        if event.says_canceled:
            message = "its title says that it is canceled, so nothing closes; it is left out."
            self._leave_out(event, message, "If it takes place, correct its title.")
            return
        try:
            spans = self._spans(series)
        except NotImportedError as refused:
            self.findings.append(refused.finding)
            self._tell(event, REFUSED, refused.finding.message.rstrip("."))
            return
        clipped = [part for span in spans if (part := self._clipped(span)) is not None]
        if not clipped:
            self._tell(event, OUTSIDE, "outside of --from and --until")
            return
        long = [span for span in _runs(spans) if span.end - span.start > LONGEST_BREAK * DAY]
        if long and self.options.has_terms:
            # People keep appointments in a teaching period, so it is often marked as free.
            found = sorted((_term(event, span) for span in long), key=_order)
            self.terms |= {*found}
            self.first_event = self.first_event or event
            self._tell(event, TERM, ", ".join(term.name for term in found))
            spans = [span for span in spans if not any(_is_in(span, other) for other in long)]
        elif long and not self.options.events.selects_by_name(event):
            days = max(span.end - span.start for span in long) // DAY
            message = f"the event lasts {days} days, longer than a break; it is left out."
            fix = "Give --terms to make a term of it, or --only 'title:...' to close its dates all the same."
            self._leave_out(event, message, fix)
            return
        if spans and tells_free and event.span.start.is_date and event.is_free:
            message = "the event is marked as free, so nothing closes; it is left out."
            fix = "To close its dates, mark it as busy, or select events with --only or --skip."
            self._leave_out(event, message, fix)
            return
        self.first_event = self.first_event or event
        closed = [closed_dates for span in spans for closed_dates in self._closed(span, event.title)]
        self.closed |= {*closed}
        if closed:
            self._tell(event, CLOSED, _dates_text(closed))

    def _spans(self, series: Series) -> list[Span]:
        """Return when an event is, also what began before the limits and lasts until them."""
        longest = max(_days(instance.span) for instance in (series.first, *series.instances))
        first = self.options.first and self.options.first - timedelta(days=longest)
        limits = Limits(self.zone, first, self.options.last, self.options.zone is not None)
        dates, doubts = dates_of(series, self.feed, limits, in_zone=True)
        self.findings += doubts
        return [_whole_days(span) for span in dates.happening]

    def _clipped(self, span: Span) -> Span | None:
        """Return the part of a span within the limits."""
        first, last = self.options.first, self.options.last
        start = span.start if first is None else max(span.start, (first - _EPOCH).days * DAY)
        end = span.end if last is None else min(span.end, ((last - _EPOCH).days + 1) * DAY)
        return Span(start, end) if start < end else None

    def _closed(self, span: Span, title: str) -> Iterator[ClosedDates]:
        """Yield the dates that are closed: whole days as one range, and parts of a day."""
        part = self._clipped(span)
        if part is None:
            return
        first, last = -(-part.start // DAY), part.end // DAY
        if part.start % DAY:
            yield _hours(part.start, min(part.end, first * DAY), title)
        if first < last:
            yield ClosedDates(_day(first), _day(last - 1), title)
        if part.end % DAY and last >= first:
            yield _hours(max(part.start, last * DAY), part.end, title)

    def _leave_out(self, event: Event, message: str, fix: str) -> None:
        self.findings.append(self.feed.finding(event, LEFT_OUT, "", message, fix))
        self._tell(event, NOT_CLOSED, message.partition(";")[0])

    def _tell(self, event: Event, result: str, reason: str) -> None:
        into = self.name if result in (CLOSED, TERM) else ""
        self.outcomes.append(EventOutcome(event.lines[""], event.title or NO_TITLE, result, into, reason))

    def _file(self, days: _Days) -> ImportedFile | None:
        """Return the file of the Calendar; None if it has these dates already."""
        assert self.first_event is not None
        place = EventPlace(self.feed.file, self.first_event.lines[""], f'"{self.feed.name}"')
        before = self.project.declared.calendars.get(self.name)
        number = len(days.closed) + len(days.terms)
        if before is None:
            file = f"reservations/{self.name}.yaml"
            if any(one.file == file for one in self.project.sources):
                raise CommandError(f"{file}: the file exists; nothing was written")
            return ImportedFile(file, self._text(days), None, (), number, place)
        has_identity = self._check_feed(before)
        keys = {"dates": sorted(before.dates) != [*days.closed]}
        if self.options.has_terms:
            keys["terms"] = sorted(before.terms, key=_order) != [*days.terms]
        changes = tuple(key for key, is_new in keys.items() if is_new)
        if not changes and has_identity:
            return None
        source = next(one for one in self.project.sources if one.file == before.origin.file)
        wanted: Any = parse(Source("", _spec(days).encode()))[0][0].value

        def edit(tree: Any, make: MakeNode) -> None:
            for key in changes:
                if key in wanted:
                    tree["spec"][key] = make(wanted[key])
                    to_block(tree["spec"][key])
                else:
                    tree["spec"].pop(key, None)
            set_keys(tree["metadata"]["annotations"], self.identity.annotations, make)

        text = edit_document(source.text.decode(), before.origin.index, edit)
        return ImportedFile(before.origin.file, text, source.text, changes or ("annotations",), number, place)

    def _text(self, days: _Days) -> str:
        pairs = self.identity.annotations.items()
        annotations = "\n".join(f"    {key}: {quote(value)}" for key, value in pairs)
        head = _HEAD.format(name=self.name, annotations=annotations)
        return f"{MODELINE.format(SCHEMA)}{head}{_spec(days, '  ')}"

    def _check_feed(self, before: Calendar) -> bool:
        """Tell whether the Calendar records this feed. Raise CommandError if it is another's."""
        where = f"the Calendar {self.name} in {before.origin.file}"
        found = {origin[:2]: pairs for origin, pairs in annotations_of(self.project, "Calendar")}
        recorded = found.get(before.origin[:2], {})
        if IMPORTED_FEED not in recorded:
            raise CommandError(f"{where} was not imported; choose another name")
        if not self.identity.has_made(recorded):
            feed = recorded[IMPORTED_FEED]
            advice = f'give --feed "{feed}" if this is the same calendar, or choose another name'
            raise CommandError(f'{where} was imported from "{feed}"; {advice}')
        return self.identity.is_recorded(recorded)


_EPOCH = day_of(0)


def _days(span: EventSpan) -> int:
    """Return a number of days that is not shorter than the event, also where its zones differ."""
    minutes = span.minutes or 0
    if span.end is not None:
        minutes = span.end.wall - span.start.wall
    return max(0, minutes) // DAY + 2


def _whole_days(span: Span) -> Span:
    """Return the span until midnight where it ends at 23:59, as some programs write whole days."""
    return Span(span.start, span.end + 1) if span.end % DAY == DAY - 1 else span


def _runs(spans: Sequence[Span]) -> list[Span]:
    """Return spans of days without a gap: those of an event that repeats daily are one."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _is_in(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end


def _term(event: Event, span: Span) -> Term:
    """Return the term of a long event. Its name has the first date, so that it does not depend on others."""
    first, last = _day(span.start // DAY), _day((span.end - 1) // DAY)
    name = slug(event.title or "term")[:_LONGEST_NAME].strip("-")
    name = name if str(first.year) in name else f"{name}-{first.year}"
    return Term.model_construct(name=name, first=first, last=last)


def _order(term: Term) -> tuple[date, date, str]:
    return term.first, term.last, term.name


def _with_own_names(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms by date; those with one name have their first month and day in it."""
    ordered = sorted(terms, key=_order)
    numbers = Counter(term.name for term in ordered)
    return tuple(
        term.model_copy(update={"name": f"{term.name}-{term.first:%m-%d}"})
        if numbers[term.name] > 1
        else term
        for term in ordered
    )


def _hours(start: int, end: int, title: str) -> ClosedDates:
    day = _day(start // DAY)
    return ClosedDates(day, day, title, start % DAY, (end - 1) % DAY + 1)


def _day(number: int) -> date:
    return day_of(number * DAY)


def _dates_text(closed: Sequence[ClosedDates]) -> str:
    """Return the dates of an event for the table: the first of them, and how many more there are."""
    first = closed[0]
    text = str(first.first) if first.first == first.last else f"{first.first} to {first.last}"
    if (first.since, first.until) != (0, DAY):
        text += f" {_time(first.since)}-{_time(first.until)}"
    return text if len(closed) == 1 else f"{text}, and {len(closed) - 1} more"


def _spec(days: _Days, indent: str = "") -> str:
    """Return the lines of the `spec` of a Calendar."""
    lines = [f"{indent}dates:\n"] if days.closed else []
    lines += [f"{indent}  - {_closed_text(one)}\n" for one in days.closed]
    lines += [f"{indent}terms:\n"] if days.terms else []
    lines += [
        f"{indent}  - {{name: {quote(term.name)}, from: {term.first}, to: {term.last}}}\n"
        for term in days.terms
    ]
    return "".join(lines)


def _closed_text(one: ClosedDates) -> str:
    """Return an item of the dates of a Calendar."""
    fields = [f"date: {one.first}"] if one.first == one.last else [f"from: {one.first}", f"to: {one.last}"]
    if (one.since, one.until) != (0, DAY):
        fields += [f'from: "{_time(one.since)}"', f'until: "{_time(one.until)}"']
    if one.title:
        fields.append(f"title: {quote(one.title)}")
    return str(one.first) if fields == [f"date: {one.first}"] else f"{{{', '.join(fields)}}}"


def _time(minutes: int) -> str:
    return "24:00" if minutes == DAY else clock(minutes)
