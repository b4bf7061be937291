"""A cluster behind HTTP on the loopback, and the kubeconfig that leads to it."""

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from berth.runtime.apiclient import JSON, Request, Response

from tests.live.world import World
from tests.objectstore import good, refusal
from tests.runtime.stub_server import Received, Reply, StubServer, reply


class ApiServer(StubServer):
    """Answers what its world does. Who asks without the `token` (where there is one) is nobody; while it
    `hangs` it says nothing at all.
    """

    def __init__(self, world: World, token: str = "") -> None:
        super().__init__(self._reply)
        self.world, self.token = world, token
        self.hangs = False
        self.deep = b""  # in the metadata of all objects
        self.garbage = b""  # instead of any answer
        self.says: Mapping[str, Any] | None = None  # instead of any answer, as if all were well
        self._closing = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __exit__(self, *failure: object) -> None:
        self._closing.set()
        super().__exit__(*failure)

    def _reply(self, received: Received) -> Reply:
        answer = self._answer(received)
        body = (
            answer.body.replace(b'"metadata": {', b'"metadata": {"deep": ' + self.deep + b", ")
            if self.deep
            else answer.body
        )
        return reply(answer.status, body, "Content-Type: application/json")

    def _answer(self, received: Received) -> Response:
        if self.hangs:
            self._closing.wait()
        if self.says is not None:
            return good(dict(self.says))
        if self.garbage:
            return Response(502, self.garbage)
        headers = {name.lower(): value for name, value in received.headers.items()}
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return refusal(401, "Unauthorized", "Unauthorized")
        request = Request(
            received.method,
            received.path,
            received.body,
            headers.get("content-type", JSON),
            headers.get("accept", ""),
        )
        return self.world.respond(request)


def kubeconfig(file: Path, servers: Mapping[str, str], current: str = "", **user: Any) -> Path:
    """A context for each server, by name; all as one `user`."""
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in servers.items()],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in servers],
        "users": [{"name": "me", "user": user}],
        "current-context": current,
    }
    file.write_text(json.dumps(tree))
    return file
