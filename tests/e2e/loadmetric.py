"""An API of external metrics, in a thread of the tests, which says that there is no load: autoscalers shrink.

Without any API of metrics, an autoscaler raises its target to `minReplicas` all the same, and lowers nothing.
"""

from typing import Self

from tests.e2e.direct import Direct
from tests.e2e.faulty_api import https_server, register, unregister
from tests.jsonserver import JsonHandler

GROUP, VERSION = "external.metrics.k8s.io", "v1beta1"
NAME, PORT = "load-metric", 16444


class LoadMetric:
    """Every external metric is 0, while this is entered."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct
        self._server = https_server(_MetricHandler, PORT)

    def __enter__(self) -> Self:
        self._server.start()
        register(self._direct, NAME, GROUP, VERSION, PORT)
        return self

    def __exit__(self, *_: object) -> None:
        unregister(self._direct, NAME, GROUP, VERSION, PORT)
        self._server.stop()


class _MetricHandler(JsonHandler):
    def respond(self) -> None:
        root = f"/apis/{GROUP}/{VERSION}"
        path = self.path.partition("?")[0].rstrip("/")
        answer: dict[str, object] = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{GROUP}/{VERSION}",
            "resources": [],
        }
        if path.startswith(f"{root}/namespaces/"):
            metric = {
                "metricName": path.rpartition("/")[2],
                "metricLabels": {},
                "timestamp": "2026-01-01T00:00:00Z",
                "value": "0",
            }
            kind = {"kind": "ExternalMetricValueList", "apiVersion": f"{GROUP}/{VERSION}"}
            answer = {**kind, "metadata": {}, "items": [metric]}
        self.answer(answer)
