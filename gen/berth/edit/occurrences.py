"""Skip, move and extend one occurrence, or change its seats: find it, and write what differs into the tree.

An occurrence in `extra` is edited there; for one of the schedule, an entry of `except` or `moved` is added,
changed or removed. All times are wall times in the zone of the reservation.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

from berth.dates.exceptions import (
    NOTHING_TO_MOVE,
    NOTHING_TO_SKIP,
    WHICH_ONE,
    Exclusions,
    calendars_of,
    single_excepts,
)
from berth.dates.moments import span_text
from berth.dates.occurrence import LocalOccurrence, window_minutes
from berth.dates.recurrence import local_occurrences
from berth.dates.zone import DAY, Zone, clock, day_of, load, local, number, window
from berth.edit.datelists import add_entry, remove_entry, set_keys
from berth.edit.roundtrip import EditError, MakeNode, TreeEdit
from berth.edit.seats import Counts, count_keys, set_extra_seats, with_counts
from berth.findings import Problem
from berth.manifests.placed import class_names
from berth.notation.times import end_time
from berth.output.report import seats_text
from berth.schema.values import Calendar, Reservation, Seats


class OccurrenceSelector(NamedTuple):
    """A local date on which the occurrence starts, now or before it was moved, and the time of that start.

    With `is_id`, both are those of its id: the start before it was moved. `name` is that of its entry, empty
    for one without a name.
    """

    day: str
    start: str | None
    is_id: bool = False
    name: str | None = None

    @property
    def words(self) -> str:
        """What it gives besides the date: ` at 09:00 named extra-time`."""
        at = "" if self.start is None else f" at {self.start}"
        return f"{at} named {self.name}" if self.name else at


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
        self._exclusions = Exclusions(reservation.recurrence, calendars_of(reservation.recurrence, calendars))

    def find(
        self, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
    ) -> LocalOccurrence | None:
        """Return the occurrence that is meant, or None. Raise RefusedError if there are several.

        With a time, what lists show goes before what is left out, or started then before it was moved.
        """
        possible = [one for one in self.all if among(one) and which.name in (None, one.name)]
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

    def find_left_out(self, which: OccurrenceSelector) -> LocalOccurrence | None:
        """Return the first occurrence that is left out and would start then, now or before it was moved."""
        for one in self.all:
            starts = (one.original, one.start)
            days = [start for start in starts if str(day_of(start)) == which.day]
            is_named = which.name in (None, one.name)
            if not one.happens and is_named and any(which.start in (None, clock(start)) for start in days):
                return one
        return None

    def _shown(self, one: LocalOccurrence) -> tuple[int, int]:
        """Return its start as the file says it, and as clocks show it."""
        return one.start, local(self.zone, window(self.zone, one.start, one.end)[0])

    def _several(
        self, which: OccurrenceSelector, matches: list[LocalOccurrence], possible: list[LocalOccurrence]
    ) -> Problem:
        if len({(one.original, one.name) for one in matches}) < len(matches):
            fix = "Give them different start times or names first (B049)."
        else:
            fix = f"Name its start: {' or '.join(self.address(one, possible, time=True) for one in matches)}."
        listed = ", ".join(map(self.words, matches))
        message = f"{which.day}{which.words} matches {len(matches)} occurrences: {listed}."
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
        same = [other.name for other in rest if shown in self._shown(other)]
        if not same:
            return f"{day_of(shown)} {clock(shown)}"
        if one.name and one.name not in same:
            return f"{day_of(shown)} {clock(shown)} --name {one.name}"
        return f"{day_of(one.original)}T{clock(one.original)}" + (f"~{one.name}" if one.name else "")

    def _happening(self) -> list[LocalOccurrence]:
        return [one for one in self.all if one.happens]

    def is_contradictory(self, one: LocalOccurrence) -> bool:
        """Tell whether one entry moves it and another one leaves it out (B050)."""
        return one.has_new_time and bool(
            single_excepts(self.reservation.recurrence.excepts, one.original, one.name)
        )

    def words(self, one: LocalOccurrence) -> str:
        """Return when it happens: `Mon 2026-02-02 09:00-13:00`."""
        text = span_text(*window(self.zone, one.start, one.end), self.zone)
        if one.name:
            text += f" {one.name}"
        if one.start // DAY != one.original // DAY:
            text += f" (moved from {day_of(one.original)} {clock(one.original)})"
        return text

    def check_open(self, start: int, end: int) -> None:
        """Raise EditError if the site is closed at these wall times."""
        reason = self._exclusions.closed(start, end)
        if reason is not None:
            when = span_text(*window(self.zone, start, end), self.zone)
            raise EditError(f"the site is closed on {when} ({reason}). Choose another date")

    def missing(self, which: OccurrenceSelector, code: str) -> Problem:
        """Report that no occurrence is meant."""
        there = [
            self.address(one, time=True)
            for one in self._happening()
            if str(day_of(self._shown(one)[1])) == which.day
        ]
        name = self.reservation.name
        fix = f"Name another date: berth occurrences {name} lists them."
        if there:
            fix = f"Name its start: {' or '.join(there)}."
        return self.problem(code, f"{name} has no occurrence on {which.day}{which.words}.", fix)

    def problem(self, code: str, message: str, fix: str) -> Problem:
        origin = self.reservation.origin
        return Problem(code, origin.file, origin.index, ("spec", "recurrence"), message, fix)


def skip_occurrence(which: OccurrenceSelector) -> OccurrenceEdit:
    """Leave an occurrence out."""

    def plan(dates: Dates) -> TreeEdit:
        one = dates.find(which, lambda found: found.happens)
        if one is not None:
            return _skip(dates, one)
        left_out = dates.find_left_out(which)
        if left_out is not None and left_out.move is not None and not left_out.has_new_time:
            return _skip(dates, left_out)
        if left_out is not None:
            when = " ".join(filter(None, (which.day, which.start, which.name)))
            raise NothingToDoError(f"nothing is left to skip on {when} ({left_out.reason})")
        raise RefusedError(dates.missing(which, NOTHING_TO_SKIP))

    return plan


def move_occurrence(which: OccurrenceSelector, to: NewTimes) -> OccurrenceEdit:
    """Let an occurrence happen at another time. Without a new end it keeps its length."""

    def plan(dates: Dates) -> TreeEdit:
        # A class that a holiday cancels is often given on another date.
        one = dates.find(which, lambda found: found.happens or not found.is_excepted)
        if one is None or dates.is_contradictory(one):
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
    one = one or dates.find_left_out(which)
    if one is None:
        return dates.missing(which, NOTHING_TO_MOVE)
    when = f"{day_of(one.original)} {clock(one.original)}"
    fix = "Remove it from except first."
    if not one.is_excepted:
        address = dates.address(one)
        fix = f"For another date: berth move {dates.reservation.name} {address} --to DATE."
    return dates.problem(NOTHING_TO_MOVE, f"{when} is left out ({one.reason}).", fix)


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
        if one is None or dates.is_contradictory(one):
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


def change_seats(which: OccurrenceSelector, counts: Counts) -> OccurrenceEdit:
    """Give an occurrence other seats; classes that are not named keep their counts."""

    def plan(dates: Dates) -> TreeEdit:
        one = dates.find(which, lambda found: found.happens)
        if one is None or dates.is_contradictory(one):
            raise RefusedError(_not_movable(dates, which, one))
        reservation = dates.reservation
        seats = with_counts(one.seats, counts, class_names(reservation) if reservation.seats_listed else ())
        if dict(seats) == dict(one.seats):
            has = seats_text(seats, reservation.holder.unit)
            raise NothingToDoError(f"{dates.words(one)} has {has} already")
        return _reseat(dates, one, seats)

    return plan


# What is written


def _skip(dates: Dates, one: LocalOccurrence) -> TreeEdit:
    recurrence = dates.reservation.recurrence

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            remove_entry(written, "extra", one.entry - len(recurrence.schedule))
            return
        if one.move is not None:
            remove_entry(written, "moved", one.move)
        if one.excluded is None:
            entry = _original(dates, one)
            add_entry(written, "except", entry if len(entry) > 1 else entry["date"], make)

    return edit


def _original(dates: Dates, one: LocalOccurrence) -> dict[str, str]:
    """Return the keys that name an occurrence of the schedule in `except` and `moved`."""
    day = one.original // DAY
    others = [other for other in dates.all if not other.is_extra and other.original // DAY == day]
    keys = {"date": str(day_of(one.original))}
    if len(others) > 1:
        keys["startTime"] = clock(one.original)
    if len([other for other in others if other.original == one.original]) > 1:
        keys["name"] = one.name
    return keys


def _retime(dates: Dates, one: LocalOccurrence, times: tuple[int, int], to: NewTimes) -> TreeEdit:
    """Write a new start and end. `to`: what was given, which is written even if it is the same as before."""
    recurrence = dates.reservation.recurrence
    start, end = times
    dates.check_open(start, end)

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            entry = written["extra"][one.entry - len(recurrence.schedule)]
            set_keys(entry, {"date": str(day_of(start)), "startTime": clock(start), **_end(start, end)}, make)
            return
        is_usual = times == (one.original, one.original + one.length) and one.excluded is None
        usual = dict.fromkeys(("date", "startTime", "endTime", "endDay"))
        _change(dates, one, written, usual if is_usual else _new_target(one, start, end, to), make)

    return edit


def _reseat(dates: Dates, one: LocalOccurrence, seats: Seats) -> TreeEdit:
    """Write other seats; none where they are those that the line has without a change."""
    reservation, recurrence = dates.reservation, dates.reservation.recurrence

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            entry = written["extra"][one.entry - len(recurrence.schedule)]
            set_extra_seats(reservation, entry, seats, make)
            return
        keys = count_keys(reservation, seats, recurrence.schedule[one.entry].seats)
        _change(dates, one, written, keys, make)

    return edit


def _change(
    dates: Dates, one: LocalOccurrence, recurrence: Any, keys: dict[str, Any], make: MakeNode
) -> None:
    """Set keys of `to` in the entry of `moved`, which is added or removed if need be; None removes a key."""
    if one.move is None:
        new = {key: value for key, value in keys.items() if value is not None}
        add_entry(recurrence, "moved", {**_original(dates, one), "to": new}, make)
        return
    target = recurrence["moved"][one.move]["to"]
    set_keys(target, keys, make)
    if not target:
        remove_entry(recurrence, "moved", one.move)


def _new_target(one: LocalOccurrence, start: int, end: int, to: NewTimes) -> dict[str, Any]:
    """Return the times in `to` of an entry of `moved`: what differs from the schedule, and what was given."""
    keys: dict[str, Any] = {}
    if to.day is not None or start // DAY != one.original // DAY:
        keys["date"] = str(day_of(start))
    if to.start is not None or start % DAY != one.original % DAY:
        keys["startTime"] = clock(start)
    has_end = to.end is not None or end - start != one.length
    return keys | (_end(start, end) if has_end else {"endTime": None, "endDay": None})


def _end(start: int, end: int) -> dict[str, Any]:
    """Return `endTime`, and `endDay` where the rule of `endTime` does not say the day."""
    if end == (start // DAY + 1) * DAY:
        return {"endTime": "24:00", "endDay": None}
    days, minutes = end // DAY - start // DAY, end % DAY
    is_said = minutes != start % DAY and days == (minutes < start % DAY)
    return {"endTime": clock(end), "endDay": None if is_said else days}
