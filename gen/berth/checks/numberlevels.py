"""What a number of somebody else's object is over time, by all the reservations that hold it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.core.target import full_count, target
from berth.core.timetable import OVERLAPS, TimetableOccurrence
from berth.dates.expansion import Occurrence
from berth.schema.reservation import Reservation


class NumberHolding(NamedTuple):
    """A reservation that holds a number, the class that counts there, and its dates."""

    reservation: Reservation
    resource_class: str
    occurrences: Sequence[Occurrence]


class NumberLevel(NamedTuple):
    """What a number is from a moment on, and the reservation that says so; None: that is not known.

    `counts`: what each reservation asks for whose window is open.
    """

    since: int
    amount: int | None
    reservation: Reservation
    counts: Mapping[str, int] = {}


def number_levels(holding: Sequence[NumberHolding]) -> list[NumberLevel]:
    """Return what a number is over time, from 0 on. A suspended reservation has no windows."""
    if not holding:
        return []
    last = max((each.reservation for each in holding), key=lambda each: each.name)
    levels = [NumberLevel(0, last.holder.otherwise_count, last)]
    combine = OVERLAPS[max(each.reservation.overlap for each in holding)]  # "sum" if any says so
    by_name = {each.reservation.name: each for each in holding}
    windows = [(row, name) for name, each in by_name.items() for row in _rows(each)]
    changes = ((row.open, row.start, row.end) for row, _ in windows)
    active: list[tuple[TimetableOccurrence, str]] = []
    starting = sorted(windows, key=lambda window: window[0].open, reverse=True)
    for moment in sorted({at for row_changes in changes for at in row_changes}):
        active = [window for window in active if window[0].end > moment]
        while starting and starting[-1][0].open <= moment:
            active.append(starting.pop())
        counts = {
            asking: _count(by_name[asking], [row for row, name in active if name == asking], moment)
            for asking in dict.fromkeys(name for _, name in active)
        }
        if counts:
            amount = combine(counts.values())
            decisive = max(counts, key=lambda name: (counts[name] == amount, counts[name], name))
            levels.append(NumberLevel(moment, amount, by_name[decisive].reservation, counts))
        else:
            levels.append(levels[0]._replace(since=moment))
    return levels


def _rows(holding: NumberHolding) -> Iterator[TimetableOccurrence]:
    """Yield the windows of a reservation as its timetable has them."""
    for occurrence in () if holding.reservation.suspend else holding.occurrences:
        here = occurrence.of_classes([holding.resource_class])
        if here.seats:
            yield here.row()


def _count(holding: NumberHolding, rows: Iterable[TimetableOccurrence], now: int) -> int:
    """Return what a reservation asks for by itself."""
    return target(rows, now, full_count(holding.resource_class), holding.reservation.overlap)
