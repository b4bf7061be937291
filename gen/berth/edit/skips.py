"""Skip dates, and let them take place after all: entries of `except`, and those of `extra` and `moved`."""

from collections.abc import Callable, Sequence
from datetime import date

from berth.dates.exceptions import single_excepts
from berth.dates.expansion import LocalOccurrence
from berth.dates.moments import day_text
from berth.dates.zone import DAY, clock, day_of, number
from berth.edit.datelists import ListChanges, original_keys
from berth.edit.dateselect import (
    Dates,
    DateSelector,
    NothingToDoError,
    OccurrenceEdit,
    OccurrenceRange,
    RefusedError,
)
from berth.edit.roundtrip import TreeEdit
from berth.findings import Problem
from berth.notation.refusal import CommandError


def skip_dates(selectors: Sequence[DateSelector], title: str = "") -> OccurrenceEdit:
    """Leave occurrences out, in one edit. `title` is shown where the dates are skipped."""
    return lambda dates: _each(selectors, lambda changes, item: _skip_selected(dates, changes, item, title))


def _each(selectors: Sequence[DateSelector], change: Callable[[ListChanges, DateSelector], None]) -> TreeEdit:
    """Collect the changes of each selector. Report all that are refused, or why there is nothing to do."""
    changes, problems, reasons = ListChanges(), list[Problem](), list[str]()
    for item in selectors:
        try:
            change(changes, item)
        except RefusedError as refused:
            problems += refused.problems
        except NothingToDoError as reason:
            reasons.append(str(reason))
    if problems:
        raise RefusedError(*problems)
    if not changes:
        raise NothingToDoError("; ".join(dict.fromkeys(reasons)))
    return changes


def _skip_selected(dates: Dates, changes: ListChanges, item: DateSelector, title: str) -> None:
    if isinstance(item, OccurrenceRange):
        _skip_range(dates, changes, item, title)
        return
    occurrence = dates.find(item, lambda candidate: candidate.happens)
    if occurrence is not None:
        _skip(dates, changes, occurrence, title)
        return
    left_out = dates.find_left_out(item)
    if left_out is None:
        raise RefusedError(dates.missing(item))
    if left_out.move is not None and not left_out.has_new_time:
        _skip(dates, changes, left_out, title)
    elif not (title and _retitle(dates, changes, left_out, title)):
        when = " ".join(filter(None, (item.day, item.start, item.name)))
        raise NothingToDoError(f"nothing is left to skip on {when} ({left_out.reason})")


def _skip(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence, title: str) -> None:
    if occurrence.is_extra:
        if title:
            raise CommandError(
                f"{dates.words(occurrence)} is an extra date, which goes without a trace: leave out --title"
            )
        changes.remove("extra", occurrence.entry - len(dates.reservation.recurrence.schedule))
        return
    if occurrence.move is not None:
        changes.remove("moved", occurrence.move)
    if occurrence.excluded is None:
        changes.leave_out({**original_keys(dates, occurrence), **({"title": title} if title else {})})


def _retitle(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence, title: str) -> bool:
    """Give the entry of `except` that leaves out only this occurrence another title, if there is one."""
    excepts = dates.reservation.recurrence.excepts
    singles = single_excepts(excepts, occurrence.original, occurrence.name)
    if not singles or excepts[singles[0]].title == title:
        return False
    changes.leave_out({**original_keys(dates, occurrence), "title": title}, singles[0])
    return True


def _skip_range(dates: Dates, changes: ListChanges, item: OccurrenceRange, title: str) -> None:
    """Leave out a range with one entry of `except`; what was moved into it from elsewhere has its own."""
    is_needed, has_any = False, False
    for occurrence in dates.all:
        is_shown = any(item.has(wall, occurrence.name) for wall in dates.shown(occurrence))
        is_original = not occurrence.is_extra and item.has(occurrence.original, occurrence.name)
        has_any = has_any or is_shown or is_original
        if occurrence.happens and is_shown and not is_original:
            _skip(dates, changes, occurrence, "" if occurrence.is_extra else title)
        elif is_original and not (occurrence.has_new_time and not is_shown):
            # what was moved away stays there
            is_needed = is_needed or occurrence.excluded is None
            if occurrence.move is not None:
                changes.remove("moved", occurrence.move)
    if is_needed:
        entry = {"from": item.first, "to": item.last}
        keys = (("startTime", item.start), ("name", item.name), ("title", title or None))
        changes.add("except", entry | {key: value for key, value in keys if value is not None})
    elif not has_any:
        raise RefusedError(dates.missing_range(item))
    elif not changes:
        raise NothingToDoError(f"nothing is left to skip {item.words}")


def restore_date(day: str) -> OccurrenceEdit:
    """Let what the schedule has on a date take place after all, at its usual time.

    The date goes from `except` and `moved`. Where a calendar leaves it out, `moved` says that it stays.
    """
    wanted = number(date.fromisoformat(day))

    def plan(dates: Dates) -> TreeEdit:
        recurrence, changes = dates.reservation.recurrence, ListChanges()
        there = [one for one in dates.all if not one.is_extra and one.original // DAY == wanted]
        usual = {one: (one.original, one.original + one.length) for one in there}
        changed = [one for one in there if not one.happens or (one.start, one.end) != usual[one]]
        if not there:
            raise RefusedError(_no_date(dates, wanted))
        if not changed:
            raise NothingToDoError(f"it already happens at {', '.join(map(dates.words, there))}")
        for index, exception in enumerate(recurrence.excepts):
            if number(exception.first) <= wanted <= number(exception.last):
                _take_out(dates, changes, index, wanted)
        for occurrence in changed:
            dates.check_open(*usual[occurrence])
            is_holiday = dates.is_holiday(*usual[occurrence])
            if occurrence.move is not None and (occurrence.has_new_time or is_holiday):
                changes.remove("moved", occurrence.move)
            if is_holiday:
                changes.add("moved", {**original_keys(dates, occurrence), "to": {"date": day}})
        return changes

    return plan


def _no_date(dates: Dates, wanted: int) -> Problem:
    """Report that the schedule has nothing on a date, so that its times are needed."""
    name, day = dates.reservation.name, day_of(wanted * DAY)
    fix = f"To add one, give its times: berth add {name} {day} 09:00-13:00."
    return dates.problem("B045", f"the schedule of {name} has nothing on {day_text(wanted)}.", fix)


def _take_out(dates: Dates, changes: ListChanges, index: int, wanted: int) -> None:
    """Let an entry of `except` leave out only what it does on other dates than the one wanted."""
    exception = dates.reservation.recurrence.excepts[index]
    kept: int | None = index
    parts = (number(exception.first), wanted - 1), (wanted + 1, number(exception.last))
    for first, last in parts:
        part = exception._replace(first=day_of(first * DAY), last=day_of(last * DAY))
        if first <= last and dates.left_out_by(part):
            start = None if part.start is None else clock(part.start)
            span = {"date": part.first} if first == last else {"from": part.first, "to": part.last}
            keys = span | {"startTime": start, "name": part.name, "title": part.title or None}
            changes.leave_out({key: str(value) for key, value in keys.items() if value is not None}, kept)
            kept = None
    if kept is not None:
        changes.remove("except", kept)
