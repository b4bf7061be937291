"""A small client of the Kubernetes API server, for the standard library only.

Every failure raises `ApiError`. The client makes no decisions and repeats no request, but for one that was
lost on an idle connection. Requests time out; redirects and proxies are not used.
"""

import json
import socket
import ssl
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import NamedTuple

from berth.core.holders import REPLICAS, HeldNumber
from berth.core.jsonvalues import Tree, excerpt, part
from berth.core.labels import FIELD_MANAGER
from berth.core.objects import CONFIG_MAP, ObjectKind
from berth.core.poolobjects import PoolObject, read_pool
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"  # of which JSON is a part
JSON = "application/json"
MAX_RESPONSE_BYTES = 8 << 20  # with all escapes, more than a server stores of one object


class Request(NamedTuple):
    method: str
    path: str  # with its query
    body: bytes = b""
    content_type: str = MERGE_PATCH  # of the body
    accept: str = JSON
    most: int = MAX_RESPONSE_BYTES  # of the answer


class Response(NamedTuple):
    status: int
    body: bytes
    retry_after: float = 0.0  # seconds; 0: the server did not say
    date: str = ""  # when it answered, as in the header


Transport = Callable[[Request], Response]
"""Raises ApiError, and nothing else, where there is no answer."""


class ApiError(Exception):
    """A request failed.

    `status` is 0 without a response; `reason` is one word for programs, the message is for people.
    """

    def __init__(self, status: int, reason: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    def is_gone(self) -> bool:
        """Return whether the API server says that the object does not exist. Other 404s do not say so."""
        return self.status == 404 and self.reason == "NotFound"

    def is_unreadable(self) -> bool:
        """Return whether the answer is too large, nests too deep, or is no JSON."""
        return self.reason in ("TooLarge", "InvalidResponse")

    def is_transient(self) -> bool:
        """Return whether the same request may be answered in a moment."""
        return self.status in (0, 429) or self.status >= 500

    def is_conflict(self) -> bool:
        """Return whether the object has changed since it was read."""
        return self.status == 409


class TimetableText(NamedTuple):
    """The content of a timetable's ConfigMap, not parsed yet."""

    timetable: str
    overrides: str = ""  # of its annotation; empty: there is none
    uid: str = ""


class Api:
    def __init__(
        self, transport: Transport, field_manager: str = FIELD_MANAGER, parallel_requests: int = 1
    ) -> None:
        """`field_manager` is the name the server records for writes.

        `parallel_requests` is how many threads may use the transport at once.
        """
        self._transport = transport
        self._field_manager = field_manager
        self.parallel_requests = parallel_requests

    def get(self, kind: ObjectKind, namespace: str, name: str) -> Tree:
        """Get an object."""
        return self._ask(Request("GET", kind.path(namespace, name)), kind.name)

    def find(self, kind: ObjectKind, namespace: str, name: str) -> Tree | None:
        """Get an object; None if it does not exist."""
        try:
            return self.get(kind, namespace, name)
        except ApiError as error:
            if error.is_gone():
                return None
            raise

    def get_timetable(self, namespace: str, name: str) -> TimetableText:
        config_map = self.get(CONFIG_MAP, namespace, name)
        text = part(config_map, "data").get(TIMETABLE_KEY)
        if not isinstance(text, str):
            raise ApiError(200, "InvalidResponse", f"the ConfigMap {name} has no text {TIMETABLE_KEY}")
        overrides = part(config_map, "metadata", "annotations").get(OVERRIDE, "")
        return TimetableText(text, str(overrides), str(part(config_map, "metadata").get("uid", "")))

    def get_pool(self, namespace: str, name: str, number: HeldNumber = REPLICAS) -> PoolObject:
        """Get an object with a number that is held, without a note about it. `namespace` is Berth's."""
        return _read_pool(number, self.get(number.object_kind, _home(number, namespace), name))

    def set_replicas(self, namespace: str, pool: PoolObject, replicas: int, version: str = "") -> PoolObject:
        """Write the replicas of an object, and return how it stands then.

        With a `version`, raises a conflict if the object has another one.
        """
        metadata: Tree = {"metadata": {"resourceVersion": version}} if version else {}
        tree: Tree = {**metadata, "spec": {"replicas": replicas}}
        kind = pool.number.object_kind
        if not kind.has_scale:
            return self.write_pool(namespace, pool, tree, MERGE_PATCH)
        path = kind.path(_home(pool.number, namespace), pool.ref.name)
        return _scaled(pool, self._ask(self._write("PATCH", f"{path}/scale", tree, MERGE_PATCH), "Scale"))

    def write_pool(
        self, namespace: str, pool: PoolObject, patch: Tree | list[Tree], content_type: str
    ) -> PoolObject:
        """Patch the object of a pool, and return how it stands then."""
        kind = pool.number.object_kind
        path = kind.path(_home(pool.number, namespace), pool.ref.name)
        answer = self._ask(self._write("PATCH", path, patch, content_type), kind.name)
        return _read_pool(pool.number, answer)._replace(held=pool.held)

    def apply(self, kind: ObjectKind, namespace: str, name: str, tree: Tree) -> None:
        """Create the object or apply the fields of the tree to it (server-side apply, forced)."""
        typed = {"apiVersion": kind.version, "kind": kind.name, **tree}
        request = self._write("PATCH", kind.path(namespace, name), typed, APPLY, "&force=true")
        self._ask(request, kind.name)

    def claim(self, kind: ObjectKind, namespace: str, name: str, tree: Tree, manager: str) -> str:
        """Create an object by server-side apply under a field manager of the caller's own.

        Return its resourceVersion; empty if it exists. Unlike `create`, this can be granted by name.
        """
        typed = {"apiVersion": kind.version, "kind": kind.name, **tree}
        path = f"{kind.path(namespace, name)}?fieldManager={manager}"
        return self._done(Request("PATCH", path, json.dumps(typed).encode(), APPLY), kind.name)

    def create(self, kind: ObjectKind, namespace: str, tree: Tree) -> bool:
        """Create an object; return False if the name is taken."""
        typed = {"apiVersion": kind.version, "kind": kind.name, **tree}
        return bool(self._done(self._write("POST", kind.path(namespace), typed, JSON), kind.name))

    def patch(self, kind: ObjectKind, namespace: str, name: str, tree: Tree, part: str = "") -> str:
        """Merge the tree into the object. `part` is a subresource, such as `/status`.

        Return its new resourceVersion; empty if it is gone or has changed since that in the tree.
        """
        path = f"{kind.path(namespace, name)}{part}"
        return self._done(self._write("PATCH", path, tree, MERGE_PATCH), kind.name)

    def delete(self, kind: ObjectKind, namespace: str, name: str, **preconditions: str) -> bool:
        """Delete the object if it has this `uid` and `resourceVersion`, where not empty, and what it owns.

        Return False if there is no such object any more.
        """
        options: Tree = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {key: value for key, value in preconditions.items() if value},
        }
        request = Request("DELETE", kind.path(namespace, name), json.dumps(options).encode(), JSON)
        return bool(self._done(request, kind.name, "Status"))

    def read(self, request: Request) -> str:
        """Return the text of a successful response."""
        answer = self._transport(request)
        if answer.status != 200:
            response_object(answer)
        return answer.body.decode(errors="replace")

    def _write(
        self, method: str, path: str, tree: Tree | list[Tree], content_type: str, option: str = ""
    ) -> Request:
        path = f"{path}?fieldManager={self._field_manager}{option}"
        return Request(method, path, json.dumps(tree).encode(), content_type)

    def _done(self, request: Request, *kinds: str) -> str:
        """Send a write; return the new version, empty if the object is not the one it was meant for."""
        try:
            answer = self._ask(request, *kinds)
        except ApiError as error:
            is_taken = error.reason == "AlreadyExists"
            if is_taken if request.method == "POST" else error.is_gone() or error.is_conflict():
                return ""
            raise
        return str(part(answer, "metadata").get("resourceVersion") or "done")

    def _ask(self, request: Request, *kinds: str) -> Tree:
        """Return the object of the response, which must be of one of these kinds."""
        answer = self._transport(request)
        body = response_object(answer)
        if body.get("kind") not in kinds:
            message = f"the response is not a {kinds[0]}: {_excerpt(answer.body)}"
            raise ApiError(200, "InvalidResponse", message)
        return body


def response_object(answer: Response) -> Tree:
    """Return the JSON object of a successful response, empty if it is not an object.

    Raises ApiError for any other status.
    """
    body = json_object(answer.body) or {}
    if answer.status not in (200, 201, 202):  # 202: it will be deleted
        raise status_error(answer, body)
    return body


def json_object(text: str | bytes) -> Tree | None:
    """Parse a JSON object; None if it is something else."""
    try:
        tree: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def status_error(answer: Response, body: Tree) -> ApiError:
    """Return the error of a Status object; a proxy may send anything else."""
    reason = body.get("reason")
    message = body.get("message") if isinstance(reason, str) else None
    return ApiError(
        answer.status,
        reason if isinstance(reason, str) else "Unknown",
        message if isinstance(message, str) else _excerpt(answer.body),
        answer.retry_after,
    )


def invalid_response(what: str, answer: Tree) -> ApiError:
    """Return the error for a response that no API server sends."""
    return ApiError(200, "InvalidResponse", f"{what}: {excerpt(answer, 200)}")


def _home(number: HeldNumber, namespace: str) -> str:
    """Return the namespace of an object. `namespace` is Berth's."""
    return namespace if number.namespace is None else number.namespace


def _read_pool(number: HeldNumber, tree: Tree) -> PoolObject:
    try:
        return read_pool(number, tree)
    except (KeyError, TypeError, ValueError):
        raise invalid_response(f"the response is not a {number.object_kind.name}", tree) from None


def _scaled(pool: PoolObject, body: Tree) -> PoolObject:
    """Return the pool as a Scale says. The server leaves out `replicas` if it is zero."""
    version, spec = part(body, "metadata").get("resourceVersion"), body.get("spec", {})
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(version, str) or not isinstance(replicas, int):
        raise invalid_response("the response is not a Scale", body)
    return pool._replace(replicas=replicas, resource_version=version)


def _excerpt(body: bytes) -> str:
    """Shorten a body for the log."""
    text = body[:200].decode(errors="replace")
    return text if len(body) <= 200 else text + "..."


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
    """Connect to the API server of the cluster. Raises KeyError outside a cluster."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], int(environment["KUBERNETES_SERVICE_PORT"])

    def connect() -> HTTPConnection:
        # Not create_default_context: from Python 3.13 on it refuses certificates without key identifiers,
        # which many clusters have. The file is read at each connection because it may be renewed.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(f"{account}/ca.crt")
        return HTTPSConnection(host, port, timeout=read_seconds, context=context)

    return Connection(connect, f"{account}/token", read_seconds, write_seconds)


class Connection:
    """A `berth.runtime.apiclient.Transport`. Not thread-safe, except `interrupt`."""

    def __init__(
        self,
        connect: Callable[[], HTTPConnection],
        token_file: str,
        read_seconds: float = READ_SECONDS,
        write_seconds: float = WRITE_SECONDS,
        most: int = MAX_RESPONSE_BYTES,
    ) -> None:
        """A response or line of more than `most` bytes is an error.

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
            return self._answer(self._exchange(request), min(request.most, self._most))
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
            response = self._exchange(request)
            if response.status != 200:
                response_object(self._answer(response, self._most))
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
            while line := response.readline(self._most + 1):
                if len(line) > self._most:
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

    def _exchange(self, request: Request) -> HTTPResponse:
        if self._open is not None:
            try:
                return self._send(self._open, request)
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
        return self._send(self._open, request)

    def _send(self, connection: HTTPConnection, request: Request) -> HTTPResponse:
        if self._interrupted:
            raise ConnectionAbortedError("interrupted")
        connection.sock.settimeout(self._read_seconds if request.method == "GET" else self._write_seconds)
        connection.request(request.method, request.path, request.body or None, self._headers(request))
        return connection.getresponse()

    def _answer(self, response: HTTPResponse, most: int) -> Response:
        body = response.read(most + 1)
        whole = response.isclosed()
        if response.will_close or response.status >= 500 or not whole:
            self.close()  # after an error of the server, the next request may reach another one
        if len(body) > most:
            raise _too_large(most)
        if not whole:
            raise IncompleteRead(body)
        date = response.headers.get("Date", "")
        return Response(response.status, body, _retry_after(response), date)

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


class Connections:
    """A `Transport` for several threads: each request has a connection to itself."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._free: list[Connection] = []

    def __call__(self, request: Request) -> Response:
        try:
            connection = self._free.pop()
        except IndexError:
            connection = self._connect()
        try:
            return connection(request)
        finally:
            self._free.append(connection)

    def close(self) -> None:
        for connection in self._free:
            connection.close()


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
