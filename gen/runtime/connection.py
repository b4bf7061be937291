"""How a request travels from a pod to the API server of its cluster: one kept-alive connection, and the pod's
token.

It gives up in time, so that the caller can try again: soon where nobody answers, later where a server is
alive but slow. It never follows a redirect, uses no proxy, and repeats nothing but a request that an idle
connection had lost.
"""

import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection

from gen.runtime.api import Answer, ApiError, Request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
READ_SECONDS = 4.0
# An admission webhook may hold a write for up to 30 seconds, and leaving earlier cancels the write.
WRITE_SECONDS = 32.0
# A machine that is gone acknowledges nothing; this is how soon the kernel notices, whatever we wait for.
SILENCE_MILLISECONDS = 4000


def in_cluster(
    environment: Mapping[str, str],
    account: str = ACCOUNT,
    read_seconds: float = READ_SECONDS,
    write_seconds: float = WRITE_SECONDS,
) -> "Connection":
    """Raises KeyError outside of a cluster. Connecting takes as long as reading at the most."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], int(environment["KUBERNETES_SERVICE_PORT"])

    def connect() -> HTTPConnection:
        # Not create_default_context: from Python 3.13 on it refuses certificates without key identifiers,
        # which many clusters have. The file is read at each connection because it may be renewed.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(f"{account}/ca.crt")
        return HTTPSConnection(host, port, timeout=read_seconds, context=context)

    return Connection(connect, f"{account}/token", read_seconds, write_seconds)


class Connection:
    """A `gen.runtime.api.Transport`. Not for several threads."""

    def __init__(
        self,
        connect: Callable[[], HTTPConnection],
        token_file: str,
        read_seconds: float = READ_SECONDS,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._connect = connect
        self._token_file = token_file
        self._read_seconds, self._write_seconds = read_seconds, write_seconds
        self._open: HTTPConnection | None = None

    def __call__(self, request: Request) -> Answer:
        try:
            return self._exchange(request)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            raise ApiError(0, type(error).__name__, str(error) or "no answer") from error

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _exchange(self, request: Request) -> Answer:
        if self._open is not None:
            try:
                return self._send(self._open, request)
            except TimeoutError:
                raise
            except OSError:
                self.close()  # the server may have closed it while nobody looked
        self._open = self._connect()
        self._open.connect()
        _notice_silence(self._open)
        return self._send(self._open, request)

    def _send(self, connection: HTTPConnection, request: Request) -> Answer:
        connection.sock.settimeout(self._read_seconds if request.method == "GET" else self._write_seconds)
        connection.request(request.method, request.path, request.body or None, self._headers(request))
        response = connection.getresponse()
        body = response.read()
        if response.will_close or response.status >= 500:
            self.close()  # after an error of the server, the next request may reach another one
        return Answer(response.status, body, _retry_after(response))

    def _headers(self, request: Request) -> dict[str, str]:
        with open(self._token_file, encoding="ascii") as file:  # noqa: PTH123 (pathlib is memory)
            # Read each time because the kubelet renews it; joined so that no error message can ever quote it.
            token = "".join(file.read().split())
        headers = {"Authorization": f"Bearer {token}", "Accept": request.accept, "User-Agent": "berth"}
        if request.body:
            headers["Content-Type"] = request.content_type
        return headers


def _notice_silence(connection: HTTPConnection) -> None:
    if sys.platform == "linux":
        for level, option, value in (
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_MILLISECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 2),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        ):
            connection.sock.setsockopt(level, option, value)


def _retry_after(response: HTTPResponse) -> float:
    """In seconds; 0 where the server does not say, or says it as a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0
