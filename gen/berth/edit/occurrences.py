"""Move and add single dates, or change their seats: write what differs from the schedule.

An occurrence in `extra` is edited there; for one of the schedule, an entry of `moved` is added, changed or
removed. All times are wall times in the zone of the reservation.
"""

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from berth.checks.typos import LONGEST
from berth.dates.expansion import LocalOccurrence, window_minutes
from berth.dates.zone import DAY, clock, day_of, number, window
from berth.edit.datelists import ListChanges, add_entry, end_keys, original_keys, remove_entry, set_keys
from berth.edit.dateselect import (
    Dates,
    NothingToDoError,
    OccurrenceEdit,
    OccurrenceSelector,
    RefusedError,
    end_day,
)
from berth.edit.roundtrip import MakeNode, TreeEdit
from berth.edit.seatcounts import Counts, count_keys, set_extra_seats, with_counts
from berth.findings import Problem
from berth.manifests.placed import class_names
from berth.notation.days import next_weekday
from berth.notation.refusal import CommandError
from berth.notation.times import TimeSpan, end_time
from berth.output.answers import seats_text
from berth.schema.reservation import Reservation
from berth.schema.values import Seats


class NewTimes(NamedTuple):
    """New dates and times of the start and the end; None keeps what the occurrence has.

    A number is a weekday, 0 for Monday: the nearest to the occurrence, and for the end the next after the
    start.
    """

    day: str | int | None = None
    start: str | None = None
    end: str | None = None
    end_day: str | int | None = None

    def first_day(self, occurrence: LocalOccurrence) -> int:
        before = occurrence.start // DAY
        if isinstance(self.day, int):
            return next_weekday(self.day, before - 3)
        return before if self.day is None else number(date.fromisoformat(self.day))

    def last_day(self, start: int) -> int | None:
        """Return the day of the end of what starts at this wall time, if it is given."""
        if isinstance(self.end_day, int):
            return next_weekday(self.end_day, start // DAY)
        return None if self.end_day is None else number(date.fromisoformat(self.end_day))


def move_occurrence(which: OccurrenceSelector, to: NewTimes, counts: Counts | None = None) -> OccurrenceEdit:
    """Let an occurrence happen at another time, and with other seats if there are counts.

    Without a new end it keeps its length. Onto its own date, without a time, it goes from `moved`.
    """

    def plan(dates: Dates) -> TreeEdit:
        # A class that a holiday cancels is often given on another date.
        has_start = to.day is not None or to.start is not None
        occurrence = find_changeable(
            dates, which, lambda candidate: candidate.happens or (has_start and not candidate.is_excepted)
        )
        if to == NewTimes(day=which.day) and counts is None and _is_moved_from(occurrence, which.day):
            return partial(_unmove, occurrence)
        start = to.first_day(occurrence) * DAY + (
            occurrence.start % DAY if to.start is None else end_time(to.start)
        )
        end = _moved_end(occurrence, start, to)
        seats = None if counts is None else _with_counts(dates, occurrence.seats, counts)
        if seats is not None and dict(seats) == dict(occurrence.seats):
            seats = None
        now = window(dates.zone, occurrence.start, occurrence.end)
        if not (occurrence.happens and end > start and window(dates.zone, start, end) == now):
            return _write(dates, occurrence, (start, end), seats, to)
        if seats is None:
            raise NothingToDoError(f"it already happens at {dates.words(occurrence)}")
        return _write(dates, occurrence, None, seats)

    return plan


def _is_moved_from(occurrence: LocalOccurrence, day: str) -> bool:
    """Tell whether `moved` changes an occurrence that would happen on a day without it."""
    return (
        occurrence.move is not None
        and occurrence.excluded is None
        and str(day_of(occurrence.original)) == day
    )


def _unmove(occurrence: LocalOccurrence, tree: Any, _make: MakeNode) -> None:
    assert occurrence.move is not None
    remove_entry(tree["spec"]["recurrence"], "moved", occurrence.move)


def find_changeable(
    dates: Dates, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
) -> LocalOccurrence:
    """Return the occurrence that is meant. Raise RefusedError if there is none that can be changed."""
    occurrence = dates.find(which, among)
    if occurrence is None or dates.is_contradictory(occurrence):
        raise RefusedError(_not_movable(dates, which, occurrence))
    return occurrence


def _not_movable(dates: Dates, which: OccurrenceSelector, occurrence: LocalOccurrence | None) -> Problem:
    """Report that there is no occurrence, or why it is left out."""
    occurrence = occurrence or dates.find_left_out(which)
    if occurrence is None:
        return dates.missing(which)
    when = f"{day_of(occurrence.original)} {clock(occurrence.original)}"
    fix = f"Let it take place first: berth add {dates.reservation.name} {day_of(occurrence.original)}."
    if not occurrence.is_excepted:
        address = dates.address(occurrence)
        fix = f"For another date: berth move {dates.reservation.name} {address} --to DATE."
    return dates.problem("B045", f"{when} is left out ({occurrence.reason}).", fix)


def _moved_end(occurrence: LocalOccurrence, start: int, to: NewTimes) -> int:
    """Return the new end. A time without a date is within a day of the start, as in `endTime`.

    For an occurrence that lasts longer, the end stays as many days after the start as it is.
    """
    if to.end is None:
        return start + occurrence.end - occurrence.start
    midnight, minutes, last = start // DAY * DAY, end_time(to.end), to.last_day(start)
    is_same_day = end_day(occurrence) == occurrence.start // DAY
    is_long = minutes <= start % DAY and minutes + DAY - start % DAY > LONGEST
    if last is None and to.start is None and is_same_day and is_long:
        raise CommandError(
            f"the end {to.end} is not after the start, {clock(start)}. For the next day write "
            f'--end "{day_of(start + DAY)} {to.end}"'
        )
    if last is not None:
        end = last * DAY + minutes
    elif occurrence.end - occurrence.start > DAY:
        end = midnight + (end_day(occurrence) - occurrence.start // DAY) * DAY + minutes
    else:
        end = start + window_minutes(start % DAY, minutes, None)
    if end <= start:
        begin, tomorrow = f"{day_of(start)} {clock(start)}", day_of(start + DAY)
        raise CommandError(
            f"the end is not after the start, {begin}. For 24 hours write "
            f'--to "{begin} to {tomorrow} {clock(start)}"'
        )
    return end


def change_seats(which: OccurrenceSelector, counts: Counts) -> OccurrenceEdit:
    """Give an occurrence other seats; classes that are not named keep their counts."""

    def plan(dates: Dates) -> TreeEdit:
        occurrence = find_changeable(dates, which, lambda candidate: candidate.happens)
        seats = _with_counts(dates, occurrence.seats, counts)
        if dict(seats) == dict(occurrence.seats):
            has = seats_text(seats, dates.reservation.holder.unit)
            raise NothingToDoError(f"{dates.words(occurrence)} has {has} already")
        return _write(dates, occurrence, None, seats)

    return plan


def _with_counts(dates: Dates, seats: Seats, counts: Counts) -> Seats:
    reservation = dates.reservation
    return with_counts(seats, counts, class_names(reservation) if reservation.seats_listed else ())


def add_occurrence(day: str, times: TimeSpan, counts: Counts | None, name: str) -> OccurrenceEdit:
    """Add an occurrence besides the schedule, with a name if it is that of a group."""

    def plan(dates: Dates) -> TreeEdit:
        reservation = dates.reservation
        start = number(date.fromisoformat(day)) * DAY + times.start
        end = start + window_minutes(times.start, times.end, None)
        if end == start:
            raise CommandError("TIMES: the end equals the start. Write another time", "B024")
        dates.check_open(start, end)
        seats = _usual_seats(reservation, date.fromisoformat(day), counts)
        if counts is not None:
            seats = _with_counts(dates, seats, counts)
        changes = ListChanges()
        changes.add("extra", extra_keys(dates, start, end, name, seats))
        return changes

    return plan


def _usual_seats(reservation: Reservation, day: date, counts: Counts | None) -> Seats:
    """Return what all lines of the schedule have that are valid on a day, or without any the reservation.

    Raise CommandError if they differ, and `counts` do not name every class.
    """
    lines = {
        line.seats
        for line in reservation.recurrence.schedule
        if (line.dates.first or day) <= day <= (line.dates.last or day)
    }
    if len(lines) > 1 and len(counts or ()) < len(reservation.seats):
        each = " or ".join(sorted(seats_text(seats, reservation.holder.unit) for seats in lines))
        raise CommandError(f"its schedule has {each} at that time. Say how many: --seats COUNT")
    return lines.pop() if len(lines) == 1 else reservation.seats


def extra_keys(dates: Dates, start: int, end: int, name: str, seats: Seats) -> dict[str, Any]:
    """Return an entry of `extra`, with the seats if they are not those of the reservation."""
    entry = {
        "date": str(day_of(start)),
        "startTime": clock(start),
        **end_keys(start, end),
        "name": name or None,
        **count_keys(dates.reservation, seats, dates.reservation.seats),
    }
    return {key: value for key, value in entry.items() if value is not None}


# What is written

_SAME = NewTimes()


def _write(
    dates: Dates,
    occurrence: LocalOccurrence,
    times: tuple[int, int] | None,
    seats: Seats | None,
    to: NewTimes = _SAME,
) -> TreeEdit:
    """Write another start and end, or other seats; None keeps what it has.

    `to`: what was given, which is written even if it is the same as before.
    """
    reservation, schedule = dates.reservation, dates.reservation.recurrence.schedule
    if times is not None:
        dates.check_open(*times)

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if occurrence.is_extra:
            entry = written["extra"][occurrence.entry - len(schedule)]
            if times is not None:
                start, end = times
                keys = {"date": str(day_of(start)), "startTime": clock(start), **end_keys(start, end)}
                set_keys(entry, keys, make)
            if seats is not None:
                set_extra_seats(reservation, entry, seats, make)
            return
        keys = {} if times is None else _new_target(occurrence, *times, to)
        if seats is not None:
            keys |= count_keys(reservation, seats, schedule[occurrence.entry].seats)
        _change(dates, occurrence, written, keys, make)

    return edit


def _change(
    dates: Dates, occurrence: LocalOccurrence, recurrence: Any, keys: dict[str, Any], make: MakeNode
) -> None:
    """Set keys of `to` in the entry of `moved`, which is added or removed if need be; None removes a key."""
    if occurrence.move is None:
        new = {key: value for key, value in keys.items() if value is not None}
        add_entry(recurrence, "moved", {**original_keys(dates, occurrence), "to": new}, make)
        return
    target = recurrence["moved"][occurrence.move]["to"]
    set_keys(target, keys, make)
    if not target:
        remove_entry(recurrence, "moved", occurrence.move)


def _new_target(occurrence: LocalOccurrence, start: int, end: int, to: NewTimes) -> dict[str, Any]:
    """Return the times in `to` of an entry of `moved`: what differs from the schedule, and what was given.

    None removes a key. Where all is as the schedule has it, nothing is written.
    """
    usual = occurrence.original, occurrence.original + occurrence.length
    if (start, end) == usual and occurrence.excluded is None:
        return dict.fromkeys(("date", "startTime", "endTime", "endDay"))
    keys: dict[str, Any] = {}
    if to.day is not None or start // DAY != occurrence.original // DAY:
        keys["date"] = str(day_of(start))
    if to.start is not None or start % DAY != occurrence.original % DAY:
        keys["startTime"] = clock(start)
    has_end = to.end is not None or end - start != occurrence.length
    return keys | (end_keys(start, end) if has_end else {"endTime": None, "endDay": None})
