"""The session counter of a resource class: how many sessions count for each claim.

A session that left keeps counting for a grace period, because sessions are restarted and placeholders would
come and go. Pure functions of time; `now` is passed in.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from berth.core.attribution import ClaimGroup, attribute_sessions, claim_group
from berth.core.sessions import NO_CONTEST, UNKNOWN_TEMPLATE, Claim, Contest, Session, project_of

K = TypeVar("K", bound=Hashable)


class Departed(NamedTuple, Generic[K]):
    """A session that left and counts until an instant."""

    session: Session
    kind: K
    until: float


class GracePeriod(Generic[K]):
    """Keeps the sessions that are `here`, by id, and those that left for a grace period.

    `kind` returns equal values for sessions that can replace each other.
    """

    def __init__(self, seconds: float, kind: Callable[[Session], K]) -> None:
        self.seconds = seconds
        self._kind = kind
        self.here: dict[str, Session] = {}
        self._departed: list[Departed[K]] = []  # in the order in which they left
        self._dropped_at = 0.0

    def regroup(self) -> None:
        """Ask for the kinds again, because they have changed."""
        self._departed = [one._replace(kind=self._kind(one.session)) for one in self._departed]

    def arrive(self, session: Session, now: float) -> None:
        """Add a session, or update one that is present."""
        if session.id not in self.here and self._departed:
            self._replace_departed(session, now)
        self.here[session.id] = session

    def leave(self, session_id: str, now: float) -> None:
        """Remove a session that ended or is no longer active. Unknown sessions are ignored."""
        session = self.here.pop(session_id, None)
        if session is not None and self.seconds:
            self._departed.append(Departed(session, self._kind(session), now + self.seconds))

    def departed(self, now: float) -> list[Departed[K]]:
        """Return the sessions that left and still count."""
        if now != self._dropped_at:
            # Setting the clock back does not extend any.
            latest, self._dropped_at = now + self.seconds, now
            self._departed = [one for one in self._departed if now < one.until <= latest]
        return self._departed

    def next_change(self, now: float) -> float | None:
        """Return when the next departed session stops counting."""
        return min((one.until for one in self._departed if now < one.until), default=None)

    def _replace_departed(self, session: Session, now: float) -> None:
        """Let the session replace the similar one that left last.

        So the count never exceeds the largest number within the grace period. If the session itself had left,
        its earlier end passes to that other session.
        """
        departed, kind = self.departed(now), self._kind(session)
        own = next((n for n, one in enumerate(departed) if one.session.id == session.id), None)
        last = next((n for n in range(len(departed) - 1, -1, -1) if departed[n].kind == kind), None)
        if own is not None and last is not None and own < last:
            departed[own] = departed.pop(last)._replace(until=departed[own].until)
        elif own is not None:
            del departed[own]
        elif last is not None:
            del departed[last]


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
        self._held: dict[str, Session] = {}  # whose template is being looked up
        self._claims: tuple[Claim, ...] = ()  # ranked
        self._contest = NO_CONTEST
        self._here: Counter[ClaimGroup] = Counter()  # the number of present sessions

    @property
    def holds_back(self) -> bool:
        return bool(self._held)

    def set_seconds(self, seconds: float) -> None:
        self._grace.seconds = seconds

    def set_claims(self, claims: tuple[Claim, ...], contest: Contest = NO_CONTEST) -> None:
        """Set the claims, which must be ranked."""
        if (claims, contest) != (self._claims, self._contest):
            self._claims, self._contest = claims, contest
            self._grace.regroup()
            self._here = Counter(map(self._group, self._grace.here.values()))

    def arrive(self, session: Session, now: float) -> None:
        """Add or update a session. The template of a project never changes, so a known one is kept."""
        before = None if session.id in self._held else self._grace.here.get(session.id)
        if before and before.template != UNKNOWN_TEMPLATE and project_of(before) == project_of(session):
            self._take(session, before.template, now)
        else:
            self._look_up(session, now)

    def leave(self, session_id: str, now: float) -> None:
        """Remove a session."""
        self._held.pop(session_id, None)
        self._count(self._grace.here.get(session_id), -1)
        self._grace.leave(session_id, now)

    def replace(self, namespace: str, sessions: Mapping[str, Session], now: float) -> None:
        """Replace all sessions of the namespace."""
        for known in self._known():
            if known.namespace == namespace and known.id not in sessions:
                self.leave(known.id, now)
        for session in sessions.values():
            self.arrive(session, now)

    def look_again(self, now: float, projects: Iterable[str] | None = None) -> None:
        """Look up unknown templates again, of these projects or of all."""
        for one in self._known():
            is_unknown = one.id in self._held or one.template == UNKNOWN_TEMPLATE
            if is_unknown and (projects is None or project_of(one) in projects):
                self._look_up(one, now)

    def look_at_all(self, now: float) -> None:
        """Look up the templates of all sessions again, including known ones."""
        for one in self._known():
            self._look_up(one, now)

    def counts(self, now: float) -> ClaimCounts:
        counted = self._here + Counter(one.kind for one in self._grace.departed(now))
        return ClaimCounts(
            attribute_sessions(counted, self._claims), attribute_sessions(self._here, self._claims)
        )

    def next_change(self, now: float) -> float | None:
        return self._grace.next_change(now)

    def _known(self) -> list[Session]:
        """Return all sessions, also those that are held back."""
        return [*(self._grace.here | self._held).values()]

    def _look_up(self, session: Session, now: float) -> None:
        template = self._template(session, now)
        if template is None:
            self._held[session.id] = session
            before = self._grace.here.get(session.id)
            template = None if before is None else before.template
        else:
            self._held.pop(session.id, None)
        if template is not None:
            self._take(session, template, now)

    def _take(self, session: Session, template: str, now: float) -> None:
        before, session = self._grace.here.get(session.id), session._replace(template=template)
        if session != before:
            self._grace.arrive(session, now)
            self._count(before, -1)
            self._count(session, 1)

    def _count(self, session: Session | None, number: int) -> None:
        """Add `number` to the group of the session."""
        if session is not None:
            self._here[self._group(session)] += number

    def _group(self, session: Session) -> ClaimGroup:
        return claim_group(session, self._claims) if self._contest.is_won(session) else ()
