"""A cluster behind HTTP on the loopback, and the kubeconfig that leads to it."""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.live.world import ConflictError, RefusedError, World


class ApiServer(ThreadingHTTPServer):
    """Answers what its world does. Who asks without the `token` (where there is one) is nobody; while it
    `hangs` it says nothing at all.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, world: World, token: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.world, self.token = world, token
        self.hangs = False
        self.garbage = b""  # instead of any answer
        self.says: Mapping[str, Any] | None = None  # instead of any answer, as if all were well
        self.closing = Event()
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one packet: TCP would keep a second one back
    server: ApiServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        if self._is_welcome():
            try:
                self._answer(200, self.server.world.ask(parts.path, query, self.headers["Accept"]))
            except RefusedError as error:
                self._refuse(403, "Forbidden", str(error))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._is_welcome():
            parts = urlsplit(self.path)
            try:
                self._answer(201, self.server.world.create(body, dict(parse_qsl(parts.query))))
            except RefusedError as error:
                self._refuse(403, "Forbidden", str(error))
            except ConflictError as error:
                self._refuse(409, "AlreadyExists", str(error))

    def do_DELETE(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self._is_welcome():
            try:
                self._answer(200, self.server.world.delete(urlsplit(self.path).path))
            except RefusedError as error:
                self._refuse(403, "Forbidden", str(error))
            except LookupError:
                self._refuse(404, "NotFound", f"{self.path} not found")

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._is_welcome():
            parts = urlsplit(self.path)
            try:
                self._answer(200, self.server.world.patch(parts.path, body, dict(parse_qsl(parts.query))))
            except ConflictError as error:
                self._refuse(409, "Conflict", str(error))
            except LookupError:
                self._refuse(404, "NotFound", f"{parts.path} not found")

    def _is_welcome(self) -> bool:
        if self.server.hangs:
            self.server.closing.wait()
        elif self.server.says is not None:
            self._answer(200, self.server.says)
        elif self.server.garbage:
            self._send(502, self.server.garbage)
        elif self.server.token and self.headers["Authorization"] != f"Bearer {self.server.token}":
            self._refuse(401, "Unauthorized", "Unauthorized")
        else:
            return True
        return False

    def _refuse(self, status: int, reason: str, message: str) -> None:
        self._answer(status, {"kind": "Status", "reason": reason, "message": message})

    def _answer(self, status: int, tree: Mapping[str, Any]) -> None:
        self._send(status, json.dumps(tree).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


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
