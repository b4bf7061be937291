"""End a series on an earlier date: its last date, its terms or its listed dates, and all that is later."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from berth.dates.expansion import LocalOccurrence, days_of_entries, iso_week
from berth.dates.moments import day_text
from berth.dates.zone import DAY, day_of, number
from berth.edit.datelists import ListChanges, original_keys, set_keys
from berth.edit.dateselect import Dates, NothingToDoError, OccurrenceEdit
from berth.edit.occurrences import extra_keys
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.notation.refusal import CommandError
from berth.notation.weekdays import WEEKS
from berth.schema.values import Recurrence


def end_series(day: str) -> OccurrenceEdit:
    """Let nothing happen after a date; what happens until then stays as it is."""
    last = number(date.fromisoformat(day))

    def plan(dates: Dates) -> TreeEdit:
        name, recurrence = dates.reservation.name, dates.reservation.recurrence
        starts = [one.start // DAY for one in dates.all if one.happens]
        is_cut = recurrence.type == "once" and recurrence.last is not None and number(recurrence.last) > last
        if starts and max(starts) <= last and not is_cut:
            _check_not_later(name, recurrence, last)
            raise NothingToDoError(f"its last date is {day_text(max(starts))}")
        has_scheduled = any(not one.is_extra and one.original // DAY <= last for one in dates.all)
        if not has_scheduled or min(starts, default=last + 1) > last:
            when = f", which begins on {day_text(min(starts))}" if starts else ""
            raise CommandError(f"nothing would be left of {name}{when}. To remove it: berth delete {name}")
        return lambda tree, make: _end(dates, last, tree["spec"]["recurrence"], make)

    return plan


def _check_not_later(name: str, recurrence: Recurrence, last: int) -> None:
    """Raise CommandError for a date after the end: it would add dates, or promise some that do not come."""
    ends = [end for _, end in (*recurrence.dates, *recurrence.terms)]
    ends += [] if recurrence.last is None else [recurrence.last]
    if not ends or number(max(ends)) >= last:
        return
    day = str(day_of(last * DAY))
    more = f"berth set {name} endDate={day}"
    if recurrence.type == "dates":
        more = f"berth add {name} {day} TIMES"
    elif recurrence.within:
        more = f"berth set {name} 'within=[{', '.join([*recurrence.within, 'TERM'])}]'"
    when = day_text(number(max(ends)))
    raise CommandError(f"{name} ends on {when} already, and end adds no dates. To have more dates: {more}")


def _end(dates: Dates, last: int, written: Any, make: MakeNode) -> None:
    recurrence = dates.reservation.recurrence
    changes = ListChanges()
    for index, one in enumerate(recurrence.excepts):
        if number(one.last) <= last:
            continue
        if any(other.original // DAY <= last for other in dates.left_out_by(one)):
            _shorten(written["except"], index, one.first, last, make)
        else:
            changes.remove("except", index)
    for occurrence in dates.all:
        _change_single(dates, occurrence, last, changes)
    _end_rule(recurrence, last, written, make)
    changes.apply(written, make)


def _change_single(dates: Dates, one: LocalOccurrence, last: int, changes: ListChanges) -> None:
    """Remove an occurrence that would be later; keep one of a later date that was moved to an earlier."""
    is_later = one.start // DAY > last
    if one.is_extra:
        if is_later:
            changes.remove("extra", one.entry - len(dates.reservation.recurrence.schedule))
        return
    if one.move is not None and one.original // DAY > last and one.happens and not is_later:
        changes.remove("moved", one.move)
        changes.add("extra", extra_keys(dates, one.start, one.end, one.name, one.seats))
        return
    if one.move is None:
        return
    if one.original // DAY > last:
        changes.remove("moved", one.move)
    elif is_later:
        changes.remove("moved", one.move)
        if one.excluded is None:
            changes.leave_out(original_keys(dates, one))


def _end_rule(recurrence: Recurrence, last: int, written: Any, make: MakeNode) -> None:
    """Change what the schedule follows, and remove lines of the schedule that have no date any more."""
    day = str(day_of(last * DAY))
    if recurrence.type == "dates":
        _end_listed(recurrence, last, written, make)
    elif recurrence.within:
        later = [i for i, (first, _) in enumerate(recurrence.terms) if number(first) > last]
        _remove(written, "within", later)
    else:  # extra dates may be later than the end, which stays then
        set_keys(written, {"endDate": str(min(day_of(last * DAY), recurrence.last or date.max))}, make)
    if recurrence.type == "once":
        return
    is_limited = recurrence.type == "dates" or not recurrence.within
    without_dates = []
    for index, (entry, ranges) in enumerate(
        zip(recurrence.schedule, days_of_entries(recurrence), strict=True)
    ):
        if entry.dates.listed is not None:
            continue
        kept = [number for days in ranges for number in days if number <= last]
        if not kept:
            without_dates.append(index)
            continue
        keys: dict[str, Any] = {}
        if entry.dates.last is not None and number(entry.dates.last) > last:
            keys["until"] = None if is_limited else day
        elif not is_limited and sum(map(len, ranges)) > len(kept):
            keys["until"] = day
        weeks = [week for week in entry.dates.weeks if any(iso_week(range_) == week for range_ in kept)]
        if entry.dates.weeks not in ((), *WEEKS.values()) and len(weeks) < len(entry.dates.weeks):
            keys["weeks"] = weeks
        set_keys(written["schedule"][index], keys, make)
    _remove(written, "schedule", without_dates)


def _end_listed(recurrence: Recurrence, last: int, written: Any, make: MakeNode) -> None:
    later = []
    for index, (first, end) in enumerate(recurrence.dates):
        if number(first) > last:
            later.append(index)
        elif number(end) > last:
            _shorten(written["dates"], index, first, last, make)
    _remove(written, "dates", later)


def _shorten(entries: Any, index: int, first: date, last: int, make: MakeNode) -> None:
    """Let a range of dates end earlier, as a mapping or as text."""
    end = day_of(last * DAY)
    if isinstance(entries[index], dict):
        set_keys(entries[index], {"to": str(end)}, make)
    else:
        entries[index] = make(str(end) if first == end else f"{first}..{end}")


def _remove(written: Any, key: str, indices: Sequence[int]) -> None:
    """Remove items of a list, and the list with the last of them."""
    for index in reversed(indices):
        del written[key][index]
    if indices and not written[key]:
        del written[key]
