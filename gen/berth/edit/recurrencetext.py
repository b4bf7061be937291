"""Write a recurrence as YAML, as `berth new` and `berth import` do: a line for each date that differs."""

from datetime import date
from typing import Any

from berth.dates.zone import clock, clock_text
from berth.notation.weekdays import WEEKDAYS, WEEKS
from berth.output.yamltext import flow
from berth.schema.values import Entry, Except, Extra, Move, Recurrence, Seats

Keys = dict[str, Any]


def recurrence_lines(one: Recurrence, seats: Seats) -> list[str]:
    """Return the lines of `recurrence` in a reservation that has these seats."""
    has_span = one.first and one.last and not one.within
    own = {entry.dates.listed: entry for entry in one.schedule if entry.dates.listed is not None}
    shared = [entry for entry in one.schedule if entry.dates.listed is None]
    keys = {
        "type": one.type,
        "within": one.within,
        "startDate": one.first if has_span else None,
        "endDate": one.last if has_span else None,
        "dates": [_listed(span, own.get(i), seats) for i, span in enumerate(one.dates)],
        "timeZone": one.zone,
        "interval": one.interval if one.interval != 1 else None,
        "calendars": one.calendars,
        "except": [_except(item) for item in one.excepts],
        "schedule": [_entry(entry, seats) for entry in shared],
        "moved": [_move(move, seats) for move in one.moves],
        "extra": [_extra(extra, seats) for extra in one.extras],
    }
    lines = ["  recurrence:\n"]
    for key, value in keys.items():
        if isinstance(value, list) and value:
            lines += [f"    {key}:\n", *(f"      - {flow(item)}\n" for item in value)]
        elif value:
            lines.append(f"    {key}: {flow(value)}\n")
    return lines


def _given(keys: Keys) -> Keys:
    """Return the keys that have a value; an empty name is that of entries without one."""
    return {key: value for key, value in keys.items() if value is not None}


def _span(first: date, last: date) -> Keys:
    return {"date": first} if first == last else {"from": first, "to": last}


def _hours(start: int | None, end: int | None, end_day: int | None) -> Keys:
    start_time = None if start is None else clock(start)
    end_time = None if end is None else clock_text(end)
    return _given({"startTime": start_time, "endTime": end_time, "endDay": end_day})


def _own_seats(own: Seats | None, seats: Seats) -> Keys:
    """Return the seats of a line that has its own."""
    return _seats(own, seats) if own and own != seats else {}


def _seats(own: Seats, seats: Seats) -> Keys:
    """Return the seats of a line in a reservation that has others: a number where both are of one class."""
    if len(seats) == 1 and [name for name, _ in own] == [name for name, _ in seats]:
        return {"placeholderCount": own[0][1]}
    return {"seats": [{"resourceClass": name, "placeholderCount": count} for name, count in own]}


def _listed(span: tuple[date, date], own: Entry | None, seats: Seats) -> Keys | date:
    """Return an item of `dates`, with the hours, the name and the seats of its own entry."""
    if own is None:
        return span[0] if span[0] == span[1] else _span(*span)
    hours = _hours(own.start, own.end, own.end_day)
    return {**_span(*span), **hours, **_given({"name": own.name or None}), **_own_seats(own.seats, seats)}


def _entry(entry: Entry, seats: Seats) -> Keys:
    names, dates = [WEEKDAYS[day - 1] for day in entry.days], entry.dates
    weeks = next((word for word, weeks in WEEKS.items() if weeks == dates.weeks), dates.weeks)
    keys = {
        "dayOfWeek": names[0] if len(names) == 1 else None,
        "daysOfWeek": names if len(names) > 1 else None,
        **_hours(entry.start, entry.end, entry.end_day),
        "name": entry.name or None,
        "from": dates.first,
        "until": dates.last,
        "weeks": weeks or None,
        "monthly": {"week": dates.nth} if dates.nth else None,
    }
    return {**_given(keys), **_own_seats(entry.seats, seats)}


def _except(one: Except) -> Keys | date:
    more = {**_hours(one.start, None, None), **_given({"name": one.name, "title": one.title or None})}
    return {**_span(one.first, one.last), **more} if more else _listed((one.first, one.last), None, ())


def _move(one: Move, seats: Seats) -> Keys:
    to = _given({"date": one.to_day, **_hours(one.to_start, one.to_end, one.to_end_day)})
    which = {**_hours(one.start, None, None), **_given({"name": one.name})}
    return {"date": one.day, **which, "to": {**to, **(_seats(one.seats, seats) if one.seats else {})}}


def _extra(one: Extra, seats: Seats) -> Keys:
    hours = _hours(one.start, one.end, one.end_day)
    return {"date": one.day, **hours, **_given({"name": one.name or None}), **_own_seats(one.seats, seats)}
