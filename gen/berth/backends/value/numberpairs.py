"""Check that the least number of an object is never above its largest, where reservations hold both."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple

from berth.backends.value.valueholder import ValueHolder
from berth.backends.value.valueoptions import ValueTarget
from berth.core.target import full_count, target
from berth.core.timetable import OVERLAPS, TimetableOccurrence
from berth.dates.moments import local_text
from berth.dates.recurrence import expand
from berth.dates.zone import load
from berth.findings import Path, Problem
from berth.manifests.placed import behaviors_by_class, placed
from berth.notation.objectpath import object_path_text
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Site

CROSSED = "B307"
_PATH: Path = ("spec", "backend", "target", "path")


class _Level(NamedTuple):
    """What a number is from a moment on, and the reservation that says so; None: that is not known."""

    since: int
    amount: int | None
    reservation: Reservation


class _Holding(NamedTuple):
    """A reservation that holds a number, and the class that counts there."""

    reservation: Reservation
    resource_class: str


def check_pairs(declared: Declared, site: Site) -> Iterator[Problem]:
    """Report the first moment at which a least number is above the largest, at the later reservation."""
    by_object: dict[tuple[object, ...], dict[ValueTarget, list[_Holding]]] = {}
    for reservation in sorted(declared.reservations, key=lambda each: each.name):
        holder = reservation.holder
        number = holder.options.target if isinstance(holder, ValueHolder) else None
        if number is None or number.known is None or number.path not in number.known.bounds:
            continue
        for place in placed(reservation, declared, site):
            key = (place.cluster.name, *number.identity[:-1])
            holding = _Holding(reservation, place.classes[0].name)
            by_object.setdefault(key, {}).setdefault(number, []).append(holding)
    for targets in by_object.values():
        yield from _crossed(targets, declared)


def _crossed(targets: dict[ValueTarget, list[_Holding]], declared: Declared) -> Iterator[Problem]:
    first = next(iter(targets))
    assert first.known is not None  # which has bounds
    least, largest = (
        [each for number, holding in targets.items() if number.path == path for each in holding]
        for path in first.known.bounds
    )
    if not least or not largest:
        return
    floors = _levels([each for each in least if not _counts_sessions(each.reservation)], declared)
    for since, floor, cap in _together(floors, _levels(largest, declared)):
        if floor.amount is not None and cap.amount is not None and floor.amount > cap.amount:
            low, high = (object_path_text(path) for path in first.known.bounds)
            later = max(floor.reservation, cap.reservation, key=lambda each: each.name)
            zone = load(later.recurrence.zone)
            when = f"on {local_text(since, zone)}" if since and zone else "outside of windows"
            message = (
                f"{low} of {first.object_text} is {floor.amount} by {floor.reservation.name}, and {high} is "
                f"{cap.amount} by {cap.reservation.name}, {when}."
            )
            fix = f"Write counts, and otherwise, that make {high} at least {low}."
            yield later.problem(CROSSED, _PATH, message, fix)
            return


def _counts_sessions(reservation: Reservation) -> bool:
    """Return whether sessions may lower what a window asks for."""
    behaviors = behaviors_by_class(reservation).values()
    return any(behavior != "none" for of_class in behaviors for behavior in of_class)


def _levels(holding: Sequence[_Holding], declared: Declared) -> list[_Level]:
    """Return what a number is over time, from 0 on. A suspended reservation has no windows."""
    if not holding:
        return []
    first = holding[0].reservation
    levels = [_Level(0, first.holder.otherwise_count, first)]
    by_name = {each.reservation.name: each for each in holding}
    windows = [(row, name) for name, each in by_name.items() for row in _rows(each, declared)]
    changes = ((row.open, row.start, row.end, *(at for _, at, _ in row.steps)) for row, _ in windows)
    active: list[tuple[TimetableOccurrence, str]] = []
    starting = sorted(windows, key=lambda window: window[0].open, reverse=True)
    for moment in sorted({at for row_changes in changes for at in row_changes}):
        active = [window for window in active if window[0].end > moment]
        while starting and starting[-1][0].open <= moment:
            active.append(starting.pop())
        counts = {
            asking: _count(by_name[asking], [row for row, name in active if name == asking], moment)
            for _, asking in active
        }
        if counts:
            largest = max(counts, key=lambda name: (counts[name], name))
            amount = OVERLAPS[first.overlap](counts.values())
            levels.append(_Level(moment, amount, by_name[largest].reservation))
        else:
            levels.append(levels[0]._replace(since=moment))
    return levels


def _rows(holding: _Holding, declared: Declared) -> Iterator[TimetableOccurrence]:
    """Yield the windows of a reservation as its timetable has them."""
    reservation, name = holding
    for occurrence in () if reservation.suspend else expand(reservation, declared.calendars).windows:
        here = occurrence.of_classes([name])
        if here.seats:
            yield here.row(reservation.profile)


def _count(holding: _Holding, rows: Iterable[TimetableOccurrence], now: int) -> int:
    """Return what a reservation asks for by itself."""
    return target(rows, now, full_count(holding.resource_class, now), holding.reservation.overlap)


def _together(floors: Iterable[_Level], caps: Iterable[_Level]) -> Iterator[tuple[int, _Level, _Level]]:
    """Yield both levels after each moment at which one of them changes."""
    floor = cap = None
    changes = list(
        merge(
            ((each, True) for each in floors),
            ((each, False) for each in caps),
            key=lambda change: change[0].since,
        )
    )
    for i, (level, is_floor) in enumerate(changes):
        floor, cap = (level, cap) if is_floor else (floor, level)
        is_last = i + 1 == len(changes) or changes[i + 1][0].since > level.since
        if floor and cap and is_last:
            yield level.since, floor, cap
