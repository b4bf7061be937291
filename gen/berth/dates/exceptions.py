"""Exceptions to a bare schedule: dates that do not happen, occurrences that move, entries that meet."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from berth.dates.days import Cover, cover, listed, meets, title_of
from berth.dates.occurrence import Bare, Fault, Occurrence, length
from berth.dates.zone import DAY, Zone, clock, day_of, local, number
from berth.findings import Path
from berth.schema.values import Calendar, Entry, Except, Extra, Move, Recurrence

# What is left out of a bare recurrence, and why: `except` first, then the calendars.

NOTHING_TO_SKIP = "B045"


class Absence:
    """Answers why an occurrence does not happen."""

    def __init__(self, recurrence: Recurrence, calendars: Iterable[Calendar]) -> None:
        """`calendars` are the recurrence's, in its order."""
        off = [_days_off(calendar) for calendar in calendars]
        excepted = listed((number(item.first), number(item.last)) for item in recurrence.excepts)
        self.calendars = [covered for covered, _ in off]
        self.excepts = _by_start(recurrence.excepts)
        self._days = _union([*(days for _, days in off), excepted])

    def possible(self, bare: Sequence[Bare]) -> Sequence[Bare]:
        """Those on days on which anything may be left out: mostly few."""
        days = self._days
        return bare if days is None else [one for one in bare if one[0] // DAY in days]

    def reason(self, wall: int) -> str | None:
        """For the occurrence that starts at a wall time; None: it happens."""
        day, minutes = divmod(wall, DAY)
        for start in (None, minutes):
            if start in self.excepts and title_of(self.excepts[start], day) is not None:
                return "except"
        return self.holiday(day)

    def holiday(self, day: int) -> str | None:
        """`calendar <name>: <title>` of the first calendar that holds the day."""
        for days in self.calendars:
            reason = title_of(days, day)
            if reason is not None:
                return reason
        return None


@lru_cache(maxsize=1024)
def _days_off(calendar: Calendar) -> tuple[Cover, frozenset[int] | None]:
    """Made once for a calendar, however many reservations share it."""
    reason = f"calendar {calendar.name}"
    ranges = [
        (number(first), number(last), f"{reason}: {title}" if title else reason)
        for first, last, title in calendar.dates
    ]
    return cover(ranges), listed((first, last) for first, last, _ in ranges)


def _union(sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every: frozenset[int] = frozenset()
    for days in sets:
        if days is None:
            return None
        every |= days
    return every


def _by_start(excepts: Iterable[Except]) -> dict[int | None, Cover]:
    """The days left out, by the start that is named; None: whatever starts there."""
    ranges: dict[int | None, list[tuple[int, int, str]]] = {}
    for item in excepts:
        ranges.setdefault(item.start, []).append((number(item.first), number(item.last), ""))
    return {start: cover(days) for start, days in ranges.items()}


def idle_excepts(
    excepts: Sequence[Except], schedule: Sequence[Entry], falls: Sequence[Sequence[range]]
) -> list[Fault]:
    """Those that hit nothing of the bare recurrence, whose entries fall on these days; a range hits if one of
    its days does.
    """
    return [_idle_except(item, i) for i, item in enumerate(excepts) if not _hits(item, schedule, falls)]


def _hits(item: Except, schedule: Sequence[Entry], falls: Sequence[Sequence[range]]) -> bool:
    first, last = number(item.first), number(item.last)
    return any(
        item.start in (None, entry.start) and meets(days, first, last)
        for entry, days in zip(schedule, falls, strict=True)
    )


def _idle_except(item: Except, i: int) -> Fault:
    when = f"on {item.first}" if item.first == item.last else f"from {item.first} to {item.last}"
    at = "" if item.start is None else f" at {clock(item.start)}"
    message = f"the recurrence has nothing {when}{at} that could be left out."
    fix = "Name an occurrence of the schedule, or remove this exception."
    return Fault(NOTHING_TO_SKIP, ("spec", "recurrence", "except", i), message, fix)


# `moved`: which occurrence of the bare recurrence a move means, and when that happens instead.

NO_LENGTH, NOTHING_TO_MOVE, WHICH_ONE, MOVED_TWICE = "B028", "B046", "B047", "B048"

Moved = dict[Bare, tuple[int, int]]
"""Of each occurrence that moves: the wall times of its new start and end."""


def moved(moves: Sequence[Move], bare: Iterable[Bare], lengths: Sequence[int], faults: list[Fault]) -> Moved:
    """`lengths` are the minutes of each entry. What is wrong is added to `faults`."""
    by_day: dict[int, list[Bare]] = {}
    for occurrence in bare if moves else ():
        by_day.setdefault(occurrence[0] // DAY, []).append(occurrence)
    destinations: Moved = {}
    movers: dict[Bare, int] = {}
    for i, move in enumerate(moves):
        path: Path = ("spec", "recurrence", "moved", i)
        meant = sorted(o for o in by_day.get(number(move.day), ()) if move.start in (None, o[0] % DAY))
        fault = _unclear(move, meant, movers, path)
        if fault is None:
            movers[meant[0]] = i
            start, end = _destination(move, meant[0], lengths)
            if start < end:
                destinations[meant[0]] = start, end
                continue
            fault = no_length((*path, "to", "endTime"))
        faults.append(fault)
    return destinations


def _unclear(move: Move, meant: Sequence[Bare], movers: Mapping[Bare, int], path: Path) -> Fault | None:
    """Why a move does not say which one occurrence it means; `meant` are those that its words fit."""
    if not meant:
        at = "" if move.start is None else f" at {clock(move.start)}"
        message = f"the recurrence has nothing on {move.day}{at} that could be moved."
        fix = "Name an occurrence of the schedule, or write `extra` for one more."
        return Fault(NOTHING_TO_MOVE, (*path, "date"), message, fix)
    starts = [clock(wall) for wall, _ in meant]
    if move.start is None and len(meant) > 1:
        message = f"{move.day} has {len(meant)} occurrences, and startTime does not say which one moves."
        return Fault(WHICH_ONE, path, message, f"Add startTime: {' or '.join(starts)}.")
    if meant[0] in movers:
        message = f"{move.day} at {starts[0]} is moved by moved[{movers[meant[0]]}] already."
        return Fault(MOVED_TWICE, path, message, "Keep one of the two.")
    return None


def no_length(path: Path) -> Fault:
    fix = "Write a later time; for a whole day add endDay: 1."
    return Fault(NO_LENGTH, path, "the end is not after the start.", fix)


def _destination(move: Move, occurrence: Bare, lengths: Sequence[int]) -> tuple[int, int]:
    wall, entry = occurrence
    time = wall % DAY if move.to_start is None else move.to_start
    minutes = lengths[entry] if move.to_end is None else length(time, move.to_end, move.to_end_day)
    start = number(move.to_day) * DAY + time
    return start, start + minutes


# Which entries of one reservation meet: their occurrences overlap, or would share an id. A pair of entries
# is told once, with its first date, whatever the number of dates.

OVERLAP, SAME_ID = "B031", "B049"


def any_overlap(occurrences: Iterable[Occurrence]) -> bool:
    """Of occurrences by start; back to back is no overlap. Quick, and mostly the answer is no."""
    end = 0
    for occurrence in occurrences:
        if occurrence.start < end:
            return True
        end = occurrence.end
    return False


def overlaps(dated: Iterable[tuple[Occurrence, int]], recurrence: Recurrence, zone: Zone) -> list[Fault]:
    """From occurrences by start, each with its entry. Only those that share a class can add up.

    Of each entry that began already, only the occurrence that ends last matters for those that begin later.
    """
    latest: dict[int, Occurrence] = {}
    faults: dict[tuple[int, int], Fault] = {}
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


def _overlap(pair: tuple[int, int], day: str, classes: str, recurrence: Recurrence) -> Fault:
    first, second = pair
    meets = "the next one of its own" if first == second else _told(first, recurrence)
    message = f"{_hours(second, recurrence)} overlaps {meets}, first on {day}: seats of {classes} add up."
    fix = 'Change one of the times; if the sum is meant, annotate berth.dev/ignore: "B031: <reason>".'
    return Fault(OVERLAP, entry_path(second, recurrence), message, fix)


def same_ids(bare: Sequence[Bare], recurrence: Recurrence) -> list[Fault]:
    """Entries that start at one moment; from occurrences in any order."""
    starts: dict[int, int] = {}
    faults: dict[tuple[int, int], Fault] = {}
    for wall, entry in sorted(bare):
        first = starts.setdefault(wall, entry)
        if first != entry and (first, entry) not in faults:
            faults[first, entry] = Fault(
                SAME_ID,
                (*entry_path(entry, recurrence), "startTime"),
                f"{day_of(wall)} {clock(wall)} starts {_told(first, recurrence)} too: two with one id.",
                "Change one of the times, or write one entry with all the seats.",
            )
    return list(faults.values())


def entry_path(entry: int, recurrence: Recurrence) -> Path:
    """Where an entry stands; extras are counted on from the schedule's entries."""
    extra = entry - len(recurrence.schedule)
    return ("spec", "recurrence", "schedule", entry) if extra < 0 else ("spec", "recurrence", "extra", extra)


def _told(entry: int, recurrence: Recurrence) -> str:
    *_, name, position = entry_path(entry, recurrence)
    return f"{name}[{position}] ({_hours(entry, recurrence)})"


def _hours(entry: int, recurrence: Recurrence) -> str:
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    item = items[entry]
    return f"{clock(item.start)}-{'24:00' if item.end == DAY else clock(item.end)}"
