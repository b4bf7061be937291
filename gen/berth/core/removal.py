"""The sweep's decisions about removal: which reservations are orphaned, and what is removed when."""

from collections.abc import Iterable, Iterator, Sequence

from berth.core.actions import Action, MarkOrphaned, RemoveObject
from berth.core.jsonvalues import DAY, instant_or_none, instant_text
from berth.core.objectreading import number_of
from berth.core.objects import CAPACITY_BUFFER, CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB
from berth.core.pooldecision import ChangeSlots, release, scale_pool
from berth.core.poolobjects import ObjectRef, PoolObject
from berth.core.slots import SlotPlan
from berth.core.state import ReservationState, SiteState, SlotObject, TimetableObject
from berth.core.timetable import note_name

APPLY_GRACE = 120  # seconds: an engine may apply a timetable after what belongs to it
# Ten minutes: two rounds of the sweep, which never start on the same second.
REMOVAL_DELAY = 600 - 30
RECORD_DELAY = 400 * DAY  # a course that is planned again after a year still finds its record
LOST_DELAY = 300 - 30  # one round, for whoever deletes a timetable by hand: an engine makes it again
_POOLS = (DEPLOYMENT.name, CAPACITY_BUFFER.name)  # the sweep may change and remove these


def numbers(facts: SiteState, state: ReservationState, why: str, now: int) -> Iterator[Action]:
    """Give back numbers of somebody else that the timetable no longer names, and remove what tells of them.

    Only what an engine has applied says which numbers these are: the account of a reservation can write the
    note that says what a number was.
    """
    ours = [use for use in facts.uses if use.is_named and use.reservation == state.reservation]
    named = {use.key: use.target.pool.holder for use in ours}
    for target in state.targets:
        pool = target.in_timetable
        if pool.key not in named and pool.key not in facts.asked:
            stands = number_of(facts, state.reservation, pool)
            yield from release(stands, why, now)
            if (stands and stands.held) or pool.key in facts.unread_numbers:
                continue
        is_old = now - target.ref.created > APPLY_GRACE and not target.ref.is_terminating
        if is_old and named.get(pool.key) != pool.holder:
            yield RemoveObject(target.ref, "no timetable names its number")


def unused_notes(facts: SiteState, now: int) -> Iterator[RemoveObject]:
    """Remove notes about numbers that nobody holds, or whose objects are gone."""
    held = {*facts.asked, *facts.numbers, *facts.unread_numbers}
    names = {note_name(use.target.pool) for use in facts.uses if use.key in held}
    for name, note in facts.held.items() if facts.reads(CONFIG_MAP) else ():
        is_old = now - note.ref.created > APPLY_GRACE and not note.ref.is_terminating
        if name not in names and is_old:
            yield RemoveObject(note.ref, "no number is held by it", note.version)


def unused_code(facts: SiteState, now: int) -> Iterator[RemoveObject]:
    """Remove code that no CronJob or unfinished Job mounts: engines keep it for pods of older releases."""
    for code in facts.code if facts.reads(CONFIG_MAP, CRON_JOB, JOB) else ():
        is_young = now < code.ref.created + REMOVAL_DELAY  # an engine may create it before what mounts it
        if code.ref.name not in facts.mounted and not is_young and not code.ref.is_terminating:
            yield RemoveObject(code.ref, "no CronJob or Job mounts it")


def old_records(state: ReservationState, now: int) -> Iterator[RemoveObject]:
    """Remove the record of a reservation that is gone, long after it was last written."""
    for record in state.records:
        is_old = now - record.changed >= RECORD_DELAY
        if not state.timetables and is_old and not record.ref.is_terminating:
            yield RemoveObject(record.ref, "its reservation has been gone for more than a year")


def is_removable(facts: SiteState, state: ReservationState, source: TimetableObject, now: int) -> bool:
    """Return whether the reservation has been orphaned for long enough."""
    since = _marked_since([source.ref], now)
    return facts.is_orphaned(state.reservation) and since is not None and now - since >= REMOVAL_DELAY


def orphan_marks(
    facts: SiteState, state: ReservationState, source: TimetableObject, now: int
) -> list[MarkOrphaned]:
    """Mark a reservation with a timetable as orphaned, or remove marks."""
    if facts.is_orphaned(state.reservation):
        return _mark([source.ref], "the inventory does not name its reservation", now)
    if facts.has_inventory:
        return _unmark([source.ref], "the inventory names its reservation again")
    return [] if facts.prunes else _unmark(_markable(state), "its reservation has a timetable again")


def _mark(refs: Sequence[ObjectRef], why: str, now: int) -> list[MarkOrphaned]:
    is_marked = not refs or _marked_since(refs, now) is not None
    return [] if is_marked else [MarkOrphaned(refs[0], instant_text(now), why)]


def _unmark(refs: Iterable[ObjectRef], why: str) -> list[MarkOrphaned]:
    return [MarkOrphaned(ref, "", why) for ref in refs if ref.orphaned_since]


def _marked_since(refs: Iterable[ObjectRef], now: int) -> int | None:
    """Return since when one of the objects is marked; None without a mark that makes sense."""
    marks = (instant_or_none(ref.orphaned_since) for ref in refs)
    return min((since for since in marks if since is not None and since <= now), default=None)


def _markable(state: ReservationState) -> list[ObjectRef]:
    """Return the objects that the sweep may annotate."""
    pools = [pool.ref for pool in state.deployments if pool.ref.kind in _POOLS]
    return [ref for ref in (*pools, *(job.ref for job in state.jobs)) if not ref.is_terminating]


def removals(
    facts: SiteState, state: ReservationState, source: TimetableObject, now: int
) -> Iterator[Action]:
    """Remove everything of an orphaned reservation, or only its windows if git holds it persistently now."""
    since = source.ref.orphaned_since
    if facts.is_persistent(state.reservation):
        why = f"its windows are not in git since {since}"
        texts = [other.ref for other in state.others if other.ref.kind == CONFIG_MAP.name]
        refs = [ref for ref in state.refs() if ref not in texts]
        slots = [slot for slot in state.slots if not slot.is_persistent]
    else:
        why, refs, slots = f"its reservation is not in git since {since}", state.refs(), list(state.slots)
    yield from _remove(state, refs, why)
    yield from _remove_slots(slots, source.ref, why)
    if not facts.are_left_led(state, now):  # its pod would hold them again; the next run finds it gone
        yield from numbers(facts, state, why, now)


def leftovers(facts: SiteState, state: ReservationState, now: int) -> Iterator[Action]:
    """Remove what is left of a reservation without a timetable.

    That is what makes or holds pods or seats, and everything where the sweep prunes. Persistent slots have no
    timetable and are left to whoever prunes. Where an engine prunes, seats stay for one more round, if there
    is an object to write the time on.
    """
    is_known = not facts.prunes or (facts.has_inventory and not facts.is_in_git(state.reservation))
    if facts.unread or not is_known:
        return
    if facts.are_left_led(state, now):
        return
    kinds = (*_POOLS, JOB.name)
    ours = [ref for ref in state.refs() if facts.prunes or ref.kind in kinds]
    ours = [ref for ref in ours if now - ref.created > APPLY_GRACE]
    slots = [slot for slot in state.slots if facts.prunes or not slot.is_persistent]
    slots = [slot for slot in slots if now - slot.ref.created > APPLY_GRACE]
    why = "its reservation has no timetable"
    are_held = any(note_name(target.in_timetable) in facts.held for target in state.targets)
    has_seats = slots or are_held or any(pool.replicas and pool.ref in ours for pool in state.deployments)
    if has_seats and not facts.prunes and (refs := _markable(state)):
        yield from _mark(refs, why, now)
        since = _marked_since(refs, now)
        if since is None or now - since < LOST_DELAY:
            return
    yield from _remove(state, ours, why)
    yield from _remove_slots(slots, None, why)
    yield from numbers(facts, state, why, now)


def outdated_slots(facts: SiteState, state: ReservationState, now: int) -> Iterator[Action]:
    """Remove persistent slots that git no longer has. New ones may be newer than the inventory."""
    if not facts.has_inventory or facts.git.persistent is None or not facts.is_in_git(state.reservation):
        return
    names = facts.git.persistent.get(state.reservation, frozenset())
    slots = [slot for slot in state.slots if slot.is_persistent and slot.slot.name not in names]
    old = [slot for slot in slots if now - slot.ref.created >= REMOVAL_DELAY]
    yield from _remove_slots(old, None, "the inventory does not name them")


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
    listed = facts.git.objects
    if not facts.has_inventory or listed is None or facts.is_orphaned(state.reservation):
        return
    refs = [pool.ref for pool in unnamed if pool.ref.kind == DEPLOYMENT.name and not pool.replicas]
    cronjobs = [cronjob.ref for cronjob in state.cronjobs if cronjob.ref.name != source.ref.name]
    for ref in (*refs, *(ref for ref in cronjobs if (CRON_JOB.name, ref.name) not in listed)):
        if now - max(ref.created, source.changed) >= REMOVAL_DELAY and not ref.is_terminating:
            yield RemoveObject(ref, "its reservation no longer has it")


def _remove(state: ReservationState, refs: Sequence[ObjectRef], why: str) -> Iterator[Action]:
    """Close and remove objects. Deleted ones are closed too: a finalizer may keep them."""
    for pool in state.deployments:
        if pool.ref in refs:
            yield from scale_pool(pool, 0, why)
    for ref in refs:
        if not ref.is_terminating:
            yield RemoveObject(ref, why)


def _remove_slots(slots: Iterable[SlotObject], subject: ObjectRef | None, why: str) -> Iterator[ChangeSlots]:
    """Remove slots, by class. `subject` gets the Event; without one, the first slot does."""
    present = [slot for slot in slots if not slot.ref.is_terminating]
    for name in sorted({slot.resource_class for slot in present}):
        of_class = [slot for slot in present if slot.resource_class == name]
        plan = SlotPlan(drop=tuple(slot.slot for slot in of_class))
        yield ChangeSlots(subject or of_class[0].ref, name, None, plan, why)
