"""A fake koord-scheduler: watches an API server, and writes what `deciding` says.

It keeps what its own writes were answered with, so that a look never goes by what it has changed since.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from berth.core.slots import ALLOCATED

from tests.e2e.direct import Direct, Mirror, RefusedError, at_once
from tests.koordinator.deciding import NO_ROOM, Action, Bind, Delete, Evict, Seen, SetStatus, Wait, seen
from tests.koordinator.objects import Tree, allocation, metadata, spec_of, uid_of
from tests.koordinator.remembering import Memory

NAME = "koord-scheduler"
GROUP = "scheduling.koordinator.sh/v1alpha1"
RESERVATIONS = f"/apis/{GROUP}/reservations"
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"
GATHERING = 0.05  # seconds in which news that come together are waited for
LONGEST = 1.0  # seconds between looks, for what only the clock changes


class FakeScheduler:
    """Like the leader of the real ones: a new one knows nothing of what an old one had seen."""

    def __init__(
        self,
        direct: Direct,
        schedulers: Sequence[str] = (NAME,),
        clock: Callable[[], float] = time.time,
        seed: int = 0,
    ) -> None:
        self._direct, self._schedulers, self._clock = direct, schedulers, clock
        self._news, self._stop = threading.Event(), threading.Event()
        self._nodes, self._pods, self._reservations = (
            Mirror(direct, path, self._news.set) for path in (NODES, PODS, RESERVATIONS)
        )
        self._thread = threading.Thread(target=self._run, daemon=True, name=NAME)
        self._known: Seen | None = None
        self._memory = Memory(Random(seed))
        self._told: set[str] = set()  # uids of pods that know that they wait
        self.troubles: list[str] = []  # of its own, as a test wants to know them

    def start(self) -> None:
        for one in (self._nodes, self._pods, self._reservations, self._thread):
            one.start()

    def leave(self) -> None:
        """It ends soon, and nobody waits for it."""
        self._stop.set()
        self._news.set()
        for one in (self._nodes, self._pods, self._reservations):
            one.leave()

    def stop(self) -> None:
        """Harmless when it has not begun."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join()
        for one in (self._nodes, self._pods, self._reservations):
            one.stop()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._news.wait(max(0.0, min(LONGEST, self._memory.due - time.monotonic())))
            self._stop.wait(GATHERING)
            self._news.clear()
            try:
                self._look()
            except Exception as error:
                self.troubles.append(repr(error))

    def _look(self) -> None:
        mirrors = (self._nodes, self._pods, self._reservations)
        if not all(one.has_listed for one in mirrors):
            return
        self._known = seen(self._known, Seen(*(one.objects() for one in mirrors)))
        if self._known is None:
            return
        actions = self._memory.look(time.monotonic(), self._clock(), self._known, self._schedulers)
        if actions:
            at_once([partial(self._try, one) for one in actions])

    def _try(self, action: Action) -> None:
        """Whoever has changed the object meanwhile has won; the next look goes by that."""
        try:
            self._do(action)
        except RefusedError as error:
            if error.status not in (0, 404, 409):
                self.troubles.append(str(error))

    def _do(self, action: Action) -> None:
        if isinstance(action, SetStatus):
            self._set_status(action)
        elif isinstance(action, Bind):
            self._bind(action)
        elif isinstance(action, Wait):
            self._wait(action)
        elif isinstance(action, Evict):
            self._direct.delete(_path(action.pod), preconditions={"uid": uid_of(action.pod)})
        else:
            self._delete(action)

    def _set_status(self, action: SetStatus) -> None:
        tree = action.reservation
        for donor in action.donors:
            self._pods.learn(self._annotate(donor, allocation(tree)))
        body = {"apiVersion": GROUP, "kind": "Reservation", **tree, "status": action.status}
        path = f"{RESERVATIONS}/{metadata(tree)['name']}/status"
        self._reservations.learn(self._direct.ask("PUT", path, body))

    def _annotate(self, pod: Tree, allocated: str) -> Tree:
        patch = {"metadata": {"uid": uid_of(pod), "annotations": {ALLOCATED: allocated}}}
        return self._direct.patch(_path(pod), patch)

    def _bind(self, action: Bind) -> None:
        pod = self._annotate(action.pod, action.allocated) if action.allocated else action.pod
        name = metadata(pod)["name"]
        target = {"apiVersion": "v1", "kind": "Node", "name": action.node}
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "uid": uid_of(pod)},
            "target": target,
        }
        self._direct.create(f"{_path(pod)}/binding", body)
        self._pods.learn({**pod, "spec": {**spec_of(pod), "nodeName": action.node}})

    def _wait(self, action: Wait) -> None:
        """Told once."""
        pod = action.pod
        if uid_of(pod) in self._told:
            return
        self._told.add(uid_of(pod))
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": NO_ROOM}
        self._direct.patch(f"{_path(pod)}/status", {"status": {"conditions": [condition]}})

    def _delete(self, action: Delete) -> None:
        tree = action.reservation
        self._direct.delete(f"{RESERVATIONS}/{metadata(tree)['name']}", preconditions={"uid": uid_of(tree)})


def _path(pod: Tree) -> str:
    meta = metadata(pod)
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
