"""Apply the exceptions of a schedule: left out dates, moved occurrences, and entries that overlap."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from berth.dates.days import TitledDays, has_day_between, list_days, title_of, titled_days
from berth.dates.occurrence import BareOccurrence, Occurrence, RecurrenceFault, window_minutes
from berth.dates.zone import DAY, Zone, clock, day_of, local, number
from berth.findings import Path
from berth.schema.values import Calendar, Entry, Except, Extra, Move, Recurrence

NOTHING_TO_SKIP = "B045"
EXCEPT = "except"


class Exclusions:
    """The dates that `except` and the calendars leave out. `except` is asked first."""

    def __init__(self, recurrence: Recurrence, calendars: Iterable[Calendar]) -> None:
        """`calendars` are those of the recurrence, in its order."""
        off = [_days_off(calendar) for calendar in calendars]
        excepted = list_days((number(item.first), number(item.last)) for item in recurrence.excepts)
        self.calendars = [titled for titled, _ in off]
        self.excepts = _by_start(recurrence.excepts)
        self._days = _union([*(days for _, days in off), excepted])

    def candidates(self, bare: Sequence[BareOccurrence]) -> Sequence[BareOccurrence]:
        """Return the occurrences on days on which anything may be left out: usually few."""
        days = self._days
        return bare if days is None else [one for one in bare if one[0] // DAY in days]

    def reason(self, wall: int) -> str | None:
        """Return why the occurrence that starts at a wall time is left out; None if it is not."""
        return EXCEPT if self.is_excepted(wall) else self.holiday(wall // DAY)

    def is_excepted(self, wall: int) -> bool:
        """Tell whether `except` leaves out the occurrence that starts at a wall time."""
        day, minutes = divmod(wall, DAY)
        return any(
            start in self.excepts and title_of(self.excepts[start], day) is not None
            for start in (None, minutes)
        )

    def holiday(self, day: int) -> str | None:
        """Return `calendar <name>: <title>` of the first calendar that contains the day, or None."""
        for days in self.calendars:
            reason = title_of(days, day)
            if reason is not None:
                return reason
        return None


@lru_cache(maxsize=1024)
def _days_off(calendar: Calendar) -> tuple[TitledDays, frozenset[int] | None]:
    """Index the days of a calendar. Cached, because reservations share calendars."""
    reason = f"calendar {calendar.name}"
    ranges = [
        (number(first), number(last), f"{reason}: {title}" if title else reason)
        for first, last, title in calendar.dates
    ]
    return titled_days(ranges), list_days((first, last) for first, last, _ in ranges)


def _union(sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every: frozenset[int] = frozenset()
    for days in sets:
        if days is None:
            return None
        every |= days
    return every


def _by_start(excepts: Iterable[Except]) -> dict[int | None, TitledDays]:
    """Return the days left out by start time; None stands for every start."""
    ranges: dict[int | None, list[tuple[int, int, str]]] = {}
    for item in excepts:
        ranges.setdefault(item.start, []).append((number(item.first), number(item.last), ""))
    return {start: titled_days(days) for start, days in ranges.items()}


def unused_excepts(
    excepts: Sequence[Except], schedule: Sequence[Entry], days: Sequence[Sequence[range]]
) -> list[RecurrenceFault]:
    """Report entries of `except` that match no date; `days` are those of each entry of the schedule."""
    return [_unused(item, i) for i, item in enumerate(excepts) if not _matches(item, schedule, days)]


def _matches(item: Except, schedule: Sequence[Entry], days: Sequence[Sequence[range]]) -> bool:
    first, last = number(item.first), number(item.last)
    return any(
        item.start in (None, entry.start) and has_day_between(ranges, first, last)
        for entry, ranges in zip(schedule, days, strict=True)
    )


def _unused(item: Except, i: int) -> RecurrenceFault:
    when = f"on {item.first}" if item.first == item.last else f"from {item.first} to {item.last}"
    at = "" if item.start is None else f" at {clock(item.start)}"
    message = f"the schedule has no occurrence {when}{at}."
    fix = "Name an occurrence of the schedule, or remove this exception."
    return RecurrenceFault(NOTHING_TO_SKIP, ("spec", "recurrence", "except", i), message, fix)


# Moved occurrences

NO_LENGTH, NOTHING_TO_MOVE, WHICH_ONE, MOVED_TWICE = "B028", "B046", "B047", "B048"
MOVED_AND_EXCEPTED = "B050"

MovedTimes = dict[BareOccurrence, tuple[int, int]]
"""The wall times of the new start and end of each occurrence that moves."""


def resolve_moves(
    moves: Sequence[Move],
    bare: Iterable[BareOccurrence],
    lengths: Sequence[int],
    faults: list[RecurrenceFault],
) -> MovedTimes:
    """Find the occurrence of each move. `lengths` are the minutes of each entry. Problems go to `faults`."""
    by_day: dict[int, list[BareOccurrence]] = {}
    for occurrence in bare if moves else ():
        by_day.setdefault(occurrence[0] // DAY, []).append(occurrence)
    destinations: MovedTimes = {}
    movers: dict[BareOccurrence, int] = {}
    for i, move in enumerate(moves):
        path: Path = ("spec", "recurrence", "moved", i)
        matches = sorted(o for o in by_day.get(number(move.day), ()) if move.start in (None, o[0] % DAY))
        fault = _move_fault(move, matches, movers, path)
        if fault is None:
            movers[matches[0]] = i
            start, end = _destination(move, matches[0], lengths)
            if start < end:
                destinations[matches[0]] = start, end
                continue
            fault = empty_window((*path, "to", "endTime"))
        faults.append(fault)
    return destinations


def _move_fault(
    move: Move, matches: Sequence[BareOccurrence], movers: Mapping[BareOccurrence, int], path: Path
) -> RecurrenceFault | None:
    """Report a move that does not match exactly one occurrence, or one that is moved twice."""
    if not matches:
        at = "" if move.start is None else f" at {clock(move.start)}"
        message = f"the schedule has no occurrence on {move.day}{at}."
        fix = "Name an occurrence of the schedule, or add one with `extra`."
        return RecurrenceFault(NOTHING_TO_MOVE, (*path, "date"), message, fix)
    starts = [clock(wall) for wall, _ in matches]
    if move.start is None and len(matches) > 1:
        message = f"{move.day} has {len(matches)} occurrences, and startTime does not say which one moves."
        return RecurrenceFault(WHICH_ONE, path, message, f"Add startTime: {' or '.join(starts)}.")
    if matches[0] in movers:
        message = f"{move.day} at {starts[0]} is already moved by moved[{movers[matches[0]]}]."
        return RecurrenceFault(MOVED_TWICE, path, message, "Keep one of the two.")
    return None


def excepted_moves(
    recurrence: Recurrence, moved: Iterable[BareOccurrence], exclusions: Exclusions
) -> list[RecurrenceFault]:
    """Report, at both entries, each occurrence that is in `except` as a single date and in `moved`.

    A move out of a range that is left out is meant.
    """
    faults = []
    for wall, _ in moved:
        if exclusions.is_excepted(wall):
            day, minutes = day_of(wall), wall % DAY
            j = move_index(recurrence.moves, wall)
            for i, item in enumerate(recurrence.excepts):
                if item.first == day == item.last and item.start in (None, minutes):
                    faults += _excepted_move(i, j, wall)
    return faults


def move_index(moves: Sequence[Move], wall: int) -> int:
    """Return the index of the move of the occurrence with this original start."""
    return next(
        i
        for i, move in enumerate(moves)
        if number(move.day) == wall // DAY and move.start in (None, wall % DAY)
    )


def _excepted_move(i: int, j: int, wall: int) -> list[RecurrenceFault]:
    begin: Path = ("spec", "recurrence")
    which = f"{day_of(wall)} at {clock(wall)}"
    fix = "Remove one of the two entries."
    return [
        RecurrenceFault(
            MOVED_AND_EXCEPTED,
            (*begin, "except", i),
            f"it leaves out {which}, which moved[{j}] moves.",
            fix,
        ),
        RecurrenceFault(
            MOVED_AND_EXCEPTED,
            (*begin, "moved", j),
            f"it moves {which}, which except[{i}] leaves out.",
            fix,
        ),
    ]


def empty_window(path: Path) -> RecurrenceFault:
    """Report a window whose end is not after its start."""
    fix = "Write a later time; for 24 hours add endDay: 1."
    return RecurrenceFault(NO_LENGTH, path, "the end is not after the start.", fix)


def _destination(move: Move, occurrence: BareOccurrence, lengths: Sequence[int]) -> tuple[int, int]:
    wall, entry = occurrence
    time = wall % DAY if move.to_start is None else move.to_start
    minutes = lengths[entry] if move.to_end is None else window_minutes(time, move.to_end, move.to_end_day)
    start = number(move.to_day) * DAY + time
    return start, start + minutes


# Entries that overlap or have the same id. Each pair of entries is reported once, with its first date.

OVERLAP, SAME_ID = "B031", "B049"


def any_overlap(occurrences: Iterable[Occurrence]) -> bool:
    """Tell whether any of the occurrences, which are sorted by start, overlap."""
    end = 0
    for occurrence in occurrences:
        if occurrence.start < end:
            return True
        end = occurrence.end
    return False


def find_overlaps(
    dated: Iterable[tuple[Occurrence, int]], recurrence: Recurrence, zone: Zone
) -> list[RecurrenceFault]:
    """Report entries whose occurrences overlap and share a class, so that their seats add up.

    `dated`: occurrences by start, each with its entry. For later occurrences, only the one of each entry that
    ends last matters.
    """
    latest: dict[int, Occurrence] = {}
    faults: dict[tuple[int, int], RecurrenceFault] = {}
    for occurrence, entry in dated:
        for other, earlier in latest.items():
            pair = min(entry, other), max(entry, other)
            if occurrence.start < earlier.end and pair not in faults:
                classes = [name for name, _ in occurrence.seats if name in dict(earlier.seats)]
                if classes:
                    day = day_of(local(zone, occurrence.start))
                    faults[pair] = _overlap(pair, f"{day}", ", ".join(classes), recurrence)
        if entry not in latest or latest[entry].end < occurrence.end:
            latest[entry] = occurrence
    return list(faults.values())


def _overlap(pair: tuple[int, int], day: str, classes: str, recurrence: Recurrence) -> RecurrenceFault:
    first, second = pair
    other = "its next occurrence" if first == second else _entry_text(first, recurrence)
    message = f"{_hours(second, recurrence)} overlaps {other}, first on {day}: seats of {classes} add up."
    fix = 'Change one of the times; if the sum is meant, annotate berth.dev/ignore: "B031: <reason>".'
    return RecurrenceFault(OVERLAP, entry_path(second, recurrence), message, fix)


def find_duplicate_ids(bare: Sequence[BareOccurrence], recurrence: Recurrence) -> list[RecurrenceFault]:
    """Report entries with occurrences that start at the same time."""
    starts: dict[int, int] = {}
    faults: dict[tuple[int, int], RecurrenceFault] = {}
    for wall, entry in sorted(bare):
        first = starts.setdefault(wall, entry)
        if first != entry and (first, entry) not in faults:
            faults[first, entry] = RecurrenceFault(
                SAME_ID,
                (*entry_path(entry, recurrence), "startTime"),
                f"{day_of(wall)} {clock(wall)} is also a start of {_entry_text(first, recurrence)}: "
                "two occurrences have the same id.",
                "Change one of the times, or write one entry with all the seats.",
            )
    return list(faults.values())


def entry_path(entry: int, recurrence: Recurrence) -> Path:
    """Return the path of an entry; the indices of extras follow those of the schedule."""
    extra = entry - len(recurrence.schedule)
    return ("spec", "recurrence", "schedule", entry) if extra < 0 else ("spec", "recurrence", "extra", extra)


def _entry_text(entry: int, recurrence: Recurrence) -> str:
    *_, name, position = entry_path(entry, recurrence)
    return f"{name}[{position}] ({_hours(entry, recurrence)})"


def _hours(entry: int, recurrence: Recurrence) -> str:
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    item = items[entry]
    return f"{clock(item.start)}-{'24:00' if item.end == DAY else clock(item.end)}"
