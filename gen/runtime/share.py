"""What the two programs of an occurrence's pod tell each other: one small file each, in a folder of the pod.

The scaler tells how many sessions count for each open occurrence, and by which timetable; it tells counts and
no targets, so that the main program works out openings and ends by its own clock. The main program tells
which timetable it follows. A file is replaced as a whole, so a reader finds the old one or the new one.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

FOLDER = "/share"
COUNTS = "attributed.json"  # written by the scaler
MAIN_ALIVE, SCALER_ALIVE = "occurrence.alive", "scaler.alive"
BELIEVED_SECONDS = 60.0

Counts = Mapping[str, int]
"""How many sessions count for an occurrence, by its id."""


class Shared(NamedTuple):
    at: float
    timetable: str = ""  # the version that the writer followed
    classes: Mapping[str, Counts | None] = {}  # None: the sessions of this class cannot be read


def shared_text(shared: Shared) -> str:
    return json.dumps(shared._asdict())


def parse_shared(said: str) -> Shared | None:
    """None for what is malformed anywhere."""
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError):
        return None
    if not isinstance(tree, dict):
        return None
    at, timetable, classes = tree.get("at"), tree.get("timetable", ""), tree.get("classes")
    if isinstance(at, bool) or not isinstance(at, int | float) or not isinstance(timetable, str):
        return None
    if not isinstance(classes, dict) or not all(_are_counts(counts) for counts in classes.values()):
        return None
    return Shared(float(at), timetable, classes)


def _are_counts(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in value.values()
    )


def believed(shared: Shared | None, now: float) -> Shared | None:
    """What was told, unless that is too long ago, or in the future by as much."""
    return shared if shared and abs(now - shared.at) <= BELIEVED_SECONDS else None


def reader(path: str) -> Callable[[], str]:
    """Gives an empty text where there is no such file."""

    def read() -> str:
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is memory)
                return file.read()
        except (OSError, ValueError):
            return ""

    return read


def replacer(path: str) -> Callable[[str], None]:
    """Raises OSError where the folder is not there, or full."""

    def replace(text: str) -> None:
        with open(f"{path}.new", "w", encoding="utf-8") as file:  # noqa: PTH123 (pathlib is memory)
            file.write(text)
        os.replace(f"{path}.new", path)  # noqa: PTH105 (pathlib is memory)

    return replace
