"""A small API server in memory: one timetable, its record and some Deployments.

It has the manners of the real one. A transport for `berth.runtime.apiclient.Api`, it answers the stub servers
of the tests over real sockets.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from berth.runtime.apiclient import APPLY, ApiError, Request, Response

from tests.runtime.listing import list_page, selects

NAMESPACE = "berth"
CONFIGMAP = "/api/v1/namespaces/berth/configmaps/course"
DEPLOYMENTS = "/apis/apps/v1/namespaces/berth/deployments/"
NODE_POOLS = "/apis/karpenter.sh/v1/nodepools/"
BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/berth/capacitybuffers/"
RECORD = "/api/v1/namespaces/berth/configmaps/course-record"
EVENTS = "/api/v1/namespaces/berth/events"
PODS = "/api/v1/namespaces/berth/pods"
MANAGERS = {
    "fieldManager=berth-scaler": "scaler",
    "fieldManager=berth-sweep": "sweep",
}

Interference = Callable[[Request], Response | None]
"""Answers instead of the cluster, raises, or changes something and lets the request pass."""


def refusal(status: int, reason: str, message: str = "no", retry_after: float = 0.0) -> Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return Response(status, json.dumps(body).encode(), retry_after)


def no_answer() -> ApiError:
    return ApiError(0, "ConnectionRefusedError", "[Errno 111] Connection refused")


def _event_fields(event: dict[str, Any]) -> dict[str, Any]:
    subject, source = event["involvedObject"], event["source"]["component"]
    return {"involvedObject.kind": subject["kind"], "reason": event["reason"], "source": source}


class FakeCluster:
    def __init__(self, timetable: str | None, replicas: dict[str, int]) -> None:
        """Deployments by name, and how they stand at the beginning."""
        self.timetable = timetable
        self.override: str | None = None  # the annotation of the timetable
        self.scales = {name: (count, str(100 + n)) for n, (name, count) in enumerate(replicas.items())}
        self.requests: list[Request] = []
        self.interferences: list[Interference] = []
        self.watch: Callable[[str, int], object] | None = None  # called at each write of ours
        self.writers: list[str] = []  # which of our programs, at each write
        self.ready: dict[str, int] = {}  # placeholders, by Deployment, where not all are
        self.node_pools: set[str] = set()  # those of `scales` that are no Deployments
        self.conditions: list[dict[str, Any]] | None = None  # of CapacityBuffers; None: Karpenter has room
        self.events: list[dict[str, Any]] = []
        self.pods: list[dict[str, Any]] = []
        self.autoscaler_events: list[dict[str, Any]] = []  # which only lists have
        self.record: dict[str, Any] | None = None  # the ConfigMap, as applied
        self.record_writes = 0
        self.most = 1_000_000  # replicas that a Deployment may have, whatever is asked
        self._version = 1000

    def records(self) -> Any:
        """What the record says."""
        assert self.record is not None
        return json.loads(self.record["data"]["records.json"])

    def set(self, name: str, replicas: int) -> None:
        """Somebody else scales, or the engine creates the Deployment."""
        self._version += 1
        self.scales[name] = (replicas, str(self._version))

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

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        for interference in self.interferences:
            if (answer := interference(request)) is not None:
                return answer
        return self.answer(request)

    def answer(self, request: Request) -> Response:
        path, _, query = request.path.partition("?")
        if request.method == "GET" and path == CONFIGMAP:
            return self._configmap()
        if request.method == "POST" and path == EVENTS:
            self.events.append(json.loads(request.body))
            return Response(201, json.dumps(self.events[-1]).encode())
        if request.method == "GET" and path in (EVENTS, PODS):
            return self._list(path == PODS, query)
        if path == RECORD:
            return self._record(request, query)
        if path.startswith(BUFFERS):
            return self._buffer(path.removeprefix(BUFFERS), query, request)
        home = NODE_POOLS if path.startswith(NODE_POOLS) else DEPLOYMENTS
        name = path.removeprefix(home).removesuffix("/scale")
        if path not in (f"{home}{name}/scale", f"{home}{name}"):
            return Response(404, b"404 page not found\n")
        if name not in self.scales or (name in self.node_pools) != (home == NODE_POOLS):
            return refusal(404, "NotFound", f'deployments.apps "{name}" not found')
        if request.method == "PATCH":
            return self._patch(name, query, request)
        return self._scale(name) if path.endswith("/scale") else self._deployment(name)

    def _buffer(self, name: str, query: str, request: Request) -> Response:
        """Those are in `scales` as `buffer/NAME`."""
        key = f"buffer/{name}"
        if key not in self.scales:
            return refusal(404, "NotFound", f'capacitybuffers.autoscaling.x-k8s.io "{name}" not found')
        if request.method == "PATCH" and (answer := self._patch(key, query, request)).status != 200:
            return answer
        replicas, version = self.scales[key]
        metadata = {"name": name, "namespace": NAMESPACE, "resourceVersion": version, "generation": 2}
        room = {"type": "Provisioning", "status": "True", "reason": "FitsExistingCapacity"}
        told = [{**room, "observedGeneration": 2}] if self.conditions is None else self.conditions
        status = {"replicas": replicas, "conditions": told}
        body = {"kind": "CapacityBuffer", "apiVersion": "autoscaling.x-k8s.io/v1beta1", "metadata": metadata}
        return Response(200, json.dumps(body | {"spec": {"replicas": replicas}, "status": status}).encode())

    def _list(self, are_pods: bool, query: str) -> Response:
        asked = {"labelSelector": "", **{key: values[0] for key, values in parse_qs(query).items()}}
        if are_pods:
            return list_page("PodList", self.pods, asked, 1_000_000)
        fields = asked["fieldSelector"]
        chosen = [one for one in self.autoscaler_events if selects(fields, _event_fields(one))]
        return list_page("EventList", chosen, asked, 1_000_000)

    def _configmap(self) -> Response:
        if self.timetable is None:
            return refusal(404, "NotFound", 'configmaps "course" not found')
        notes = {} if self.override is None else {"annotations": {"berth.dev/override": self.override}}
        metadata = {"name": "course", "uid": "uid-of-course", **notes}
        body: dict[str, object] = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
        body["data"] = {"timetable.json": self.timetable}
        return Response(200, json.dumps(body).encode())

    def _record(self, request: Request, query: str) -> Response:
        if request.method == "PATCH":
            manager, _, force = query.partition("&")
            if manager not in MANAGERS or force != "force=true" or request.content_type != APPLY:
                return refusal(400, "BadRequest", f"not a server-side apply: {query}")
            self.record = json.loads(request.body)
            self.record_writes += 1
        if self.record is None:
            return refusal(404, "NotFound", 'configmaps "course-record" not found')
        return Response(200, json.dumps(self.record).encode())

    def _deployment(self, name: str) -> Response:
        replicas, version = self.scales[name]
        ready = self.ready.get(name, replicas)
        metadata = {"name": name, "namespace": NAMESPACE, "resourceVersion": version, "uid": f"uid-of-{name}"}
        status = {"readyReplicas": ready} if ready else {}
        body = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": metadata}
        if name in self.node_pools:
            body |= {"kind": "NodePool", "apiVersion": "karpenter.sh/v1"}
            status = {"nodes": ready}
        return Response(200, json.dumps(body | {"spec": {"replicas": replicas}, "status": status}).encode())

    def _scale(self, name: str) -> Response:
        replicas, version = self.scales[name]
        spec = {"replicas": replicas} if replicas else {}
        metadata = {"name": name, "namespace": NAMESPACE, "resourceVersion": version}
        body = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec}
        return Response(200, json.dumps(body).encode())

    def _patch(self, name: str, query: str, request: Request) -> Response:
        patch = json.loads(request.body)
        if query not in MANAGERS:
            return refusal(400, "BadRequest", f"the field manager is missing: {query}")
        if patch["metadata"]["resourceVersion"] != self.scales[name][1]:
            message = (
                f'Operation cannot be fulfilled on deployments.apps "{name}": the object has been modified'
            )
            return refusal(409, "Conflict", message)
        self.set(name, min(patch["spec"]["replicas"], self.most))
        self.writers.append(MANAGERS[query])
        if self.watch:
            self.watch(name, patch["spec"]["replicas"])
        return self._scale(name)
