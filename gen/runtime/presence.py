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
        self.seconds = seconds
        self._alike = alike
        self._here: dict[str, Session] = {}
        self._departed: list[Departed] = []  # by the time at which they left

    def __len__(self) -> int:
        """Sessions that are there."""
        return len(self._here)

    def get(self, session_id: str) -> Session | None:
        """If it is there."""
        return self._here.get(session_id)

    def arrive(self, session: Session, now: float) -> None:
        """It has come, or it is there and has changed."""
        if session.id not in self._here and self._departed:
            self._stand_in(session, now)
        self._here[session.id] = session

    def leave(self, session_id: str, now: float) -> None:
        """It has gone, or is not active any more. Nothing for one that is not there."""
        session = self._here.pop(session_id, None)
        if session is not None and self.seconds:
            self._departed.append(Departed(session, now + self.seconds))

    def counted(self, now: float) -> Iterator[Session]:
        yield from self._here.values()
        yield from self.departed(now)

    def departed(self, now: float) -> Iterator[Session]:
        """Those that left and still count."""
        self._forget(now)
        for item in self._departed:
            yield item.session

    def here(self) -> Iterator[Session]:
        yield from self._here.values()

    def next_change(self, now: float) -> float | None:
        """When the next departed session stops to count."""
        return min((item.until for item in self._still_counted(now)), default=None)

    def _stand_in(self, session: Session, now: float) -> None:
        """For itself, if it is back; else for the first to have left of those that are like it."""
        self._forget(now)
        alike, place = self._alike(session), None
        for n, item in enumerate(self._departed):
            if item.session.id == session.id:
                place = n
                break
            if place is None and self._alike(item.session) == alike:
                place = n
        if place is not None:
            del self._departed[place]

    def _still_counted(self, now: float) -> list[Departed]:
        return [item for item in self._departed if now < item.until]

    def _forget(self, now: float) -> None:
        # A clock that is set back must not keep a session for longer than it was meant to.
        self._departed = [item for item in self._still_counted(now) if item.until - now <= self.seconds]
