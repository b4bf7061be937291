"""An API server in memory, on a socket, with the manners that koord-scheduler and its users meet: lists,
watches, defaults of the CRD, the status apart, bindings, preconditions.

Nothing else happens in it; in particular no scheduler.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from berth.core.jsonvalues import instant_text

from tests.e2e.direct import Direct
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.watched_cluster import WatchedCluster, refused

Tree = dict[str, Any]
RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


class ApiServer(WatchedCluster):
    """Collections are known by the path of their list over all namespaces."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now
        self._writing = threading.Lock()
        self._made = 0
        self.events: list[Tree] = []
        self.refuse: Callable[[Received], int] = lambda _: 0
        """The status with which a write is refused; 0: it is not."""

    @property
    def version(self) -> int:
        """Another after every change."""
        return self._version

    def all(self, path: str) -> dict[str, Tree]:
        """By name."""
        found = [tree for _, _, tree in list(self._objects.get(path, {}).values())]
        return {tree["metadata"]["name"]: tree for tree in found}

    def make(self, path: str, tree: Tree) -> Tree:
        """As a POST would."""
        self._made += 1
        known = {"uid": f"uid-{self._made}", "creationTimestamp": instant_text(int(self._now()))}
        made = {**json.loads(json.dumps(tree)), "metadata": {**known, **tree["metadata"]}}
        if path == RESERVATIONS:
            made = _defaulted(made)
        else:
            made["metadata"].setdefault("namespace", "default")
        self.put(path, made)
        return made

    def answer(self, received: Received) -> Reply:
        if received.method == "GET":
            return super().answer(received._replace(path=_limited(received.path)))
        self.asked.append(received)
        if status := self.refuse(received):
            return refused(status, "Refused")
        with self._writing:
            return self._write(received)

    def _write(self, received: Received) -> Reply:
        url, body = urlsplit(received.path), json.loads(received.body or b"{}")
        if url.path.endswith("/events"):
            self.events.append(body)
            return _good(body, 201)
        path, name, sub = _place(url.path)
        if received.method == "POST" and not name:
            if body["metadata"]["name"] in self.all(path):
                return refused(409, "AlreadyExists")
            if path == RESERVATIONS and not all(body["spec"].get("owners", ())):
                return refused(422, "Invalid")  # the CRD wants one part of each at least
            return _good(self.make(path, body), 201)
        found = self.all(path).get(name)
        if found is None:
            return refused(404, "NotFound")
        wanted = body.get("preconditions") or body.get("metadata") or {}
        if any(wanted.get(key, found["metadata"][key]) != found["metadata"][key] for key in _PRECONDITIONS):
            return refused(409, "Conflict")
        if received.method == "DELETE":
            self.delete(path, found["metadata"]["uid"])
            return _good({"kind": "Status", "status": "Success"})
        if sub == "binding":
            return self._bind(path, found, body)
        return self._change(path, found, body, sub, received.method == "PUT")

    def _bind(self, path: str, found: Tree, body: Tree) -> Reply:
        if found.get("spec", {}).get("nodeName"):
            return refused(409, "Conflict")
        self.put(path, {**found, "spec": {**found["spec"], "nodeName": body["target"]["name"]}})
        return _good({"kind": "Status", "status": "Success"}, 201)

    def _change(self, path: str, found: Tree, body: Tree, sub: str, whole: bool) -> Reply:
        """The status changes by its own path only, by which annotations do too and nothing else."""
        if sub == "status":
            said = body.get("status", {})
            status = said if whole else _merged(found.get("status"), said)
            changed = {**found, "status": status}
            if path == PODS:
                notes = {"annotations": body.get("metadata", {}).get("annotations", {})}
                changed["metadata"] = _merged(found["metadata"], notes)
        else:
            merged = _merged(found, {key: value for key, value in body.items() if key != "status"})
            changed = {**merged, "metadata": {**merged["metadata"], "uid": found["metadata"]["uid"]}}
        changed = json.loads(json.dumps(changed))
        if path == RESERVATIONS:
            changed = _defaulted(changed)
        self.put(path, changed)
        return _good(changed)


_PRECONDITIONS = ("uid", "resourceVersion")


def _limited(path: str) -> str:
    query = parse_qs(urlsplit(path).query)
    if query.get("watch") or query.get("limit"):
        return path
    return f"{path}{'&' if '?' in path else '?'}limit=1000000"


def _place(path: str) -> tuple[str, str, str]:
    """The collection, the name and the subresource; the last two may be empty."""
    parts = path.strip("/").split("/")
    root = 2 if parts[0] == "api" else 3
    if parts[root] == "namespaces":
        del parts[root : root + 2]
    name, sub = "".join(parts[root + 1 : root + 2]), "".join(parts[root + 2 :])
    return "/" + "/".join(parts[: root + 1]), name, sub


def _defaulted(tree: Tree) -> Tree:
    """As the CRD says. A status that is there has a phase."""
    spec = {"ttl": "24h", "allocateOnce": True, **tree.get("spec", {})}
    made = {
        **tree,
        "spec": {key: "24h" if (key, value) == ("ttl", None) else value for key, value in spec.items()},
    }
    if "status" in made:
        made["status"] = {"phase": "Pending", **made["status"]}
    return made


def _merged(tree: Any, patch: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _good(tree: Tree, status: int = 200) -> Reply:
    return reply(status, json.dumps(tree).encode(), "Content-Type: application/json")


@contextmanager
def served(now: Callable[[], float]) -> Iterator[tuple[ApiServer, Direct]]:
    """With a client of it."""
    server = ApiServer(now)
    with StubServer(server.answer) as stub:
        direct = Direct(lambda seconds: HTTPConnection("127.0.0.1", stub.port, timeout=seconds))
        try:
            yield server, direct
        finally:
            server.end_watches()
            direct.close()
