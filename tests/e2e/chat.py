"""A chat that engines write to: it answers as Slack does, and keeps what was said."""

import json
import threading
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.e2e.sandbox import HOST_ADDRESS
from tests.e2e.waiting import wait_for
from tests.jsonserver import JsonHandler


class Chat:
    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []  # as they were posted
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Ends with a slash."""
        assert self._server is not None
        return f"http://{HOST_ADDRESS}:{self._server.server_port}/"

    def start(self) -> None:
        messages = self.messages

        class Answer(JsonHandler):
            def respond(self) -> None:
                body = self.body().decode()
                is_json = "json" in self.headers.get("Content-Type", "")
                messages.append(json.loads(body) if is_json else dict(parse_qsl(body)))
                self.answer({"ok": True, "channel": "C1", "ts": "1.0"})

        self._server = ThreadingHTTPServer((HOST_ADDRESS, 0), Answer)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait_for(self, words: str, timeout: float = 120) -> None:
        """Until a message has them."""
        what = f"a message with {words!r}"
        wait_for(lambda: any(words in str(message) for message in self.messages), timeout, what)

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
