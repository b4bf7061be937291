"""All watches of a scaler: begins and stops them as they are wanted, and hands over what they tell."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from gen.runtime.collection import Collection
from gen.runtime.connection import Connection
from gen.runtime.log import Log
from gen.runtime.readers import Item, Reader
from gen.runtime.watcher import Changed, Listed, Live, Message, Proved, Watcher

_TOGETHER = 0.001  # seconds: what comes so soon after the first change comes with it


class Means(NamedTuple):
    """What is needed to look. `connect` makes a connection for each watch, with `gen.runtime.watcher.MOST` as
    the most that it reads at once; `jitter` gives numbers from 0 to 1.
    """

    connect: Callable[[], Connection]
    namespace: str  # of the timetables of the site
    log: Log
    now: Callable[[], float]
    jitter: Callable[[], float]
    renku_token_file: str = ""  # empty: Renku is asked without a token


class _Watch(NamedTuple):
    watcher: Watcher[Item]
    reader: Reader


class Lookout:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._watches: dict[Collection, _Watch] = {}
        self._failing: dict[Collection, float] = {}  # since when
        # All that threads share with the caller; both are safe without a lock.
        self._messages: deque[tuple[Watcher[Item], Message[Item]]] = deque()
        self._news = threading.Event()

    def arrange(self, wanted: Mapping[Collection, Reader]) -> None:
        """Watches these, and nothing else. With another reader than before, a collection is listed again."""
        for collection in [known for known in self._watches if known not in wanted]:
            self._watches.pop(collection).watcher.stop()
            self._failing.pop(collection, None)
        for collection, reader in wanted.items():
            known = self._watches.get(collection)
            if known is not None and known.reader == reader:
                continue
            if known is not None:
                known.watcher.stop()
            means = self._means
            watcher = Watcher(collection, reader.read, means.connect(), self._tell, means.jitter)
            watcher.start()
            self._watches[collection] = _Watch(watcher, reader)

    def wait(self, seconds: float) -> None:
        if self._news.wait(seconds):
            time.sleep(_TOGETHER)

    def wake(self) -> None:
        """From any thread."""
        self._news.set()

    def news(self, now: float) -> Iterator[tuple[Reader, Listed[Item] | Changed[Item]]]:
        """What has come since, in order, and by which reader. Trouble is told to the log."""
        self._news.clear()
        while self._messages:
            watcher, message = self._messages.popleft()
            collection = watcher.collection
            watch = self._watches.get(collection)
            if watch is None or watch.watcher is not watcher:
                continue
            if isinstance(message, Listed | Changed):
                yield watch.reader, message
            elif isinstance(message, Live):
                self._failing.pop(collection, None)
            elif isinstance(message, Proved):
                self._means.log.works(_subject(collection))
            else:
                self._failing.setdefault(collection, now)
                self._means.log.trouble(_subject(collection), message.error)

    def failing_for(self, collection: Collection, now: float) -> float:
        """Seconds for which nothing could be heard of it; 0: all is well."""
        since = self._failing.get(collection, now)
        if since > now:  # the clock was set back
            self._failing[collection] = since = now
        return now - since

    def close(self) -> None:
        watches = [*self._watches.values()]
        self.arrange({})
        for watch in watches:
            watch.watcher.join(1.0)

    def _tell(self, watcher: Watcher[Item], message: Message[Item]) -> None:
        self._messages.append((watcher, message))
        if not isinstance(message, Live | Proved):
            self._news.set()


def _subject(collection: Collection) -> str:
    return f"watch of {collection.path}"
