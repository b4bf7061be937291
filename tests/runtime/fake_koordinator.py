"""Reservations of Koordinator in memory, one node with pods of sessions and of placeholders, and the fake
scheduler.
"""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from berth.backends.koordinator.slottypes import why_unread
from berth.core.jsonvalues import instant_text, parse_instant
from berth.core.labels import CLASS, RESERVATION, SITE
from berth.core.objects import SLOT
from berth.plugins.slots.slots import ALLOCATED
from berth.runtime.apiclient import Request, Response

from tests.koordinator.deciding import Bind, Seen, SetStatus, expired
from tests.koordinator.objects import (
    Tree,
    allocated_to,
    allocation,
    is_available,
    metadata,
    node,
    owners_of,
    phase_of,
    pod,
    spec_of,
    uid_of,
)
from tests.koordinator.remembering import Memory
from tests.objectstore import ObjectStore, Target, target

PATH = SLOT.path("")
SESSIONS, PLACEHOLDERS, OTHERS = "students", "berth", "others"  # the namespaces of pods
NODE, LOST = "n1", "lost"  # the node that there is, and one that there was
RUNNING: Tree = {"phase": "Running"}


class FakeKoordinator:
    """A transport for what concerns Reservations."""

    def __init__(self, now: Callable[[], float], seed: int = 0) -> None:
        self.now = now
        self.memory = Memory(Random(seed))
        self.store = _Slots(self)
        self.objects = self.store.all_in(PATH)  # by name
        self.pods: dict[str, Tree] = {}  # by name
        self.room = 1_000_000  # seats of one CPU that fit on the node
        self.writes: list[tuple[str, str]] = []  # verb and name
        self.used_deletes: list[tuple[str, str]] = []  # when which slot was removed while a session used it
        self.on_write: Callable[[], object] = lambda: None
        self._version = 100
        self._settled: dict[bool, tuple[object, float]] = {}  # in which state nothing was to do, until when

    def put(self, name: str, tree: Tree, **status: Any) -> None:
        """As somebody else would: created now if it is new."""
        known = self.objects.get(name, {}).get("metadata", {})
        metadata = {**known, **tree["metadata"], "name": name}
        self.store.put(PATH, {**tree, "metadata": metadata, **({"status": status} if status else {})})

    def put_slot(self, name: str, shape: Tree) -> None:
        """Of a program of Berth, for the whole day."""
        self.put(
            name, {**shape, "spec": {**shape["spec"], "ttl": "24h0m0s", "expires": "2026-02-02T23:00:00Z"}}
        )

    def set(self, name: str, **status: Any) -> None:
        """Of a slot that is there."""
        tree = self.objects[name]
        self.put(name, tree, **{**tree.get("status", {}), **status})

    def phase(self, name: str) -> str:
        return phase_of(self.objects[name])

    def owners(self, name: str) -> list[str]:
        """As it is; the status tells it a little later."""
        mine = [pod for pod, tree in self.pods.items() if allocated_to(tree) == uid_of(self.objects[name])]
        return owners_of(self.objects[name]) or mine

    def of(self, phase: str) -> list[str]:
        """In the order of their creation."""
        return [name for name in self.objects if self.phase(name) == phase]

    def free(self) -> list[str]:
        return [name for name in self.of("Available") if not self.owners(name)]

    def used(self) -> list[str]:
        return [name for name in self.of("Available") if self.sessions(name)]

    def sessions(self, name: str) -> list[str]:
        places = self._places()
        return self.told_sessions(name) or [owner for owner in self.owners(name) if owner not in places]

    def told_sessions(self, name: str) -> list[str]:
        """Those that the status names."""
        found = self.objects[name].get("status", {}).get("currentOwners") or []
        return [one["name"] for one in found if one["namespace"] == SESSIONS]

    @property
    def placeholders(self) -> list[str]:
        """Pods that are on the node."""
        return [name for name, place in self._places().items() if "nodeName" in spec_of(place)]

    def _places(self) -> dict[str, Tree]:
        return {name: one for name, one in self.pods.items() if metadata(one)["namespace"] == PLACEHOLDERS}

    # What the scheduler does.

    def schedule(self) -> None:
        """All that is due."""
        self._decide()

    def _decide(self, *, all_wait: bool = False) -> None:
        """Until nothing is left to do. If `all_wait`, slots that wait for the scheduler go on waiting."""
        state, until = self._settled.get(all_wait, (None, 0.0))
        if state == self._state() and self.now() <= until:
            return  # most of the time: nothing has changed since, and nothing is due
        for _ in range(5):
            room = node(NODE, cpu=str(self.room))
            there = [object_ for object_ in self.objects.values() if is_available(object_) or not all_wait]
            seen = Seen(room, list(self.pods.values()), there)
            done = [self._do(action) for action in self.memory.look(self.now(), seen)]
            if not any(done):
                self._settled[all_wait] = (self._state(), min(self._next_end(), self.memory.due))
                return

    def _state(self) -> object:
        return self._version, self.store.version, self.room, len(self.objects), len(self.pods)

    def _next_end(self) -> float:
        ends = (object_["spec"].get("expires") for object_ in self.objects.values() if is_available(object_))
        return min((parse_instant(end) for end in ends if end), default=float("inf"))

    def _do(self, action: object) -> bool:
        match action:
            case SetStatus(tree, status, donors):
                for donor in donors:
                    self._allocate(metadata(donor)["name"], tree)
                self.put(metadata(tree)["name"], tree, **status)
            case Bind(tree, allocated):
                name = metadata(tree)["name"]
                self._version += 1
                self.pods[name] = {**tree, "spec": {**spec_of(tree), "nodeName": NODE}, "status": RUNNING}
                if allocated:
                    self.pods[name]["metadata"] = {**metadata(tree), "annotations": {ALLOCATED: allocated}}
            case _:
                return False
        return True

    def _allocate(self, name: str, reservation: Tree) -> None:
        self._version += 1
        known = {**metadata(self.pods[name]), "annotations": {ALLOCATED: allocation(reservation)}}
        self.pods[name] = {**self.pods[name], "metadata": known}

    def release(self, pod: str) -> None:
        """Its annotation goes: it owns no slot any more, and stays where it is."""
        self._version += 1
        self.pods[pod] = {**self.pods[pod], "metadata": {**metadata(self.pods[pod]), "annotations": {}}}

    def scale(self, replicas: int) -> int:
        """Pods of the Deployment come and go, those first that wait for room. How many have it."""
        pods = self._places()
        there = sorted(pods, key=lambda name: "nodeName" in spec_of(pods[name]), reverse=True)
        for name in there[replicas:]:
            self.leave(name)
        labels = {SITE: "example", RESERVATION: "course", CLASS: "small"}
        for _ in range(replicas - len(there)):
            self._version += 1
            name = f"course-small-5d5f7-{self._version}"
            self._come(name, labels=labels, namespace=PLACEHOLDERS, priority=-10)
        self._decide(all_wait=True)
        return len(self.placeholders)

    def _come(self, name: str, **more: Any) -> None:
        self._version += 1
        made = pod(name, **more)
        metadata(made).update(uid=f"uid-{self._version}", creationTimestamp=instant_text(int(self.now())))
        self.pods[name] = made

    def enter(self, session: str) -> None:
        """A session's pod is bound: to a slot if one is free, else wherever there is room. Slots that wait
        for the scheduler go on waiting. The status of the slot tells it later.
        """
        if session not in self.pods:
            self._come(session, namespace=SESSIONS)
        self._decide(all_wait=True)

    def ask(self, stranger: str, **more: Any) -> None:
        """A pod that may own no slot asks for a seat, and waits for it. `more` is its spec's."""
        self._come(stranger, namespace=OTHERS, labels={"app": "other"}, **more)
        self._decide(all_wait=True)

    def runs(self, pod: str) -> bool:
        return "nodeName" in spec_of(self.pods[pod])

    def take(self, name: str, session: str) -> None:
        """It has chosen this slot, and the status of the slot tells it already."""
        self._come(session, namespace=SESSIONS, at=NODE)
        self._allocate(session, self.objects[name])
        owner = {"namespace": SESSIONS, "name": session, "uid": uid_of(self.pods[session])}
        self.set(name, currentOwners=[owner])
        self._decide(all_wait=True)

    def leave(self, pod: str) -> None:
        if self.pods.pop(pod, None):
            self._decide(all_wait=True)

    def lose_nodes(self, *names: str) -> None:
        """Of these slots, with the pods that are in them."""
        for name in names:
            for owner in self.owners(name):
                self.pods.pop(owner, None)
            status = expired(self.objects[name], self.now())
            self.put(name, self.objects[name], **{**status, "nodeName": LOST})

    def __call__(self, request: Request) -> Response:
        answer = self.store.respond(request)
        if request.method != "GET" and answer.status in (200, 201):
            wanted = target(request.path)
            self.writes.append((request.method, wanted.name or json.loads(request.body)["metadata"]["name"]))
            self.on_write()
        return answer


class _Slots(ObjectStore):
    """Reservations at the API server, which takes no object that Koordinator could not read."""

    def __init__(self, koordinator: FakeKoordinator) -> None:
        super().__init__(koordinator.now)
        self._koordinator = koordinator

    def respond(self, request: Request) -> Response:
        assert request.method != "GET" or not target(request.path).name, "nobody may get one"
        return super().respond(request)

    def list(self, wanted: Target) -> Response:
        assert wanted.asked["labelSelector"], "it would read what belongs to others"
        assert wanted.asked["limit"]
        return super().list(wanted)

    def admitted(self, wanted: Target, tree: Tree) -> Tree:
        assert wanted.asked.keys() == {"fieldManager"}
        assert not why_unread(tree)
        return tree

    def merge(self, wanted: Target, tree: Tree, patch: Tree) -> Response:
        assert patch["metadata"]["resourceVersion"], "a session may have come in between"
        return super().merge(wanted, tree, patch)

    def delete(self, wanted: Target, tree: Tree, options: Tree) -> Response:
        assert options["preconditions"]["uid"], "it may be another one of that name"
        koordinator, name = self._koordinator, wanted.name
        is_used = koordinator.phase(name) == "Available" and bool(koordinator.told_sessions(name))
        answer = super().delete(wanted, tree, options)
        if is_used and answer.status == 200:
            koordinator.used_deletes.append((instant_text(int(self.clock()))[11:19], name))
        return answer


def names(found: Iterator[str] | list[str]) -> list[str]:
    """Without what all slots of the tests begin with."""
    return [name.removeprefix("example-course-small-") for name in found]
