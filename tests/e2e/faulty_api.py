"""A session API that can be made to fail: an aggregated API server of the cluster, in a thread of the tests.

The real API server forwards to it whatever is asked of the group GROUP, after it has checked who asks, so the
scaler meets the fault where it would meet it in life: behind its one address and its own permissions. Each
resource has sessions, and a fault of its own.
"""

import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.e2e.direct import Direct, Object
from tests.e2e.sandbox import HOST_ADDRESS, STATE
from tests.jsonserver import JsonHandler, ServerThread

GROUP, VERSION = "sessions.e2e.berth.dev", "v1"
ROOT = f"/apis/{GROUP}/{VERSION}"
PORT = 16443
_REGISTERED = ("faulty-sessions", GROUP, VERSION, PORT)
GOOD, ERRORS, SILENCE, NONSENSE = "good", "errors", "silence", "nonsense"
MOST = 500  # objects in a page, whatever is asked for
LONG = 3600  # seconds: longer than any test


class FaultyApi:
    """`sessions` and `fault` may be changed at any time; watches end when they are."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct
        self.sessions: dict[str, list[Object]] = {}  # by resource, all in one namespace
        self.fault: dict[str, str] = {}
        self.asked: dict[str, int] = {}  # requests, by resource
        self._version = 1
        self.changed = threading.Condition()
        self._server = https_server(type("Handler", (_Handler,), {"api": self}), PORT)

    @property
    def version(self) -> int:
        return self._version

    def start(self) -> None:
        self._server.start()
        register(self._direct, *_REGISTERED)

    def stop(self) -> None:
        unregister(self._direct, *_REGISTERED)
        self.set_fault()  # whoever waits goes on
        self._server.stop()

    def set_sessions(self, resource: str, namespace: str, count: int) -> None:
        with self.changed:
            self.sessions[resource] = [_session(resource, namespace, number) for number in range(count)]
            self._version += 1
            self.changed.notify_all()

    def set_fault(self, fault: str = GOOD, *resources: str) -> None:
        """Of these resources, or of all."""
        with self.changed:
            self.fault.update(dict.fromkeys(resources or self.fault, fault))
            self._version += 1
            self.changed.notify_all()


class _Handler(JsonHandler):
    api: FaultyApi  # given by a class of its own for each

    def respond(self) -> None:
        url = urlsplit(self.path)
        if url.path.rstrip("/") == ROOT:
            self.answer(_discovery(self.api))
        elif url.path.rstrip("/") == f"/apis/{GROUP}":
            self.answer(_group())
        else:
            query = {key: values[-1] for key, values in parse_qs(url.query).items()}
            self._list_or_watch(url.path.rpartition("/")[2], query)

    def _list_or_watch(self, resource: str, query: Mapping[str, str]) -> None:
        api = self.api
        api.asked[resource] = api.asked.get(resource, 0) + 1
        fault = api.fault.get(resource, GOOD)
        if fault == ERRORS:
            self.answer({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500}, 500)
        elif fault == SILENCE:
            self._wait(lambda: api.fault.get(resource) == SILENCE)
            self.close_connection = True
        elif fault == NONSENSE:
            self.answer(["sessions", {"of": None}])
        elif query.get("watch") in ("true", "1"):
            self._watch()
        else:
            self.answer(_page(api, resource, query))

    def _watch(self) -> None:
        """No events: whatever changes ends it, and who watches has to list again."""
        version = self.api.version
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()
        gone = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired"}
        self._wait(lambda: self.api.version == version)
        self.wfile.write(json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n")
        self.close_connection = True

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LONG
        with self.api.changed:
            while condition() and time.monotonic() < deadline:
                self.api.changed.wait(1)


def _page(api: FaultyApi, resource: str, query: Mapping[str, str]) -> Object:
    """What the scaler may ask for: a part of it, from where the last part ended."""
    items = api.sessions.get(resource, [])
    first = int(query.get("continue", "0"))
    last = first + min(int(query.get("limit", "0")) or len(items), MOST)
    metadata: Object = {"resourceVersion": str(api.version)}
    if last < len(items):
        metadata["continue"] = str(last)
    kind = "PartialObjectMetadataList"
    return {
        "kind": kind,
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "items": items[first:last],
    }


def _session(resource: str, namespace: str, number: int) -> Object:
    metadata = {
        "name": f"{resource}-{number}",
        "namespace": namespace,
        "uid": f"{resource}-{number}",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "resourceVersion": "1",
        "annotations": {"note": "x" * 200},
    }
    return {"kind": "Session", "apiVersion": f"{GROUP}/{VERSION}", "metadata": metadata, "spec": {}}


def _group() -> Object:
    versions = [{"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": versions,
        "preferredVersion": versions[0],
    }


def _discovery(api: FaultyApi) -> Object:
    resources = [
        {
            "name": name,
            "singularName": "",
            "namespaced": True,
            "kind": name.title(),
            "verbs": ["list", "watch"],
        }
        for name in sorted(api.sessions)
    ]
    group = f"{GROUP}/{VERSION}"
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group, "resources": resources}


def https_server(handler: type[JsonHandler], port: int) -> ServerThread:
    """Return a server with the certificate of the API server, which does not serve yet."""
    server = ThreadingHTTPServer((HOST_ADDRESS, port), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(STATE / "pki" / "apiserver.crt"), str(STATE / "pki" / "apiserver.key"))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return ServerThread(server)


def register(direct: Direct, name: str, group: str, version: str, port: int) -> None:
    """Let the API server forward what is asked of a group to a server of the tests at this port."""
    for path, body in _registration(name, group, version, port):
        direct.create(path.rpartition("/")[0], body)


def unregister(direct: Direct, name: str, group: str, version: str, port: int) -> None:
    for path, _ in reversed(_registration(name, group, version, port)):
        direct.delete(path)


def _registration(name: str, group: str, version: str, port: int) -> list[tuple[str, Object]]:
    """A Service that leads here, and the group that leads to the Service."""
    ports = [{"name": "https", "port": 443, "targetPort": port, "protocol": "TCP"}]
    meta = {"name": name, "namespace": "default"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}}
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {**meta, "labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [HOST_ADDRESS], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }
    spec = {
        "group": group,
        "version": version,
        "service": meta,
        "insecureSkipTLSVerify": True,
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
    }
    api_service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}"},
        "spec": spec,
    }
    return [
        (f"/api/v1/namespaces/default/services/{name}", service),
        (f"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/{name}", endpoints),
        (f"/apis/apiregistration.k8s.io/v1/apiservices/{version}.{group}", api_service),
    ]
