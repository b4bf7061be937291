"""An API server in memory: objects of any kind, and what the real one answers when it is asked about them.

Lists with selectors and pages, versions, conflicts, merge and JSON patches, server-side apply, scale,
preconditions and owners. No controller runs in it. Its subclasses say what else a test needs of a cluster.
"""

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from berth.core.jsonvalues import instant_text
from berth.runtime.apiclient import APPLY, JSON, JSON_PATCH, MERGE_PATCH, ApiError, Request, Response

Tree = dict[str, Any]
LISTS = {
    "/api/v1/namespaces/{}/configmaps": "ConfigMap",
    "/api/v1/namespaces/{}/pods": "Pod",
    "/api/v1/namespaces/{}/events": "Event",
    "/api/v1/namespaces/{}/podtemplates": "PodTemplate",
    "/api/v1/namespaces/{}/resourcequotas": "ResourceQuota",
    "/api/v1/namespaces/{}/serviceaccounts": "ServiceAccount",
    "/api/v1/namespaces": "Namespace",
    "/api/v1/nodes": "Node",
    "/apis/apps/v1/namespaces/{}/deployments": "Deployment",
    "/apis/apps/v1/namespaces/{}/statefulsets": "StatefulSet",
    "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers": "HorizontalPodAutoscaler",
    "/apis/coordination.k8s.io/v1/namespaces/{}/leases": "Lease",
    "/apis/batch/v1/namespaces/{}/cronjobs": "CronJob",
    "/apis/batch/v1/namespaces/{}/jobs": "Job",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles": "Role",
    "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaimtemplates": "ResourceClaimTemplate",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings": "RoleBinding",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": "ClusterRole",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": "ClusterRoleBinding",
    "/apis/karpenter.sh/v1/nodepools": "NodePool",
    "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{}/capacitybuffers": "CapacityBuffer",
    "/apis/kueue.x-k8s.io/v1beta1/clusterqueues": "ClusterQueue",
    "/apis/scheduling.koordinator.sh/v1alpha1/reservations": "Reservation",
    "/apis/amalthea.dev/v1alpha1/namespaces/{}/amaltheasessions": "AmaltheaSession",
    "/apis/jobs.example/v2/namespaces/{}/notebooks": "Notebook",
}
KINDS = {path.rpartition("/")[2]: kind for path, kind in LISTS.items()}
_PATHS = {kind: path for path, kind in LISTS.items()}


def collection(kind: str, namespace: str = "") -> str:
    """Return the path of all objects of a kind in a namespace. Kinds that nobody asks for have one too."""
    return _PATHS.get(kind, f"/apis/unserved/v1/namespaces/{{}}/{kind.lower()}").format(namespace)


def home(tree: Tree) -> str:
    """Return the collection of an object."""
    return collection(tree["kind"], tree["metadata"].get("namespace", ""))


def refusal(status: int, reason: str, message: str = "no", retry_after: float = 0.0) -> Response:
    """Return what the API server says instead of an answer."""
    return Response(status, json.dumps(status_tree(status, reason, message)).encode(), retry_after)


def status_tree(code: int, reason: str, message: str = "no") -> Tree:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


def no_answer() -> ApiError:
    return ApiError(0, "ConnectionRefusedError", "[Errno 111] Connection refused")


def good(tree: Tree, status: int = 200) -> Response:
    return Response(status, json.dumps(tree).encode())


def selects(selector: str, values: Tree) -> bool:
    """Return whether a selector of labels or fields selects: `key=value`, `key!=value`, `key` and `!key`."""
    return all(_holds(term, values) for term in selector.split(",") if term)


def _holds(term: str, values: Tree) -> bool:
    if term.startswith("!"):
        return term[1:] not in values
    key, unequal, value = term.partition("!=")
    if unequal:
        return bool(values.get(key) != value)
    key, equal, value = term.partition("=")
    return key in values and (not equal or bool(values[key] == value))


def merged(tree: Any, patch: Any) -> Any:
    """Return the tree with a JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    changed = dict(tree) if isinstance(tree, dict) else {}
    for key, value in patch.items():
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = merged(changed.get(key), value)
    return changed


def json_patched(tree: Tree, patch: Iterable[Tree]) -> Tree:
    """Return the tree with a JSON patch (RFC 6902). Raises LookupError where a path does not lead."""
    changed = deepcopy(tree)
    for step in patch:
        *way, last = (word.replace("~1", "/").replace("~0", "~") for word in step["path"].split("/")[1:])
        here: Any = changed
        for word in way:
            here = here[int(word) if isinstance(here, list) else word]
        if isinstance(here, list):
            _patch_list(here, int(last), step)
            continue
        if step["op"] != "add":
            here[last]
        if step["op"] == "remove":
            del here[last]
        else:
            here[last] = step["value"]
    return changed


def _patch_list(items: list[Any], index: int, step: Tree) -> None:
    if step["op"] == "add":
        items.insert(index, step["value"])
    elif step["op"] == "remove":
        del items[index]
    else:
        items[index] = step["value"]


class Target(NamedTuple):
    """What a request is about."""

    collection: str  # the path of all such objects in the namespace, or in the cluster
    name: str  # empty: the collection
    part: str  # the subresource
    asked: dict[str, str]  # the query

    @property
    def plural(self) -> str:
        return self.collection.rpartition("/")[2]


def target(path: str) -> Target:
    """Parse a path with its query."""
    path, _, query = path.partition("?")
    words = path.strip("/").split("/")
    length = 2 if words[0] == "api" else 3
    if words[length] == "namespaces" and len(words) > length + 2:
        length += 2
    name, part = (*words[length + 1 :], "", "")[:2]
    return Target(f"/{'/'.join(words[: length + 1])}", unquote(name), part, dict(parse_qsl(query)))


class ObjectStore:
    """`respond` is a transport of `berth.runtime.apiclient.Api`."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self.clock = clock
        self.page = 1_000_000  # the most objects in one answer, whatever is asked
        self.collections: dict[str, dict[str, Tree]] = {}  # by path, then by name
        self.version = 1000  # of the last write

    def all_in(self, collection: str) -> dict[str, Tree]:
        """Return the objects of a collection by name."""
        return self.collections.setdefault(collection, {})

    def put(self, collection: str, tree: Tree) -> None:
        """Create or change an object as somebody else would: created now if it does not say when."""
        self.version += 1
        metadata = tree["metadata"]
        metadata.setdefault("uid", f"made-{self.version}")
        metadata.setdefault("creationTimestamp", instant_text(int(self.clock())))
        metadata["resourceVersion"] = str(self.version)
        self.all_in(collection)[metadata.get("name") or metadata["uid"]] = tree

    def add(self, tree: Tree) -> None:
        """Create or change an object of a known kind."""
        self.put(home(tree), tree)

    def remove(self, collection: str, name: str) -> None:
        """Remove an object and all that it owns."""
        uid = self.all_in(collection).pop(name)["metadata"]["uid"]
        for path, objects in self.collections.items():
            for other, tree in list(objects.items()):
                owners = tree["metadata"].get("ownerReferences", [])
                if other in objects and any(owner["uid"] == uid for owner in owners):
                    self.remove(path, other)

    def respond(self, request: Request) -> Response:
        wanted = target(request.path)
        if request.method == "GET" and not wanted.name:
            return self.list(wanted)
        body = json.loads(request.body or b"{}")
        if request.method == "POST":
            assert (request.content_type, wanted.name) == (JSON, "")
            return self.create(wanted, body)
        if request.method == "PATCH" and request.content_type == APPLY:
            return self.apply(wanted, body, forced="force" in wanted.asked)
        tree = self.all_in(wanted.collection).get(wanted.name)
        if tree is None:
            return refusal(404, "NotFound", f'{wanted.plural} "{wanted.name}" not found')
        if request.method == "DELETE":
            assert request.content_type == JSON
            return self.delete(wanted, tree, body)
        if request.method == "PATCH" and request.content_type == JSON_PATCH:
            return self.change(wanted, tree, body)
        if request.method == "PATCH":
            assert request.content_type == MERGE_PATCH
            return self.merge(wanted, tree, body)
        return self._one(wanted, tree)

    # What a subclass may see differently.

    def shown(self, wanted: Target, tree: Tree) -> Tree:  # noqa: ARG002
        """Return an object as the API server shows it."""
        return tree

    def admitted(self, wanted: Target, tree: Tree) -> Tree:  # noqa: ARG002
        """Return what becomes of an object that a request writes."""
        return tree

    def fields(self, tree: Tree) -> Tree:
        """Return what a selector of fields selects by."""
        return {"status.phase": tree.get("status", {}).get("phase", "")}

    # The verbs.

    def list(self, wanted: Target) -> Response:
        """List a page; `continue` is how many objects came before. Kinds stand in no object of a list."""
        asked = wanted.asked
        chosen = [
            {key: value for key, value in tree.items() if key not in ("kind", "apiVersion")}
            for tree in self._everywhere(wanted.collection)
            if selects(asked.get("labelSelector", ""), tree["metadata"].get("labels") or {})
            and selects(asked.get("fieldSelector", ""), self.fields(tree))
        ]
        begin = int(asked.get("continue", "0"))
        end = begin + min(self.page, int(asked.get("limit", self.page)))
        metadata = {"resourceVersion": str(self.version)}
        metadata |= {"continue": str(end)} if end < len(chosen) else {}
        if asked.get("includeObject") == "None":
            rows = [{"cells": [tree["metadata"]["name"]]} for tree in chosen[begin:end]]
            return good({"kind": "Table", "metadata": metadata, "rows": rows})
        items = chosen[begin:end] or None
        return good({"kind": f"{KINDS[wanted.plural]}List", "metadata": metadata, "items": items})

    def _everywhere(self, path: str) -> Iterable[Tree]:
        """Yield the objects of a collection, or of all namespaces, in the order of their names."""
        is_all = "/namespaces/" not in path
        for known in sorted(self.collections):
            before, _, after = known.partition("/namespaces/")
            if known == path or (is_all and after and f"{before}/{after.partition('/')[2]}" == path):
                yield from (tree for _, tree in sorted(self.collections[known].items()))

    def create(self, wanted: Target, body: Tree) -> Response:
        metadata = body["metadata"]
        name = metadata.setdefault("name", f"{metadata.get('generateName', '')}{self.version}")
        if name in self.all_in(wanted.collection):
            return refusal(409, "AlreadyExists", f'{wanted.plural} "{name}" already exists')
        self.put(wanted.collection, self.admitted(wanted, body))
        return good(self.all_in(wanted.collection)[name], 201)

    def apply(self, wanted: Target, body: Tree, *, forced: bool) -> Response:
        """Create the object, or replace it by force; the template of a Job can never change."""
        if not forced and wanted.name in self.all_in(wanted.collection):
            return refusal(409, "Conflict", "another manager has these fields")
        assert (body["kind"], body["metadata"]["name"]) == (KINDS[wanted.plural], wanted.name)
        if wanted.plural == "jobs" and wanted.name in self.all_in(wanted.collection):
            return refusal(422, "Invalid", "spec.template: field is immutable")
        if self.all_in(wanted.collection).get(wanted.name, {}).get("immutable"):
            return refusal(422, "Invalid", "data: field is immutable when `immutable` is set")
        self.put(wanted.collection, self.admitted(wanted, {**body, "status": {}}))
        return good(self.all_in(wanted.collection)[wanted.name])

    def merge(self, wanted: Target, tree: Tree, patch: Tree) -> Response:
        version = patch.get("metadata", {}).get("resourceVersion")
        if version and version != tree["metadata"]["resourceVersion"]:
            return refusal(409, "Conflict", "the object has been modified")
        changed = self.admitted(wanted, merged(tree, patch))
        self.put(wanted.collection, changed)
        answer = self._one(wanted, self.all_in(wanted.collection)[wanted.name])
        if "deletionTimestamp" in changed["metadata"] and not changed["metadata"].get("finalizers"):
            self.remove(wanted.collection, wanted.name)
        return answer

    def change(self, wanted: Target, tree: Tree, patch: Iterable[Tree]) -> Response:
        """Apply a JSON patch. One that writes another resourceVersion is a conflict."""
        assert not wanted.part
        try:
            changed = json_patched(tree, patch)
        except LookupError as error:
            return refusal(422, "Invalid", f"the server rejected our request: {error}")
        if changed["metadata"]["resourceVersion"] != tree["metadata"]["resourceVersion"]:
            return refusal(409, "Conflict", "the object has been modified")
        self.put(wanted.collection, self.admitted(wanted, changed))
        return self._one(wanted, self.all_in(wanted.collection)[wanted.name])

    def delete(self, wanted: Target, tree: Tree, options: Tree) -> Response:
        for key, value in options.get("preconditions", {}).items():
            if tree["metadata"][key] != value:
                return refusal(409, "Conflict", f"the {key} in the precondition does not match")
        if tree["metadata"].get("finalizers"):
            self.put(
                wanted.collection, merged(tree, {"metadata": {"deletionTimestamp": "2026-02-02T00:00:00Z"}})
            )
        else:
            self.remove(wanted.collection, wanted.name)
        return good({"kind": "Status", "status": "Success"})

    def _one(self, wanted: Target, tree: Tree) -> Response:
        if wanted.part != "scale":
            return good(self.shown(wanted, tree))
        replicas = tree["spec"]["replicas"]
        spec = {"replicas": replicas} if replicas else {}  # the API server leaves a zero out
        return good({"kind": "Scale", "metadata": tree["metadata"], "spec": spec})
