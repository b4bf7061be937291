"""How the sweep carries out its actions and sends their Events.

Each action runs alone: a failure is logged and the others still run. An action applies to the
state it was decided on; if somebody else has changed the object since, it does nothing.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from berth.core import labels
from berth.core.actions import Action, MarkOrphaned, RemoveObject, StartJob, SweepWarning, describe_action
from berth.core.jsonvalues import Tree, part
from berth.core.leases import parse_lease
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    EVENT,
    JOB,
    LEASE,
    RIGHTS,
    SCALED,
    WARNING,
    EventSubject,
    make_event,
)
from berth.core.pooldecision import ChangeSlots, ScalePool
from berth.core.poolobjects import ObjectRef
from berth.core.state import ORPHANED_SINCE, SiteState
from berth.runtime.apiclient import ApiError
from berth.runtime.program import RuntimeContext

KIND_BY_NAME = {kind.name: kind for kind in (CONFIG_MAP, CRON_JOB, *SCALED, JOB, *RIGHTS)}
_LOG_EVENTS = {  # of the log
    ScalePool: "scale",
    StartJob: "start",
    MarkOrphaned: "mark",
    RemoveObject: "remove",
    ChangeSlots: "slots",
}
ACTION_SECONDS = 200.0  # from the start, in which actions begin; the last write may take half a minute
DELETION_CHECKS = 10  # at a Job that was deleted, half a second apart, until its name is free


class ActionRunner:
    """Carries out actions and sends Events."""

    def __init__(self, context: RuntimeContext, facts: SiteState, began: float) -> None:
        """`began` is when the sweep did, in seconds since the epoch."""
        self._context, self.facts, self._began = context, facts, began
        self._broken: set[str] = set()  # reservations of which something failed
        self.failed = 0
        self.done: Counter[str] = Counter()  # by the reason of its Event

    def has_time(self) -> bool:
        """Return whether another action may begin."""
        return self._context.now() - self._began < ACTION_SECONDS

    def act(self, actions: Iterable[Action]) -> None:
        """Carry out all actions in this order, then send their Events."""
        acted = [action for action in actions if self._try(action)]
        for action in acted:
            kind, reason, message = describe_action(action)
            for ref in self.facts.subjects(action.ref):
                self._tell(ref, make_event(self._subject(ref), kind, reason, message, self._context.now()))

    def warn(self, warnings: Iterable[SweepWarning]) -> None:
        """Log each warning, and send it once: if it was sent before, an Event of its name exists.

        Accounts of reservations can make Events, so one that exists keeps nothing from the log.
        """
        for warning in warnings:
            facts = {"reservation": warning.ref.reservation, "name": warning.ref.name}
            self._context.log.error("warn", **facts, reason=warning.reason, message=warning.message)
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
            if not self.has_time():
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
        if isinstance(action, ScalePool | ChangeSlots) and action.lease and self._is_led(action.lease):
            return False
        match action:
            case ScalePool():
                return self._scale(action)
            case StartJob():
                self._start(action)
                return True
            case MarkOrphaned():
                mark: Tree = {"metadata": {"annotations": {ORPHANED_SINCE: action.since or None}}}
                return bool(api.patch(KIND_BY_NAME[ref.kind], namespace, ref.name, mark))
            case RemoveObject():
                is_same = {"resourceVersion": action.version} if action.version else {}
                return api.delete(KIND_BY_NAME[ref.kind], namespace, ref.name, uid=ref.uid, **is_same)
            case ChangeSlots():
                return self._change_slots(action)

    def _is_led(self, name: str) -> bool:
        """Return whether a scaler has taken the Lease since it was listed."""
        lease = self._context.api.find(LEASE, self._context.namespace, name)
        return lease is not None and parse_lease(lease).is_valid(int(self._context.now()))

    def _scale(self, action: ScalePool) -> bool:
        """Write the number of a pool; return False if somebody else has done so, or it is gone."""
        api, namespace = self._context.api, self._context.namespace
        if action.pool.number.foreign:
            from berth.plugins.numbers.numberwrites import write_last  # noqa: PLC0415 - where a cluster has them

            return write_last(api, namespace, action)
        try:
            api.set_replicas(namespace, action.pool, int(action.to))
        except ApiError as error:
            if error.is_gone():
                return False
            raise
        return True

    def _change_slots(self, action: ChangeSlots) -> bool:
        """Make and remove slots; return False if others have done all of it."""
        from berth.plugins.slots.slotwrites import apply_plan  # noqa: PLC0415 - where a cluster has them

        context = self._context
        done = apply_plan(context.api, action.slots, action.plan, context.now, lambda _: self.has_time())
        if done.is_cut:
            number = len(done.made) + len(done.removed)
            raise ApiError(0, "DeadlineExceeded", f"{number} of {action.plan.writes} are done")
        return bool(done.made or done.removed)

    def _start(self, action: StartJob) -> None:
        api, namespace = self._context.api, self._context.namespace
        if action.replaced:
            api.delete(JOB, namespace, action.name, uid=action.replaced.ref.uid)
        for _ in range(DELETION_CHECKS):
            job = api.find(JOB, namespace, action.name)
            if job is None:
                break
            self._check_ours(action, job)
            self._context.wait(0.5)
        else:
            raise ApiError(409, "NotDeleted", f"the Job {action.name} is still there")
        api.apply(JOB, namespace, action.name, _job_object(self.facts.site, namespace, action))

    def _check_ours(self, action: StartJob, job: Tree) -> None:
        """Raise ApiError for a Job that is not the one the decision was about."""
        uid = part(job, "metadata").get("uid")
        if action.replaced is None or uid != action.replaced.ref.uid:
            raise ApiError(409, "NotOwned", f"there is another Job {action.name}; delete or rename it")

    def _subject(self, ref: ObjectRef) -> EventSubject:
        return EventSubject(self._context.namespace, ref.name, ref.uid, KIND_BY_NAME[ref.kind])

    def _tell(self, ref: ObjectRef, tree: Tree, warning: SweepWarning | None = None) -> None:
        context = self._context
        try:
            if not self.has_time():
                raise ApiError(0, "DeadlineExceeded", "not told")
            is_new = context.api.create(EVENT, context.namespace, tree)
        except Exception as error:
            self.failed += 1
            context.log.trouble(f"event {tree['reason']} of {ref.name}", error)
            return
        if warning and is_new:
            self.done[warning.reason] += 1


def _job_object(site: str, namespace: str, action: StartJob) -> Tree:
    """Return a Job like that of the CronJob, with the labels of Berth."""
    ref, kept = action.ref, part(action.template, "metadata")
    ours = {labels.SITE: site, labels.RESERVATION: ref.reservation, labels.ROLE: labels.OCCURRENCE}
    owner = {"apiVersion": CONFIG_MAP.version, "kind": CONFIG_MAP.name, "name": ref.name, "uid": ref.uid}
    return {
        "metadata": {
            "name": action.name,
            "namespace": namespace,
            "labels": {**part(kept, "labels"), **ours},
            "annotations": part(kept, "annotations"),
            "ownerReferences": [owner],
        },
        "spec": action.template.get("spec"),
    }


def _event_name(warning: SweepWarning) -> str:
    """Return the name of the Event, equal for equal warnings."""
    key = f"{warning.ref.uid} {warning.reason} {warning.key}"
    return f"{warning.ref.name[:50]}.{sha256(key.encode()).hexdigest()[:16]}"
