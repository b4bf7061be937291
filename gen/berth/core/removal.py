"""The sweep's decisions about removal: which reservations are orphaned, and what is removed when."""

from collections.abc import Iterable, Iterator, Sequence

from berth.core.actions import Action, MarkOrphaned, RemoveObject
from berth.core.jsonvalues import DAY, instant_or_none, instant_text
from berth.core.objects import CAPACITY_BUFFER, CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, ObjectRef
from berth.core.pooldecision import ChangeSlots, scale_pool
from berth.core.state import ReservationState, SiteState, SlotObject, TimetableObject
from berth.core.timetable import note_name

APPLY_GRACE = 120  # seconds: an engine may apply a timetable after what belongs to it
# Ten minutes: two rounds of the sweep, which never start on the same second.
REMOVAL_DELAY = 600 - 30
RECORD_DELAY = 400 * DAY  # a course that is planned again after a year still finds its record
LOST_DELAY = 300 - 30  # one round, for whoever deletes a timetable by hand: an engine makes it again
_POOLS = (DEPLOYMENT.name, CAPACITY_BUFFER.name)  # the sweep may change and remove these


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
    is_marked = not refs or marked_since(refs, now) is not None
    return [] if is_marked else [MarkOrphaned(refs[0], instant_text(now), why)]


def _unmark(refs: Iterable[ObjectRef], why: str) -> list[MarkOrphaned]:
    return [MarkOrphaned(ref, "", why) for ref in refs if ref.orphaned_since]


def marked_since(refs: Iterable[ObjectRef], now: int) -> int | None:
    """Return since when one of the objects is marked; None without a mark that makes sense."""
    marks = (instant_or_none(ref.orphaned_since) for ref in refs)
    return min((since for since in marks if since is not None and since <= now), default=None)


def _markable(state: ReservationState) -> list[ObjectRef]:
    """Return the objects that the sweep may annotate."""
    pools = [pool.ref for pool in state.pools if pool.ref.kind in _POOLS]
    return [ref for ref in (*pools, *(job.ref for job in state.jobs)) if not ref.is_terminating]


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
    has_seats = slots or are_held or any(pool.replicas and pool.ref in ours for pool in state.pools)
    if has_seats and not facts.prunes and (refs := _markable(state)):
        yield from _mark(refs, why, now)
        since = marked_since(refs, now)
        if since is None or now - since < LOST_DELAY:
            return
    yield from remove(state, ours, why)
    yield from remove_slots(slots, None, why)
    if "numbers" in facts.plugins:
        from berth.plugins.numbers.numbersweep import unnamed_numbers  # noqa: PLC0415 - where a cluster has them

        yield from unnamed_numbers(facts, state, why, now)


def remove(state: ReservationState, refs: Sequence[ObjectRef], why: str) -> Iterator[Action]:
    """Close and remove objects. Deleted ones are closed too: a finalizer may keep them."""
    for pool in state.pools:
        if pool.ref in refs:
            yield from scale_pool(pool, 0, why)
    for ref in refs:
        if not ref.is_terminating:
            yield RemoveObject(ref, why)


def remove_slots(slots: Iterable[SlotObject], subject: ObjectRef | None, why: str) -> Iterator[ChangeSlots]:
    """Remove slots, by class. `subject` gets the Event; without one, the first slot does."""
    present = [slot for slot in slots if not slot.ref.is_terminating]
    if present:
        from berth.plugins.slots.slots import SlotPlan  # noqa: PLC0415 - where a cluster has them
    for name in sorted({slot.resource_class for slot in present}):
        of_class = [slot for slot in present if slot.resource_class == name]
        plan = SlotPlan(drop=tuple(slot.slot for slot in of_class))
        yield ChangeSlots(subject or of_class[0].ref, name, None, plan, why)
