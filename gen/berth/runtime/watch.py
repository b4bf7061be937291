"""Lists and watches: requests, pages and events, and collections that a thread each keeps up to date.

A thread lists in pages, then watches over one connection. After a failure it pauses and lists again. A
response that no API server sends raises `ApiError`."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

from berth.core.jsonvalues import Tree, part, parts
from berth.runtime.apiclient import (
    JSON,
    MAX_RESPONSE_BYTES,
    Api,
    ApiError,
    Connection,
    Request,
    Response,
    invalid_response,
    json_object,
    status_error,
)
from berth.runtime.program import RuntimeContext, backoff

_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1"


class Collection(NamedTuple):
    """A collection of objects. `labels` and `fields` are selectors; empty selects all."""

    path: str
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    page: int = 500  # the most objects in an answer

    def list_request(self, limit: int, token: str) -> Request:
        """Return the request for the page of `token`; an empty token is the first page."""
        asked = {"limit": str(limit), "continue": token}
        accept = _METADATA.format(kind="PartialObjectMetadataList") if self.metadata_only else JSON
        most = MAX_RESPONSE_BYTES if limit == 1 else MAX_PAGE_BYTES
        return Request("GET", self._path(asked), accept=accept, most=most)

    def watch_request(self, version: str, seconds: int) -> Request:
        """Return the request to watch changes after `version` for so many seconds."""
        asked = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        accept = _METADATA.format(kind="PartialObjectMetadata") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

    def names_request(self, token: str) -> Request:
        """Return the request for a table with the name of the next object, and nothing else of it."""
        asked = {"limit": "1", "continue": token, "includeObject": "None"}
        return Request("GET", self._path(asked), accept=_METADATA.format(kind="Table"))

    def _path(self, asked: dict[str, str]) -> str:
        asked = {"labelSelector": self.labels, "fieldSelector": self.fields, **asked}
        return f"{self.path}?{urlencode({key: value for key, value in asked.items() if value})}"


class Page(NamedTuple):
    """A page of a list."""

    items: list[Tree]
    version: str
    token: str  # asks for the next page; empty: this is the last


def parse_page(text: str) -> Page:
    """Parse a page of a list. The server may send `items: null` for an empty collection."""
    try:
        tree: object = json.loads(text)
    except RecursionError:
        raise ApiError(0, "TooLarge", "the list is nested too deep") from None
    except ValueError:
        tree = None
    page = tree if isinstance(tree, dict) else {}
    items = page.get("items", "none")
    is_list = isinstance(items, list | None) and all(isinstance(item, dict) for item in items or ())
    if not is_list or not str(page.get("kind")).endswith("List"):
        raise invalid_response("the response is not a list", {"text": text[:100]})
    return Page(parts(page, "items"), *_position(page))


def _position(page: Tree) -> tuple[str, str]:
    """Return the version of a list, and the token of its next page."""
    metadata = part(page, "metadata")
    version, token = metadata.get("resourceVersion"), metadata.get("continue", "")
    if not (isinstance(version, str) and version and isinstance(token, str)):
        raise invalid_response("the list has no version", metadata)
    return version, token


FIRST_PAGE = 32  # objects, before their size is known
# Bytes that a page has about, and at most: it is parsed as a whole, which takes up to thirty times its bytes.
PAGE_BYTES, MAX_PAGE_BYTES = 256 << 10, 1 << 20  # one object may be larger
PAGE_ATTEMPTS = 4


def list_objects(
    api: Api,
    collection: Collection,
    take: Callable[[Tree], None],
    may_skip: Callable[[str, ApiError], bool] = lambda *_: True,
    gives_up: Callable[[float], object] = time.sleep,
) -> str:
    """Pass all objects of a collection to `take`, and return the version of the list.

    All pages show the state at one moment; otherwise the last page raises. A page that fails is asked for
    again, in smaller pieces: after a pause, unless `gives_up`, which waits, says so; at once if it was too
    large or too deep. A single object that cannot be read is left out, if that may be by its name: a pod that
    was taken over must not stop all others.
    """
    token, version, failures = "", "", 0
    limit = min(FIRST_PAGE, collection.page)
    while token or not version:
        items: list[Tree] = []
        try:
            text = api.read(collection.list_request(limit, token))
            items, version, token = parse_page(text)
            limit = max(1, min(collection.page, 4 * limit, PAGE_BYTES * len(items) // len(text)))
            failures = 0
        except ApiError as error:
            if error.reason == "TooLarge" and limit == 1:
                name, version, token = _unreadable(api, collection, token)
                if not may_skip(name, error):
                    raise
                limit = min(FIRST_PAGE, collection.page)
                continue
            if error.reason != "TooLarge":
                failures += 1
                is_final = not error.is_transient() or failures == PAGE_ATTEMPTS
                if is_final or gives_up(backoff(failures, error.retry_after, 0.0)):
                    raise
            limit = max(1, limit // 4)
        while items:  # each is released as soon as it is read
            take(items.pop(0))
    return version


def _unreadable(api: Api, collection: Collection, token: str) -> tuple[str, str, str]:
    """Return the name of the object at a token, the version of the list, and the next token."""
    table = json_object(api.read(collection.names_request(token))) or {}
    cells = next(iter(parts(table, "rows")), {}).get("cells")
    return str(cells[0]) if isinstance(cells, list) and cells else "", *_position(table)


class WatchEvent(NamedTuple):
    """An event of a watch."""

    object: Tree | None  # None: nothing but the version has changed
    is_gone: bool
    version: str


def parse_watch_event(line: bytes) -> WatchEvent:
    """Parse one line of a watch. Raises the error of an event of type ERROR."""
    tree = json_object(line)
    if tree is None:
        text = line[:200].decode(errors="replace")
        raise ApiError(200, "InvalidResponse", f"the event is not a JSON object: {text}")
    kind, item = tree.get("type"), part(tree, "object")
    if kind == "ERROR":
        code = item.get("code")
        status = code if isinstance(code, int) and code else 500
        raise status_error(Response(status, json.dumps(item).encode()), item)
    version = part(item, "metadata").get("resourceVersion")
    if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise invalid_response("the event has an unknown type", {"type": kind})
    if not isinstance(version, str) or not version:
        raise invalid_response("the event has no version", {"type": kind})
    return WatchEvent(None if kind == "BOOKMARK" else item, kind == "DELETED", version)


def uid_of(tree: Tree) -> str:
    metadata = part(tree, "metadata")
    uid = metadata.get("uid")
    if not isinstance(uid, str) or not uid:
        raise invalid_response("an object has no uid", metadata)
    return uid


EXPIRED = 410
STEADY_SECONDS = 10.0  # from which on a watch counts as one that works


def watch_pause(failures: int, error: ApiError | None, jitter: float) -> float:
    """Return the seconds to pause after a watch has failed, or (None) ended.

    A watch that ends before STEADY_SECONDS counts as a failure, whatever it has told. The first time that is
    normal, as is a version that has expired.
    """
    if failures == 0 or (failures == 1 and (error is None or error.status == EXPIRED)):
        return 0.0
    return backoff(failures, error.retry_after if error else 0.0, jitter)


# Only what is touched of it takes memory. Less would not do: Python 3.13 lets JSON nest as deep as the stack
# of a main thread allows, and in a smaller one the process would die of it.
STACK_BYTES = 8 << 20
SILENCE_SECONDS = 120.0  # seconds without a byte; a server tells its version once a minute
WATCH_SECONDS, WATCH_JITTER = 240, 60  # seconds for which a watch is asked for
_BATCH_SECONDS = 0.001  # seconds: what comes so soon after the first change comes with it


def start_thread(run: Callable[[], None]) -> None:
    """Start a thread with a stack that is large enough for nested JSON."""
    before = threading.stack_size(STACK_BYTES)
    try:
        threading.Thread(target=run, daemon=True).start()
    finally:
        threading.stack_size(before)


class Reader(Protocol):
    """Reads the objects of a collection. Readers are values, equal if they read the same."""

    def read(self, tree: Tree) -> object | None:
        """Return the item in an object, None if it is irrelevant."""


class News(NamedTuple):
    """All items of a collection in which something has changed, by uid."""

    reader: Reader
    items: dict[str, object]


class Watched:
    """The items of a collection, which a thread keeps up to date."""

    def __init__(  # noqa: PLR0913, PLR0917 - what it watches, and how
        self,
        collection: Collection,
        reader: Reader,
        context: RuntimeContext,
        connection: Connection,
        wake: Callable[[], object],
        steady_seconds: float = STEADY_SECONDS,
    ) -> None:
        """`wake` is called from the thread when there is news."""
        self.collection, self.reader = collection, reader
        self.failing_since: float | None = None
        self._context, self._connection, self._wake = context, connection, wake
        self._steady_seconds = steady_seconds
        self._subject = f"watch of {collection.path}"
        self._version = ""  # everything up to it is known; empty: nothing is, list first
        self._failures = 0  # in a row
        self._stopping = threading.Event()
        self._lock = threading.Lock()  # of what follows
        self._items: dict[str, object] = {}
        self._has_news = False  # not before the first list

    def inherit(self, before: "Watched") -> None:
        """Continue after another reader, whose items hold until the first list."""
        before.stop()
        self.failing_since = before.failing_since

    def start(self) -> None:
        start_thread(self._run)

    def take_news(self) -> News | None:
        """Return all items if any has changed since the last call."""
        with self._lock:
            has_news, self._has_news = self._has_news, False
            return News(self.reader, dict(self._items)) if has_news else None

    def failing_for(self, now: float) -> float:
        """Return for how many seconds the collection has not been readable; 0 if it is."""
        since = self.failing_since
        if since is not None and since > now:  # the clock was set back
            self.failing_since = since = now
        return 0.0 if since is None else now - since

    def stop(self) -> None:
        """Stop; what the thread is doing at the moment may still become news."""
        self._stopping.set()
        self._connection.interrupt()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(self._step())
        self._connection.close()

    def _step(self) -> float:
        """List if needed, and watch until that ends; return the seconds to pause."""
        context = self._context
        try:
            if not self._version:
                self._list()
            began = context.now()
            events = self._watch(began)
        except Exception as error:
            known = error if isinstance(error, ApiError) else ApiError(200, "InternalError", str(error))
            self._failures += 1
            self._version = ""
            pause = watch_pause(self._failures, known, context.jitter())
            if pause and not self._stopping.is_set():
                self.failing_since = context.now() if self.failing_since is None else self.failing_since
                context.log.trouble(self._subject, error)
                self._wake()
            return pause
        if self._is_steady(began):
            self._recover()
            return 0.0
        self._failures += 1
        pause = watch_pause(self._failures, None, context.jitter())
        if pause and not self._stopping.is_set():
            message = f"the server ends it after {context.now() - began:.1f} s and {events} events"
            context.log.trouble(self._subject, ApiError(0, "Ended", message))
        return pause

    def _is_steady(self, began: float) -> bool:
        return self._context.now() - began >= self._steady_seconds

    def _recover(self) -> None:
        if self._failures:
            self._failures = 0
            self._context.log.works(self._subject)

    def _watch(self, began: float) -> int:
        """Watch until the server ends it; return the number of events."""
        seconds = WATCH_SECONDS + int(WATCH_JITTER * self._context.jitter())
        request = self.collection.watch_request(self._version, seconds)
        events = 0
        with closing(self._connection.lines(request, SILENCE_SECONDS)) as lines:
            self.failing_since = None
            try:
                for line in lines:
                    self._take(parse_watch_event(line))
                    events += 1
                    if self._is_steady(began):
                        self._recover()
            except ApiError as error:
                if error.reason != "TimeoutError":  # silence may be all that there is to say: asked again
                    raise
        return events

    def _take(self, event: WatchEvent) -> None:
        if event.object is not None:
            uid = uid_of(event.object)
            item = None if event.is_gone else self.reader.read(event.object)
            if item != self._items.get(uid):
                with self._lock:
                    if item is None:
                        self._items.pop(uid, None)
                    else:
                        self._items[uid] = item
                    self._has_news = True
                self._wake()
        self._version = event.version

    def _list(self) -> None:
        listed: dict[str, object] = {}

        def take(tree: Tree) -> None:
            item = self.reader.read(tree)
            if item is not None:
                listed[uid_of(tree)] = item

        read = Api(self._connection)
        self._version = list_objects(read, self.collection, take, self._skip, self._stopping.wait)
        with self._lock:
            self._items, self._has_news = listed, True
        self._wake()

    def _skip(self, name: str, error: ApiError) -> bool:
        self._context.log.info("skipped", collection=self.collection.path, name=name, reason=str(error))
        return True


class Watches:
    """Watched collections, and their news. Not thread-safe, except `wake`."""

    def __init__(
        self,
        context: RuntimeContext,
        connect: Callable[[], Connection],
        steady_seconds: float = STEADY_SECONDS,
    ) -> None:
        """`connect` makes a connection for each watch."""
        self._context, self._connect, self._steady_seconds = context, connect, steady_seconds
        self._watched: dict[Collection, Watched] = {}
        self._has_news = threading.Event()

    def arrange(self, wanted: Mapping[Collection, Reader]) -> None:
        """Watch exactly these collections. With another reader, a collection is listed again."""
        for collection in [known for known in self._watched if known not in wanted]:
            self._watched.pop(collection).stop()
        for collection, reader in wanted.items():
            known = self._watched.get(collection)
            if known is None or known.reader != reader:
                connection, steady = self._connect(), self._steady_seconds
                watched = Watched(collection, reader, self._context, connection, self.wake, steady)
                if known is not None:
                    watched.inherit(known)
                watched.start()
                self._watched[collection] = watched

    def wait(self, seconds: float) -> None:
        """Wait for news, or so many seconds."""
        if self._has_news.wait(seconds):
            time.sleep(_BATCH_SECONDS)

    def wake(self) -> None:
        """End a wait. May be called from any thread."""
        self._has_news.set()

    def news(self) -> Iterator[News]:
        """Yield the items of each collection in which something has changed since the last call."""
        self._has_news.clear()
        for watched in [*self._watched.values()]:
            if news := watched.take_news():
                yield news

    def failing_for(self, collection: Collection, now: float) -> float:
        """Return for how many seconds the collection has not been readable; 0 if it is."""
        watched = self._watched.get(collection)
        return watched.failing_for(now) if watched else 0.0
