"""A chat that engines write to: it answers as Slack does, and keeps what was said."""

import http.server
import json
import threading
from typing import Any
from urllib.parse import parse_qsl

from tests.e2e.sandbox import HOST_ADDRESS
from tests.e2e.waiting import wait_for


class Chat:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []  # as they were posted
        self._server: http.server.ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Ends with a slash."""
        assert self._server is not None
        return f"http://{HOST_ADDRESS}:{self._server.server_port}/"

    def start(self) -> None:
        messages = self.messages

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                is_json = "json" in self.headers.get("Content-Type", "")
                messages.append(json.loads(body) if is_json else dict(parse_qsl(body)))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"ok": true, "channel": "C1", "ts": "1.0"}')

            def log_message(self, *_: object) -> None:
                """Nothing: a test's output is not its log."""

        self._server = http.server.ThreadingHTTPServer((HOST_ADDRESS, 0), Answer)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait_for(self, words: str, timeout: float = 120) -> None:
        """Until a message has them."""
        what = f"a message with {words!r}"
        wait_for(lambda: any(words in str(message) for message in self.messages), timeout, what)

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
