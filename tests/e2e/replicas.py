"""Every number of replicas that the Deployments of a namespace were ever asked for, by a watch.

Looks from time to time would miss a reset that the occurrence puts right within the second.
"""

import threading
import time

from tests.e2e.direct import Direct, Object, RefusedError
from tests.e2e.errors import E2EError


class Replicas:
    def __init__(self, namespace: str) -> None:
        self._direct = Direct()
        self._path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._changes: dict[str, list[tuple[float, int]]] = {}
        self._generations: dict[str, int] = {}
        self._lost = ""

    def start(self) -> None:
        """From here on nothing is missed; what is there now is the beginning."""
        self._list()
        self._thread.start()

    def _list(self) -> None:
        listed = self._direct.get(self._path)
        for one in listed["items"] or []:
            self._note(one)
        self._version = listed["metadata"]["resourceVersion"]

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._direct.close()
        if self._lost:
            raise E2EError(f"changes of {self._path} were missed: {self._lost}")

    def _run(self) -> None:
        """A watch that ends is resumed where it ended. An API server that was restarted does not know that
        version any more: then a list shows by the generations whether anything was missed.
        """
        while not self._stop.is_set():
            try:
                for event in self._direct.watch(self._path, self._version, self._stop):
                    if event["type"] == "ERROR":
                        self._list()
                        break
                    self._version = event["object"]["metadata"]["resourceVersion"]
                    self._note(event["object"])
            except RefusedError:
                time.sleep(0.3)

    def _note(self, deployment: Object) -> None:
        wanted, name = deployment["spec"]["replicas"], deployment["metadata"]["name"]
        generation = deployment["metadata"]["generation"]
        if generation > self._generations.get(name, generation) + 1:
            self._lost += f" {name}: generations {self._generations[name]} to {generation};"
        self._generations[name] = generation
        known = self._changes.setdefault(name, [])
        if not known or known[-1][1] != wanted:
            known.append((time.time(), wanted))

    def changes(self, pool: str) -> list[tuple[float, int]]:
        """When the number became another (seconds since the epoch), beginning with the first."""
        return list(self._changes.get(pool, ()))

    def steps(self, pool: str) -> list[int]:
        return [wanted for _, wanted in self.changes(pool)]

    def between(self, pool: str, first: float, last: float) -> list[int]:
        """The number at `first`, and each that it became until `last`."""
        before = [wanted for at, wanted in self.changes(pool) if at <= first][-1:]
        return before + [wanted for at, wanted in self.changes(pool) if first < at < last]
