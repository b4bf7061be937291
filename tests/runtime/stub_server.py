"""An HTTP server on the loopback that answers with whatever bytes a test wants, and remembers what it was
asked.
"""

import ssl
import subprocess
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple, Self

from berth.runtime.apiclient import MERGE_PATCH, Request, Response

# As many clusters have it: one certificate that signs itself, without any key identifier.
OPENSSL = "\n".join(
    [
        "[req]",
        "distinguished_name = name",
        "x509_extensions = extensions",
        "[name]",
        "[extensions]",
        "basicConstraints = critical, CA:TRUE",
        "subjectAltName = IP:127.0.0.1",
        "subjectKeyIdentifier = none",
        "authorityKeyIdentifier = none",
    ]
)


class Received(NamedTuple):
    connection: int  # counted from 1
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    data: bytes  # head and body, as they go over the wire
    close: bool = False  # the connection, afterwards
    stream: Iterable[bytes] = ()  # more of the body, as it comes


def reply(status: int, body: bytes, *headers: str) -> Reply:
    head = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
    return Reply("\r\n".join([*head, "", ""]).encode() + body)


def answered_by(cluster: Callable[[Request], Response]) -> Callable[[Received], Reply]:
    def answer(received: Received) -> Reply:
        content_type = received.headers.get("Content-Type", MERGE_PATCH)
        found = cluster(Request(received.method, received.path, received.body, content_type))
        return reply(found.status, found.body, "Content-Type: application/json")

    return answer


class StubServer(ThreadingHTTPServer):
    """`answer` runs in a thread for each connection. Clients close theirs before the server does."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Received], Reply], certificate: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.received: list[Received] = []
        self.connections = 0
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate / "ca.crt", certificate / "key.pem")
            # A client that was stopped before its handshake holds up its own thread, and no other client.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves in the middle is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StubServer

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.number = self.server.connections

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        received = Received(self.number, self.command, self.path, dict(self.headers.items()), body)
        self.server.received.append(received)
        answer = self.server.answer(received)
        self.wfile.write(answer.data)
        for part in answer.stream:
            self.wfile.write(part)
        self.close_connection = answer.close

    do_PATCH = do_POST = do_DELETE = do_GET  # noqa: N815 (the library's names)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """Tests read `received` instead."""


def make_account(folder: Path) -> Path:
    """What a pod finds as its service account, with the key of a server that it trusts. Needs openssl."""
    folder.mkdir()
    (folder / "openssl.cnf").write_text(OPENSSL, encoding="ascii")
    (folder / "token").write_text("first-token\n", encoding="ascii")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=kubernetes -config openssl.cnf"
    arguments = [*command.split(), "-keyout", "key.pem", "-out", "ca.crt"]
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True)
    return folder
