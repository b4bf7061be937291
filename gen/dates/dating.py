"""From the clock to UTC: once it is clear what happens, the occurrences with their ids and marks."""

from typing import NamedTuple

from gen.dates.bare import Bare
from gen.dates.exceptions import Absence
from gen.dates.moves import Moved
from gen.dates.occurrence import Occurrence
from gen.dates.zone import DAY, FOLD, GAP, Zone, clock, date_text, trait, window
from gen.model import Entry, Extra, Reservation

OVERNIGHT, MOVED, EXTRA, ON_HOLIDAY, SUSPENDED = "overnight", "moved", "extra", "onHoliday", "suspended"


class Plan(NamedTuple):
    """What happens, on the clock."""

    kept: list[Bare]  # extras too, in any order
    lengths: list[int]  # minutes, of each entry, then of each extra
    moved: Moved
    suffixes: dict[Bare, str]  # to ids that several have: one for each of `kept`; empty where none is needed


Dated = tuple[int, str, Occurrence, int]
"""Start, id, occurrence, entry: these sort as occurrences do."""


def dated(reservation: Reservation, plan: Plan, absence: Absence, zone: Zone) -> list[Dated]:
    """Sorted by start, then id."""
    kept, lengths, moved, suffixes = plan
    name, offsets, zone_name, lead = reservation.name, zone.offsets, zone.name, reservation.lead * 60
    items: tuple[Entry | Extra, ...] = (*reservation.recurrence.schedule, *reservation.recurrence.extras)
    entries = len(reservation.recurrence.schedule)
    known = [
        (clock(item.start), item.seats, length, i < entries and item.start + length < DAY)
        for i, (item, length) in enumerate(
            zip(items, lengths, strict=False)
        )  # no lengths where nothing is kept
    ]
    always = (SUSPENDED,) if reservation.suspend else ()
    rows: list[Dated] = []
    make = tuple.__new__  # half of what Occurrence(...) takes, sixty thousand times a run
    for bare in kept:
        wall, entry = bare
        time, seats, length, within_a_day = known[entry]
        day = wall // DAY
        offset = offsets[day]
        if within_a_day and offset is not None and bare not in moved:
            first, marks = wall * 60 - offset, always
            last = first + length * 60
        else:  # all but the plainest goes through the rules in full
            start, end = moved.get(bare, (wall, wall + length))
            first, last = window(zone, start, end)
            own = MOVED if bare in moved else EXTRA if entry >= entries else ""
            marks = (*_marks(zone, start, end, own, absence), *always)
        date = date_text(day)
        id_ = f"{name}/{date}T{time}{suffixes[bare]}" if suffixes else f"{name}/{date}T{time}"
        made = make(Occurrence, (name, id_, first - lead, first, last, seats, zone_name, marks, date))
        rows.append((first, id_, made, entry))
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
