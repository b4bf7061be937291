"""Timetables, and a run of a reservation as its container runs it."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from berth.core.jsonvalues import instant_text, parse_instant
from berth.runtime.apiclient import Response

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.scalerpod import FakeObserved, ScalerPod

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
    reservation: str,
    pools: Mapping[str, Tree],
    rows: Iterable[Row],
    *,
    suspend: bool = False,
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
                "open": _instant(opens),
                "start": _instant(start),
                "end": _instant(end),
                "seats": seats,
                **(_rehearsing(name) if name.endswith(REHEARSED) else {}),
            }
            for name, opens, start, end, seats in rows
        ],
    }
    return json.dumps(tree)


def _rehearsing(name: str) -> Tree:
    return {"rehearses": name.removesuffix(REHEARSED), "behaviour": "none"}


def _instant(said: str) -> str:
    return said if "T" in said else instant_text(at(said))


COURSE: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25})
NEXT: Row = ("course/2", "09:30", "10:00", "12:00", {"small": 25})


class _StillGoing(BaseException):
    """The run has not ended by the time that the test looks at it."""


class _Left(BaseException):
    """The main container has exited, and with it the pod has ended."""


class World(ScalerPod):
    """Time passes only in sleeps and where an action of the test lets it pass."""

    def __init__(self, now: str, timetable: str | None, **replicas: int) -> None:
        """`replicas` by class; the Deployments are named `course-<class>`."""
        cluster = FakeCluster(timetable, {f"course-{name}": count for name, count in replicas.items()})
        super().__init__(float(at(now)), cluster, FakeObserved())
        self.cluster.watch = self._on_write
        self.writes: list[tuple[str, str, int]] = []  # when, which pool, to what
        self.observed.pass_time = self._sleep
        self.silence: list[float] = []  # seconds between words
        self._planned: list[tuple[float, Callable[[], object]]] = []
        self._until = float(at("23:59"))

    def plan(self, when: str, *actions: Callable[[], object]) -> None:
        """They happen then, once, whatever the run does meanwhile."""
        self._planned += [(float(at(when)), action) for action in actions]
        self._planned.sort(key=lambda planned: planned[0])

    def interfere_at(self, when: str, part: str, outcome: Response | Exception | None) -> None:
        self.plan(when, lambda: self.cluster.interfere(part, outcome))

    def sessions(self, **classes: dict[str, int] | None) -> None:
        """The sessions of each class, by occurrence; None: they cannot be read."""
        self.observed.sessions = classes

    @property
    def sleeps(self) -> list[float]:
        return self.observed.waits

    def pass_time(self, seconds: float) -> None:
        goal = self.now + seconds
        while self._planned and self._planned[0][0] <= goal:
            self.now, action = self._planned.pop(0)
            action()
        self.now = goal

    def run(self, until: str = "23:59") -> int | None:
        """The exit code of the main container, or None if the run still goes on then."""
        self._until = float(at(until))
        self.program = self.make()
        self.word, self.heard = "", self.now
        try:
            self.program.run(self._sleep)
        except _StillGoing:
            return None
        except _Left:
            pass
        return self.is_left

    def wait(self, seconds: float) -> None:
        self.pass_time(seconds)

    def say(self, word: str) -> None:
        self.silence.append(self.now - self.heard)
        super().say(word)

    def told(self, event: str) -> list[dict[str, object]]:
        """The lines of one event, without what all lines have but the time of day."""
        common = ("level", "event", "reservation")
        lines = [line for line in self.log if line["event"] == event]
        return [
            {
                key: str(value)[11:19] if key == "time" else value
                for key, value in line.items()
                if key not in common
            }
            for line in lines
        ]

    def _on_write(self, name: str, replicas: int) -> None:
        self.writes.append((clock(self.now), name.removeprefix("course-"), replicas))

    def _sleep(self, seconds: float) -> None:
        self.pass_time(seconds)
        if self.is_left is not None:
            raise _Left
        if self.now >= self._until:
            raise _StillGoing
