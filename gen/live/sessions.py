"""Which sessions are there, and for which occurrence do they count? By the very rules of the scaler. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from gen.runtime.attendance import Attendance
from gen.runtime.kinds import Keys, is_active, keys, session
from gen.runtime.recognition import Recognition
from gen.runtime.rivals import claims, rival
from gen.runtime.session import RENKU_PROJECT, UNKNOWN_TEMPLATE, Session, ranked
from gen.runtime.target import open_now
from gen.runtime.timetable import Pool, Timetable, in_force
from gen.runtime.watching import Tree

Seen = Mapping[Recognition, tuple[Session, ...] | str]
"""The active sessions by how they are recognised, or why nobody can tell."""


def asked_for(timetables: Iterable[Timetable], now: int) -> tuple[list[Recognition], Keys]:
    """How the sessions of the classes that have something open are recognised, each once; and which of their
    labels and annotations matter.
    """
    found: dict[Recognition, None] = {}
    matches = []
    for timetable in timetables:
        seats = {name for one in open_now(in_force(timetable), now) for name, count in one.seats if count}
        for pool in timetable.pools:
            if pool.resource_class in seats and pool.sessions:
                found[pool.sessions] = None
                matches.append(pool.match)
    return list(found), keys(matches)


def active(trees: Iterable[Tree], recognition: Recognition, namespace: str, kept: Keys) -> list[Session]:
    """Of the objects of one namespace. Nobody here asks for the templates of projects."""
    found = [session(tree, namespace, kept) for tree in trees if is_active(tree, recognition)]
    return [
        one._replace(template=UNKNOWN_TEMPLATE) if RENKU_PROJECT in one.annotations else one for one in found
    ]


class Roll:
    """How many sessions count for which occurrence; worked out once for each class, by all timetables."""

    def __init__(self, timetables: Sequence[Timetable], seen: Seen, now: int) -> None:
        self._timetables, self._seen, self._now = timetables, seen, now
        self._counts: dict[tuple[str, Recognition | None], dict[str, int] | None] = {}

    def counts(self, pool: Pool) -> dict[str, int] | None:
        """By open occurrence of the pool's class; None where nobody can tell."""
        key = pool.resource_class, pool.sessions
        if key not in self._counts:
            self._counts[key] = self._counted(*key)
        return self._counts[key]

    def _counted(self, name: str, recognition: Recognition | None) -> dict[str, int] | None:
        sessions = self._seen.get(recognition) if recognition else None
        if sessions is None or isinstance(sessions, str):
            return None
        rivals = [rival(one, frozenset([name]), self._now) for one in self._timetables]
        ranking = ranked(claims(rivals, name, self._now).values())
        attendance = Attendance(0, lambda one, _: one.template)
        attendance.set_claims(ranking)
        for one in sessions:
            attendance.arrive(one, self._now)
        return attendance.counts(self._now).here
