"""Keeps up with one collection in a thread of its own, and tells what is there and what changes.

It lists in pages and then watches, line by line, over one connection. It never gives up: after a failure it
pauses, and goes on from where it was, or lists again.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Generic, NamedTuple, TypeVar

from gen.runtime.api import ApiError, tree_of
from gen.runtime.collection import Collection
from gen.runtime.connection import Connection
from gen.runtime.kinds import uid_of
from gen.runtime.pages import page
from gen.runtime.watching import (
    Course,
    Tree,
    ended,
    event,
    failed,
    pause_after_end,
    pause_after_failure,
)

T = TypeVar("T")

# Only what is touched of it takes memory. Less would not do: Python 3.13 lets JSON nest as deep as the stack
# of a main thread allows, and in a smaller one the process would die of it.
STACK = 8 << 20
# Bytes of a page, and of an event. A page that is larger is asked for again in smaller pieces.
MOST = 8 << 20
SILENCE = 120.0  # seconds without a byte; a server tells its version once a minute
SHORTEST, JITTER = 240, 60  # seconds for which a watch is asked for


def start(thread: threading.Thread) -> None:
    before = threading.stack_size(STACK)
    try:
        thread.start()
    finally:
        threading.stack_size(before)


class Listed(NamedTuple, Generic[T]):
    """These are all that are there now, by uid."""

    items: dict[str, T]


class Changed(NamedTuple, Generic[T]):
    """None: it is gone, or nothing to us any more."""

    uid: str
    item: T | None


class Live(NamedTuple):
    """The watch is on: whatever happens will be told."""


class Proved(NamedTuple):
    """The watch has told something, or has ended well, for the first time after a failure."""


class Trouble(NamedTuple):
    error: Exception


Message = Listed[T] | Changed[T] | Live | Proved | Trouble


class Watcher(Generic[T]):
    """`read` says what an object is to us; None: nothing. `tell` is called from the thread."""

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
        self._course = Course()
        self._known: dict[str, T] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        start(self._thread)

    def stop(self) -> None:
        """Tells nothing any more, but for what it is telling now."""
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
        """Lists if need be and watches until that ends. Seconds to pause."""
        try:
            events = self._step()
        except Exception as error:
            known = error if isinstance(error, ApiError) else ApiError(200, "Bug", str(error))
            self._course = failed(self._course, known)
            pause = pause_after_failure(self._course, known, self._jitter())
            if pause and not self._stopping.is_set():
                self._tell(self, Trouble(error))
            return pause
        self._course = ended(self._course, events)
        return pause_after_end(self._course, self._jitter())

    def _step(self) -> int:
        """The number of events."""
        if not self._course.version:
            self._list()
        seconds = SHORTEST + int(JITTER * self._jitter())
        request = self.collection.watch_request(self._course.version, seconds)
        events = 0
        with closing(self._connection.lines(request, SILENCE)) as lines:
            self._tell(self, Live())
            try:
                for line in lines:
                    self._take(line)
                    events += 1
                    if self._course.failures:
                        self._course = self._course._replace(failures=0)
                        self._tell(self, Proved())
            except ApiError as error:
                if error.reason != "TimeoutError":  # silence may be all that there is to say: asked again
                    raise
        return events

    def _take(self, line: bytes) -> None:
        seen = event(line)
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
        self._course = self._course._replace(version=seen.version)

    def _list(self) -> None:
        items: dict[str, T] = {}

        def take(tree: Tree) -> None:
            item = self.read(tree)
            if item is not None:
                items[uid_of(tree)] = item

        limit, token, version = self.collection.page, "", ""
        while token or not version:
            try:
                version, token = page(self._ask(limit, token), take)
            except ApiError as error:
                if error.reason != "TooLarge" or limit == 1:
                    raise
                limit = max(1, limit // 4)
        self._known = items
        self._course = self._course._replace(version=version)
        self._tell(self, Listed(dict(items)))

    def _ask(self, limit: int, token: str) -> str:
        """The text of a page."""
        answer = self._connection(self.collection.list_request(limit, token))
        if answer.status != 200:
            tree_of(answer)
        return answer.body.decode(errors="replace")
