"""Which occurrences does a reservation have? All of them, dated, in UTC; and what of its recurrence is wrong.

Pure: no clock, no cluster, the same answer everywhere. The time rule itself lives in `gen.dates.zone`.
"""

from collections.abc import Iterable, Mapping, Sequence

from gen.dates.bare import Bare, entry_length, falls, length
from gen.dates.dating import Plan, dated
from gen.dates.exceptions import Absence, idle_excepts
from gen.dates.moves import Moved, moved, no_length
from gen.dates.occurrence import Expansion, Fault, Occurrence, Skipped
from gen.dates.overlap import any_overlap, overlaps, path, same_ids
from gen.dates.zone import DAY, Zone, clock, date_text, load, number
from gen.finding import Problem
from gen.model import Calendar, Recurrence, Reservation

NEVER_FALLS, NEVER_FALLS_RENKU = "B040", "B041"
NOTHING, NOTHING_RENKU = "B042", "B043"
TOO_MANY = "B044"
MOST = 2000
_MOST_BARE = 10 * MOST  # of more nobody asks what exceptions leave: there may be millions
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WHOLE = ("spec", "recurrence")


def expand(reservation: Reservation, calendars: Mapping[str, Calendar]) -> Expansion:
    """No occurrences where a window has no length, or there are more than 2,000.

    What is unknown is told elsewhere: such a calendar leaves nothing out, such a zone answers nothing.
    """
    zone = load(reservation.recurrence.zone)
    if zone is None:
        return Expansion((), (), ())
    faults: list[Fault] = []
    absence = Absence(reservation.recurrence, calendars)
    plan, skipped = _plan(reservation, absence, faults)
    occurrences = _occurrences(reservation, plan, absence, zone, faults)
    file, index = reservation.origin.file, reservation.origin.index
    problems = [Problem(code, file, index, at, message, fix) for code, at, message, fix in faults]
    return Expansion(occurrences, skipped, tuple(problems))


def _occurrences(
    reservation: Reservation, plan: Plan, absence: Absence, zone: Zone, faults: list[Fault]
) -> tuple[Occurrence, ...]:
    rows = dated(reservation, plan, absence, zone)
    occurrences = tuple([row[2] for row in rows])
    if any_overlap(occurrences):
        faults += overlaps([(row[2], row[3]) for row in rows], reservation.recurrence, zone)
    return occurrences


def _plan(
    reservation: Reservation, absence: Absence, faults: list[Fault]
) -> tuple[Plan, tuple[Skipped, ...]]:
    """What happens, and what is left out."""
    recurrence = reservation.recurrence
    nothing = Plan([], [], {}, {}), ()
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
    left, skipped = _left(reservation.name, bare, moves, absence)
    entries = len(recurrence.schedule)
    kept = left + [(number(e.day) * DAY + e.start, entries + i) for i, e in enumerate(recurrence.extras)]
    if len(kept) > MOST:
        faults.append(_too_many(len(kept)))
        return nothing
    if not kept or 0 in counts:
        faults += _idle(reservation, counts, kept)
    return Plan(kept, lengths, moves, _suffixes(reservation, kept, lengths, faults)), skipped


def _lengths(recurrence: Recurrence, faults: list[Fault]) -> list[int]:
    """Minutes on the clock, of each entry, then of each extra."""
    lengths = [entry_length(recurrence, entry) for entry in recurrence.schedule]
    lengths += [length(extra.start, extra.end, extra.end_day) for extra in recurrence.extras]
    for entry, minutes in enumerate(lengths):
        if minutes <= 0:
            faults.append(no_length((*path(entry, recurrence), "endTime")))
    return lengths


def _idle(reservation: Reservation, counts: Sequence[int], kept: Sequence[Bare]) -> list[Fault]:
    """No occurrence at all, or else the entries that never fall (`counts`: how often each does)."""
    if not kept:
        code = NOTHING_RENKU if reservation.renku else NOTHING
        every = {day for entry in reservation.recurrence.schedule for day in entry.days}
        why = "exceptions leave none" if any(counts) else _never(reservation.recurrence, every)
        fix = "Change the dates so that it happens, or remove the reservation."
        return [Fault(code, _WHOLE, f"it has no occurrence: {why}.", fix)]
    code = NEVER_FALLS_RENKU if reservation.renku else NEVER_FALLS
    fix = "Change the weekday or the dates, or remove the entry."
    return [
        Fault(code, path(i, reservation.recurrence), f"{_never(reservation.recurrence, entry.days)}.", fix)
        for i, entry in enumerate(reservation.recurrence.schedule)
        if counts[i] == 0
    ]


def _never(recurrence: Recurrence, weekdays: Iterable[int]) -> str:
    days = " or ".join(_WEEKDAYS[day - 1] for day in sorted(weekdays)) or "date"
    weeks = f" in weeks that count (interval {recurrence.interval})" if recurrence.interval > 1 else ""
    return f"no {days} falls from {recurrence.first} to {recurrence.last}{weeks}"


def _too_many(count: int) -> Fault:
    message = f"{count:,} occurrences are more than {MOST:,}."
    return Fault(TOO_MANY, _WHOLE, message, "Shorten the range of dates, or write several reservations.")


def _left(
    name: str, bare: list[Bare], moves: Moved, absence: Absence
) -> tuple[list[Bare], tuple[Skipped, ...]]:
    """What exceptions leave, and what they take, by date and time."""
    taken: set[Bare] = set()
    skipped: list[Skipped] = []
    for occurrence in sorted(absence.possible(bare)):
        wall = occurrence[0]
        reason = None if occurrence in moves else absence.reason(wall)
        if reason is not None:
            taken.add(occurrence)
            date = date_text(wall // DAY)
            skipped.append(Skipped(f"{name}/{date}T{clock(wall)}", date, reason))
    return [one for one in bare if one not in taken] if taken else bare, tuple(skipped)


def _suffixes(
    reservation: Reservation, kept: Sequence[Bare], lengths: Sequence[int], faults: list[Fault]
) -> dict[Bare, str]:
    """Two occurrences with one id are an error; for Renku they get `~2` and so on, by end, then position."""
    if len({wall for wall, _ in kept}) == len(kept):
        return {}
    if not reservation.renku:
        faults += same_ids(kept, reservation.recurrence)
        return {}
    suffixes: dict[Bare, str] = {}
    seen: dict[int, int] = {}
    for wall, entry in sorted(kept, key=lambda bare: (lengths[bare[1]], bare[1])):
        seen[wall] = seen.get(wall, 0) + 1
        suffixes[wall, entry] = f"~{seen[wall]}" if seen[wall] > 1 else ""
    return suffixes
