"""An API server in memory with what belongs to a reservation: its timetable, its record and its pools.

It answers the stub servers of the tests over real sockets, too.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from berth.core.objects import CAPACITY_BUFFER, CONFIG_MAP, DEPLOYMENT, EVENT, LEASE, NODE_POOL, POD
from berth.core.timetable import OVERRIDE_ANNOTATION
from berth.runtime.apiclient import APPLY, Request, Response

from tests.objectstore import ObjectStore, Target, Tree, no_answer, refusal, target

NAMESPACE = "berth"
CONFIGMAPS, EVENTS = CONFIG_MAP.path(NAMESPACE), EVENT.path(NAMESPACE)
DEPLOYMENTS, PODS = DEPLOYMENT.path(NAMESPACE), POD.path(NAMESPACE)
LEASES = LEASE.path(NAMESPACE)
NODE_POOLS, BUFFERS = NODE_POOL.path(NAMESPACE), CAPACITY_BUFFER.path(NAMESPACE)
SERVED = {CONFIGMAPS, EVENTS, DEPLOYMENTS, LEASES, NODE_POOLS, BUFFERS}
MANAGERS = {"berth-scaler": "scaler", "berth-sweep": "sweep"}
BUFFER = "buffer/"  # what the name of a CapacityBuffer begins with here

Interference = Callable[[Request], Response | None]
"""Answers instead of the cluster, raises, or changes something and lets the request pass."""


class FakeCluster(ObjectStore):
    """Pools are Deployments. The name of a NodePool has a dot, that of a buffer begins with `buffer/`."""

    def __init__(self, timetable: str | None, replicas: dict[str, int]) -> None:
        """`replicas` has the pools by name, and what they have at the beginning."""
        super().__init__()
        self.timetable = timetable
        for name, count in replicas.items():
            self.set(name, count)
        self.requests: list[Request] = []
        self.interferences: list[Interference] = []
        self.watch: Callable[[str, int], object] | None = None  # called at each write of ours
        self.writers: list[str] = []  # which of our programs, at each write
        self.ready: dict[str, int] = {}  # placeholders, by Deployment, where not all are
        self.conditions: list[dict[str, Any]] | None = None  # of CapacityBuffers; None: Karpenter has room
        self.pods: list[Tree] = []
        self.autoscaler_events: list[Tree] = []  # which only lists have
        self.record_writes = 0
        self.most = 1_000_000  # replicas that a Deployment may have, whatever is asked

    @property
    def timetable(self) -> str | None:
        tree = self.all_in(CONFIGMAPS).get("course")
        return None if tree is None else str(tree["data"]["timetable.json"])

    @timetable.setter
    def timetable(self, text: str | None) -> None:
        if text is None:
            self.all_in(CONFIGMAPS).pop("course", None)
            return
        before = self.all_in(CONFIGMAPS).get("course", {"metadata": {}})["metadata"]
        metadata = {**before, "name": "course", "uid": "uid-of-course"}
        data = {"timetable.json": text}
        self.put(CONFIGMAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data})

    def annotate(self, override: str | None) -> None:
        """Somebody overrides the timetable, or does so no more."""
        metadata = self.all_in(CONFIGMAPS)["course"]["metadata"]
        metadata["annotations"] = {} if override is None else {OVERRIDE_ANNOTATION: override}

    @property
    def record(self) -> Tree | None:
        """The ConfigMap, as applied."""
        return self.all_in(CONFIGMAPS).get("course-record")

    def records(self) -> Any:
        """What the record says."""
        assert self.record is not None
        return json.loads(self.record["data"]["records.json"])

    @property
    def events(self) -> list[Tree]:
        return list(self.all_in(EVENTS).values())

    @property
    def scales(self) -> dict[str, int]:
        """Replicas by pool."""
        pools = {**self.all_in(DEPLOYMENTS), **self.all_in(NODE_POOLS)}
        pools |= {f"{BUFFER}{name}": tree for name, tree in self.all_in(BUFFERS).items()}
        return {name: tree["spec"]["replicas"] for name, tree in pools.items()}

    def set(self, name: str, replicas: int) -> None:
        """Somebody else scales, or the engine creates the pool."""
        kind = CAPACITY_BUFFER if name.startswith(BUFFER) else NODE_POOL if "." in name else DEPLOYMENT
        name = name.removeprefix(BUFFER)
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-{name}", "generation": 2}
        tree = {"kind": kind.name, "apiVersion": kind.version, "metadata": metadata}
        self.put(kind.path(NAMESPACE), {**tree, "spec": {"replicas": replicas}})

    def interfere(self, part: str, outcome: Response | Exception | None, times: int = 1_000_000) -> None:
        """The next `times` requests whose "METHOD path" contains `part` end so; None: they pass again."""
        if outcome is None:
            self.interferences.clear()
            return
        left = [times]

        def interference(request: Request) -> Response | None:
            if part not in f"{request.method} {request.path}" or not left[0]:
                return None
            left[0] -= 1
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        self.interferences.append(interference)

    def once(self, part: str, action: Callable[[], object]) -> None:
        """Just before the first request whose "METHOD path" contains `part`, somebody does something."""

        def interference(request: Request) -> None:
            if part in f"{request.method} {request.path}":
                self.interferences.remove(interference)
                action()

        self.interferences.append(interference)

    def lose_an_answer(self, part: str, then: Response | Exception | None = None) -> None:
        """The next such request is carried out, and whoever sent it does not hear of it; `then` all fail."""

        def lose() -> None:
            self.respond(self.requests[-1])
            if then:
                self.interfere("", then)
            raise no_answer()

        self.once(part, lose)

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        for interference in [*self.interferences]:
            if (answer := interference(request)) is not None:
                return answer
        return self.respond(request)

    def respond(self, request: Request) -> Response:
        wanted = target(request.path)
        if request.method == "GET" and wanted.collection in (PODS, EVENTS) and not wanted.name:
            return self.list(wanted)
        if wanted.collection not in SERVED | self.collections.keys() or (
            request.method == "GET" and not wanted.name
        ):
            return Response(404, b"404 page not found\n")
        if request.method != "PATCH":
            return super().respond(request)
        if wanted.collection == LEASES:
            return super().respond(request)
        manager = wanted.asked.get("fieldManager", "")
        options = {"fieldManager": manager} | ({"force": "true"} if request.content_type == APPLY else {})
        if manager not in MANAGERS or wanted.asked != options:
            return refusal(
                400, "BadRequest", f"other options than for {request.content_type}: {wanted.asked}"
            )
        answer = super().respond(request)
        if wanted.name == "course-record":
            self.record_writes += 1
        elif answer.status == 200:
            self.writers.append(MANAGERS[manager])
            if self.watch and wanted.collection != CONFIGMAPS:
                body, prefix = json.loads(request.body), BUFFER if wanted.collection == BUFFERS else ""
                asked = body[-1].get("value") if isinstance(body, list) else body["spec"]["replicas"]
                self.watch(f"{prefix}{wanted.name}", asked)
        return answer

    def fields(self, tree: Tree) -> Tree:
        if "involvedObject" not in tree:
            return super().fields(tree)
        subject, source = tree["involvedObject"], tree["source"]["component"]
        return {"involvedObject.kind": subject["kind"], "reason": tree["reason"], "source": source}

    def _everywhere(self, path: str) -> Iterable[Tree]:
        return self.pods if path == PODS else self.autoscaler_events

    def merge(self, wanted: Target, tree: Tree, patch: Tree) -> Response:
        if wanted.collection not in (DEPLOYMENTS, NODE_POOLS, BUFFERS):
            assert patch["metadata"]["resourceVersion"], "it may undo what somebody else has done"
        return super().merge(wanted, tree, patch)

    def change(self, wanted: Target, tree: Tree, patch: Iterable[Tree]) -> Response:
        assert next(iter(patch))["path"] == "/metadata/resourceVersion", (
            "it may undo what somebody else has done"
        )
        return super().change(wanted, tree, patch)

    def admitted(self, _: Target, tree: Tree) -> Tree:
        if "replicas" not in tree.get("spec", {}):
            return tree
        return {**tree, "spec": {**tree["spec"], "replicas": min(tree["spec"]["replicas"], self.most)}}

    def shown(self, wanted: Target, tree: Tree) -> Tree:
        """With a status, as its controller writes it."""
        if "replicas" not in tree.get("spec", {}):
            return tree
        replicas = tree["spec"]["replicas"]
        ready = self.ready.get(wanted.name, replicas)
        if wanted.collection == BUFFERS:
            room = {"type": "Provisioning", "status": "True", "reason": "FitsExistingCapacity"}
            conditions = [{**room, "observedGeneration": 2}] if self.conditions is None else self.conditions
            return {**tree, "status": {"replicas": replicas, "conditions": conditions}}
        if wanted.collection == NODE_POOLS:
            return {**tree, "status": {"nodes": ready}}
        return {**tree, "status": {"readyReplicas": ready} if ready else {}}
