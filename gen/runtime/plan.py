"""What is wanted of each pool at a moment, what is to change, and why.

Pure functions of the timetable, an instant and what was seen. Nothing here acts or remembers: two programs
that see the same decide the same.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gen.runtime.formula import placeholders
from gen.runtime.target import full_count, open_now, target
from gen.runtime.timetable import Occurrence, Pool, Timetable, in_force


class Wish(NamedTuple):
    """What a pool should have at one moment, and the open occurrences that ask for it."""

    pool: Pool
    replicas: int
    occurrences: tuple[str, ...]
    sessions: int | None = None  # that count for these occurrences; None: nobody asked, or nobody knows
    override: int | None = None  # what a person has set instead


class Aim(NamedTuple):
    """A wish, and what it follows from."""

    wish: Wish
    timetable: Timetable
    now: int
    sessions: Mapping[str, int] | None = None
    until: int = 0  # when the override that is in force is over
    why: str = ""  # the reason of a change, where whoever aims knows it better


class Change(NamedTuple):
    before: int
    after: int
    reason: str
    occurrences: tuple[str, ...]  # that it is about: those that came or went, or else those that are open


def wish(
    timetable: Timetable,
    pool: Pool,
    now: int,
    sessions: Mapping[str, int] | None = None,
    override: int | None = None,
) -> Wish:
    """Nothing for a pool that the timetable does not name.

    `sessions` says how many count for each occurrence, by its id. An occurrence that it does not know, and
    every one without it, gets its full count.
    """
    if all(pool.key != known.key for known in timetable.pools):
        return Wish(pool, 0, ())
    occurrences = open_now(in_force(timetable), now)
    asking = asking_of(timetable, pool, now)
    known = sum(sessions[name] for name in asking) if sessions and sessions.keys() >= set(asking) else None
    wanted = target(occurrences, now, _seats(pool, now, sessions or {})) if override is None else override
    return Wish(pool, wanted, asking, known, override)


def asking_of(timetable: Timetable, pool: Pool, now: int) -> tuple[str, ...]:
    """The open occurrences that have seats of this pool."""
    seats = full_count(pool.resource_class)
    return tuple(item.id for item in open_now(in_force(timetable), now) if seats(item))


def _seats(pool: Pool, now: int, sessions: Mapping[str, int]) -> Callable[[Occurrence], int]:
    full = full_count(pool.resource_class)

    def seats(item: Occurrence) -> int:
        if item.id not in sessions:
            return full(item)
        window = (item.open, item.start, item.end)
        return placeholders(pool.behaviour, full(item), sessions[item.id], window, now)

    return seats


def aim_at(
    timetable: Timetable,
    pool: Pool,
    now: int,
    sessions: Mapping[str, int] | None = None,
    override: int | None = None,
) -> Aim:
    return Aim(wish(timetable, pool, now, sessions, override), timetable, now, sessions)


def change(found: int, aim: Aim, settled: Aim | None) -> Change | None:
    """What to do about a pool that stands at `found`; None if that is what is wanted.

    `settled` is how the pool was last seen in order, None as long as it was not.
    """
    wanted = aim.wish
    if found == wanted.replicas:
        return None
    before = set(settled.wish.occurrences) if settled else set()
    about = tuple(sorted(before ^ set(wanted.occurrences))) or wanted.occurrences
    return Change(found, wanted.replicas, _reason(found, aim, settled), about)


def _reason(found: int, aim: Aim, settled: Aim | None) -> str:
    wanted = aim.wish
    if aim.why:
        return aim.why
    if settled is None:
        if found and wanted.replicas:
            return f"found at {found}"
        return _of_override(wanted) or ("opened" if wanted.replicas else "closed")
    kept = settled.wish
    if wanted.replicas == kept.replicas:
        return f"reset by somebody to {found}"
    if wanted.override != kept.override:
        return _of_override(wanted) or "override is over"
    if wish(settled.timetable, wanted.pool, aim.now, aim.sessions).replicas == kept.replicas:
        return "timetable edited"
    if wanted.occurrences == kept.occurrences and wanted.sessions != kept.sessions:
        return _of_sessions(kept.sessions, wanted.sessions)
    if wanted.occurrences == kept.occurrences and wanted.pool.behaviour == "reduce":
        return "less time is left"
    return "opened" if wanted.replicas > kept.replicas else "closed"


def _of_override(wanted: Wish) -> str:
    return "" if wanted.override is None else f"override to {wanted.override}"


def _of_sessions(before: int | None, after: int | None) -> str:
    if after is None:
        return "sessions are unknown"
    return f"{after} sessions" if before is None else f"{after} sessions, {before} before"
