"""Servers in threads of the tests that answer with JSON."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class JsonHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        """Answer a request of any method."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.respond()

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names of http.server

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, content: object, status: int = 200) -> None:
        """Answer with nothing where the content is None."""
        text = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Nothing: a test's output is not its log."""


class ServerThread:
    def __init__(self, server: ThreadingHTTPServer) -> None:
        server.daemon_threads = True
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
