"""The pod of an occurrence whose steps a test takes one by one, and its life."""

from collections.abc import Callable
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.apiclient import Request, Response
from berth.runtime.occurrence import CLOSED, LATE_SECONDS, STUCK_SECONDS

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.scalerpod import FakeObserved, ScalerPod
from tests.runtime.world import at


class Write(NamedTuple):
    at: str
    who: str
    replicas: int


class Pod(ScalerPod):
    """Of a reservation with one class. `pause` is called before and after whatever another program or person
    could do something in between.
    """

    def __init__(self, now: str, timetable: str, replicas: int = 0, beside: "Pod | None" = None) -> None:
        """`beside` is another pod in the same cluster, which has the clock too."""
        self.beside = beside
        cluster = beside.cluster if beside else FakeCluster(timetable, {"course-small": replicas})
        super().__init__(float(at(now)), cluster, beside.observed if beside else FakeObserved())
        if beside is None:
            self.cluster.watch = self.on_write
        self.is_full = False  # the folder that the two share
        self.writes: list[Write] = []
        self.pause: Callable[[], object] = lambda: None
        self.scaler = self.make()

    @property
    def time(self) -> float:
        return self.beside.now if self.beside else self.now

    @property
    def replicas(self) -> int:
        return self.cluster.scales["course-small"]

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

    def send(self, request: Request) -> Response:
        self.pause()
        answer = super().send(request)
        self.pause()
        return answer

    def say(self, word: str) -> None:
        self.pause()
        if self.is_full:
            raise OSError(28, "No space left on device")
        super().say(word)

    def leaves_at(self) -> float:
        """When the main container exits if the scaler says no more."""
        if self.word == CLOSED:
            return self.heard
        late = max(float(self.word), self.heard + LATE_SECONDS) if self.word else self.heard + STUCK_SECONDS
        return min(late, self.heard + STUCK_SECONDS)

    def on_write(self, _name: str, replicas: int) -> None:
        when = instant_text(int(self.now))[11:19]
        self.writes.append(Write(when, self.cluster.writers[-1], replicas))


class Story:
    """Lets the scaler live, as often as it wants to, unless it hangs, and for as long as the main container
    does.
    """

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.hangs = False
        self.wakes = pod.now
        self.exit_code: int | None = None  # of the main container
        self._planned: list[tuple[float, int, Callable[[], object]]] = []

    def plan(self, when: str, action: Callable[[], object]) -> None:
        """`action` happens then, and wakes the scaler as a session would."""
        self._planned.append((float(at(when)), len(self._planned), action))
        self._planned.sort()

    def run(self, until: str) -> None:
        pod, end = self.pod, float(at(until))
        while pod.now < end and self.exit_code is None:
            is_silent = self.hangs or pod.scaler.exit_code is not None
            soonest = end if is_silent else self.wakes
            soonest = min(soonest, pod.leaves_at())
            if self._planned and self._planned[0][0] <= soonest:
                pod.now, _, action = self._planned.pop(0)
                action()
                self.wakes = pod.now
                continue
            pod.now = max(pod.now, min(soonest, end))
            self.exit_code = pod.is_left
            if pod.now < end and not is_silent and self.exit_code is None:
                self._step()

    def _step(self) -> None:
        try:
            seconds = self.pod.scaler.step()
        except Exception:  # as its loop does
            seconds = 5.0
        self.wakes = self.pod.now + max(seconds, 0.001)

    def restart_pod(self) -> None:
        """The Job starts another pod."""
        self.pod.word, self.pod.heard, self.exit_code = "", self.pod.now, None
        self.restart_scaler()

    def restart_scaler(self) -> None:
        self.pod.scaler = self.pod.make()
        self.hangs = False
        self.wakes = self.pod.now


def short(pod: Pod) -> list[tuple[str, int]]:
    """What was written, by whomever."""
    return [(write.at, write.replicas) for write in pod.writes]
