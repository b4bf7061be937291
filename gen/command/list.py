"""`berth list`: the reservations, what they hold, and when they open next."""

import argparse
import sys
import time
from typing import NamedTuple

from gen import report, table
from gen.command.answer import exit_code, form, tell
from gen.command.occurrences import instant_argument, seats_text, selection
from gen.dates.moment import hours_text, local_text, named
from gen.model import Reservation
from gen.pipeline import Item, Part, Pipeline
from gen.runtime.instant import instant_text


class _Row(NamedTuple):
    """One reservation in one cluster. `seats` are the most that one of its occurrences has; `next` an open."""

    reservation: Reservation
    cluster: str
    seats: tuple[tuple[str, int], ...]
    occurrences: int
    seat_seconds: int
    next: int | None


def run(asked: argparse.Namespace) -> int:
    wanted = form(asked, "text", "wide", "json", "markdown")
    pipeline = Pipeline()
    resource_class, cluster = selection(asked, pipeline)
    now = instant_argument(asked.now, "--now", pipeline)
    now = int(time.time()) if now is None else now
    rows: list[_Row] = []
    for item in pipeline.items():
        rows += [
            _row(item, part, resource_class, now)
            for part in item.parts
            if cluster in (None, part.placed.cluster.name) and _has(part, resource_class)
        ]
    findings = pipeline.findings()
    tell(findings, asked)
    sys.stdout.write(_json(rows) if wanted == "json" else _table(rows, wanted))
    return exit_code(findings, asked)


def _has(part: Part, resource_class: str | None) -> bool:
    return resource_class is None or any(one.name == resource_class for one in part.placed.classes)


def _row(item: Item, part: Part, resource_class: str | None, now: int) -> _Row:
    names = [one.name for one in part.placed.classes if resource_class in (None, one.name)]
    most = dict.fromkeys(names, 0)
    seat_seconds = 0
    for found in part.occurrences:
        for name, count in found.seats:
            if name in most:
                most[name] = max(most[name], count)
                seat_seconds += count * (found.end - found.open)
    coming = [found.open for found in part.occurrences if found.open >= now and not item.reservation.suspend]
    return _Row(
        item.reservation,
        part.placed.cluster.name,
        tuple(most.items()),
        len(part.occurrences),
        seat_seconds,
        min(coming, default=None),
    )


def _json(rows: list[_Row]) -> str:
    items = [
        {
            "name": row.reservation.name,
            "title": row.reservation.title,
            "cluster": row.cluster,
            "seats": dict(row.seats),
            "behaviour": row.reservation.behaviour,
            "occurrences": row.occurrences,
            "seatHours": row.seat_seconds // 3600
            if row.seat_seconds % 3600 == 0
            else row.seat_seconds / 3600,
            "next": None if row.next is None else instant_text(row.next),
        }
        for row in rows
    ]
    return report.document("ReservationList", {"items": items})


def _table(rows: list[_Row], wanted: str) -> str:
    if not rows:
        return "No reservation.\n"
    headings = ["name", "cluster", "seats", "occurrences", "seat-hours", "next opening"]
    cells = [_cells(row) for row in rows]
    if wanted == "wide":
        headings += ["behaviour", "zone", "title"]
        for cell, row in zip(cells, rows, strict=True):
            cell += [row.reservation.behaviour, row.reservation.recurrence.zone, row.reservation.title]
    return table.markdown(headings, cells) if wanted == "markdown" else table.text(headings, cells)


def _cells(row: _Row) -> list[str]:
    zone = named(row.reservation.recurrence.zone)
    coming = (
        "suspended" if row.reservation.suspend else "none" if row.next is None else local_text(row.next, zone)
    )
    return [
        row.reservation.name,
        row.cluster,
        seats_text(row.seats),
        str(row.occurrences),
        hours_text(row.seat_seconds),
        coming,
    ]
