"""Which sessions count now: those that are there, and for a while those that left.

A seat that a session gave back is not asked for again at once: sessions are restarted, and a placeholder
would come and go. So a session that left counts for `seconds` more, unless another one like it comes in
between. Nothing else waits.
"""

from bisect import insort
from collections.abc import Callable, Hashable, Iterator

from gen.runtime.session import Session


class _Seat:
    """That a session gave back: the `number`th."""

    __slots__ = ("is_taken", "kind", "number", "session", "until")

    def __init__(self, number: int, session: Session, until: float) -> None:
        self.number, self.session, self.until = number, session, until
        self.kind: Hashable = None
        self.is_taken = False

    def __lt__(self, other: "_Seat") -> bool:
        return self.number < other.number


class Presence:
    """`alike` gives the same value for sessions that can stand for each other."""

    def __init__(self, seconds: float, alike: Callable[[Session], Hashable]) -> None:
        self.seconds = seconds
        self._alike = alike
        self._here: dict[str, Session] = {}
        self._given_back: dict[str, _Seat] = {}  # by the id of who left
        self._number = 0
        # The same by kind, in the order in which they were given back, and some that are no more. None: to
        # be made anew.
        self._kinds: dict[Hashable, list[_Seat]] | None = None
        self._taken = 0  # since then

    def __len__(self) -> int:
        """Sessions that are there."""
        return len(self._here)

    def get(self, session_id: str) -> Session | None:
        """If it is there."""
        return self._here.get(session_id)

    def forget_kinds(self) -> None:
        """Other sessions are alike from now on."""
        self._kinds = None

    def arrive(self, session: Session, now: float) -> None:
        """It has come, or it is there and has changed."""
        if session.id not in self._here and self._given_back:
            self._stand_in(session, now)
        self._here[session.id] = session

    def leave(self, session_id: str, now: float) -> None:
        """It has gone, or is not active any more. Nothing for one that is not there."""
        session = self._here.pop(session_id, None)
        if session is not None and self.seconds:
            self._number += 1
            seat = self._given_back[session_id] = _Seat(self._number, session, now + self.seconds)
            if self._kinds is not None:
                self._sort_in(seat, self._kinds)

    def counted(self, now: float) -> Iterator[Session]:
        yield from self._here.values()
        yield from self.departed(now)

    def departed(self, now: float) -> Iterator[Session]:
        """Those that left and still count."""
        for seat in [seat for seat in self._given_back.values() if not self._holds(seat, now)]:
            self._take(seat)
        for seat in self._given_back.values():
            yield seat.session

    def here(self) -> Iterator[Session]:
        yield from self._here.values()

    def next_change(self, now: float) -> float | None:
        """When the next departed session stops to count."""
        return min((seat.until for seat in self._given_back.values() if now < seat.until), default=None)

    def _stand_in(self, session: Session, now: float) -> None:
        """For the last to have left of those that are like it: so no more are counted than were there within
        the wait. If it is itself among them, it leaves its earlier end to that one.
        """
        kinds, kind = self._by_kind(), self._alike(session)
        last = self._last(kinds.get(kind, []), kind, now)
        own = self._given_back.get(session.id)
        if own is not None and not self._holds(own, now):
            self._take(own)
            own = None
        if own is None or last is None or last.number <= own.number:
            given = own or last
            if given is not None:
                self._take(given)
            return
        self._take(last)
        del self._given_back[session.id]
        own.session = last.session
        self._given_back[own.session.id] = own
        if own.kind != kind:
            own.kind = kind
            insort(kinds[kind], own)

    def _last(self, given: list[_Seat], kind: Hashable, now: float) -> _Seat | None:
        """Of those that still count; what is of no use any more is left out from then on."""
        while given:
            seat = given[-1]
            if not seat.is_taken and seat.kind == kind:
                if self._holds(seat, now):
                    return seat
                self._take(seat)
            given.pop()
        return None

    def _by_kind(self) -> dict[Hashable, list[_Seat]]:
        if self._kinds is None or self._taken > len(self._given_back):
            self._kinds, self._taken = {}, 0
            for seat in sorted(self._given_back.values()):
                self._sort_in(seat, self._kinds)
        return self._kinds

    def _sort_in(self, seat: _Seat, kinds: dict[Hashable, list[_Seat]]) -> None:
        """The newest."""
        seat.kind = self._alike(seat.session)
        kinds.setdefault(seat.kind, []).append(seat)

    def _take(self, seat: _Seat) -> None:
        seat.is_taken = True
        self._taken += 1
        del self._given_back[seat.session.id]

    def _holds(self, seat: _Seat, now: float) -> bool:
        """Whether it still counts. A clock that is set back must not keep it for longer than it was meant
        to.
        """
        return now < seat.until <= now + self.seconds
