"""Which occurrence of a reservation a command names, and how a message names one in turn.

All times are wall times in the zone of the reservation.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from berth.dates.exceptions import Exclusions, calendars_of, single_excepts
from berth.dates.expansion import LocalOccurrence
from berth.dates.moments import no_date_text, span_text
from berth.dates.recurrence import local_occurrences
from berth.dates.zone import DAY, Zone, clock, day_of, load, local, number, window
from berth.edit.roundtrip import TreeEdit
from berth.findings import Problem
from berth.notation.refusal import CommandError
from berth.notation.times import end_time
from berth.schema.calendardocument import Calendar
from berth.schema.reservation import Reservation
from berth.schema.values import Except


class OccurrenceSelector(NamedTuple):
    """A local date on which the occurrence starts, and the time of that start, as lists show it.

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
        """Raise CommandError if the reservation has no dates."""
        if reservation.recurrence.type == "standing":
            raise CommandError("the reservation is standing: it has no dates")
        if reservation.recurrence.type == "capacity":
            name, capacity = reservation.name, reservation.recurrence.capacity
            raise CommandError(
                f"the dates of {name} are those of CloudCapacity {capacity}: change from and until of its "
                f"reservations there. To keep the seats closed: berth set {name} suspend=true"
            )
        zone = load(reservation.recurrence.zone)
        if zone is None:
            raise CommandError(f"the time zone of {reservation.name} is unknown")
        self.reservation = reservation
        self.zone: Zone = zone
        self.all = local_occurrences(reservation, calendars)
        self._exclusions = Exclusions(reservation.recurrence, calendars_of(reservation.recurrence, calendars))

    def find(
        self, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
    ) -> LocalOccurrence | None:
        """Return the occurrence that is meant, or None. Raise RefusedError if there are several."""
        matches, possible = self._matches(which, among)
        if len(matches) > 1:
            raise RefusedError(self._several(which, matches, possible))
        return matches[0] if matches else None

    def find_groups(
        self, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
    ) -> list[LocalOccurrence]:
        """Return the occurrence that is meant, or without a name the groups that start together then.

        Raise RefusedError if there are several that do not start together, or cannot be told apart.
        """
        matches, possible = self._matches(which, among)
        starts, names = {item.start for item in matches}, {item.name for item in matches}
        if len(matches) > 1 and (len(starts) > 1 or len(names) < len(matches)):
            raise RefusedError(self._several(which, matches, possible))
        return matches

    def _matches(
        self, which: OccurrenceSelector, among: Callable[[LocalOccurrence], bool]
    ) -> tuple[list[LocalOccurrence], list[LocalOccurrence]]:
        """Return what a selector matches, and what it is chosen from: what happens goes before the rest."""
        possible = [
            occurrence
            for occurrence in self.all
            if among(occurrence) and which.name in (None, occurrence.name)
        ]
        day = number(date.fromisoformat(which.day))
        if which.start is None:
            matches = [
                occurrence
                for occurrence in possible
                if any(start // DAY == day for start in self.shown(occurrence))
            ]
            return matches, possible
        wall = day * DAY + end_time(which.start)
        matches = [occurrence for occurrence in possible if wall in self.shown(occurrence)]
        if which.is_id:
            matches = [occurrence for occurrence in possible if wall == occurrence.original]
        return _happening(matches) or matches, possible

    def find_left_out(self, which: OccurrenceSelector) -> LocalOccurrence | None:
        """Return the first occurrence that is left out and would start then, now or before it was moved."""
        for occurrence in self.all:
            starts = (occurrence.original, occurrence.start)
            days = [start for start in starts if str(day_of(start)) == which.day]
            is_named = which.name in (None, occurrence.name)
            if (
                not occurrence.happens
                and is_named
                and any(which.start in (None, clock(start)) for start in days)
            ):
                return occurrence
        return None

    def left_out_by(self, one: Except) -> list[LocalOccurrence]:
        """Return the occurrences of the schedule that an entry of `except` leaves out."""
        return [
            occurrence
            for occurrence in self.all
            if not occurrence.is_extra
            and one.first <= day_of(occurrence.original) <= one.last
            and one.start in (None, occurrence.original % DAY)
            and one.name in (None, occurrence.name)
        ]

    def shown(self, occurrence: LocalOccurrence) -> tuple[int, int]:
        """Return its start as the file says it, and as clocks show it."""
        return occurrence.start, local(self.zone, window(self.zone, occurrence.start, occurrence.end)[0])

    def _several(
        self, which: OccurrenceSelector, matches: list[LocalOccurrence], possible: list[LocalOccurrence]
    ) -> Problem:
        if len({(occurrence.original, occurrence.name) for occurrence in matches}) < len(matches):
            fix = "Give them different start times or names first (B049)."
        else:
            addresses = [self.address(occurrence, possible, time=True) for occurrence in matches]
            which_keys = (
                "start, with --name" if any(" --name " in address for address in addresses) else "start"
            )
            fix = f"Name its {which_keys}: {' or '.join(addresses)}."
        listed = ", ".join(map(self.words, matches))
        message = f"{which.day}{which.words} matches {len(matches)} occurrences: {listed}."
        return self.problem("B047", message, fix)

    def address(
        self,
        occurrence: LocalOccurrence,
        possible: list[LocalOccurrence] | None = None,
        *,
        time: bool = False,
    ) -> str:
        """Return the shortest arguments that name the occurrence; with `time`, at least a date and a time."""
        rest = [other for other in possible or _happening(self.all) if other != occurrence]
        shown = self.shown(occurrence)[1]
        days = {start // DAY for other in rest for start in (other.original, *self.shown(other))}
        if not time and shown // DAY not in days:
            return f"{day_of(shown)}"
        same = [other.name for other in rest if shown in self.shown(other)]
        if not same:
            return f"{day_of(shown)} {clock(shown)}"
        if occurrence.name and occurrence.name not in same:
            return f"{day_of(shown)} {clock(shown)} --name {occurrence.name}"
        name = f"~{occurrence.name}" if occurrence.name else ""
        return f"{day_of(occurrence.original)}T{clock(occurrence.original)}{name}"

    def is_contradictory(self, occurrence: LocalOccurrence) -> bool:
        """Tell whether one entry moves it and another one leaves it out (B048)."""
        return occurrence.has_new_time and bool(
            single_excepts(self.reservation.recurrence.excepts, occurrence.original, occurrence.name)
        )

    def words(self, occurrence: LocalOccurrence) -> str:
        """Return when it happens: `Mon 2026-02-02 09:00-13:00`."""
        text = span_text(*window(self.zone, occurrence.start, occurrence.end), self.zone)
        if occurrence.name:
            text += f" {occurrence.name}"
        if occurrence.start // DAY != occurrence.original // DAY:
            text += f" (moved from {day_of(occurrence.original)} {clock(occurrence.original)})"
        return text

    def check_open(self, start: int, end: int) -> None:
        """Raise CommandError if the site is closed at these wall times."""
        reason = self._exclusions.closed(start, end)
        if reason is not None:
            when = span_text(*window(self.zone, start, end), self.zone)
            raise CommandError(f"the site is closed on {when} ({reason}). Choose another date", "B059")

    def is_holiday(self, start: int, end: int) -> bool:
        """Tell whether a calendar leaves out what is at these wall times."""
        return self._exclusions.holiday(start, end) is not None

    def missing(self, which: OccurrenceSelector) -> Problem:
        """Report that no occurrence is meant."""
        day = number(date.fromisoformat(which.day))
        near = [
            occurrence
            for occurrence in _happening(self.all)
            if day in (self.shown(occurrence)[1] // DAY, occurrence.original // DAY)
        ]
        if near:
            fix = f"Name its start: {' or '.join(self.address(item, time=True) for item in near)}."
            moved = [item for item in near if self.shown(item)[1] // DAY != day]
            now = f"; it was moved: {', '.join(map(self.words, moved))}" if moved else ""
            message = f"{self.reservation.name} has no occurrence on {which.day}{which.words}{now}."
            return self.problem("B045", message, fix)
        return self._no_date(range(day, day + 1), which.words)

    def missing_range(self, dates: OccurrenceRange) -> Problem:
        """Report that nothing happens on any of the dates."""
        return self._no_date(dates.days, OccurrenceSelector(dates.first, dates.start, name=dates.name).words)

    def _no_date(self, days: range, which: str) -> Problem:
        """Report that the reservation has no date on these days, with the nearest that it has."""
        there = [self.shown(occurrence)[1] // DAY for occurrence in _happening(self.all)]
        text = no_date_text(days[0], days[-1], there)
        where, separator, near = text.partition(";")
        message = f"{self.reservation.name} has {where}{which}{separator}{near}."
        return self.problem(
            "B045",
            message,
            f"Name another date: berth occurrences {self.reservation.name} lists them.",
        )

    def problem(self, code: str, message: str, fix: str) -> Problem:
        return self.reservation.origin.problem(code, ("spec", "recurrence"), message, fix)


def _happening(occurrences: Iterable[LocalOccurrence]) -> list[LocalOccurrence]:
    return [occurrence for occurrence in occurrences if occurrence.happens]


def end_day(occurrence: LocalOccurrence) -> int:
    """Return the day of the end, as lists show it: 24:00 belongs to the day of the start."""
    first = occurrence.start // DAY
    return first if occurrence.end == (first + 1) * DAY else occurrence.end // DAY
