"""Watches of collections: a thread for each collection, and a manager that starts and stops them.

A watcher lists in pages, then watches over one connection. After a failure it pauses and continues from the
last resourceVersion, or lists again.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Generic, NamedTuple, Protocol, TypeVar

from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import ApiError, response_object
from berth.runtime.connection import Connection
from berth.runtime.lists import (
    Collection,
    WatchCursor,
    cursor_after_end,
    cursor_after_failure,
    parse_page,
    parse_watch_event,
    pause_after_end,
    pause_after_failure,
    uid_of,
)
from berth.runtime.program import Log

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
