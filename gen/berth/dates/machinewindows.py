"""The windows of a reservation whose dates are those of reserved machines.

A window opens when the machines can be launched and ends when they are still safe, so it never asks for a
machine that does not exist. Both are instants: no clock change moves them. As its machines take time to
start, the window starts a lead later. Its id names the local time at which it opens: another lead keeps it.
"""

from itertools import pairwise

from berth.dates.exceptions import DATES_OF_MACHINES, Exclusions
from berth.dates.expansion import ON_HOLIDAY, OVERNIGHT, DatedOccurrence, is_overnight
from berth.dates.moments import span_text
from berth.dates.zone import DAY, Zone, clock, date_text, walls
from berth.findings import Fault, Path
from berth.schema.values import Recurrence


def machine_windows(
    recurrence: Recurrence, lead: int, exclusions: Exclusions, zone: Zone
) -> tuple[list[DatedOccurrence], list[Fault[Path]]]:
    """Return a window for each span in which the machines may be used, and all faults.

    There are no windows if there is a fault. `lead`: the longest, in seconds.
    """
    rows: list[DatedOccurrence] = []
    faults: list[Fault[Path]] = []
    for first, last in recurrence.usable:
        opens, start, end = walls(zone, (first, first + lead, last))
        if first + lead >= last:
            minutes = (last - first) // 60
            message = f"the machines exist for {minutes} min, no longer than the lead of {lead // 60} min."
            faults.append(Fault("B024", DATES_OF_MACHINES, message, "Write a shorter leadTimeMinutes."))
            continue
        reason = exclusions.closed(start, end)
        if reason is not None:
            when = span_text(first + lead, last, zone)
            message = f"{when} does not happen: the site is closed then ({reason})."
            fix = "Change the calendar, or the dates of the machines."
            faults.append(Fault("B059", DATES_OF_MACHINES, message, fix))
        marks = [OVERNIGHT] if is_overnight(start, end) else []
        marks += [] if exclusions.holiday(start, end) is None else [ON_HOLIDAY]
        date = date_text(opens // DAY)
        when = f"{date}T{clock(opens)}"
        rows.append(DatedOccurrence(first + lead, when, first, last, tuple(marks), date, 0, None))
    faults += _collisions(recurrence, rows, zone)
    return [] if faults else rows, faults


def _collisions(recurrence: Recurrence, rows: list[DatedOccurrence], zone: Zone) -> list[Fault[Path]]:
    """Report windows that overlap: one number of seats cannot be right for both."""
    faults = []
    for before, after in pairwise(rows):
        texts = [span_text(row.open, row.end, zone) for row in (before, after)]
        if after.open < before.end:
            message = f"machines of {recurrence.capacity} have dates that overlap: {' and '.join(texts)}."
            fix = "Give each a CloudCapacity and a CapacityReservation of its own, or equal dates."
            faults.append(Fault("B201", DATES_OF_MACHINES, message, fix))
        elif after.when == before.when:  # both times are the repeated hour of a clock change
            message = f"{' and '.join(texts)} begin at the same local time: they have the same id."
            fix = "Write timeZone: UTC, which repeats no hour."
            faults.append(Fault("B049", DATES_OF_MACHINES, message, fix))
    return faults
