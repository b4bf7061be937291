"""Lists and watches: requests, pages and events, a thread for each collection, and their manager.

A watcher lists in pages, then watches over one connection. After a failure it pauses and continues from the
last resourceVersion, or lists again. A response that no API server sends raises `ApiError`."""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode

from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import JSON, ApiError, Connection, Request, response_object
from berth.runtime.program import Log, backoff

_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1"


class Collection(NamedTuple):
    """A collection of objects. `labels` and `fields` are selectors; empty selects all."""

    path: str
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    page: int = 100  # objects asked for at once

    def list_request(self, limit: int, token: str) -> Request:
        """Return the request for the page of `token`; an empty token is the first page."""
        asked = {"limit": str(limit), "continue": token}
        accept = _METADATA.format(kind="PartialObjectMetadataList") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

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

    def _path(self, asked: dict[str, str]) -> str:
        asked = {"labelSelector": self.labels, "fieldSelector": self.fields, **asked}
        return f"{self.path}?{urlencode({key: value for key, value in asked.items() if value})}"


_DECODER = json.JSONDecoder()


class Page(NamedTuple):
    """The end of a page."""

    version: str
    token: str  # asks for the next page; empty: this is the last


def parse_page(text: str, take: Callable[[Tree], None]) -> Page:
    """Parse a page of a list and pass each item to `take` as soon as it is parsed.

    Items are passed even if the rest turns out to be invalid. All items at once would need several times the
    memory of their text. The server may send `items: null` for an empty collection.
    """
    rest: Tree = {}
    try:
        at = _opened(text, 0, "{")
        while text[at] != "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _opened(text, at, ":")
            if not isinstance(key, str):
                raise ValueError("a key is not a string")
            if key == "items" and text[at] == "[":
                rest[key], at = None, _items(text, at, take)
            else:
                rest[key], at = _DECODER.raw_decode(text, at)
            at = _next_member(text, at, "}")
    except (ValueError, IndexError, RecursionError):
        raise invalid_response("the response is not a list", {"text": text[:100]}) from None
    metadata = object_at(rest, "metadata")
    version, token = metadata.get("resourceVersion"), metadata.get("continue", "")
    if not str(rest.get("kind")).endswith("List") or rest.get("items", "") is not None:
        raise invalid_response("the response is not a list", {"kind": rest.get("kind")})
    if not (isinstance(version, str) and version and isinstance(token, str)):
        raise invalid_response("the list has no version", metadata)
    return Page(version, token)


def _items(text: str, at: int, take: Callable[[Tree], None]) -> int:
    """Parse the list at `at` and return the position after it."""
    at = _opened(text, at, "[")
    while text[at] != "]":
        item, at = _DECODER.raw_decode(text, at)
        if not isinstance(item, dict):
            raise ValueError("an item is not an object")
        take(item)
        at = _next_member(text, at, "]")
    return at + 1


def _opened(text: str, at: int, sign: str) -> int:
    """Return the position after `sign`."""
    at = _skip(text, at)
    if text[at] != sign:
        raise ValueError(f"no {sign}")
    return _skip(text, at + 1)


def _next_member(text: str, at: int, end: str) -> int:
    """Return the position of the next member, or of the closing sign."""
    at = _skip(text, at)
    if text[at] == end:
        return at
    at = _opened(text, at, ",")
    if text[at] == end:
        raise ValueError("nothing after a comma")
    return at


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


EXPIRED = 410
# After these, and after no answer at all, the version may still be good, and to go on from it spares the
# server a list. Not 504: so one whose data was restored refuses a version that it has not reached.
_TRANSIENT = (401, 403, 429, 500, 502, 503)
_RELIST_AFTER = 5  # answered failures in a row: the version itself may be what ails the server


class WatchEvent(NamedTuple):
    """An event of a watch."""

    object: Tree | None  # None: nothing but the version has changed
    is_gone: bool
    version: str


class WatchCursor(NamedTuple):
    """The progress of a watch."""

    version: str = ""  # everything up to it is known; empty: nothing is, list first
    failures: int = 0  # in a row


def parse_watch_event(line: bytes) -> WatchEvent:
    """Parse one line of a watch. Raises the error of an event of type ERROR."""
    try:
        tree: object = json.loads(line)
    except (ValueError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        raise ApiError(
            200, "InvalidResponse", f"the event is not a JSON object: {line[:200].decode(errors='replace')}"
        )
    kind, found = tree.get("type"), object_at(tree, "object")
    if kind == "ERROR":
        raise _watch_error(found)
    version = object_at(found, "metadata").get("resourceVersion")
    if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise invalid_response("the event has an unknown type", {"type": kind})
    if not isinstance(version, str) or not version:
        raise invalid_response("the event has no version", {"type": kind})
    return WatchEvent(None if kind == "BOOKMARK" else found, kind == "DELETED", version)


def cursor_after_failure(cursor: WatchCursor, error: ApiError) -> WatchCursor:
    """Continue from the same version if that may help, otherwise list again."""
    failures = cursor.failures + 1
    keeps = error.status == 0 or (error.status in _TRANSIENT and failures < _RELIST_AFTER)
    return WatchCursor(cursor.version if keeps else "", failures)


def cursor_after_end(cursor: WatchCursor, events: int) -> WatchCursor:
    """Return the cursor after a watch ended. Several that end without an event count as failures."""
    return cursor._replace(failures=0 if events else cursor.failures + 1)


def pause_after_failure(cursor: WatchCursor, error: ApiError, jitter: float) -> float:
    """Return the seconds to pause. `cursor` is that after the failure. An expired version is normal."""
    if error.status == EXPIRED and cursor.failures == 1:
        return 0.0
    return backoff(cursor.failures, error.retry_after, jitter)


def pause_after_end(cursor: WatchCursor, jitter: float) -> float:
    """Return the seconds to pause. `cursor` is that after the end."""
    return backoff(cursor.failures - 1, 0.0, jitter) if cursor.failures > 1 else 0.0


def object_at(tree: Tree, key: str) -> Tree:
    """Return the object at the key, an empty one if there is none."""
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def uid_of(tree: Tree) -> str:
    metadata = object_at(tree, "metadata")
    uid = metadata.get("uid")
    if not isinstance(uid, str) or not uid:
        raise invalid_response("an object has no uid", metadata)
    return uid


def invalid_response(what: str, said: Tree) -> ApiError:
    """Return the error for a response that no API server sends."""
    return ApiError(200, "InvalidResponse", f"{what}: {json.dumps(said)[:200]}")


def _watch_error(status: Tree) -> ApiError:
    code, reason, message = (status.get(key) for key in ("code", "reason", "message"))
    return ApiError(
        code if isinstance(code, int) and code else 500,
        reason if isinstance(reason, str) else "Unknown",
        message if isinstance(message, str) else json.dumps(status)[:200],
    )


T = TypeVar("T")

# Only what is touched of it takes memory. Less would not do: Python 3.13 lets JSON nest as deep as the stack
# of a main thread allows, and in a smaller one the process would die of it.
STACK_BYTES = 8 << 20
# Bytes of a page, and of an event. A page that is larger is asked for again in smaller pieces.
MAX_RESPONSE_BYTES = 8 << 20
SILENCE_SECONDS = 120.0  # seconds without a byte; a server tells its version once a minute
WATCH_SECONDS, WATCH_JITTER = 240, 60  # seconds for which a watch is asked for


def start_thread(thread: threading.Thread) -> None:
    """Start a thread with a stack that is large enough for nested JSON."""
    before = threading.stack_size(STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)


class Listed(NamedTuple, Generic[T]):
    """All items that exist now, by uid."""

    items: dict[str, T]


class Changed(NamedTuple, Generic[T]):
    """An item has changed; None: it is gone or no longer relevant."""

    uid: str
    item: T | None


class Connected(NamedTuple):
    """The watch is established."""


class Recovered(NamedTuple):
    """The watch works again after a failure."""


class WatchFailed(NamedTuple):
    """A list or watch has failed."""

    error: Exception


Message = Listed[T] | Changed[T] | Connected | Recovered | WatchFailed


class Reader(Protocol):
    """Reads the objects of a collection. Readers are values, equal if they read the same."""

    def read(self, tree: Tree) -> object | None:
        """Return the item in an object, None if it is irrelevant."""


class Watcher(Generic[T]):
    """Watches a collection in a thread.

    `read` returns the item in an object, None if it is irrelevant. `tell` is called from the thread.
    """

    def __init__(
        self,
        collection: Collection,
        read: Callable[[Tree], T | None],
        connection: Connection,
        tell: Callable[["Watcher[T]", Message[T]], None],
        jitter: Callable[[], float],
    ) -> None:
        self.collection = collection
        self.read = read
        self._connection = connection
        self._tell = tell
        self._jitter = jitter
        self._cursor = WatchCursor()
        self._known: dict[str, T] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        start_thread(self._thread)

    def stop(self) -> None:
        """Stop; no message follows except one that is being sent."""
        self._stopping.set()
        self._connection.interrupt()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            seconds = self._step_safely()
            if seconds:
                self._stopping.wait(seconds)
        self._connection.close()

    def _step_safely(self) -> float:
        """List if needed, and watch until that ends; return the seconds to pause."""
        try:
            events = self._step()
        except Exception as error:
            known = error if isinstance(error, ApiError) else ApiError(200, "InternalError", str(error))
            self._cursor = cursor_after_failure(self._cursor, known)
            pause = pause_after_failure(self._cursor, known, self._jitter())
            if pause and not self._stopping.is_set():
                self._tell(self, WatchFailed(error))
            return pause
        self._cursor = cursor_after_end(self._cursor, events)
        return pause_after_end(self._cursor, self._jitter())

    def _step(self) -> int:
        """List if needed, and watch; return the number of events."""
        if not self._cursor.version:
            self._list()
        seconds = WATCH_SECONDS + int(WATCH_JITTER * self._jitter())
        request = self.collection.watch_request(self._cursor.version, seconds)
        events = 0
        with closing(self._connection.lines(request, SILENCE_SECONDS)) as lines:
            self._tell(self, Connected())
            try:
                for line in lines:
                    self._take(line)
                    events += 1
                    if self._cursor.failures:
                        self._cursor = self._cursor._replace(failures=0)
                        self._tell(self, Recovered())
            except ApiError as error:
                if error.reason != "TimeoutError":  # silence may be all that there is to say: asked again
                    raise
        return events

    def _take(self, line: bytes) -> None:
        seen = parse_watch_event(line)
        if seen.object is not None:
            uid = uid_of(seen.object)
            item = None if seen.is_gone else self.read(seen.object)
            if item is None:
                known = self._known.pop(uid, None) is not None
            else:
                known = self._known.get(uid) != item
                self._known[uid] = item
            if known:
                self._tell(self, Changed(uid, item))
        self._cursor = self._cursor._replace(version=seen.version)

    def _list(self) -> None:
        items: dict[str, T] = {}

        def take(tree: Tree) -> None:
            item = self.read(tree)
            if item is not None:
                items[uid_of(tree)] = item

        limit, token, version = self.collection.page, "", ""
        while token or not version:
            try:
                version, token = parse_page(self._ask(limit, token), take)
            except ApiError as error:
                if error.reason != "TooLarge" or limit == 1:
                    raise
                limit = max(1, limit // 4)
        self._known = items
        self._cursor = self._cursor._replace(version=version)
        self._tell(self, Listed(dict(items)))

    def _ask(self, limit: int, token: str) -> str:
        """Return the text of a page."""
        answer = self._connection(self.collection.list_request(limit, token))
        if answer.status != 200:
            response_object(answer)
        return answer.body.decode(errors="replace")


_BATCH_SECONDS = 0.001  # seconds: what comes so soon after the first change comes with it


class WatchContext(NamedTuple):
    """What watches need.

    `connect` makes a connection for each watch, which reads at most MAX_RESPONSE_BYTES at once. `jitter`
    returns numbers from 0 to 1.
    """

    connect: Callable[[], Connection]
    namespace: str  # of the timetables of the site
    log: Log
    now: Callable[[], float]
    jitter: Callable[[], float]
    renku_token_file: str = ""  # empty: Renku is asked without a token


class _Watch(NamedTuple):
    watcher: Watcher[object]
    reader: Reader


class WatchManager:
    """Starts and stops watches, and hands over their messages."""

    def __init__(self, watch_context: WatchContext) -> None:
        self._context = watch_context
        self._watches: dict[Collection, _Watch] = {}
        self._failing: dict[Collection, float] = {}  # since when
        # All that threads share with the caller; both are safe without a lock.
        self._messages: deque[tuple[Watcher[object], Message[object]]] = deque()
        self._news = threading.Event()

    def arrange(self, wanted: Mapping[Collection, Reader]) -> None:
        """Watch exactly these collections. With another reader, a collection is listed again."""
        for collection in [known for known in self._watches if known not in wanted]:
            self._watches.pop(collection).watcher.stop()
            self._failing.pop(collection, None)
        for collection, reader in wanted.items():
            known = self._watches.get(collection)
            if known is not None and known.reader == reader:
                continue
            if known is not None:
                known.watcher.stop()
            watch_context = self._context
            watcher = Watcher(
                collection, reader.read, watch_context.connect(), self._tell, watch_context.jitter
            )
            watcher.start()
            self._watches[collection] = _Watch(watcher, reader)

    def wait(self, seconds: float) -> None:
        """Wait for a message, or so many seconds."""
        if self._news.wait(seconds):
            time.sleep(_BATCH_SECONDS)

    def wake(self) -> None:
        """End a wait. May be called from any thread."""
        self._news.set()

    def news(self, now: float) -> Iterator[tuple[Reader, Listed[object] | Changed[object]]]:
        """Yield the messages since the last call, in order, with their readers; log failures."""
        self._news.clear()
        while self._messages:
            watcher, message = self._messages.popleft()
            collection = watcher.collection
            watch = self._watches.get(collection)
            if watch is None or watch.watcher is not watcher:
                continue
            if isinstance(message, Listed | Changed):
                yield watch.reader, message
            elif isinstance(message, Connected):
                self._failing.pop(collection, None)
            elif isinstance(message, Recovered):
                self._context.log.works(_subject(collection))
            else:
                self._failing.setdefault(collection, now)
                self._context.log.trouble(_subject(collection), message.error)

    def failing_for(self, collection: Collection, now: float) -> float:
        """Return for how many seconds the collection has not been readable; 0 if it is."""
        since = self._failing.get(collection, now)
        if since > now:  # the clock was set back
            self._failing[collection] = since = now
        return now - since

    def close(self) -> None:
        """Stop all watches."""
        watches = [*self._watches.values()]
        self.arrange({})
        for watch in watches:
            watch.watcher.join(1.0)

    def _tell(self, watcher: Watcher[object], message: Message[object]) -> None:
        self._messages.append((watcher, message))
        if not isinstance(message, Connected | Recovered):
            self._news.set()


def _subject(collection: Collection) -> str:
    return f"watch of {collection.path}"
