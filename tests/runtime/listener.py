"""Listens to a watch of a collection of pods, over real sockets, and to nothing else."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import Connection
from berth.runtime.watch import (
    Changed,
    Collection,
    Connected,
    Listed,
    Message,
    Recovered,
    Watcher,
    WatchFailed,
    object_at,
)

from tests.runtime.stub_server import Received, Reply, StubServer
from tests.runtime.watched_cluster import WatchedCluster

PODS = "/api/v1/namespaces/hub/pods"
LONG_ENOUGH = 10.0


def pod(name: str, colour: str = "red", **more: Any) -> dict[str, Any]:
    return {"metadata": {"uid": name, "colour": colour}, **more}


def colour(tree: Tree) -> str | None:
    """What an object is to the test; nothing where it is grey."""
    said = object_at(tree, "metadata").get("colour")
    return None if said == "grey" else str(said)


class Heard:
    """What a watch has told, and what there is by it."""

    def __init__(self) -> None:
        self.there: dict[str, str] = {}
        self.told: list[str] = []
        self._more = threading.Condition()

    def tell(self, _watcher: Watcher[str], message: Message[str]) -> None:
        with self._more:
            if isinstance(message, Listed):
                self.there = dict(message.items)
                self.told.append("listed")
            elif isinstance(message, Changed):
                self.told.append(message.uid)
                if message.item is None:
                    del self.there[message.uid]
                else:
                    self.there[message.uid] = message.item
            elif isinstance(message, WatchFailed):
                self.told.append(f"{getattr(message.error, 'status', '')} {message.error}"[:60])
            else:
                self.told.append({Connected: "live", Recovered: "proved"}[type(message)])
            self._more.notify_all()

    def until(self, reached: Callable[[], bool]) -> None:
        with self._more:
            assert self._more.wait_for(reached, LONG_ENOUGH), (self.told, self.there)

    def until_told(self, what: str, times: int = 1) -> None:
        self.until(lambda: self.told.count(what) >= times)


@contextmanager
def watched(cluster: WatchedCluster, page: int = 2) -> Iterator[Heard]:
    reports = Heard()
    with StubServer(cluster.answer) as server:
        connection = Connection(
            lambda: HTTPConnection("127.0.0.1", server.port, timeout=LONG_ENOUGH), "", most=100_000
        )
        watcher = Watcher(Collection(PODS, page=page), colour, connection, reports.tell, lambda: 1.0)
        watcher.start()
        yield reports
        watcher.stop()
        cluster.end_watches()
        watcher.join(LONG_ENOUGH)


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
