"""Compute what numbers of somebody else are on one side of a change, by all reservations that hold them."""

from collections.abc import Iterable, Iterator

from berth.checks.ceilings import NO_END, add_steps, peak, pool_steps
from berth.core.target import full_count, target
from berth.core.timetable import OVERLAPS
from berth.dates.expansion import Occurrence
from berth.dates.recurrence import expand
from berth.manifests.placed import Placed, placed
from berth.pipeline import Pipeline
from berth.schema.reservation import Reservation


def level_now(number: object, cluster: str, side: Pipeline, now: int) -> int | None:
    """Return what a number is held at; None if nobody holds it."""
    overlap, counts = "max", []
    for place in holding(number, cluster, side):
        reservation = place.reservation
        seats = open_seats(reservation, expand(reservation, side.declared.calendars).occurrences, now)
        counts += [seats[found.name] for found in place.classes if found.name in seats]
        overlap = max(overlap, reservation.overlap)  # "sum" if any says so
    return OVERLAPS[overlap](counts) if counts else None


def most(number: object, cluster: str, side: Pipeline) -> int:
    """Return the most that windows make of a number at one time."""
    overlap, pools = "max", []
    for place in holding(number, cluster, side):
        windows = expand(place.reservation, side.declared.calendars).occurrences
        pools += [pool_steps(place.reservation, found, windows) for found in place.classes]
        overlap = max(overlap, place.reservation.overlap)
    return _peak(pools) if overlap == "sum" else max((_peak([steps]) for steps in pools), default=0)


def open_seats(reservation: Reservation, windows: Iterable[Occurrence], now: int) -> dict[str, int]:
    """Return the seats by class for which open windows ask."""
    current = [
        opening.row() for item in windows for opening in item.openings() if opening.open <= now < opening.end
    ]
    names = dict.fromkeys(name for one in current for name, _ in one.seats)
    return {name: target(current, now, full_count(name), reservation.overlap) for name in names}


def holding(number: object, cluster: str, side: Pipeline) -> Iterator[Placed]:
    """Yield the parts in a cluster of all reservations that hold a number and are not suspended."""
    for reservation in side.declared.reservations if side.site else ():
        if reservation.holder.shared == number and not reservation.suspend:
            assert side.site is not None
            places = placed(reservation, side.declared, side.site)
            yield from (place for place in places if place.cluster.name == cluster)


def _peak(pools: Iterable[list[int]]) -> int:
    found = peak(add_steps(pools), 0, NO_END)
    return found[0] if found else 0
