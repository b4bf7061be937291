"""Carries out actions: one at a time for the scaler, all of a run for the sweep, which sends their Events.

An action applies to the state it was decided on; if somebody else has changed the object since, it does
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from berth.core import labels
from berth.core.actions import Action, MarkOrphaned, RemoveObject, StartJob, SweepWarning, describe_action
from berth.core.jsonvalues import Tree, part
from berth.core.leases import parse_lease
from berth.core.objects import CONFIG_MAP, EVENT, JOB, KIND_BY_NAME, LEASE, WARNING, Said, make_event
from berth.core.pooldecision import ChangeSlots, ScalePool
from berth.core.state import ORPHANED_SINCE
from berth.runtime.apiclient import ApiError

if TYPE_CHECKING:
    from berth.core.objects import ObjectRef
    from berth.core.poolobjects import PoolObject
    from berth.core.state import SiteState
    from berth.plugins.slots.slotwrites import PlanResult
    from berth.runtime.program import RuntimeContext

DELETION_CHECKS = 10  # at a Job that was deleted, half a second apart, until its name is free
_LOG_EVENTS = {  # of the log
    ScalePool: "scale",
    StartJob: "start",
    MarkOrphaned: "mark",
    RemoveObject: "remove",
    ChangeSlots: "slots",
}
ACTION_SECONDS = 200.0  # from the start, in which actions begin; the last write may take half a minute


class Outcome(NamedTuple):
    """What came of an action."""

    is_done: bool  # False: somebody else has done it, or has changed what it was about
    object: PoolObject | None = None  # of a pool that was scaled, as it stands then
    slots: PlanResult | None = None  # what was written


def carry_out(
    context: RuntimeContext, action: Action, may_go_on: Callable[[int], bool] = lambda _: True
) -> Outcome:
    """Carry out an action. Raises ApiError, also for a pool that is gone.

    `may_go_on` is asked between writes to slots, with the number of attempts.
    """
    api, namespace, ref = context.api, context.namespace, action.ref
    match action:
        case ScalePool() if action.pool.number.foreign:
            from berth.plugins.numbers.numberwrites import write_last  # noqa: PLC0415 - where a cluster has them

            written = write_last(api, namespace, action)
            return Outcome(written is not None, written)
        case ScalePool():
            if action.leaving:
                from berth.plugins.slots.slotwrites import leave_slots  # noqa: PLC0415 - as above

                leave_slots(api, action.leaving, context.wait)
            return Outcome(True, api.set_replicas(namespace, action.pool, int(action.to)))
        case ChangeSlots():
            from berth.plugins.slots.slotwrites import apply_plan  # noqa: PLC0415 - where a cluster has them

            done = apply_plan(api, action.slots, action.plan, context.now, may_go_on)
            return Outcome(bool(done.made or done.removed), slots=done)
        case StartJob():
            _start(context, action)
            return Outcome(True)
        case MarkOrphaned():
            mark: Tree = {"metadata": {"annotations": {ORPHANED_SINCE: action.since or None}}}
            return Outcome(bool(api.patch(KIND_BY_NAME[ref.kind], namespace, ref.name, mark)))
        case RemoveObject():
            is_same = {"resourceVersion": action.version} if action.version else {}
            return Outcome(api.delete(KIND_BY_NAME[ref.kind], namespace, ref.name, uid=ref.uid, **is_same))


def _start(context: RuntimeContext, action: StartJob) -> None:
    api, namespace = context.api, context.namespace
    if action.replaced:
        api.delete(JOB, namespace, action.name, uid=action.replaced.ref.uid)
    for _ in range(DELETION_CHECKS):
        job = api.find(JOB, namespace, action.name)
        if job is None:
            break
        _check_ours(action, job)
        context.wait(0.5)
    else:
        raise ApiError(409, "NotDeleted", f"the Job {action.name} is still there")
    api.apply(JOB, namespace, action.name, _job_object(namespace, action))


def _check_ours(action: StartJob, job: Tree) -> None:
    """Raise ApiError for a Job that is not the one the decision was about."""
    uid = part(job, "metadata").get("uid")
    if action.replaced is None or uid != action.replaced.ref.uid:
        raise ApiError(409, "NotOwned", f"there is another Job {action.name}; delete or rename it")


def _job_object(namespace: str, action: StartJob) -> Tree:
    """Return a Job like that of the CronJob, with the labels of Berth."""
    ref, kept = action.ref, part(action.template, "metadata")
    ours = {labels.SITE: action.site, labels.RESERVATION: ref.reservation, labels.ROLE: labels.OCCURRENCE}
    return {
        "metadata": {
            "name": action.name,
            "namespace": namespace,
            "labels": {**part(kept, "labels"), **ours},
            "annotations": part(kept, "annotations"),
            "ownerReferences": [ref.as_owner],
        },
        "spec": action.template.get("spec"),
    }


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
            said = describe_action(action)
            for ref in self.facts.subjects(action.ref):
                self._tell(ref, said)

    def warn(self, warnings: Iterable[SweepWarning]) -> None:
        """Log each warning, and send it once: if it was sent before, an Event of its name exists.

        Accounts of reservations can make Events, so one that exists keeps nothing from the log.
        """
        for warning in warnings:
            facts = {"reservation": warning.ref.reservation, "name": warning.ref.name}
            self._context.log.error("warn", **facts, reason=warning.reason, message=warning.message)
            self._tell(warning.ref, (WARNING, warning.reason, warning.message), _event_name(warning))

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
        if isinstance(action, ScalePool | ChangeSlots) and action.lease and self._is_led(action.lease):
            return False
        try:
            outcome = carry_out(self._context, action, lambda _: self.has_time())
        except ApiError as error:
            if isinstance(action, ScalePool) and error.is_gone():
                return False
            raise
        if isinstance(action, ChangeSlots) and outcome.slots and outcome.slots.is_cut:
            number = len(outcome.slots.made) + len(outcome.slots.removed)
            raise ApiError(0, "DeadlineExceeded", f"{number} of {action.plan.writes} are done")
        return outcome.is_done

    def _is_led(self, name: str) -> bool:
        """Return whether a scaler has taken the Lease since it was listed."""
        lease = self._context.api.find(LEASE, self._context.namespace, name)
        return lease is not None and parse_lease(lease).is_valid(int(self._context.now()))

    def _tell(self, ref: ObjectRef, said: Said, name: str = "") -> None:
        """Send an Event; one with a name is sent once."""
        context = self._context
        tree = make_event(context.namespace, ref, said, context.now())
        if name:
            tree["metadata"] = {"name": name, "namespace": context.namespace}
        try:
            if not self.has_time():
                raise ApiError(0, "DeadlineExceeded", "not told")
            is_new = context.api.create(EVENT, context.namespace, tree)
        except Exception as error:
            self.failed += 1
            context.log.trouble(f"event {said[1]} of {ref.name}", error)
            return
        if name and is_new:
            self.done[said[1]] += 1


def _event_name(warning: SweepWarning) -> str:
    """Return the name of the Event, equal for equal warnings."""
    from hashlib import sha256  # noqa: PLC0415 - half a MiB, and the scaler needs none

    key = f"{warning.ref.uid} {warning.reason} {warning.key}"
    return f"{warning.ref.name[:50]}.{sha256(key.encode()).hexdigest()[:16]}"
