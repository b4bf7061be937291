"""Timetables as text and as ConfigMaps."""

from typing import Any

from tests.runtime.world import Row, pool, whole_timetable_text


def text(reservation: str, *rows: Row, course: dict[str, Any] | None = None, suspend: bool = False) -> str:
    sessions = {
        "source": "renku",
        "namespaces": ["renku"],
        "selector": {},
        "earlier": "count",
        "course": course or {},
    }
    pools = {
        name: pool(f"{reservation}-{name}", "maintain", {**sessions, "renkuId": number})
        for name, number in (("small", 5), ("huge", 6))
    }
    return whole_timetable_text(reservation, pools, rows, suspend=suspend)


def config_map(name: str, said: object) -> dict[str, object]:
    """The ConfigMap of the timetable of the reservation `name`."""
    metadata = {"name": name, "uid": f"uid-{name}", "labels": {"berth.dev/reservation": name}}
    return {"metadata": metadata, "data": {"timetable.json": said}}
