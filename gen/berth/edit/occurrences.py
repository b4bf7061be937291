"""Skip, move, extend and add single dates, or change their seats: find them, and write what differs.

An occurrence in `extra` is edited there; for one of the schedule, an entry of `except` or `moved` is added,
changed or removed. All times are wall times in the zone of the reservation.
"""

from collections.abc import Callable, Mapping, Sequence
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
from berth.dates.expansion import LocalOccurrence, window_minutes
from berth.dates.moments import no_date_text, span_text
from berth.dates.recurrence import local_occurrences
from berth.dates.zone import DAY, Zone, clock, day_of, load, local, number, window
from berth.edit.datelists import add_entry, remove_entry, set_keys
from berth.edit.roundtrip import EditError, MakeNode, TreeEdit
from berth.edit.seatcounts import Counts, count_keys, set_extra_seats, with_counts
from berth.findings import Problem
from berth.manifests.placed import class_names
from berth.notation.times import TimeSpan, end_time
from berth.output.answers import seats_text
from berth.schema.entry import EQUAL_TIMES
from berth.schema.values import Calendar, Except, Reservation, Seats


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


class OccurrenceRange(NamedTuple):
    """Local dates, both inclusive, and which of their occurrences are meant: by start and by name, or all."""

    first: str
    last: str
    start: str | None = None
    name: str | None = None

    @property
    def days(self) -> range:
        return range(number(date.fromisoformat(self.first)), number(date.fromisoformat(self.last)) + 1)

    @property
    def words(self) -> str:
        """What it means: `from 2026-02-15 to 2026-02-26 at 09:00 named extra-time`."""
        which = OccurrenceSelector(self.first, self.start, name=self.name).words
        return f"from {self.first} to {self.last}{which}"

    def has(self, wall: int, name: str) -> bool:
        """Tell whether it means an occurrence that starts then and has this name."""
        is_start = self.start is None or wall % DAY == end_time(self.start)
        return wall // DAY in self.days and is_start and self.name in (None, name)


DateSelector = OccurrenceSelector | OccurrenceRange
"""What one DATE of a command names."""


class NewTimes(NamedTuple):
    """New dates and times of the start and the end; None keeps what the occurrence has."""

    day: str | None = None
    start: str | None = None
    end: str | None = None
    end_day: str | None = None


class NothingToDoError(Exception):
    """There is nothing to change; the message says why."""


class RefusedError(Exception):
    """An edit that is refused with findings."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


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
                one for one in possible if day in {start // DAY for start in (one.original, *self.shown(one))}
            ]
        else:
            wall = day * DAY + end_time(which.start)
            shown = [one for one in possible if wall in self.shown(one)]
            matches = [one for one in shown if one.happens] or shown
            if which.is_id or not matches:
                named = [one for one in possible if wall == one.original]
                matches = [one for one in named if one.happens] or named
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

    def shown(self, one: LocalOccurrence) -> tuple[int, int]:
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
        shown = self.shown(one)[1]
        days = {start // DAY for other in rest for start in (other.original, *self.shown(other))}
        if not time and shown // DAY not in days:
            return f"{day_of(shown)}"
        same = [other.name for other in rest if shown in self.shown(other)]
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
            if str(day_of(self.shown(one)[1])) == which.day
        ]
        if there:
            fix = f"Name its start: {' or '.join(there)}."
            message = f"{self.reservation.name} has no occurrence on {which.day}{which.words}."
            return self.problem(code, message, fix)
        day = number(date.fromisoformat(which.day))
        return self._no_date(code, range(day, day + 1), which.words)

    def missing_range(self, dates: OccurrenceRange, code: str) -> Problem:
        """Report that nothing happens on any of the dates."""
        return self._no_date(
            code, dates.days, OccurrenceSelector(dates.first, dates.start, name=dates.name).words
        )

    def _no_date(self, code: str, days: range, which: str) -> Problem:
        """Report that the reservation has no date on these days, with the nearest that it has."""
        there = [self.shown(one)[1] // DAY for one in self._happening()]
        text = no_date_text(days[0], days[-1], there)
        where, separator, near = text.partition(";")
        message = f"{self.reservation.name} has {where}{which}{separator}{near}."
        return self.problem(
            code, message, f"Name another date: berth occurrences {self.reservation.name} lists them."
        )

    def problem(self, code: str, message: str, fix: str) -> Problem:
        origin = self.reservation.origin
        return Problem(code, origin.file, origin.index, ("spec", "recurrence"), message, fix)


class ListChanges:
    """Entries to remove from the lists of a recurrence, by index, and entries to add.

    `losses`: what the removed entries said that `--undo` does not restore, and how to restore it.
    """

    def __init__(self) -> None:
        self.removed: dict[str, set[int]] = {}
        self.added: list[tuple[str, Any]] = []
        self.losses: list[str] = []

    def remove(self, key: str, index: int) -> None:
        self.removed.setdefault(key, set()).add(index)

    def add(self, key: str, entry: Any) -> None:
        if (key, entry) not in self.added:
            self.added.append((key, entry))

    def __bool__(self) -> bool:
        return bool(self.removed or self.added)

    def __call__(self, tree: Any, make: MakeNode) -> None:
        """Apply them to the tree of a document."""
        self.apply(tree["spec"]["recurrence"], make)

    def apply(self, written: Any, make: MakeNode) -> None:
        """Apply them to the recurrence of a document."""
        for key, indices in self.removed.items():
            for index in sorted(indices, reverse=True):
                remove_entry(written, key, index)
        for key, entry in self.added:
            add_entry(written, key, entry, make)


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
    one = dates.find(item, lambda found: found.happens)
    if one is not None:
        _skip(dates, changes, one, title)
        return
    left_out = dates.find_left_out(item)
    if left_out is None:
        raise RefusedError(dates.missing(item, NOTHING_TO_SKIP))
    if left_out.move is not None and not left_out.has_new_time:
        _skip(dates, changes, left_out, title)
    elif not (title and _retitle(dates, changes, left_out, title)):
        when = " ".join(filter(None, (item.day, item.start, item.name)))
        raise NothingToDoError(f"nothing is left to skip on {when} ({left_out.reason})")


def _skip(dates: Dates, changes: ListChanges, one: LocalOccurrence, title: str) -> None:
    if one.is_extra:
        if title:
            raise EditError(
                f"{dates.words(one)} is an extra date, which goes without a trace: leave out --title"
            )
        changes.losses.append(_loss(dates, one, _add_command(dates, one)))
        changes.remove("extra", one.entry - len(dates.reservation.recurrence.schedule))
        return
    if one.move is not None:
        _remove_move(dates, changes, one, _original_words(dates, one))
    if one.excluded is None:
        entry = {**original_keys(dates, one), **({"title": title} if title else {})}
        changes.add("except", entry if len(entry) > 1 else entry["date"])


def _remove_move(dates: Dates, changes: ListChanges, one: LocalOccurrence, skipped: str) -> None:
    """Remove the entry of `moved` of an occurrence that is skipped by DATE as `skipped` names it."""
    assert one.move is not None
    changes.remove("moved", one.move)
    if one.happens:
        changes.losses.append(_loss(dates, one, _change_command(dates, one, skipped)))


def _loss(dates: Dates, one: LocalOccurrence, command: str) -> str:
    """Return what is lost with the entry of an occurrence; `command` restores it, and may be empty."""
    begin, end = window(dates.zone, one.start, one.end)
    seats = seats_text(one.seats, dates.reservation.holder.unit)
    name = f" {one.name}" if one.name else ""
    restore = f"To restore it: {command}" if command else "Only an edit of the file restores it."
    return f"not kept: {span_text(begin, end, dates.zone)}{name}, {seats}. {restore}"


def _change_command(dates: Dates, one: LocalOccurrence, skipped: str) -> str:
    """Return the commands that let a skipped date happen again as `moved` said."""
    if one.is_excepted:
        return ""
    name, which = dates.reservation.name, _original_words(dates, one)
    seats = _seats_words(one.seats, dates.reservation.recurrence.schedule[one.entry].seats)
    change = f"berth set {name} --on {_on_words(dates, one)}{seats}"
    if one.has_new_time:
        change = f'berth move {name} {which} --to "{_span(one.start, one.end)}"{seats}'
    return change if one.excluded else f"berth skip {name} {skipped} --undo && {change}"


def _add_command(dates: Dates, one: LocalOccurrence) -> str:
    """Return the command that adds an extra date again; empty if none can."""
    reservation = dates.reservation
    keys = end_keys(one.start, one.end)
    if reservation.recurrence.lines[one.entry].scaling or keys["endDay"] is not None:
        return ""
    seats = _seats_words(one.seats, reservation.seats) + (f" --name {one.name}" if one.name else "")
    day, times = day_of(one.start), f"{clock(one.start)}-{keys['endTime']}"
    return f"berth add {reservation.name} {day} {times}{seats}"


def _seats_words(seats: Seats, usual: Seats) -> str:
    if dict(seats) == dict(usual):
        return ""
    return (
        f" --seats {seats[0][1] if len(seats) == 1 else ','.join(f'{name}={count}' for name, count in seats)}"
    )


def _original_words(dates: Dates, one: LocalOccurrence) -> str:
    """Return the arguments DATE [TIME] [--name NAME] that name an occurrence of the schedule."""
    keys = original_keys(dates, one)
    words = [keys["date"], *([keys["startTime"]] if "startTime" in keys else [])]
    return " ".join([*words, *([f"--name {keys['name'] or repr('')}"] if "name" in keys else [])])


def _on_words(dates: Dates, one: LocalOccurrence) -> str:
    """Return them for `berth set --on`, where the time is an option."""
    day, separator, rest = _original_words(dates, one).partition(" ")
    return f"{day} --start {rest}" if separator else day


def _retitle(dates: Dates, changes: ListChanges, one: LocalOccurrence, title: str) -> bool:
    """Give the entry of `except` that leaves out only this occurrence another title, if there is one."""
    excepts = dates.reservation.recurrence.excepts
    singles = single_excepts(excepts, one.original, one.name)
    if not singles or excepts[singles[0]].title == title:
        return False
    changes.remove("except", singles[0])
    changes.add("except", {**original_keys(dates, one), "title": title})
    return True


def _skip_range(dates: Dates, changes: ListChanges, item: OccurrenceRange, title: str) -> None:
    """Leave out a range with one entry of `except`; what was moved into it from elsewhere has its own."""
    is_needed, has_any = False, False
    for one in dates.all:
        is_shown = any(item.has(wall, one.name) for wall in dates.shown(one))
        is_original = not one.is_extra and item.has(one.original, one.name)
        has_any = has_any or is_shown or is_original
        if one.happens and is_shown and not is_original:
            _skip(dates, changes, one, "" if one.is_extra else title)
        elif is_original and not (one.has_new_time and not is_shown):  # what was moved away stays there
            is_needed = is_needed or one.excluded is None
            if one.move is not None:
                _remove_move(dates, changes, one, f"{item.first}..{item.last}{_range_words(item)}")
    if is_needed:
        entry = {"from": item.first, "to": item.last}
        keys = (("startTime", item.start), ("name", item.name), ("title", title or None))
        changes.add("except", entry | {key: value for key, value in keys if value is not None})
    elif not has_any:
        raise RefusedError(dates.missing_range(item, NOTHING_TO_SKIP))
    elif not changes:
        raise NothingToDoError(f"nothing is left to skip {item.words}")


def _range_words(item: OccurrenceRange) -> str:
    """Return what follows the dates of a range on a command line."""
    time = f" {item.start}" if item.start else ""
    return f"{time} --name {item.name}" if item.name else time


def move_occurrence(which: OccurrenceSelector, to: NewTimes, counts: Counts | None = None) -> OccurrenceEdit:
    """Let an occurrence happen at another time, and with other seats if there are counts.

    Without a new end it keeps its length.
    """

    def plan(dates: Dates) -> TreeEdit:
        # A class that a holiday cancels is often given on another date.
        one = dates.find(which, lambda found: found.happens or not found.is_excepted)
        if one is None or dates.is_contradictory(one):
            raise RefusedError(_not_movable(dates, which, one))
        day = one.start // DAY if to.day is None else number(date.fromisoformat(to.day))
        start = day * DAY + (one.start % DAY if to.start is None else end_time(to.start))
        end = _moved_end(one, start, to)
        seats = None if counts is None else _other_seats(dates, one, counts)
        if seats is not None and dict(seats) == dict(one.seats):
            seats = None
        is_same = end > start and window(dates.zone, start, end) == window(dates.zone, one.start, one.end)
        if not (one.happens and is_same):
            return _retime(dates, one, (start, end), to, seats)
        if seats is None:
            raise NothingToDoError(f"it already happens at {dates.words(one)}")
        return _reseat(dates, one, seats)

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
        seats = _other_seats(dates, one, counts)
        if dict(seats) == dict(one.seats):
            has = seats_text(seats, dates.reservation.holder.unit)
            raise NothingToDoError(f"{dates.words(one)} has {has} already")
        return _reseat(dates, one, seats)

    return plan


def _other_seats(dates: Dates, one: LocalOccurrence, counts: Counts) -> Seats:
    reservation = dates.reservation
    return with_counts(one.seats, counts, class_names(reservation) if reservation.seats_listed else ())


def add_occurrence(day: str, times: TimeSpan, counts: Counts | None, name: str) -> OccurrenceEdit:
    """Add an occurrence besides the schedule, with a name if it is that of a group."""

    def plan(dates: Dates) -> TreeEdit:
        reservation = dates.reservation
        start = number(date.fromisoformat(day)) * DAY + times.start
        end = start + window_minutes(times.start, times.end, None)
        if end == start:
            raise EditError("TIMES: the end equals the start. Write another time", EQUAL_TIMES)
        dates.check_open(start, end)
        seats = reservation.seats
        if counts is not None:
            seats = with_counts(seats, counts, class_names(reservation) if reservation.seats_listed else ())
        entry = {
            "date": day,
            "startTime": clock(start),
            **end_keys(start, end),
            "name": name or None,
            **count_keys(reservation, seats, reservation.seats),
        }
        changes = ListChanges()
        changes.add("extra", {key: value for key, value in entry.items() if value is not None})
        return changes

    return plan


# What commands have written, taken back

MOVED, EXTENDED, RESEATED = "another time", "a later end", "other seats"
_UNDONE = {
    MOVED: ("date", "startTime", "endTime", "endDay", "placeholderCount", "nodeCount", "seats"),
    EXTENDED: ("endTime", "endDay"),
    RESEATED: ("placeholderCount", "nodeCount", "seats"),
}


def undo_change(which: OccurrenceSelector, what: str) -> OccurrenceEdit:
    """Take back one of the changes above: MOVED is all that `moved` says of the date."""

    def plan(dates: Dates) -> TreeEdit:
        one = dates.find(which, lambda found: _has_change(dates, found, what))
        if one is None:
            usual = dates.find(which, lambda found: found.happens) or dates.find_left_out(which)
            if usual is None:
                raise RefusedError(dates.missing(which, NOTHING_TO_MOVE))
            why = "is an extra date, which was changed in its place" if usual.is_extra else f"has not {what}"
            raise NothingToDoError(f"nothing to undo: {dates.words(usual)} {why}")
        keys: dict[str, Any] = dict.fromkeys(_UNDONE[what])
        return lambda tree, make: _change(dates, one, tree["spec"]["recurrence"], keys, make)

    return plan


def _has_change(dates: Dates, one: LocalOccurrence, what: str) -> bool:
    if one.move is None:
        return False
    move = dates.reservation.recurrence.moves[one.move]
    return what == MOVED or (move.seats if what == RESEATED else move.to_end) is not None


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
    for index, one in enumerate(dates.reservation.recurrence.excepts):
        first, last = number(one.first), number(one.last)
        if first in days and last in days and _is_just(dates, one, wanted):
            changes.remove("except", index)
            is_removed = True
        elif first <= days[-1] and days[0] <= last:
            partly.append(f"berth skip {dates.reservation.name} {_except_address(one)} --undo")
    if is_removed:
        return
    single = " ".join(filter(None, (wanted.first, wanted.start, wanted.name)))
    when = f"on {single}" if len(days) == 1 else wanted.words
    if partly:
        raise EditError(f"except does not name just what is {when}. To take back more: {' or '.join(partly)}")
    left_out = [one for one in dates.all if not one.happens and wanted.has(one.original, one.name)]
    why = f" ({left_out[0].reason} leaves it out)" if left_out else ""
    if not left_out and not _happens(dates, wanted):
        raise RefusedError(_not_skipped(dates, wanted))
    raise NothingToDoError(f"nothing to undo {when}: except does not name it{why}")


def _happens(dates: Dates, wanted: OccurrenceRange) -> bool:
    starts = ((start, one.name) for one in dates.all if one.happens for start in dates.shown(one))
    return any(wanted.has(start, name) for start, name in starts)


def _not_skipped(dates: Dates, wanted: OccurrenceRange) -> Problem:
    """Report that nothing was skipped on dates on which nothing happens, with what was skipped near them.

    A date that was moved is skipped by the date that the schedule gives it.
    """
    name, days = dates.reservation.name, wanted.days
    single = OccurrenceSelector(wanted.first, wanted.start, name=wanted.name)
    known = {number(one.first): one for one in reversed(dates.reservation.recurrence.excepts)}
    where, separator, near = no_date_text(days[0], days[-1], known).partition(";")
    message = f"{name} has skipped {where}{single.words}{separator}{near}."
    nearest = min(known, key=lambda day: abs(day - days[0]), default=None)
    fix = f"Name another date: berth occurrences {name} lists them."
    if nearest is not None:
        command = f"berth skip {name} {_except_address(known[nearest])} --undo"
        fix = f"Name the date that the schedule gives it: {command}."
    return dates.problem(NOTHING_TO_SKIP, message, fix)


def _is_just(dates: Dates, one: Except, wanted: OccurrenceRange) -> bool:
    """Tell whether an entry of `except` leaves out nothing but occurrences with the start and name wanted."""
    if wanted.start is None and wanted.name is None:
        return True
    start = None if one.start is None else clock(one.start)
    named = OccurrenceRange(str(one.first), str(one.last), start, one.name)
    return all(
        wanted.has(other.original, other.name)
        for other in dates.all
        if not other.is_extra and named.has(other.original, other.name)
    )


def _except_address(one: Except) -> str:
    """Return the arguments that name an entry of `except`."""
    words = [f"{one.first}" if one.first == one.last else f"{one.first}..{one.last}"]
    words += [] if one.start is None else [clock(one.start)]
    words += [f"--name {one.name}"] if one.name else []
    return " ".join(words)


# What is written


def original_keys(dates: Dates, one: LocalOccurrence) -> dict[str, str]:
    """Return the keys that name an occurrence of the schedule in `except` and `moved`."""
    day = one.original // DAY
    others = [other for other in dates.all if not other.is_extra and other.original // DAY == day]
    keys = {"date": str(day_of(one.original))}
    if len(others) > 1:
        keys["startTime"] = clock(one.original)
    if len([other for other in others if other.original == one.original]) > 1:
        keys["name"] = one.name
    return keys


def _retime(
    dates: Dates, one: LocalOccurrence, times: tuple[int, int], to: NewTimes, seats: Seats | None = None
) -> TreeEdit:
    """Write a new start and end, and other seats if there are any.

    `to`: what was given, which is written even if it is the same as before.
    """
    reservation, recurrence = dates.reservation, dates.reservation.recurrence
    start, end = times
    dates.check_open(start, end)

    def edit(tree: Any, make: MakeNode) -> None:
        written = tree["spec"]["recurrence"]
        if one.is_extra:
            entry = written["extra"][one.entry - len(recurrence.schedule)]
            set_keys(
                entry, {"date": str(day_of(start)), "startTime": clock(start), **end_keys(start, end)}, make
            )
            if seats is not None:
                set_extra_seats(reservation, entry, seats, make)
            return
        is_usual = times == (one.original, one.original + one.length) and one.excluded is None
        usual = dict.fromkeys(("date", "startTime", "endTime", "endDay"))
        keys = usual if is_usual else _new_target(one, start, end, to)
        if seats is not None:
            keys = keys | count_keys(reservation, seats, recurrence.schedule[one.entry].seats)
        _change(dates, one, written, keys, make)

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
        add_entry(recurrence, "moved", {**original_keys(dates, one), "to": new}, make)
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
    return keys | (end_keys(start, end) if has_end else {"endTime": None, "endDay": None})


def end_keys(start: int, end: int) -> dict[str, Any]:
    """Return `endTime`, and `endDay` where the rule of `endTime` does not say the day."""
    if end == (start // DAY + 1) * DAY:
        return {"endTime": "24:00", "endDay": None}
    days, minutes = end // DAY - start // DAY, end % DAY
    is_said = minutes != start % DAY and days == (minutes < start % DAY)
    return {"endTime": clock(end), "endDay": None if is_said else days}
