"""Lists and watches of a collection: requests, pages, watch events, and when to try again.

Pure values and functions. A response that no API server sends raises `ApiError`.
"""

import json
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlencode

from berth.core.backoff import backoff
from berth.core.jsonvalues import Tree
from berth.runtime.apiclient import JSON, ApiError, Request

_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1"


class Collection(NamedTuple):
    """A collection of objects. `labels` and `fields` are selectors; empty selects all."""

    path: str
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    page: int = 100  # objects asked for at once

    def list_request(self, limit: int, token: str) -> Request:
        """Return the request for the page of `token`; an empty token is the first page."""
        asked = {"limit": str(limit), "continue": token}
        accept = _METADATA.format(kind="PartialObjectMetadataList") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

    def watch_request(self, version: str, seconds: int) -> Request:
        """Return the request to watch changes after `version` for so many seconds."""
        asked = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        accept = _METADATA.format(kind="PartialObjectMetadata") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

    def _path(self, asked: dict[str, str]) -> str:
        asked = {"labelSelector": self.labels, "fieldSelector": self.fields, **asked}
        return f"{self.path}?{urlencode({key: value for key, value in asked.items() if value})}"


_DECODER = json.JSONDecoder()


class Page(NamedTuple):
    """The end of a page."""

    version: str
    token: str  # asks for the next page; empty: this is the last


def parse_page(text: str, take: Callable[[Tree], None]) -> Page:
    """Parse a page of a list and pass each item to `take` as soon as it is parsed.

    Items are passed even if the rest turns out to be invalid. All items at once would need several times the
    memory of their text. The server may send `items: null` for an empty collection.
    """
    rest: Tree = {}
    try:
        at = _opened(text, 0, "{")
        while text[at] != "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _opened(text, at, ":")
            if not isinstance(key, str):
                raise ValueError("a key is not a string")
            if key == "items" and text[at] == "[":
                rest[key], at = None, _items(text, at, take)
            else:
                rest[key], at = _DECODER.raw_decode(text, at)
            at = _next_member(text, at, "}")
    except (ValueError, IndexError, RecursionError):
        raise invalid_response("the response is not a list", {"text": text[:100]}) from None
    metadata = object_at(rest, "metadata")
    version, token = metadata.get("resourceVersion"), metadata.get("continue", "")
    if not str(rest.get("kind")).endswith("List") or rest.get("items", "") is not None:
        raise invalid_response("the response is not a list", {"kind": rest.get("kind")})
    if not (isinstance(version, str) and version and isinstance(token, str)):
        raise invalid_response("the list has no version", metadata)
    return Page(version, token)


def _items(text: str, at: int, take: Callable[[Tree], None]) -> int:
    """Parse the list at `at` and return the position after it."""
    at = _opened(text, at, "[")
    while text[at] != "]":
        item, at = _DECODER.raw_decode(text, at)
        if not isinstance(item, dict):
            raise ValueError("an item is not an object")
        take(item)
        at = _next_member(text, at, "]")
    return at + 1


def _opened(text: str, at: int, sign: str) -> int:
    """Return the position after `sign`."""
    at = _skip(text, at)
    if text[at] != sign:
        raise ValueError(f"no {sign}")
    return _skip(text, at + 1)


def _next_member(text: str, at: int, end: str) -> int:
    """Return the position of the next member, or of the closing sign."""
    at = _skip(text, at)
    if text[at] == end:
        return at
    at = _opened(text, at, ",")
    if text[at] == end:
        raise ValueError("nothing after a comma")
    return at


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


EXPIRED = 410
# After these, and after no answer at all, the version may still be good, and to go on from it spares the
# server a list. Not 504: so one whose data was restored refuses a version that it has not reached.
_TRANSIENT = (401, 403, 429, 500, 502, 503)
_RELIST_AFTER = 5  # answered failures in a row: the version itself may be what ails the server


class WatchEvent(NamedTuple):
    """An event of a watch."""

    object: Tree | None  # None: nothing but the version has changed
    is_gone: bool
    version: str


class WatchCursor(NamedTuple):
    """The progress of a watch."""

    version: str = ""  # everything up to it is known; empty: nothing is, list first
    failures: int = 0  # in a row


def parse_watch_event(line: bytes) -> WatchEvent:
    """Parse one line of a watch. Raises the error of an event of type ERROR."""
    try:
        tree: object = json.loads(line)
    except (ValueError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        raise ApiError(
            200, "InvalidResponse", f"the event is not a JSON object: {line[:200].decode(errors='replace')}"
        )
    kind, found = tree.get("type"), object_at(tree, "object")
    if kind == "ERROR":
        raise _watch_error(found)
    version = object_at(found, "metadata").get("resourceVersion")
    if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise invalid_response("the event has an unknown type", {"type": kind})
    if not isinstance(version, str) or not version:
        raise invalid_response("the event has no version", {"type": kind})
    return WatchEvent(None if kind == "BOOKMARK" else found, kind == "DELETED", version)


def cursor_after_failure(cursor: WatchCursor, error: ApiError) -> WatchCursor:
    """Continue from the same version if that may help, otherwise list again."""
    failures = cursor.failures + 1
    keeps = error.status == 0 or (error.status in _TRANSIENT and failures < _RELIST_AFTER)
    return WatchCursor(cursor.version if keeps else "", failures)


def cursor_after_end(cursor: WatchCursor, events: int) -> WatchCursor:
    """Return the cursor after a watch ended. Several that end without an event count as failures."""
    return cursor._replace(failures=0 if events else cursor.failures + 1)


def pause_after_failure(cursor: WatchCursor, error: ApiError, jitter: float) -> float:
    """Return the seconds to pause. `cursor` is that after the failure. An expired version is normal."""
    if error.status == EXPIRED and cursor.failures == 1:
        return 0.0
    return backoff(cursor.failures, error.retry_after, jitter)


def pause_after_end(cursor: WatchCursor, jitter: float) -> float:
    """Return the seconds to pause. `cursor` is that after the end."""
    return backoff(cursor.failures - 1, 0.0, jitter) if cursor.failures > 1 else 0.0


def object_at(tree: Tree, key: str) -> Tree:
    """Return the object at the key, an empty one if there is none."""
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def uid_of(tree: Tree) -> str:
    metadata = object_at(tree, "metadata")
    uid = metadata.get("uid")
    if not isinstance(uid, str) or not uid:
        raise invalid_response("an object has no uid", metadata)
    return uid


def invalid_response(what: str, said: Tree) -> ApiError:
    """Return the error for a response that no API server sends."""
    return ApiError(200, "InvalidResponse", f"{what}: {json.dumps(said)[:200]}")


def _watch_error(status: Tree) -> ApiError:
    code, reason, message = (status.get(key) for key in ("code", "reason", "message"))
    return ApiError(
        code if isinstance(code, int) and code else 500,
        reason if isinstance(reason, str) else "Unknown",
        message if isinstance(message, str) else json.dumps(status)[:200],
    )
