"""A pool whose seats slots hold: what is there, and what should be, by the very plan of our pods. Pure."""

from collections.abc import Mapping

from gen.live.case import Case, wanted_by_git
from gen.live.facts import Facts, Refusal, Slot
from gen.live.status import Numbers, SlotCount
from gen.runtime.plan import aim_at
from gen.runtime.slotdemand import Demand, demand
from gen.runtime.slotplan import Census, Home, census


def slots_of(
    facts: Facts, reservation: str, resource_class: str, *, standing: bool
) -> tuple[Slot, ...] | None:
    """None where nobody knows."""
    if facts.slots is None or isinstance(facts.slots, Refusal):
        return None
    return tuple(
        one
        for one in facts.slots
        if (one.reservation, one.resource_class, one.is_standing) == (reservation, resource_class, standing)
    )


def reservations(facts: Facts) -> set[str]:
    """Those that have slots of windows."""
    return {one.reservation for one in _windowed(facts)}


def classes(facts: Facts, reservation: str) -> set[str]:
    return {one.resource_class for one in _windowed(facts) if one.reservation == reservation}


def _windowed(facts: Facts) -> list[Slot]:
    known = () if facts.slots is None or isinstance(facts.slots, Refusal) else facts.slots
    return [one for one in known if not one.is_standing]


def numbers(case: Case) -> Numbers:
    """Wanted, asked for, ready, pending, active. Where nobody can tell what is wanted, what is asked for."""
    if case.slots is None:
        return None, None, None, None, case.active
    living = len(case.census.living) + _placeholders(case)
    wanted = asked(case) if case.wanted is None else case.wanted
    if case.timetable is None and not living:
        wanted = wanted_by_git(case)
    return wanted, living, ready(case), len(case.census.pending) + case.pending, case.active


def with_slots(case: Case, sessions: Mapping[str, int] | None) -> Case:
    """`wanted` and `active` are then those of slots, where these hold the pool. One look cannot tell which
    sessions have had their time to take a slot, so `demand.kept` takes none of them for such.
    """
    pool, look = case.pool, case.look
    found = slots_of(look.facts, case.reservation, pool.resource_class, standing=False)
    if found is None:
        return case if pool.slots is None else case._replace(wanted=None, active=None)
    seen = counted(found, look.place.namespace, pool.deployment)
    case = case._replace(slots=found, census=seen)
    if pool.slots is None or case.timetable is None:
        return case
    wanted = _demand(case, seen, sessions)
    is_known = sessions is not None or not wanted.wish.occurrences
    depends = pool.behaviour != "none" and case.override is None
    return case._replace(
        demand=wanted,
        wanted=wanted.wanted if is_known or not depends else None,
        active=(wanted.wish.sessions or 0) if is_known else None,
    )


def _demand(case: Case, seen: Census, sessions: Mapping[str, int] | None) -> Demand:
    assert case.timetable is not None
    order = case.override
    ordered, until = (None, 0) if order is None else (order.target, order.until)
    aim = aim_at(case.timetable, case.pool, case.look.now, sessions, ordered)._replace(until=until)
    return demand(aim, sum(seen.owners.values()), 0)


def counted(found: tuple[Slot, ...], namespace: str, pool: str) -> Census:
    return census([one.held for one in found], Home(namespace, pool))


def count(case: Case) -> SlotCount | None:
    """None where no slot holds anything of the pool, and none should, or nobody knows."""
    return of_census(case.census) if case.slots or (case.pool.slots and case.slots is not None) else None


def of_census(seen: Census) -> SlotCount:
    over = len(seen.dead) + len(seen.going)
    return SlotCount(len(seen.free), len(seen.used), len(seen.handed), len(seen.pending), over)


def asked(case: Case) -> int:
    """Seats without a session that there are or will be: slots, and placeholders that will hand over."""
    return len(case.census.free) + max(
        len(case.census.handed) + len(case.census.pending), _placeholders(case)
    )


def ready(case: Case) -> int:
    """Those that somebody can take."""
    there = case.deployment.ready if case.deployment and case.pool.has_deployment else 0
    seen = case.census
    return len(seen.free) + max(len(seen.handed), there)


def _placeholders(case: Case) -> int:
    return case.deployment.replicas if case.deployment and case.pool.has_deployment else 0
