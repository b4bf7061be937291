"""The counts of `--seats`, and how a line of a file says how many seats it has."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from berth.dates.exceptions import entry_path
from berth.edit.datelists import set_keys
from berth.edit.roundtrip import MakeNode
from berth.manifests.placed import class_names
from berth.notation.refusal import CommandError, taken
from berth.schema.documentproblems import Refusal, shown
from berth.schema.grammar import dns_label
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import Provisioning
from berth.schema.seatholders import Unit
from berth.schema.validate import read_text
from berth.schema.values import Seats

ONLY_CLASS = ""
next_class = re.compile(r",(?=[^,=]*=)")  # the comma of 1,200 is refused as a part of the number
Counts = Mapping[str, int]
"""Seats, or whole nodes, by class; ONLY_CLASS stands for the only class that there is."""


def parse_counts(text: str) -> Counts:
    """Read `120`, or numbers by names of classes or times: `small=120,gpu=10`. Raise Refusal otherwise."""
    counts: dict[str, int] = {}
    listed = next_class.split(text)
    for part in listed:
        name, equals, number = part.strip().rpartition("=")
        if equals:
            dns_label(name)
        if name in counts or (not equals and len(listed) > 1):
            fix = "Write 25, or regular=120,extra-time=8."
            raise Refusal(f"{shown(text)} is not a number of seats.", fix, "B013")
        counts[name] = taken(partial(seat_count, number))
    return counts


def seat_count(text: str) -> int:
    """Read a number of seats as the field of a file does. Raise Refusal for anything else."""
    count: int = read_text(Provisioning, "placeholderCount", text)
    return count


def with_counts(seats: Seats, counts: Counts, classes: Iterable[str]) -> Seats:
    """Return the seats with other counts. Raise CommandError for a class that is not one of `classes`."""
    known = list(dict.fromkeys([*dict(seats), *classes]))
    if ONLY_CLASS in counts:
        if len(known) > 1:
            every = ",".join(f"{name}={counts[ONLY_CLASS]}" for name in known)
            raise CommandError(f"it has several classes; name those that change: --seats {every}")
        counts = {known[0]: counts[ONLY_CLASS]}
    for name in counts:
        if name not in known:
            raise CommandError(f'it has no seats of class "{name}", only of {", ".join(known)}')
    return tuple({**dict(seats), **counts}.items())


def count_keys(reservation: Reservation, seats: Seats, usual: Seats) -> dict[str, Any]:
    """Return the keys with which a line has these seats; None for keys that it must not have."""
    keys: dict[str, Any] = {**dict.fromkeys(one.field for one in Unit), "seats": None}
    field = reservation.holder.unit.field
    if dict(seats) != dict(usual):
        if reservation.seats_listed:
            keys["seats"] = [{"resourceClass": name, field: count} for name, count in seats]
        else:
            keys[field] = seats[0][1]
    return keys


def set_extra_seats(reservation: Reservation, extra: Any, seats: Seats, make: MakeNode) -> None:
    """Set the seats of an entry of `extra`; lines that say more than a count keep it."""
    field = reservation.holder.unit.field
    rows = extra.get("seats") or []
    if not any(row.keys() - {"resourceClass", field} for row in rows):
        set_keys(extra, count_keys(reservation, seats, reservation.seats), make)
        return
    counts = dict(seats)
    for row in rows:
        set_keys(row, {field: counts.pop(row["resourceClass"])}, make)
    for name, count in counts.items():
        rows.append(make({"resourceClass": name, field: count}))


def set_seats(reservation: Reservation, counts: Counts, tree: Any, make: MakeNode) -> None:
    """Set the counts of a reservation, or those of its groups by their names.

    Lines of its recurrence that have their own counts keep them. Raise CommandError if no date would change.
    """
    lines = reservation.recurrence.lines
    groups = {line.name for line in lines if line.name} - {*class_names(reservation)}
    if groups.issuperset(counts):
        for index, line in enumerate(lines):
            if line.name in counts:
                *_, name, place = entry_path(index, reservation.recurrence)
                written = tree["spec"]["recurrence"][name][place]
                seats = with_counts(line.seats, {ONLY_CLASS: counts[line.name]}, ())
                set_extra_seats(reservation, written, seats, make)
        return
    if lines and all(line.seats is not reservation.seats for line in lines):
        names = f", --seats {min(groups)}=NUMBER for a group" if groups else ""
        raise CommandError(
            f"each line of its schedule has seats of its own, so no date would change. Write --on DATE for "
            f"one date{names}, or 'recurrence.schedule[0].{reservation.holder.unit.field}=NUMBER' for a line"
        )
    seats = with_counts(reservation.seats, counts, ())
    written = tree["spec"]["provisioning"]
    rows = written["seats"] if reservation.seats_listed else [written]
    for row, (_, count) in zip(rows, seats, strict=True):
        set_keys(row, {reservation.holder.unit.field: count}, make)
