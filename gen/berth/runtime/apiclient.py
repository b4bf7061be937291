"""A small client of the Kubernetes API server, for the standard library only.

Every failure raises `ApiError`. The client makes no decisions and repeats no request, but for one that was
lost on an idle connection. Requests time out; redirects and proxies are not used.
"""

import json
import socket
import ssl
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from berth.core.jsonvalues import Tree
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, EVENT, JOB, SLOT, ObjectKind
from berth.core.state import PoolObject, read_pool
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY

FIELD_MANAGER = "berth-scaler"
SWEEP_FIELD_MANAGER = "berth-sweep"
BERTH_FIELD_MANAGERS = (FIELD_MANAGER, SWEEP_FIELD_MANAGER, "berth-occurrence")  # the last by version 0.1.0

MERGE_PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"  # of which JSON is a part
JSON = "application/json"


class Request(NamedTuple):
    method: str
    path: str  # with its query
    body: bytes = b""
    content_type: str = MERGE_PATCH  # of the body
    accept: str = JSON


class Response(NamedTuple):
    status: int
    body: bytes
    retry_after: float = 0.0  # seconds; 0: the server did not say


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

    def is_conflict(self) -> bool:
        """Return whether the object has changed since it was read."""
        return self.status == 409


class ScaleSubresource(NamedTuple):
    replicas: int  # as wanted by the spec, not as running
    resource_version: str


class TimetableText(NamedTuple):
    """The content of a timetable's ConfigMap, not parsed yet."""

    timetable: str
    overrides: str = ""  # of its annotation; empty: there is none
    uid: str = ""


class Api:
    def __init__(self, transport: Transport, field_manager: str = FIELD_MANAGER) -> None:
        """`field_manager` is the name the server records for writes."""
        self._transport = transport
        self.field_manager = field_manager

    def get(self, kind: ObjectKind, namespace: str, name: str) -> dict[str, object]:
        """Get an object."""
        return self.ask(Request("GET", kind.path(namespace, name)), kind.name)

    def get_timetable(self, namespace: str, name: str) -> TimetableText:
        found = self.get(CONFIG_MAP, namespace, name)
        text = _part(found, "data").get(TIMETABLE_KEY)
        if not isinstance(text, str):
            raise ApiError(200, "InvalidResponse", f"the ConfigMap {name} has no text {TIMETABLE_KEY}")
        overrides = _annotations(found).get(OVERRIDE)
        uid = _part(found, "metadata").get("uid")
        return TimetableText(
            text, overrides if isinstance(overrides, str) else "", uid if isinstance(uid, str) else ""
        )

    def get_pool(self, namespace: str, name: str, kind: ObjectKind = DEPLOYMENT) -> PoolObject:
        """Get a Deployment, or a NodePool with a fixed number of nodes."""
        found = self.get(kind, namespace, name)
        try:
            return read_pool(kind, found)
        except (KeyError, TypeError, ValueError):
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kind.name}: {json.dumps(found)[:200]}"
            ) from None

    def get_scale(self, namespace: str, name: str, kind: ObjectKind = DEPLOYMENT) -> ScaleSubresource:
        return _scale(self.ask(Request("GET", f"{kind.path(namespace, name)}/scale"), "Scale"))

    def scale(
        self, namespace: str, name: str, replicas: int, resource_version: str, kind: ObjectKind = DEPLOYMENT
    ) -> ScaleSubresource:
        """Scale an object and return its new scale.

        Raises a conflict if the object has changed since `resource_version`.
        """
        patch = {"metadata": {"resourceVersion": resource_version}, "spec": {"replicas": replicas}}
        path = f"{kind.path(namespace, name)}/scale?fieldManager={self.field_manager}"
        return _scale(self.ask(Request("PATCH", path, json.dumps(patch).encode()), "Scale"))

    def get_job_annotation(self, namespace: str, job: str, key: str) -> str:
        """Return an annotation of a Job, empty without one."""
        found = _annotations(self.get(JOB, namespace, job)).get(key)
        return found if isinstance(found, str) else ""

    def annotate(
        self, kind: ObjectKind, namespace: str, name: str, annotations: Mapping[str, str | None]
    ) -> None:
        """Set annotations; None removes one. Others stay."""
        patch = json.dumps({"metadata": {"annotations": annotations}}).encode()
        path = f"{kind.path(namespace, name)}?fieldManager={self.field_manager}"
        self.ask(Request("PATCH", path, patch), kind.name)

    def tell(self, namespace: str, event: dict[str, object]) -> None:
        """Create an Event made by `berth.core.objects.make_event`."""
        path = EVENT.path(namespace)
        self.ask(Request("POST", path, json.dumps(event).encode(), JSON), EVENT.name)

    def read(self, request: Request) -> str:
        """Return the text of a successful response, to be parsed in parts where memory is scarce."""
        answer = self._transport(request)
        if answer.status != 200:
            response_object(answer)
        return answer.body.decode(errors="replace")

    def ask(self, request: Request, *kinds: str) -> dict[str, object]:
        """Return the object of the response, which must be of one of these kinds."""
        answer = self._transport(request)
        body = response_object(answer)
        if body.get("kind") not in kinds:
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kinds[0]}: {_excerpt(answer.body)}"
            )
        return body


def response_object(answer: Response) -> dict[str, object]:
    """Return the JSON object of a successful response, empty if it is not an object.

    Raises ApiError for any other status.
    """
    try:
        tree: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        tree = None
    body = tree if isinstance(tree, dict) else {}
    if answer.status not in (200, 201, 202):  # 202: it will be deleted
        raise _status_error(answer, body)
    return body


def _part(body: dict[str, object], key: str) -> dict[str, object]:
    part = body.get(key)
    return part if isinstance(part, dict) else {}


def _annotations(body: dict[str, object]) -> dict[str, object]:
    return _part(_part(body, "metadata"), "annotations")


def _scale(body: dict[str, object]) -> ScaleSubresource:
    """Parse a Scale. The server leaves out `replicas` if it is zero."""
    metadata, spec = body.get("metadata"), body.get("spec", {})
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(version, str) or not isinstance(replicas, int):
        raise ApiError(
            200, "InvalidResponse", f"the response is not a Scale: {_excerpt(json.dumps(body).encode())}"
        )
    return ScaleSubresource(replicas, version)


def _status_error(answer: Response, body: dict[str, object]) -> ApiError:
    """Return the error of a Status object; a proxy may send anything else."""
    reason = body.get("reason")
    message = body.get("message") if isinstance(reason, str) else None
    return ApiError(
        answer.status,
        reason if isinstance(reason, str) else "Unknown",
        message if isinstance(message, str) else _excerpt(answer.body),
        answer.retry_after,
    )


def _excerpt(body: bytes) -> str:
    """Shorten a body for the log."""
    text = body[:200].decode(errors="replace")
    return text if len(body) <= 200 else text + "..."


LIST_PAGE = 500  # objects in one answer
SLOT_LIST_PAGE = 100  # whoever lists these has less memory


def list_pages(
    api: Api, kind: ObjectKind, namespace: str, labels: str, fields: str = ""
) -> Iterator[list[Tree]]:
    """Yield the objects of a kind that match the selectors, page by page, without their `kind`.

    All pages show the state at one moment; otherwise the last page raises. So a list that ends without an
    error is complete.
    """
    most = SLOT_LIST_PAGE if kind is SLOT else LIST_PAGE
    query = {"labelSelector": labels, "limit": str(most)} | ({"fieldSelector": fields} if fields else {})
    while True:
        answer = api.ask(Request("GET", f"{kind.path(namespace)}?{urlencode(query)}"), f"{kind.name}List")
        items, metadata = answer.get("items") or [], answer.get("metadata") or {}
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kind.name}List: its items are not a list"
            )
        yield items
        if not metadata.get("continue"):
            return
        query["continue"] = str(metadata["continue"])


def get_object(api: Api, kind: ObjectKind, namespace: str, name: str) -> Tree | None:
    """Get an object; None if it does not exist."""
    try:
        return api.get(kind, namespace, name)
    except ApiError as error:
        if error.is_gone():
            return None
        raise


def apply_object(api: Api, kind: ObjectKind, namespace: str, name: str, tree: Tree) -> Tree:
    """Create the object or apply the fields of the tree to it (server-side apply, forced)."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}&force=true"
    return api.ask(Request("PATCH", path, body, APPLY), kind.name)


def create_object(api: Api, kind: ObjectKind, namespace: str, tree: Tree) -> bool:
    """Create an object; return False if the name is taken."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("POST", path, body, JSON), kind.name)
    except ApiError as error:
        if error.status == 409 and error.reason == "AlreadyExists":
            return False
        raise
    return True


def patch_object(api: Api, kind: ObjectKind, namespace: str, name: str, tree: Tree) -> bool:
    """Merge the tree into the object.

    Return False if it is gone or has changed since the resourceVersion in the tree.
    """
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("PATCH", path, json.dumps(tree).encode()), kind.name)
    except ApiError as error:
        if error.is_gone() or error.is_conflict():
            return False
        raise
    return True


def delete_object(api: Api, kind: ObjectKind, namespace: str, name: str, **preconditions: str) -> bool:
    """Delete the object if it has this `uid` and `resourceVersion`, and what it owns.

    Return False if there is no such object any more.
    """
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": preconditions,
    }
    try:
        api.ask(
            Request("DELETE", kind.path(namespace, name), json.dumps(options).encode(), JSON),
            kind.name,
            "Status",
        )
    except ApiError as error:
        if error.is_gone() or error.is_conflict():  # a conflict: it is another one now
            return False
        raise
    return True


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
