"""A cluster as its API server knows it: objects in lists that are requested by label and field, in pages.

It begins with what is rendered for a project, as an engine applies it; tests then let things happen to it.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Object = dict[str, Any]

LISTS = {
    "/api/v1/namespaces/{}/configmaps": "ConfigMap",
    "/api/v1/namespaces/{}/pods": "Pod",
    "/apis/apps/v1/namespaces/{}/deployments": "Deployment",
    "/apis/batch/v1/namespaces/{}/cronjobs": "CronJob",
    "/apis/batch/v1/namespaces/{}/jobs": "Job",
    "/api/v1/namespaces/{}/events": "Event",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles": "Role",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings": "RoleBinding",
    "/api/v1/namespaces": "Namespace",
    "/apis/amalthea.dev/v1alpha1/namespaces/{}/amaltheasessions": "AmaltheaSession",
    "/apis/jobs.example/v2/namespaces/{}/notebooks": "Notebook",
    "/apis/karpenter.sh/v1/nodepools": "NodePool",
    "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{}/capacitybuffers": "CapacityBuffer",
    "/api/v1/namespaces/{}/podtemplates": "PodTemplate",
    "/api/v1/nodes": "Node",
    "/api/v1/namespaces/{}/resourcequotas": "ResourceQuota",
    "/apis/scheduling.koordinator.sh/v1alpha1/reservations": "Reservation",
}
APPLIED = "2026-01-20T08:00:00Z"  # when the engine applied everything
CONTROLLER = "argocd-controller"


class RefusedError(Exception):
    """What the server says instead of an answer: `HTTP 403: ...`."""

    @property
    def status(self) -> int:
        said = str(self)
        return int(said[5:8]) if said.startswith("HTTP ") else 0


class ConflictError(Exception):
    """Somebody else wrote in between."""


class World:
    def __init__(self, rendered: Iterable[Object]) -> None:
        self.objects: list[Object] = []
        for one in rendered:
            self.apply(one)
        self.refused: dict[str, str] = {}  # messages by the beginning of a path
        self.asked: list[str] = []  # paths with their selectors
        self.accepted: set[str] = set()
        self.page = 500
        self.meddle: Callable[[], object] = lambda: None  # done before each write
        self.not_admitted: dict[str, str] = {}  # messages by the kind of what is to be made
        self.not_allowed: set[str] = set()  # `verb resource/subresource`, of whatever account
        self.reviewed: list[Object] = []  # the specs of SubjectAccessReviews
        self.created: list[Object] = []  # all that was made, and by dry run
        self.job_ends: Callable[[Object], object] = complete

    def apply(self, one: Object) -> Object:
        """As the engine does."""
        made = copy.deepcopy(one)
        metadata = made["metadata"]
        metadata.setdefault("uid", f"{made['kind']}-{metadata['name']}")
        metadata.setdefault("creationTimestamp", APPLIED)
        metadata["resourceVersion"] = "1"
        fields: Object = {"f:spec": {"f:replicas": {}}} if "replicas" in made.get("spec", {}) else {}
        entry = {"manager": CONTROLLER, "operation": "Apply", "time": APPLIED, "fieldsV1": fields}
        metadata["managedFields"] = [entry]
        if made["kind"] == "Deployment":
            made["spec"].setdefault("replicas", 1)  # the default of the API server
        self.objects.append(made)
        return made

    def get(self, kind: str, name: str) -> Object:
        (found,) = [one for one in self.objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
        return found

    def remove(self, kind: str, name: str) -> None:
        self.objects.remove(self.get(kind, name))

    def scale(self, name: str, replicas: int, by: str, at: str, ready: int | None = None) -> None:
        """Somebody scales a Deployment or a NodePool; then so many are ready (all, unless told).

        A real API server writes no time into the entry of the subresource `scale`, which takes the replicas
        from all others; the entry of the status has one.
        """
        (found,) = [
            one
            for one in self.objects
            if one["metadata"]["name"] == name and one["kind"] in ("Deployment", "NodePool")
        ]
        found["spec"]["replicas"] = replicas
        there = replicas if ready is None else ready
        found["status"] = {"nodes" if found["kind"] == "NodePool" else "readyReplicas": there}
        others = [one for one in found["metadata"]["managedFields"] if not one.get("subresource")]
        for one in others:
            one["fieldsV1"] = {}
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
        self.objects.append(made)
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

    def patch(self, path: str, patch: Object, query: Mapping[str, str]) -> Object:
        """A merge patch of annotations, which is all that we ever do. Raises LookupError, and ConflictError
        for an object that has changed since it was read.
        """
        collection, _, name = path.rpartition("/")
        self.meddle()
        for one in self.objects:
            metadata = one["metadata"]
            if metadata["name"] == name and _is_in(one, collection):
                if metadata["resourceVersion"] != patch["metadata"]["resourceVersion"]:
                    raise ConflictError("it has changed")
                metadata["resourceVersion"] += "1"
                notes = metadata.setdefault("annotations", {})
                for key, value in patch["metadata"]["annotations"].items():
                    if value is None:
                        notes.pop(key, None)
                    else:
                        notes[key] = value
                one["metadata"]["managedFields"].append({"manager": query["fieldManager"], "fieldsV1": {}})
                return one
        raise LookupError(path)

    def create(self, body: Object, query: Mapping[str, str]) -> Object:
        """What the server answers. Raises RefusedError, and ConflictError for a name that is taken."""
        kind = body["kind"]
        if kind == "SubjectAccessReview":
            self.reviewed.append(body["spec"])
            return {**body, "status": {"allowed": not self._is_refused(body["spec"]["resourceAttributes"])}}
        if kind in self.not_admitted:
            raise RefusedError(self.not_admitted[kind])
        name = body["metadata"].get("name")
        if any((one["kind"], one["metadata"]["name"]) == (kind, name) for one in self.objects):
            raise ConflictError(f'jobs "{name}" already exists')
        made = copy.deepcopy(body)
        self.created.append({**made, "dryRun": query.get("dryRun")})
        if query.get("dryRun") != "All":
            self.job_ends(self.apply({**made, "status": {}}))
        return made

    def _is_refused(self, asked: Mapping[str, str]) -> bool:
        resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        return f"{asked['verb']} {resource}" in self.not_allowed

    def delete(self, path: str) -> Object:
        """Raises RefusedError, and LookupError."""
        collection, _, name = path.rpartition("/")
        if "DELETE" in self.not_admitted:
            raise RefusedError(self.not_admitted["DELETE"])
        for one in self.objects:
            if one["metadata"]["name"] == name and _is_in(one, collection):
                self.objects.remove(one)
                return {"kind": "Status", "status": "Success"}
        raise LookupError(path)

    def ask(self, path: str, query: Mapping[str, str], accept: str) -> Object:
        """A list, as the server answers it. Raises RefusedError."""
        self.asked.append(
            "?".join(filter(None, (path, query.get("labelSelector"), query.get("fieldSelector"))))
        )
        self.accepted.add(accept)
        for beginning, message in self.refused.items():
            if path.startswith(beginning):
                raise RefusedError(message)
        found = [one for one in self.objects if _is_in(one, path) and _fits(one, query)]
        first = int(query.get("continue", "0"))
        rest = str(first + self.page) if len(found) > first + self.page else ""
        items = found[first : first + self.page]
        return {"kind": "List", "metadata": {"continue": rest} if rest else {}, "items": items or None}


def complete(job: Object) -> None:
    job["status"] = {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}


def _is_in(one: Object, path: str) -> bool:
    namespace = one["metadata"].get("namespace", "")
    paths = [form for form, kind in LISTS.items() if kind == one["kind"]]
    return any(path in (form.format(namespace), form.replace("/namespaces/{}", "")) for form in paths)


def _fits(one: Object, query: Mapping[str, str]) -> bool:
    labels = one["metadata"].get("labels") or {}
    phase = one.get("status", {}).get("phase", "")
    fields = {"status.phase": phase, "metadata.name": one["metadata"]["name"]}
    fields["reason"] = one.get("reason", "")
    fields["involvedObject.name"] = one.get("involvedObject", {}).get("name", "")
    return _all(query.get("labelSelector", ""), labels) and _all(query.get("fieldSelector", ""), fields)


def _all(selector: str, values: Mapping[str, str]) -> bool:
    """Of the grammar of selectors what we use: `a=b`, `a!=b`, `a`, `!a`."""
    return all(_one(term, values) for term in selector.split(",") if term)


def _one(term: str, values: Mapping[str, str]) -> bool:
    if "!=" in term:
        key, _, value = term.partition("!=")
        return values.get(key) != value
    if "=" in term:
        key, _, value = term.partition("=")
        return values.get(key) == value
    return term[1:] not in values if term.startswith("!") else term in values
