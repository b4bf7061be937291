"""What the timetable of a reservation says: which seats, from when to when, in UTC.

This is where the generator's text becomes values again in the cluster. Every version ever released is read, a
higher one is refused; keys that this code does not know are ignored. It never guesses: a text that is
malformed anywhere gives no timetable at all, so that the caller keeps the one that it had.
"""

import json
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from gen.runtime.instant import instant

T = TypeVar("T")

API_VERSION = "berth.dev/v1alpha1"
KIND = "Timetable"
VERSION = 1
BEHAVIOURS = ("maintain", "reduce", "none")


class TimetableError(Exception):
    """The text is no timetable that this code can read; the message says where and why."""


class Pool(NamedTuple):
    resource_class: str
    deployment: str
    behaviour: str


class Occurrence(NamedTuple):
    """Half-open: open from `open` on, started from `start` on, over at `end`. open <= start < end."""

    id: str
    open: int
    start: int
    end: int
    seats: tuple[tuple[str, int], ...]  # (resource class, count), in the order of the text


class Timetable(NamedTuple):
    reservation: str
    suspend: bool
    pools: tuple[Pool, ...]
    occurrences: tuple[Occurrence, ...]


def in_force(timetable: Timetable) -> tuple[Occurrence, ...]:
    """The occurrences that may open: none of a suspended reservation."""
    return () if timetable.suspend else timetable.occurrences


def parse(text: str) -> Timetable:
    try:
        tree: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"the timetable is not JSON: {error}") from None
    top = _object(tree, "the timetable")
    _check_header(top)
    pools = tuple(_pool(*item) for item in _value(top, "pools", _object).items())
    classes = {pool.resource_class for pool in pools}
    occurrences = _value(top, "occurrences", _list)
    return Timetable(
        _value(top, "reservation", _text),
        _value(top, "suspend", _flag),
        pools,
        tuple(_occurrence(item, f"occurrences[{n}]", classes) for n, item in enumerate(occurrences)),
    )


def _check_header(top: dict[str, object]) -> None:
    """The version is told first: of a text of tomorrow nothing else can be judged."""
    version = _value(top, "version", _whole)
    if not 1 <= version <= VERSION:
        raise TimetableError(f"version: {version} is unknown here; versions 1 to {VERSION} can be read")
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if (found := _value(top, key, _text)) != expected:
            raise TimetableError(f"{key}: {found!r} is not {expected!r}")


def _pool(resource_class: str, tree: object) -> Pool:
    at = f"pools.{resource_class}"
    pool = _object(tree, at)
    behaviour = _value(pool, "behaviour", _text, at)
    if behaviour not in BEHAVIOURS:
        raise TimetableError(f"{at}.behaviour: {behaviour!r} is none of {', '.join(BEHAVIOURS)}")
    return Pool(resource_class, _value(pool, "deployment", _text, at), behaviour)


def _occurrence(tree: object, at: str, classes: set[str]) -> Occurrence:
    item = _object(tree, at)
    seats = _value(item, "seats", _object, at)
    found = Occurrence(
        _value(item, "id", _text, at),
        _value(item, "open", _instant, at),
        _value(item, "start", _instant, at),
        _value(item, "end", _instant, at),
        tuple((name, _whole(count, f"{at}.seats.{name}")) for name, count in seats.items()),
    )
    if not found.open <= found.start < found.end:
        raise TimetableError(f"{at}: open, start and end of {found.id!r} are not in this order")
    for name, _ in found.seats:
        if name not in classes:
            raise TimetableError(f"{at}.seats.{name}: there is no pool of this class")
    return found


def _value(tree: dict[str, object], key: str, read: Callable[[object, str], T], at: str = "") -> T:
    path = f"{at}.{key}" if at else key
    if key not in tree:
        raise TimetableError(f"{path}: is missing")
    return read(tree[key], path)


def _object(value: object, at: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TimetableError(f"{at}: {_shown(value)} is not an object")
    return value


def _list(value: object, at: str) -> list[object]:
    if not isinstance(value, list):
        raise TimetableError(f"{at}: {_shown(value)} is not a list")
    return value


def _text(value: object, at: str) -> str:
    if not isinstance(value, str) or not value:
        raise TimetableError(f"{at}: {_shown(value)} is not a text, or an empty one")
    return value


def _flag(value: object, at: str) -> bool:
    if not isinstance(value, bool):
        raise TimetableError(f"{at}: {_shown(value)} is not true or false")
    return value


def _whole(value: object, at: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TimetableError(f"{at}: {_shown(value)} is not a whole number from 0 up")
    return value


def _instant(value: object, at: str) -> int:
    try:
        return instant(_text(value, at))
    except ValueError as error:
        raise TimetableError(f"{at}: {error}") from None


def _shown(value: object) -> str:
    """The value as JSON, cut to a length that fits into a line of the log."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
