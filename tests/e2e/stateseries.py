"""An exporter of the few series of kube-state-metrics that our alerts use, from the live API.

kube-state-metrics itself cannot be had here. Names, labels and values are those of its documentation
(docs/metrics/workload), with the labels of its flag in docs/alerts.md.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from zoneinfo import ZoneInfo

from berth import quantity
from croniter import croniter

from tests.e2e.direct import Direct, Mirror, Object

_LABELS = {
    "deployment": ("berth.dev/reservation", "berth.dev/resource-class"),
    "job": ("berth.dev/site", "berth.dev/reservation"),
}
_PATHS = {
    "deployments": "/apis/apps/v1/namespaces/{}/deployments",
    "cronjobs": "/apis/batch/v1/namespaces/{}/cronjobs",
    "jobs": "/apis/batch/v1/namespaces/{}/jobs",
    "pods": "/api/v1/namespaces/{}/pods",
}


class Sample(NamedTuple):
    name: str
    labels: Mapping[str, str]
    value: float

    def line(self) -> str:
        labels = ",".join(f'{key}="{value}"' for key, value in self.labels.items())
        return f"{self.name}{{{labels}}} {float(self.value)}\n"


class StateSeries:
    """Serves the series of a namespace under /metrics."""

    def __init__(self, direct: Direct, address: str, namespace: str) -> None:
        self._mirrors = {kind: Mirror(direct, path.format(namespace)) for kind, path in _PATHS.items()}
        self._server = ThreadingHTTPServer((address, 0), type("Handler", (_Handler,), {"series": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    def start(self) -> None:
        for mirror in self._mirrors.values():
            mirror.start()
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for mirror in self._mirrors.values():
            mirror.stop()

    def text(self) -> str:
        kinds = {"deployments": _deployment, "cronjobs": _cronjob, "jobs": _job, "pods": _pod}
        return "".join(
            sample.line()
            for kind, samples in kinds.items()
            for object_ in self._mirrors[kind].objects()
            for sample in samples(object_)
        )


class _Handler(BaseHTTPRequestHandler):
    series: StateSeries

    def do_GET(self) -> None:
        content = self.series.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _identity(found: Object, label: str) -> dict[str, str]:
    return {"namespace": found["metadata"]["namespace"], label: found["metadata"]["name"]}


def _of_labels(found: Object, kind: str, identity: Mapping[str, str]) -> Iterator[Sample]:
    """Without any of the labels there is no series."""
    known = found["metadata"].get("labels", {})
    labels = {
        f"label_{re.sub('[^a-zA-Z0-9_]', '_', key)}": known[key] for key in _LABELS[kind] if key in known
    }
    if labels:
        yield Sample(f"kube_{kind}_labels", {**identity, **labels}, 1)


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _deployment(found: Object) -> Iterator[Sample]:
    identity = _identity(found, "deployment")
    yield Sample("kube_deployment_spec_replicas", identity, found["spec"]["replicas"])
    ready = found["status"].get("readyReplicas", 0)
    yield Sample("kube_deployment_status_replicas_ready", identity, ready)
    yield from _of_labels(found, "deployment", identity)


def _cronjob(found: Object) -> Iterator[Sample]:
    identity, spec, status = _identity(found, "cronjob"), found["spec"], found["status"]
    created = _instant(found["metadata"]["creationTimestamp"])
    yield Sample("kube_cronjob_created", identity, created)
    yield Sample("kube_cronjob_status_active", identity, len(status.get("active", [])))
    yield Sample("kube_cronjob_spec_suspend", identity, spec.get("suspend", False))
    if "lastSuccessfulTime" in status:
        last = _instant(status["lastSuccessfulTime"])
        yield Sample("kube_cronjob_status_last_successful_time", identity, last)
    if not spec.get("suspend"):
        since = _instant(status["lastScheduleTime"]) if "lastScheduleTime" in status else created
        begin = datetime.fromtimestamp(since, UTC).astimezone(ZoneInfo(spec.get("timeZone", "Etc/UTC")))
        following = croniter(spec["schedule"], begin).get_next(datetime)
        yield Sample("kube_cronjob_next_schedule_time", identity, following.timestamp())


def _job(found: Object) -> Iterator[Sample]:
    """Whether it failed is told when it has; then its failed pods have the reason, and no count."""
    identity, status = _identity(found, "job_name"), found["status"]
    yield Sample("kube_job_info", identity, 1)
    yield Sample("kube_job_status_active", identity, status.get("active", 0))
    failed = [one for one in status.get("conditions", []) if one["type"] == "Failed"]
    for one in failed:
        for word in ("true", "false", "unknown"):
            is_so = one["status"].lower() == word
            yield Sample("kube_job_failed", {**identity, "condition": word}, is_so)
    reason = {"reason": failed[0]["reason"]} if failed else {}
    count = 1 if failed else status.get("failed", 0)
    yield Sample("kube_job_status_failed", {**identity, **reason}, count)
    yield from _of_labels(found, "job", identity)


def _pod(found: Object) -> Iterator[Sample]:
    identity = _identity(found, "pod")
    for kind, key in (("container", "containerStatuses"), ("init_container", "initContainerStatuses")):
        for one in found["status"].get(key, []):
            own = {**identity, "container": one["name"]}
            yield Sample(f"kube_pod_{kind}_status_restarts_total", own, one["restartCount"])
            if reason := one["state"].get("waiting", {}).get("reason"):
                yield Sample(f"kube_pod_{kind}_status_waiting_reason", {**own, "reason": reason}, 1)
    for one in found["spec"]["containers"]:
        for name, amount in one.get("resources", {}).get("requests", {}).items():
            resource = {"resource": re.sub("[^a-zA-Z0-9_]", "_", name), "container": one["name"]}
            value = (quantity.parse(amount) or 0) / quantity.NANO
            yield Sample("kube_pod_container_resource_requests", {**identity, **resource}, value)
