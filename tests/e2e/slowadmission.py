"""An admission webhook that allows every write of some objects after two seconds."""

import base64
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler

from tests.e2e.direct import Direct, Object
from tests.e2e.faulty_api import https_server
from tests.e2e.sandbox import HOST_ADDRESS, STATE

PORT = 16445
DELAY = 2  # seconds
NAME = "slow-admission"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class SlowAdmission:
    """`resources` names the plural and its group, by reservation."""

    def __init__(self, direct: Direct, resources: Mapping[str, tuple[str, str]]) -> None:
        self._direct = direct
        self._resources = resources
        self._server = https_server(_Handler, PORT)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        authority = base64.b64encode((STATE / "pki" / "ca.crt").read_bytes()).decode()
        webhooks = [_webhook(name, authority, *found) for name, found in self._resources.items()]
        body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
        self._direct.create(CONFIGURATIONS, {**body, "metadata": {"name": NAME}, "webhooks": webhooks})

    def stop(self) -> None:
        self._direct.delete(f"{CONFIGURATIONS}/{NAME}")
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _webhook(reservation: str, authority: str, resource: str, group: str) -> Object:
    operations = ["CREATE", "UPDATE"]
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": [resource]}
    return {
        "name": f"{reservation}.e2e.berth.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"https://{HOST_ADDRESS}:{PORT}/", "caBundle": authority},
        "failurePolicy": "Fail",
        "objectSelector": {"matchLabels": {"berth.dev/reservation": reservation}},
        "rules": [rule],
        "sideEffects": "None",
        "timeoutSeconds": 10,
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(DELAY)
        response = {"uid": review["request"]["uid"], "allowed": True}
        answer = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass
