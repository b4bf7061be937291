"""Write dates as a recurrence: one date, a weekly rule with few exceptions, or a list of dates."""

from collections.abc import Iterable, Mapping, Sequence
from math import gcd
from typing import NamedTuple

from berth.dates.zone import DAY, Zone, day_of
from berth.edit.feeddates import Span
from berth.schema.values import Entry, EntryDates, Except, Extra, Move, Recurrence, Seats

_LONGEST_INTERVAL = 52  # weeks
_FEW = 3  # dates: fewer are a coincidence, not a rule


class RuleDates(NamedTuple):
    """Dates of a zone. `regular`: what one rule has, by start, also those that are left out.

    `moved`: when a regular date is instead. `seats`: of those that have other ones, by when they are.
    """

    zone: Zone
    regular: tuple[Span, ...]
    left_out: frozenset[Span]
    moved: Mapping[Span, Span]
    extra: tuple[Span, ...]
    seats: Mapping[Span, Seats]

    @property
    def happening(self) -> list[Span]:
        kept = (self.moved.get(span, span) for span in self.regular if span not in self.left_out)
        return sorted({*kept, *self.extra})


class _WeeklyRule(NamedTuple):
    every: list[Span]  # all its dates
    days: list[int]  # ISO weekdays
    interval: int


def recurrence_of(dates: RuleDates, usual: Seats) -> Recurrence:
    """Return a recurrence with exactly these dates, of which there are some, and seats."""
    rule = _weekly_rule(dates.regular)
    if rule is None or max(2 * len(dates.left_out), 4 * len(dates.seats)) > len(dates.regular):
        happening = (*dates.happening,)
        dates = dates._replace(regular=happening, left_out=frozenset(), moved={}, extra=())
        rule = None if dates.seats else _weekly_rule(happening)
    if rule is None:
        return _listed(dates, usual)
    hours = _hours(dates.regular[0])
    left_out = {*dates.left_out} | ({*rule.every} - {*dates.regular})
    moves = [
        _move(span, dates.moved.get(span, span), dates.seats)
        for span in dates.regular
        if span not in left_out and (span in dates.moved or span in dates.seats)
    ]
    return _recurrence(dates.zone, "weekly", rule.every[0].start, rule.every[-1].start)._replace(
        interval=rule.interval,
        schedule=(Entry((*rule.days,), *hours, usual),),
        excepts=tuple(Except(day_of(span.start), day_of(span.start), None) for span in sorted(left_out)),
        moves=(*moves,),
        extras=tuple(
            Extra(day_of(span.start), *_hours(span), dates.seats.get(span, usual)) for span in dates.extra
        ),
    )


def _recurrence(zone: Zone, kind: str, first: int | None, last: int | None) -> Recurrence:
    first_day, last_day = (None if wall is None else day_of(wall) for wall in (first, last))
    return Recurrence(kind, zone.name, first_day, last_day, (), 1, (), (), (), (), ())


def _weekly_rule(spans: Sequence[Span]) -> _WeeklyRule | None:
    """Return the rule of dates with equal times that has few others; None if there is none."""
    days = sorted({span.start // DAY for span in spans})
    if len(days) < max(_FEW, len(spans)) or len({_hours(span) for span in spans}) > 1:
        return None
    weekdays = sorted({(day + 3) % 7 for day in days})  # 0 for a Monday; day 0 was a Thursday
    monday = days[0] - (days[0] + 3) % 7
    weeks = sorted({(day - monday) // 7 for day in days})
    interval = gcd(*weeks)
    if (
        len(days) == len(weekdays)
        or not 1 <= interval <= _LONGEST_INTERVAL
        or (interval > 1 and len(weeks) < _FEW)
    ):
        return None
    shift = spans[0].start - days[0] * DAY
    length = spans[0].end - spans[0].start
    every = [
        Span(start := (monday + 7 * week + weekday) * DAY + shift, start + length)
        for week in range(0, weeks[-1] + 1, interval)
        for weekday in weekdays
        if days[0] <= monday + 7 * week + weekday <= days[-1]
    ]
    if 3 * len(every) > 4 * len(days) + 3:
        return None
    return _WeeklyRule(every, [day + 1 for day in weekdays], interval)


def _hours(span: Span) -> tuple[int, int, int | None]:
    """Return the times of day; the end has a day only where it is not clear from the times."""
    start = span.start % DAY
    end_day, end = divmod(start + span.end - span.start, DAY)
    if end == 0:
        end_day, end = end_day - 1, DAY
    is_clear = end_day == 0 or (end_day == 1 and end < start)
    return start, end, None if is_clear else end_day


def _listed(dates: RuleDates, usual: Seats) -> Recurrence:
    """Return a list of dates: with their own hours, unless all have the same."""
    spans = dates.regular
    if len(spans) == 1:
        (span,) = spans
        entry = Entry((), span.start % DAY, (span.end - 1) % DAY + 1, None, dates.seats.get(span, usual))
        return _recurrence(dates.zone, "once", span.start, span.end - 1)._replace(schedule=(entry,))
    rows = tuple((day_of(span.start), day_of(span.start)) for span in spans)
    if len({_hours(span) for span in spans}) == 1 and not dates.seats:
        schedule: Iterable[Entry] = [Entry((), *_hours(spans[0]), usual)]
    else:
        schedule = (
            Entry((), *_hours(span), dates.seats.get(span, usual), dates=EntryDates(listed=at))
            for at, span in enumerate(spans)
        )
    return _recurrence(dates.zone, "dates", None, None)._replace(dates=rows, schedule=(*schedule,))


def _move(span: Span, to: Span, seats: Mapping[Span, Seats]) -> Move:
    """Return what changes of a date: only what differs is written."""
    start, end, end_day = _hours(to)
    keeps_length = to.end - to.start == span.end - span.start
    return Move(
        day=day_of(span.start),
        start=None,
        to_day=None if to.start // DAY == span.start // DAY else day_of(to.start),
        to_start=None if to.start % DAY == span.start % DAY else start,
        to_end=None if keeps_length else end,
        to_end_day=None if keeps_length else end_day,
        seats=seats.get(to),
    )
