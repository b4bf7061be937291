"""An API of external metrics, in a thread of the tests, which says that there is no load: autoscalers shrink.

Without any API of metrics, an autoscaler raises its target to `minReplicas` all the same, and lowers nothing.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler
from typing import Self

from tests.e2e.direct import Direct
from tests.e2e.faulty_api import https_server, register, unregister

GROUP, VERSION = "external.metrics.k8s.io", "v1beta1"
NAME, PORT = "load-metric", 16444


class LoadMetric:
    """Every external metric is 0, while this is entered."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct
        self._server = https_server(_MetricHandler, PORT)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        register(self._direct, NAME, GROUP, VERSION, PORT)
        return self

    def __exit__(self, *_: object) -> None:
        unregister(self._direct, NAME, GROUP, VERSION, PORT)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _MetricHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
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
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Nothing: a test's output is not its log."""
