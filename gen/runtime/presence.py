"""Which sessions count now: those that are there, and for a while those that left.

A seat that a session gave back is not asked for again at once: sessions are restarted, and a placeholder
would come and go. So a session that left counts for `seconds` more, unless another one like it comes in
between. Nothing else waits.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from gen.runtime.session import Session


class Departed(NamedTuple):
    session: Session
    until: float


class Presence:
    """`alike` gives the same value for sessions that can stand for each other."""

    def __init__(self, seconds: float, alike: Callable[[Session], Hashable]) -> None:
        self._seconds = seconds
        self._alike = alike
        self._here: dict[str, Session] = {}
        self._departed: list[Departed] = []  # by the time at which they left

    def __len__(self) -> int:
        """Sessions that are there."""
        return len(self._here)

    def arrive(self, session: Session, now: float) -> None:
        """It has come, or it is there and has changed."""
        if session.id not in self._here:
            alike = self._alike(session)
            for item in self._still_counted(now):
                if self._alike(item.session) == alike:
                    self._departed.remove(item)
                    break
        self._here[session.id] = session

    def leave(self, session_id: str, now: float) -> None:
        """It has gone, or is not active any more. Nothing for one that is not there."""
        session = self._here.pop(session_id, None)
        if session is not None and self._seconds:
            self._departed.append(Departed(session, now + self._seconds))

    def counted(self, now: float) -> Iterator[Session]:
        self._forget(now)
        yield from self._here.values()
        for item in self._departed:
            yield item.session

    def here(self) -> Iterator[Session]:
        yield from self._here.values()

    def next_change(self, now: float) -> float | None:
        """When the next departed session stops to count."""
        return min((item.until for item in self._still_counted(now)), default=None)

    def _still_counted(self, now: float) -> list[Departed]:
        return [item for item in self._departed if now < item.until]

    def _forget(self, now: float) -> None:
        # A clock that is set back must not keep a session for longer than it was meant to.
        self._departed = [item for item in self._still_counted(now) if item.until - now <= self._seconds]
