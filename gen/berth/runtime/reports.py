"""The files through which the two programs of a pod report to each other, and how long reports are valid.

The scaler reports how many sessions count for each open occurrence and which timetable it follows. The main
program reports the timetable it follows. Files are replaced atomically. If the scaler does not report in
time, the main program assumes that there are no sessions, so that no seat is missing because of Berth.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from berth.core.backoff import NO_PAUSE, Pause

SHARE_FOLDER = "/share"
COUNTS = "attributed.json"  # written by the scaler
MAIN_ALIVE, SCALER_ALIVE = "occurrence.alive", "scaler.alive"
FRESH_SECONDS = 60.0

ReportedSessions = Mapping[str, int]
"""How many sessions count for an occurrence, by its id."""


class SharedState(NamedTuple):
    """The report of one program to the other."""

    at: float
    timetable: str = ""  # the version that the writer followed
    classes: Mapping[str, ReportedSessions | None] = {}  # None: the sessions of this class cannot be read


def shared_text(shared: SharedState) -> str:
    """Return the report as text."""
    return json.dumps(shared._asdict())


def parse_shared(said: str) -> SharedState | None:
    """Parse a report; None if any part is malformed."""
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
    return SharedState(float(at), timetable, classes)


def _are_counts(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(
        isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in value.values()
    )


def fresh(shared: SharedState | None, now: float) -> SharedState | None:
    """Return the report unless it is too old, or as far in the future."""
    return shared if shared and abs(now - shared.at) <= FRESH_SECONDS else None


def file_reader(path: str) -> Callable[[], str]:
    """Return a function that reads the file, empty if there is none."""

    def read() -> str:
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is memory)
                return file.read()
        except (OSError, ValueError):
            return ""

    return read


def file_writer(path: str) -> Callable[[str], None]:
    """Return a function that replaces the file. It raises OSError if the folder is missing or full."""

    def replace(text: str) -> None:
        with open(f"{path}.new", "w", encoding="utf-8") as file:  # noqa: PTH123 (pathlib is memory)
            file.write(text)
        os.replace(f"{path}.new", path)  # noqa: PTH105 (pathlib is memory)

    return replace


REPORT_TIMEOUT = 10.0  # seconds


class CountReport(NamedTuple):
    """The reported sessions of a class. `sessions` is None if nobody knows them: full count."""

    is_awaited: bool
    sessions: ReportedSessions | None = None


class _ReportKey(NamedTuple):
    version: str
    occurrences: tuple[str, ...]


class ReportTracker:
    """Waits for the scaler's reports, for a limited time."""

    def __init__(self) -> None:
        self._waits: dict[str, tuple[_ReportKey, Pause]] = {}  # by class

    def sessions(
        self,
        told: SharedState | None,
        resource_class: str,
        occurrences: tuple[str, ...],
        version: str,
        now: float,
    ) -> CountReport:
        """Return the sessions of a class for the open occurrences of this version of the timetable.

        `told` is the last report of the scaler.
        """
        asked = _ReportKey(version, occurrences)
        before, wait = self._waits.get(resource_class, (None, NO_PAUSE))
        if before != asked:
            wait = Pause(now, REPORT_TIMEOUT)
            self._waits[resource_class] = asked, wait
        told = fresh(told, now)
        if told is None or resource_class not in told.classes:
            return CountReport(wait.left(now) > 0)
        counts = told.classes[resource_class]
        is_known = told.timetable == version and (counts is None or counts.keys() >= set(occurrences))
        return CountReport(not is_known and wait.left(now) > 0, counts)
