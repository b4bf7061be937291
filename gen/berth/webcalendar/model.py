"""What the calendar page shows, as compact values: one entry for each reservation, and curves over the term.

Instants are whole minutes since the epoch. Thirty thousand windows of a term fit into a page because each is
two numbers: the minutes since the one before, and its shape, which it shares with others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.checks.ceilings import NO_END, PoolLoad, ceiling_span, levels, placed_by_berth, sum_changes
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.moments import named
from berth.dates.zone import DAY, clock, date_text, walls
from berth.manifests.placed import cluster_of
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import ResourceClass, Site
from berth.webcalendar.forgelinks import IssueFormLink
from berth.webcalendar.outcomes import DateOutcome
from berth.webcalendar.zoneoffsets import ZoneOffsets, zone_offsets

_MARGIN = 60 * DAY


class PageClass(NamedTuple):
    name: str
    cluster: int  # index


class WindowSeats(NamedTuple):
    """The seats of one class in a window, or whole nodes, and how many minutes before the start they open."""

    resource_class: int  # index
    seats: int
    lead: int


class WindowShape(NamedTuple):
    """What windows of a reservation have in common. `offset`: minutes by which its zone is ahead of UTC."""

    offset: int
    length: int
    name: str
    marks: tuple[str, ...]
    seats: tuple[WindowSeats, ...]


class LeftOut(NamedTuple):
    """A date that does not happen. `at` is the end of its id: `2026-02-09T09:00`."""

    at: str
    reason: str


class PageReservation(NamedTuple):
    """A reservation with its windows: minutes since the window before, shape, and so on.

    `ids` has the ends of the ids that do not follow from the local start, by the number of the window.
    `standing` are seats without windows, `until` the minute at which they go; None: never.
    """

    name: str
    title: str
    zone: str
    unit: str
    units: str  # its plural; empty for seats
    owner: str
    contact: str
    file: str
    url: str
    edit: str
    suspended: bool
    shapes: tuple[WindowShape, ...]
    windows: tuple[int, ...]
    ids: dict[int, str]
    left_out: tuple[LeftOut, ...]
    standing: tuple[WindowSeats, ...]
    until: int | None


class CurveLimit(NamedTuple):
    """The most that may be held in [first, last)."""

    first: int
    last: int
    most: int


class Curve(NamedTuple):
    """The seats of a class over time: minutes since the step before, new number, and so on."""

    resource_class: int  # index
    steps: tuple[int, ...]
    limits: tuple[CurveLimit, ...]


class CalendarPage(NamedTuple):
    site: str
    zone: str
    zones: dict[str, ZoneOffsets]  # as Berth knows them; a browser may have other rules
    clusters: tuple[str, ...]
    classes: tuple[PageClass, ...]
    reservations: tuple[PageReservation, ...]
    curves: tuple[Curve, ...]
    ask: IssueFormLink | None = None
    outcomes: Mapping[str, DateOutcome] = {}  # by id of the date
    recorded: int | None = None  # when the records were read, in minutes


class DatedReservation(NamedTuple):
    """A reservation as the pipeline expands it, and the addresses of its file and of its editor."""

    reservation: Reservation
    expansion: Expansion
    url: str = ""
    edit: str = ""


Loads = Mapping[str, Sequence[PoolLoad]]
"""The pools of each cluster."""


def calendar_page(
    site: Site, classes: Mapping[str, ResourceClass], dated: Sequence[DatedReservation], loads: Loads
) -> CalendarPage:
    """Return what the page shows."""
    clusters = {cluster.name: number for number, cluster in enumerate(site.clusters)}
    homes = {name: cluster_of(resource_class, site) for name, resource_class in sorted(classes.items())}
    shown = [PageClass(name, clusters[home.name]) for name, home in homes.items() if home]
    numbers = {one.name: number for number, one in enumerate(shown)}
    zones = {site.zone, *(dated_reservation.reservation.recurrence.zone for dated_reservation in dated)}
    return CalendarPage(
        site.name,
        site.zone,
        {name: zone_offsets(named(name), *_term(dated)) for name in sorted(zones)},
        tuple(clusters),
        tuple(shown),
        tuple(_reservation(dated_reservation, numbers) for dated_reservation in dated),
        tuple(_curves(site, numbers, loads)),
    )


def _term(dated: Iterable[DatedReservation]) -> tuple[int, int]:
    """Return the first and the last minute of all dates, and some weeks around them."""
    every = [window for dated_reservation in dated for window in dated_reservation.expansion.occurrences]
    first, last = (
        min((dated_reservation.open for dated_reservation in every), default=0),
        max((dated_reservation.end for dated_reservation in every), default=0),
    )
    return first // 60 - _MARGIN, last // 60 + _MARGIN


def _reservation(one: DatedReservation, numbers: Mapping[str, int]) -> PageReservation:
    reservation, persistence = one.reservation, one.reservation.holder.persistence
    shapes: dict[WindowShape, int] = {}
    windows: list[int] = []
    ids: dict[int, str] = {}
    last = 0
    zone = named(reservation.recurrence.zone)
    every = one.expansion.occurrences
    starts = walls(zone, (window.start for window in every))
    for i, (found, wall) in enumerate(zip(every, starts, strict=True)):
        shape = _shape(found, wall, numbers)
        windows += (found.start // 60 - last, shapes.setdefault(shape, len(shapes)))
        last = found.start // 60
        end = found.id.partition("/")[2]
        if end != f"{date_text(wall // DAY)}T{clock(wall)}{f'~{found.name}' if found.name else ''}":
            ids[i] = end
    standing = () if persistence is None else _seats(reservation.seats, {}, 0, numbers)
    unit = reservation.holder.unit
    owner = reservation.owner
    return PageReservation(
        reservation.name,
        reservation.title,
        reservation.recurrence.zone,
        unit.value,
        "" if unit is Unit.SEAT else unit.plural,
        owner.name if owner else "",
        owner.contact or "" if owner else "",
        reservation.origin.file,
        one.url,
        one.edit,
        reservation.suspend,
        tuple(shapes),
        tuple(windows),
        ids,
        tuple(LeftOut(left.id.partition("/")[2], left.reason) for left in one.expansion.skipped),
        standing,
        None if persistence is None or persistence.until is None else persistence.until // 60,
    )


def _shape(found: Occurrence, wall: int, numbers: Mapping[str, int]) -> WindowShape:
    start = found.start // 60
    seats = _seats(found.seats, found.opens_by_class(), found.start, numbers)
    return WindowShape(wall - start, found.end // 60 - start, found.name, found.marks, seats)


def _seats(
    seats: Sequence[tuple[str, int]], opens: Mapping[str, int], start: int, numbers: Mapping[str, int]
) -> tuple[WindowSeats, ...]:
    return tuple(
        WindowSeats(numbers[name], count, (start - opens.get(name, start)) // 60)
        for name, count in seats
        if name in numbers
    )


def _curves(site: Site, numbers: Mapping[str, int], loads: Loads) -> Iterator[Curve]:
    """Yield the seats of each class that is reserved, with the ceilings of its cluster."""
    for cluster in site.clusters:
        held = placed_by_berth(loads.get(cluster.name, ()))
        for name in sorted({pool.resource_class for pool in held}):
            steps = _steps(sum_changes(held, {name: 1}))
            limits = (
                CurveLimit(*ceiling_span(ceiling, site.zone), ceiling.seats[name])
                for ceiling in cluster.ceilings
                if name in ceiling.seats
            )
            if steps:
                yield Curve(numbers[name], steps, tuple(limits))


def _steps(changes: Mapping[int, int]) -> tuple[int, ...]:
    """Return minutes since the step before, new number, and so on, without steps that change nothing."""
    found: list[int] = []
    last, before = 0, 0
    for minute, _, level in levels(changes) if changes else ():
        if level != before and minute < NO_END:
            found += (minute - last, level)
            last, before = minute, level
    return tuple(found)
