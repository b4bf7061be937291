"""What the scaler knows of the world: which sessions count for which open occurrence of its reservation.

Threads watch; whatever they see is applied in the thread of whoever calls `seen`. So nothing here is locked, and
what was seen before a moment counts at that moment.
"""

from collections.abc import Callable
from typing import NamedTuple

from gen.runtime.connection import Connection
from gen.runtime.log import Log
from gen.runtime.timetable import Timetable

PATIENCE = 600.0  # seconds for which the last counts hold when sessions cannot be read any more


class Means(NamedTuple):
    """What is needed to look. `connect` makes a connection for each watch; `jitter` gives numbers from 0 to 1."""

    connect: Callable[[], Connection]
    namespace: str  # of the timetables of the site
    log: Log
    now: Callable[[], float]
    jitter: Callable[[], float]
    renku_token_file: str = ""  # empty: Renku is asked without a token


class Seen(NamedTuple):
    """`counts` and `active` are by the id of every open occurrence of our own reservation."""

    counts: dict[str, int] | None
    """Sessions that count for each, those that left a moment ago included. None: sessions cannot be read, because
    they have never been listed completely, or because they have not been readable for longer than PATIENCE.
    """
    active: dict[str, int]  # only those that are there now; empty where `counts` is None
    pending: bool  # the first complete list is not there yet


class Observed:
    """Not for several threads. Nothing is watched before the first `update`."""

    def __init__(self, means: Means, patience: float = PATIENCE) -> None:
        raise NotImplementedError

    def update(self, timetable: Timetable) -> None:
        """The newest timetable of our own reservation; does nothing if it is the one that it knows. Classes
        whose behaviour is `none` are not watched.
        """
        raise NotImplementedError

    def wait(self, seconds: float) -> None:
        """Returns at the first change of anything watched (at once if one has come since `seen`), or after so
        many seconds. What comes within a millisecond of the first change comes with it.
        """
        raise NotImplementedError

    def seen(self, resource_class: str, now: float) -> Seen:
        """Of a class that is not watched: nothing can be read."""
        raise NotImplementedError

    def next_change(self, now: float) -> float | None:
        """When the counts can change next though nobody comes or goes: a session that left stops to count, or an
        occurrence of any reservation opens or ends. Later than `now`.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Stops all watches."""
        raise NotImplementedError
