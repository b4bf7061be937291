"""Texts of timetables, and the instants of one day in them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from berth.core.jsonvalues import instant_text, parse_instant

Tree = dict[str, Any]
Row = tuple[str, str, str, str, dict[str, int]]
"""An occurrence: id, then open, start and end as HH:MM, then its seats. That with the id of another one and
`/rehearsal` rehearses it.
"""
REHEARSED = "/rehearsal"


def at(clock: str) -> int:
    """HH:MM or HH:MM:SS of 2 February 2026, UTC."""
    return parse_instant(f"2026-02-02T{clock}:00Z" if len(clock) == 5 else f"2026-02-02T{clock}Z")


def clock(seconds: float) -> str:
    return instant_text(int(seconds))[11:19]


def timetable_text(
    *rows: Row, pools: dict[str, str] | None = None, suspend: bool = False, behaviour: str = "none"
) -> str:
    """`pools` gives the Deployment of each class."""
    known = {"small": "course-small"} if pools is None else pools
    found = {name: pool(deployment, behaviour) for name, deployment in known.items()}
    return whole_timetable_text("course", found, rows, suspend=suspend)


def pool(deployment: str, behaviour: str, sessions: Tree | None = None) -> Tree:
    """As a timetable has it."""
    return {"deployment": deployment, "behaviour": behaviour, "sessions": sessions}


def whole_timetable_text(
    reservation: str, pools: Mapping[str, Tree], rows: Iterable[Row], *, suspend: bool = False
) -> str:
    """`pools` by class; moments of the rows may be instants too."""
    tree = {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "Timetable",
        "version": 1,
        "site": "example",
        "reservation": reservation,
        "suspend": suspend,
        "settings": {"stabilizationSeconds": 30, "readyMinutes": 5},
        "pools": pools,
        "occurrences": [
            {
                "id": name,
                "open": instant_of(opens),
                "start": instant_of(start),
                "end": instant_of(end),
                "seats": seats,
                **(_rehearsing(name) if name.endswith(REHEARSED) else {}),
            }
            for name, opens, start, end, seats in rows
        ],
    }
    return json.dumps(tree)


def _rehearsing(name: str) -> Tree:
    return {"rehearses": name.removesuffix(REHEARSED), "behaviour": "none"}


def instant_of(said: str) -> str:
    """Of a clock of that day, or as it is."""
    return said if "T" in said else instant_text(at(said))


COURSE: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25})
NEXT: Row = ("course/2", "09:30", "10:00", "12:00", {"small": 25})


def renku_text(
    reservation: str, *rows: Row, course: dict[str, Any] | None = None, suspend: bool = False
) -> str:
    """A timetable whose classes `small` and `huge` have sessions of Renku."""
    sessions = {"source": "renku", "namespaces": ["renku"], "selector": {}, "earlier": "count"}
    pools = {
        name: pool(
            f"{reservation}-{name}", "maintain", {**sessions, "course": course or {}, "renkuId": number}
        )
        for name, number in (("small", 5), ("huge", 6))
    }
    return whole_timetable_text(reservation, pools, rows, suspend=suspend)


def config_map(name: str, text: object) -> dict[str, object]:
    """The ConfigMap of the timetable of the reservation `name`."""
    metadata = {"name": name, "uid": f"uid-{name}", "labels": {"berth.dev/reservation": name}}
    return {"metadata": metadata, "data": {"timetable.json": text}}
