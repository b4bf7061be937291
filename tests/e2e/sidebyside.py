"""Stories that happen at the same time in one cluster, each in namespaces of its own, by one clock.

The module of a story has a function `tell`, which makes it happen and returns what was seen; its tests judge
that. A story that fails fails the tests of its own module, and no others.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tests.e2e import project, secondrun, windows
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.project import Document
from tests.e2e.windows import MINUTE

# The minute at which each begins. Where many windows open in one minute each of them is late, so no two
# stories begin together that count seconds. The faults take the controllers away before the others begin, and
# the API server when those of placeholders have ended and those of slots and nodes have not begun.
BEGINS: Mapping[str, int] = {
    "test_faults": 0,
    "test_windows": 4,
    "test_sweep": 4,
    "test_images": 5,
    "test_quickstart": 5,
    "test_status": 6,
    "test_sessions": 6,
    "test_preflight": 8,
    "test_koordinator_outage": 9,  # with the faults' own outage
    "test_held_faults": 9,  # the same
    "test_takeover": 13,  # it prepares after the faults' own outage
    "test_koordinator": 14,
    "test_held_numbers": 15,
    "test_devices": 16,
    "test_karpenter": 17,
    "test_rehearsals": 18,  # it counts the seconds of its Jobs: after the faults of numbers
}
LEAD = 60  # seconds until the first of them begins, for what all of them prepare
EARLY = 4  # minutes before it begins that a story prepares, where it can


class Stage(NamedTuple):
    cluster: Cluster
    folder: Path  # of this story alone
    opens: int  # its first minute, in seconds since the epoch
    undo: ExitStack  # what has to be undone when the last story has been judged

    def connect(self) -> Direct:
        """Return a connection that is open for as long as the story may be judged."""
        direct = Direct()
        self.undo.callback(direct.close)
        return direct

    def forget(self, *namespaces: str) -> None:
        """Delete namespaces in the end, without waiting for it."""
        words = ("delete", "namespace", *namespaces, "--ignore-not-found", "--wait=false")
        self.undo.callback(self.cluster.kubectl, *words)

    def apply(self, documents: Sequence[Document], namespace: str) -> Path:
        """Apply what is rendered of a project for the cluster `real`; return the folder of all clusters."""
        project.write(self.folder, documents)
        project.berth(self.folder, "render")
        rendered = self.folder / "rendered" / "clusters"
        self.cluster.apply(rendered / "real")
        self.forget(namespace)
        return rendered


class Stories:
    """Begin when this is made."""

    def __init__(
        self, cluster: Cluster, modules: Iterable[ModuleType], folder: Callable[[str], Path]
    ) -> None:
        told = {module.__name__: module.tell for module in modules}
        begins = {name: BEGINS[name.rpartition(".")[2]] for name in told}
        first = min(begins.values(), default=0)
        # A second run must not fail because it prepares in a hurry what has minutes beside others.
        early = min(first, EARLY) if secondrun.alone() else 0
        zero = windows.next_minute(LEAD) - (first - early) * MINUTE
        self._stages = {
            name: Stage(cluster, folder(name.rpartition("_")[2]), zero + begins[name] * MINUTE, ExitStack())
            for name in told
        }
        self._told: dict[str, Future[Any]] = {name: Future() for name in told}
        self._unjudged = set(told)
        for name, tell in told.items():
            # A daemon: whoever interrupts the tests does not wait for the story to end.
            threading.Thread(target=self._tell, args=(name, tell), name=name, daemon=True).start()

    def _tell(self, name: str, tell: Callable[[Stage], object]) -> None:
        try:
            self._told[name].set_result(tell(self._stages[name]))
        except BaseException as error:
            self._told[name].set_exception(error)

    @contextmanager
    def judged(self, name: str) -> Iterator[Any]:
        """What the module of this name has told, once it has; the error with which it failed is raised."""
        try:
            yield self._told[name].result()
        finally:
            self._unjudged.discard(name)
            if not self._unjudged:
                self._undo()

    def _undo(self) -> None:
        """Of those that have ended: where a test run is interrupted, the rest ends with the cluster."""
        with ExitStack() as undo:
            for name, stage in self._stages.items():
                if self._told[name].done():
                    undo.push(stage.undo)
