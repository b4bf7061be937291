"""What the main program has heard of the sessions of its pools, and how long it waits to hear more.

The scaler is believed where it follows the same timetable and knows every occurrence that asks. Until it
does, a pool is left alone for a few seconds; after that, what is not known counts as no session at all, so
that nobody finds fewer seats than promised because of us.
"""

from collections.abc import Callable
from typing import NamedTuple

from gen.runtime.pause import Pause
from gen.runtime.share import Counts, Shared, believed, parse_shared

PATIENCE = 10.0  # seconds


class Hearing(NamedTuple):
    """`sessions` None: nobody can tell, full count."""

    is_awaited: bool
    sessions: Counts | None = None


class _Asked(NamedTuple):
    version: str
    occurrences: tuple[str, ...]


class Heard:
    def __init__(self, read: Callable[[], str]) -> None:
        """`read` gives the scaler's file, or an empty text."""
        self._read = read
        self._waits: dict[str, tuple[_Asked, Pause]] = {}  # by class

    def shared(self, now: float) -> Shared | None:
        return believed(parse_shared(self._read()), now)

    def sessions(
        self, resource_class: str, occurrences: tuple[str, ...], version: str, now: float
    ) -> Hearing:
        """Of a class, for the open occurrences that ask for its seats by this version of the timetable."""
        asked = _Asked(version, occurrences)
        before, wait = self._waits.get(resource_class, (None, Pause(0.0, 0.0)))
        if before != asked:
            wait = Pause(now, PATIENCE)
            self._waits[resource_class] = asked, wait
        shared = self.shared(now)
        if shared is None or resource_class not in shared.classes:
            return Hearing(wait.left(now) > 0)
        counts = shared.classes[resource_class]
        is_known = shared.timetable == version and (counts is None or counts.keys() >= set(occurrences))
        return Hearing(not is_known and wait.left(now) > 0, counts)
