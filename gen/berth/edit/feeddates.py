"""Find all dates of the events of a feed: their rules, the dates that they add and leave out, and changes.

Dates are wall times of the clock of their event. dateutil expands the rules.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from dateutil.rrule import rrulestr

from berth.dates.zone import DAY, Zone, clock, date_text, number
from berth.edit.feed import BY_UID, REFUSED, Event, EventSpan, EventTime, Feed, NotImportedError, until_of
from berth.edit.feedclocks import UTC, FeedClock, clock_in
from berth.edit.feedimport import ImportOptions
from berth.notation.days import LAST_YEAR
from berth.notation.zones import FIXED

MOST_EXPANDED = 300_000  # dates of all rules of a feed, also those before the first that is imported
_COST_OF_NOTHING = 20_000  # of a rule without dates, which dateutil follows for centuries
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - wall times have no zone
# dateutil looks for dates up to the year 9999: for seconds where a rule has none. The calendar repeats every
# 400 years, so each rule is followed in the last of these.
_SHIFT = 7600
_ABBREVIATED = ("EST", "MST", "HST")
_OF_DAY = ("BYHOUR=", "BYMINUTE=", "BYSECOND=")
_NEVER_NEXT = re.compile(r"(?:INTERVAL|COUNT)=(?![0-9]*[1-9][0-9]*$)")


class Span(NamedTuple):
    """From when to when, in wall times."""

    start: int
    end: int


class EventDate(NamedTuple):
    """A date of an event. `original`: when a rule has it, or the event without rules; None: it is one more.

    `span`: when it is; None: it is left out. `description`: that of a changed date.
    """

    original: Span | None
    span: Span | None
    description: str = ""


class Series(NamedTuple):
    """An event with its changed instances; without `main`, the feed has these alone."""

    main: Event | None
    instances: tuple[Event, ...]

    @property
    def first(self) -> Event:
        return self.main or next((one for one in self.instances if not one.is_canceled), self.instances[0])


class DatedEvent(NamedTuple):
    """An event with its dates. `is_single`: it is one date, and no series; `is_cut`: it has later dates."""

    event: Event
    clock: FeedClock
    dates: Sequence[EventDate]
    is_single: bool
    is_cut: bool

    @property
    def spans(self) -> list[Span]:
        return sorted({date.span for date in self.dates if date.span is not None})


def series_of(feed: Feed, *, joins_uids: bool) -> list[Series]:
    """Return the events of a feed with their changed instances, in its order.

    Of several events with one UID, those of the highest SEQUENCE count. If several are left, they may be one
    course or several: only `joins_uids` imports them.
    """
    by_uid: dict[str, list[Event]] = {}
    for at, event in enumerate(feed.events):
        by_uid.setdefault(event.uid or f"\n{at}", []).append(event)  # no UID has a line break
    found: list[Series] = []
    for events in by_uid.values():
        mains = [event for event in events if event.instance is None]
        latest = max((event.sequence for event in mains), default=0)
        distinct: dict[object, Event] = {}
        for event in mains:
            if event.sequence < latest:
                feed.tell([event], "replaced", "another event with its UID has a higher SEQUENCE")
            elif event.content in distinct:
                feed.tell([event], "replaced", "the same event is in the file twice")
            else:
                distinct[event.content] = event
        instances = tuple(event for event in events if event.instance is not None)
        current = [*distinct.values()]
        if len(current) > 1 and not joins_uids:
            message = f"line {current[0].lines['']} has another event with its UID."
            fix = "Give each its own UID in the calendar, or --group uid if they are one course."
            for event in current[1:]:
                feed.refuse([event], NotImportedError("UID", message, fix))
            feed.tell(current[:1], REFUSED, "another event has its UID")
        elif len(current) > 1:
            # A changed date belongs to the event that has it; if none has it, the first reports it.
            found += [Series(event, instances if event is current[0] else ()) for event in current]
        elif not current and (BY_UID, events[0].uid) in feed.refused:
            feed.tell(events, REFUSED, "its event cannot be read")
        else:
            found.append(Series(current[0] if current else None, instances))
    return found


class DateReader:
    """The reading of the dates of all events of a feed. `zone`: of whole days, and of times without one."""

    def __init__(self, feed: Feed, options: ImportOptions, zone: Zone) -> None:
        self.feed = feed
        self.given = options.zone is not None  # it counts more than what calendars say
        self.clock = clock_in(zone.name)
        self.last = number(options.last_day) * DAY + DAY - 1
        self.left = MOST_EXPANDED

    def read(self, series: Series) -> DatedEvent:
        """Return the dates of a series. Raise NotImportedError."""
        reading = _SeriesReader(self, series)
        return reading.of_instances() if series.main is None else reading.of_event(series.main)

    def clock_of(self, event: Event) -> FeedClock:
        """Return the clock of an event: whole days are on every clock, so on that of the site."""
        start = event.span.start
        if start.clock is not None:
            return start.clock
        of_calendar = None if start.is_date or self.given else event.zones.clock(event.zones.default)
        return of_calendar or self.clock

    def starts(self, event: Event, text: str, first: int, own: Callable[[EventTime], int]) -> list[int]:
        """Return the starts of a rule of an event up to the last day, and the next one. `own`: converts."""
        self._check_number()
        parts = [part.strip().strip(",") for part in re.sub(r"\s", "", text.upper()).split(";")]
        parts = [part for part in parts if part]
        if event.span.start.is_date:
            parts = [part for part in parts if not part.startswith(_OF_DAY)]
        frequency = next((part[5:] for part in parts if part.startswith("FREQ=")), "")
        if frequency in ("HOURLY", "MINUTELY", "SECONDLY"):
            raise NotImportedError("RRULE", f"the event repeats {frequency}, more often than daily.")
        until = next((part[6:] for part in parts if part.startswith("UNTIL=")), "")
        last = own(until_of(event, until)) if until else self.last * 2
        rule = ";".join(part for part in parts if not part.startswith("UNTIL="))
        starts: list[int] = []
        begin = _EPOCH + timedelta(minutes=first)
        if begin.year > LAST_YEAR:
            return starts
        try:
            names = [part.partition("=")[0] for part in parts]
            if len({*names}) < len(names) or any(map(_NEVER_NEXT.match, parts)):
                raise ValueError  # of INTERVAL=0, dateutil finds no end
            for moment in rrulestr(rule, dtstart=begin.replace(year=begin.year + _SHIFT)):
                since = moment.replace(year=moment.year - _SHIFT) - _EPOCH
                wall = since.days * DAY + since.seconds // 60
                if wall > last:
                    break
                starts.append(wall)
                if wall > self.last:
                    break
                self.left -= 1
                self._check_number()
        except (ValueError, TypeError, LookupError):
            message = f'"{text[:60]}" is not a rule that Berth can follow.'
            raise NotImportedError("RRULE", message) from None
        if not starts:
            self.left -= _COST_OF_NOTHING
            self._check_number()
        return starts

    def _check_number(self) -> None:
        if self.left < 0:
            fix = "Import a part of it with --only, or remove rules that begin long ago."
            message = f"the events of the file have more than {MOST_EXPANDED:,} dates."
            raise NotImportedError("RRULE", message, fix)


class _SeriesReader:
    """The reading of one series, on the clock of its first event. `known`: its dates without changes."""

    def __init__(self, reader: DateReader, series: Series) -> None:
        self.reader, self.series = reader, series
        self.clock = reader.clock_of(series.first)
        self.is_date = series.first.span.start.is_date
        self.known: dict[int, Span] = {}
        self.by_day: dict[int, list[int]] = {}

    def warn(self, event: Event, key: str, message: str, fix: str) -> None:
        self.reader.feed.warn(event, key, message, fix)

    def of_instances(self) -> DatedEvent:
        """Return the dates of changed instances that are there without their event."""
        kept = [one for one in self.series.instances if not (one.is_canceled or one.says_canceled)]
        spans = [span for one in kept if (span := self._span(one, 0)).end > span.start]
        if kept and not spans:
            raise NotImportedError("", "the event has no length.")
        return self._dated(self.series.first, [EventDate(span, span) for span in spans])

    def of_event(self, main: Event) -> DatedEvent:
        begin = self._span(main, 0)
        length = begin.end - begin.start
        if length <= 0:
            what = "ends before it begins" if length else "has no length"
            raise NotImportedError("DTEND", f"the event {what}.", "Give it a later end in the calendar.")
        starts = {wall for rule in main.rules for wall in self._starts(main, rule, begin.start)}
        self.known = {wall: Span(wall, wall + length) for wall in starts}
        if main.rules and begin.start not in starts and begin.start <= self.reader.last:
            message = "DTSTART is not a date of the rule; it is imported as one more date."
            self.warn(main, "RRULE", message, "Check the first date in the calendar.")
        self.known.setdefault(begin.start, begin)
        for added in main.added:
            span = self._span_of(added, length)
            if added.start.is_date and not self.is_date:
                start = added.start.wall + begin.start % DAY
                span = Span(start, start + length)
            self.known.setdefault(span.start, span)
        for start in self.known:
            self.by_day.setdefault(start // DAY, []).append(start)
        dates = {
            start: EventDate(span if start in starts or not main.rules else None, span)
            for start, span in self.known.items()
        }
        for start in self._excluded(main, begin.start):
            dates[start] = dates[start]._replace(span=None)
        is_single = len(dates) == 1 and not self.series.instances
        self._change(dates, length)
        is_cut = any(wall > self.reader.last for wall in starts)
        return self._dated(main, [*dates.values()], is_single=is_single, is_cut=is_cut)

    def _starts(self, main: Event, rule: str, first: int) -> list[int]:
        return self.reader.starts(main, rule, first, self._named)

    def _own(self, time: EventTime) -> int:
        """Return a time on the clock of the series."""
        if time.clock is None or time.clock is self.clock:
            return time.wall
        return self.clock.wall(time.clock.instant(time.wall))

    def _named(self, time: EventTime) -> int:
        """Return a time that names a date of the series. Of whole days, it is a midnight of the calendar."""
        if not self.is_date:
            return self._own(time)
        if time.clock is not UTC:
            return time.wall // DAY * DAY
        return (self.series.first.zones.own or self.clock).wall(UTC.instant(time.wall)) // DAY * DAY

    def _span(self, event: Event, usual: int) -> Span:
        """Return when an event is. A single DURATION is elapsed time; in a rule, it is one of the clock."""
        span, start = event.span, self._own(event.span.start)
        if span.minutes and span.minutes % DAY and not (span.start.is_date or event.rules or event.added):
            return Span(start, self.clock.wall(self.clock.instant(start) + span.minutes * 60))
        return self._span_of(span, usual)

    def _span_of(self, span: EventSpan, usual: int) -> Span:
        start = self._own(span.start)
        if span.end is not None:
            end = self._own(span.end)
        else:
            end = start + (span.minutes or usual or (DAY if span.start.is_date else 0))
        # Some programs write one date as the start and the end of a whole day.
        return Span(start, end + DAY if span.start.is_date and end == start else end)

    def _meant(self, time: EventTime) -> list[int]:
        """Return the known starts that a time of EXDATE or RECURRENCE-ID means.

        A date means all of it. Some programs write its midnight: without a zone, or in that of the event.
        """
        wall = self._named(time)
        if wall in self.known and not time.is_date:
            return [wall]
        return [*self.by_day.get(wall // DAY, ())] if wall % DAY == 0 else []

    def _excluded(self, main: Event, first: int) -> set[int]:
        """Return the dates that are left out.

        Before and after a series that is shorter now, EXDATEs of its old dates may be left.
        """
        starts = {wall for rule in main.excluded_rules for wall in self._starts(main, rule, first)}
        for time in main.excluded:
            meant, wall = self._meant(time), self._named(time)
            starts |= {*meant}
            if not meant and wall // DAY in self.by_day:
                times = self._times(self.by_day[wall // DAY])
                message = f"it leaves out {_day(wall)} at {clock(wall)}; its time is {times}, and stays."
                self.warn(main, "EXDATE", message, f"Leave out {times} in the calendar, or nothing.")
            elif not meant and min(self.known) < wall < max(self.known):
                message = f"it leaves out {_day(wall)}, on which it has no date."
                self.warn(main, "EXDATE", message, "Correct the EXDATE in the calendar, or remove it.")
        return starts & self.known.keys()

    def _change(self, dates: dict[int, EventDate], length: int) -> None:
        """Change the dates by the changed instances; those of no known date are more dates."""
        for original, instance in self._instances().items():
            date, day = dates.get(original), _day(original)
            if instance.is_canceled or instance.says_canceled:
                if date is not None:
                    dates[original] = date._replace(span=None)
                continue
            span = self._span(instance, length)
            message, fix = "", "Check this date in the calendar."
            if span.end <= span.start:
                message, fix = f"the change of {day} has no length; it is left out.", "Give it a later end."
            elif date is not None:
                if date.span is None:
                    message = f"it leaves out {day}, and changes it; the change is imported."
                dates[original] = EventDate(date.original, span, instance.description)
            elif original <= self.reader.last:
                dates[original] = EventDate(None, span, instance.description)
                message = f"it has no date on {day} at {clock(original)}; it is imported as one more date."
            if message:
                self.warn(instance, "RECURRENCE-ID", message, fix)

    def _instances(self) -> dict[int, Event]:
        """Return the changed instances by the start that each replaces: of two, the one that counts."""
        found: dict[int, Event] = {}
        for instance in sorted(self.series.instances, key=lambda one: -one.sequence):
            assert instance.instance is not None
            if instance.is_for_following:
                message = "a change of this and all following dates is not supported."
                raise NotImportedError("RRULE", message, "End the event there, and begin another one.")
            wall = self._named(instance.instance)
            meant = self._meant(instance.instance) or [wall]
            if len(meant) > 1:
                message = f"{_day(wall)} has the times {self._times(meant)}; the change is left out."
                self.warn(instance, "RECURRENCE-ID", message, "Write the time of the one that changes.")
                continue
            other = found.setdefault(meant[0], instance)
            if other.sequence == instance.sequence and other.content != instance.content:
                message = f"line {other.lines['']} changes {_day(wall)}, too, and counts."
                self.warn(instance, "RECURRENCE-ID", message, "Remove one of the changes.")
        return found

    def _times(self, starts: Iterable[int]) -> str:
        return " and ".join(clock(start) for start in sorted(starts))

    def _dated(
        self, main: Event, dates: Sequence[EventDate], *, is_single: bool = False, is_cut: bool = False
    ) -> DatedEvent:
        """Return the dates with their clock: instead of EST, that of its place if it shows EST on all."""
        found = DatedEvent(main, self.clock, dates, is_single, is_cut)
        name = self.clock.name
        if name not in _ABBREVIATED or main.span.start.clock is None:
            return found
        place = clock_in(FIXED[name])
        for span in found.spans:
            instant = self.clock.instant(span.start)
            if place.instant(span.start) != instant:
                shown = f"{clock(span.start)} {name} is {clock(place.wall(instant))} in {place.name}"
                fix = f"Write {place.name} in the calendar, or a time in UTC."
                raise NotImportedError("DTSTART", f"on {_day(span.start)}, {shown}.", fix)
        return found._replace(clock=place)


def _day(wall: int) -> str:
    return date_text(wall // DAY)
