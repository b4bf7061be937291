"""The sessions of one class, and how many of them count for each claim.

Pure in time: `now` comes in. A session whose project's template is still being looked up is held back.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gen.runtime.attribution import Group, attributed, group
from gen.runtime.presence import Presence
from gen.runtime.session import Claim, Session

_REMEMBERED = 1024


class Counts(NamedTuple):
    """By the ids of claims."""

    counted: dict[str, int]  # those that left a moment ago included
    here: dict[str, int]


class Attendance:
    """`template` says that of a session's project; None: not yet."""

    def __init__(self, seconds: float, template: Callable[[Session, float], str | None]) -> None:
        """A session that left counts for `seconds` more."""
        self._presence = Presence(seconds, self._group)
        self._template = template
        self._held: dict[str, Session] = {}  # first seen lately, or seen with another project
        self._claims: tuple[Claim, ...] = ()  # ranked
        self._births: tuple[
            int, ...
        ] = ()  # before which of these a session was created matters to some claim
        self._groups: dict[object, tuple[Group, Session]] = {}
        self._counts: Counts | None = None
        self._counts_hold = (0.0, 0.0)  # from, until

    @property
    def holds_back(self) -> bool:
        return bool(self._held)

    def set_seconds(self, seconds: float) -> None:
        self._presence.seconds = seconds

    def set_claims(self, claims: tuple[Claim, ...]) -> None:
        """Ranked."""
        if claims != self._claims:
            self._claims, self._counts = claims, None
            self._births = tuple({claim.open for claim in claims if claim.match.ignores_earlier})
            self._groups.clear()

    def arrive(self, session: Session, now: float) -> None:
        """It has come, or has changed."""
        before = self._presence.get(session.id)
        template = self._template(session, now)
        if template is None:
            self._held[session.id] = session
            if before is None:
                return
            template = before.template
        else:
            self._held.pop(session.id, None)
        if template != session.template:
            session = session._replace(template=template)
        if session != before:
            self._presence.arrive(session, now)
            self._counts = None

    def leave(self, session_id: str, now: float) -> None:
        self._held.pop(session_id, None)
        self._presence.leave(session_id, now)
        self._counts = None

    def replace(self, namespace: str, sessions: Mapping[str, Session], now: float) -> None:
        """These are all of the namespace; what else was there has left."""
        for known in (self._held, {session.id: session for session in self._presence.here()}):
            for session in [one for one in known.values() if one.namespace == namespace]:
                if session.id not in sessions:
                    self.leave(session.id, now)
        for session in sessions.values():
            self.arrive(session, now)

    def look_again(self, now: float, *, everybody: bool) -> None:
        """At the templates of those that are held back, or of all."""
        held, here = self._held.values(), self._presence.here() if everybody else ()
        for session in [*(one for one in here if one.id not in self._held), *held]:
            self.arrive(session, now)

    def counts(self, now: float) -> Counts:
        since, until = self._counts_hold
        if self._counts is None or not since <= now < until:
            here = self._grouped(self._presence.here(), {})
            counted = self._grouped(self._presence.departed(now), here)
            self._counts = Counts(attributed(counted, self._claims), attributed(here, self._claims))
            departs = self._presence.next_change(now)
            self._counts_hold = (now, float("inf") if departs is None else departs)
        return self._counts

    def next_change(self, now: float) -> float | None:
        return self._presence.next_change(now)

    def _grouped(self, sessions: Iterable[Session], base: Mapping[Group, int]) -> dict[Group, int]:
        """How many there are of each group, added to `base`."""
        found = dict(base)
        for session in sessions:
            places = self._group(session)
            found[places] = found.get(places, 0) + 1
        return found

    def _group(self, session: Session) -> Group:
        """Remembered for all sessions that no claim can tell apart. Mappings of labels are shared, and kept
        alive by what is remembered, so that their identity is enough.
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
            found = self._groups[key] = (group(session, self._claims), session)
        return found[0]
