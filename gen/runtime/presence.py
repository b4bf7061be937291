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
        """For the last to have left of those that are like it: so no more are counted than were there within
        the wait. If it is itself among them, it leaves its earlier end to that one.
        """
        self._forget(now)
        alike = self._alike(session)
        last = itself = None
        for n, item in enumerate(self._departed):
            if item.session.id == session.id:
                itself = n
            if self._alike(item.session) == alike:
                last = n
        if itself is not None and last is not None and itself < last:
            taken = self._departed[last].session
            self._departed[itself] = self._departed[itself]._replace(session=taken)
        elif itself is not None:
            last = itself
        if last is not None:
            del self._departed[last]

    def _still_counted(self, now: float) -> list[Departed]:
        return [item for item in self._departed if now < item.until]

    def _forget(self, now: float) -> None:
        # A clock that is set back must not keep a session for longer than it was meant to.
        self._departed = [item for item in self._still_counted(now) if item.until - now <= self.seconds]
