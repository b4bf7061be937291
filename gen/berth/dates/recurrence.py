"""Expand a reservation into its dated occurrences, with their ids and marks."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.dates.exceptions import (
    Exclusions,
    MovedTimes,
    any_overlap,
    empty_window,
    entry_path,
    excepted_moves,
    find_duplicate_ids,
    find_overlaps,
    resolve_moves,
    unused_excepts,
)
from berth.dates.occurrence import (
    BareOccurrence,
    Expansion,
    LocalOccurrence,
    Occurrence,
    RecurrenceFault,
    Skipped,
    days_of_entries,
    entry_minutes,
    window_minutes,
)
from berth.dates.zone import DAY, FOLD, GAP, Zone, clock, date_text, load, number, trait, window
from berth.findings import Problem
from berth.schema.values import Calendar, Entry, Extra, Recurrence, Reservation

OVERNIGHT, MOVED, EXTRA, ON_HOLIDAY, SUSPENDED = "overnight", "moved", "extra", "onHoliday", "suspended"


class _LocalDates(NamedTuple):
    """The occurrences that remain after exceptions, in local time."""

    kept: list[BareOccurrence]  # with extras, in any order
    lengths: list[int]  # minutes of each entry, then of each extra
    moved: MovedTimes
    suffixes: dict[BareOccurrence, str]  # of ids, for each of `kept`; empty if no two ids are equal


class _DatedOccurrence(NamedTuple):
    """An occurrence without the name and seats of its reservation. These sort as occurrences do."""

    start: int
    when: str  # the id without the reservation: <date>T<HH:MM>
    open: int
    end: int
    marks: tuple[str, ...]
    date: str
    entry: int


def _add_reservation(reservation: Reservation, rows: Sequence[_DatedOccurrence]) -> tuple[Occurrence, ...]:
    recurrence, begin = reservation.recurrence, f"{reservation.name}/"
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    seats = [item.seats for item in items]
    name, zone = reservation.name, recurrence.zone
    suspended = (SUSPENDED,) if reservation.suspend else ()
    make = tuple.__new__  # twice as fast as Occurrence(...), and there may be very many
    return tuple(
        [
            make(
                Occurrence,
                (name, begin + when, opens, start, end, seats[entry], zone, marks + suspended, date),
            )
            for start, when, opens, end, marks, date, entry in rows
        ]
    )


def _to_instants(
    recurrence: Recurrence, lead: int, dates: _LocalDates, exclusions: Exclusions, zone: Zone
) -> list[_DatedOccurrence]:
    """Convert local dates to instants, sorted by start, then id. `lead` is in minutes."""
    kept, lengths, moved, suffixes = dates
    offsets, ahead = zone.offsets, lead * 60
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    times, entries = [clock(item.start) for item in items], len(recurrence.schedule)
    rows: list[_DatedOccurrence] = []
    for bare in kept:
        wall, entry = bare
        end = wall + lengths[entry]
        day = wall // DAY
        offset = offsets[day]
        marks: tuple[str, ...] = ()
        if offset is not None and end // DAY == day and entry < entries and bare not in moved:
            first, last = wall * 60 - offset, end * 60 - offset
        else:  # a clock change, a window over midnight, a moved or an extra occurrence
            start, end = moved.get(bare, (wall, end))
            first, last = window(zone, start, end)
            own = MOVED if bare in moved else EXTRA if entry >= entries else ""
            marks = tuple(_marks(zone, start, end, own, exclusions))
        date = date_text(day)
        when = f"{date}T{times[entry]}{suffixes[bare] if suffixes else ''}"
        rows.append(_DatedOccurrence(first, when, first - ahead, last, marks, date, entry))
    rows.sort()
    return rows


def _marks(zone: Zone, start: int, end: int, own: str, exclusions: Exclusions) -> list[str]:
    """Return the marks. `own`: moved, extra or empty. A window that ends at midnight is not overnight."""
    traits = {trait(zone, start), trait(zone, end)}
    marks = [mark for mark in (GAP, FOLD) if mark in traits]
    if start // DAY < (end - 1) // DAY:
        marks.append(OVERNIGHT)
    if own:
        marks.append(own)
        if exclusions.holiday(start // DAY) is not None:
            marks.append(ON_HOLIDAY)
    return marks


NEVER_FALLS, NEVER_FALLS_RENKU = "B040", "B041"
NOTHING, NOTHING_RENKU = "B042", "B043"
TOO_MANY = "B044"
MOST = 2000
_MOST_BARE = 10 * MOST  # before exceptions; there may be millions
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WHOLE = ("spec", "recurrence")

_SkippedDate = tuple[str, str, str]
"""A date that is left out: <date>T<HH:MM> of the original start, the date alone, the reason."""


class _Timing(NamedTuple):
    """The dates of a recurrence, which reservations with the same recurrence share."""

    rows: tuple[_DatedOccurrence, ...]
    skipped: tuple[_SkippedDate, ...]
    faults: tuple[RecurrenceFault, ...]


def expand(reservation: Reservation, calendars: Mapping[str, Calendar]) -> Expansion:
    """Return all occurrences of a reservation in UTC, and the problems of its recurrence.

    There are no occurrences if a window is empty, if there are more than 2,000, or if the reservation is
    standing. Unknown calendars and zones are ignored here; `berth.checks.references` reports them.
    """
    recurrence = reservation.recurrence
    zone = load(recurrence.zone)
    if zone is None or recurrence.type == "standing":
        return Expansion((), (), ())
    known = tuple([calendars[name] for name in recurrence.calendars if name in calendars])
    rows, skipped, faults = _timing(_without_seats(recurrence), known, reservation.lead, reservation.renku)
    occurrences = _add_reservation(reservation, rows)
    if any_overlap(occurrences):
        dated = zip(occurrences, [row.entry for row in rows], strict=True)
        faults = (*faults, *find_overlaps(dated, recurrence, zone))
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
    """Expand a recurrence. Cached, because many courses of a term have the same times."""
    zone = load(recurrence.zone)
    assert zone is not None
    faults: list[RecurrenceFault] = []
    exclusions = Exclusions(recurrence, calendars)
    dates, skipped = _local_dates(recurrence, renku, exclusions, faults)
    return _Timing(tuple(_to_instants(recurrence, lead, dates, exclusions, zone)), skipped, tuple(faults))


def _local_dates(
    recurrence: Recurrence, renku: bool, exclusions: Exclusions, faults: list[RecurrenceFault]
) -> tuple[_LocalDates, tuple[_SkippedDate, ...]]:
    """Return the dates that remain, and those that are left out."""
    nothing = _LocalDates([], [], {}, {}), ()
    lengths = _lengths(recurrence, faults)
    days = days_of_entries(recurrence)
    counts = [sum(map(len, ranges)) for ranges in days]
    if sum(counts) > _MOST_BARE:
        faults.append(_too_many(sum(counts)))
        return nothing
    if faults:
        return nothing
    bare = _bare(recurrence, days)
    moves = resolve_moves(recurrence.moves, bare, lengths, faults)
    faults += excepted_moves(recurrence, moves, exclusions)
    faults += unused_excepts(recurrence.excepts, recurrence.schedule, days)
    left, skipped = _apply_exclusions(bare, moves, exclusions)
    kept = left + _bare_extras(recurrence)
    if len(kept) > MOST:
        faults.append(_too_many(len(kept)))
        return nothing
    if not kept or 0 in counts:
        faults += _missing_dates(recurrence, renku, counts, kept)
    return _LocalDates(kept, lengths, moves, _suffixes(recurrence, renku, kept, lengths, faults)), skipped


def _bare(recurrence: Recurrence, days: Sequence[Sequence[range]]) -> list[BareOccurrence]:
    return [
        (day * DAY + entry.start, i)
        for i, entry in enumerate(recurrence.schedule)
        for some in days[i]
        for day in some
    ]


def _bare_extras(recurrence: Recurrence) -> list[BareOccurrence]:
    entries = len(recurrence.schedule)
    return [(number(e.day) * DAY + e.start, entries + i) for i, e in enumerate(recurrence.extras)]


def local_occurrences(
    reservation: Reservation, calendars: Mapping[str, Calendar]
) -> tuple[LocalOccurrence, ...]:
    """Return all occurrences of a reservation in local time, and those that are left out, by original start.

    There are none where `expand` returns none because of a fault.
    """
    recurrence = reservation.recurrence
    faults: list[RecurrenceFault] = []
    lengths, days = _lengths(recurrence, faults), days_of_entries(recurrence)
    if faults or sum(sum(map(len, ranges)) for ranges in days) > _MOST_BARE:
        return ()
    exclusions = Exclusions(
        recurrence, [calendars[name] for name in recurrence.calendars if name in calendars]
    )
    bare, extras = _bare(recurrence, days), _bare_extras(recurrence)
    moves = resolve_moves(recurrence.moves, bare, lengths, faults)
    found = []
    for one in sorted([*bare, *extras]):
        wall, entry = one
        is_extra = entry >= len(recurrence.schedule)
        start, end = moves.get(one, (wall, wall + lengths[entry]))
        excluded = None if is_extra else exclusions.reason(wall)
        found.append(
            LocalOccurrence(wall, entry, start, end, lengths[entry], is_extra, one in moves, excluded)
        )
    return tuple(found)


def _lengths(recurrence: Recurrence, faults: list[RecurrenceFault]) -> list[int]:
    """Return the wall-clock minutes of each entry, then of each extra."""
    lengths = [entry_minutes(recurrence, entry) for entry in recurrence.schedule]
    lengths += [window_minutes(extra.start, extra.end, extra.end_day) for extra in recurrence.extras]
    for entry, minutes in enumerate(lengths):
        if minutes <= 0:
            faults.append(empty_window((*entry_path(entry, recurrence), "endTime")))
    return lengths


def _missing_dates(
    recurrence: Recurrence, renku: bool, counts: Sequence[int], kept: Sequence[BareOccurrence]
) -> list[RecurrenceFault]:
    """Report a reservation without dates, or entries without (`counts`: the dates of each entry)."""
    if not kept:
        code = NOTHING_RENKU if renku else NOTHING
        every = {day for entry in recurrence.schedule for day in entry.days}
        why = "exceptions remove all of them" if any(counts) else _no_date(recurrence, every)
        fix = "Change the dates, or remove the reservation."
        return [RecurrenceFault(code, _WHOLE, f"the reservation has no occurrence: {why}.", fix)]
    code = NEVER_FALLS_RENKU if renku else NEVER_FALLS
    fix = "Change the weekday or the dates, or remove the entry."
    return [
        RecurrenceFault(code, entry_path(i, recurrence), f"{_no_date(recurrence, entry.days)}.", fix)
        for i, entry in enumerate(recurrence.schedule)
        if counts[i] == 0
    ]


def _no_date(recurrence: Recurrence, weekdays: Iterable[int]) -> str:
    days = " or ".join(_WEEKDAYS[day - 1] for day in sorted(weekdays)) or "date"
    weeks = f" in weeks that count (interval {recurrence.interval})" if recurrence.interval > 1 else ""
    return f"there is no {days} from {recurrence.first} to {recurrence.last}{weeks}"


def _too_many(count: int) -> RecurrenceFault:
    message = f"{count:,} occurrences are more than {MOST:,}."
    return RecurrenceFault(
        TOO_MANY, _WHOLE, message, "Shorten the range of dates, or write several reservations."
    )


def _apply_exclusions(
    bare: list[BareOccurrence], moves: MovedTimes, exclusions: Exclusions
) -> tuple[list[BareOccurrence], tuple[_SkippedDate, ...]]:
    """Return what remains, and what is left out, by date and time."""
    taken: set[BareOccurrence] = set()
    skipped: list[_SkippedDate] = []
    for occurrence in sorted(exclusions.candidates(bare)):
        wall = occurrence[0]
        reason = None if occurrence in moves else exclusions.reason(wall)
        if reason is not None:
            taken.add(occurrence)
            date = date_text(wall // DAY)
            skipped.append((f"{date}T{clock(wall)}", date, reason))
    return [one for one in bare if one not in taken] if taken else bare, tuple(skipped)


def _suffixes(
    recurrence: Recurrence,
    renku: bool,
    kept: Sequence[BareOccurrence],
    lengths: Sequence[int],
    faults: list[RecurrenceFault],
) -> dict[BareOccurrence, str]:
    """Return suffixes for equal ids: for Renku `~2` and so on, by end, then position; else report them."""
    if len({wall for wall, _ in kept}) == len(kept):
        return {}
    if not renku:
        faults += find_duplicate_ids(kept, recurrence)
        return {}
    suffixes: dict[BareOccurrence, str] = {}
    seen: dict[int, int] = {}
    for wall, entry in sorted(kept, key=lambda bare: (lengths[bare[1]], bare[1])):
        seen[wall] = seen.get(wall, 0) + 1
        suffixes[wall, entry] = f"~{seen[wall]}" if seen[wall] > 1 else ""
    return suffixes
