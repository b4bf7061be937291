"""The cases of tests/cases/touching.yaml as timetables and sessions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from berth.core.sessions import Session
from berth.core.timetable import Timetable, parse_timetable
from berth.simulation import SessionChange

from tests.cases import Case, read
from tests.runtime.timetables import at, clock, whole_timetable_text

CASES = read("touching")


class Scene(NamedTuple):
    timetable_text: str
    changes: tuple[SessionChange, ...] | None  # None: sessions are unknown
    targets: dict[str, int]
    promised: dict[str, int]

    @property
    def timetable(self) -> Timetable:
        return parse_timetable(self.timetable_text)

    def sessions(self, now: int) -> list[Session]:
        """Those that are there at an instant."""
        sessions: list[Session] = []
        for change in self.changes or ():
            if change.at <= now:
                count = len(sessions)
                sessions += [
                    Session(f"{change.at}-{count + n}", "a", change.at) for n in range(change.number)
                ]
                del sessions[: max(-change.number, 0)]
        return sessions


def scene(case: Case) -> Scene:
    sessions = {
        "source": "pods",
        "namespaces": ["a"],
        "selector": {},
        "earlier": case.get("earlier", "count"),
        "handoverSeconds": 60 * int(case.get("handover", 15)),
    }
    sessions |= {"carryOver": True} if "carryOver" in case else {}
    pool = {"deployment": "course-small", "behaviour": case.get("behavior", "maintain"), "sessions": sessions}
    pool |= {"overlap": case["overlap"]} if "overlap" in case else {}
    changes = tuple(_changes(case["sessions"])) if "sessions" in case else None
    return Scene(
        whole_timetable_text("course", {"small": pool}, _rows(case)),
        changes,
        {moment: int(count) for moment, count in case["targets"].items()},
        {moment: int(count) for moment, count in case.get("promised", {}).items()},
    )


def _rows(case: Case) -> Iterator[tuple[str, str, str, str, dict[str, int]]]:
    for window in case["windows"]:
        hours, seats, *lead = window.split()
        start, _, end = hours.partition("-")
        opens = at(start) - 60 * int(*(lead or ["30"]))
        yield f"course/{start}", clock(opens)[:5], start, end, {"small": int(seats)}


def _changes(text: str) -> Iterator[SessionChange]:
    for change in text.split(","):
        (found,) = re.findall(r"^(\d\d:\d\d)([+-]\d+)$", change)
        yield SessionChange(at(found[0]), int(found[1]))
