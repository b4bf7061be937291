"""Expand a reservation into its dated occurrences, with their ids and marks."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.dates.exceptions import (
    Absence,
    Moved,
    any_overlap,
    entry_path,
    idle_excepts,
    moved,
    no_length,
    overlaps,
    same_ids,
)
from berth.dates.occurrence import Bare, Expansion, Fault, Occurrence, Skipped, entry_length, falls, length
from berth.dates.zone import DAY, FOLD, GAP, Zone, clock, date_text, load, number, trait, window
from berth.findings import Problem
from berth.schema.values import Calendar, Entry, Extra, Recurrence, Reservation

# From the clock to UTC: once it is clear what happens, the occurrences with their ids and marks.

OVERNIGHT, MOVED, EXTRA, ON_HOLIDAY, SUSPENDED = "overnight", "moved", "extra", "onHoliday", "suspended"


class Happening(NamedTuple):
    """What happens, on the clock."""

    kept: list[Bare]  # extras too, in any order
    lengths: list[int]  # minutes, of each entry, then of each extra
    moved: Moved
    suffixes: dict[Bare, str]  # to ids that several have: one for each of `kept`; empty where none is needed


class Dated(NamedTuple):
    """An occurrence but for what its reservation adds. These sort as occurrences do."""

    start: int
    when: str  # its id without the reservation: <date>T<HH:MM>
    open: int
    end: int
    marks: tuple[str, ...]
    date: str
    entry: int


def with_names(reservation: Reservation, rows: Sequence[Dated]) -> tuple[Occurrence, ...]:
    """The occurrences of the reservation."""
    recurrence, begin = reservation.recurrence, f"{reservation.name}/"
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    seats = [item.seats for item in items]
    name, zone = reservation.name, recurrence.zone
    suspended = (SUSPENDED,) if reservation.suspend else ()
    make = tuple.__new__  # half of what Occurrence(...) takes, sixty thousand times a run
    return tuple(
        [
            make(
                Occurrence,
                (name, begin + when, opens, start, end, seats[entry], zone, marks + suspended, date),
            )
            for start, when, opens, end, marks, date, entry in rows
        ]
    )


def dated(recurrence: Recurrence, lead: int, plan: Happening, absence: Absence, zone: Zone) -> list[Dated]:
    """Sorted by start, then id. `lead` is in minutes."""
    kept, lengths, moved, suffixes = plan
    offsets, ahead = zone.offsets, lead * 60
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    times, entries = [clock(item.start) for item in items], len(recurrence.schedule)
    rows: list[Dated] = []
    for bare in kept:
        wall, entry = bare
        end = wall + lengths[entry]
        day = wall // DAY
        offset = offsets[day]
        marks: tuple[str, ...] = ()
        if offset is not None and end // DAY == day and entry < entries and bare not in moved:
            first, last = wall * 60 - offset, end * 60 - offset
        else:  # all but the plainest goes through the rules in full
            start, end = moved.get(bare, (wall, end))
            first, last = window(zone, start, end)
            own = MOVED if bare in moved else EXTRA if entry >= entries else ""
            marks = tuple(_marks(zone, start, end, own, absence))
        date = date_text(day)
        when = f"{date}T{times[entry]}{suffixes[bare] if suffixes else ''}"
        rows.append(Dated(first, when, first - ahead, last, marks, date, entry))
    rows.sort()
    return rows


def _marks(zone: Zone, start: int, end: int, own: str, absence: Absence) -> list[str]:
    """`own`: moved, extra, or nothing. Midnight at the end of a day is not overnight."""
    traits = {trait(zone, start), trait(zone, end)}
    marks = [mark for mark in (GAP, FOLD) if mark in traits]
    if start // DAY < (end - 1) // DAY:
        marks.append(OVERNIGHT)
    if own:
        marks.append(own)
        if absence.holiday(start // DAY) is not None:
            marks.append(ON_HOLIDAY)
    return marks


# Which occurrences does a reservation have? All of them, dated, in UTC; and what of its recurrence is
# wrong. Pure: no clock, no cluster, the same answer everywhere. The time rule itself lives in
# `berth.dates.zone`.

NEVER_FALLS, NEVER_FALLS_RENKU = "B040", "B041"
NOTHING, NOTHING_RENKU = "B042", "B043"
TOO_MANY = "B044"
MOST = 2000
_MOST_BARE = 10 * MOST  # of more nobody asks what exceptions leave: there may be millions
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WHOLE = ("spec", "recurrence")

Absent = tuple[str, str, str]
"""What does not happen: <date>T<HH:MM> of its original start, the date alone, the reason."""


class _Timing(NamedTuple):
    """What a recurrence comes to before it is anybody's: without names and seats."""

    rows: tuple[Dated, ...]
    skipped: tuple[Absent, ...]
    faults: tuple[Fault, ...]


def expand(reservation: Reservation, calendars: Mapping[str, Calendar]) -> Expansion:
    """No occurrences where a window has no length, or there are more than 2,000; none of what stands always.

    What is unknown is told elsewhere: such a calendar leaves nothing out, such a zone answers nothing.
    """
    recurrence = reservation.recurrence
    zone = load(recurrence.zone)
    if zone is None or recurrence.type == "standing":
        return Expansion((), (), ())
    known = tuple([calendars[name] for name in recurrence.calendars if name in calendars])
    rows, skipped, faults = _timing(_without_seats(recurrence), known, reservation.lead, reservation.renku)
    occurrences = with_names(reservation, rows)
    if any_overlap(occurrences):
        dated = zip(occurrences, [row.entry for row in rows], strict=True)
        faults = (*faults, *overlaps(dated, recurrence, zone))
    name, (file, index, _) = reservation.name, reservation.origin
    return Expansion(
        occurrences,
        tuple([Skipped(f"{name}/{when}", date, reason) for when, date, reason in skipped]),
        tuple([Problem(code, file, index, at, message, fix) for code, at, message, fix in faults]),
    )


def _without_seats(recurrence: Recurrence) -> Recurrence:
    schedule = tuple([Entry(*entry[:4], ()) for entry in recurrence.schedule])
    extras = tuple([Extra(*extra[:4], ()) for extra in recurrence.extras])
    return recurrence._replace(schedule=schedule, extras=extras)


@lru_cache(maxsize=128)
def _timing(recurrence: Recurrence, calendars: tuple[Calendar, ...], lead: int, renku: bool) -> _Timing:
    """Kept, because timetables have a grid: many courses of a term happen at the very same times."""
    zone = load(recurrence.zone)
    assert zone is not None  # `expand` asked
    faults: list[Fault] = []
    absence = Absence(recurrence, calendars)
    plan, skipped = _plan(recurrence, renku, absence, faults)
    return _Timing(tuple(dated(recurrence, lead, plan, absence, zone)), skipped, tuple(faults))


def _plan(
    recurrence: Recurrence, renku: bool, absence: Absence, faults: list[Fault]
) -> tuple[Happening, tuple[Absent, ...]]:
    """What happens, and what is left out."""
    nothing = Happening([], [], {}, {}), ()
    lengths = _lengths(recurrence, faults)
    days = falls(recurrence)
    counts = [sum(map(len, ranges)) for ranges in days]
    if sum(counts) > _MOST_BARE:
        faults.append(_too_many(sum(counts)))
        return nothing
    if faults:
        return nothing
    bare = [
        (day * DAY + entry.start, i)
        for i, entry in enumerate(recurrence.schedule)
        for some in days[i]
        for day in some
    ]
    moves = moved(recurrence.moves, bare, lengths, faults)
    faults += idle_excepts(recurrence.excepts, recurrence.schedule, days)
    left, skipped = _left(bare, moves, absence)
    entries = len(recurrence.schedule)
    kept = left + [(number(e.day) * DAY + e.start, entries + i) for i, e in enumerate(recurrence.extras)]
    if len(kept) > MOST:
        faults.append(_too_many(len(kept)))
        return nothing
    if not kept or 0 in counts:
        faults += _idle(recurrence, renku, counts, kept)
    return Happening(kept, lengths, moves, _suffixes(recurrence, renku, kept, lengths, faults)), skipped


def _lengths(recurrence: Recurrence, faults: list[Fault]) -> list[int]:
    """Minutes on the clock, of each entry, then of each extra."""
    lengths = [entry_length(recurrence, entry) for entry in recurrence.schedule]
    lengths += [length(extra.start, extra.end, extra.end_day) for extra in recurrence.extras]
    for entry, minutes in enumerate(lengths):
        if minutes <= 0:
            faults.append(no_length((*entry_path(entry, recurrence), "endTime")))
    return lengths


def _idle(recurrence: Recurrence, renku: bool, counts: Sequence[int], kept: Sequence[Bare]) -> list[Fault]:
    """No occurrence at all, or else the entries that never fall (`counts`: how often each does)."""
    if not kept:
        code = NOTHING_RENKU if renku else NOTHING
        every = {day for entry in recurrence.schedule for day in entry.days}
        why = "exceptions leave none" if any(counts) else _never(recurrence, every)
        fix = "Change the dates so that it happens, or remove the reservation."
        return [Fault(code, _WHOLE, f"it has no occurrence: {why}.", fix)]
    code = NEVER_FALLS_RENKU if renku else NEVER_FALLS
    fix = "Change the weekday or the dates, or remove the entry."
    return [
        Fault(code, entry_path(i, recurrence), f"{_never(recurrence, entry.days)}.", fix)
        for i, entry in enumerate(recurrence.schedule)
        if counts[i] == 0
    ]


def _never(recurrence: Recurrence, weekdays: Iterable[int]) -> str:
    days = " or ".join(_WEEKDAYS[day - 1] for day in sorted(weekdays)) or "date"
    weeks = f" in weeks that count (interval {recurrence.interval})" if recurrence.interval > 1 else ""
    return f"no {days} falls from {recurrence.first} to {recurrence.last}{weeks}"


def _too_many(count: int) -> Fault:
    message = f"{count:,} occurrences are more than {MOST:,}."
    return Fault(TOO_MANY, _WHOLE, message, "Shorten the range of dates, or write several reservations.")


def _left(bare: list[Bare], moves: Moved, absence: Absence) -> tuple[list[Bare], tuple[Absent, ...]]:
    """What exceptions leave, and what they take, by date and time."""
    taken: set[Bare] = set()
    skipped: list[Absent] = []
    for occurrence in sorted(absence.possible(bare)):
        wall = occurrence[0]
        reason = None if occurrence in moves else absence.reason(wall)
        if reason is not None:
            taken.add(occurrence)
            date = date_text(wall // DAY)
            skipped.append((f"{date}T{clock(wall)}", date, reason))
    return [one for one in bare if one not in taken] if taken else bare, tuple(skipped)


def _suffixes(
    recurrence: Recurrence, renku: bool, kept: Sequence[Bare], lengths: Sequence[int], faults: list[Fault]
) -> dict[Bare, str]:
    """Two occurrences with one id are an error; for Renku they get `~2` and so on, by end, then position."""
    if len({wall for wall, _ in kept}) == len(kept):
        return {}
    if not renku:
        faults += same_ids(kept, recurrence)
        return {}
    suffixes: dict[Bare, str] = {}
    seen: dict[int, int] = {}
    for wall, entry in sorted(kept, key=lambda bare: (lengths[bare[1]], bare[1])):
        seen[wall] = seen.get(wall, 0) + 1
        suffixes[wall, entry] = f"~{seen[wall]}" if seen[wall] > 1 else ""
    return suffixes
