"""A cluster as its API server knows it: what is rendered for a project, as an engine applies it.

Tests then let things happen to it.
"""

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from berth.live.kubeobject import ClusterError
from berth.runtime.apiclient import JSON_PATCH, Request, Response

from tests.objectstore import ObjectStore, Target, good, refusal, target

Object = dict[str, Any]

APPLIED = "2026-01-20T08:00:00Z"  # when the engine applied everything
CONTROLLER = "argocd-controller"


class RefusedError(ClusterError):
    """What the server says instead of an answer: `HTTP 403: ...`."""

    def __init__(self, said: str) -> None:
        super().__init__(int(said[5:8]) if said.startswith("HTTP ") else 0, said)


class World(ObjectStore):
    def __init__(self, rendered: Iterable[Object]) -> None:
        super().__init__()
        for one in rendered:
            self.apply_rendered(one)
        self.refused: dict[str, str] = {}  # messages by the beginning of a path; `?` is its end
        self.asked: list[str] = []  # paths with their selectors
        self.accepted: set[str] = set()
        self.leases: dict[str, list[str]] = {}  # names by reservation, where they are not those of pools
        self.silent: set[str] = set()  # names of Leases that nobody renews
        self.page = 500
        self.meddle: Callable[[], object] = lambda: None  # done before each write
        self.not_admitted: dict[str, str] = {}  # messages by the kind of what is to be made
        self.not_allowed: set[str] = set()  # `verb resource/subresource`, of whatever account
        self.reviewed: list[Object] = []  # the specs of SubjectAccessReviews
        self.created: list[Object] = []  # all that was made, and by dry run
        self.job_ends: Callable[[Object], object] = complete
        self.discovery: dict[str, list[Object]] = {  # by the path of a group and version
            "/apis/autoscaling/v2": [
                {"name": "horizontalpodautoscalers", "kind": "HorizontalPodAutoscaler", "namespaced": True}
            ]
        }
        self.edits: list[tuple[str, list[Object]]] = []  # JSON patches that were tried, with their paths

    @property
    def objects(self) -> list[Object]:
        """All of them; whoever wants others sets them."""
        return [object_ for objects in self.collections.values() for object_ in objects.values()]

    @objects.setter
    def objects(self, objects: Iterable[Object]) -> None:
        kept = list(objects)
        self.collections.clear()
        for object_ in kept:
            self.add(object_)

    def drop(self, one: Object) -> None:
        """Remove an object, and nothing that it owns."""
        self.objects = [other for other in self.objects if other is not one]

    def apply_rendered(self, one: Object) -> Object:
        """As the engine does."""
        made = copy.deepcopy(one)
        metadata = made["metadata"]
        metadata.setdefault("uid", f"{made['kind']}-{metadata['name']}")
        metadata.setdefault("creationTimestamp", APPLIED)
        fields: Object = {"f:spec": {"f:replicas": {}}} if "replicas" in made.get("spec", {}) else {}
        entry = {"manager": CONTROLLER, "operation": "Apply", "time": APPLIED, "fieldsV1": fields}
        metadata["managedFields"] = [entry]
        if made["kind"] == "Deployment":
            made["spec"].setdefault("replicas", 1)  # the default of the API server
        self.add(made)
        return made

    def get(self, kind: str, name: str) -> Object:
        (found,) = [
            object_
            for object_ in self.objects
            if (object_["kind"], object_["metadata"]["name"]) == (kind, name)
        ]
        return found

    def vanish(self, kind: str, name: str) -> None:
        """An object has been gone for long: a Lease that it held has run out."""
        self.drop(self.get(kind, name))
        self.objects = [one for one in self.objects if one.get("spec", {}).get("holderIdentity") != name]

    def scale(self, name: str, replicas: int, by: str, at: str, ready: int | None = None) -> None:
        """Somebody scales a Deployment or a NodePool; then so many are ready (all, unless told).

        A real API server writes no time into the entry of the subresource `scale`, which takes the replicas
        from all others; the entry of the status has one.
        """
        (found,) = [
            object_
            for object_ in self.objects
            if object_["metadata"]["name"] == name and object_["kind"] in ("Deployment", "NodePool")
        ]
        found["spec"]["replicas"] = replicas
        there = replicas if ready is None else ready
        found["status"] = {"nodes" if found["kind"] == "NodePool" else "readyReplicas": there}
        others = [one for one in found["metadata"]["managedFields"] if not one.get("subresource")]
        for other in others:
            other["fieldsV1"] = {}
        update = {"operation": "Update", "fieldsType": "FieldsV1"}
        scaled = {"manager": by, "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
        status = {"manager": "kube-controller-manager", "subresource": "status", "time": at}
        told = {**status, "fieldsV1": {"f:status": {"f:replicas": {}}}}
        found["metadata"]["managedFields"] = [*others, {**scaled, **update}, {**told, **update}]

    def pod(
        self,
        name: str,
        labels: Mapping[str, str],
        phase: str = "Running",
        namespace: str = "berth",
        **status: Any,
    ) -> Object:
        metadata = {"name": name, "namespace": namespace, "uid": f"pod-{name}", "labels": dict(labels)}
        metadata["creationTimestamp"] = status.pop("created", APPLIED)
        spec = status.pop("spec", {})
        made: Object = {"kind": "Pod", "metadata": metadata, "spec": spec}
        made["status"] = {"phase": phase, **status}
        self.add(made)
        return made

    def run(self, reservation: str, phase: str = "Running", name: str = "", **status: Any) -> Object:
        """A pod of the reservation's Job."""
        labels = {
            "berth.dev/site": "uni",
            "berth.dev/reservation": reservation,
            "berth.dev/role": "occurrence",
        }
        if phase == "Running":
            status.setdefault("containerStatuses", [{"name": "occurrence", "state": {"running": {}}}])
            status.setdefault("initContainerStatuses", [{"name": "scaler", "state": {"running": {}}}])
        return self.pod(name or f"{reservation}-29500-abcde", labels, phase, **status)

    def renew(self, now: str) -> None:
        """Let each scaler that runs renew the Leases of its reservation, unless they are `silent`."""
        for pod in self.objects:
            metadata = pod["metadata"]
            statuses = pod.get("status", {}).get("initContainerStatuses", [])
            started = [status for status in statuses if "running" in status["state"]]
            reservation = str(metadata.get("labels", {}).get("berth.dev/reservation"))
            for name in self.leases.get(reservation, [f"{reservation}-small"]):
                if pod["kind"] == "Pod" and started and name not in self.silent:
                    self.hold(name, now, metadata["name"], reservation)

    def hold(self, name: str, renewed: str, holder: str, reservation: str = "course") -> None:
        """A pod has renewed a Lease last at an instant."""
        labels = {"berth.dev/site": "uni", "berth.dev/reservation": reservation}
        metadata = {"name": name, "namespace": "berth", "labels": labels}
        spec = {"holderIdentity": holder, "renewTime": f"{renewed[:-1]}.000000Z"}
        self.add(
            {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        )

    def wait(
        self, reservation: str, number: int, created: str, phase: str = "Pending", **status: Any
    ) -> None:
        """Placeholders that are not ready."""
        labels = {
            "berth.dev/site": "uni",
            "berth.dev/reservation": reservation,
            "berth.dev/resource-class": "small",
        }
        for n in range(number):
            self.pod(f"{reservation}-small-{created}-{n}", labels, phase, created=created, **status)

    def session(self, name: str, **labels: str) -> Object:
        """A user's server, as a hub starts it."""
        ours = {"component": "singleuser-server", "size": "small", **labels}
        return self.pod(name, ours, namespace="hub")

    def respond(self, request: Request) -> Response:
        """Answer a request of people, who list, patch annotations, and try what is rendered."""
        path = request.path.partition("?")[0]
        if path.count("/") == 3 and path.startswith("/apis/"):
            return self._discovered(path)
        wanted = target(request.path)
        try:
            if request.content_type == JSON_PATCH:
                return self._edit(wanted, json.loads(request.body or b"[]"))
            if request.method == "GET":
                return good(self.ask(request.path.partition("?")[0], wanted.asked, request.accept))
            if request.method == "PATCH":
                self.meddle()
            if request.method == "DELETE" and "DELETE" in self.not_admitted:
                raise RefusedError(self.not_admitted["DELETE"])
            return super().respond(request)
        except RefusedError as error:
            return refusal(403, "Forbidden", str(error))

    def _discovered(self, path: str) -> Response:
        if path not in self.discovery:
            return refusal(404, "NotFound", "the server could not find the requested resource")
        return good({"kind": "APIResourceList", "resources": self.discovery[path]})

    def _edit(self, wanted: Target, patch: list[Object]) -> Response:
        """Try a JSON patch, which nothing is written by."""
        assert wanted.asked["dryRun"] == "All"
        if wanted.plural in self.not_admitted:
            raise RefusedError(self.not_admitted[wanted.plural])
        self.edits.append((f"{wanted.collection}/{wanted.name}", patch))
        return good(self.all_in(wanted.collection)[wanted.name])

    def merge(self, wanted: Target, tree: Object, patch: Object) -> Response:
        assert patch["metadata"]["resourceVersion"], "it may undo what somebody else has done"
        return super().merge(wanted, tree, patch)

    def admitted(self, wanted: Target, tree: Object) -> Object:
        """With who has written it."""
        fields = tree["metadata"].get("managedFields", [])
        writer: Object = {"manager": wanted.asked.get("fieldManager"), "fieldsV1": {}}
        return {**tree, "metadata": {**tree["metadata"], "managedFields": [*fields, writer]}}

    def create(self, wanted: Target, body: Object) -> Response:
        kind = body["kind"]
        if kind == "SubjectAccessReview":
            self.reviewed.append(body["spec"])
            is_allowed = not self._is_refused(body["spec"]["resourceAttributes"])
            return good({**body, "status": {"allowed": is_allowed}}, 201)
        if kind in self.not_admitted:
            raise RefusedError(self.not_admitted[kind])
        name = body["metadata"].get("name")
        if name in self.all_in(wanted.collection):
            return refusal(409, "AlreadyExists", f'{wanted.plural} "{name}" already exists')
        self.created.append({**copy.deepcopy(body), "dryRun": wanted.asked.get("dryRun")})
        if wanted.asked.get("dryRun") != "All":
            self.job_ends(self.apply_rendered({**body, "status": {}}))
        return good(body, 201)

    def _is_refused(self, asked: Mapping[str, str]) -> bool:
        resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        return f"{asked['verb']} {resource}" in self.not_allowed

    def ask(self, path: str, query: Mapping[str, str], accept: str) -> Object:
        """Return a list, as the server answers it. Raise RefusedError."""
        self.asked.append(
            "?".join(filter(None, (path, query.get("labelSelector"), query.get("fieldSelector"))))
        )
        self.accepted.add(accept)
        for beginning, message in self.refused.items():
            if f"{path}?".startswith(beginning):
                raise RefusedError(message)
        answer: Object = json.loads(self.list(Target(path, "", "", dict(query))).body)
        return answer

    def fields(self, tree: Object) -> Object:
        return {
            "status.phase": tree.get("status", {}).get("phase", ""),
            "metadata.name": tree["metadata"]["name"],
            "reason": tree.get("reason", ""),
            "involvedObject.name": tree.get("involvedObject", {}).get("name", ""),
        }


def complete(job: Object) -> None:
    job["status"] = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
