"""The sweep's decisions about removal: which reservations are orphaned, and what is removed when."""

from collections.abc import Iterable, Iterator

from gen.core.instants import instant_text, parse_instant
from gen.core.objects import CONFIG_MAP, DEPLOYMENT, JOB
from gen.runtime.sweepactions import Action, MarkOrphaned, RemoveObject, RemoveSlots, ScalePool
from gen.runtime.sweepstate import (
    ObjectRef,
    PoolObject,
    ReservationState,
    SiteState,
    SlotObject,
    TimetableObject,
)

APPLY_GRACE = 120  # seconds: an engine may apply a timetable after what belongs to it
# Ten minutes: two rounds of the sweep, which never start on the same second.
REMOVAL_DELAY = 600 - 30
LOST_DELAY = 300 - 30  # one round, for whoever deletes a timetable by hand: an engine makes it again


def is_removable(facts: SiteState, source: TimetableObject, now: int) -> bool:
    """By the inventory that we prune by, and for long enough."""
    since = _instant(source.thing.gone_since)
    return _is_orphaned(facts, source.thing) and since is not None and now - since >= REMOVAL_DELAY


def orphan_marks(facts: SiteState, source: TimetableObject, now: int) -> Iterator[MarkOrphaned]:
    """From when on it is gone; or that it is back."""
    since = _instant(source.thing.gone_since)
    if _is_orphaned(facts, source.thing):
        if since is None or since > now:
            yield MarkOrphaned(source.thing, instant_text(now), "the inventory does not name its reservation")
    elif source.thing.gone_since and _has_inventory(facts):
        yield MarkOrphaned(source.thing, "", "the inventory names its reservation again")


def removals(facts: SiteState, holding: ReservationState, source: TimetableObject) -> Iterator[Action]:
    """Of all that there is of a reservation that is gone; or of its windows, where it stands in git now."""
    if _is_persistent(facts, holding.reservation):
        why = f"its windows are gone since {source.thing.gone_since}"
        texts = {thing for thing in holding.rights if thing.kind == CONFIG_MAP.name}
        things = [thing for thing in holding.things() if thing not in texts]
        slots = [one for one in holding.slots if not one.is_standing]
    else:
        why = f"its reservation is gone since {source.thing.gone_since}"
        things, slots = holding.things(), list(holding.slots)
    yield from _remove(holding.deployments, things, why)
    yield from _remove_slots(slots, source.thing, why)


def outdated_slots(facts: SiteState, holding: ReservationState, now: int) -> Iterator[Action]:
    """Slots that stood in git, and are of another shape there now or too many. One that has just been made
    may be newer than the inventory.
    """
    if (
        not _has_inventory(facts)
        or facts.standing is None
        or holding.reservation not in (facts.inventory or ())
    ):
        return
    names = facts.standing.get(holding.reservation, frozenset())
    slots = [
        one
        for one in holding.slots
        if one.is_standing and one.slot.name not in names and now - one.thing.created >= REMOVAL_DELAY
    ]
    yield from _remove_slots(slots, None, "the inventory does not name them")


def leftovers(facts: SiteState, holding: ReservationState, now: int) -> Iterator[Action]:
    """Of a reservation without a timetable: what makes or holds pods or seats, and all of it where we prune.
    What stands in git has no timetable, and is left to whoever prunes. Where an engine does, seats that stand
    have one round more, if there is anything on which to write since when.
    """
    jobs = {job.thing.uid for job in holding.jobs}
    is_served = any(pod.is_serving and pod.owner_uid in jobs for pod in holding.pods)
    is_known = not facts.prunes or (
        _has_inventory(facts) and holding.reservation not in (facts.inventory or ())
    )
    if is_served or facts.unread or not is_known:
        return
    ours = [
        thing
        for thing in holding.things()
        if now - thing.created > APPLY_GRACE and (facts.prunes or thing.kind in (DEPLOYMENT.name, JOB.name))
    ]
    slots = [
        one
        for one in holding.slots
        if now - one.thing.created > APPLY_GRACE and (facts.prunes or not one.is_standing)
    ]
    why = "its reservation has no timetable"
    has_seats = slots or any(one.replicas and one.thing in ours for one in holding.deployments)
    if has_seats and not facts.prunes:
        things = _markable(holding)
        marked = [since for thing in things if (since := _instant(thing.gone_since)) and since <= now]
        if things and not marked:
            yield MarkOrphaned(things[0], instant_text(now), why)
        if things and now - min(marked, default=now) < LOST_DELAY:
            return
    yield from _remove(holding.deployments, ours, why)
    yield from _remove_slots(slots, None, why)


def restored_marks(facts: SiteState, holding: ReservationState) -> Iterator[MarkOrphaned]:
    """What had been left without a timetable, and has one."""
    for thing in () if facts.prunes else _markable(holding):
        if thing.gone_since:
            yield MarkOrphaned(thing, "", "its reservation has a timetable again")


def _markable(holding: ReservationState) -> list[ObjectRef]:
    """What the sweep may write to; what has been deleted may be away before it is read again."""
    pools = [one.thing for one in holding.deployments if one.thing.kind == DEPLOYMENT.name]
    things = [*pools, *(job.thing for job in holding.jobs)]
    return [thing for thing in things if not thing.is_going]


def _has_inventory(facts: SiteState) -> bool:
    """Whether anything can be said about what is gone: by an inventory, and with all lists complete."""
    return facts.prunes and facts.inventory is not None and not facts.unread


def _is_orphaned(facts: SiteState, thing: ObjectRef) -> bool:
    """Whether git has no windows of the reservation."""
    is_named = thing.reservation in (facts.inventory or ()) and not _is_persistent(facts, thing.reservation)
    return _has_inventory(facts) and not is_named


def _is_persistent(facts: SiteState, reservation: str) -> bool:
    return reservation in (facts.inventory or ()) and reservation in (facts.standing or {})


def _remove(deployments: Iterable[PoolObject], things: Iterable[ObjectRef], why: str) -> Iterator[Action]:
    """Also what has been deleted already is closed; it may stay for as long as somebody's finalizer does."""
    removed = list(things)
    for deployment in deployments:
        if deployment.replicas and deployment.thing in removed:
            yield ScalePool(deployment, 0, why)
    for thing in removed:
        if not thing.is_going:
            yield RemoveObject(thing, why)


def _remove_slots(found: Iterable[SlotObject], told: ObjectRef | None, why: str) -> Iterator[RemoveSlots]:
    """By class. Those that are on their way already are left."""
    there = [one for one in found if not one.thing.is_going]
    for name in sorted({one.resource_class for one in there}):
        some = [one for one in there if one.resource_class == name]
        yield RemoveSlots(told or some[0].thing, name, tuple(one.slot for one in some), why, is_last=True)


def _instant(text: str) -> int | None:
    try:
        return parse_instant(text)
    except ValueError:
        return None
