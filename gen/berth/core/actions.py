"""What the sweep does, as values: each action, their order, and the Event that tells it."""

from typing import NamedTuple

from berth.core.jsonvalues import Tree
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NORMAL,
    RIGHTS,
    SCALED,
    WARNING,
    ObjectRef,
    Said,
)
from berth.core.pooldecision import ChangeSlots, ScalePool
from berth.core.state import JobObject

OPENED_EVENT, CLOSED_EVENT = "SweepOpened", "SweepClosed"
STARTED_EVENT, REMOVED_EVENT = "SweepStartedJob", "SweepRemoved"
ORPHANED_EVENT, RESTORED_EVENT = "SweepGone", "SweepBack"
# What makes pods goes before the pods; the timetable goes last, so that a removal that was cut short goes on.
_REMOVAL_ORDER = tuple(kind.name for kind in (CRON_JOB, JOB, *SCALED, *RIGHTS, CONFIG_MAP))


class StartJob(NamedTuple):
    """Start a Job of an occurrence."""

    ref: ObjectRef  # the timetable that will own the Job
    site: str
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
    version: str = ""  # that it must have


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
            order = 0 if action.to and not action.closes else 1
        case ChangeSlots(slots=None):  # after what could make them again
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


def describe_action(action: Action) -> Said:
    """Return type, reason and message of the action's Event."""
    kind = NORMAL
    match action:
        case ScalePool():
            reason = OPENED_EVENT if action.to and not action.closes else CLOSED_EVENT
            what = f"Scaled from {action.pool.replicas} to {action.to}"
            if number := action.pool.number.foreign:
                where = number.text
                what = f"Set {where} from {action.pool.replicas} to {action.to}"
                if action.is_lost:
                    kind, what = WARNING, f"Left {where} at {action.to}, as nobody knows what it was before"
        case ChangeSlots():
            plan = action.plan
            reason = OPENED_EVENT if plan.make else CLOSED_EVENT
            done = (("made", len(plan.make)), ("removed", len(plan.drop) + len(plan.remove)))
            what = " and ".join(
                f"{verb} {number} slot{'' if number == 1 else 's'} of {action.resource_class}"
                for verb, number in done
                if number
            )
            what = what[:1].upper() + what[1:]
        case StartJob():
            reason = STARTED_EVENT
            what = f"{'Made again' if action.replaced else 'Started'} Job {action.name}"
        case MarkOrphaned():
            reason = ORPHANED_EVENT if action.since else RESTORED_EVENT
            what = "To be removed soon" if action.since else "No longer to be removed"
        case RemoveObject():
            reason, what = REMOVED_EVENT, f"Removed {action.ref.kind} {action.ref.name}"
    return kind, reason, f"{what}: {action.why}."
