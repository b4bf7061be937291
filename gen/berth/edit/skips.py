"""Skip dates, and let skipped dates happen again: entries of `except`, and those of `extra` and `moved`.

An undo does not restore all that an entry said; then it names the commands that do.
"""

from collections.abc import Callable, Iterator, Sequence

from berth.dates.exceptions import NO_OCCURRENCE, single_excepts
from berth.dates.expansion import LocalOccurrence
from berth.dates.moments import no_date_text, span_text
from berth.dates.zone import clock, day_of, number, window
from berth.edit.datelists import ListChanges, end_keys, original_keys
from berth.edit.dateselect import (
    Dates,
    DateSelector,
    NothingToDoError,
    OccurrenceEdit,
    OccurrenceRange,
    OccurrenceSelector,
    RefusedError,
    new_times_text,
)
from berth.edit.rehearsalentries import drop_rehearsal
from berth.edit.roundtrip import TreeEdit
from berth.findings import Problem
from berth.notation.refusal import CommandError
from berth.output.answers import seats_text
from berth.schema.values import Except, Seats


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
        changes.losses.append(skip_loss(dates, occurrence, add_command(dates, occurrence)))
        changes.remove("extra", occurrence.entry - len(dates.reservation.recurrence.schedule))
        drop_rehearsal(dates, changes, occurrence)
        return
    drop_rehearsal(dates, changes, occurrence)
    if occurrence.move is not None:
        _remove_move(dates, changes, occurrence, original_words(dates, occurrence))
    if occurrence.excluded is None:
        entry = {**original_keys(dates, occurrence), **({"title": title} if title else {})}
        changes.add("except", entry if len(entry) > 1 else entry["date"])


def _remove_move(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence, skipped: str) -> None:
    """Remove the entry of `moved` of an occurrence that is skipped by DATE as `skipped` names it."""
    assert occurrence.move is not None
    changes.remove("moved", occurrence.move)
    if occurrence.happens:
        changes.losses.append(skip_loss(dates, occurrence, change_command(dates, occurrence, skipped)))


def _retitle(dates: Dates, changes: ListChanges, occurrence: LocalOccurrence, title: str) -> bool:
    """Give the entry of `except` that leaves out only this occurrence another title, if there is one."""
    excepts = dates.reservation.recurrence.excepts
    singles = single_excepts(excepts, occurrence.original, occurrence.name)
    if not singles or excepts[singles[0]].title == title:
        return False
    changes.remove("except", singles[0])
    changes.add("except", {**original_keys(dates, occurrence), "title": title})
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
            drop_rehearsal(dates, changes, occurrence)
            if occurrence.move is not None:
                _remove_move(dates, changes, occurrence, f"{item.first}..{item.last}{range_words(item)}")
    if is_needed:
        entry = {"from": item.first, "to": item.last}
        keys = (("startTime", item.start), ("name", item.name), ("title", title or None))
        changes.add("except", entry | {key: value for key, value in keys if value is not None})
    elif not has_any:
        raise RefusedError(dates.missing_range(item))
    elif not changes:
        raise NothingToDoError(f"nothing is left to skip {item.words}")


def undo_skip(selectors: Sequence[DateSelector]) -> OccurrenceEdit:
    """Remove the entries of `except` for these dates: a single date, or all within a range."""
    return lambda dates: _each(selectors, lambda changes, item: _undo_skip(dates, changes, item))


def _undo_skip(dates: Dates, changes: ListChanges, item: DateSelector) -> None:
    wanted = (
        item
        if isinstance(item, OccurrenceRange)
        else OccurrenceRange(item.day, item.day, item.start, item.name)
    )
    days, partly, is_removed = wanted.days, list[str](), False
    for index, exception in enumerate(dates.reservation.recurrence.excepts):
        first, last = number(exception.first), number(exception.last)
        if first in days and last in days and _is_just(dates, exception, wanted):
            changes.remove("except", index)
            is_removed = True
            if any(occurrence.move is None for occurrence in _named_by(dates, exception)):
                changes.losses.append(AS_SCHEDULED)
        elif first <= days[-1] and days[0] <= last:
            partly.append(f"berth skip {dates.reservation.name} {_except_address(exception)} --undo")
    if is_removed:
        return
    single = " ".join(filter(None, (wanted.first, wanted.start, wanted.name)))
    when = f"on {single}" if len(days) == 1 else wanted.words
    if partly:
        raise CommandError(
            f"except does not name just what is {when}. To take back more: {' or '.join(partly)}"
        )
    left_out = [
        occurrence
        for occurrence in dates.all
        if not occurrence.happens and wanted.has(occurrence.original, occurrence.name)
    ]
    why = f" ({left_out[0].reason} leaves it out)" if left_out else ""
    if not left_out and not _happens(dates, wanted):
        raise RefusedError(_not_skipped(dates, wanted))
    raise NothingToDoError(f"nothing to undo {when}: except does not name it{why}")


def _happens(dates: Dates, wanted: OccurrenceRange) -> bool:
    return any(
        wanted.has(start, occurrence.name)
        for occurrence in dates.all
        if occurrence.happens
        for start in dates.shown(occurrence)
    )


def _not_skipped(dates: Dates, wanted: OccurrenceRange) -> Problem:
    """Report that nothing was skipped on dates on which nothing happens, with what was skipped near them.

    A date that was moved is skipped by the date that the schedule gives it.
    """
    name, days = dates.reservation.name, wanted.days
    single = OccurrenceSelector(wanted.first, wanted.start, name=wanted.name)
    known = {
        number(exception.first): exception for exception in reversed(dates.reservation.recurrence.excepts)
    }
    where, separator, near = no_date_text(days[0], days[-1], known).partition(";")
    message = f"{name} has skipped {where}{single.words}{separator}{near}."
    nearest = min(known, key=lambda day: abs(day - days[0]), default=None)
    fix = f"Name another date: berth occurrences {name} lists them."
    if nearest is not None:
        command = f"berth skip {name} {_except_address(known[nearest])} --undo"
        fix = f"Name the date that the schedule gives it: {command}."
    return dates.problem(NO_OCCURRENCE, message, fix)


def _is_just(dates: Dates, exception: Except, wanted: OccurrenceRange) -> bool:
    """Tell whether an entry of `except` leaves out nothing but occurrences with the start and name wanted."""
    if wanted.start is None and wanted.name is None:
        return True
    return all(wanted.has(occurrence.original, occurrence.name) for occurrence in _named_by(dates, exception))


def _named_by(dates: Dates, exception: Except) -> Iterator[LocalOccurrence]:
    """Yield the occurrences of the schedule that an entry of `except` leaves out."""
    start = None if exception.start is None else clock(exception.start)
    named = OccurrenceRange(str(exception.first), str(exception.last), start, exception.name)
    for occurrence in dates.all:
        if not occurrence.is_extra and named.has(occurrence.original, occurrence.name):
            yield occurrence


def _except_address(exception: Except) -> str:
    """Return the arguments that name an entry of `except`."""
    is_single = exception.first == exception.last
    words = [f"{exception.first}" if is_single else f"{exception.first}..{exception.last}"]
    words += [] if exception.start is None else [clock(exception.start)]
    words += [f"--name {exception.name}"] if exception.name else []
    return " ".join(words)


AS_SCHEDULED = "as in the schedule: the file no longer says whether a date was moved before it was skipped"


def skip_loss(dates: Dates, occurrence: LocalOccurrence, command: str) -> str:
    """Return what is lost with the entry of an occurrence; `command` restores it, and may be empty."""
    begin, end = window(dates.zone, occurrence.start, occurrence.end)
    seats = seats_text(occurrence.seats, dates.reservation.holder.unit)
    name = f" {occurrence.name}" if occurrence.name else ""
    restore = f"To restore it: {command}" if command else "Only an edit of the file restores it."
    return f"not kept: {span_text(begin, end, dates.zone)}{name}, {seats}. {restore}"


def change_command(dates: Dates, occurrence: LocalOccurrence, skipped: str) -> str:
    """Return the commands that let a skipped date happen again as `moved` said."""
    if occurrence.is_excepted:
        return ""
    name, which = dates.reservation.name, original_words(dates, occurrence)
    seats = _seats_words(occurrence.seats, dates.reservation.recurrence.schedule[occurrence.entry].seats)
    change = f"berth set {name} --on {_on_words(dates, occurrence)}{seats}"
    if occurrence.has_new_time:
        change = f'berth move {name} {which} --to "{new_times_text(occurrence.start, occurrence.end)}"{seats}'
    return change if occurrence.excluded else f"berth skip {name} {skipped} --undo && {change}"


def add_command(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return the command that adds an extra date again; empty if none can."""
    reservation = dates.reservation
    keys = end_keys(occurrence.start, occurrence.end)
    if reservation.recurrence.lines[occurrence.entry].scaling or keys["endDay"] is not None:
        return ""
    seats = _seats_words(occurrence.seats, reservation.seats)
    name = f" --name {occurrence.name}" if occurrence.name else ""
    day, times = day_of(occurrence.start), f"{clock(occurrence.start)}-{keys['endTime']}"
    return f"berth add {reservation.name} {day} {times}{seats}{name}"


def _seats_words(seats: Seats, usual: Seats) -> str:
    if dict(seats) == dict(usual):
        return ""
    by_class = ",".join(f"{name}={count}" for name, count in seats)
    return f" --seats {seats[0][1] if len(seats) == 1 else by_class}"


def original_words(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return the arguments DATE [TIME] [--name NAME] that name an occurrence of the schedule."""
    keys = original_keys(dates, occurrence)
    words = [keys["date"], *([keys["startTime"]] if "startTime" in keys else [])]
    return " ".join([*words, *([f"--name {keys['name'] or repr('')}"] if "name" in keys else [])])


def _on_words(dates: Dates, occurrence: LocalOccurrence) -> str:
    """Return them for `berth set --on`, where the time is an option."""
    day, separator, rest = original_words(dates, occurrence).partition(" ")
    return f"{day} --start {rest}" if separator else day


def range_words(item: OccurrenceRange) -> str:
    """Return what follows the dates of a range on a command line."""
    time = f" {item.start}" if item.start else ""
    return f"{time} --name {item.name}" if item.name else time
