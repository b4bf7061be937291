"""Find the shortest recurrence that has exactly given dates: once, daily, weekly, monthly, or listed.

A pattern is found from the dates alone, so it is right whatever rule they come from.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from math import gcd
from typing import NamedTuple

from berth.dates.zone import DAY, day_of
from berth.edit.eventdates import Changed, EventDates, Span
from berth.schema.values import EVERY_DATE, Entry, EntryDates, Except, Extra, Move, Recurrence, Seats

_LONGEST_INTERVAL = 52  # weeks
_NTHS = (1, 2, 3, -1, 4, 5)  # of a weekday in its month
_FEW = 3  # dates: fewer are a coincidence, not every other week or month


class Hours(NamedTuple):
    """The times of day of a window, as an entry has them."""

    start: int
    end: int
    end_day: int | None


class _Pattern(NamedTuple):
    type: str
    days: tuple[int, ...]  # all of them, ascending
    schedule: tuple[Entry, ...]
    dates: tuple[tuple[date, date], ...] = ()
    interval: int = 1


def recurrence_of(dates: EventDates, seats: Seats, seats_of: Mapping[Span, Seats]) -> Recurrence | None:
    """Return a recurrence with these dates, or None if there is none. `seats_of`: of changed dates."""
    regular, extra = dates.regular, dates.extra
    kept = tuple(one for one in regular if one not in dates.excluded)
    if not kept:
        kept, extra = extra, ()
    if not kept:
        return None
    found = _regular_pattern(regular) if len(regular) > 2 * len(dates.excluded) else None
    excluded = dates.excluded if found is not None else frozenset()
    if found is None:
        regular, found = kept, _regular_pattern(kept) or _listed(kept)
    once = found.type == "once"
    first, last = (None, None) if found.type == "dates" else (_day(found.days[0]), _day(found.days[-1]))
    return Recurrence(
        type=found.type,
        zone=dates.zone.name,
        first=first,
        last=_day((kept[0].end - 1) // DAY) if once else last,
        dates=found.dates,
        interval=found.interval,
        schedule=tuple(one._replace(seats=seats) for one in found.schedule),
        calendars=(),
        excepts=tuple(_excepts(regular, excluded)),
        moves=tuple(
            _move(one, changed.span, regular, seats_of.get(one))
            for one, changed in dates.changed.items()
            if one != changed.span or one in seats_of
        ),
        extras=tuple(
            Extra(_day(one.start // DAY), *hours_of(one), seats_of.get(one, seats)) for one in extra
        ),
    )


def with_weekly_rules(dates: EventDates) -> EventDates:
    """Return the dates as weekly rules with exceptions, where most of them follow such rules.

    A weekday and time with at least three dates, of which few are missing, is a rule. All else is extra.
    """
    happening = dates.happening
    if len(happening) < _FEW or _regular_pattern(happening) is not None:
        return dates
    slots: dict[tuple[int, Hours], list[Span]] = {}
    for span in happening:
        slots.setdefault((_weekday(span.start // DAY), hours_of(span)), []).append(span)
    often = [own for own in slots.values() if len(own) >= _FEW]
    weeks = sorted({_week(span.start // DAY) for own in often for span in own})
    step = 7 * max(1, gcd(*(week - weeks[0] for week in weeks))) if weeks else 7
    rules = [own for own in map(partial(_whole_rule, step * DAY), often) if own is not None]
    regular = {span for own in rules for span in own}
    extra = {*happening} - regular
    if len(extra) >= len(regular):
        return dates
    missing = {(span.start): span for span in regular - {*happening}}
    changed = {missing[span.start]: Changed(span, "") for span in sorted(extra) if span.start in missing}
    return EventDates(
        dates.zone,
        tuple(sorted(regular)),
        frozenset(missing.values()) - changed.keys(),
        changed,
        tuple(sorted(extra - {change.span for change in changed.values()})),
    )


def _whole_rule(step: int, dates: Sequence[Span]) -> list[Span] | None:
    """Return all dates of a rule that repeats after `step` minutes; None if too many of them are missing."""
    first, last = dates[0], dates[-1]
    length = first.end - first.start
    every = [Span(start, start + length) for start in range(first.start, last.start + 1, step)]
    return every if len(every) <= len(dates) * 4 / 3 + 1 else None


def hours_of(span: Span) -> Hours:
    """Return the times of day; the end has a day only where it is not clear from the times."""
    start = span.start % DAY
    end_day, end = divmod(start + span.end - span.start, DAY)
    if end == 0:
        end_day, end = end_day - 1, DAY
    is_clear = end_day == 0 or (end_day == 1 and end < start)
    return Hours(start, end, None if is_clear else end_day)


def _day(number: int) -> date:
    return day_of(number * DAY)


def _regular_pattern(spans: Sequence[Span]) -> _Pattern | None:
    groups: dict[Hours, list[int]] = {}
    for span in spans:
        groups.setdefault(hours_of(span), []).append(span.start // DAY)
    days = tuple(sorted({span.start // DAY for span in spans}))
    if len(spans) == 1:
        return _once(spans[0])
    return _daily(groups, days) or _weekly(groups, days) or _monthly(groups, days)


def _once(span: Span) -> _Pattern:
    """Return the pattern of one date; the day of its end is that of the recurrence."""
    end = DAY if span.end % DAY == 0 else span.end % DAY
    return _Pattern("once", (span.start // DAY,), (Entry((), span.start % DAY, end, None, ()),))


def _entry(hours: Hours, days: Sequence[int] = (), dates: EntryDates = EVERY_DATE) -> Entry:
    return Entry(tuple(day + 1 for day in days), *hours, (), dates=dates)


def _within(days: Sequence[int], every: Sequence[int]) -> EntryDates:
    """Return the limits of an entry that does not have the first and the last of all days."""
    first = None if days[0] == every[0] else _day(days[0])
    last = None if days[-1] == every[-1] else _day(days[-1])
    return EntryDates(first, last)


def _daily(groups: Mapping[Hours, Sequence[int]], days: tuple[int, ...]) -> _Pattern | None:
    if any(len(own) < 2 or own[-1] - own[0] != len(own) - 1 for own in groups.values()):
        return None
    return _Pattern(
        "daily", days, tuple(_entry(hours, dates=_within(own, days)) for hours, own in groups.items())
    )


def _weekly(groups: Mapping[Hours, Sequence[int]], days: tuple[int, ...]) -> _Pattern | None:
    weeks = sorted({_week(day) for day in days})
    interval = gcd(*(week - weeks[0] for week in weeks))
    repeats = len(days) > len({_weekday(day) for day in days})
    if not repeats or interval > _LONGEST_INTERVAL or (interval > 1 and len(weeks) < _FEW):
        return None
    schedule: list[Entry] = []
    for hours, own in groups.items():
        entries = _weekly_entries(hours, own, days, interval)
        if entries is None:
            return None
        schedule += entries
    return _Pattern("weekly", days, tuple(schedule), interval=interval)


def _weekly_entries(
    hours: Hours, own: Sequence[int], days: Sequence[int], interval: int
) -> list[Entry] | None:
    """Return one entry for these dates, or one for each weekday; None if they are not such entries."""
    weekdays = sorted({_weekday(day) for day in own})
    for limits in (days, own):
        if _every(limits, weekdays, interval, days) == [*own]:
            return [_entry(hours, weekdays, EVERY_DATE if limits is days else _within(own, days))]
    if len(weekdays) == 1:
        return None
    found: list[Entry] = []
    for weekday in weekdays:
        dates = [day for day in own if _weekday(day) == weekday]
        entries = _weekly_entries(hours, dates, days, interval) if len(dates) > 1 else None
        if entries is None:
            return None
        found += entries
    return found


def _every(limits: Sequence[int], weekdays: Sequence[int], interval: int, days: Sequence[int]) -> list[int]:
    return [
        day
        for day in range(limits[0], limits[-1] + 1)
        if _weekday(day) in weekdays and (_week(day) - _week(days[0])) % interval == 0
    ]


def _weekday(day: int) -> int:
    """Return 0 for a Monday; day 0 was a Thursday."""
    return (day + 3) % 7


def _week(day: int) -> int:
    return (day + 3) // 7


def _monthly(groups: Mapping[Hours, Sequence[int]], days: tuple[int, ...]) -> _Pattern | None:
    if len(days) < _FEW:
        return None
    schedule = []
    for hours, own in groups.items():
        for weekday in sorted({_weekday(day) for day in own}):
            missing = {day for day in own if _weekday(day) == weekday}
            for nth in _NTHS:
                every = {
                    day
                    for day in range(days[0], days[-1] + 1)
                    if _weekday(day) == weekday and nth in _nths(day)
                }
                if len(every) > 1 and every <= missing:
                    missing -= every
                    schedule.append(_entry(hours, [weekday], EntryDates(nth=nth)))
            if missing:
                return None
    return _Pattern("weekly", days, tuple(schedule))


def _nths(day: int) -> tuple[int, ...]:
    """Return which of its weekday's dates in the month it is."""
    nth = (_day(day).day - 1) // 7 + 1
    return (nth,) if _day(day).month == _day(day + 7).month else (nth, -1)


def _listed(spans: Sequence[Span]) -> _Pattern:
    """Return a pattern that lists the dates: with their own hours, unless all have the same."""
    runs: list[tuple[Hours, int, int]] = []
    for one in sorted(spans, key=lambda span: (span.start % DAY, span.end - span.start, span.start)):
        hours, day = hours_of(one), one.start // DAY
        if runs and runs[-1][0] == hours and runs[-1][2] == day - 1:
            runs[-1] = hours, runs[-1][1], day
        else:
            runs.append((hours, day, day))
    runs.sort(key=lambda run: (run[1], run[0].start))
    dates = tuple((_day(first), _day(last)) for _, first, last in runs)
    all_hours = {hours for hours, _, _ in runs}
    schedule = tuple(_entry(hours, dates=EntryDates(listed=i)) for i, (hours, _, _) in enumerate(runs))
    if len(all_hours) == 1:
        schedule = (_entry(all_hours.pop()),)
    return _Pattern("dates", tuple(sorted({span.start // DAY for span in spans})), schedule, dates)


def _excepts(regular: Iterable[Span], excluded: frozenset[Span]) -> list[Except]:
    """Return an exception for each date that is left out, or for each time that is left out of a date."""
    by_day: dict[int, list[Span]] = {}
    for span in regular:
        by_day.setdefault(span.start // DAY, []).append(span)
    excepts = []
    for number, spans in sorted(by_day.items()):
        gone = [span for span in spans if span in excluded]
        starts = [None] if gone and len(gone) == len(spans) else [span.start % DAY for span in gone]
        excepts += [Except(_day(number), _day(number), start) for start in starts]
    return excepts


def _move(one: Span, to: Span, regular: Sequence[Span], seats: Seats | None) -> Move:
    """Return what changes of a date: only what differs is written."""
    day, to_day = one.start // DAY, to.start // DAY
    is_alone = sum(other.start // DAY == day for other in regular) == 1
    hours = hours_of(to)
    keeps_length = to.end - to.start == one.end - one.start
    return Move(
        day=_day(day),
        start=None if is_alone else one.start % DAY,
        to_day=None if to_day == day else _day(to_day),
        to_start=None if to.start % DAY == one.start % DAY else hours.start,
        to_end=None if keeps_length else hours.end,
        to_end_day=None if keeps_length else hours.end_day,
        seats=seats,
    )
