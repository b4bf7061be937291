"""`berth list`: the reservations, what they hold, and when they open next."""

import time
from typing import NamedTuple

from gen import report, table
from gen.command import selection
from gen.command.answer import tell
from gen.command.asked import Asked
from gen.command.exits import GOOD
from gen.command.progress import watched
from gen.command.say import say
from gen.dates.moment import hours_text, local_text, named
from gen.dates.zone import Zone
from gen.model import Reservation
from gen.pipeline import Item, Part, Pipeline
from gen.placed import Stands, has_nodes, stands
from gen.report import hours_json, seats_text
from gen.runtime.instant import instant_text
from gen.schema.backend import PLACEHOLDER


class _Row(NamedTuple):
    """One reservation in one cluster. `seats`: the most that one of its occurrences has, or that stand;
    `next`: an open.
    """

    reservation: Reservation
    cluster: str
    seats: tuple[tuple[str, int], ...]
    occurrences: int
    seat_seconds: int
    next: int | None

    @property
    def nodes(self) -> bool:
        return has_nodes(self.reservation)

    @property
    def has_seat_hours(self) -> bool:
        """Whole nodes have none, and what stands has no end of them."""
        return not self.nodes and stands(self.reservation) is None


def run(asked: Asked) -> int:
    pipeline = Pipeline()
    resource_class, cluster = selection.resource_class(asked, pipeline), selection.cluster(asked, pipeline)
    now = selection.instant("--now", asked, pipeline)
    now = int(time.time()) if now is None else now
    rows: list[_Row] = []
    for item in watched(pipeline.items(), len(pipeline.declared.reservations)):
        rows += [
            _row(item, part, resource_class, now)
            for part in item.parts
            if cluster in (None, part.placed.cluster.name) and _has(part, resource_class)
        ]
    code = tell(pipeline.findings(), asked)
    if code == GOOD:
        say(_json(rows) if asked.form == "json" else _table(rows, asked.form, now))
    return code


def _has(part: Part, resource_class: str | None) -> bool:
    return resource_class is None or any(one.name == resource_class for one in part.placed.classes)


def _row(item: Item, part: Part, resource_class: str | None, now: int) -> _Row:
    names = [one.name for one in part.placed.classes if resource_class in (None, one.name)]
    most = dict.fromkeys(names, 0)
    seat_seconds, number = 0, 0
    coming: int | None = None
    for found in part.occurrences:
        seats = [(name, count) for name, count in found.seats if name in most]
        for name, count in seats:
            most[name] = max(most[name], count)
            seat_seconds += count * (found.end - found.open)
        if seats:
            number += 1
            if found.open >= now and (coming is None or found.open < coming):  # a later start may open first
                coming = found.open
    if item.reservation.suspend:
        coming = None
    if stands(item.reservation) is not None:
        most |= {name: count for name, count in item.reservation.seats if name in most}
    return _Row(item.reservation, part.placed.cluster.name, tuple(most.items()), number, seat_seconds, coming)


def _json(rows: list[_Row]) -> str:
    items = [
        {
            "name": row.reservation.name,
            "title": row.reservation.title,
            "cluster": row.cluster,
            **report.counts_json(row.seats, nodes=row.nodes),
            "backend": row.reservation.backend,
            "behaviour": row.reservation.behavior,
            "occurrences": row.occurrences,
            "seatHours": hours_json(row.seat_seconds) if row.has_seat_hours else None,
            "next": None if row.next is None else instant_text(row.next),
            "suspend": row.reservation.suspend,
            "standing": _standing_json(stands(row.reservation)),
        }
        for row in rows
    ]
    return report.document("ReservationList", {"items": items})


def _standing_json(found: Stands | None) -> dict[str, str | None] | None:
    """None: it has windows."""
    if found is None:
        return None
    return {"until": None if found.until is None else instant_text(found.until)}


def _table(rows: list[_Row], form: str, now: int) -> str:
    if not rows:
        return "No reservation.\n"
    headings = ["name", "cluster", "seats", "occurrences", "seat-hours", "next opening"]
    cells = [_cells(row, now) for row in rows]
    if form == "wide":
        headings += ["behaviour", "zone", "title"]
        for cell, row in zip(cells, rows, strict=True):
            one = row.reservation
            cell += [one.behavior, one.recurrence.zone, one.title]
        if any(row.reservation.backend != PLACEHOLDER for row in rows):
            headings.append("backend")
            for cell, row in zip(cells, rows, strict=True):
                cell.append(row.reservation.backend)
    return table.markdown(headings, cells) if form == "markdown" else table.text(headings, cells)


def _cells(row: _Row, now: int) -> list[str]:
    zone, standing = named(row.reservation.recurrence.zone), stands(row.reservation)
    coming = "none" if row.next is None else local_text(row.next, zone)
    if standing is not None:
        coming = _standing(standing, zone, now)
    return [
        row.reservation.name,
        row.cluster,
        seats_text(row.seats, nodes=row.nodes),
        str(row.occurrences) if standing is None else "",
        hours_text(row.seat_seconds) if row.has_seat_hours else "",
        "suspended" if row.reservation.suspend else coming,
    ]


def _standing(found: Stands, zone: Zone, now: int) -> str:
    if found.until is None:
        return "stands always"
    until = local_text(found.until, zone)
    return f"stands until {until}" if found.at(now) else f"expired {until}"
