"""Find all dates of an event: its rules, the dates that it adds and leaves out, and its changed instances.

All are wall times of one zone. A rule repeats on the clock of the event's zone, and each date keeps the
length on that clock.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from dateutil.rrule import rrulestr

from berth.dates.recurrence import MOST
from berth.dates.zone import DAY, Zone
from berth.edit.calendarfeed import (
    NOT_IMPORTED,
    PARTLY_IMPORTED,
    Event,
    EventClock,
    EventSpan,
    EventTime,
    Feed,
    ZoneClock,
)
from berth.findings import Finding
from berth.schema.grammar import FIRST_YEAR, LAST_YEAR

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall times have no zone
_FIRST, _LAST = date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)
_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")


class Span(NamedTuple):
    """From when to when, in wall times."""

    start: int
    end: int


class EventDates(NamedTuple):
    """The dates of an event. `changed`: by the date that is meant, what is there instead."""

    zone: Zone
    regular: tuple[Span, ...]  # by start, also those that are left out
    excluded: frozenset[Span]
    changed: Mapping[Span, "Changed"]
    extra: tuple[Span, ...]

    @property
    def happening(self) -> list[Span]:
        """Return when the event really is."""
        kept = [
            self.changed[one].span if one in self.changed else one
            for one in self.regular
            if one not in self.excluded
        ]
        return sorted({*kept, *self.extra})


class Changed(NamedTuple):
    """A changed instance. `description` is its own."""

    span: Span
    description: str


class Series(NamedTuple):
    """An event with its changed instances; without `main`, the feed has these alone."""

    main: Event | None
    instances: tuple[Event, ...]

    @property
    def first(self) -> Event:
        return self.main or self.instances[0]

    @property
    def is_canceled(self) -> bool:
        return self.first.is_canceled if self.main else all(one.is_canceled for one in self.instances)


class Limits(NamedTuple):
    """Which dates are imported, the first and the last included, and the zone of times without one."""

    zone: Zone
    first: date | None = None
    last: date | None = None


class NotImportedError(Exception):
    """An event that is not imported, with the finding that says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def dates_of(
    series: Series, feed: Feed, limits: Limits, *, in_zone: bool = False
) -> tuple[EventDates, list[Finding]]:
    """Return the dates of an event, and what is doubtful about them. Raise NotImportedError.

    `in_zone`: as wall times of the zone of the limits, instead of that of the event.
    """
    return _Reading(series, feed, limits, in_zone=in_zone).dates()


class _Reading:
    """The reading of one event: its clock, and what all times are converted with."""

    def __init__(self, series: Series, feed: Feed, limits: Limits, *, in_zone: bool) -> None:
        self.series, self.feed, self.limits = series, feed, limits
        self.findings: list[Finding] = []
        start = series.first.span.start
        repeats = bool(series.first.rules)
        self.clock = self._clock_of(series.first, "DTSTART", start)
        self.zone = limits.zone
        if isinstance(self.clock, ZoneClock) and (start.zone != "UTC" or repeats) and not in_zone:
            self.zone = self.clock.zone  # single events in UTC are local times that a client converted

    def refuse(self, event: Event, key: str, message: str, fix: str) -> NotImportedError:
        return NotImportedError(self.feed.finding(event, NOT_IMPORTED, key, message, fix))

    def dates(self) -> tuple[EventDates, list[Finding]]:
        main = self.series.main
        if main is None:
            held = [one for one in self.series.instances if not one.is_canceled]
            own = [span for one in held if self._has_length(one, span := self._span(one, one.span, 0))]
            if held and not own:
                raise self._without_length(held[0])
            kept = sorted({self._converted(span) for span in own if self._is_within(span.start)})
            return EventDates(self.zone, tuple(kept), frozenset(), {}, ()), self.findings
        first = self._span(main, main.span, 0)
        minutes = first.end - first.start
        if minutes <= 0:
            raise self._without_length(main)
        regular, added = self._regular(main, first), self._added(main, minutes)
        if main.rules and self._is_within(first.start) and first.start not in regular:
            message = "DTSTART is not a date of the rule; it is imported as one more date."
            self._warn(main, "RRULE", message, "Check the first date in the calendar.")
            added[first.start] = first
        if not main.rules:
            regular, added = {**regular, **added}, {}
        excluded = self._excluded(main, regular | added)
        changed, others = self._changes(minutes, regular | added, excluded)
        extra = [
            changed[start].span if start in changed else span
            for start, span in added.items()
            if start not in regular and start not in excluded
        ]
        spans = {start: self._converted(span) for start, span in regular.items()}
        found = EventDates(
            self.zone,
            tuple(sorted({*spans.values()})),
            frozenset(spans[start] for start in spans.keys() & excluded),
            {
                spans[start]: changed[start]._replace(span=self._converted(changed[start].span))
                for start in sorted(spans.keys() & changed.keys())
            },
            tuple(sorted({self._converted(one) for one in (*extra, *others)})),
        )
        return found, self.findings

    def _clock_of(self, event: Event, key: str, time: EventTime) -> EventClock:
        if not time.zone:
            return ZoneClock(self.limits.zone)
        found = self.feed.clock(time.zone)
        if found is None:
            fix = "Choose a time zone of the tz database, such as Europe/Zurich, in the calendar."
            message = f'no time zone named "{time.zone}", and the file has no VTIMEZONE for it.'
            raise self.refuse(event, key, message, fix)
        return found

    def _wall(self, event: Event, key: str, time: EventTime) -> int:
        """Return a time on the clock of the event."""
        if not time.zone or time.zone == self.series.first.span.start.zone:
            return time.wall
        return self.clock.wall(self._clock_of(event, key, time).instant(time.wall))

    def _converted(self, span: Span) -> Span:
        """Return wall times of the event's clock as those of the zone of the result."""
        if self.clock == ZoneClock(self.zone):
            return span
        result = ZoneClock(self.zone)
        start, end = (result.wall(self.clock.instant(wall)) for wall in span)
        return Span(start, end if end > start else start + span.end - span.start)

    def _span(self, event: Event, span: EventSpan, minutes: int) -> Span:
        start = self._wall(event, "DTSTART", span.start)
        if span.end is not None:
            return Span(start, self._wall(event, "DTEND", span.end))
        return Span(start, start + (minutes if span.minutes is None else span.minutes))

    def _is_within(self, wall: int) -> bool:
        first, last = self.limits.first or _FIRST, self.limits.last or _LAST
        return max(first, _FIRST) <= _date(wall) <= min(last, _LAST)

    def _regular(self, main: Event, first: Span) -> dict[int, Span]:
        """Return the dates of the rules, by start; without a rule, that of the event."""
        walls = {wall for rule in main.rules for wall in self._walls(main, "RRULE", rule, first.start)}
        if not main.rules and self._is_within(first.start):
            walls.add(first.start)
        return {wall: Span(wall, wall + first.end - first.start) for wall in sorted(walls)}

    def _walls(self, main: Event, key: str, rule: str, start: int) -> Iterator[int]:
        """Yield the starts that a rule has within the limits."""
        parts = dict(part.partition("=")[::2] for part in rule.split(";"))
        until, count = parts.pop("UNTIL", None), parts.get("COUNT")
        if parts.get("FREQ") not in _FREQUENCIES:
            message = f"the event repeats {parts.get('FREQ', '')}, more often than daily."
            raise self.refuse(main, key, message, "Write one longer event.")
        latest = None if until is None else self._until(until)
        try:
            found = rrulestr(";".join("=".join(pair) for pair in parts.items()), dtstart=_moment(start))
        except (ValueError, TypeError) as error:
            message, fix = f"the rule cannot be read: {error}.", "Correct it in the calendar."
            raise self.refuse(main, key, message, fix) from error
        last = self.limits.last
        if until is None and count is None and last is None:
            fix = "Give --until DATE, for example the last day of the term."
            raise self.refuse(main, key, "the event never ends.", fix)
        kept = 0
        for moment in found:
            wall = _minutes(moment)
            if (latest is not None and wall > latest) or (last is not None and _date(wall) > last):
                return
            if self._is_within(wall):
                kept += 1
                yield wall
            if kept > MOST:
                fix = "Give --from and --until, or write several events."
                raise self.refuse(main, key, f"the event has more than {MOST:,} dates.", fix)

    def _until(self, text: str) -> int:
        """Return the last wall time of UNTIL: a date, a time in UTC, or one on the clock of the event."""
        day, _, time = text.partition("T")
        wall = _minutes(datetime.strptime(day, "%Y%m%d"))  # noqa: DTZ007 - a wall time
        if not time:
            return wall + DAY - 1
        wall += int(time[:2]) * 60 + int(time[2:4])
        return self.clock.wall(wall * 60) if time.endswith("Z") else wall

    def _added(self, main: Event, minutes: int) -> dict[int, Span]:
        spans = [self._span(main, one, minutes) for one in main.added]
        return {one.start: one for one in spans if self._is_within(one.start) and one.start < one.end}

    def _excluded(self, main: Event, known: Mapping[int, Span]) -> set[int]:
        begin = self._wall(main, "DTSTART", main.span.start)
        starts = {wall for rule in main.excluded_rules for wall in self._walls(main, "EXRULE", rule, begin)}
        for one in main.excluded:
            starts |= self._meant(main, "EXDATE", one, known)
        return starts & known.keys()

    def _meant(self, event: Event, key: str, time: EventTime, known: Iterable[int]) -> set[int]:
        """Return the starts that a time means. A date means all of it; some clients write its midnight."""
        exact = {self._wall(event, key, time)} & {*known}
        if exact or time.wall % DAY:
            return exact
        return {start for start in known if start // DAY == time.day}

    def _changes(
        self, minutes: int, known: Mapping[int, Span], excluded: set[int]
    ) -> tuple[dict[int, Changed], list[Span]]:
        """Return the changed instances by start, and those of no date of the rules; add canceled ones."""
        changed: dict[int, Changed] = {}
        extra: list[Span] = []
        for one in self.series.instances:
            assert one.instance is not None
            if one.is_for_following:
                message = "a change of this and all following dates is not supported."
                raise self.refuse(
                    one, "RECURRENCE-ID", message, "End the event there, and begin another one."
                )
            meant = self._meant(one, "RECURRENCE-ID", one.instance, known)
            if one.is_canceled:
                excluded |= meant
                continue
            span = self._span(one, one.span, minutes)
            if not self._has_length(one, span):
                excluded |= meant
            elif meant:
                excluded -= meant
                changed |= dict.fromkeys(meant, Changed(span, one.description))
            elif self._is_within(span.start):
                extra.append(span)
        return changed, extra

    def _without_length(self, event: Event) -> NotImportedError:
        return self.refuse(event, "DTEND", "the event has no length.", "Give it an end after its start.")

    def _has_length(self, changed: Event, span: Span) -> bool:
        """Report a changed date that has none."""
        if span.end <= span.start:
            message = "the changed date has no length; it is left out."
            self._warn(changed, "DTEND", message, "Give it an end.")
        return span.end > span.start

    def _warn(self, event: Event, key: str, message: str, fix: str) -> None:
        self.findings.append(self.feed.finding(event, PARTLY_IMPORTED, key, message, fix))


def _moment(wall: int) -> datetime:
    return _EPOCH + timedelta(minutes=wall)


def _minutes(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds()) // 60


def _date(wall: int) -> date:
    return _moment(wall).date()
