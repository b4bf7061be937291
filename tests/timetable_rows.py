"""Compute the table of the time rule in docs/time.md."""

import re
from datetime import date
from typing import NamedTuple

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.core.jsonvalues import instant_text
from berth.dates.recurrence import expand
from berth.findings import Origin
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import ReservationSpec
from berth.schema.values import Entry, Recurrence

PAGE = "docs/time.md"
ZONE = "Europe/Zurich"


class Row(NamedTuple):
    day: date
    start: str
    end: str
    why: str


ROWS = [
    Row(date(2026, 3, 30), "09:00", "13:00", "an ordinary day, in summer time"),
    Row(date(2026, 3, 29), "02:30", "04:00", "02:30 is skipped and means 03:30"),
    Row(date(2026, 3, 29), "02:30", "03:15", "the gap would leave no length: 03:30 to 04:15"),
    Row(date(2026, 3, 29), "03:15", "05:00", "the lead is elapsed time: it opens at 01:45"),
    Row(date(2026, 3, 28), "22:00", "06:00", "overnight, into summer time: seven hours"),
    Row(date(2026, 10, 25), "02:30", "04:00", "02:30 happens twice and means the first"),
    Row(date(2026, 10, 24), "22:00", "06:00", "overnight, out of summer time: nine hours"),
    Row(date(2026, 10, 25), "00:00", "24:00", "a whole day has 25 hours"),
]


def minutes(text: str) -> int:
    hours, rest = text.split(":")
    return int(hours) * 60 + int(rest)


def line(row: Row) -> str:
    seats = (("small", 1),)
    entry = Entry((), minutes(row.start), minutes(row.end), None, seats)
    recurrence = Recurrence("dates", ZONE, dates=((row.day, row.day),), schedule=(entry,))
    reservation = Reservation(
        origin=Origin("table", 0),
        name="table",
        spec=ReservationSpec.model_validate({"provisioning": {}}),
        labels=(),
        annotations=(),
        recurrence=recurrence,
        seats=seats,
        seats_listed=False,
        lead=30,
        behavior="none",
        holder=DEFAULT_HOLDER,
    )
    (found,) = expand(reservation, {}).occurrences
    cells = [instant_text(instant)[:16].replace("T", " ") for instant in (found.open, found.start, found.end)]
    return f"| {row.day} {row.start}-{row.end} | {' | '.join(cells)} | {row.why} |"


def text() -> str:
    return "".join(line(row) + "\n" for row in ROWS)


def refreshed(page: str) -> str:
    """Return the page with the rows as they are computed now."""
    return re.sub(r"(?:^\| \d{4}-\d\d-\d\d \d\d:\d\d-.*\n)+", lambda _: text(), page, count=1, flags=re.M)
