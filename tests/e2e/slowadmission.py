"""An admission webhook that allows every write of some objects after two seconds."""

import base64
import json
import time
from collections.abc import Mapping

from tests.e2e.direct import Direct, Object
from tests.e2e.faulty_api import https_server
from tests.e2e.sandbox import HOST_ADDRESS, STATE
from tests.jsonserver import JsonHandler

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

    def start(self) -> None:
        self._server.start()
        authority = base64.b64encode((STATE / "pki" / "ca.crt").read_bytes()).decode()
        webhooks = [_webhook(name, authority, *found) for name, found in self._resources.items()]
        body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
        self._direct.create(CONFIGURATIONS, {**body, "metadata": {"name": NAME}, "webhooks": webhooks})

    def stop(self) -> None:
        self._direct.delete(f"{CONFIGURATIONS}/{NAME}")
        self._server.stop()


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


class _Handler(JsonHandler):
    def respond(self) -> None:
        review = json.loads(self.body())
        time.sleep(DELAY)
        response = {"uid": review["request"]["uid"], "allowed": True}
        self.answer({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})
