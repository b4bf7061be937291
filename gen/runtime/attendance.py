"""The sessions of one class, and how many of them count for each claim.

Pure in time: `now` comes in. A session whose project's template is still being looked up is held back.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gen.runtime.attribution import Group, attributed, group
from gen.runtime.presence import Presence
from gen.runtime.session import UNKNOWN_TEMPLATE, Claim, Session, project

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
        # By project, ids of sessions whose template is not known: these, and perhaps some that are no more.
        self._unsure: dict[str, set[str]] = {}
        self._claims: tuple[Claim, ...] = ()  # ranked
        self._births: tuple[
            int, ...
        ] = ()  # before which of these a session was created matters to some claim
        self._groups: dict[object, tuple[Group, Session]] = {}
        self._here: dict[Group, int] | None = None  # how many are there of each; None: to be counted anew
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
            self._claims, self._counts, self._here = claims, None, None
            self._births = tuple({claim.open for claim in claims if claim.match.ignores_earlier})
            self._groups.clear()
            self._presence.forget_kinds()

    def arrive(self, session: Session, now: float) -> None:
        """It has come, or has changed. A template never changes, so that of the same project is kept."""
        before = self._presence.get(session.id)
        is_kept = before is not None and session.id not in self._held and project(before) == project(session)
        if before is not None and is_kept and before.template != UNKNOWN_TEMPLATE:
            self._take(session, before, before.template, now)
        else:
            self._look_at(session, now)

    def leave(self, session_id: str, now: float) -> None:
        self._held.pop(session_id, None)
        self._count(self._presence.get(session_id), -1)
        self._presence.leave(session_id, now)

    def replace(self, namespace: str, sessions: Mapping[str, Session], now: float) -> None:
        """These are all of the namespace; what else was there has left."""
        for known in (self._held, {session.id: session for session in self._presence.here()}):
            for session in [one for one in known.values() if one.namespace == namespace]:
                if session.id not in sessions:
                    self.leave(session.id, now)
        for session in sessions.values():
            self.arrive(session, now)

    def look_again(self, now: float, projects: Iterable[str] | None = None) -> None:
        """At the templates of these projects, or of all, where they were not known."""
        for name in list(self._unsure if projects is None else projects):
            for session_id in self._unsure.pop(name, ()):
                session = self._held.get(session_id) or self._presence.get(session_id)
                if session is not None:
                    self.arrive(session, now)

    def look_at_all(self, now: float) -> None:
        """At the templates of everybody, also of those who know theirs."""
        here = [session for session in self._presence.here() if session.id not in self._held]
        for session in [*here, *self._held.values()]:
            self._look_at(session, now)

    def counts(self, now: float) -> Counts:
        since, until = self._counts_hold
        if self._counts is None or not since <= now < until:
            if self._here is None:
                self._here = {}
                for session in self._presence.here():
                    self._count(session, 1)
            counted = dict(self._here)
            for session in self._presence.departed(now):
                places = self._group(session)
                counted[places] = counted.get(places, 0) + 1
            self._counts = Counts(attributed(counted, self._claims), attributed(self._here, self._claims))
            departs = self._presence.next_change(now)
            self._counts_hold = (now, float("inf") if departs is None else departs)
        return self._counts

    def next_change(self, now: float) -> float | None:
        return self._presence.next_change(now)

    def _look_at(self, session: Session, now: float) -> None:
        before = self._presence.get(session.id)
        template = self._template(session, now)
        if template is None or template == UNKNOWN_TEMPLATE:
            self._unsure.setdefault(project(session), set()).add(session.id)
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
            self._presence.arrive(session, now)
            self._count(before, -1)
            self._count(session, 1)

    def _count(self, session: Session | None, number: int) -> None:
        """One more or one less is there."""
        self._counts = None
        if session is not None and self._here is not None:
            places = self._group(session)
            self._here[places] = self._here.get(places, 0) + number

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
