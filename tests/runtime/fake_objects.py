"""An API server in memory that holds objects of any kind, with the manners of the real one that the sweep
meets: pages, selectors, preconditions, owners, server-side apply, scale, Events with a name. No controller
runs in it.

It refuses what the sweep's Role does not grant.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote

from berth.backends.capacitybuffer.capacitybufferbackend import BACKEND as BUFFERS
from berth.backends.koordinator.slotpermissions import of_slots
from berth.backends.nodepool.nodepermissions import of_all_nodes
from berth.core.jsonvalues import instant_text
from berth.manifests import naming
from berth.manifests.rbac import of_sweep
from berth.runtime.apiclient import APPLY, JSON, MERGE_PATCH, Request, Response

from tests.runtime.fake_cluster import refusal
from tests.runtime.fake_koordinator import PATH as SLOTS
from tests.runtime.fake_koordinator import FakeKoordinator
from tests.runtime.listing import list_page, selects

Tree = dict[str, Any]
Interference = Callable[[str], Response | None]
NAMESPACE = "berth"
CLUSTER_WIDE = "/apis/karpenter.sh/v1/"
KINDS = {
    "configmaps": "ConfigMap",
    "deployments": "Deployment",
    "nodepools": "NodePool",
    "capacitybuffers": "CapacityBuffer",
    "jobs": "Job",
    "cronjobs": "CronJob",
    "pods": "Pod",
    "serviceaccounts": "ServiceAccount",
    "roles": "Role",
    "rolebindings": "RoleBinding",
    "events": "Event",
}
VERBS = {"LIST": "list", "GET": "get", "PATCH": "patch", "POST": "create", "DELETE": "delete"}


class FakeObjects:
    """A transport of `berth.runtime.apiclient.Api`."""

    def __init__(self, now: int, *trees: Tree, prunes: bool = False, page: int = 1_000_000) -> None:
        """At most `page` objects are in an answer, whatever is asked for. Slots are Koordinator's."""
        self.now = now
        self.koordinator = FakeKoordinator(lambda: float(self.now))
        self.objects: dict[tuple[str, str], Tree] = {}  # by plural and name
        self.requests: list[str] = []  # all, as "VERB plural name"
        self.writes: list[str] = []  # those that changed something
        self.interfere: Interference = lambda _: None
        nodes = {"resources": ["nodepools/scale"], "verbs": ["get", "patch"]}  # by name, for each reservation
        rules = [
            *of_sweep(BUFFERS.sweep_rules(), prunes=prunes),
            *of_slots()[naming.SWEEP],
            nodes,
            of_all_nodes(),
        ]
        self._granted: dict[str, list[str]] = {}
        for rule in rules:
            for resource in rule["resources"]:
                self._granted.setdefault(resource, []).extend(rule["verbs"])
        self._page, self._version = page, 100
        for tree in trees:
            self.put(tree)

    def put(self, tree: Tree) -> None:
        """As somebody else would."""
        self._version += 1
        plural = next(plural for plural, kind in KINDS.items() if kind == tree["kind"])
        tree["metadata"]["resourceVersion"] = str(self._version)
        self.objects[plural, tree["metadata"]["name"]] = tree

    def of(self, plural: str) -> dict[str, Tree]:
        return {name: tree for (kind, name), tree in self.objects.items() if kind == plural}

    def replicas(self) -> dict[str, int]:
        return {name: tree["spec"]["replicas"] for name, tree in self.of("deployments").items()}

    def events(self) -> list[tuple[str, str, str]]:
        """Of which Deployment, with which reason and message."""
        found = self.of("events").values()
        return [(one["involvedObject"]["name"], one["reason"], one["message"]) for one in found]

    def __call__(self, request: Request) -> Response:
        path, _, query = request.path.partition("?")
        is_slot = path.startswith(SLOTS)
        parts = path.removeprefix(SLOTS[: -len("reservations")]).split("/")
        if path.startswith(CLUSTER_WIDE):
            parts = path.removeprefix(CLUSTER_WIDE).split("/")
        elif not is_slot:
            parts = path.split("/namespaces/")[1].split("/")
            assert parts.pop(0) == NAMESPACE
        plural, name, sub = parts[0], unquote("".join(parts[1:2])), "".join(parts[2:])
        verb = "LIST" if request.method == "GET" and not name else request.method
        said = " ".join(word for word in (verb, plural, name, sub) if word)
        self.requests.append(said)
        if (answer := self.interfere(said)) is not None:
            return answer
        resource = f"{plural}/{sub}" if sub else plural
        needed = {VERBS[verb], "create"} if request.content_type == APPLY else {VERBS[verb]}
        if not needed <= set(self._granted.get(resource, ())):
            return refusal(403, "Forbidden", f"cannot {verb} {resource}")
        asked = {key: values[0] for key, values in parse_qs(query).items()}
        answer = self.koordinator(request) if is_slot else self._do(verb, (plural, name), request, asked, sub)
        if verb not in ("LIST", "GET") and answer.status in (200, 201):
            self.writes.append(said)
        return answer

    def _do(self, verb: str, key: tuple[str, str], request: Request, asked: Tree, sub: str) -> Response:
        body = json.loads(request.body or b"{}")
        if verb == "LIST":
            return self._list(key[0], asked)
        if verb == "POST":
            assert request.content_type == JSON
            return self._post(key[0], body)
        if verb == "PATCH" and request.content_type == APPLY:
            assert asked == {"fieldManager": "berth-sweep", "force": "true"}
            return self._apply(key, body)
        found = self.objects.get(key)
        if found is None:
            return refusal(404, "NotFound", f'{key[0]} "{key[1]}" not found')
        if verb == "DELETE":
            return self._delete(key, found, body)
        if verb == "PATCH":
            assert (request.content_type, asked) == (MERGE_PATCH, {"fieldManager": "berth-sweep"})
            version = body["metadata"].get("resourceVersion")
            if version and version != found["metadata"]["resourceVersion"]:
                return refusal(409, "Conflict", "the object has been modified")
            self.put(_merged(found, body))
            found = self.objects[key]
        return _good(_scale(found) if sub else found)

    def _list(self, plural: str, asked: Tree) -> Response:
        fields = asked.get("fieldSelector", "")
        assert not fields or (plural == "pods" and "status.phase" in fields)
        trees = (
            tree
            for _, tree in sorted(self.of(plural).items())
            if not fields or selects(fields, {"status.phase": tree["status"]["phase"]})
        )
        return list_page(f"{KINDS[plural]}List", trees, asked, self._page)

    def _post(self, plural: str, body: Tree) -> Response:
        metadata = body["metadata"]
        name = metadata.setdefault("name", f"{metadata.get('generateName', '')}{self._version}")
        if (plural, name) in self.objects:
            return refusal(409, "AlreadyExists", f'{plural} "{name}" already exists')
        self.put(body)
        return Response(201, json.dumps(body).encode())

    def _apply(self, key: tuple[str, str], body: Tree) -> Response:
        assert (body["kind"], body["metadata"]["name"]) == (KINDS[key[0]], key[1])
        if key in self.objects:
            return refusal(422, "Invalid", "spec.template: field is immutable")
        self._version += 1
        known = {"uid": f"made-{self._version}", "creationTimestamp": instant_text(self.now)}
        self.put({**body, "metadata": {**body["metadata"], **known}, "status": {}})
        return _good(self.objects[key])

    def _delete(self, key: tuple[str, str], found: Tree, options: Tree) -> Response:
        assert options["propagationPolicy"] == "Background"
        if options["preconditions"]["uid"] != found["metadata"]["uid"]:
            return refusal(409, "Conflict", "the UID in the precondition does not match")
        self._forget(key)
        return _good({"kind": "Status", "status": "Success"})

    def _forget(self, key: tuple[str, str]) -> None:
        """With all that it owns."""
        uid = self.objects.pop(key)["metadata"]["uid"]
        for other, tree in list(self.objects.items()):
            owners = tree["metadata"].get("ownerReferences", [])
            if other in self.objects and any(owner["uid"] == uid for owner in owners):
                self._forget(other)


def _good(tree: Tree) -> Response:
    return Response(200, json.dumps(tree).encode())


def _scale(tree: Tree) -> Tree:
    replicas = tree["spec"]["replicas"]
    return {"kind": "Scale", "metadata": tree["metadata"], "spec": {"replicas": replicas} if replicas else {}}


def _merged(tree: Any, patch: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    found = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value)
    return found
