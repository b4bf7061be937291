"""Find all dates of an event: its rules, the dates that it adds and leaves out, and its changed instances.

All are wall times of one zone. A rule repeats on the clock of the event's zone, and each date keeps the
length on that clock.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from berth.dates.recurrence import MOST
from berth.dates.zone import DAY, Zone, clock, date_text, number
from berth.edit.calendarfeed import NOT_IMPORTED, PARTLY_IMPORTED, Event, Feed
from berth.edit.calendarrules import EventRule
from berth.edit.calendarvalues import EventSpan, EventTime
from berth.edit.calendarzones import EventClock, ZoneClock, place_of
from berth.findings import Finding
from berth.notation.days import FIRST_YEAR, LAST_YEAR
from berth.notation.zones import is_utc, zone_advice

_FIRST, _LAST = number(date(FIRST_YEAR, 1, 1)), number(date(LAST_YEAR, 12, 31))
_MOST_FOLLOWED = 100 * MOST  # dates of a rule, also before --from
_SHOWN = 3  # dates in a message


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
            self.changed[span].span if span in self.changed else span
            for span in self.regular
            if span not in self.excluded
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
        held = (
            instance for instance in self.instances if not (instance.is_canceled or instance.says_canceled)
        )
        return self.main or next(held, self.instances[0])

    @property
    def is_canceled(self) -> bool:
        return (
            self.first.is_canceled if self.main else all(instance.is_canceled for instance in self.instances)
        )


class Limits(NamedTuple):
    """Which dates are imported, the first and the last included, and the zone of times without one.

    `is_zone_given`: it is that of an option, which counts more than what calendars say.
    """

    zone: Zone
    first: date | None = None
    last: date | None = None
    is_zone_given: bool = False

    @property
    def first_day(self) -> int:
        return max(number(self.first), _FIRST) if self.first else _FIRST

    @property
    def last_day(self) -> int:
        return min(number(self.last), _LAST) if self.last else _LAST


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


class _Starts:
    """The starts of all dates of an event, also by their day."""

    def __init__(self, starts: Collection[int]) -> None:
        self.all = frozenset(starts)
        self._by_day: dict[int, set[int]] = {}
        for start in starts:
            self._by_day.setdefault(start // DAY, set()).add(start)

    def of_day(self, day: int) -> set[int]:
        return self._by_day.get(day, set())


class _Reading:
    """The reading of one event: its clock, and what all times are converted with."""

    def __init__(self, series: Series, feed: Feed, limits: Limits, *, in_zone: bool) -> None:
        self.series, self.feed, self.limits, self.in_zone = series, feed, limits, in_zone
        self.findings: list[Finding] = []
        self.clock = self._clock_of(series.first, "DTSTART", series.first.span.start)
        self.zone = limits.zone

    def refuse(self, event: Event, key: str, message: str, fix: str) -> NotImportedError:
        return NotImportedError(self.feed.finding(event, NOT_IMPORTED, key, message, fix))

    def dates(self) -> tuple[EventDates, list[Finding]]:
        main = self.series.main
        if main is None:
            return self._dates_of_instances(), self.findings
        first = self._span(main, main.span, 0)
        if first.end <= first.start:
            raise self._without_length(main)
        # Dates outside of the limits are left out at the end: a change is found by the original date.
        regular, added = self._originals(main, first)
        known = _Starts(regular | added)
        excluded = self._excluded(main, known)
        changed, others = self._changes(first.end - first.start, known, excluded)
        for start, change in changed.items():
            if not self._is_within(start):
                others.append(change.span)
            elif not self._is_within(change.span.start):
                excluded.add(start)
        extra = [
            changed[start].span if start in changed else span
            for start, span in added.items()
            if start not in regular and start not in excluded and self._is_within(start)
        ]
        others = [span for span in others if self._is_within(span.start)]
        kept = self._kept(main, regular)
        moved = {start: changed[start] for start in sorted((kept.keys() & changed.keys()) - excluded)}
        happening = [*kept.values(), *(change.span for change in moved.values()), *extra, *others]
        self._choose_zone(main, happening)
        self._warn_of_length(
            main, (kept[start] for start in kept if start not in excluded and start not in changed)
        )
        spans = {start: self._converted(span) for start, span in kept.items()}
        event_dates = EventDates(
            self.zone,
            tuple(sorted({*spans.values()})),
            frozenset(spans[start] for start in spans.keys() & excluded),
            {
                spans[start]: change._replace(span=self._converted(change.span))
                for start, change in moved.items()
            },
            tuple(sorted({self._converted(other) for other in (*extra, *others)})),
        )
        return event_dates, self.findings

    def _originals(self, main: Event, first: Span) -> tuple[dict[int, Span], dict[int, Span]]:
        """Return the dates of the rules, or without rules all of them, and those besides, by their start."""
        regular, added = self._regular(main, first), self._added(main, first)
        if not main.rules:
            return {**regular, **added}, {}
        if first.start not in regular:
            self._warn_of_first(main, first, regular)
            added[first.start] = first
        return regular, added

    def _kept(self, main: Event, regular: Mapping[int, Span]) -> dict[int, Span]:
        """Return the dates within the limits. Raise NotImportedError if there are too many."""
        kept = {start: span for start, span in regular.items() if self._is_within(start)}
        if len(kept) > MOST:
            fix = "Give --from and --until, or write several events."
            raise self.refuse(main, "RRULE", f"the event has more than {MOST:,} dates.", fix)
        return kept

    def _dates_of_instances(self) -> EventDates:
        """Return the dates of changed instances that are there without their event."""
        held = []
        known: dict[EventTime | None, Event] = {}
        for instance in self.series.instances:
            if self._is_new(instance, known.setdefault(instance.instance, instance), 0) and not self._is_off(
                instance
            ):
                self._check_instance(instance)
                held.append(instance)
        own = [span for one in held if self._has_length(one, span := self._span(one, one.span, 0))]
        if held and not own:
            raise self._without_length(held[0])
        kept = [span for span in own if self._is_within(span.start)]
        self._choose_zone(self.series.first, kept)
        return EventDates(
            self.zone, tuple(sorted({self._converted(span) for span in kept})), frozenset(), {}, ()
        )

    def _clock_of(self, event: Event, key: str, time: EventTime) -> EventClock:
        if not time.zone:
            default = None if self.limits.is_zone_given else event.zones.clock(event.zones.default)
            return default or ZoneClock(self.limits.zone)
        event_clock = event.zones.clock(time.zone)
        if event_clock is None:
            message = (
                f'no time zone named "{time.zone}", and the file has no VTIMEZONE for it that can be read.'
            )
            raise self.refuse(event, key, message, zone_advice(time.zone))
        return event_clock

    def _choose_zone(self, event: Event, spans: Collection[Span]) -> None:
        """Choose the zone of the result: that of the event, or of the limits where this is simpler.

        Single events in UTC are local times that a client converted.
        """
        repeats, walls = bool(event.rules), [wall for span in spans for wall in span]
        if isinstance(self.clock, ZoneClock):
            self._check_definition(event, self.clock, walls)
            if not self.in_zone and (repeats or not is_utc(self.clock.zone.name)):
                self.zone = self.clock.zone
        elif repeats and walls and not self.in_zone:
            self.zone = place_of(self.clock, walls, [self.limits.zone]) or self.limits.zone
        result = ZoneClock(self.zone)
        repeated = [wall for wall in walls if not _has_instant(result, self.clock.instant(wall))]
        if repeated and isinstance(self.clock, ZoneClock) and not self.in_zone:
            self.zone = self.clock.zone
        elif repeated:
            self._warn_of_repeated(event, "DTSTART", result.wall(self.clock.instant(repeated[0])))

    def _warn_of_repeated(self, event: Event, key: str, wall: int) -> None:
        """Report a time in the second of two hours of the same name, which a wall time cannot say."""
        message = f"clocks show {clock(wall)} twice on {_day_text(wall)}; the first of them is imported."
        self._warn(event, key, message, "Check the times that berth occurrences shows.")

    def _warn_of_length(self, main: Event, spans: Iterable[Span]) -> None:
        """Report dates on which a DURATION, which is elapsed time, differs from the length on the clock."""
        minutes = main.span.minutes
        if minutes is None or main.span.start.is_date or minutes % DAY == 0:
            return
        other = [
            span.start
            for span in spans
            if self.clock.instant(span.end) - self.clock.instant(span.start) != minutes * 60
        ]
        if other:
            message = f"clocks change during {_days_text(other)}; the end has the usual time of day there."
            self._warn(main, "DURATION", message, "Check the times that berth occurrences shows.")

    def _check_definition(self, event: Event, place: ZoneClock, walls: Iterable[int]) -> None:
        """Report a VTIMEZONE that says something else than the name of its place."""
        name = event.span.start.zone
        definition = event.zones.definition(name) if name else None
        if definition is None:
            return
        other = next((wall for wall in walls if definition.instant(wall) != place.instant(wall)), None)
        if other is not None:
            day = _day_text(other)
            message = (
                f'the VTIMEZONE of "{name}" has another offset on {day} than {place.zone.name}, which counts.'
            )
            self._warn(event, "DTSTART", message, "Check the times that berth occurrences shows.")

    def _wall(self, event: Event, key: str, time: EventTime) -> int:
        """Return a time on the clock of the event."""
        first = self.series.first
        if not time.zone or (time.zone == first.span.start.zone and event.zones is first.zones):
            return time.wall
        instant = self._clock_of(event, key, time).instant(time.wall)
        wall = self.clock.wall(instant)
        if key in ("DTSTART", "DTEND") and not _has_instant(self.clock, instant):
            self._warn_of_repeated(event, key, wall)
        return wall

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
        if span.minutes and span.minutes % DAY and not (span.start.is_date or event.rules or event.added):
            end = self.clock.instant(start) + span.minutes * 60  # a DURATION is elapsed time
            if _has_instant(self.clock, end):
                return Span(start, self.clock.wall(end))
        return Span(start, start + (minutes if span.minutes is None else span.minutes))

    def _is_within(self, wall: int) -> bool:
        return self.limits.first_day <= wall // DAY <= self.limits.last_day

    def _regular(self, main: Event, first: Span) -> dict[int, Span]:
        """Return the dates of the rules, by start; without a rule, that of the event."""
        walls = {wall for rule in main.rules for wall in self._starts(main, rule, first.start)}
        if not main.rules:
            walls.add(first.start)
        return {wall: Span(wall, wall + first.end - first.start) for wall in sorted(walls)}

    def _starts(self, main: Event, rule: EventRule, start: int) -> list[int]:
        """Return all starts of a rule of the event up to the last date that is imported."""
        if rule.until is None and rule.repeats is None and self.limits.last is None:
            fix = "Give --until DATE, for example the last day of the term."
            raise self.refuse(main, "RRULE", "the event never ends.", fix)
        return self._followed(main, "RRULE", rule, start, (self.limits.last_day + 1) * DAY - 1)

    def _followed(self, main: Event, key: str, rule: EventRule, start: int, last: int) -> list[int]:
        if rule.until is not None:
            last = min(last, self._until(main, key, rule.until))
        starts: list[int] = []
        kept = 0
        for wall in rule.starts(start):
            if wall > last:
                break
            starts.append(wall)
            kept += self._is_within(wall)
            if kept > MOST or len(starts) > _MOST_FOLLOWED:
                fix = "Give --from and --until, or write several events."
                raise self.refuse(main, key, f"the event has more than {MOST:,} dates.", fix)
        return starts

    def _until(self, event: Event, key: str, until: EventTime) -> int:
        """Return the last wall time of UNTIL: a date, a time in UTC, or one on the clock of the event."""
        return until.wall + DAY - 1 if until.is_date else self._wall(event, key, until)

    def _warn_of_first(self, main: Event, first: Span, regular: Collection[int]) -> None:
        if self._is_within(first.start):
            reason = "" if regular else "the rule has no date; "
            message = f"{reason}DTSTART is not a date of the rule; it is imported as one more date."
            self._warn(main, "RRULE", message, "Check the first date in the calendar.")

    def _added(self, main: Event, first: Span) -> dict[int, Span]:
        """Return the dates of RDATE, by start. A date without a time is at the time of the event."""
        minutes, spans = first.end - first.start, []
        for one in main.added:
            span = self._span(main, one, minutes)
            day = self._day_meant(one.start, span.start) if one.end is None and one.minutes is None else None
            if day is not None:
                start = day * DAY + first.start % DAY
                if start != span.start and not one.start.is_date:
                    message = f"a midnight is read as the date {_day_text(start)}, at {clock(start)}."
                    self._warn(main, "RDATE", message, "Check this date in the calendar.")
                span = Span(start, start + minutes)
            if span.end <= span.start:
                message = f"the date {_day_text(span.start)} has no length; it is left out."
                self._warn(main, "RDATE", message, "Give it an end.")
            else:
                spans.append(span)
        return {span.start: span for span in spans}

    def _excluded(self, main: Event, known: _Starts) -> set[int]:
        begin, last = self._wall(main, "DTSTART", main.span.start), max(known.all)
        starts = {
            wall for rule in main.excluded_rules for wall in self._followed(main, "EXRULE", rule, begin, last)
        }
        unknown = []
        for time in main.excluded:
            meant = self._meant(main, "EXDATE", time, known)
            starts |= meant
            wall = self._wall(main, "EXDATE", time)
            if meant or not self._is_within(wall):
                continue
            if times := sorted(known.of_day(wall // DAY)):
                shown = " and ".join(clock(start) for start in times)
                message = (
                    f"the event leaves out {_day_text(wall)} at {clock(wall)}; its time there is {shown}, "
                    "which is imported."
                )
                self._warn(main, "EXDATE", message, f"Leave out {shown} in the calendar, or nothing.")
            else:
                unknown.append(wall)
        if unknown:
            message = f"the event has no date on {_days_text(unknown)}, which it leaves out."
            self._warn(main, "EXDATE", message, "Check these dates in the calendar.")
        return starts & known.all

    def _meant(self, event: Event, key: str, time: EventTime, known: _Starts) -> set[int]:
        """Return the starts that a time means. A date means all of it; some clients write its midnight."""
        wall = self._wall(event, key, time)
        if wall in known.all and not time.is_date:
            return {wall}
        day = self._day_meant(time, wall)
        return set() if day is None else known.of_day(day)

    def _day_meant(self, time: EventTime, wall: int) -> int | None:
        """Return the day of a date, and of a midnight that stands for one: without a zone, or of the event.

        An event of whole days has no zone, so the midnight of each zone stands for its date.
        """
        if wall % DAY == 0:
            return wall // DAY
        is_any_zone = not time.zone or self.series.first.span.start.is_date
        return time.day if is_any_zone and time.wall % DAY == 0 else None

    def _changes(
        self, minutes: int, known: _Starts, excluded: set[int]
    ) -> tuple[dict[int, Changed], list[Span]]:
        """Return the changed instances by start, and those of no date of the rules; add canceled ones."""
        changed: dict[int, Changed] = {}
        others: list[Span] = []
        changes: dict[int, Event] = {}  # by start, and of other dates by the time that is written
        for instance in self.series.instances:
            self._check_instance(instance)
            assert instance.instance is not None
            meant = self._meant(instance, "RECURRENCE-ID", instance.instance, known)
            dates = meant or {self._wall(instance, "RECURRENCE-ID", instance.instance)}
            is_new = [
                self._is_new(instance, changes.setdefault(start, instance), minutes)
                for start in sorted(dates)
            ]
            if not any(is_new):
                continue
            if self._is_off(instance):
                excluded |= meant
                continue
            if len(meant) > 1:
                times = " and ".join(clock(start) for start in sorted(meant))
                message = f"the date {_day_text(min(meant))} has the times {times}; which one is changed?"
                raise self.refuse(
                    instance, "RECURRENCE-ID", message, "Write the time of the one that changes."
                )
            span = self._span(instance, instance.span, minutes)
            if not self._has_length(instance, span):
                excluded |= meant
                continue
            if any(self._is_within(start) for start in meant & excluded):
                message = f"the event leaves out {_days_text(meant)}, and changes it; the change is imported."
                self._warn(instance, "RECURRENCE-ID", message, "Remove one of them in the calendar.")
            excluded -= meant
            changed |= dict.fromkeys(meant, Changed(span, instance.description))
            if not meant:
                others.append(span)
                self._warn_of_stray(instance, instance.instance, span)
        return changed, others

    def _is_new(self, changed: Event, other: Event, minutes: int) -> bool:
        """Tell whether a change of a date is not a copy. Refuse one that contradicts another."""
        if changed is other:
            return True
        first, second = (self._content(one, minutes) for one in (other, changed))
        if first != second:
            day = _day_text(self._wall(changed, "RECURRENCE-ID", changed.instance or EventTime(0)))
            message = f"the date {day} is changed twice: line {other.lines['']} has another change of it."
            raise self.refuse(changed, "RECURRENCE-ID", message, "Remove one of the changes.")
        return False

    def _content(self, changed: Event, minutes: int) -> tuple[object, ...]:
        """Return what a changed instance says, apart from how its times are written."""
        if self._is_off(changed):
            return ()
        rules = changed.rules, changed.added, changed.is_for_following
        return changed.title, changed.description, self._span(changed, changed.span, minutes), rules

    def _is_off(self, changed: Event) -> bool:
        """Tell whether a changed date does not happen: by its status, or by a title of its own."""
        if not changed.is_canceled and changed.says_canceled and not self.series.first.says_canceled:
            message = "the title of this date says that it is canceled; it is not imported."
            self._warn(changed, "SUMMARY", message, "If it takes place, correct its title.")
            return True
        return changed.is_canceled

    def _warn_of_stray(self, changed: Event, instance: EventTime, span: Span) -> None:
        """Report a change of a date that the event does not have, and that would be imported."""
        wall = self._wall(changed, "RECURRENCE-ID", instance)
        if self._is_within(span.start) and self._is_within(wall):
            message = f"the event has no date on {_day_text(wall)}; it is imported as one more date."
            self._warn(changed, "RECURRENCE-ID", message, "Check this date in the calendar.")

    def _check_instance(self, changed: Event) -> None:
        """Refuse or report what a changed date says of other dates."""
        if changed.is_for_following:
            message = "a change of this and all following dates is not supported."
            raise self.refuse(
                changed, "RECURRENCE-ID", message, "End the event there, and begin another one."
            )
        main = self.series.main
        for key, own, whole in (
            ("RRULE", changed.rules, main.rules if main else ()),
            ("RDATE", changed.added, main.added if main else ()),
        ):
            if own and own != whole:
                message = f"a changed date has {key}, which is not used."
                self._warn(changed, key, message, "Check this event in the calendar.")

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


def _has_instant(clock: EventClock, instant: int) -> bool:
    """Tell whether a wall time of a clock means this instant: of a repeated time, it means the first."""
    return clock.instant(clock.wall(instant)) == instant // 60 * 60


def _day_text(wall: int) -> str:
    return date_text(wall // DAY)


def _days_text(walls: Collection[int]) -> str:
    """Return some dates, and how many more there are."""
    days = [_day_text(wall) for wall in sorted(walls)]
    more = f" and {len(days) - _SHOWN} more" if len(days) > _SHOWN else ""
    return f"{', '.join(days[:_SHOWN])}{more}"
