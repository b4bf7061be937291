"""Listens to a watch of a collection of pods, over real sockets, and to nothing else."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from berth.core.jsonvalues import Tree, part
from berth.runtime.apiclient import Api, Connection
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.watch import Collection, Reader, Watched

from tests.runtime.stub_server import Received, Reply, StubServer
from tests.runtime.watched_cluster import WatchedCluster

PODS = "/api/v1/namespaces/hub/pods"
LONG_ENOUGH = 10.0


def pod(name: str, colour: str = "red", **more: Any) -> dict[str, Any]:
    return {"metadata": {"uid": name, "colour": colour}, **more}


class Colour(NamedTuple):
    """Reads what an object is to the test; nothing where it is of the color to ignore."""

    ignored: str = "grey"

    def read(self, tree: Tree) -> str | None:
        said = part(tree, "metadata").get("colour")
        return None if said == self.ignored else str(said)


class Heard:
    """What a watch has told, and what there is by it. Every watch is steady, unless it is told otherwise."""

    def __init__(self, cluster: WatchedCluster, steady_seconds: float = 0.0) -> None:
        self._steady_seconds = steady_seconds
        self.there: dict[str, object] = {}
        self._reader: Reader | None = None  # of what is there
        self.told: list[str] = []  # uids
        self.troubles: list[str] = []
        self.watched: list[Watched] = []  # one after the other
        self._cluster = cluster
        self._more = threading.Event()
        self._log = Log(self._write, lambda: 0.0, "course")

    def watch(self, server: StubServer, reader: Reader, page: int = 2) -> Watched:
        """Begin to watch, instead of the one before."""
        connection = Connection(
            lambda: HTTPConnection("127.0.0.1", server.port, timeout=LONG_ENOUGH), "", most=100_000
        )
        context = RuntimeContext(Api(connection), "berth", self._log, lambda: 0.0, lambda: 1.0)
        collection, steady = Collection(PODS, page=page), self._steady_seconds
        made = Watched(collection, reader, context, connection, self._more.set, steady)
        if self.watched:
            made.inherit(self.watched[-1])
        self.watched.append(made)
        made.start()
        return made

    @property
    def watches(self) -> int:
        """How many were begun."""
        return sum("watch=" in received.path for received in self._cluster.asked)

    @property
    def lists(self) -> int:
        """How many were asked for."""
        paths = [received.path for received in self._cluster.asked]
        return sum("limit=" in path and "continue=" not in path for path in paths)

    def until(self, reached: Callable[[], bool]) -> None:
        for _ in range(int(LONG_ENOUGH / 0.05)):
            self._take()
            if reached():
                return
            self._more.wait(0.05)
            self._more.clear()
        raise AssertionError((self.told, self.there, self.troubles))

    def until_told(self, uid: str) -> None:
        self.until(lambda: uid in self.told)

    def until_watching(self, times: int = 1) -> None:
        self.until(lambda: self.watches >= times)

    def _take(self) -> None:
        if news := self.watched[-1].take_news():
            before = self.there if news.reader == self._reader else {}
            self.told += [uid for uid in self.there if uid not in news.items]
            self.told += [uid for uid, item in news.items.items() if before.get(uid) != item]
            self.there, self._reader = news.items, news.reader

    def _write(self, line: str) -> None:
        data = json.loads(line)
        self.troubles.append(data.get("message", data["event"]))
        self._more.set()


@contextmanager
def watched(
    cluster: WatchedCluster, reader: Reader | None = None, page: int = 2, steady_seconds: float = 0.0
) -> Iterator[Heard]:
    reports = Heard(cluster, steady_seconds)
    with StubServer(cluster.answer) as server:
        made = reports.watch(server, reader or Colour(), page)
        yield reports
        made.stop()
        cluster.end_watches()


def queries(cluster: WatchedCluster) -> list[dict[str, str]]:
    asked = [parse_qs(urlsplit(received.path).query) for received in cluster.asked]
    return [{key: values[0] for key, values in one.items()} for one in asked]


def next_time(cluster: WatchedCluster, part: str, answer: Reply) -> None:
    """The next request with `part` in its path ends so."""

    def interfere(received: Received) -> Reply | None:
        if part not in received.path:
            return None
        cluster.interferences.remove(interfere)
        return answer

    cluster.interferences.append(interfere)
