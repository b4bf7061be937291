"""An API server in memory that is watched: it lists at one version, and tells changes in streams.

`StubServer` puts it on a socket.
"""

import json
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.objectstore import ObjectStore, Tree, status_tree, target
from tests.runtime.stub_server import Received, Reply, reply

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


def refused(code: int, reason: str) -> Reply:
    return reply(code, json.dumps(status_tree(code, reason)).encode())


def _text(tree: Tree) -> str:
    """Write an object, the word DEEP in it as what nests deeper than can be read."""
    return json.dumps(tree).replace('"DEEP"', "[" * 200_000 + "]" * 200_000)


def _row(tree: Tree) -> str:
    return json.dumps({"cells": [tree["metadata"]["uid"], 1, "5d"]})


class WatchedCluster(ObjectStore):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Received] = []
        self.interferences: list[Interference] = []
        self._changed = threading.Condition()
        self._oldest = self.version  # watches from before are refused
        self._ending = 0  # counts the moments at which all watches were ended
        self._cut = b""  # the last bytes of every watch that ends
        self._changes: list[Change] = []

    def put(self, collection: str, tree: Tree) -> None:
        """Create or change an object, which whoever watches is told."""
        with self._changed:
            before = len(self.all_in(collection))
            super().put(collection, tree)
            type_ = "ADDED" if len(self.all_in(collection)) > before else "MODIFIED"
            self._note(collection, type_, tree)

    def fill(self, collection: str, trees: list[Tree]) -> None:
        """Create objects before anybody watches."""
        for tree in trees:
            super().put(collection, tree)

    def withdraw(self, collection: str, uid: str) -> None:
        """Delete an object, which whoever watches is told."""
        with self._changed:
            objects = self.all_in(collection)
            (name,) = [name for name, tree in objects.items() if tree["metadata"]["uid"] == uid]
            tree = objects.pop(name)
            self.version += 1
            tree["metadata"]["resourceVersion"] = str(self.version)
            self._note(collection, "DELETED", tree)

    def bookmark(self) -> None:
        with self._changed:
            self.version += 1
            metadata = {"resourceVersion": str(self.version)}
            self._note("", "BOOKMARK", {"kind": "Any", "metadata": metadata})

    def tell(self, path: str, type_: str, text: str) -> None:
        """As an event, whatever it is."""
        with self._changed:
            self.version += 1
            self._changes.append(Change(self.version, path, type_, text))
            self._changed.notify_all()

    def expire(self) -> None:
        """Nobody can go on from a version of before now."""
        with self._changed:
            self.version += 1
            self._oldest = self.version

    def end_watches(self, cut: bytes = b"") -> None:
        """In good order, or with these bytes as the last before the connection breaks."""
        with self._changed:
            self._ending += 1
            self._cut = cut
            self._changed.notify_all()

    def answer(self, received: Received) -> Reply:
        self.asked.append(received)
        for interference in [*self.interferences]:
            response = interference(received)
            if response is not None:
                return response
        path, _, _, query = target(received.path)
        if query.get("watch"):
            version = int(query["resourceVersion"])
            if version < self._oldest:
                return refused(410, "Expired")
            return Reply(HEAD, stream=self._stream(path, version, self._ending))
        names_only = query.get("includeObject") == "None"
        return self._page(path, int(query["limit"]), query.get("continue", ""), names_only=names_only)

    def _note(self, path: str, type_: str, tree: Tree) -> None:
        self._changes.append(Change(self.version, path, type_, _text(tree)))
        self._changed.notify_all()

    def _page(self, path: str, limit: int, token: str, *, names_only: bool) -> Reply:
        """A token says the version of the first page and how many objects have been told."""
        with self._changed:
            version, told = map(int, token.split("-")) if token else (self.version, 0)
            if version < self._oldest:
                return refused(410, "Expired")
            trees = [
                tree
                for tree in self.all_in(path).values()
                if int(tree["metadata"]["resourceVersion"]) <= version
            ]
            chosen = trees[told : told + limit]
            texts = list(map(_row if names_only else _text, chosen))
        metadata = {"resourceVersion": str(version)}
        if len(trees) > told + limit:
            metadata["continue"] = f"{version}-{told + limit}"
        items = ",".join(texts)
        what = '"kind": "Table", "rows"' if names_only else '"kind": "SomeList", "items"'
        body = f"{{{what}: {f'[{items}]' if trees else 'null'}, "
        return reply(200, (body + f'"metadata": {json.dumps(metadata)}}}').encode())

    def _stream(self, path: str, version: int, ending: int) -> Iterator[bytes]:
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
