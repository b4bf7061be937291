"""From the clock to UTC: once it is clear what happens, the occurrences with their ids and marks."""

from collections.abc import Sequence
from typing import NamedTuple

from gen.dates.bare import Bare
from gen.dates.exceptions import Absence
from gen.dates.moves import Moved
from gen.dates.occurrence import Occurrence
from gen.dates.zone import DAY, FOLD, GAP, Zone, clock, date_text, trait, window
from gen.model import Entry, Extra, Recurrence, Reservation

OVERNIGHT, MOVED, EXTRA, ON_HOLIDAY, SUSPENDED = "overnight", "moved", "extra", "onHoliday", "suspended"


class Plan(NamedTuple):
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


def named(reservation: Reservation, rows: Sequence[Dated]) -> tuple[Occurrence, ...]:
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


def dated(recurrence: Recurrence, lead: int, plan: Plan, absence: Absence, zone: Zone) -> list[Dated]:
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
