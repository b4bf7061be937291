"""Typed values read from JSON; a wrong type raises a `TimetableError` with the path and the reason."""

import json
from collections.abc import Callable
from typing import TypeVar

from berth.core.instants import parse_instant

T = TypeVar("T")

Tree = dict[str, object]
"""A JSON object."""


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
        raise TimetableError(f"{at}: {_shown(value)} is not an object")
    return value


def sequence(value: object, at: str) -> list[object]:
    if not isinstance(value, list):
        raise TimetableError(f"{at}: {_shown(value)} is not a list")
    return value


def text(value: object, at: str) -> str:
    if not isinstance(value, str) or not value:
        raise TimetableError(f"{at}: {_shown(value)} is not a non-empty string")
    return value


def boolean(value: object, at: str) -> bool:
    if not isinstance(value, bool):
        raise TimetableError(f"{at}: {_shown(value)} is not true or false")
    return value


def non_negative(value: object, at: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TimetableError(f"{at}: {_shown(value)} is not a non-negative integer")
    return value


def instant_of(value: object, at: str) -> int:
    try:
        return parse_instant(text(value, at))
    except ValueError as error:
        raise TimetableError(f"{at}: {error}") from None


def _shown(value: object) -> str:
    """Return the value as JSON, shortened for the log."""
    said = json.dumps(value)
    return said if len(said) <= 60 else said[:57] + "..."
