"""Requests to the API server with the permissions of an account."""

import http.client
import json
import ssl
from typing import Any

from tests.e2e.certificates import PORT
from tests.e2e.direct import MERGE
from tests.e2e.sandbox import CLUSTER_ADDRESS, STATE


class Account:
    """Requests with the token of a ServiceAccount."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._context = ssl.create_default_context(cafile=str(STATE / "pki" / "ca.crt"))

    def ask(self, method: str, path: str, body: dict[str, Any] | str | None, kind: str = "") -> int:
        """The status of the answer. A text is sent as it is."""
        connection = http.client.HTTPSConnection(CLUSTER_ADDRESS, PORT, timeout=60, context=self._context)
        content = kind or (MERGE if method == "PATCH" else "application/json")
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content}
        try:
            text = body if isinstance(body, str | None) else json.dumps(body)
            connection.request(method, path, text, headers)
            return connection.getresponse().status
        finally:
            connection.close()
