"""A small client of the Kubernetes API server, for the standard library only.

Every failure raises `ApiError`. The transport is passed in (`berth.runtime.connection` in the cluster). The
client makes no decisions and repeats no request.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from berth.core.jsonvalues import Tree
from berth.core.objects import CONFIG_MAP, DEPLOYMENT, EVENT, JOB, SLOT, ObjectKind
from berth.core.state import PoolObject, read_pool
from berth.core.timetable import OVERRIDE_ANNOTATION as OVERRIDE
from berth.core.timetable import TIMETABLE_KEY

FIELD_MANAGER = "berth-scaler"
SWEEP_FIELD_MANAGER = "berth-sweep"
BERTH_FIELD_MANAGERS = (FIELD_MANAGER, SWEEP_FIELD_MANAGER, "berth-occurrence")  # the last by version 0.1.0

MERGE_PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"  # of which JSON is a part
JSON = "application/json"


class Request(NamedTuple):
    method: str
    path: str  # with its query
    body: bytes = b""
    content_type: str = MERGE_PATCH  # of the body
    accept: str = JSON


class Response(NamedTuple):
    status: int
    body: bytes
    retry_after: float = 0.0  # seconds; 0: the server did not say


Transport = Callable[[Request], Response]
"""Raises ApiError, and nothing else, where there is no answer."""


class ApiError(Exception):
    """A request failed.

    `status` is 0 without a response; `reason` is one word for programs, the message is for people.
    """

    def __init__(self, status: int, reason: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    def is_gone(self) -> bool:
        """Return whether the API server says that the object does not exist. Other 404s do not say so."""
        return self.status == 404 and self.reason == "NotFound"

    def is_conflict(self) -> bool:
        """Return whether the object has changed since it was read."""
        return self.status == 409


class ScaleSubresource(NamedTuple):
    replicas: int  # as wanted by the spec, not as running
    resource_version: str


class TimetableText(NamedTuple):
    """The content of a timetable's ConfigMap, not parsed yet."""

    timetable: str
    overrides: str = ""  # of its annotation; empty: there is none
    uid: str = ""


class Api:
    def __init__(self, transport: Transport, field_manager: str = FIELD_MANAGER) -> None:
        """`field_manager` is the name the server records for writes."""
        self._transport = transport
        self.field_manager = field_manager

    def get(self, kind: ObjectKind, namespace: str, name: str) -> dict[str, object]:
        """Get an object."""
        return self.ask(Request("GET", kind.path(namespace, name)), kind.name)

    def get_timetable(self, namespace: str, name: str) -> TimetableText:
        found = self.get(CONFIG_MAP, namespace, name)
        text = _part(found, "data").get(TIMETABLE_KEY)
        if not isinstance(text, str):
            raise ApiError(200, "InvalidResponse", f"the ConfigMap {name} has no text {TIMETABLE_KEY}")
        overrides = _annotations(found).get(OVERRIDE)
        uid = _part(found, "metadata").get("uid")
        return TimetableText(
            text, overrides if isinstance(overrides, str) else "", uid if isinstance(uid, str) else ""
        )

    def get_pool(self, namespace: str, name: str, kind: ObjectKind = DEPLOYMENT) -> PoolObject:
        """Get a Deployment, or a NodePool with a fixed number of nodes."""
        found = self.get(kind, namespace, name)
        try:
            return read_pool(kind, found)
        except (KeyError, TypeError, ValueError):
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kind.name}: {json.dumps(found)[:200]}"
            ) from None

    def get_scale(self, namespace: str, name: str, kind: ObjectKind = DEPLOYMENT) -> ScaleSubresource:
        return _scale(self.ask(Request("GET", f"{kind.path(namespace, name)}/scale"), "Scale"))

    def scale(
        self, namespace: str, name: str, replicas: int, resource_version: str, kind: ObjectKind = DEPLOYMENT
    ) -> ScaleSubresource:
        """Scale an object and return its new scale.

        Raises a conflict if the object has changed since `resource_version`.
        """
        patch = {"metadata": {"resourceVersion": resource_version}, "spec": {"replicas": replicas}}
        path = f"{kind.path(namespace, name)}/scale?fieldManager={self.field_manager}"
        return _scale(self.ask(Request("PATCH", path, json.dumps(patch).encode()), "Scale"))

    def get_job_annotation(self, namespace: str, job: str, key: str) -> str:
        """Return an annotation of a Job, empty without one."""
        found = _annotations(self.get(JOB, namespace, job)).get(key)
        return found if isinstance(found, str) else ""

    def annotate(
        self, kind: ObjectKind, namespace: str, name: str, annotations: Mapping[str, str | None]
    ) -> None:
        """Set annotations; None removes one. Others stay."""
        patch = json.dumps({"metadata": {"annotations": annotations}}).encode()
        path = f"{kind.path(namespace, name)}?fieldManager={self.field_manager}"
        self.ask(Request("PATCH", path, patch), kind.name)

    def tell(self, namespace: str, event: dict[str, object]) -> None:
        """Create an Event made by `berth.core.objects.make_event`."""
        path = EVENT.path(namespace)
        self.ask(Request("POST", path, json.dumps(event).encode(), JSON), EVENT.name)

    def read(self, request: Request) -> str:
        """Return the text of a successful response, to be parsed in parts where memory is scarce."""
        answer = self._transport(request)
        if answer.status != 200:
            response_object(answer)
        return answer.body.decode(errors="replace")

    def ask(self, request: Request, *kinds: str) -> dict[str, object]:
        """Return the object of the response, which must be of one of these kinds."""
        answer = self._transport(request)
        body = response_object(answer)
        if body.get("kind") not in kinds:
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kinds[0]}: {_excerpt(answer.body)}"
            )
        return body


def response_object(answer: Response) -> dict[str, object]:
    """Return the JSON object of a successful response, empty if it is not an object.

    Raises ApiError for any other status.
    """
    try:
        tree: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        tree = None
    body = tree if isinstance(tree, dict) else {}
    if answer.status not in (200, 201, 202):  # 202: it will be deleted
        raise _status_error(answer, body)
    return body


def _part(body: dict[str, object], key: str) -> dict[str, object]:
    part = body.get(key)
    return part if isinstance(part, dict) else {}


def _annotations(body: dict[str, object]) -> dict[str, object]:
    return _part(_part(body, "metadata"), "annotations")


def _scale(body: dict[str, object]) -> ScaleSubresource:
    """Parse a Scale. The server leaves out `replicas` if it is zero."""
    metadata, spec = body.get("metadata"), body.get("spec", {})
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(version, str) or not isinstance(replicas, int):
        raise ApiError(
            200, "InvalidResponse", f"the response is not a Scale: {_excerpt(json.dumps(body).encode())}"
        )
    return ScaleSubresource(replicas, version)


def _status_error(answer: Response, body: dict[str, object]) -> ApiError:
    """Return the error of a Status object; a proxy may send anything else."""
    reason = body.get("reason")
    message = body.get("message") if isinstance(reason, str) else None
    return ApiError(
        answer.status,
        reason if isinstance(reason, str) else "Unknown",
        message if isinstance(message, str) else _excerpt(answer.body),
        answer.retry_after,
    )


def _excerpt(body: bytes) -> str:
    """Shorten a body for the log."""
    text = body[:200].decode(errors="replace")
    return text if len(body) <= 200 else text + "..."


LIST_PAGE = 500  # objects in one answer
SLOT_LIST_PAGE = 100  # whoever lists these has less memory


def list_pages(
    api: Api, kind: ObjectKind, namespace: str, labels: str, fields: str = ""
) -> Iterator[list[Tree]]:
    """Yield the objects of a kind that match the selectors, page by page, without their `kind`.

    All pages show the state at one moment; otherwise the last page raises. So a list that ends without an
    error is complete.
    """
    most = SLOT_LIST_PAGE if kind is SLOT else LIST_PAGE
    query = {"labelSelector": labels, "limit": str(most)} | ({"fieldSelector": fields} if fields else {})
    while True:
        answer = api.ask(Request("GET", f"{kind.path(namespace)}?{urlencode(query)}"), f"{kind.name}List")
        items, metadata = answer.get("items") or [], answer.get("metadata") or {}
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise ApiError(
                200, "InvalidResponse", f"the response is not a {kind.name}List: its items are not a list"
            )
        yield items
        if not metadata.get("continue"):
            return
        query["continue"] = str(metadata["continue"])


def get_object(api: Api, kind: ObjectKind, namespace: str, name: str) -> Tree | None:
    """Get an object; None if it does not exist."""
    try:
        return api.get(kind, namespace, name)
    except ApiError as error:
        if error.is_gone():
            return None
        raise


def apply_object(api: Api, kind: ObjectKind, namespace: str, name: str, tree: Tree) -> Tree:
    """Create the object or apply the fields of the tree to it (server-side apply, forced)."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}&force=true"
    return api.ask(Request("PATCH", path, body, APPLY), kind.name)


def create_object(api: Api, kind: ObjectKind, namespace: str, tree: Tree) -> bool:
    """Create an object; return False if the name is taken."""
    body = json.dumps({"apiVersion": kind.version, "kind": kind.name, **tree}).encode()
    path = f"{kind.path(namespace)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("POST", path, body, JSON), kind.name)
    except ApiError as error:
        if error.status == 409 and error.reason == "AlreadyExists":
            return False
        raise
    return True


def patch_object(api: Api, kind: ObjectKind, namespace: str, name: str, tree: Tree) -> bool:
    """Merge the tree into the object.

    Return False if it is gone or has changed since the resourceVersion in the tree.
    """
    path = f"{kind.path(namespace, name)}?fieldManager={api.field_manager}"
    try:
        api.ask(Request("PATCH", path, json.dumps(tree).encode()), kind.name)
    except ApiError as error:
        if error.is_gone() or error.is_conflict():
            return False
        raise
    return True


def delete_object(api: Api, kind: ObjectKind, namespace: str, name: str, **preconditions: str) -> bool:
    """Delete the object if it has this `uid` and `resourceVersion`, and what it owns.

    Return False if there is no such object any more.
    """
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": preconditions,
    }
    try:
        api.ask(
            Request("DELETE", kind.path(namespace, name), json.dumps(options).encode(), JSON),
            kind.name,
            "Status",
        )
    except ApiError as error:
        if error.is_gone() or error.is_conflict():  # a conflict: it is another one now
            return False
        raise
    return True
