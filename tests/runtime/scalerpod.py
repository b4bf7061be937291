"""The pod of an occurrence with everything around it made of values: clock, cluster, sessions, and log."""

import json
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, Protocol

from berth.core.labels import PLUGINS
from berth.core.target import pool_target
from berth.core.timetable import Timetable, active_occurrences, parse_timetable
from berth.plugins.rehearsals.rehearsalrecorder import RehearsalRecorder
from berth.runtime.apiclient import Api, Request, Response
from berth.runtime.leasekeeper import LeaseKeeper
from berth.runtime.occurrence import CLOSED, LATE_SECONDS, STUCK_SECONDS, exit_code
from berth.runtime.program import Log, RuntimeContext, timetable_source
from berth.runtime.recorder import Recorder
from berth.runtime.scaler import Scaler
from berth.runtime.sessionobserver import ObservedSessions, SessionObserver

from tests.runtime.fake_cluster import CONFIGMAPS, FakeCluster
from tests.runtime.timetables import at, clock

NEVER = float("inf")


class FakeObserved(SessionObserver):
    """Sees what the test says: sessions by class and occurrence; None: they cannot be read."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, int] | None] = {"small": {}}
        self.pending = False
        self.broken = False
        self.change: float | None = None
        self.timetable: Timetable | None = None
        self.waits: list[float] = []
        self.pass_time: Callable[[float], object] = lambda _: None

    def update(self, timetable: Timetable) -> None:
        self.timetable = timetable

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.pass_time(seconds)

    def seen(self, resource_class: str, now: float) -> ObservedSessions:
        if self.broken:
            raise RuntimeError("a bug of ours")
        sessions = self.sessions.get(resource_class)
        if self.pending or sessions is None or self.timetable is None:
            return ObservedSessions(None, self.pending)
        open_now = [item.id for item in active_occurrences(self.timetable) if item.open <= now < item.end]
        return ObservedSessions({name: sessions.get(name, 0) for name in open_now}, False)

    def next_change(self, now: float) -> float | None:
        return self.change if self.change is not None and self.change > now else None


class Beside(Protocol):
    """What a pod may share with others: the cluster and the clock."""

    now: float
    cluster: Any


class _Stopped(BaseException):
    """Ends the program: the main container has exited, or the test looks."""


_NUMBERS = count(1)


class ScalerPod:
    """One pod: its scaler, its word to the main container, and what it logs.

    Time passes in sleeps, and where the test or a request lets it pass. `pause` is called before and after
    whatever another program or person could do something in between.
    """

    def __init__(
        self,
        now: str,
        timetable: str | None,
        *,
        beside: Beside | None = None,
        reservation: str = "course",
        **replicas: int,
    ) -> None:
        """`replicas` by class; the Deployments are named `course-<class>`."""
        self.beside, self.reservation = beside, reservation
        self._now = float(at(now))  # the true time, in which everything here is told
        self.ahead = 0.0  # by how much the wall clock that the run sees is ahead of it
        pools = {f"course-{name}": number for name, number in replicas.items()}
        self.cluster: FakeCluster = beside.cluster if beside else FakeCluster(timetable, pools)
        self.observed = FakeObserved()
        self.observed.pass_time = self._sleep
        self.word, self.heard = "", self.now  # to the main container, and when it was last given
        self.silence: list[float] = []  # seconds between words
        self.is_full = False  # the folder that the two containers share
        self.hangs = False
        self.log: list[dict[str, object]] = []
        self.plugins = frozenset(PLUGINS)
        self.writes: list[tuple[str, str, int]] = []  # when, which pool, to what
        self.name = f"pod-{next(_NUMBERS)}"
        self.pause: Callable[[], object] = lambda: None
        self._planned: list[tuple[float, Callable[[], object]]] = []
        self._wakes, self._until = NEVER, NEVER
        if beside is None:
            self.cluster.watch = self.on_write
        self.scaler = self.make()

    @property
    def now(self) -> float:
        return self.beside.now if self.beside else self._now

    @now.setter
    def now(self, now: float) -> None:
        if self.beside:
            self.beside.now = now
        else:
            self._now = now

    def clock(self) -> float:
        return self.now + self.ahead

    def send(self, request: Request) -> Response:
        """Send a request of the scaler to the cluster."""
        self.pause()
        answer = self.cluster(request)
        self.pause()
        return answer

    def say(self, word: str) -> None:
        """Give the main container a word, as the file that the two share does."""
        self.pause()
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.silence.append(self.now - self.heard)
        self.word, self.heard = word, self.now

    def make(self) -> Scaler:
        """Return the program of a container that starts anew."""
        log = Log(lambda line: self.log.append(json.loads(line)), self.clock, self.reservation)
        api = Api(self.send)
        context = RuntimeContext(api, "berth", log, self.clock, lambda: 0.0, self.wait, self.plugins)
        self.source = timetable_source(self.reservation, self.reservation, context)
        tree = self.cluster.all_in(CONFIGMAPS).get(self.reservation, {})
        rehearses = '"rehearses"' in tree.get("data", {}).get("timetable.json", "")
        # Only pods that rehearse mount the plugin.
        recorder_type = RehearsalRecorder if rehearses else Recorder
        recorder = recorder_type(api, "berth", f"{self.reservation}-record", log)
        keeper = partial(LeaseKeeper, api, context, self.name)
        return Scaler(self.source, context, self.observed, recorder, self.say, keeper)

    def wait(self, seconds: float) -> None:
        """Let time pass where the program waits in the middle of a step."""
        self.pass_time(seconds)

    # What happens.

    def plan(self, when: str, *actions: Callable[[], object]) -> None:
        """They happen then, once, whatever the run does meanwhile."""
        self._planned += [(float(at(when)), action) for action in actions]
        self._planned.sort(key=lambda planned: planned[0])

    def wake_at(self, when: str, action: Callable[[], object]) -> None:
        """It happens then, and wakes the scaler as a session does."""
        self.plan(when, action, lambda: setattr(self, "_wakes", self.now))

    def interfere_at(self, when: str, part: str, outcome: Response | Exception | None) -> None:
        self.plan(when, lambda: self.cluster.interfere(part, outcome))

    def edit_at(self, when: str, text: str | None) -> None:
        self.plan(when, lambda: setattr(self.cluster, "timetable", text))

    def sessions(self, **classes: dict[str, int] | None) -> None:
        """The sessions of each class, by occurrence; None: they cannot be read."""
        self.observed.sessions = classes

    def arrive(self, number: int, occurrence: str = "course/1") -> None:
        """Sessions of class `small` come; fewer than none leave."""
        sessions = self.observed.sessions["small"]
        assert sessions is not None
        sessions[occurrence] = sessions.get(occurrence, 0) + number

    # The life of the pod.

    def run(self, until: str = "23:59") -> int | None:
        """Let a pod start and live; return the exit code of the main container, None while it lives."""
        self.word, self.heard = "", self.now
        self.scaler, self._wakes = self.make(), self.now
        return self.go_on(until)

    def restart_scaler(self) -> None:
        """Its container is started anew, beside the main container."""
        self.scaler, self._wakes, self.hangs = self.make(), self.now, False

    def go_on(self, until: str = "23:59") -> int | None:
        """Let the same pod live on."""
        self._until = float(at(until))
        try:
            self._doze()
            if self.scaler.exit_code is None:
                self._wakes = NEVER
                self.scaler.run(self._sleep)
            self._wakes = NEVER
            self._doze()
        except _Stopped:
            pass
        return self.is_left

    @property
    def is_left(self) -> int | None:
        """The code with which the main container exits now; None: it stays."""
        return exit_code(self.word, self.clock(), self.now - self.heard)

    def _leaves_at(self) -> float:
        """Return when the main container exits if the scaler says no more."""
        if self.word == CLOSED:
            return self.heard
        silent = self.heard + STUCK_SECONDS
        return (
            min(max(float(self.word) - self.ahead, self.heard + LATE_SECONDS), silent)
            if self.word.isdigit()
            else silent
        )

    def _sleep(self, seconds: float) -> None:
        self._wakes = self.now + seconds
        self._doze()
        self._wakes = NEVER

    def _doze(self) -> None:
        """Let time pass until the scaler wakes."""
        while self._wakes > self.now or self.hangs:
            wakes = NEVER if self.hangs else self._wakes
            self.pass_time(max(min(wakes, self._leaves_at(), self._until) - self.now, 0.0))
            if self.is_left is not None or self.now >= self._until:
                raise _Stopped

    def pass_time(self, seconds: float) -> None:
        """Let what is planned happen; something that wakes the scaler ends it."""
        goal = self.now + seconds
        while self._planned and self._planned[0][0] <= goal:
            self.now, action = self._planned.pop(0)
            action()
            if self._wakes <= self.now:
                return
        self.now = goal

    # What came of it.

    @property
    def sleeps(self) -> list[float]:
        return self.observed.waits

    @property
    def replicas(self) -> int:
        return self.cluster.scales["course-small"]

    @property
    def seats(self) -> list[tuple[str, int]]:
        """What was written to any pool, and when."""
        return [(when, replicas) for when, _, replicas in self.writes]

    def told(self, event: str) -> list[dict[str, object]]:
        """The lines of one event, without what all lines have but the time of day."""
        common = ("level", "event", "reservation")
        return [
            {
                key: str(value)[11:19] if key == "time" else value
                for key, value in line.items()
                if key not in common
            }
            for line in self.log
            if line["event"] == event
        ]

    def wished(self) -> int:
        """Return what is right for the only class by all that is true now."""
        assert self.cluster.timetable is not None
        timetable = parse_timetable(self.cluster.timetable)
        self.observed.update(timetable)
        (pool,) = timetable.pools
        counts = self.observed.seen(pool.resource_class, self.now).counts
        return pool_target(timetable, pool, int(self.now), counts).replicas

    def on_write(self, name: str, replicas: int) -> None:
        self.writes.append((clock(self.now), name.removeprefix("course-"), replicas))
