"""Which entries of one reservation meet: their occurrences overlap, or would share an id.

A pair of entries is told once, with its first date, whatever the number of dates.
"""

from collections.abc import Iterable, Sequence

from gen.dates.bare import Bare
from gen.dates.occurrence import Fault, Occurrence
from gen.dates.zone import DAY, Zone, clock, day_of, local
from gen.finding import Path
from gen.model import Entry, Extra, Recurrence

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
    return Fault(OVERLAP, path(second, recurrence), message, fix)


def same_ids(bare: Sequence[Bare], recurrence: Recurrence) -> list[Fault]:
    """Entries that start at one moment; from occurrences in any order."""
    starts: dict[int, int] = {}
    faults: dict[tuple[int, int], Fault] = {}
    for wall, entry in sorted(bare):
        first = starts.setdefault(wall, entry)
        if first != entry and (first, entry) not in faults:
            faults[first, entry] = Fault(
                SAME_ID,
                (*path(entry, recurrence), "startTime"),
                f"{day_of(wall)} {clock(wall)} starts {_told(first, recurrence)} too: two with one id.",
                "Change one of the times, or write one entry with all the seats.",
            )
    return list(faults.values())


def path(entry: int, recurrence: Recurrence) -> Path:
    """Where an entry stands; extras are counted on from the schedule's entries."""
    extra = entry - len(recurrence.schedule)
    return ("spec", "recurrence", "schedule", entry) if extra < 0 else ("spec", "recurrence", "extra", extra)


def _told(entry: int, recurrence: Recurrence) -> str:
    *_, name, position = path(entry, recurrence)
    return f"{name}[{position}] ({_hours(entry, recurrence)})"


def _hours(entry: int, recurrence: Recurrence) -> str:
    items: tuple[Entry | Extra, ...] = (*recurrence.schedule, *recurrence.extras)
    item = items[entry]
    return f"{clock(item.start)}-{'24:00' if item.end == DAY else clock(item.end)}"
