"""What should a pool have now? The formula, attribution and sum of the scaler, on what was seen. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gen.runtime.attribution import attributed, groups_of
from gen.runtime.formula import placeholders
from gen.runtime.recognition import Recognition
from gen.runtime.session import Claim, Session, ranked
from gen.runtime.target import full_count, open_now, target
from gen.runtime.timetable import Occurrence, Pool, Timetable, in_force

Seen = Mapping[Recognition, tuple[Session, ...] | str]


class Want(NamedTuple):
    """`replicas` None: unknown, because sessions are. `active`: those that count for the open occurrences."""

    replicas: int | None
    active: int | None


def claims(timetables: Iterable[Timetable], resource_class: str, now: int) -> tuple[Claim, ...]:
    """Of every reservation with a pool of the class, whatever its behaviour; ranked."""
    found = []
    for timetable in timetables:
        for pool in timetable.pools:
            if pool.resource_class == resource_class:
                count = full_count(resource_class)
                for one in open_now(in_force(timetable), now):
                    if count(one):
                        found.append(Claim(one.id, one.open, one.start, one.end, count(one), pool.match))
    return ranked(found)


def counts(timetables: Iterable[Timetable], pool: Pool, seen: Seen, now: int) -> dict[str, int] | None:
    """Sessions by open occurrence of the pool's class; None where nobody can tell."""
    sessions = seen.get(pool.sessions) if pool.sessions else None
    if sessions is None or isinstance(sessions, str):
        return None
    rivals = claims(timetables, pool.resource_class, now)
    return attributed(groups_of(sessions, rivals), rivals)


def want(timetable: Timetable, pool: Pool, active: Mapping[str, int] | None, now: int) -> Want:
    occurrences = open_now(in_force(timetable), now)
    full = full_count(pool.resource_class)
    mine = None if active is None else sum(active.get(one.id, 0) for one in occurrences if full(one))
    if active is None and pool.behaviour != "none" and target(occurrences, now, full):
        return Want(None, None)
    numbers = active or {}

    def seats(one: Occurrence) -> int:
        window = one.open, one.start, one.end
        return placeholders(pool.behaviour, full(one), numbers.get(one.id, 0), window, now)

    return Want(target(occurrences, now, seats), mine)
