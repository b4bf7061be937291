"""Timetables and sessions at an API server that is watched."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

from berth.core.jsonvalues import instant_text
from berth.core.timetable import Timetable, parse_timetable
from berth.runtime.apiclient import Api, Connection
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.sessionobserver import ObservedSessions, SessionObserver
from berth.runtime.watch import Watches

from tests.runtime.stub_server import StubServer
from tests.runtime.timetables import Row, at, config_map
from tests.runtime.timetables import renku_text as text
from tests.runtime.watched_cluster import WatchedCluster

SESSIONS = "/apis/amalthea.dev/v1alpha1/namespaces/renku/amaltheasessions"
TIMETABLES = "/api/v1/namespaces/berth/configmaps"
DS: Row = ("ds/1", "07:30", "08:00", "10:00", {"small": 2, "huge": 1})
ML: Row = ("ml/1", "07:30", "08:00", "11:00", {"small": 3})
STEP, LONG_ENOUGH = 0.2, 20.0


def session(
    name: str, labels: dict[str, str] | None = None, renku_id: int = 5, **annotations: str
) -> dict[str, Any]:
    known = {"renku.io/resource_class_id": str(renku_id)}
    known |= {f"renku.io/{key}": value for key, value in annotations.items()}
    created = instant_text(at("07:00"))
    return {
        "metadata": {"uid": name, "creationTimestamp": created, "annotations": known, "labels": labels or {}}
    }


def timetable(*rows: Row, **more: Any) -> Timetable:
    """Ours. The sessions of both of its classes are in one collection; `huge` is not counted."""
    made = parse_timetable(text("ds", *rows, **more))
    small, huge = made.pools
    return made._replace(pools=(small, huge._replace(behavior="none")))


class Scene:
    """A cluster, and what is seen of it. Time is what `now` says."""

    def __init__(self, cluster: WatchedCluster, server: StubServer) -> None:
        self.cluster = cluster
        self.now = float(at("08:00"))
        self.log: list[dict[str, Any]] = []
        log = Log(lambda line: self.log.append(json.loads(line)), lambda: self.now, "ds")

        def connect() -> Connection:
            return Connection(lambda: HTTPConnection("127.0.0.1", server.port, timeout=LONG_ENOUGH), "")

        context = RuntimeContext(Api(connect()), "berth", log, lambda: self.now, lambda: 1.0)
        self.observed = SessionObserver(context, connect)
        self.observed._watches = Watches(context, connect, steady_seconds=0.0)

    def close(self) -> None:
        """Stop all watches."""
        self.observed._watches.arrange({})

    def seen(self) -> ObservedSessions:
        return self.observed.seen("small", self.now)

    def until(self, reached: Callable[[ObservedSessions], bool]) -> ObservedSessions:
        for _ in range(int(LONG_ENOUGH / STEP)):
            seen = self.seen()
            if reached(seen):
                return seen
            self.observed.wait(STEP)
        raise AssertionError((self.seen(), self.log))

    def until_counts(self, **counts: int) -> None:
        wanted = {f"{name}/1": number for name, number in counts.items()}
        self.until(lambda seen: seen.counts == wanted)

    def told(self, event: str) -> list[tuple[str, str]]:
        return [(line["subject"], line.get("reason", "")) for line in self.log if line["event"] == event]


@contextmanager
def watching(cluster: WatchedCluster, own: Timetable | None = None, hours_before: int = 0) -> Iterator[Scene]:
    with StubServer(cluster.answer) as server:
        scene = Scene(cluster, server)
        scene.now -= 3600 * hours_before
        scene.observed.update(own or timetable(DS))
        try:
            yield scene
        finally:
            cluster.interferences.clear()
            scene.close()
            cluster.end_watches()


def with_created(tree: dict[str, Any]) -> dict[str, Any]:
    tree["metadata"]["creationTimestamp"] = instant_text(at("06:00"))
    return tree


def put_rival(cluster: WatchedCluster, said: str, name: str = "ml") -> None:
    cluster.put(TIMETABLES, with_created(config_map(name, said)))
