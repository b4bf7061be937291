"""Compute what numbers of somebody else are on one side of a change, by all reservations that hold them."""

from collections.abc import Iterable, Iterator

from berth.checks.numberlevels import NumberHolding, NumberLevel, number_levels
from berth.core.target import full_count, target
from berth.dates.expansion import Occurrence
from berth.dates.recurrence import expand
from berth.manifests.placed import Placed, placed
from berth.pipeline import Pipeline
from berth.schema.reservation import Reservation


def level_now(number: object, cluster: str, side: Pipeline, now: int) -> int | None:
    """Return what windows hold a number at; None if none is open."""
    level = next((one for one in reversed(_levels(number, cluster, side)) if one.since <= now), None)
    return level.amount if level and level.counts else None


def most(number: object, cluster: str, side: Pipeline) -> int:
    """Return the most that windows make of a number at one time."""
    return max((level.amount or 0 for level in _levels(number, cluster, side) if level.counts), default=0)


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


def _levels(number: object, cluster: str, side: Pipeline) -> list[NumberLevel]:
    calendars = side.declared.calendars
    return number_levels(
        [
            NumberHolding(
                place.reservation, place.classes[0].name, expand(place.reservation, calendars).occurrences
            )
            for place in holding(number, cluster, side)
        ]
    )
