"""The sweep's decisions about removal: which reservations are orphaned, and what is removed when."""

from collections import Counter
from collections.abc import Iterable, Iterator

from berth.core.actions import Action, ChangeSlots, MarkOrphaned, RemoveObject, ScalePool, close_slots
from berth.core.instants import instant_text, parse_instant
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB
from berth.core.state import (
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
RENAME_SPAN = 900  # seconds since a reservation came in which it may be another one that was renamed
LOST_DELAY = 300 - 30  # one round, for whoever deletes a timetable by hand: an engine makes it again


def unused_code(facts: SiteState, now: int) -> Iterator[RemoveObject]:
    """Remove code that no CronJob or unfinished Job mounts: engines keep it for pods of older releases."""
    for one in () if facts.unread & {CONFIG_MAP.name, CRON_JOB.name, JOB.name} else facts.code:
        is_young = now < one.ref.created + REMOVAL_DELAY  # an engine may create it before what mounts it
        if one.ref.name not in facts.mounted and not is_young and not one.ref.is_terminating:
            yield RemoveObject(one.ref, "no CronJob or Job mounts it")


def is_removable(facts: SiteState, state: ReservationState, source: TimetableObject, now: int) -> bool:
    """Return whether the reservation has been orphaned for long enough, or was renamed."""
    if not _is_orphaned(facts, source.ref):
        return False
    since = _instant(source.ref.orphaned_since)
    if since is not None and now - since >= REMOVAL_DELAY:
        return True
    return not _is_persistent(facts, state.reservation) and is_replaced(facts, state, now)


def is_replaced(facts: SiteState, state: ReservationState, now: int) -> bool:
    """Return whether reservations that came lately hold what this one and others that are gone hold.

    That is how a reservation looks that was renamed while it is open.
    """
    named = {one.ref.reservation for one in facts.sources if not _is_orphaned(facts, one.ref)}
    came = {
        one.ref.reservation
        for one in facts.sources
        if one.ref.reservation in named and not one.ref.is_terminating and now - one.ref.created < RENAME_SPAN
    }
    gone: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for pool in facts.deployments:
        if pool.ref.reservation in came:
            held[pool.resource_class] += min(pool.ready, pool.replicas)
        elif pool.ref.reservation not in named:
            gone[pool.resource_class] += pool.replicas
    for one in facts.slots or ():
        if one.is_held and (one.ref.reservation in came or one.ref.reservation not in named):
            (held if one.ref.reservation in came else gone)[one.resource_class] += 1
    classes = {one.resource_class for one in state.deployments if one.replicas}
    classes |= {one.resource_class for one in state.slots if one.is_held}
    return bool(classes) and all(name and held[name] >= gone[name] for name in classes)


def orphan_marks(facts: SiteState, source: TimetableObject, now: int) -> Iterator[MarkOrphaned]:
    """Mark a reservation as orphaned, or remove the mark."""
    since = _instant(source.ref.orphaned_since)
    if _is_orphaned(facts, source.ref):
        if since is None or since > now:
            yield MarkOrphaned(source.ref, instant_text(now), "the inventory does not name its reservation")
    elif source.ref.orphaned_since and _has_inventory(facts):
        yield MarkOrphaned(source.ref, "", "the inventory names its reservation again")


def removals(facts: SiteState, state: ReservationState, source: TimetableObject) -> Iterator[Action]:
    """Remove everything of an orphaned reservation, or only its windows if git holds it persistently now."""
    if _is_persistent(facts, state.reservation):
        why = f"its windows are not in git since {source.ref.orphaned_since}"
        texts = {ref for ref in state.rights if ref.kind == CONFIG_MAP.name}
        refs = [ref for ref in state.refs() if ref not in texts]
        slots = [one for one in state.slots if not one.is_persistent]
    else:
        since = source.ref.orphaned_since
        said = f"since {since}" if since else "any more, and another one holds its seats"
        why = f"its reservation is not in git {said}"
        refs, slots = state.refs(), list(state.slots)
    yield from _remove(state.deployments, refs, why)
    yield from _remove_slots(slots, source.ref, why)


def outdated_slots(facts: SiteState, state: ReservationState, now: int) -> Iterator[Action]:
    """Remove persistent slots that git no longer has. New ones may be newer than the inventory."""
    if (
        not _has_inventory(facts)
        or facts.persistent is None
        or state.reservation not in (facts.inventory or ())
    ):
        return
    names = facts.persistent.get(state.reservation, frozenset())
    slots = [
        one
        for one in state.slots
        if one.is_persistent and one.slot.name not in names and now - one.ref.created >= REMOVAL_DELAY
    ]
    yield from _remove_slots(slots, None, "the inventory does not name them")


def outdated_objects(
    facts: SiteState,
    state: ReservationState,
    source: TimetableObject,
    unnamed: Iterable[PoolObject],
    now: int,
) -> Iterator[RemoveObject]:
    """Remove Deployments and CronJobs of classes and times that a reservation no longer has.

    `unnamed` are the pools that its timetable does not name. Not to be called while the reservation is open
    or served: a CronJob takes its Jobs with it. What is new may be newer than inventory and timetable.
    """
    if not _has_inventory(facts) or facts.listed is None or _is_orphaned(facts, source.ref):
        return
    refs = [one.ref for one in unnamed if one.ref.kind == DEPLOYMENT.name and not one.replicas]
    refs += [
        one.ref
        for one in state.cronjobs
        if one.ref.name != source.ref.name and (CRON_JOB.name, one.ref.name) not in facts.listed
    ]
    for ref in refs:
        if now - max(ref.created, source.changed) >= REMOVAL_DELAY and not ref.is_terminating:
            yield RemoveObject(ref, "its reservation no longer has it")


def leftovers(facts: SiteState, state: ReservationState, now: int) -> Iterator[Action]:
    """Remove what is left of a reservation without a timetable.

    That is what makes or holds pods or seats, and everything where the sweep prunes. Persistent slots have no
    timetable and are left to whoever prunes. Where an engine prunes, seats stay for one more round, if there
    is an object to write the time on.
    """
    jobs = {job.ref.uid for job in state.jobs}
    is_served = any(pod.serves(now) and pod.owner_uid in jobs for pod in state.pods)
    is_known = not facts.prunes or (
        _has_inventory(facts) and state.reservation not in (facts.inventory or ())
    )
    if facts.unread or not is_known:
        return
    # Whoever deletes a timetable by hand leaves the CronJobs, and the engine makes it again.
    is_renamed = (facts.prunes or not state.cronjobs) and is_replaced(facts, state, now)
    if is_served and not is_renamed:
        return
    ours = [
        ref
        for ref in state.refs()
        if now - ref.created > APPLY_GRACE and (facts.prunes or ref.kind in (DEPLOYMENT.name, JOB.name))
    ]
    slots = [
        one
        for one in state.slots
        if now - one.ref.created > APPLY_GRACE and (facts.prunes or not one.is_persistent)
    ]
    why = "its reservation has no timetable"
    has_seats = slots or any(one.replicas and one.ref in ours for one in state.deployments)
    if has_seats and not facts.prunes and not is_renamed:
        refs = _markable(state)
        marked = [since for ref in refs if (since := _instant(ref.orphaned_since)) and since <= now]
        if refs and not marked:
            yield MarkOrphaned(refs[0], instant_text(now), why)
        if refs and now - min(marked, default=now) < LOST_DELAY:
            return
    yield from _remove(state.deployments, ours, why)
    yield from _remove_slots(slots, None, why)


def restored_marks(facts: SiteState, state: ReservationState) -> Iterator[MarkOrphaned]:
    """Remove marks of a reservation that has a timetable again."""
    for ref in () if facts.prunes else _markable(state):
        if ref.orphaned_since:
            yield MarkOrphaned(ref, "", "its reservation has a timetable again")


def _markable(state: ReservationState) -> list[ObjectRef]:
    """Return the objects that the sweep may annotate."""
    pools = [one.ref for one in state.deployments if one.ref.kind == DEPLOYMENT.name]
    refs = [*pools, *(job.ref for job in state.jobs)]
    return [ref for ref in refs if not ref.is_terminating]


def _has_inventory(facts: SiteState) -> bool:
    """Return whether removal can be decided: by an inventory, and with all lists complete."""
    return facts.prunes and facts.inventory is not None and not facts.unread


def _is_orphaned(facts: SiteState, ref: ObjectRef) -> bool:
    """Return whether git has no windows of the reservation."""
    is_named = ref.reservation in (facts.inventory or ()) and not _is_persistent(facts, ref.reservation)
    return _has_inventory(facts) and not is_named


def _is_persistent(facts: SiteState, reservation: str) -> bool:
    return reservation in (facts.inventory or ()) and reservation in (facts.persistent or {})


def _remove(deployments: Iterable[PoolObject], refs: Iterable[ObjectRef], why: str) -> Iterator[Action]:
    """Close and remove objects. Deleted ones are closed too: a finalizer may keep them."""
    removed = list(refs)
    for deployment in deployments:
        if deployment.replicas and deployment.ref in removed:
            yield ScalePool(deployment, 0, why)
    for ref in removed:
        if not ref.is_terminating:
            yield RemoveObject(ref, why)


def _remove_slots(found: Iterable[SlotObject], told: ObjectRef | None, why: str) -> Iterator[ChangeSlots]:
    """Remove slots, by class."""
    there = [one for one in found if not one.ref.is_terminating]
    for name in sorted({one.resource_class for one in there}):
        some = [one for one in there if one.resource_class == name]
        slots = tuple(one.slot for one in some)
        yield from close_slots(told or some[0].ref, name, slots, why, is_last=True)


def _instant(text: str) -> int | None:
    try:
        return parse_instant(text)
    except ValueError:
        return None
