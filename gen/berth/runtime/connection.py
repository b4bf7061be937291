"""HTTP connections from a pod to the API server: kept alive, authenticated by the token of the pod.

Requests time out so that the caller can retry. Redirects and proxies are not used. Only a request that was
lost on an idle connection is repeated. A response is read as a whole or line by line.
"""

import socket
import ssl
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import TypeVar

from berth.runtime.apiclient import ApiError, Request, Response, response_object

T = TypeVar("T")

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
READ_SECONDS = 4.0
# An admission webhook may hold a write for up to 30 seconds, and leaving earlier cancels the write.
WRITE_SECONDS = 32.0
# A machine that is gone acknowledges nothing; this is how soon the kernel notices, whatever we wait for.
SILENCE_MILLISECONDS = 4000


def in_cluster(
    environment: Mapping[str, str],
    account: str = ACCOUNT,
    *,
    read_seconds: float = READ_SECONDS,
    write_seconds: float = WRITE_SECONDS,
    most: int = 0,
) -> "Connection":
    """Connect to the API server of the cluster. Raises KeyError outside a cluster."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], int(environment["KUBERNETES_SERVICE_PORT"])

    def connect() -> HTTPConnection:
        # Not create_default_context: from Python 3.13 on it refuses certificates without key identifiers,
        # which many clusters have. The file is read at each connection because it may be renewed.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(f"{account}/ca.crt")
        return HTTPSConnection(host, port, timeout=read_seconds, context=context)

    return Connection(connect, f"{account}/token", read_seconds, write_seconds, most)


class Connection:
    """A `berth.runtime.apiclient.Transport`. Not thread-safe, except `interrupt`."""

    def __init__(
        self,
        connect: Callable[[], HTTPConnection],
        token_file: str,
        read_seconds: float = READ_SECONDS,
        write_seconds: float = WRITE_SECONDS,
        most: int = 0,
    ) -> None:
        """A response or line of more than `most` bytes is an error; 0 means no limit.

        Without a `token_file`, no token is sent.
        """
        self._connect = connect
        self._token_file = token_file
        self._read_seconds, self._write_seconds = read_seconds, write_seconds
        self._most = most
        self._open: HTTPConnection | None = None
        self._socket: socket.socket | None = None  # of the connection, also while an answer is read from it
        self._interrupted = False

    def __call__(self, request: Request) -> Response:
        try:
            return self._exchange(request, self._answer)
        except (OSError, HTTPException, ValueError) as error:
            raise self._broken(error) from error

    def lines(self, request: Request, silence: float) -> Generator[bytes, None, None]:
        """Yield the lines of the response as they arrive.

        The headers have been read when this returns; a caller that stops early must close it. Raises
        ApiError, here or while iterating, if the request is rejected, the connection breaks within a line, a
        line is too long, or nothing arrives for `silence` seconds. A break between two lines looks like the
        end.
        """
        try:
            response = self._exchange(request, lambda response: response)
            if response.status != 200:
                response_object(self._answer(response))
        except (OSError, HTTPException, ValueError) as error:
            raise self._broken(error) from error
        return self._lines(response, silence)

    def interrupt(self) -> None:
        """Abort the current request, and all later ones. May be called from any thread."""
        self._interrupted = True
        if self._socket is not None:
            with suppress(OSError):
                # Not SSLSocket's own, which takes the TLS layer away while the other thread reads from it.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = self._socket = None

    def _lines(self, response: HTTPResponse, silence: float) -> Generator[bytes, None, None]:
        try:
            if self._socket is not None:
                self._socket.settimeout(silence)
            while line := response.readline(self._most + 1 if self._most else -1):
                if len(line) > self._most > 0:
                    raise _too_large(self._most)
                if not line.endswith(b"\n"):
                    raise HTTPException("the answer ends in the middle of a line")
                yield line
        except (OSError, HTTPException, ValueError) as error:
            raise self._broken(error) from error
        finally:
            if response.will_close or not response.isclosed():  # closed by itself where all of it was read
                response.close()
                self.close()

    def _broken(self, error: Exception) -> ApiError:
        self.close()
        return ApiError(0, type(error).__name__, str(error) or "no answer")

    def _exchange(self, request: Request, take: Callable[[HTTPResponse], T]) -> T:
        if self._open is not None:
            try:
                return take(self._send(self._open, request))
            except TimeoutError:
                raise
            except OSError:
                if self._interrupted:
                    raise
                self.close()  # the server may have closed it while nobody looked
        self._open = self._connect()
        self._open.connect()
        self._socket = self._open.sock
        _notice_silence(self._socket)
        return take(self._send(self._open, request))

    def _send(self, connection: HTTPConnection, request: Request) -> HTTPResponse:
        if self._interrupted:
            raise ConnectionAbortedError("interrupted")
        connection.sock.settimeout(self._read_seconds if request.method == "GET" else self._write_seconds)
        connection.request(request.method, request.path, request.body or None, self._headers(request))
        return connection.getresponse()

    def _answer(self, response: HTTPResponse) -> Response:
        body = response.read(self._most + 1) if self._most else response.read()
        whole = response.isclosed()
        if response.will_close or response.status >= 500 or not whole:
            self.close()  # after an error of the server, the next request may reach another one
        if self._most and len(body) > self._most:
            raise _too_large(self._most)
        if not whole:
            raise IncompleteRead(body)
        return Response(response.status, body, _retry_after(response))

    def _headers(self, request: Request) -> dict[str, str]:
        headers = {"Accept": request.accept, "User-Agent": "berth"}
        if self._token_file:
            with open(self._token_file, encoding="ascii") as file:  # noqa: PTH123 (pathlib is memory)
                # Read each time because it is renewed; joined so that no error message can ever quote it.
                token = "".join(file.read().split())
            headers["Authorization"] = f"Bearer {token}"
        if request.body:
            headers["Content-Type"] = request.content_type
        return headers


def _too_large(most: int) -> ApiError:
    return ApiError(0, "TooLarge", f"the server sends more than {most} bytes at once")


def _notice_silence(connected: socket.socket) -> None:
    if sys.platform == "linux":
        for level, option, value in (
            (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_MILLISECONDS),
            (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 2),
            (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
            (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        ):
            connected.setsockopt(level, option, value)


def _retry_after(response: HTTPResponse) -> float:
    """Return the Retry-After header in seconds; 0 if it is missing or a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0
