"""How long pods waited for a node, as a watch sees it."""

import threading
import time

from tests.e2e.direct import Direct, RefusedError


class PendingTimes:
    """Of the pods of a list path that are made from `start` until `stop`."""

    def __init__(self, direct: Direct, path: str) -> None:
        self._direct = direct
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._since: dict[str, float] = {}
        self.waited: dict[str, float] = {}  # seconds, by name

    def start(self) -> None:
        self._version = self._direct.get(self._path)["metadata"]["resourceVersion"]
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        for name in list(self._since):
            self._over(name)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                for event in self._direct.watch(self._path, self._version, self._stop):
                    pod = event["object"]
                    self._version = pod["metadata"]["resourceVersion"]
                    self._see(event["type"], pod["metadata"]["name"], "nodeName" in pod["spec"])
            except RefusedError:
                continue

    def _see(self, kind: str, name: str, placed: bool) -> None:
        if kind == "ADDED" and not placed:
            self._since[name] = time.monotonic()
        elif kind == "DELETED" or placed:
            self._over(name)

    def _over(self, name: str) -> None:
        since = self._since.pop(name, None)
        if since is not None:
            self.waited[name] = time.monotonic() - since
