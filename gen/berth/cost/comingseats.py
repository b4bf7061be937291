"""Which numbers of seats coming dates have, where they are written, and which past dates tell of them.

Pure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from berth.cost.pastdates import PastDate
from berth.dates.exceptions import entry_path
from berth.dates.expansion import id_time
from berth.dates.recurrence import local_occurrences
from berth.dates.zone import DAY, Zone, date_text, local
from berth.findings import Path
from berth.schema.calendardocument import Calendar
from berth.schema.reservation import Reservation
from berth.schema.values import Seats

USUAL: Path = ("spec", "provisioning")


class ComingSeats(NamedTuple):
    """A number of seats of a class that coming dates have.

    `paths`: where it is written: below USUAL, and in lines with their own. `others`: ids of dates that do not
    tell of it, because they are of lines with other seats.
    """

    number: int
    paths: tuple[Path, ...]
    others: frozenset[str] = frozenset()

    def past(self, dates: Sequence[PastDate]) -> list[PastDate]:
        """Return the dates that tell of it."""
        return [date for date in dates if date.id not in self.others]


def coming_seats(
    reservation: Reservation, at: int, zone: Zone, calendars: Mapping[str, Calendar], now: int
) -> list[ComingSeats]:
    """Return each number of seats of the class `at` that lines with coming dates have; all if none has.

    Single dates with their own seats are left out; so are groups with their own, because sessions do not say
    whose they are.
    """
    recurrence, schedule = reservation.recurrence, reservation.recurrence.schedule
    name, count = reservation.seats[at]
    usual = _path(reservation, USUAL, reservation.seats, name)
    own = {i for i, line in enumerate(schedule) if line.seats is not reservation.seats}
    lines = {i for i, line in enumerate(schedule) if i not in own or line.dates.listed is None}
    dates = [one for one in local_occurrences(reservation, calendars) if one.entry in lines]
    coming = {one.entry for one in dates if one.happens and one.end > local(zone, now)} or lines
    by_count: dict[int, list[int]] = {}
    for i in sorted(coming):
        if name in dict(schedule[i].seats):
            by_count.setdefault(dict(schedule[i].seats)[name], []).append(i)
    found = []
    for number, same in by_count.items():
        others = [one for one in dates if one.entry not in same] if len(by_count) > 1 else []
        if others and any(schedule[i].name for i in own.intersection(same)):
            continue
        when = {f"{date_text(one.original // DAY)}T{id_time(schedule[one.entry])}" for one in others}
        paths = dict.fromkeys(
            _path(reservation, entry_path(i, recurrence), schedule[i].seats, name) if i in own else usual
            for i in same
        )
        ids = frozenset([f"{reservation.name}/{one}" for one in when])
        found.append(ComingSeats(number, tuple(paths), ids))
    return found or [ComingSeats(count, (usual,))]


def _path(reservation: Reservation, line: Path, seats: Seats, resource_class: str) -> Path:
    """Return where a line, or the reservation, says how many seats of a class it has."""
    row = ("seats", [*dict(seats)].index(resource_class)) if reservation.seats_listed else ()
    return (*line, *row, reservation.holder.unit.field)
