"""The session counter of a resource class: how many sessions count for each claim.

A session that left keeps counting for a grace period, because sessions are restarted and placeholders would
come and go. Pure functions of time; `now` is passed in.
"""

from bisect import insort
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from berth.core.attribution import ClaimGroup, attribute_sessions, claim_group
from berth.core.sessions import UNKNOWN_TEMPLATE, Claim, Session, project_of


class _ReleasedSeat:
    """A seat that a session released; `number` counts them."""

    __slots__ = ("is_taken", "kind", "number", "session", "until")

    def __init__(self, number: int, session: Session, until: float) -> None:
        self.number, self.session, self.until = number, session, until
        self.kind: Hashable = None
        self.is_taken = False

    def __lt__(self, other: "_ReleasedSeat") -> bool:
        return self.number < other.number


class GracePeriod:
    """Keeps sessions that left for a grace period.

    `alike` returns equal values for sessions that can replace each other.
    """

    def __init__(self, seconds: float, alike: Callable[[Session], Hashable]) -> None:
        self.seconds = seconds
        self._alike = alike
        self._here: dict[str, Session] = {}
        self._given_back: dict[str, _ReleasedSeat] = {}  # by the id of who left
        self._number = 0
        # The same by kind, in the order in which they were given back, and some that are no more. None: to
        # be made anew.
        self._kinds: dict[Hashable, list[_ReleasedSeat]] | None = None
        self._taken = 0  # since then

    def __len__(self) -> int:
        """Return the number of present sessions."""
        return len(self._here)

    def get(self, session_id: str) -> Session | None:
        """Return the session if it is present."""
        return self._here.get(session_id)

    def forget_kinds(self) -> None:
        """Regroup sessions, because `alike` has changed."""
        self._kinds = None

    def arrive(self, session: Session, now: float) -> None:
        """Add a session, or update one that is present."""
        if session.id not in self._here and self._given_back:
            self._stand_in(session, now)
        self._here[session.id] = session

    def leave(self, session_id: str, now: float) -> None:
        """Remove a session that ended or is no longer active. Unknown sessions are ignored."""
        session = self._here.pop(session_id, None)
        if session is not None and self.seconds:
            self._number += 1
            seat = self._given_back[session_id] = _ReleasedSeat(self._number, session, now + self.seconds)
            if self._kinds is not None:
                self._sort_in(seat, self._kinds)

    def counted(self, now: float) -> Iterator[Session]:
        yield from self._here.values()
        yield from self.departed(now)

    def departed(self, now: float) -> Iterator[Session]:
        """Yield the sessions that left and still count."""
        for seat in [seat for seat in self._given_back.values() if not self._holds(seat, now)]:
            self._take(seat)
        for seat in self._given_back.values():
            yield seat.session

    def here(self) -> Iterator[Session]:
        yield from self._here.values()

    def next_change(self, now: float) -> float | None:
        """Return when the next departed session stops counting."""
        return min((seat.until for seat in self._given_back.values() if now < seat.until), default=None)

    def _stand_in(self, session: Session, now: float) -> None:
        """Let the session take the seat of the similar session that left last.

        So the count never exceeds the largest number within the grace period. If the session itself had left,
        its earlier end passes to that other session.
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

    def _last(self, given: list[_ReleasedSeat], kind: Hashable, now: float) -> _ReleasedSeat | None:
        """Return the last released seat that still counts, and drop those that do not."""
        while given:
            seat = given[-1]
            if not seat.is_taken and seat.kind == kind:
                if self._holds(seat, now):
                    return seat
                self._take(seat)
            given.pop()
        return None

    def _by_kind(self) -> dict[Hashable, list[_ReleasedSeat]]:
        if self._kinds is None or self._taken > len(self._given_back):
            self._kinds, self._taken = {}, 0
            for seat in sorted(self._given_back.values()):
                self._sort_in(seat, self._kinds)
        return self._kinds

    def _sort_in(self, seat: _ReleasedSeat, kinds: dict[Hashable, list[_ReleasedSeat]]) -> None:
        """Add the newest seat to its kind."""
        seat.kind = self._alike(seat.session)
        kinds.setdefault(seat.kind, []).append(seat)

    def _take(self, seat: _ReleasedSeat) -> None:
        seat.is_taken = True
        self._taken += 1
        del self._given_back[seat.session.id]

    def _holds(self, seat: _ReleasedSeat, now: float) -> bool:
        """Return whether the seat still counts. Setting the clock back does not extend it."""
        return now < seat.until <= now + self.seconds


_REMEMBERED = 1024


class ClaimCounts(NamedTuple):
    """Session counts by claim id."""

    counted: dict[str, int]  # those that left a moment ago included
    here: dict[str, int]


class SessionCounter:
    """Counts the sessions of a class for each claim.

    `template` returns the template of a session's project, None while it is being looked up.
    """

    def __init__(self, seconds: float, template: Callable[[Session, float], str | None]) -> None:
        """A session that left counts for `seconds` more."""
        self._grace = GracePeriod(seconds, self._group)
        self._template = template
        self._held: dict[str, Session] = {}  # first seen lately, or seen with another project
        # By project, ids of sessions whose template is not known: these, and perhaps some that are no more.
        self._unsure: dict[str, set[str]] = {}
        self._claims: tuple[Claim, ...] = ()  # ranked
        self._births: tuple[
            int, ...
        ] = ()  # before which of these a session was created matters to some claim
        self._groups: dict[object, tuple[ClaimGroup, Session]] = {}
        self._here: dict[ClaimGroup, int] | None = (
            None  # how many are there of each; None: to be counted anew
        )
        self._counts: ClaimCounts | None = None
        self._counts_hold = (0.0, 0.0)  # from, until

    @property
    def holds_back(self) -> bool:
        return bool(self._held)

    def set_seconds(self, seconds: float) -> None:
        self._grace.seconds = seconds

    def set_claims(self, claims: tuple[Claim, ...]) -> None:
        """Set the claims, which must be ranked."""
        if claims != self._claims:
            self._claims, self._counts, self._here = claims, None, None
            self._births = tuple({claim.open for claim in claims if claim.match.ignores_earlier})
            self._groups.clear()
            self._grace.forget_kinds()

    def arrive(self, session: Session, now: float) -> None:
        """Add or update a session. The template of a project never changes, so a known one is kept."""
        before = self._grace.get(session.id)
        is_kept = (
            before is not None and session.id not in self._held and project_of(before) == project_of(session)
        )
        if before is not None and is_kept and before.template != UNKNOWN_TEMPLATE:
            self._take(session, before, before.template, now)
        else:
            self._look_at(session, now)

    def leave(self, session_id: str, now: float) -> None:
        """Remove a session."""
        self._held.pop(session_id, None)
        self._count(self._grace.get(session_id), -1)
        self._grace.leave(session_id, now)

    def replace(self, namespace: str, sessions: Mapping[str, Session], now: float) -> None:
        """Replace all sessions of the namespace."""
        for known in (self._held, {session.id: session for session in self._grace.here()}):
            for session in [one for one in known.values() if one.namespace == namespace]:
                if session.id not in sessions:
                    self.leave(session.id, now)
        for session in sessions.values():
            self.arrive(session, now)

    def look_again(self, now: float, projects: Iterable[str] | None = None) -> None:
        """Look up unknown templates again, of these projects or of all."""
        for name in list(self._unsure if projects is None else projects):
            for session_id in self._unsure.pop(name, ()):
                session = self._held.get(session_id) or self._grace.get(session_id)
                if session is not None:
                    self.arrive(session, now)

    def look_at_all(self, now: float) -> None:
        """Look up the templates of all sessions again, including known ones."""
        here = [session for session in self._grace.here() if session.id not in self._held]
        for session in [*here, *self._held.values()]:
            self._look_at(session, now)

    def counts(self, now: float) -> ClaimCounts:
        since, until = self._counts_hold
        if self._counts is None or not since <= now < until:
            if self._here is None:
                self._here = {}
                for session in self._grace.here():
                    self._count(session, 1)
            counted = dict(self._here)
            for session in self._grace.departed(now):
                places = self._group(session)
                counted[places] = counted.get(places, 0) + 1
            self._counts = ClaimCounts(
                attribute_sessions(counted, self._claims), attribute_sessions(self._here, self._claims)
            )
            departs = self._grace.next_change(now)
            self._counts_hold = (now, float("inf") if departs is None else departs)
        return self._counts

    def next_change(self, now: float) -> float | None:
        return self._grace.next_change(now)

    def _look_at(self, session: Session, now: float) -> None:
        before = self._grace.get(session.id)
        template = self._template(session, now)
        if template is None or template == UNKNOWN_TEMPLATE:
            self._unsure.setdefault(project_of(session), set()).add(session.id)
        if template is not None:
            self._held.pop(session.id, None)
            self._take(session, before, template, now)
            return
        self._held[session.id] = session
        if before is not None:
            self._take(session, before, before.template, now)

    def _take(self, session: Session, before: Session | None, template: str, now: float) -> None:
        if template != session.template:
            session = session._replace(template=template)
        if session != before:
            self._grace.arrive(session, now)
            self._count(before, -1)
            self._count(session, 1)

    def _count(self, session: Session | None, number: int) -> None:
        """Add `number` to the group of the session."""
        self._counts = None
        if session is not None and self._here is not None:
            places = self._group(session)
            self._here[places] = self._here.get(places, 0) + number

    def _group(self, session: Session) -> ClaimGroup:
        """Return the group of a session, cached for sessions that no claim distinguishes.

        Mappings of labels are shared and kept alive by the cache, so their identity is a valid key.
        """
        key = (
            session.namespace,
            id(session.labels),
            id(session.annotations),
            session.template,
            sum(opens <= session.created for opens in self._births),
        )
        found = self._groups.get(key)
        if found is None:
            if len(self._groups) >= _REMEMBERED:
                self._groups.clear()
            found = self._groups[key] = (claim_group(session, self._claims), session)
        return found[0]
