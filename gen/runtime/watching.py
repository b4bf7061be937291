"""What a list or a watch answers, and what to do next after each turn of events.

Pure functions of values. Whatever is not what the API server says becomes an `ApiError`.
"""

import json
from typing import NamedTuple

from gen.runtime.api import ApiError
from gen.runtime.pause import after_failure

Tree = dict[str, object]
EXPIRED = 410
# After these, and after no answer at all, the version may still be good, and to go on from it spares the
# server a list. Not 504: so one whose data was restored refuses a version that it has not reached.
_PASSING = (401, 403, 429, 500, 502, 503)
_RELIST_AFTER = 5  # answered failures in a row: the version itself may be what ails the server


class Event(NamedTuple):
    object: Tree | None  # None: nothing but the version has changed
    is_gone: bool
    version: str


class Course(NamedTuple):
    """How far a watch has come."""

    version: str = ""  # everything up to it is known; empty: nothing is, list first
    failures: int = 0  # in a row


def event(line: bytes) -> Event:
    """Of one line of a watch. Raises the error that an event of the type ERROR speaks of."""
    try:
        tree: object = json.loads(line)
    except (ValueError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        raise ApiError(200, "Nonsense", f"the event is no JSON object: {line[:200].decode(errors='replace')}")
    kind, found = tree.get("type"), mapping(tree, "object")
    if kind == "ERROR":
        raise _error(found)
    version = mapping(found, "metadata").get("resourceVersion")
    if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
        raise nonsense("the event has no type that is known", {"type": kind})
    if not isinstance(version, str) or not version:
        raise nonsense("the event has no version", {"type": kind})
    return Event(None if kind == "BOOKMARK" else found, kind == "DELETED", version)


def failed(course: Course, error: ApiError) -> Course:
    """Goes on from the same version where that may help, and lists again where it may not."""
    failures = course.failures + 1
    keeps = error.status == 0 or (error.status in _PASSING and failures < _RELIST_AFTER)
    return Course(course.version if keeps else "", failures)


def ended(course: Course, events: int) -> Course:
    """A watch ends after a while; one that ends without a word, again and again, is a failure."""
    return course._replace(failures=0 if events else course.failures + 1)


def pause_after_failure(course: Course, error: ApiError, jitter: float) -> float:
    """`course` as it is after the failure. A version that has expired is nobody's fault."""
    if error.status == EXPIRED and course.failures == 1:
        return 0.0
    return after_failure(course.failures, error.retry_after, jitter)


def pause_after_end(course: Course, jitter: float) -> float:
    """`course` as it is after the end."""
    return after_failure(course.failures - 1, 0.0, jitter) if course.failures > 1 else 0.0


def mapping(tree: Tree, key: str) -> Tree:
    """What is there, or an empty one where that is no object."""
    found = tree.get(key)
    return found if isinstance(found, dict) else {}


def nonsense(what: str, said: Tree) -> ApiError:
    return ApiError(200, "Nonsense", f"{what}: {json.dumps(said)[:200]}")


def _error(status: Tree) -> ApiError:
    code, reason, message = (status.get(key) for key in ("code", "reason", "message"))
    return ApiError(
        code if isinstance(code, int) and code else 500,
        reason if isinstance(reason, str) else "Unexplained",
        message if isinstance(message, str) else json.dumps(status)[:200],
    )
