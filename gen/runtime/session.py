"""What a session is to us, what narrows sessions to one course, and who lays claim to one.

Pure values and rules. How sessions are found in a cluster stands elsewhere.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

NO_TEMPLATE, UNKNOWN_TEMPLATE = "", "?"
RENKU_PROJECT = "renku.io/project_id"  # an annotation


class Session(NamedTuple):
    """An active session of one resource class. Of labels and annotations, those that somebody asks for are
    enough.
    """

    id: str  # for ever, of the whole cluster: its uid
    namespace: str
    created: int
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    template: str = NO_TEMPLATE  # of its project; UNKNOWN_TEMPLATE where nobody could tell


class Match(NamedTuple):
    """What narrows the sessions of a class to one course. All empty: every session of the class."""

    namespaces: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    template: str = NO_TEMPLATE
    ignores_earlier: bool = False  # sessions that were created before the occurrence opened


class Claim(NamedTuple):
    """An open occurrence that takes sessions of one class, whatever its behaviour."""

    id: str
    open: int
    start: int
    end: int
    count: int  # type: ignore[assignment] # not the method of a tuple
    match: Match


def project(session: Session) -> str:
    """By which its template is looked up; empty where it has none."""
    return session.annotations.get(RENKU_PROJECT, "")


def fits(session: Session, claim: Claim) -> bool:
    """Where nobody could tell the template of a project, the class alone decides."""
    match = claim.match
    return (
        (not match.namespaces or session.namespace in match.namespaces)
        and all(session.labels.get(key) == value for key, value in match.labels)
        and all(session.annotations.get(key) == value for key, value in match.annotations)
        and session.template in (match.template or session.template, UNKNOWN_TEMPLATE)
        and not (match.ignores_earlier and session.created < claim.open)
    )


def ranked(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The first is the first to get a session that fits several: the more specific match, then who ends
    first, starts first, then by id.
    """
    return tuple(sorted(claims, key=_rank))


def _rank(claim: Claim) -> tuple[bool, int, bool, int, int, str]:
    match = claim.match
    pairs = len(match.labels) + len(match.annotations)
    return not match.template, -pairs, not match.namespaces, claim.end, claim.start, claim.id
