"""An API server that lists in pages and watches, in memory, with the manners of the real one.

`StubServer` puts it on a socket.
"""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.runtime.stub_server import Received, Reply, reply

Tree = dict[str, Any]
Interference = Callable[[Received], Reply | None]
"""Answers instead of the cluster, or lets the request pass."""

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


class Change(NamedTuple):
    version: int
    path: str  # of the collection; empty: of all, a bookmark
    type: str
    text: str  # of the object


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def status(code: int, reason: str, message: str = "no") -> Tree:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}


def refused(code: int, reason: str) -> Reply:
    return reply(code, json.dumps(status(code, reason)).encode())


class WatchedCluster:
    def __init__(self) -> None:
        self.asked: list[Received] = []
        self.interferences: list[Interference] = []
        self._changed = threading.Condition()
        self._version = 1000
        self._oldest = 1000  # watches from before are refused
        self._ending = 0  # counts the moments at which all watches were ended
        self._cut = b""  # the last bytes of every watch that ends
        self._objects: dict[str, dict[str, tuple[int, str, Tree]]] = {}
        self._changes: list[Change] = []

    def put(self, path: str, tree: Tree) -> None:
        """Creates or changes an object of the collection."""
        with self._changed:
            uid, known = tree["metadata"]["uid"], self._objects.setdefault(path, {})
            self._note(path, "MODIFIED" if uid in known else "ADDED", tree)
            known[uid] = (self._version, self._changes[-1].text, tree)

    def fill(self, path: str, trees: list[Tree]) -> None:
        """Before anybody watches."""
        for tree in trees:
            self._version += 1
            tree["metadata"]["resourceVersion"] = str(self._version)
            known = self._objects.setdefault(path, {})
            known[tree["metadata"]["uid"]] = (self._version, json.dumps(tree), tree)

    def delete(self, path: str, uid: str) -> None:
        with self._changed:
            self._note(path, "DELETED", self._objects[path].pop(uid)[2])

    def bookmark(self) -> None:
        with self._changed:
            self._note("", "BOOKMARK", {"kind": "Any", "metadata": {}})

    def tell(self, path: str, type_: str, text: str) -> None:
        """As an event, whatever it is."""
        with self._changed:
            self._version += 1
            self._changes.append(Change(self._version, path, type_, text))
            self._changed.notify_all()

    def expire(self) -> None:
        """Nobody can go on from a version of before now."""
        with self._changed:
            self._version += 1
            self._oldest = self._version

    def end_watches(self, cut: bytes = b"") -> None:
        """In good order, or with these bytes as the last before the connection breaks."""
        with self._changed:
            self._ending += 1
            self._cut = cut
            self._changed.notify_all()

    def answer(self, received: Received) -> Reply:
        self.asked.append(received)
        for interference in [*self.interferences]:
            found = interference(received)
            if found is not None:
                return found
        url = urlsplit(received.path)
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        if query.get("watch"):
            if int(query["resourceVersion"]) < self._oldest:
                return refused(410, "Expired")
            return Reply(HEAD, stream=self._watch(url.path, int(query["resourceVersion"]), self._ending))
        return self._list(url.path, int(query["limit"]), query.get("continue", ""))

    def _note(self, path: str, type_: str, tree: Tree) -> None:
        self._version += 1
        tree["metadata"]["resourceVersion"] = str(self._version)
        self._changes.append(Change(self._version, path, type_, json.dumps(tree)))
        self._changed.notify_all()

    def _list(self, path: str, limit: int, token: str) -> Reply:
        """A token says the version of the first page and how many objects have been told."""
        with self._changed:
            version, told = map(int, token.split("-")) if token else (self._version, 0)
            if version < self._oldest:
                return refused(410, "Expired")
            texts = [text for at, text, _ in self._objects.get(path, {}).values() if at <= version]
        metadata = {"resourceVersion": str(version)}
        if len(texts) > told + limit:
            metadata["continue"] = f"{version}-{told + limit}"
        items = ",".join(texts[told : told + limit])
        body = f'{{"kind": "SomeList", "items": {f"[{items}]" if texts else "null"}, '
        return reply(200, (body + f'"metadata": {json.dumps(metadata)}}}').encode())

    def _watch(self, path: str, version: int, ending: int) -> Iterator[bytes]:
        place = 0
        while True:
            with self._changed:
                while len(self._changes) == place and self._ending == ending:
                    self._changed.wait()
                found, place = self._changes[place:], len(self._changes)
                ends, cut = self._ending != ending, self._cut
            for change in found:
                if change.version > version and change.path in (path, ""):
                    yield chunk(f'{{"type": "{change.type}", "object": {change.text}}}\n'.encode())
            if ends and cut:
                yield cut
                raise ConnectionAbortedError("as the test wants it")
            if ends:
                yield chunk(b"")
                return
