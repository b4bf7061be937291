"""Expand a reservation into its dated occurrences, with their ids and marks."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from berth.dates.exceptions import (
    Exclusions,
    Moves,
    OccurrenceSource,
    any_overlap,
    calendars_of,
    closed_changes,
    empty_window,
    entry_path,
    find_duplicate_ids,
    find_overlaps,
    moves_left_out,
    resolve_moves,
    unused_excepts,
)
from berth.dates.expansion import (
    EXTRA,
    MOVED,
    ON_HOLIDAY,
    OVERNIGHT,
    BareOccurrence,
    DatedOccurrence,
    Expansion,
    LocalOccurrence,
    Occurrence,
    Skipped,
    dates_by_reason,
    days_of_entries,
    entry_minutes,
    id_time,
    is_overnight,
    iso_week,
    window_minutes,
)
from berth.dates.machinewindows import machine_windows
from berth.dates.zone import DAY, FOLD, GAP, Zone, date_text, load, number, trait, window
from berth.findings import Fault, Path
from berth.notation.weekdays import DAY_NAMES, WEEKS
from berth.schema.calendardocument import Calendar
from berth.schema.reservation import Reservation
from berth.schema.values import EVERY_DATE, Entry, Extra, Recurrence

OTHER_SEATS, SUSPENDED = "otherSeats", "suspended"


class _LocalDates(NamedTuple):
    """The occurrences that remain after exceptions, in local time."""

    kept: list[BareOccurrence]  # with extras, in any order
    lengths: list[int]  # minutes of each entry, then of each extra
    moves: Moves


def _add_reservation(reservation: Reservation, rows: Sequence[DatedOccurrence]) -> tuple[Occurrence, ...]:
    recurrence, begin = reservation.recurrence, f"{reservation.name}/"
    items = recurrence.lines
    known = [(item.seats, item.scaling, item.name) for item in items]
    name, zone = reservation.name, recurrence.zone
    added = (SUSPENDED,) if reservation.suspend else ()
    mark = str(reservation.spec.rehearses or "")
    make = tuple.__new__  # twice as fast as Occurrence(...), and there may be very many
    occurrences = [
        make(
            Occurrence,
            (name, begin + when, opens, start, end, seats, zone, marks + added, date, scaling, group, mark),
        )
        for start, when, opens, end, marks, date, entry, _ in rows
        for seats, scaling, group in (known[entry],)
    ]
    if any(move.seats for move in recurrence.moves):
        for i, row in enumerate(rows):
            own = None if row.move is None else recurrence.moves[row.move].seats
            if own is not None and own != items[row.entry].seats:
                marks = (*row.marks, OTHER_SEATS, *added)
                scales = reservation.scaling_for(own, items[row.entry])
                opens = row.start - 60 * max(scale.lead for scale in scales)
                occurrences[i] = occurrences[i]._replace(open=opens, seats=own, marks=marks, scaling=scales)
    return tuple(occurrences)


def _to_instants(
    recurrence: Recurrence, leads: Sequence[int], dates: _LocalDates, exclusions: Exclusions, zone: Zone
) -> list[DatedOccurrence]:
    """Convert local dates to instants, sorted by start, then id. `leads`: minutes of each entry and extra."""
    kept, lengths, moves = dates
    offsets, ahead = zone.offsets, [lead * 60 for lead in leads]
    times, entries = [id_time(line) for line in recurrence.lines], len(recurrence.schedule)
    rows: list[DatedOccurrence] = []
    for bare in kept:
        wall, entry = bare
        end = wall + lengths[entry]
        day = wall // DAY
        offset = offsets[day]
        marks: tuple[str, ...] = ()
        move = moves.get(bare)
        if offset is not None and end // DAY == day and entry < entries and move is None:
            first, last = wall * 60 - offset, end * 60 - offset
        else:  # a clock change, a window over midnight, a changed or an extra occurrence
            usual = wall, end
            start, end = usual if move is None else (move.start, move.end)
            first, last = window(zone, start, end)
            own = MOVED if (start, end) != usual else EXTRA if entry >= entries else ""
            marks = tuple(_marks(zone, start, end, own, exclusions))
        date = date_text(day)
        when = f"{date}T{times[entry]}"
        by = None if move is None else move.move
        rows.append(DatedOccurrence(first, when, first - ahead[entry], last, marks, date, entry, by))
    rows.sort()
    return rows


def _marks(zone: Zone, start: int, end: int, own: str, exclusions: Exclusions) -> list[str]:
    """Return the marks. `own`: moved, extra or empty."""
    traits = {trait(zone, start), trait(zone, end)}
    marks = [mark for mark in (GAP, FOLD) if mark in traits]
    if is_overnight(start, end):
        marks.append(OVERNIGHT)
    marks += [own] if own else []
    if exclusions.holiday(start, end) is not None:  # only if it was moved or is extra
        marks.append(ON_HOLIDAY)
    return marks


MOST = 2000
_MOST_BARE = 10 * MOST  # before exceptions; there may be millions
_MOST_REASONS = 3  # for which a message says that they leave dates out
_NTH = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
_WHOLE = ("spec", "recurrence")

_SkippedDate = tuple[str, str, str]
"""A date that is left out: the id without the reservation, the date alone, the reason."""


class _Timing(NamedTuple):
    """The dates of a recurrence, which reservations with the same recurrence share."""

    rows: tuple[DatedOccurrence, ...]
    skipped: tuple[_SkippedDate, ...]
    faults: tuple[Fault[Path], ...]


def expand(reservation: Reservation, calendars: Mapping[str, Calendar]) -> Expansion:
    """Return all occurrences of a reservation in UTC, and the problems of its recurrence.

    There are no occurrences if a window is empty, if there are more than 2,000, or if the reservation is
    standing. Unknown calendars, terms, capacities and zones are ignored here; `berth.checks` reports them.
    """
    recurrence = reservation.recurrence
    zone = load(recurrence.zone)
    if zone is None or recurrence.type == "standing" or recurrence.has_unknown_dates:
        return Expansion()
    known = calendars_of(recurrence, calendars)
    rows, skipped, faults = _timing(_without_seats(recurrence), known, _leads(reservation))
    occurrences = _add_reservation(reservation, rows)
    if reservation.overlap == "sum" and any_overlap(occurrences):
        dated = zip(occurrences, [_source(row, recurrence) for row in rows], strict=True)
        faults = (*faults, *find_overlaps(dated, recurrence, zone))
    name = reservation.name
    left_out = tuple([Skipped(f"{name}/{when}", date, reason) for when, date, reason in skipped])
    problems = tuple([reservation.origin.problem(*fault) for fault in faults])
    return Expansion(occurrences, left_out, problems)


def _source(row: DatedOccurrence, recurrence: Recurrence) -> OccurrenceSource:
    has_time = row.move is not None and recurrence.moves[row.move].has_time
    return OccurrenceSource(row.entry, row.move if has_time else None)


def _without_seats(recurrence: Recurrence) -> Recurrence:
    schedule = tuple([entry._replace(seats=(), scaling=()) for entry in recurrence.schedule])
    extras = tuple([extra._replace(seats=(), scaling=()) for extra in recurrence.extras])
    moves = tuple([move._replace(seats=None) for move in recurrence.moves])
    return recurrence._replace(schedule=schedule, extras=extras, moves=moves)


def _leads(reservation: Reservation) -> tuple[int, ...]:
    """Return the longest lead of each entry, then of each extra."""
    lines = reservation.recurrence.lines
    return tuple([max(one.lead for one in reservation.scaling_of(line)) for line in lines])


@lru_cache(maxsize=128)
def _timing(recurrence: Recurrence, calendars: tuple[Calendar, ...], leads: tuple[int, ...]) -> _Timing:
    """Expand a recurrence. Cached, because many courses of a term have the same times."""
    zone = load(recurrence.zone)
    assert zone is not None
    faults: list[Fault[Path]] = []
    exclusions = Exclusions(recurrence, calendars)
    if recurrence.type == "capacity":
        rows, faults = machine_windows(recurrence, 60 * leads[0], exclusions, zone)
        return _Timing(tuple(rows), (), tuple(faults))
    dates, skipped = _local_dates(recurrence, exclusions, faults)
    return _Timing(tuple(_to_instants(recurrence, leads, dates, exclusions, zone)), skipped, tuple(faults))


def _local_dates(
    recurrence: Recurrence, exclusions: Exclusions, faults: list[Fault[Path]]
) -> tuple[_LocalDates, tuple[_SkippedDate, ...]]:
    """Return the dates that remain, and those that are left out."""
    nothing = _LocalDates([], [], {}), ()
    lengths = _lengths(recurrence, faults)
    days = days_of_entries(recurrence)
    counts = [sum(map(len, ranges)) for ranges in days]
    if sum(counts) > _MOST_BARE:
        faults.append(_too_many(sum(counts)))
        return nothing
    if faults:
        return nothing
    bare = _bare(recurrence, days)
    moves = resolve_moves(recurrence, bare, lengths, faults)
    faults += moves_left_out(recurrence, moves, exclusions)
    faults += unused_excepts(recurrence.excepts, recurrence.schedule, days)
    reasons = _reasons(recurrence, bare, lengths, moves, exclusions)
    faults += closed_changes(recurrence, moves, reasons)
    every, lines = bare + _bare_extras(recurrence), recurrence.lines
    kept = [one for one in every if one not in reasons] if reasons else every
    skipped = tuple(
        [_skipped_date(reason[0], lines[reason[1]], reasons[reason]) for reason in sorted(reasons)]
    )
    if len(kept) > MOST:
        faults.append(_too_many(len(kept)))
        return nothing
    if not kept or 0 in counts:
        faults += _missing_dates(recurrence, counts, kept, skipped)
    faults += _missing_weeks(recurrence, days)
    faults += find_duplicate_ids(kept, recurrence)
    return _LocalDates(kept, lengths, moves), skipped


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

    There are none where `expand` returns none because of a fault. Dates of machines have no local times.
    """
    recurrence = reservation.recurrence
    if recurrence.has_unknown_dates or recurrence.type == "capacity":
        return ()
    faults: list[Fault[Path]] = []
    lengths, days = _lengths(recurrence, faults), days_of_entries(recurrence)
    if faults or sum(sum(map(len, ranges)) for ranges in days) > _MOST_BARE:
        return ()
    exclusions = Exclusions(recurrence, calendars_of(recurrence, calendars))
    bare, extras = _bare(recurrence, days), _bare_extras(recurrence)
    moves = resolve_moves(recurrence, bare, lengths, faults)
    lines = recurrence.lines
    found = []
    for bare_occurrence in sorted([*bare, *extras]):
        wall, entry = bare_occurrence
        is_extra = entry >= len(recurrence.schedule)
        move, whole = moves.get(bare_occurrence), (wall, wall + lengths[entry])
        start, end = whole if move is None else (move.start, move.end)
        excluded = exclusions.reason(*whole, lines[entry].name) or exclusions.closed(*whole)
        found.append(
            LocalOccurrence(
                original=wall,
                entry=entry,
                name=lines[entry].name,
                start=start,
                end=end,
                length=lengths[entry],
                seats=(None if move is None else recurrence.moves[move.move].seats) or lines[entry].seats,
                is_extra=is_extra,
                move=None if move is None else move.move,
                has_new_time=move is not None and move.has_time,
                excluded=None if is_extra else excluded,
                closed=exclusions.closed(start, end),
            )
        )
    return tuple(found)


def _lengths(recurrence: Recurrence, faults: list[Fault[Path]]) -> list[int]:
    """Return the wall-clock minutes of each entry, then of each extra."""
    lengths = [entry_minutes(recurrence, entry) for entry in recurrence.schedule]
    lengths += [window_minutes(extra.start, extra.end, extra.end_day) for extra in recurrence.extras]
    for entry, minutes in enumerate(lengths):
        if minutes <= 0:
            faults.append(empty_window((*entry_path(entry, recurrence), "endTime")))
    return lengths


def _missing_dates(
    recurrence: Recurrence,
    counts: Sequence[int],
    kept: Sequence[BareOccurrence],
    skipped: Sequence[_SkippedDate],
) -> list[Fault[Path]]:
    """Report a reservation without dates, or entries without (`counts`: the dates of each entry)."""
    if not kept:
        why = f"exceptions remove all of them: {_exceptions_text(skipped)}"
        if not any(counts):
            why = _no_date(recurrence, recurrence.schedule)
        fix = "Change the dates, or remove the reservation."
        return [Fault("B042", _WHOLE, f"the reservation has no occurrence: {why}.", fix)]
    fix = "Change the weekday or the dates, or remove the entry."
    return [
        Fault("B040", entry_path(i, recurrence), f"{_no_date(recurrence, [entry])}.", fix)
        for i, entry in enumerate(recurrence.schedule)
        if counts[i] == 0
    ]


def _exceptions_text(skipped: Sequence[_SkippedDate]) -> str:
    """Say which dates are left out and why: `2026-02-16 (calendar holidays: Carnival)`."""
    texts = [
        f"{days[0]} ({reason})" if len(days) == 1 else f"{days[0]} to {days[-1]} ({reason})"
        for reason, days in dates_by_reason(skipped).items()
    ]
    more = len(texts) - _MOST_REASONS
    return ", ".join([*texts[:_MOST_REASONS], *([f"and {more} more"] if more > 0 else [])])


def _no_date(recurrence: Recurrence, entries: Sequence[Entry]) -> str:
    """Say which dates there are none of: those of all of the entries."""
    numbers = sorted({day for entry in entries for day in entry.days})
    days = " or ".join(DAY_NAMES[day - 1].capitalize() for day in numbers) or "date"
    limits = entries[0].dates if len(entries) == 1 else EVERY_DATE
    if limits.nth:
        days = f"{_NTH[limits.nth]} {days} of a month"
    first, last = limits.first or recurrence.first, limits.last or recurrence.last
    span = f" from {first}" if first else ""
    span += f" to {last}" if last else ""
    if recurrence.type == "dates":
        return f"`dates` has no date without its own hours{span}"
    weeks = f" in weeks that count (interval {recurrence.interval})" if recurrence.interval > 1 else ""
    return f"there is no {days}{span}{weeks or _weeks_text(limits.weeks)}"


def _weeks_text(weeks: Sequence[int]) -> str:
    if not weeks:
        return ""
    word = next((word for word, same in WEEKS.items() if same == weeks), "")
    return f" in an {word} week" if word else f" in week {' or '.join(map(str, weeks))}"


def _missing_weeks(recurrence: Recurrence, days: Sequence[Iterable[range]]) -> list[Fault[Path]]:
    """Report each entry whose list of weeks has a week in which it never happens, unless it never does."""
    faults = []
    for i, (entry, ranges) in enumerate(zip(recurrence.schedule, days, strict=True)):
        if entry.dates.weeks in ((), *WEEKS.values()):
            continue
        happening = {iso_week(day) for some in ranges for day in some}
        never = tuple(week for week in entry.dates.weeks if week not in happening)
        if happening and never:
            only = entry._replace(dates=entry.dates._replace(weeks=never))
            message, fix = f"{_no_date(recurrence, [only])}.", "Remove the week, or change the dates."
            faults.append(Fault("B040", (*entry_path(i, recurrence), "weeks"), message, fix))
    return faults


def _too_many(count: int) -> Fault[Path]:
    message = f"{count:,} occurrences are more than {MOST:,}."
    return Fault("B044", _WHOLE, message, "Shorten the range of dates, or write several reservations.")


def _reasons(
    recurrence: Recurrence,
    bare: Sequence[BareOccurrence],
    lengths: Sequence[int],
    moves: Moves,
    exclusions: Exclusions,
) -> dict[BareOccurrence, str]:
    """Return what is left out, and why; extras only by a closed site."""
    reasons: dict[BareOccurrence, str] = {}
    for candidate in exclusions.candidates(bare):
        wall, entry = candidate
        move = moves.get(candidate)
        if move is None or not move.has_time:
            reason = exclusions.reason(wall, wall + lengths[entry], recurrence.schedule[entry].name)
            if reason is not None:
                reasons[candidate] = reason
    for bare_occurrence in [*bare, *_bare_extras(recurrence)] if exclusions.closings else ():
        wall, entry = bare_occurrence
        move = moves.get(bare_occurrence)
        times = (wall, wall + lengths[entry]) if move is None else (move.start, move.end)
        reason = exclusions.closed(*times)
        if reason is not None:
            reasons.setdefault(bare_occurrence, reason)
    return reasons


def _skipped_date(wall: int, line: Entry | Extra, reason: str) -> _SkippedDate:
    date = date_text(wall // DAY)
    return f"{date}T{id_time(line)}", date, reason
