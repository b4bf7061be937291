"""What a number of somebody else's object is over time, by all the reservations that hold it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueTarget
from berth.checks.project import Project
from berth.core.target import full_count, target
from berth.core.timetable import OVERLAPS, TimetableOccurrence
from berth.dates.recurrence import expand
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation


class NumberHolding(NamedTuple):
    """A reservation that holds a number, and the class that counts there."""

    reservation: Reservation
    resource_class: str


class NumberLevel(NamedTuple):
    """What a number is from a moment on, and the reservation that says so; None: that is not known."""

    since: int
    amount: int | None
    reservation: Reservation


def number_holdings(project: Project) -> Iterator[tuple[str, ValueTarget, NumberHolding]]:
    """Yield every number that is held, with its cluster and who holds it, by the names of reservations."""
    for place, *_ in project.parts:
        reservation, holder = place.reservation, place.reservation.holder
        number = holder.options.target if isinstance(holder, ValueHolder) else None
        if number is not None:
            yield place.cluster.name, number, NumberHolding(reservation, place.classes[0].name)


def number_levels(holding: Sequence[NumberHolding], declared: Declared) -> list[NumberLevel]:
    """Return what a number is over time, from 0 on. A suspended reservation has no windows."""
    if not holding:
        return []
    first = holding[0].reservation
    levels = [NumberLevel(0, first.holder.otherwise_count, first)]
    by_name = {each.reservation.name: each for each in holding}
    windows = [(row, name) for name, each in by_name.items() for row in _rows(each, declared)]
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
            largest = max(counts, key=lambda name: (counts[name], name))
            amount = OVERLAPS[first.overlap](counts.values())
            levels.append(NumberLevel(moment, amount, by_name[largest].reservation))
        else:
            levels.append(levels[0]._replace(since=moment))
    return levels


def _rows(holding: NumberHolding, declared: Declared) -> Iterator[TimetableOccurrence]:
    """Yield the windows of a reservation as its timetable has them."""
    reservation, name = holding
    for occurrence in () if reservation.suspend else expand(reservation, declared.calendars).occurrences:
        here = occurrence.of_classes([name])
        if here.seats:
            yield here.row()


def _count(holding: NumberHolding, rows: Iterable[TimetableOccurrence], now: int) -> int:
    """Return what a reservation asks for by itself."""
    return target(rows, now, full_count(holding.resource_class), holding.reservation.overlap)
