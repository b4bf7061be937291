"""What a run wants of each pool at a moment, what it changes, and why.

Pure functions of the timetable, an instant and what was seen. Nothing here acts or remembers: two runs that
see the same decide the same.
"""

from typing import NamedTuple

from gen.runtime.target import full_count, open_now, target
from gen.runtime.timetable import Pool, Timetable, in_force


class Wish(NamedTuple):
    """What a pool should have at one moment, and the open occurrences that ask for it."""

    pool: Pool
    replicas: int
    occurrences: tuple[str, ...]


class Settled(NamedTuple):
    """What a pool was last seen to have as wished, and by which timetable."""

    wish: Wish
    timetable: Timetable


class Change(NamedTuple):
    before: int
    after: int
    reason: str
    occurrences: tuple[str, ...]  # that it is about: those that came or went, or else those that are open


def wish(timetable: Timetable, pool: Pool, now: int) -> Wish:
    """Nothing for a pool whose Deployment the timetable does not name."""
    if all(pool.deployment != known.deployment for known in timetable.pools):
        return Wish(pool, 0, ())
    seats = full_count(pool.resource_class)
    occurrences = open_now(in_force(timetable), now)
    asking = tuple(item.id for item in occurrences if seats(item))
    return Wish(pool, target(occurrences, now, seats), asking)


def change(found: int, wanted: Wish, settled: Settled | None, now: int) -> Change | None:
    """What to do about a pool that stands at `found`; None if that is what is wanted.

    `settled` is None as long as the run has not seen the pool in order.
    """
    if found == wanted.replicas:
        return None
    before = set(settled.wish.occurrences) if settled else set()
    about = tuple(sorted(before ^ set(wanted.occurrences))) or wanted.occurrences
    return Change(found, wanted.replicas, _reason(found, wanted, settled, now), about)


def _reason(found: int, wanted: Wish, settled: Settled | None, now: int) -> str:
    if settled is None and found and wanted.replicas:
        return f"found at {found}"
    kept = settled.wish.replicas if settled else 0
    if settled and wanted.replicas == kept:
        return f"reset by somebody to {found}"
    if settled and wish(settled.timetable, wanted.pool, now).replicas == kept:
        return "timetable edited"
    return "opened" if wanted.replicas > kept else "closed"
