"""How actions are carried out: writes to slots, and those of the sweep with their Events.

Each action of the sweep runs alone: a failure is logged and the others still run. An action applies to the
state it was decided on; if somebody else has changed the object since, it does nothing.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from berth.core import labels
from berth.core.actions import (
    Action,
    ChangeSlots,
    MarkOrphaned,
    RemoveObject,
    ScalePool,
    StartJob,
    SweepWarning,
    describe_action,
)
from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree, part
from berth.core.objectreading import parse_held
from berth.core.objects import (
    CONFIG_MAP,
    CRON_JOB,
    EVENT,
    JOB,
    POD,
    RIGHTS,
    SCALED,
    SLOT,
    WARNING,
    EventSubject,
    make_event,
)
from berth.core.slots import (
    ALLOCATED,
    Slot,
    SlotOwner,
    SlotPlan,
    parse_slot,
    slot_lifetime,
    slot_object,
    slot_selector,
)
from berth.core.state import ORPHANED_SINCE, ObjectRef, PoolObject, SiteState
from berth.runtime.apiclient import Api, ApiError
from berth.runtime.program import RuntimeContext
from berth.runtime.watch import Collection, list_objects, run_all

LEAVING_SECONDS = 0.5  # ten times what the scheduler needs
ATTEMPTS = 10  # at a scale whose object others keep changing: pods that leave change its status


def write_number(api: Api, namespace: str, action: ScalePool) -> PoolObject:
    """Write the number of a pool and return how it stands then.

    What the number of somebody else was is noted before, and the note is removed once it is that again. A
    note that is written anew meanwhile stays, so that no number is held without one. What is noted first was
    there before and after the look for a note: what others hold is never taken for what was there before.
    """
    pool, held = action.pool, action.pool.held
    if action.note:
        if not pool.is_noted and api.get_scale(namespace, pool).resource_version != pool.resource_version:
            raise ApiError(409, "Conflict", "it has changed")
        api.apply(CONFIG_MAP, namespace, str(part(action.note, "metadata")["name"]), action.note)
        pool = pool._replace(held=parse_held(pool.ref, action.note))
    if action.is_needed:
        pool = api.set_number(namespace, pool, action.value if pool.tree else action.to)
    if action.closes and held:
        is_same = {"uid": held.ref.uid, "resourceVersion": held.version}
        if not api.delete(CONFIG_MAP, namespace, held.ref.name, **is_same):
            raise ApiError(409, "Conflict", "it is held again")
        pool = pool._replace(held=None)
    return pool


class PlanResult(NamedTuple):
    """The names of what was made, renewed and removed, by us or by somebody else meanwhile."""

    made: list[str]
    taken: list[str]  # were to be made, but there is something of that name
    renewed: list[str]
    removed: list[str]
    changed: list[str]  # were to be renewed or removed, but have changed since
    is_cut: bool  # there is more to do


def list_slots(api: Api, slots: SlotSpec) -> list[Slot]:
    """List the slots of the pool, except persistent ones."""
    listed: list[Slot] = []
    collection = Collection(SLOT.path(""), slot_selector(slots))
    list_objects(api, collection, lambda tree: listed.append(_read_slot(tree)))
    return listed


def _read_slot(tree: Tree) -> Slot:
    try:
        return parse_slot(tree)
    except (KeyError, TypeError, ValueError) as error:
        raise ApiError(200, "InvalidResponse", f"the response has a Reservation without {error}") from None


def leave_slots(api: Api, placeholders: Sequence[SlotOwner], wait: Callable[[float], object]) -> None:
    """Take placeholders out of their slots before they are deleted, and let Koordinator's scheduler hear it.

    It may give the room of a slot to another pod if it hears of the deletion first.
    """
    for placeholder in placeholders:
        note: Tree = {"metadata": {"annotations": {ALLOCATED: None}}}
        api.patch(POD, placeholder.namespace, placeholder.name, note, "/status")
    if placeholders:
        wait(LEAVING_SECONDS)


def apply_plan(
    api: Api,
    slots: SlotSpec | None,
    plan: SlotPlan,
    now: Callable[[], float],
    may_go_on: Callable[[int], bool],
) -> PlanResult:
    """Carry out a plan, seats first, with as many writes at once as `api` takes.

    `may_go_on` is called before all writes but the first, with the number of attempts. If the server rejects
    one slot, the others are still written, and the first error is raised at the end; if the server is
    unavailable, the error is raised at once. `slots` is only needed to make slots.
    """
    done = PlanResult([], [], [], [], [], False)
    errors: list[Exception] = []
    tried, writes = 0, _writes(api, slots, plan, now, done)
    while batch := [*islice(writes, api.parallel_requests)]:
        if tried and not may_go_on(tried):
            done = done._replace(is_cut=True)
            break
        run_all([partial(_try_write, write, errors) for write in batch])
        tried += len(batch)
        if any(not isinstance(error, ApiError) or _is_unavailable(error) for error in errors):
            break
    if errors:
        raise errors[0]
    return done


def _try_write(planned: "_Write", errors: list[Exception]) -> None:
    name, write, good, other = planned
    try:
        (good if write() else other).append(name)
    except Exception as error:
        errors.append(error)


def _is_unavailable(error: ApiError) -> bool:
    return error.status in (0, 401, 403, 429) or error.status >= 500


_Write = tuple[str, Callable[[], bool], list[str], list[str]]
"""A name, what to do, and where the name goes if that was done, and if it was not."""


def _writes(
    api: Api, slots: SlotSpec | None, plan: SlotPlan, now: Callable[[], float], done: PlanResult
) -> Iterator[_Write]:
    if slots:
        for name in plan.make:
            yield name, partial(_create_slot, api, slots, name, now, plan.expires), done.made, done.taken
    for slot in plan.renew:
        yield slot.name, partial(_renew_slot, api, slot, plan.expires), done.renewed, done.changed
    for slot in plan.drop:
        remove = partial(api.delete, SLOT, "", slot.name, uid=slot.uid)
        yield slot.name, remove, done.removed, done.changed
    for slot in plan.remove:
        remove = partial(api.delete, SLOT, "", slot.name, uid=slot.uid, resourceVersion=slot.version)
        yield slot.name, remove, done.removed, done.changed


def _create_slot(api: Api, slots: SlotSpec, name: str, now: Callable[[], float], expires: int) -> bool:
    return api.create(SLOT, "", slot_object(slots, name, int(now()), expires))


def _renew_slot(api: Api, slot: Slot, expires: int) -> bool:
    spec = slot_lifetime(slot.created, expires)
    if slot.is_to_close:
        spec["owners"] = json.loads(slot.closed)
    return api.patch(SLOT, "", slot.name, {"metadata": {"resourceVersion": slot.version}, "spec": spec})


KIND_BY_NAME = {kind.name: kind for kind in (CONFIG_MAP, CRON_JOB, *SCALED, JOB, *RIGHTS)}
_LOG_EVENTS = {  # of the log
    ScalePool: "scale",
    StartJob: "start",
    MarkOrphaned: "mark",
    RemoveObject: "remove",
    ChangeSlots: "slots",
}
ACTION_SECONDS = 75.0  # from the start, in which actions begin; the last write may take half a minute
DELETION_CHECKS = 10  # at a Job that was deleted, half a second apart, until its name is free


class ActionRunner:
    """Carries out actions and sends Events."""

    def __init__(self, context: RuntimeContext, facts: SiteState, began: float) -> None:
        """`began` is when the sweep did, in seconds since the epoch."""
        self._context, self._facts, self._began = context, facts, began
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
            for ref in self._facts.subjects(action.ref):
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
        match action:
            case ScalePool():
                return self._scale(action)
            case StartJob():
                self._start(action)
                return True
            case MarkOrphaned():
                mark: Tree = {"metadata": {"annotations": {ORPHANED_SINCE: action.since or None}}}
                return api.patch(KIND_BY_NAME[ref.kind], namespace, ref.name, mark)
            case RemoveObject():
                is_same = {"resourceVersion": action.version} if action.version else {}
                return api.delete(KIND_BY_NAME[ref.kind], namespace, ref.name, uid=ref.uid, **is_same)
            case ChangeSlots():
                return self._change_slots(action)

    def _scale(self, action: ScalePool) -> bool:
        """Write the number of a pool; return False if somebody else has done so, or it is gone."""
        api, namespace, pool = self._context.api, self._context.namespace, action.pool
        for _ in range(ATTEMPTS):
            try:
                write_number(api, namespace, action._replace(pool=pool))
                return True
            except ApiError as error:
                if error.is_gone():
                    return False
                if not error.is_conflict():
                    raise
            # Not only people write to such an object: its status is news too.
            pool = api.get_scale(namespace, pool)
            if (pool.replicas, pool.held is None) != (action.pool.replicas, action.pool.held is None):
                return False
        raise ApiError(409, "Conflict", "it keeps changing")

    def _change_slots(self, action: ChangeSlots) -> bool:
        """Make and remove slots; return False if others have done all of it."""
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
        api.apply(JOB, namespace, action.name, _job_object(self._facts.site, namespace, action))

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
            facts = {"reservation": ref.reservation, "name": ref.name}
            context.log.error("warn", **facts, reason=warning.reason, message=warning.message)


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
