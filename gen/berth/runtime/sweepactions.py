"""The actions of the sweep: their order, their Events, and how each is carried out.

Each action runs alone: a failure is logged and the others still run. An action applies to the state it was
decided on; if somebody else has changed the object since, it does nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from berth.core import labels
from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    NORMAL,
    ROLE,
    ROLE_BINDING,
    SCALED,
    WARNING,
    EventSubject,
    make_event,
)
from berth.runtime.apiclient import Api, ApiError, apply_object, delete_object, get_object
from berth.runtime.program import Log
from berth.runtime.reconciler import ATTEMPTS
from berth.runtime.sweepstate import ORPHANED_SINCE, JobObject, ObjectRef, PoolObject, SiteState

if TYPE_CHECKING:
    from berth.core.slots import Slot

OPENED_EVENT, CLOSED_EVENT, STARTED_EVENT, REMOVED_EVENT = (
    "SweepOpened",
    "SweepClosed",
    "SweepStartedJob",
    "SweepRemoved",
)
ORPHANED_EVENT, RESTORED_EVENT = "SweepGone", "SweepBack"
# What makes pods goes before the pods; the timetable goes last, so that a removal that was cut short goes on.
_REMOVAL_ORDER = tuple(kind.name for kind in (CRON_JOB, JOB, *SCALED, ROLE_BINDING, ROLE, CONFIG_MAP))


class ScalePool(NamedTuple):
    """Scale a pool."""

    deployment: PoolObject
    to: int
    why: str

    @property
    def ref(self) -> ObjectRef:
        return self.deployment.ref


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


class MakeSlots(NamedTuple):
    """Make slots of a pool. `ref` is the timetable, which gets the Event."""

    ref: ObjectRef
    resource_class: str
    slots: "SlotSpec"
    names: tuple[str, ...]
    expires: int
    why: str


class RemoveSlots(NamedTuple):
    """Remove slots of a class. `ref` gets the Event: the timetable, or the first slot."""

    ref: ObjectRef
    resource_class: str
    slots: "tuple[Slot, ...]"
    why: str
    is_last: bool = False  # it waits for what could make them again to be removed


Action = ScalePool | StartJob | MarkOrphaned | RemoveObject | MakeSlots | RemoveSlots


class SweepWarning(NamedTuple):
    """A Warning, sent once for each `key` until the API server drops Events (default: one hour)."""

    ref: ObjectRef  # that people look at
    reason: str
    message: str
    key: str


def action_order(action: Action) -> tuple[int, int, str, str]:
    """Return the sort key of an action: open seats first, then start Jobs, then remove."""
    place = 0
    match action:
        case ScalePool():
            order = 0 if action.to else 2
        case StartJob():
            order = 1
        case MarkOrphaned():
            order = 3
        case RemoveObject():
            order, place = 4, _REMOVAL_ORDER.index(action.ref.kind)
        case MakeSlots():
            order = 0
        case RemoveSlots():
            order, place = (4, _REMOVAL_ORDER.index(DEPLOYMENT.name)) if action.is_last else (2, 0)
    return order, place, action.ref.reservation, action.ref.name


def describe_action(action: Action) -> tuple[str, str, str]:
    """Return type, reason and message of the action's Event."""
    match action:
        case ScalePool():
            what = f"Scaled from {action.deployment.replicas} to {action.to}"
            return NORMAL, OPENED_EVENT if action.to else CLOSED_EVENT, f"{what}: {action.why}."
        case StartJob():
            verb = "Made again" if action.replaced else "Started"
            return NORMAL, STARTED_EVENT, f"{verb} Job {action.name}: {action.why}."
        case MarkOrphaned():
            what = "To be removed soon" if action.since else "No longer to be removed"
            return NORMAL, ORPHANED_EVENT if action.since else RESTORED_EVENT, f"{what}: {action.why}."
        case RemoveObject():
            return NORMAL, REMOVED_EVENT, f"Removed {action.ref.kind} {action.ref.name}: {action.why}."
        case MakeSlots():
            return (
                NORMAL,
                OPENED_EVENT,
                f"Made {_slots(len(action.names), action.resource_class)}: {action.why}.",
            )
        case RemoveSlots():
            what = f"Removed {_slots(len(action.slots), action.resource_class)}"
            return NORMAL, CLOSED_EVENT, f"{what}: {action.why}."


def _slots(number: int, resource_class: str) -> str:
    return f"{number} slot{'' if number == 1 else 's'} of {resource_class}"


KIND_BY_NAME = {kind.name: kind for kind in (CONFIG_MAP, CRON_JOB, *SCALED, JOB, ROLE, ROLE_BINDING)}
_LOG_EVENTS = {  # of the log
    ScalePool: "scale",
    StartJob: "start",
    MarkOrphaned: "mark",
    RemoveObject: "remove",
    MakeSlots: "make",
    RemoveSlots: "remove",
}
DELETION_CHECKS = 10  # at a Job that was deleted, half a second apart, until its name is free


class SweepContext(NamedTuple):
    """What actions need. `has_time` returns whether another one may begin."""

    api: Api
    namespace: str
    log: Log
    now: Callable[[], float]
    wait: Callable[[float], object]
    has_time: Callable[[], bool]


class ActionRunner:
    """Carries out actions and sends Events."""

    def __init__(self, context: SweepContext, facts: SiteState) -> None:
        self._context = context
        self._facts = facts
        self._broken: set[str] = set()  # reservations of which something failed
        self.failed = 0
        self.done: Counter[str] = Counter()  # by the reason of its Event

    def act(self, actions: Iterable[Action]) -> None:
        """Carry out all actions in this order, then send their Events."""
        acted = [action for action in actions if self._try(action)]
        for action in acted:
            kind, reason, message = describe_action(action)
            for ref in _event_targets(self._facts, action.ref):
                self._tell(ref, make_event(self._subject(ref), kind, reason, message, self._context.now()))

    def warn(self, warnings: Iterable[SweepWarning]) -> None:
        """Send each warning once: if it was sent before, an Event of its name exists."""
        for warning in warnings:
            subject = self._subject(warning.ref)
            tree = make_event(subject, WARNING, warning.reason, warning.message, self._context.now())
            name = _event_name(warning)
            named = {**tree, "metadata": {"name": name, "namespace": subject.namespace}}
            self._tell(warning.ref, named, warning)

    def _try(self, action: Action) -> bool:
        """Carry out an action; return whether this run did it."""
        context, ref = self._context, action.ref
        if (
            ref.kind == CONFIG_MAP.name
            and isinstance(action, RemoveObject)
            and ref.reservation in self._broken
        ):
            return False  # it is what the next run knows the rest by
        try:
            if not context.has_time():
                raise ApiError(0, "DeadlineExceeded", "the next run continues")
            is_done = self._do(action)
        except Exception as error:
            self._broken.add(ref.reservation)
            self.failed += 1
            context.log.trouble(f"{_LOG_EVENTS[type(action)]} {ref.kind} {ref.name}", error)
            return False
        _, reason, message = describe_action(action)
        facts = {"reservation": ref.reservation, "name": ref.name, "reason": reason, "message": message}
        context.log.info(_LOG_EVENTS[type(action)] if is_done else "left", **facts)
        if is_done:
            self.done[reason] += 1
        return is_done

    def _do(self, action: Action) -> bool:
        api, namespace, ref = self._context.api, self._context.namespace, action.ref
        match action:
            case ScalePool():
                return self._scale(action)
            case StartJob():
                self._start(action)
                return True
            case MarkOrphaned():
                api.annotate(
                    KIND_BY_NAME[ref.kind], namespace, ref.name, {ORPHANED_SINCE: action.since or None}
                )
                return True
            case RemoveObject():
                return delete_object(api, KIND_BY_NAME[ref.kind], namespace, ref.name, uid=ref.uid)
            case MakeSlots() | RemoveSlots():
                return self._carry_out(action)

    def _scale(self, action: ScalePool) -> bool:
        """Scale a pool; return False if somebody else has scaled it, or it is gone."""
        api, namespace, name = self._context.api, self._context.namespace, action.ref.name
        version, kind = action.deployment.resource_version, KIND_BY_NAME[action.ref.kind]
        for _ in range(ATTEMPTS):
            try:
                api.scale(namespace, name, action.to, version, kind)
                return True
            except ApiError as error:
                if error.is_gone():
                    return False
                if not error.is_conflict():
                    raise
            # Not only people write to a Deployment: its status is news too.
            found = api.get_scale(namespace, name, kind)
            if found.replicas != action.deployment.replicas:
                return False
            version = found.resource_version
        raise ApiError(409, "Conflict", "it keeps changing")

    def _carry_out(self, action: MakeSlots | RemoveSlots) -> bool:
        """Make or remove slots; return False if others have done all of it."""
        from berth.core.slots import SlotPlan  # noqa: PLC0415
        from berth.runtime.slotreconciler import apply_plan  # noqa: PLC0415 (is there only where a cluster has slots)

        context = self._context
        if isinstance(action, MakeSlots):
            slots, plan = action.slots, SlotPlan(make=action.names, expires=action.expires)
        else:
            slots, plan = None, SlotPlan(drop=action.slots)
        done = apply_plan(context.api, slots, plan, context.now, lambda _: context.has_time())
        if done.is_cut:
            raise ApiError(
                0, "DeadlineExceeded", f"{len(done.made) + len(done.removed)} of {plan.writes} are done"
            )
        return bool(done.made or done.removed)

    def _start(self, action: StartJob) -> None:
        api, namespace = self._context.api, self._context.namespace
        if action.replaced:
            delete_object(api, JOB, namespace, action.name, uid=action.replaced.ref.uid)
        for _ in range(DELETION_CHECKS):
            found = get_object(api, JOB, namespace, action.name)
            if found is None:
                break
            self._check_ours(action, found)
            self._context.wait(0.5)
        else:
            raise ApiError(409, "NotDeleted", f"the Job {action.name} is still there")
        apply_object(api, JOB, namespace, action.name, _job_object(self._facts.site, namespace, action))

    def _check_ours(self, action: StartJob, found: Tree) -> None:
        """Raise ApiError for a Job that is not the one the decision was about."""
        metadata = found.get("metadata")
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        if action.replaced is None or uid != action.replaced.ref.uid:
            raise ApiError(409, "NotOwned", f"there is another Job {action.name}; delete or rename it")

    def _subject(self, ref: ObjectRef) -> EventSubject:
        return EventSubject(self._context.namespace, ref.name, ref.uid, KIND_BY_NAME[ref.kind])

    def _tell(self, ref: ObjectRef, tree: Tree, warning: SweepWarning | None = None) -> None:
        context = self._context
        try:
            if not context.has_time():
                raise ApiError(0, "DeadlineExceeded", "not told")
            context.api.tell(context.namespace, tree)
        except Exception as error:
            if warning and isinstance(error, ApiError) and error.reason == "AlreadyExists":
                return
            self.failed += 1
            context.log.trouble(f"event {tree['reason']} of {ref.name}", error)
            return
        if warning:
            self.done[warning.reason] += 1
            facts = {"reservation": ref.reservation, "name": ref.name}
            context.log.error("warn", **facts, reason=warning.reason, message=warning.message)


def _job_object(site: str, namespace: str, action: StartJob) -> Tree:
    """Return a Job like that of the CronJob, with the labels of Berth."""
    metadata = action.template.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    known = {
        labels.SITE: site,
        labels.RESERVATION: action.ref.reservation,
        labels.ROLE: labels.OCCURRENCE,
    }
    owner = {
        "apiVersion": CONFIG_MAP.version,
        "kind": CONFIG_MAP.name,
        "name": action.ref.name,
        "uid": action.ref.uid,
    }
    return {
        "metadata": {
            "name": action.name,
            "namespace": namespace,
            "labels": {**(kept.get("labels") or {}), **known},
            "annotations": kept.get("annotations") or {},
            "ownerReferences": [owner],
        },
        "spec": action.template.get("spec"),
    }


def _event_targets(facts: SiteState, ref: ObjectRef) -> list[ObjectRef]:
    """Return the objects that get the Event: the Deployment itself, those of the reservation, or its
    timetable.
    """
    if ref.kind == DEPLOYMENT.name:
        return [ref]
    found = [one.ref for one in facts.deployments if one.ref.kind == DEPLOYMENT.name]
    some = (found, [one.ref for one in facts.sources])
    ours = ([one for one in refs if one.reservation == ref.reservation] for refs in some)
    return next((refs for refs in ours if refs), [])


def _event_name(warning: SweepWarning) -> str:
    """Return the name of the Event, equal for equal warnings."""
    from hashlib import sha256  # noqa: PLC0415 (seldom needed, and not small)

    key = f"{warning.ref.uid} {warning.reason} {warning.key}"
    return f"{warning.ref.name[:50]}.{sha256(key.encode()).hexdigest()[:16]}"
