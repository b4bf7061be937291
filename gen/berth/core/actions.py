"""What programs in the cluster do, as values: each action, the Event that tells it, and what a pool needs.

`decide_pool` is the decision that scaler and sweep share: what to do so that a pool stands as desired.
"""

from collections.abc import Iterator
from typing import NamedTuple

from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, NORMAL, RIGHTS, SCALED
from berth.core.slots import Slot, SlotCounts, SlotPlan, bridging_placeholders, plan_slots, slot_demand
from berth.core.state import JobObject, ObjectRef, PoolObject
from berth.core.target import DesiredState, PoolTarget

OPENED_EVENT, CLOSED_EVENT = "SweepOpened", "SweepClosed"
STARTED_EVENT, REMOVED_EVENT = "SweepStartedJob", "SweepRemoved"
ORPHANED_EVENT, RESTORED_EVENT = "SweepGone", "SweepBack"
# What makes pods goes before the pods; the timetable goes last, so that a removal that was cut short goes on.
_REMOVAL_ORDER = tuple(kind.name for kind in (CRON_JOB, JOB, *SCALED, *RIGHTS, CONFIG_MAP))


class ScalePool(NamedTuple):
    """Scale a Deployment or NodePool."""

    pool: PoolObject
    to: int
    why: str

    @property
    def ref(self) -> ObjectRef:
        return self.pool.ref


class ChangeSlots(NamedTuple):
    """Make, renew and remove slots of a class."""

    ref: ObjectRef  # which gets the Event: the timetable, or a slot
    resource_class: str
    slots: SlotSpec | None  # of those that are made
    plan: SlotPlan
    why: str
    is_last: bool = False  # it waits for what could make them again to be removed


class StartJob(NamedTuple):
    """Start a Job of an occurrence."""

    ref: ObjectRef  # the timetable that will own the Job
    name: str
    template: Tree
    replaced: JobObject | None  # of that name, which has to go first
    why: str


class MarkOrphaned(NamedTuple):
    """Write since when a reservation is orphaned; an empty `since` removes the mark."""

    ref: ObjectRef
    since: str
    why: str


class RemoveObject(NamedTuple):
    """Delete an object."""

    ref: ObjectRef
    why: str


Action = ScalePool | ChangeSlots | StartJob | MarkOrphaned | RemoveObject


class SweepWarning(NamedTuple):
    """A Warning, sent once for each `key` until the API server drops Events (default: one hour)."""

    ref: ObjectRef  # that people look at
    reason: str
    message: str
    key: str


def action_order(action: Action) -> tuple[int, int, str, str]:
    """Return the sort key of an action: open, close, start Jobs (which may wait), remove."""
    place = 0
    match action:
        case ScalePool():
            order = 0 if action.to else 1
        case ChangeSlots(is_last=True):
            order, place = 4, _REMOVAL_ORDER.index(DEPLOYMENT.name)
        case ChangeSlots():
            order = 0 if action.plan.make else 1
        case StartJob():
            order = 2
        case MarkOrphaned():
            order = 3
        case RemoveObject():
            order, place = 4, _REMOVAL_ORDER.index(action.ref.kind)
    return order, place, action.ref.reservation, action.ref.name


def describe_action(action: Action) -> tuple[str, str, str]:
    """Return type, reason and message of the action's Event."""
    match action:
        case ScalePool():
            reason = OPENED_EVENT if action.to else CLOSED_EVENT
            what = f"Scaled from {action.pool.replicas} to {action.to}"
        case ChangeSlots():
            plan = action.plan
            reason = OPENED_EVENT if plan.make else CLOSED_EVENT
            done = (("Made", len(plan.make)), ("Removed", len(plan.drop) + len(plan.remove)))
            what = " and ".join(
                f"{verb.lower() if n else verb} {_slots(number, action.resource_class)}"
                for n, (verb, number) in enumerate(one for one in done if one[1])
            )
        case StartJob():
            reason = STARTED_EVENT
            what = f"{'Made again' if action.replaced else 'Started'} Job {action.name}"
        case MarkOrphaned():
            reason = ORPHANED_EVENT if action.since else RESTORED_EVENT
            what = "To be removed soon" if action.since else "No longer to be removed"
        case RemoveObject():
            reason, what = REMOVED_EVENT, f"Removed {action.ref.kind} {action.ref.name}"
    return NORMAL, reason, f"{what}: {action.why}."


def _slots(number: int, resource_class: str) -> str:
    return f"{number} slot{'' if number == 1 else 's'} of {resource_class}"


class PoolFound(NamedTuple):
    """What was found of a pool. `object` is its Deployment or NodePool, None if there is none."""

    object: PoolObject | None
    slots: SlotCounts = SlotCounts()
    settled: int = 0  # sessions that own no slot and had enough time to take one


class PoolDecision(NamedTuple):
    """What a pool should have, free slots where slots hold it, and what to do."""

    target: PoolTarget
    actions: tuple[ScalePool | ChangeSlots, ...]
    is_busy: bool = False  # slots are being replaced: look again soon


def decide_pool(ref: ObjectRef, found: PoolFound, desired: DesiredState, why: str = "") -> PoolDecision:
    """Decide what to do so that a pool stands as desired.

    `ref` is the timetable, and `why` the reason of all actions, where the caller knows it. Placeholders that
    bridge the time until slots are available are scaled first. Once nothing of the pool is open, all its
    slots are dropped.
    """
    pool, stands = desired.target.pool, found.object
    if pool.slots is None:
        wanted = desired.target.replicas
        scales = stands is not None and stands.replicas != wanted
        return PoolDecision(desired.target, (ScalePool(stands, wanted, why),) if stands and scales else ())
    actions: list[ScalePool | ChangeSlots] = []
    demand = slot_demand(desired, sum(found.slots.owners.values()), found.settled)
    ready = 0
    if pool.slots.placeholders and stands:
        number, reason, ready = 0, "closed", stands.ready
        if demand.expires is not None:
            number = bridging_placeholders(
                found.slots, pool.slots, demand.wanted, stands.replicas, desired.now
            )
            reason = f"{number} seats wait for slots" if number else "no seat waits for a slot"
        if number != stands.replicas:
            actions.append(ScalePool(stands, number, why or reason))
    plan = plan_slots(found.slots, pool.slots, demand, desired.now, ready)
    if plan.writes:
        actions.append(ChangeSlots(ref, pool.resource_class, pool.slots, plan, why))
    return PoolDecision(demand.target, tuple(actions), plan.is_busy)


def close_slots(
    ref: ObjectRef, resource_class: str, slots: tuple[Slot, ...], why: str, *, is_last: bool = False
) -> Iterator[ChangeSlots]:
    """Yield the removal of these slots, except those that are being deleted."""
    present = tuple(slot for slot in slots if not slot.is_terminating)
    if present:
        yield ChangeSlots(ref, resource_class, None, SlotPlan(drop=present), why, is_last)
