"""What earlier looks at a cluster saw. Pure.

A single look cannot tell which sessions left a moment ago: their seats are requested again only after the
wait of the scaler. Nor does the API server say when somebody scaled a pool.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from berth.core.sessions import Recognition, Session

SessionsByRecognition = Mapping[Recognition, tuple[Session, ...] | str]
"""The active sessions by how they are recognized, or why nobody can tell."""


class MissedSession(NamedTuple):
    """A session that an earlier look saw, and the look at `missed` was the first without it."""

    session: Session
    missed: int


class EarlierLooks(NamedTuple):
    """What is remembered of looks.

    `since`: when each pool was first seen unlike its target, and so ever since, by subject. `here`: the
    sessions of the last look.
    """

    since: Mapping[str, int] = {}
    here: Mapping[Recognition, tuple[Session, ...] | str] = {}
    departed: Mapping[Recognition, tuple[MissedSession, ...]] = {}


NO_LOOKS = EarlierLooks()


def departed_sessions(
    earlier: EarlierLooks, seen: SessionsByRecognition, now: int, seconds: int
) -> dict[Recognition, tuple[MissedSession, ...]]:
    """Return the sessions that may have left within the last `seconds`."""
    return {
        recognition: tuple(_departed(earlier, recognition, sessions, now, seconds))
        for recognition, sessions in seen.items()
        if not isinstance(sessions, str)
    }


def _departed(
    earlier: EarlierLooks, recognition: Recognition, present: Iterable[Session], now: int, seconds: int
) -> Iterable[MissedSession]:
    known = {session.id for session in present}
    for departure in earlier.departed.get(recognition, ()):
        if departure.session.id not in known and now - seconds < departure.missed:
            known.add(departure.session.id)
            yield departure
    here = earlier.here.get(recognition, ())
    for session in () if isinstance(here, str) else here:
        if session.id not in known:
            yield MissedSession(session, now)


def with_departed(
    seen: SessionsByRecognition, departed: Mapping[Recognition, tuple[MissedSession, ...]]
) -> SessionsByRecognition:
    """Return the sessions as if those that left were still here."""
    return {
        recognition: sessions
        if isinstance(sessions, str)
        else (*sessions, *(departure.session for departure in departed.get(recognition, ())))
        for recognition, sessions in seen.items()
    }


def remember(
    earlier: EarlierLooks, seen: SessionsByRecognition, unlike: Iterable[str], now: int, seconds: int
) -> EarlierLooks:
    """Return what the next look needs. `unlike`: the subjects of pools that differ from their targets."""
    since = {subject: earlier.since.get(subject, now) for subject in unlike}
    return EarlierLooks(since, seen, departed_sessions(earlier, seen, now, seconds))
