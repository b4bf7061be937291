"""Typed values read from JSON, and instants: whole seconds since the epoch, as text `2026-02-02T07:30:00Z`.

In a timetable, a wrong type raises a `TimetableError` with the path and the reason; in an object of the API
server, whatever is not there or of another type is empty. Instants are in UTC.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

DAY = 86_400
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: no file can hold it
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - everything here is UTC


@lru_cache(maxsize=4096)
def instant_text(seconds: int) -> str:
    """Return the text of an instant of the years 1 to 9999.

    Cached, because the timetables of a site repeat the same instants.
    """
    return f"{(_EPOCH + timedelta(seconds=seconds)).isoformat()}Z"


def parse_instant(text: str) -> int:
    """Parse an instant. Raises ValueError for what `instant_text` does not write, such as 30 February."""
    try:
        since = datetime.fromisoformat(text[:-1]) - _EPOCH
        seconds = since.days * DAY + since.seconds
        good = instant_text(seconds) == text
    except (ValueError, TypeError):  # TypeError: it has an offset
        good = False
    if not good:
        raise ValueError(f"{text!r} is not an instant such as 2026-02-02T07:30:00Z")
    return seconds


def instant_or_none(text: object) -> int | None:
    """Parse an instant; None if it is not one."""
    try:
        return parse_instant(str(text))
    except ValueError:
        return None


Tree = dict[str, object]
"""A JSON object."""


def parse_mapping(said: str, at: str) -> Tree:
    """Parse the text of a JSON object. Raises TimetableError."""
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"{at} is not JSON: {error}") from None
    return mapping(tree, at)


def part(tree: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return the object below these keys of an object, empty if there is none."""
    value: Any = tree
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, dict) else {}


def parts(tree: Mapping[str, Any], *path: str) -> list[dict[str, Any]]:
    """Return the objects of the list below these keys of an object."""
    value = part(tree, *path[:-1]).get(path[-1])
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class TimetableError(Exception):
    """The text is not a valid timetable; the message has the path and the reason."""


def field(tree: dict[str, object], key: str, read: Callable[[object, str], T], at: str = "") -> T:
    """Read a required key of an object by `read`."""
    path = f"{at}.{key}" if at else key
    if key not in tree:
        raise TimetableError(f"{path}: is missing")
    return read(tree[key], path)


def mapping(value: object, at: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TimetableError(f"{at}: {excerpt(value)} is not an object")
    return value


def sequence(value: object, at: str) -> list[object]:
    if not isinstance(value, list):
        raise TimetableError(f"{at}: {excerpt(value)} is not a list")
    return value


def text(value: object, at: str) -> str:
    if not isinstance(value, str) or not value or _HALF.search(value):
        raise TimetableError(f"{at}: {excerpt(value)} is not a non-empty string")
    return value


def boolean(value: object, at: str) -> bool:
    if not isinstance(value, bool):
        raise TimetableError(f"{at}: {excerpt(value)} is not true or false")
    return value


def non_negative(value: object, at: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TimetableError(f"{at}: {excerpt(value)} is not a non-negative integer")
    return value


def instant_of(value: object, at: str) -> int:
    try:
        return parse_instant(text(value, at))
    except ValueError as error:
        raise TimetableError(f"{at}: {error}") from None


def excerpt(value: object, most: int = 60) -> str:
    """Return the value as JSON, shortened for the log."""
    try:
        text = json.dumps(value)
    except RecursionError:  # some texts can be read and not written again
        text = "what is too deep"
    return text if len(text) <= most else text[: most - 3] + "..."
