"""A small forge in memory, with the few calls of the API of GitHub that the workflow of requests makes."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.flow.requestjob import Forge
from tests.jsonserver import JsonHandler, ServerThread

REPOSITORY = "uni/seats"
BOT, AUTHOR, STRANGER = "github-actions[bot]", "ada", "eve"
_TOKENS = {"bot-token": BOT, "ada-token": AUTHOR, "eve-token": STRANGER}
_IDS = {name: number for number, name in enumerate(_TOKENS.values(), 1)}


class _State(NamedTuple):
    issues: dict[int, dict[str, Any]]
    comments: dict[int, dict[str, Any]]
    pulls: dict[int, dict[str, Any]]
    calls: list[str]

    def user(self, name: str) -> dict[str, Any]:
        return {"id": _IDS[name], "login": name}


class FakeForge(NamedTuple):
    """The forge, and all that is in it."""

    forge: Forge
    state: _State

    def issue(self, body: str, author: str = AUTHOR) -> int:
        number = len(self.state.issues) + len(self.state.pulls) + 1
        self.state.issues[number] = {
            "number": number,
            "body": body,
            "user": self.state.user(author),
            "created_at": "2026-01-01T12:00:00Z",
        }
        return number

    def edit(self, number: int, body: str) -> None:
        self.state.issues[number]["body"] = body

    def comment(self, number: int, body: str, author: str = AUTHOR) -> int:
        token = next(token for token, name in _TOKENS.items() if name == author)
        made = self.forge.call("POST", f"issues/{number}/comments", token, body=body)
        return int(made["id"])

    def close(self, pull: int) -> None:
        self.state.pulls[pull]["state"] = "closed"


def _answer(state: _State, user: str, method: str, path: str, fields: dict[str, Any]) -> tuple[int, Any]:
    state.calls.append(f"{method} {path}")
    if match := re.fullmatch(r"issues/(\d+)", path):
        number = int(match[1])
        count = sum(comment["issue"] == number for comment in state.comments.values())
        return 200, {**state.issues[number], "comments": count}
    if match := re.fullmatch(r"issues/(\d+)/comments", path):
        number = int(match[1])
        if method == "POST":
            key = max(state.comments, default=0) + 1
            state.comments[key] = {
                "id": key,
                "issue": number,
                "body": fields["body"],
                "user": state.user(user),
            }
            return 201, state.comments[key]
        return 200, [comment for comment in state.comments.values() if comment["issue"] == number]
    if match := re.fullmatch(r"issues/comments/(\d+)", path):
        del state.comments[int(match[1])]
        return 204, None
    if path == "pulls" and method == "POST":
        number = len(state.issues) + len(state.pulls) + 1
        head = {"ref": fields["head"], "repo": {"full_name": REPOSITORY}}
        state.pulls[number] = {**fields, "number": number, "state": "open", "head": head}
        return 201, state.pulls[number]
    if path in ("pulls", "pulls?open"):
        return 200, [pull for pull in state.pulls.values() if path == "pulls" or pull["state"] == "open"]
    match = re.fullmatch(r"pulls/(\d+)", path)
    assert match, path
    state.pulls[int(match[1])].update(fields)
    return 200, state.pulls[int(match[1])]


@contextmanager
def fake_forge() -> Iterator[FakeForge]:
    """Serve an empty forge until the end of the block."""
    state = _State({}, {}, {}, [])

    class Handler(JsonHandler):
        def respond(self) -> None:
            user = _TOKENS[self.headers["Authorization"].removeprefix("token ")]
            path, _, query = self.path.removeprefix(f"/repos/{REPOSITORY}/").partition("?")
            path += "?open" if "state=open" in query else ""
            code, answer = _answer(state, user, self.command, path, json.loads(self.body() or b"{}"))
            self.answer(answer, code)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = ServerThread(server)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        yield FakeForge(Forge(url, "https://git.example.org", REPOSITORY, BOT, "bot-token"), state)
    finally:
        thread.stop()
