"""Skip, move and extend one occurrence: find it, compute its new times, and write them into the file's tree.

An occurrence in `extra` is edited there; for one of the schedule, an entry of `except` or `moved` is added,
changed or removed. All times are wall times in the zone of the reservation.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

from berth.dates.exceptions import EXCEPT, NOTHING_TO_MOVE, NOTHING_TO_SKIP, WHICH_ONE, move_index
from berth.dates.moments import span_text
from berth.dates.occurrence import LocalOccurrence, window_minutes
from berth.dates.recurrence import local_occurrences
from berth.dates.zone import DAY, Zone, clock, day_of, load, local, number, window
from berth.edit.roundtrip import EditError, MakeNode, TreeEdit
from berth.findings import Problem
from berth.schema.grammar import end_time
from berth.schema.values import Calendar, Reservation


class OccurrenceSelector(NamedTuple):
    """A local date on which the occurrence starts, now or before it was moved, and the time of that start.

    With `is_id`, both are those of its id: the start before it was moved.
    """

    day: str
    start: str | None
    is_id: bool = False


class NewTimes(NamedTuple):
    """New dates and times of the start and the end; None keeps what the occurrence has."""

    day: str | None = None
    start: str | None = None
    end: str | None = None
    end_day: str | None = None


class NothingToDoError(Exception):
    """There is nothing to change; the message says why."""


class RefusedError(Exception):
    """An edit that is refused with a finding."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


OccurrenceEdit = Callable[["Dates"], TreeEdit]


class Dates:
    """The dates of a reservation, and what a command names by them."""

    def __init__(self, reservation: Reservation, calendars: Mapping[str, Calendar]) -> None:
        """Raise EditError if the reservation has no dates."""
        if reservation.recurrence.type == "standing":
            raise EditError("the reservation is standing: it has no dates")
        zone = load(reservation.recurrence.zone)
        if zone is None:
            raise EditError(f"the time zone of {reservation.name} is unknown")
        self.reservation = reservation
        self.zone: Zone = zone
        self.all = local_occurrences(reservation, calendars)

    def find(
        self, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
    ) -> LocalOccurrence | None:
        """Return the occurrence that is meant, or None. Raise RefusedError if there are several.

        With a time, what lists show goes before what is left out, or started then before it was moved.
        """
        possible = [one for one in self.all if among(one)]
        day = number(date.fromisoformat(which.day))
        if which.start is None:
            matches = [
                one
                for one in possible
                if day in {start // DAY for start in (one.original, *self._shown(one))}
            ]
        else:
            wall = day * DAY + end_time(which.start)
            shown = [one for one in possible if wall in self._shown(one)]
            matches = [one for one in shown if one.happens] or shown
            if which.is_id or not matches:
                matches = [one for one in possible if wall == one.original]
        if len(matches) > 1:
            raise RefusedError(self._several(which, matches, possible))
        return matches[0] if matches else None

    def _shown(self, one: LocalOccurrence) -> tuple[int, int]:
        """Return its start as the file says it, and as clocks show it."""
        return one.start, local(self.zone, window(self.zone, one.start, one.end)[0])

    def _several(
        self, which: OccurrenceSelector, matches: list[LocalOccurrence], possible: list[LocalOccurrence]
    ) -> Problem:
        if len({one.original for one in matches}) < len(matches):
            fix = "Give them different start times first (B049)."
        else:
            fix = f"Name its start: {' or '.join(self.address(one, possible, time=True) for one in matches)}."
        at = "" if which.start is None else f" {which.start}"
        listed = ", ".join(map(self.words, matches))
        message = f"{which.day}{at} matches {len(matches)} occurrences: {listed}."
        return self.problem(WHICH_ONE, message, fix)

    def address(
        self, one: LocalOccurrence, possible: list[LocalOccurrence] | None = None, *, time: bool = False
    ) -> str:
        """Return the shortest arguments that name the occurrence; with `time`, at least a date and a time."""
        rest = [other for other in possible or self._happening() if other != one]
        shown = self._shown(one)[1]
        days = {start // DAY for other in rest for start in (other.original, *self._shown(other))}
        if not time and shown // DAY not in days:
            return f"{day_of(shown)}"
        if not any(shown in self._shown(other) for other in rest):
            return f"{day_of(shown)} {clock(shown)}"
        return f"{day_of(one.original)}T{clock(one.original)}"

    def _happening(self) -> list[LocalOccurrence]:
        return [one for one in self.all if one.happens]

    def words(self, one: LocalOccurrence) -> str:
        """Return when it happens: `Mon 2026-02-02 09:00-13:00`."""
        text = span_text(*window(self.zone, one.start, one.end), self.zone)
        if one.start // DAY != one.original // DAY:
            text += f" (moved from {day_of(one.original)} {clock(one.original)})"
        return text

    def missing(self, which: OccurrenceSelector, code: str) -> Problem:
        """Report that no occurrence is meant."""
        at = "" if which.start is None else f" at {which.start}"
        there = [
            self.address(one, time=True)
            for one in self._happening()
            if str(day_of(self._shown(one)[1])) == which.day
        ]
        name = self.reservation.name
        fix = f"Name another date: berth occurrences {name} lists them."
        if there:
            fix = f"Name its start: {' or '.join(there)}."
        return self.problem(code, f"{name} has no occurrence on {which.day}{at}.", fix)

    def problem(self, code: str, message: str, fix: str) -> Problem:
        origin = self.reservation.origin
        return Problem(code, origin.file, origin.index, ("spec", "recurrence"), message, fix)


def skip_occurrence(which: OccurrenceSelector) -> OccurrenceEdit:
    """Leave an occurrence out."""

    def plan(dates: Dates) -> TreeEdit:
        one = dates.find(which, lambda found: found.happens)
        if one is not None:
            return _skip(dates, one)
        left_out = next((found for found in dates.all if _is_left_out(found, which)), None)
        if left_out is not None:
            when = " ".join(filter(None, (which.day, which.start)))
            raise NothingToDoError(f"nothing is left to skip on {when} ({left_out.excluded})")
        raise RefusedError(dates.missing(which, NOTHING_TO_SKIP))

    return plan


def move_occurrence(which: OccurrenceSelector, to: NewTimes) -> OccurrenceEdit:
    """Let an occurrence happen at another time. Without a new end it keeps its length."""

    def plan(dates: Dates) -> TreeEdit:
        # A class that a holiday cancels is often given on another date.
        one = dates.find(which, lambda found: found.happens or found.excluded != EXCEPT)
        if one is None or (one.excluded == EXCEPT and one.is_moved):
            raise RefusedError(_not_movable(dates, which, one))
        day = one.start // DAY if to.day is None else number(date.fromisoformat(to.day))
        start = day * DAY + (one.start % DAY if to.start is None else end_time(to.start))
        end = _moved_end(one, start, to)
        if one.happens and (start, end) == (one.start, one.end):
            raise NothingToDoError(f"it already happens at {dates.words(one)}")
        return _retime(dates, one, (start, end), to)

    return plan


def _not_movable(dates: Dates, which: OccurrenceSelector, one: LocalOccurrence | None) -> Problem:
    """Report that there is no occurrence, or why it is left out."""
    one = one or next((found for found in dates.all if _is_left_out(found, which)), None)
    if one is None:
        return dates.missing(which, NOTHING_TO_MOVE)
    when = f"{day_of(one.original)} {clock(one.original)}"
    fix = "Remove it from except first."
    if one.excluded != EXCEPT:
        address = dates.address(one)
        fix = f"For another date: berth move {dates.reservation.name} {address} --to DATE."
    return dates.problem(NOTHING_TO_MOVE, f"{when} is left out ({one.excluded}).", fix)


def _is_left_out(one: LocalOccurrence, which: OccurrenceSelector) -> bool:
    day, start = str(day_of(one.original)), clock(one.original)
    return not one.happens and day == which.day and which.start in (None, start)


def _moved_end(one: LocalOccurrence, start: int, to: NewTimes) -> int:
    """Return the new end. A time without a date is within a day of the start, as in `endTime`.

    For an occurrence that lasts longer, the end stays as many days after the start as it is.
    """
    if to.end is None:
        return start + one.end - one.start
    midnight, minutes = start // DAY * DAY, end_time(to.end)
    if to.end_day is not None:
        end = number(date.fromisoformat(to.end_day)) * DAY + minutes
    elif one.end - one.start > DAY:
        end = midnight + (_end_day(one) - one.start // DAY) * DAY + minutes
    else:
        end = start + window_minutes(start % DAY, minutes, None)
    if end <= start:
        begin, tomorrow = f"{day_of(start)} {clock(start)}", day_of(start + DAY)
        raise EditError(
            f"the end is not after the start, {begin}. For 24 hours write "
            f'--to "{begin} to {tomorrow} {clock(start)}"'
        )
    return end


def extend_occurrence(which: OccurrenceSelector, end: str, end_day: str | None) -> OccurrenceEdit:
    """Let an occurrence end later. Without a date, the end stays on its day."""

    def plan(dates: Dates) -> TreeEdit:
        one = dates.find(which, lambda found: found.happens)
        if one is None or (one.excluded == EXCEPT and one.is_moved):
            raise RefusedError(_not_movable(dates, which, one))
        day = _end_day(one) if end_day is None else number(date.fromisoformat(end_day))
        new = day * DAY + end_time(end)
        before = window(dates.zone, one.start, one.end)[1]
        after = window(dates.zone, one.start, new)[1] if new > one.start else 0
        if after == before:
            raise NothingToDoError(f"it already happens at {dates.words(one)}")
        if after < before:
            raise EditError(_not_later(dates, one, new))
        to = NewTimes(end=end, end_day=end_day)
        return _retime(dates, one, (one.start, new), to)

    return plan


def _end_day(one: LocalOccurrence) -> int:
    """Return the day of the end, as lists show it: 24:00 belongs to the day of the start."""
    first = one.start // DAY
    return first if one.end == (first + 1) * DAY else one.end // DAY


def _not_later(dates: Dates, one: LocalOccurrence, new: int) -> str:
    """Return why the occurrence is not extended, with the commands that do what may be meant."""
    name, which = dates.reservation.name, dates.address(one)
    text = f"{day_of(new)} {clock(new)} is not after the end of {dates.words(one)}"
    if new > one.start:
        to = _span(one.start, new)
        text += f'. To end it sooner: berth move {name} {which} --to "{to}"'
    later = new + (one.end - new + DAY) // DAY * DAY
    if new <= one.start or later - one.end < DAY // 2:
        until = f"{day_of(later)} {clock(later)}"
        text += f'. To end it on a later day: berth extend {name} {which} --until "{until}"'
    return text


def _span(start: int, end: int) -> str:
    """Return the argument of --to for these times."""
    begin = f"{day_of(start)} {clock(start)}"
    if end == (start // DAY + 1) * DAY:
        return f"{begin}-24:00"
    if start // DAY == end // DAY:
        return f"{begin}-{clock(end)}"
    return f"{begin} to {day_of(end)} {clock(end)}"


# What is written


def _skip(dates: Dates, one: LocalOccurrence) -> TreeEdit:
    recurrence = dates.reservation.recurrence

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            _remove(written, "extra", one.entry - len(recurrence.schedule))
            return
        if one.is_moved:
            _remove(written, "moved", move_index(recurrence.moves, one.original))
        if one.excluded is None:
            entry = _original(dates, one)
            _add(written, "except", entry if len(entry) > 1 else entry["date"], make)

    return edit


def _original(dates: Dates, one: LocalOccurrence) -> dict[str, str]:
    """Return the keys that name an occurrence of the schedule in `except` and `moved`."""
    day = one.original // DAY
    is_alone = sum(not other.is_extra and other.original // DAY == day for other in dates.all) == 1
    keys = {"date": str(day_of(one.original))}
    return keys if is_alone else {**keys, "startTime": clock(one.original)}


def _retime(dates: Dates, one: LocalOccurrence, times: tuple[int, int], to: NewTimes) -> TreeEdit:
    """Write a new start and end. `to`: what was given, which is written even if it is the same as before."""
    recurrence = dates.reservation.recurrence
    start, end = times

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            entry = written["extra"][one.entry - len(recurrence.schedule)]
            _set(entry, {"date": str(day_of(start)), "startTime": clock(start), **_end(start, end)}, make)
            return
        if not one.is_moved:
            target = _new_target(one, start, end, to)
            original = _original(dates, one)
            _add(written, "moved", {**original, "to": target}, make)
            return
        index = move_index(recurrence.moves, one.original)
        if times == (one.original, one.original + one.length) and one.excluded is None:
            _remove(written, "moved", index)
            return
        keys = {"endTime": None, "endDay": None, **_new_target(one, start, end, to)}
        _set(written["moved"][index]["to"], keys, make)

    return edit


def _new_target(one: LocalOccurrence, start: int, end: int, to: NewTimes) -> dict[str, Any]:
    """Return `to` of an entry of `moved`: what differs from the schedule, and what was given."""
    keys: dict[str, Any] = {}
    if to.day is not None or start // DAY != one.original // DAY:
        keys["date"] = str(day_of(start))
    if to.start is not None or start % DAY != one.original % DAY:
        keys["startTime"] = clock(start)
    if to.end is not None or end - start != one.length:
        keys.update({key: value for key, value in _end(start, end).items() if value is not None})
    return keys


def _end(start: int, end: int) -> dict[str, Any]:
    """Return `endTime`, and `endDay` where the rule of `endTime` does not say the day."""
    if end == (start // DAY + 1) * DAY:
        return {"endTime": "24:00", "endDay": None}
    days, minutes = end // DAY - start // DAY, end % DAY
    is_said = minutes != start % DAY and days == (minutes < start % DAY)
    return {"endTime": clock(end), "endDay": None if is_said else days}


def _set(entry: Any, keys: dict[str, Any], make: MakeNode) -> None:
    """Set keys of a mapping; None removes one. What is the same stays as it is written."""
    for key, value in keys.items():
        if value is None:
            if key in entry:
                del entry[key]
        elif str(entry.get(key)) != str(value):
            entry[key] = make(value)


def _add(recurrence: Any, key: str, entry: Any, make: MakeNode) -> None:
    entries = recurrence.get(key)
    if entries is None:
        recurrence[key] = make([entry])
    else:
        entries.append(make(entry))


def _remove(recurrence: Any, key: str, index: int) -> None:
    entries = recurrence[key]
    del entries[index]
    if not entries:
        del recurrence[key]
