"""The pod of an occurrence with everything around it made of values: clock, cluster, sessions, and log.

`World` runs its program as its container does; `Pod` lets a test take its steps one by one.
"""

import json
from collections.abc import Callable
from functools import partial
from itertools import count

from berth.core.labels import PLUGINS
from berth.core.timetable import Timetable, active_occurrences
from berth.plugins.rehearsals.rehearsalrecorder import RehearsalRecorder
from berth.runtime.apiclient import Api, Request, Response
from berth.runtime.leasekeeper import LeaseKeeper
from berth.runtime.occurrence import exit_code
from berth.runtime.program import Log, RuntimeContext, TimetableSource
from berth.runtime.recorder import Recorder
from berth.runtime.scaler import Scaler
from berth.runtime.sessionobserver import ObservedSessions, SessionObserver

from tests.runtime.fake_cluster import FakeCluster


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
        found = self.sessions.get(resource_class)
        if self.pending or found is None or self.timetable is None:
            return ObservedSessions(None, self.pending)
        open_now = [item.id for item in active_occurrences(self.timetable) if item.open <= now < item.end]
        counts = {name: found.get(name, 0) for name in open_now}
        return ObservedSessions(counts, False)

    def next_change(self, now: float) -> float | None:
        return self.change if self.change is not None and self.change > now else None


_NUMBERS = count(1)


def recorder_for(timetable: str | None) -> type[Recorder]:
    """Return the recorder that a pod has: only those that rehearse mount the plugin."""
    return RehearsalRecorder if '"rehearses"' in (timetable or "") else Recorder


class ScalerPod:
    """One scaler, its word to the main container, and what it logs."""

    def __init__(self, now: float, cluster: FakeCluster, observed: FakeObserved) -> None:
        self.now = now  # the true time, in which everything here is told
        self.ahead = 0.0  # by how much the wall clock that the run sees is ahead of it
        self.cluster = cluster
        self.observed = observed
        self.word = ""  # to the main container
        self.heard = self.time  # when it was last given
        self.log: list[dict[str, object]] = []
        self.plugins = frozenset(PLUGINS)
        self.name = f"pod-{next(_NUMBERS)}"

    @property
    def time(self) -> float:
        return self.now

    def clock(self) -> float:
        return self.time + self.ahead

    def send(self, request: Request) -> Response:
        """Send a request of the scaler to the cluster."""
        return self.cluster(request)

    def say(self, word: str) -> None:
        """Give the main container a word, as the file that the two share does."""
        self.word, self.heard = word, self.time

    def wait(self, seconds: float) -> None:
        """Let time pass where the program waits in the middle of a step."""
        self.now += seconds

    def make(self) -> Scaler:
        """Return the program of a container that starts anew."""
        log = Log(lambda line: self.log.append(json.loads(line)), self.clock, "course")
        api = Api(self.send)
        self.source = TimetableSource("course", lambda: api.get_timetable("berth", "course"), log)
        context = RuntimeContext(api, "berth", log, self.clock, lambda: 0.0, self.wait, self.plugins)
        recorder = recorder_for(self.cluster.timetable)(api, "berth", "course-record", log)
        keeper = partial(LeaseKeeper, api, context, self.name)
        return Scaler(self.source, context, self.observed, recorder, self.say, keeper)

    @property
    def is_left(self) -> int | None:
        """The code with which the main container exits now; None: it stays."""
        return exit_code(self.word, self.clock(), self.time - self.heard)
