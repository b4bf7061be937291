"""Nodes, pods and Reservations in a few words, and a world of values in which the scheduler's decisions come
true.
"""

from collections.abc import Iterable
from random import Random
from typing import Any

from berth.core.jsonvalues import instant_text, parse_instant

from tests.koordinator.amounts import Tree
from tests.koordinator.claiming import DEFAULTS, Settings
from tests.koordinator.deciding import Action, Bind, Delete, Evict, Seen, SetStatus, Wait, allocation, decide
from tests.koordinator.objects import (
    ALLOCATED,
    metadata,
    node_of,
    owners_of,
    phase_of,
    spec_of,
    status_of,
    uid_of,
)
from tests.koordinator.remembering import Memory

SCHEDULER = "koord-scheduler"
NOON = parse_instant("2026-02-02T12:00:00Z")
SESSION = {"labelSelector": {"matchLabels": {"app": "session"}}}
NEVER = "720h"


def node(name: str = "n1", cpu: str = "4", pods: str = "110", **more: Any) -> Tree:
    """`labels` are known by; the rest is its spec."""
    labels = {"kubernetes.io/hostname": name, **more.pop("labels", {})}
    room = {"cpu": cpu, "memory": "64Gi", "pods": pods}
    meta = {"name": name, "uid": f"uid-of-{name}", "labels": labels, "creationTimestamp": instant_text(NOON)}
    return {"metadata": meta, "spec": more, "status": {"allocatable": room}}


def pod(name: str, cpu: str = "1", at: str = "", **more: Any) -> Tree:
    """A session; `at` is the node that it runs on. `labels`, `annotations` and `owners` (references) are its
    metadata's, `phase` its status's; the rest is its spec.
    """
    meta = {
        "name": name,
        "namespace": more.pop("namespace", "hub"),
        "uid": f"uid-of-{name}",
        "creationTimestamp": instant_text(NOON),
        "labels": more.pop("labels", {"app": "session"}),
        "annotations": more.pop("annotations", {}),
        "ownerReferences": more.pop("owners", []),
    }
    status = {"phase": more.pop("phase", "Running" if at else "Pending"), **more.pop("status", {})}
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    spec = {"schedulerName": SCHEDULER, "containers": containers, **more}
    return {"metadata": meta, "spec": {**spec, **({"nodeName": at} if at else {})}, "status": status}


def reservation(name: str = "r1", cpu: str = "1", template: Tree | None = None, **more: Any) -> Tree:
    """As the API server gives it: with the CRD's defaults, and without a status. `labels` and `annotations`
    are its own, `template` more of its pod's spec; the rest is its spec.
    """
    meta = {
        "name": name,
        "uid": f"uid-of-{name}",
        "resourceVersion": "1",
        "creationTimestamp": instant_text(more.pop("created", NOON)),
        "labels": more.pop("labels", {}),
        "annotations": more.pop("annotations", {}),
    }
    containers = [{"resources": {"requests": {"cpu": cpu}}}]
    spec = {"schedulerName": SCHEDULER, "containers": containers, **(template or {})}
    said = {
        "template": {"spec": spec},
        "owners": [SESSION],
        "ttl": NEVER,
        "allocateOnce": False,
        "allocatePolicy": "Restricted",
        **more,
    }
    return {"metadata": meta, "spec": {key: value for key, value in said.items() if value is not None}}


class World:
    """`now` is in seconds since the epoch; nothing happens but in `look`."""

    def __init__(self, *trees: Tree, settings: Settings = DEFAULTS) -> None:
        """Nodes have a room, Reservations a template; the rest are pods."""
        self.now = float(NOON)
        self.settings = settings
        self.nodes: dict[str, Tree] = {}
        self.pods: dict[str, Tree] = {}
        self.reservations: dict[str, Tree] = {}
        self.add(*trees)

    def add(self, *trees: Tree) -> None:
        for tree in trees:
            if "template" in spec_of(tree):
                kind = self.reservations
            else:
                kind = self.nodes if "allocatable" in status_of(tree) else self.pods
            kind[metadata(tree)["name"]] = tree

    def seen(self) -> Seen:
        return Seen(list(self.nodes.values()), list(self.pods.values()), list(self.reservations.values()))

    def look(self, times: int = 3) -> list[Action]:
        """What the last of so many looks wanted; by the third nothing is new, but what still waits."""
        actions: list[Action] = []
        for _ in range(times):
            actions = decide(self.now, self.seen(), [SCHEDULER], self.settings)
            self.apply(actions)
        return actions

    def apply(self, actions: Iterable[Action]) -> None:
        for action in actions:
            if isinstance(action, SetStatus):
                self._set_status(action)
            elif isinstance(action, Bind):
                self._bind(action)
            elif isinstance(action, Delete):
                del self.reservations[metadata(action.reservation)["name"]]
            elif isinstance(action, Evict):
                del self.pods[metadata(action.pod)["name"]]
            else:
                assert isinstance(action, Wait)

    def _set_status(self, action: SetStatus) -> None:
        tree = action.reservation
        self.reservations[metadata(tree)["name"]] = {**tree, "status": action.status}
        for donor in action.donors:
            metadata(self.pods[metadata(donor)["name"]])["annotations"] = {ALLOCATED: allocation(tree)}

    def _bind(self, action: Bind) -> None:
        found = self.pods[metadata(action.pod)["name"]]
        assert "nodeName" not in spec_of(found)
        found["spec"]["nodeName"] = action.node
        found["status"]["phase"] = "Running"
        if action.allocated:
            found["metadata"]["annotations"] = {**metadata(found)["annotations"], ALLOCATED: action.allocated}

    def phases(self) -> dict[str, str]:
        return {name: phase_of(one) for name, one in self.reservations.items()}

    def owners(self) -> dict[str, list[str]]:
        """By Reservation, the pods that its status names."""
        return {name: owners_of(one) for name, one in self.reservations.items()}

    def where(self) -> dict[str, str]:
        """By name of pods and Reservations, their nodes; those that wait are not in it."""
        pods = {name: spec_of(one).get("nodeName", "") for name, one in self.pods.items()}
        slots = {name: node_of(one) for name, one in self.reservations.items()}
        return {name: node for name, node in {**pods, **slots}.items() if node}

    def waits(self) -> dict[str, str]:
        """Why pods wait."""
        actions = decide(self.now, self.seen(), [SCHEDULER], self.settings)
        return {metadata(one.pod)["name"]: one.message for one in actions if isinstance(one, Wait)}

    def refused(self, name: str) -> str:
        """What the condition of a Reservation says that waits."""
        conditions = status_of(self.reservations[name])["conditions"]
        return str(next(one["message"] for one in conditions if one["type"] == "Scheduled"))

    def pass_hours(self, hours: float) -> None:
        self.now += hours * 3600

    def end(self, name: str) -> None:
        """The pod is over, and not deleted yet."""
        self.pods[name]["status"]["phase"] = "Succeeded"

    def uid(self, name: str) -> str:
        return uid_of(self.pods.get(name) or self.reservations[name])


class Remembering(World):
    """A world whose scheduler remembers."""

    def begin(self, seed: int = 0, between: float = 0.0) -> None:
        self.memory = Memory(Random(seed), between)

    def look(self, times: int = 3) -> list[Action]:
        actions: list[Action] = []
        for _ in range(times):
            actions = self.memory.look(self.now, self.now, self.seen(), [SCHEDULER], self.settings)
            self.apply(actions)
        return actions

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.look()


def settled(*trees: Tree) -> World:
    """One in which the scheduler has done its work."""
    world = World(*trees)
    world.look()
    return world
