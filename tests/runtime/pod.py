"""The pod of an occurrence made of values: both programs, what they share, and the sessions that one sees."""

import json
from collections.abc import Callable
from typing import NamedTuple

from berth.core.decisions import pool_target
from berth.core.instants import instant_text
from berth.core.timetable import Timetable, active_occurrences, parse_timetable
from berth.runtime.apiclient import SCALER_FIELD_MANAGER, Api, Request, Response
from berth.runtime.occurrence import MainShare, OccurrenceRun
from berth.runtime.program import Log, RuntimeContext, TimetableSource
from berth.runtime.recorder import Recorder
from berth.runtime.scaler import Scaler
from berth.runtime.scaler import ScalerShare as ScalerFolder

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.world import at


class FakeSeen(NamedTuple):
    counts: dict[str, int] | None
    pending: bool


class FakeObserved:
    """Sees what the test says: sessions by class and occurrence; None: they cannot be read."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, int] | None] = {"small": {}}
        self.pending = False
        self.broken = False
        self.change: float | None = None
        self.timetable: Timetable | None = None
        self.waits: list[float] = []

    def update(self, timetable: Timetable) -> None:
        self.timetable = timetable

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def seen(self, resource_class: str, now: float) -> FakeSeen:
        if self.broken:
            raise RuntimeError("a bug of ours")
        found = self.sessions.get(resource_class)
        if self.pending or found is None or self.timetable is None:
            return FakeSeen(None, self.pending)
        open_now = [item.id for item in active_occurrences(self.timetable) if item.open <= now < item.end]
        return FakeSeen({name: found.get(name, 0) for name in open_now}, False)

    def next_change(self, now: float) -> float | None:
        return self.change if self.change is not None and self.change > now else None


class Write(NamedTuple):
    at: str
    who: str
    replicas: int


class Pod:
    """Of a reservation with one class. `pause` is called before and after whatever another program or person
    could do something in between.
    """

    def __init__(self, now: str, timetable: str, replicas: int = 0, beside: "Pod | None" = None) -> None:
        """`beside` is another pod in the same cluster, which has the clock too."""
        self.now = float(at(now))
        self.beside = beside
        self.cluster: FakeCluster = (
            beside.cluster if beside else FakeCluster(timetable, {"course-small": replicas})
        )
        self.observed: FakeObserved = beside.observed if beside else FakeObserved()
        if beside is None:
            self.cluster.watch = self.on_write
        self.files: dict[str, str] = {}
        self.is_full = False  # the folder that the two share
        self.copy = timetable
        self.writes: list[Write] = []
        self.log: list[dict[str, object]] = []
        self.pause: Callable[[], object] = lambda: None
        self.main_source, self.main = self._make_main()
        self.scaler_source, self.scaler = self.make_scaler()

    @property
    def replicas(self) -> int:
        return self.cluster.scales["course-small"][0]

    def arrive(self, number: int, occurrence: str = "course/1") -> None:
        """Or leave."""
        sessions = self.observed.sessions["small"]
        assert sessions is not None
        sessions[occurrence] = sessions.get(occurrence, 0) + number

    def wished(self) -> int:
        """By all that is true now."""
        return self.wished_of_all()["course-small"]

    def wished_of_all(self) -> dict[str, int]:
        """By Deployment."""
        assert self.cluster.timetable is not None
        timetable = parse_timetable(self.cluster.timetable)
        self.observed.update(timetable)
        wanted = {}
        for pool in timetable.pools:
            counts = self.observed.seen(pool.resource_class, self.now).counts
            wanted[pool.deployment] = pool_target(timetable, pool, int(self.now), counts).replicas
        return wanted

    def _make_main(self) -> tuple[TimetableSource, OccurrenceRun]:
        context, source = self._context("occurrence", "berth-occurrence")
        recorder = Recorder(Api(self._transport), "berth", "course-record", context.log)
        folder = MainShare(lambda: self._read("counts"), lambda text: self._replace("main", text))
        return source, OccurrenceRun(source, context, folder, recorder)

    def make_scaler(self) -> tuple[TimetableSource, Scaler]:
        """As its container starts anew."""
        context, source = self._context("scaler", SCALER_FIELD_MANAGER)
        folder = ScalerFolder(
            lambda: self._read("main"),
            lambda: self._read("counts"),
            lambda text: self._replace("counts", text),
            lambda text: self._replace("scaler", text),
        )
        return source, Scaler(source, context, folder, self.observed)

    def _context(self, who: str, field_manager: str) -> tuple[RuntimeContext, TimetableSource]:
        log = Log(lambda line: self.log.append(json.loads(line) | {"program": who}), self._clock, "course")
        api = Api(self._transport, field_manager)
        source = TimetableSource(
            "course", lambda: api.get_timetable("berth", "course"), lambda: self.copy, log
        )
        return RuntimeContext(api, "berth", log, self._clock, lambda: 0.0, who), source

    def _clock(self) -> float:
        return self.beside.now if self.beside else self.now

    def _transport(self, request: Request) -> Response:
        self.pause()
        answer = self.cluster(request)
        self.pause()
        return answer

    def _read(self, name: str) -> str:
        self.pause()
        return self.files.get(name, "")

    def _replace(self, name: str, text: str) -> None:
        self.pause()
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.files[name] = text

    def on_write(self, _name: str, replicas: int) -> None:
        when = instant_text(int(self.now))[11:19]
        self.writes.append(Write(when, self.cluster.writers[-1], replicas))


class Story:
    """Lets the programs of a pod live, each as often as it wants to. Whoever is not `running` hangs."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.running = {"occurrence", "scaler"}
        self.wakes = {"scaler": pod.now, "occurrence": pod.now + 0.01}
        self._planned: list[tuple[float, int, Callable[[], object]]] = []

    def plan(self, when: str, action: Callable[[], object]) -> None:
        """`action` happens then, and wakes the scaler as a session would."""
        self._planned.append((float(at(when)), len(self._planned), action))
        self._planned.sort()

    def run(self, until: str) -> None:
        pod, end = self.pod, float(at(until))
        while pod.now < end and pod.main.exit_code is None:
            due = {self.wakes[name]: name for name in sorted(self.running)}
            soonest = min(due, default=end)
            if self._planned and self._planned[0][0] <= soonest:
                pod.now, _, action = self._planned.pop(0)
                action()
                self.wakes["scaler"] = pod.now
                continue
            pod.now = max(pod.now, min(soonest, end))
            if pod.now < end:
                self._let(due[soonest])

    def _let(self, name: str) -> None:
        try:
            seconds = self.pod.main.tick() if name == "occurrence" else self.pod.scaler.step()
        except Exception:  # as the loops of both do
            seconds = 5.0
        self.wakes[name] = self.pod.now + max(seconds, 0.001)

    def restart_scaler(self) -> None:
        self.pod.scaler_source, self.pod.scaler = self.pod.make_scaler()
        self.running.add("scaler")
        self.wakes["scaler"] = self.pod.now


def short(pod: Pod) -> list[tuple[str, int]]:
    """What was written, by whomever."""
    return [(write.at, write.replicas) for write in pod.writes]
