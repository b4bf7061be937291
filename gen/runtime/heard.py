"""What the main program has heard of the sessions of its pools, and how long it waits to hear more.

The scaler is believed where it follows the same timetable and knows every occurrence that asks. Until it
does, a pool is left alone for a few seconds; after that, what is not known counts as no session at all, so
that nobody finds fewer seats than promised because of us.
"""

from typing import NamedTuple

from gen.runtime.pause import NO_PAUSE, Pause
from gen.runtime.share import Counts, Shared, believed

PATIENCE = 10.0  # seconds


class Hearing(NamedTuple):
    """`sessions` None: nobody can tell, full count."""

    is_awaited: bool
    sessions: Counts | None = None


class _Asked(NamedTuple):
    version: str
    occurrences: tuple[str, ...]


class Heard:
    def __init__(self) -> None:
        self._waits: dict[str, tuple[_Asked, Pause]] = {}  # by class

    def sessions(
        self, told: Shared | None, resource_class: str, occurrences: tuple[str, ...], version: str, now: float
    ) -> Hearing:
        """Of a class, for the open occurrences that ask for its seats by this version of the timetable.
        `told` is what the scaler last said.
        """
        asked = _Asked(version, occurrences)
        before, wait = self._waits.get(resource_class, (None, NO_PAUSE))
        if before != asked:
            wait = Pause(now, PATIENCE)
            self._waits[resource_class] = asked, wait
        told = believed(told, now)
        if told is None or resource_class not in told.classes:
            return Hearing(wait.left(now) > 0)
        counts = told.classes[resource_class]
        is_known = told.timetable == version and (counts is None or counts.keys() >= set(occurrences))
        return Hearing(not is_known and wait.left(now) > 0, counts)
