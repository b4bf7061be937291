"""Write a recurrence as YAML, as `berth new` and `berth import` do: a line for each date that differs."""

from collections.abc import Iterable
from datetime import date

from berth.dates.zone import clock, clock_text
from berth.notation.weekdays import WEEKDAYS, WEEKS
from berth.output.yamltext import flow, quote
from berth.schema.values import Entry, EntryDates, Except, Extra, Move, Recurrence, Seats


def recurrence_lines(one: Recurrence, seats: Seats) -> list[str]:
    """Return the lines of `recurrence` in a reservation that has these seats."""
    lines = [f"  recurrence:\n    type: {one.type}\n"]
    if one.within:
        lines.append(f"    within: {flow(one.within)}\n")
    elif one.first and one.last:
        lines.append(f"    startDate: {one.first}\n    endDate: {one.last}\n")
    own = {entry.dates.listed: entry for entry in one.schedule if entry.dates.listed is not None}
    lines += _block("dates", [_listed(span, own.get(i), seats) for i, span in enumerate(one.dates)])
    if one.zone:
        lines.append(f"    timeZone: {one.zone}\n")
    if one.interval != 1:
        lines.append(f"    interval: {one.interval}\n")
    if one.calendars:
        lines.append(f"    calendars: {flow(one.calendars)}\n")
    lines += _block("except", map(_except, one.excepts))
    shared = (entry for entry in one.schedule if entry.dates.listed is None)
    lines += _block("schedule", (_mapping(_entry_fields(entry, seats)) for entry in shared))
    lines += _block("moved", (_move(move, seats) for move in one.moves))
    lines += _block("extra", (_mapping(_extra_fields(extra, seats)) for extra in one.extras))
    return lines


def _block(key: str, items: Iterable[str]) -> list[str]:
    lines = [f"      - {item}\n" for item in items]
    return [f"    {key}:\n", *lines] if lines else []


def _mapping(fields: Iterable[str]) -> str:
    return f"{{{', '.join(fields)}}}"


def _span_fields(span: tuple[date, date]) -> list[str]:
    first, last = span
    return [f"date: {first}"] if first == last else [f"from: {first}", f"to: {last}"]


def _listed(span: tuple[date, date], own: Entry | None, seats: Seats) -> str:
    """Return an item of `dates`, with the hours, the name and the seats of its own entry."""
    if own is not None:
        hours = _hours(own.start, own.end, own.end_day)
        return _mapping([*_span_fields(span), *hours, *_name(own.name or None), *_count(own.seats, seats)])
    return str(span[0]) if span[0] == span[1] else _mapping(_span_fields(span))


def _hours(start: int | None, end: int | None, end_day: int | None) -> list[str]:
    found = [] if start is None else [f'startTime: "{clock(start)}"']
    found += [] if end is None else [f'endTime: "{clock_text(end)}"']
    return found + ([] if end_day is None else [f"endDay: {end_day}"])


def _entry_fields(entry: Entry, seats: Seats) -> list[str]:
    names = [WEEKDAYS[day - 1] for day in entry.days]
    fields = [f"dayOfWeek: {names[0]}"] if len(names) == 1 else []
    fields += [f"daysOfWeek: [{', '.join(names)}]"] if len(names) > 1 else []
    fields += _hours(entry.start, entry.end, entry.end_day)
    fields += _name(entry.name or None)
    return fields + _date_fields(entry.dates) + _count(entry.seats, seats)


def _name(name: str | None) -> list[str]:
    """Return the field of a name; an empty one is that of entries without a name."""
    return [] if name is None else [f"name: {quote(name)}"]


def _date_fields(dates: EntryDates) -> list[str]:
    fields = [f"from: {dates.first}"] if dates.first else []
    fields += [f"until: {dates.last}"] if dates.last else []
    if dates.weeks:
        words = [word for word, weeks in WEEKS.items() if weeks == dates.weeks]
        fields.append(f"weeks: {words[0] if words else [*dates.weeks]}")
    return fields + ([f"monthly: {{week: {dates.nth}}}"] if dates.nth else [])


def _count(own: Seats | None, seats: Seats) -> list[str]:
    """Return the seats of a line that has its own."""
    return [] if not own or own == seats else _seat_fields(own, seats)


def _seat_fields(own: Seats, seats: Seats) -> list[str]:
    """Return the seats of a line in a reservation that has others: a number where both are of one class."""
    if len(seats) == 1 and [name for name, _ in own] == [name for name, _ in seats]:
        return [f"placeholderCount: {own[0][1]}"]
    rows = (_mapping([f"resourceClass: {name}", f"placeholderCount: {count}"]) for name, count in own)
    return [f"seats: [{', '.join(rows)}]"]


def _except(one: Except) -> str:
    span = one.first, one.last
    more = [*_hours(one.start, None, None), *_name(one.name)]
    more += [f"title: {quote(one.title)}"] if one.title else []
    return _mapping([*_span_fields(span), *more]) if more else _listed(span, None, ())


def _move(one: Move, seats: Seats) -> str:
    to = [f"date: {one.to_day}"] if one.to_day else []
    to += _hours(one.to_start, one.to_end, one.to_end_day)
    to += [] if one.seats is None else _seat_fields(one.seats, seats)
    which = [*_hours(one.start, None, None), *_name(one.name)]
    return _mapping([f"date: {one.day}", *which, f"to: {_mapping(to)}"])


def _extra_fields(extra: Extra, seats: Seats) -> list[str]:
    hours = _hours(extra.start, extra.end, extra.end_day)
    return [f"date: {extra.day}", *hours, *_name(extra.name or None), *_count(extra.seats, seats)]
