"""What the runtime asks of the API server, in its own words: the timetable, a Deployment or NodePool and its
scale, the record on a Job.

Whatever goes wrong is an `ApiError`. How a request travels is passed in: `gen.runtime.connection` in the
cluster. It decides nothing and repeats nothing.
"""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gen.runtime.objectkind import CONFIG_MAP, DEPLOYMENT, EVENT, JOB, NODE_POOL, Kind
from gen.runtime.override import ANNOTATION as OVERRIDE

FIELD_MANAGER = "berth-occurrence"
SCALER_FIELD_MANAGER = "berth-scaler"
SWEEP_FIELD_MANAGER = "berth-sweep"
OUR_FIELD_MANAGERS = (FIELD_MANAGER, SCALER_FIELD_MANAGER, SWEEP_FIELD_MANAGER)
TIMETABLE_KEY = "timetable.json"
# In the status of what is scaled. Karpenter counts nodes as they come, before their kubelets are ready.
READY = {DEPLOYMENT: "readyReplicas", NODE_POOL: "nodes"}

MERGE_PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"  # of which JSON is a part
JSON = "application/json"


class Request(NamedTuple):
    method: str
    path: str  # with its query
    body: bytes = b""
    content_type: str = MERGE_PATCH  # of the body
    accept: str = JSON


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: float = 0.0  # seconds; 0: the server did not say


Transport = Callable[[Request], Answer]
"""Raises ApiError, and nothing else, where there is no answer."""


class ApiError(Exception):
    """`status` is 0 without an answer; `reason` is one word for programs, the message is for people."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after

    def is_gone(self) -> bool:
        """The API server itself says that there is no such object. Other 404s do not say so."""
        return self.status == 404 and self.reason == "NotFound"

    def is_conflict(self) -> bool:
        """The object has changed since it was read."""
        return self.status == 409


class Scale(NamedTuple):
    replicas: int  # as wanted by the spec, not as running
    resource_version: str


class Deployment(NamedTuple):
    """Or a NodePool of a fixed number of nodes: it is scaled in the same way."""

    replicas: int  # as wanted by the spec
    resource_version: str
    ready: int = 0
    uid: str = ""


class TimetableText(NamedTuple):
    """What the ConfigMap of a timetable says, unread."""

    timetable: str
    overrides: str = ""  # of its annotation; empty: there is none
    uid: str = ""


class Api:
    def __init__(self, transport: Transport, field_manager: str = FIELD_MANAGER) -> None:
        """`field_manager` is the name under which the server notes what is written."""
        self._transport = transport
        self.field_manager = field_manager

    def get(self, kind: Kind, namespace: str, name: str) -> dict[str, object]:
        return self.ask(Request("GET", kind.path(namespace, name)), kind.name)

    def get_timetable(self, namespace: str, name: str) -> TimetableText:
        found = self.get(CONFIG_MAP, namespace, name)
        text = _part(found, "data").get(TIMETABLE_KEY)
        if not isinstance(text, str):
            raise ApiError(200, "Nonsense", f"the ConfigMap {name} has no text {TIMETABLE_KEY}")
        overrides = _annotations(found).get(OVERRIDE)
        uid = _part(found, "metadata").get("uid")
        return TimetableText(
            text, overrides if isinstance(overrides, str) else "", uid if isinstance(uid, str) else ""
        )

    def get_deployment(self, namespace: str, name: str, kind: Kind = DEPLOYMENT) -> Deployment:
        found = self.get(kind, namespace, name)
        version, uid = _part(found, "metadata").get("resourceVersion"), _part(found, "metadata").get("uid")
        replicas = _part(found, "spec").get("replicas")
        ready = _part(found, "status").get(READY[kind])
        if not isinstance(version, str) or not isinstance(replicas, int):
            raise ApiError(200, "Nonsense", f"the answer is no {kind.name}: {json.dumps(found)[:200]}")
        return Deployment(
            replicas,
            version,
            ready if isinstance(ready, int) else 0,  # at zero the server leaves it out
            uid if isinstance(uid, str) else "",
        )

    def get_scale(self, namespace: str, name: str, kind: Kind = DEPLOYMENT) -> Scale:
        return _scale(self.ask(Request("GET", f"{kind.path(namespace, name)}/scale"), "Scale"))

    def scale(
        self, namespace: str, name: str, replicas: int, resource_version: str, kind: Kind = DEPLOYMENT
    ) -> Scale:
        """The scale as the server took it. A conflict if it has changed since `resource_version` was read."""
        patch = {"metadata": {"resourceVersion": resource_version}, "spec": {"replicas": replicas}}
        path = f"{kind.path(namespace, name)}/scale?fieldManager={self.field_manager}"
        return _scale(self.ask(Request("PATCH", path, json.dumps(patch).encode()), "Scale"))

    def get_job_annotation(self, namespace: str, job: str, key: str) -> str:
        """Empty where it has none."""
        found = _annotations(self.get(JOB, namespace, job)).get(key)
        return found if isinstance(found, str) else ""

    def annotate(self, kind: Kind, namespace: str, name: str, annotations: Mapping[str, str | None]) -> None:
        """Those that are None are taken away; others stay."""
        patch = json.dumps({"metadata": {"annotations": annotations}}).encode()
        path = f"{kind.path(namespace, name)}?fieldManager={self.field_manager}"
        self.ask(Request("PATCH", path, patch), kind.name)

    def tell(self, namespace: str, event: dict[str, object]) -> None:
        """Posts an event made by `gen.runtime.event`."""
        path = EVENT.path(namespace)
        self.ask(Request("POST", path, json.dumps(event).encode(), JSON), EVENT.name)

    def read(self, request: Request) -> str:
        """What a good answer says, for whoever has not the memory for all of it as values."""
        answer = self._transport(request)
        if answer.status != 200:
            tree_of(answer)
        return answer.body.decode(errors="replace")

    def ask(self, request: Request, *kinds: str) -> dict[str, object]:
        """The object of one of these kinds that the server answers."""
        answer = self._transport(request)
        body = tree_of(answer)
        if body.get("kind") not in kinds:
            raise ApiError(200, "Nonsense", f"the answer is no {kinds[0]}: {_shown(answer.body)}")
        return body


def tree_of(answer: Answer) -> dict[str, object]:
    """The JSON object of a good answer, empty where it is none. Raises ApiError for a refusal."""
    try:
        tree: object = json.loads(answer.body)
    except (ValueError, RecursionError):
        tree = None
    body = tree if isinstance(tree, dict) else {}
    if answer.status not in (200, 201, 202):  # 202: it will be deleted
        raise _refusal(answer, body)
    return body


def _part(body: dict[str, object], key: str) -> dict[str, object]:
    part = body.get(key)
    return part if isinstance(part, dict) else {}


def _annotations(body: dict[str, object]) -> dict[str, object]:
    return _part(_part(body, "metadata"), "annotations")


def _scale(body: dict[str, object]) -> Scale:
    """At zero the server leaves `replicas` out."""
    metadata, spec = body.get("metadata"), body.get("spec", {})
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(version, str) or not isinstance(replicas, int):
        raise ApiError(200, "Nonsense", f"the answer is no Scale: {_shown(json.dumps(body).encode())}")
    return Scale(replicas, version)


def _refusal(answer: Answer, body: dict[str, object]) -> ApiError:
    """From the Status object that the API server sends; a proxy before it may send anything."""
    reason = body.get("reason")
    message = body.get("message") if isinstance(reason, str) else None
    return ApiError(
        answer.status,
        reason if isinstance(reason, str) else "Unexplained",
        message if isinstance(message, str) else _shown(answer.body),
        answer.retry_after,
    )


def _shown(body: bytes) -> str:
    """What fits into a line of the log."""
    text = body[:200].decode(errors="replace")
    return text if len(body) <= 200 else text + "..."
