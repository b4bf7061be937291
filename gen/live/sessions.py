"""Which sessions are there, and for which occurrence do they count? By the very rules of the scaler. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from gen.runtime.attribution import attributed, groups_of
from gen.runtime.kinds import RENKU_PROJECT, Keys, is_active, keys, session
from gen.runtime.recognition import Recognition
from gen.runtime.rivals import claims, rival
from gen.runtime.session import UNKNOWN_TEMPLATE, Session, ranked
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


def counts(timetables: Sequence[Timetable], pool: Pool, seen: Seen, now: int) -> dict[str, int] | None:
    """Sessions by open occurrence of the pool's class; None where nobody can tell."""
    sessions = seen.get(pool.sessions) if pool.sessions else None
    if sessions is None or isinstance(sessions, str):
        return None
    name = pool.resource_class
    rivals = [rival(one, frozenset([name]), now) for one in timetables]
    ranking = ranked(claims(rivals, name, now).values())
    return attributed(groups_of(sessions, ranking), ranking)
