"""A registry of one image whose layer comes late, in plain HTTP: `python -m tests.e2e.slowregistry`.

It runs where containerd runs, which takes plain HTTP from the machine itself once it has tried TLS.
"""

import hashlib
import io
import json
import tarfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.e2e.images import architecture

PORT = 5055
IMAGE = f"127.0.0.1:{PORT}/slow/course:1"
LATE = 90  # seconds from the first request for the layer until it is sent
_OCI = "application/vnd.oci.image"


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _described(kind: str, content: bytes) -> dict[str, object]:
    return {"mediaType": f"{_OCI}.{kind}", "digest": _digest(content), "size": len(content)}


def _layer() -> bytes:
    made, text = io.BytesIO(), b"what a course needs\n"
    with tarfile.open(fileobj=made, mode="w") as tar:
        entry = tarfile.TarInfo("course.txt")
        entry.size, entry.mode = len(text), 0o444
        tar.addfile(entry, io.BytesIO(text))
    return made.getvalue()


LAYER = _layer()
CONFIG = json.dumps(
    {
        "architecture": architecture(),
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [_digest(LAYER)]},
    }
).encode()
MANIFEST = json.dumps(
    {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": _described("config.v1+json", CONFIG),
        "layers": [_described("layer.v1.tar", LAYER)],
    }
).encode()
_BLOBS = {_digest(one): one for one in (CONFIG, LAYER)}


class Registry(BaseHTTPRequestHandler):
    default_request_version = "HTTP/1.1"  # a client that tries TLS reads in the answer that this is HTTP
    asked: float | None = None  # when the layer was wanted first

    def do_GET(self) -> None:
        self._answer(is_whole=True)

    def do_HEAD(self) -> None:
        self._answer(is_whole=False)

    def _answer(self, *, is_whole: bool) -> None:
        last = self.path.rpartition("/")[2]
        kind, content = "application/octet-stream", _BLOBS.get(last, b"")
        if "/manifests/" in self.path:
            kind, content = f"{_OCI}.manifest.v1+json", MANIFEST
        self.send_response(200 if content or self.path == "/v2/" else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Docker-Content-Digest", _digest(content))
        self.end_headers()  # at once: nobody waits so long for them
        if not is_whole:
            return
        if content is LAYER:
            Registry.asked = Registry.asked or time.monotonic()
            time.sleep(max(0, Registry.asked + LATE - time.monotonic()))
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", PORT), Registry).serve_forever()
