"""Looks at the cluster again and again, while a story happens."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tests.e2e.direct import Mirror


class Looking(ABC):
    """Looks at mirrored lists every `interval` seconds, from `start` until `stop`."""

    def __init__(self, mirrors: Sequence[Mirror], interval: float) -> None:
        self._all = mirrors
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    def _look(self, at: float) -> None:
        """Note what is there at this instant, in seconds since the epoch."""

    def start(self) -> None:
        for mirror in self._all:
            mirror.start()
        self._thread.start()

    def stop(self) -> None:
        """Harmless when it has not begun."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for mirror in self._all:
            mirror.leave()
        for mirror in self._all:
            mirror.stop()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            self._look(time.time())
