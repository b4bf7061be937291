"""When a reservation is gone, and what of it is then removed."""

from collections.abc import Iterable, Iterator

from gen.runtime.action import Action, Mark, Remove, RemoveSlots, Scale
from gen.runtime.facts import Deployment, Facts, SlotFact, Source, Thing
from gen.runtime.holding import Holding
from gen.runtime.instant import instant, instant_text
from gen.runtime.objectkind import CONFIG_MAP, DEPLOYMENT, JOB

ORPHANED = 120  # seconds: an engine may apply a timetable after what belongs to it
# Ten minutes: two rounds of the sweep, which never start on the same second.
GONE = 600 - 30
LOST = 300 - 30  # one round, for whoever deletes a timetable by hand: an engine makes it again


def is_gone(facts: Facts, source: Source, now: int) -> bool:
    """By the inventory that we prune by, and for long enough."""
    since = _instant(source.thing.gone_since)
    return _is_missing(facts, source.thing) and since is not None and now - since >= GONE


def marks(facts: Facts, source: Source, now: int) -> Iterator[Mark]:
    """From when on it is gone; or that it is back."""
    since = _instant(source.thing.gone_since)
    if _is_missing(facts, source.thing):
        if since is None or since > now:
            yield Mark(source.thing, instant_text(now), "the inventory does not name its reservation")
    elif source.thing.gone_since and _knows(facts):
        yield Mark(source.thing, "", "the inventory names its reservation again")


def removal(facts: Facts, holding: Holding, source: Source) -> Iterator[Action]:
    """Of all that there is of a reservation that is gone; or of its windows, where it stands in git now."""
    if _stands(facts, holding.reservation):
        why = f"its windows are gone since {source.thing.gone_since}"
        texts = {thing for thing in holding.rights if thing.kind == CONFIG_MAP.name}
        things = [thing for thing in holding.things() if thing not in texts]
        slots = [one for one in holding.slots if not one.is_standing]
    else:
        why = f"its reservation is gone since {source.thing.gone_since}"
        things, slots = holding.things(), list(holding.slots)
    yield from _remove(holding.deployments, things, why)
    yield from _remove_slots(slots, source.thing, why)


def outdated(facts: Facts, holding: Holding, now: int) -> Iterator[Action]:
    """Slots that stood in git, and are of another shape there now or too many. One that has just been made
    may be newer than the inventory.
    """
    if not _knows(facts) or facts.standing is None or holding.reservation not in (facts.inventory or ()):
        return
    names = facts.standing.get(holding.reservation, frozenset())
    slots = [
        one
        for one in holding.slots
        if one.is_standing and one.slot.name not in names and now - one.thing.created >= GONE
    ]
    yield from _remove_slots(slots, None, "the inventory does not name them")


def leftovers(facts: Facts, holding: Holding, now: int) -> Iterator[Action]:
    """Of a reservation without a timetable: what makes or holds pods or seats, and all of it where we prune.
    What stands in git has no timetable, and is left to whoever prunes. Where an engine does, seats that stand
    have one round more, if there is anything on which to write since when.
    """
    jobs = {job.thing.uid for job in holding.jobs}
    is_served = any(pod.is_serving and pod.owner_uid in jobs for pod in holding.pods)
    is_known = not facts.prunes or (_knows(facts) and holding.reservation not in (facts.inventory or ()))
    if is_served or facts.unread or not is_known:
        return
    ours = [
        thing
        for thing in holding.things()
        if now - thing.created > ORPHANED and (facts.prunes or thing.kind in (DEPLOYMENT.name, JOB.name))
    ]
    slots = [
        one
        for one in holding.slots
        if now - one.thing.created > ORPHANED and (facts.prunes or not one.is_standing)
    ]
    why = "its reservation has no timetable"
    has_seats = slots or any(one.replicas and one.thing in ours for one in holding.deployments)
    if has_seats and not facts.prunes:
        things = _markable(holding)
        marked = [since for thing in things if (since := _instant(thing.gone_since)) and since <= now]
        if things and not marked:
            yield Mark(things[0], instant_text(now), why)
        if things and now - min(marked, default=now) < LOST:
            return
    yield from _remove(holding.deployments, ours, why)
    yield from _remove_slots(slots, None, why)


def found_again(facts: Facts, holding: Holding) -> Iterator[Mark]:
    """What had been left without a timetable, and has one."""
    for thing in () if facts.prunes else _markable(holding):
        if thing.gone_since:
            yield Mark(thing, "", "its reservation has a timetable again")


def _markable(holding: Holding) -> list[Thing]:
    """What the sweep may write to; what has been deleted may be away before it is read again."""
    pools = [one.thing for one in holding.deployments if one.thing.kind == DEPLOYMENT.name]
    things = [*pools, *(job.thing for job in holding.jobs)]
    return [thing for thing in things if not thing.is_going]


def _knows(facts: Facts) -> bool:
    """Whether anything can be said about what is gone: by an inventory, and with all lists complete."""
    return facts.prunes and facts.inventory is not None and not facts.unread


def _is_missing(facts: Facts, thing: Thing) -> bool:
    """Whether git has no windows of the reservation."""
    is_named = thing.reservation in (facts.inventory or ()) and not _stands(facts, thing.reservation)
    return _knows(facts) and not is_named


def _stands(facts: Facts, reservation: str) -> bool:
    return reservation in (facts.inventory or ()) and reservation in (facts.standing or {})


def _remove(deployments: Iterable[Deployment], things: Iterable[Thing], why: str) -> Iterator[Action]:
    """Also what has been deleted already is closed; it may stay for as long as somebody's finalizer does."""
    removed = list(things)
    for deployment in deployments:
        if deployment.replicas and deployment.thing in removed:
            yield Scale(deployment, 0, why)
    for thing in removed:
        if not thing.is_going:
            yield Remove(thing, why)


def _remove_slots(found: Iterable[SlotFact], told: Thing | None, why: str) -> Iterator[RemoveSlots]:
    """By class. Those that are on their way already are left."""
    there = [one for one in found if not one.thing.is_going]
    for name in sorted({one.resource_class for one in there}):
        some = [one for one in there if one.resource_class == name]
        yield RemoveSlots(told or some[0].thing, name, tuple(one.slot for one in some), why, is_last=True)


def _instant(text: str) -> int | None:
    try:
        return instant(text)
    except ValueError:
        return None
