"""The reconciler of slots: lists the slots of a pool and makes, renews and removes what is needed.

It also scales the placeholders that hold a seat until its slot is available. Work that takes longer than a
few seconds continues at the next step.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from berth.core.decisions import DesiredState, replica_change
from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree
from berth.core.objects import SLOT
from berth.core.slots import (
    PlaceholderOwner,
    SessionDebounce,
    Slot,
    SlotCounts,
    SlotDemand,
    SlotPlan,
    bridging_placeholders,
    count_slots,
    parse_slot,
    plan_slots,
    reported_sessions,
    slot_demand,
    slot_lifetime,
    slot_object,
    slot_selector,
)
from berth.core.timetable import TimetablePool
from berth.runtime.apiclient import (
    Api,
    ApiError,
    Request,
    ScaleTarget,
    create_object,
    delete_object,
    patch_object,
)
from berth.runtime.lists import parse_page
from berth.runtime.program import RuntimeContext
from berth.runtime.reconciler import Decide, ReplicaReconciler, RetryingReconciler

SLOT_PAGE = 100  # slots in one answer


class PlanResult(NamedTuple):
    """The names of what was made, renewed and removed, by us or by somebody else meanwhile."""

    made: list[str]
    taken: list[str]  # were to be made, but there is something of that name
    renewed: list[str]
    removed: list[str]
    changed: list[str]  # were to be renewed or removed, but have changed since
    is_cut: bool  # there is more to do


def list_slots(api: Api, slots: SlotSpec) -> list[Slot]:
    """List the slots of the pool, except persistent ones, one object at a time to save memory."""
    found: list[Slot] = []
    query = {"labelSelector": slot_selector(slots), "limit": str(SLOT_PAGE)}
    while True:
        text = api.read(Request("GET", f"{SLOT.path('')}?{urlencode(query)}"))
        token = parse_page(text, lambda tree: found.append(_read_slot(tree))).token
        if not token:
            return found
        query["continue"] = token


def _read_slot(tree: Tree) -> Slot:
    try:
        return parse_slot(tree)
    except (KeyError, TypeError, ValueError) as error:
        raise ApiError(200, "InvalidResponse", f"the response has a Reservation without {error}") from None


def apply_plan(
    api: Api,
    slots: SlotSpec | None,
    plan: SlotPlan,
    now: Callable[[], float],
    may_go_on: Callable[[int], bool],
) -> PlanResult:
    """Carry out a plan, seats first.

    `may_go_on` is called before each write but the first, with the number of attempts. If the server rejects
    one slot, the others are still written, and the first error is raised at the end; if the server is
    unavailable, the error is raised at once. `slots` is only needed to make slots.
    """
    done = PlanResult([], [], [], [], [], False)
    errors: list[ApiError] = []
    for tried, (name, write, good, other) in enumerate(_writes(api, slots, plan, now, done)):
        if tried and not may_go_on(tried):
            done = done._replace(is_cut=True)
            break
        try:
            (good if write() else other).append(name)
        except ApiError as error:
            errors.append(error)
            if error.status in (0, 401, 403, 429) or error.status >= 500:
                break
    if errors:
        raise errors[0]
    return done


_Write = tuple[str, Callable[[], bool], list[str], list[str]]
"""A name, what to do, and where the name goes if that was done, and if it was not."""


def _writes(
    api: Api, slots: SlotSpec | None, plan: SlotPlan, now: Callable[[], float], done: PlanResult
) -> Iterator[_Write]:
    if slots:
        for name in plan.make:
            yield name, partial(_create_slot, api, slots, name, now, plan.expires), done.made, done.taken
    for one in plan.renew:
        yield one.name, partial(_renew_slot, api, one, plan.expires), done.renewed, done.changed
    for one in plan.drop:
        yield (
            one.name,
            partial(delete_object, api, SLOT, "", one.name, uid=one.uid),
            done.removed,
            done.changed,
        )
    for one in plan.remove:
        remove = partial(delete_object, api, SLOT, "", one.name, uid=one.uid, resourceVersion=one.version)
        yield one.name, remove, done.removed, done.changed


def _create_slot(api: Api, slots: SlotSpec, name: str, now: Callable[[], float], expires: int) -> bool:
    return create_object(api, SLOT, "", slot_object(slots, name, int(now()), expires))


def _renew_slot(api: Api, one: Slot, expires: int) -> bool:
    spec = slot_lifetime(one.created, expires)
    if one.is_to_close:
        spec["owners"] = json.loads(one.closed)
    return patch_object(api, SLOT, "", one.name, {"metadata": {"resourceVersion": one.version}, "spec": spec})


MAX_WRITES = 250  # writes at a look
WRITE_BUDGET_SECONDS = 4.0  # seconds of writes at a look: a probe, other pools and an end wait meanwhile


class SlotReconciler(RetryingReconciler):
    """Reconciles a pool of slots. `replicas` are all its slots and placeholders."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool, slots: SlotSpec) -> None:
        super().__init__(context, f"slots of {pool.deployment}")
        self._pool = pool.resource_class
        self._slots = slots
        self._home = PlaceholderOwner(context.namespace, pool.deployment)
        self._placeholders = ReplicaReconciler(context, pool.deployment)
        self._settling = SessionDebounce()
        self._settled: DesiredState | None = None
        self._left: int | None = None  # slots that stood after the last look; None: it failed
        self._taken: set[str] = set()  # names of slots that are not among those of the pool

    @property
    def replicas(self) -> int | None:
        """The number at the last attempt; None if it failed."""
        beside = self._placeholders.replicas if self._slots.placeholders else 0
        return None if self._left is None or beside is None else self._left + beside

    @property
    def is_left_alone(self) -> bool:
        """Whether the pool exists and its desired state is not known yet."""
        return self.desired is None and self._left is not None

    def _forget(self) -> None:
        self._left = None

    def _attempt(self, decide: Decide, quick: bool) -> None:  # noqa: ARG002
        """List, decide and write. It never skips the list, because slots change by themselves."""
        context, left = self._context, self._left
        found = count_slots(list_slots(context.api, self._slots), self._home)
        self._left = len(found.present)
        self._taken -= found.names
        found = found._replace(taken=frozenset(self._taken))
        todo = self._todo(found, decide, False)
        if todo.writes and self._left != (left or 0):
            # Somebody else has made or removed some, and may know a newer timetable.
            todo = self._todo(found, decide, True)
        began = context.now()
        done = apply_plan(
            context.api,
            self._slots,
            todo,
            context.now,
            lambda tried: tried < MAX_WRITES and 0 <= context.now() - began < WRITE_BUDGET_SECONDS,
        )
        self._left += len(done.made) - len(done.removed)
        self._taken.update(done.taken)
        self.is_busy = done.is_cut or bool(done.changed) or self._is_handing_over(found)
        self._tell(found, done)
        if self.desired and found.spare == self.desired.target.replicas:
            self._settled = self.desired

    def _todo(self, found: SlotCounts, decide: Decide, is_contested: bool) -> SlotPlan:
        """Return the plan for the slots, after the placeholders were reconciled."""
        desired = decide(is_contested)
        self.desired = desired
        if desired is None:
            self.seen = self._seen(found)
            return SlotPlan()
        self._slots = desired.target.pool.slots or self._slots
        wanted = self._demand(found, desired)
        self.desired = desired._replace(target=wanted.target)
        if self._slots.placeholders:
            self._reconcile_placeholders(found, desired, decide)
        self.seen = self._seen(found)
        return plan_slots(found, self._slots, wanted, desired.now, self._ready)

    def _demand(self, found: SlotCounts, desired: DesiredState) -> SlotDemand:
        seconds, sessions = (
            desired.timetable.settings.stabilization_seconds,
            sum(reported_sessions(desired).values()),
        )
        settled = self._settling.look(self._context.now(), sessions, found.owners, seconds)
        return slot_demand(desired, sum(found.owners.values()), settled)

    def _reconcile_placeholders(self, found: SlotCounts, desired: DesiredState, decide: Decide) -> None:
        def decided(is_contested: bool) -> DesiredState | None:
            chosen = decide(True) if is_contested else desired
            return self._beside(found, chosen) if chosen else None

        self._placeholders.reconcile(decided)

    def _beside(self, found: SlotCounts, desired: DesiredState) -> DesiredState:
        """Return the desired state of the placeholders."""
        wanted, seen = self._demand(found, desired), self._placeholders.seen
        number, why = 0, "closed"
        if wanted.expires is not None:
            replicas = seen.replicas if seen else 0
            number = bridging_placeholders(found, self._slots, wanted.wanted, replicas, desired.now)
            why = f"{number} seats wait for slots" if number else "no seat waits for a slot"
        return desired._replace(target=wanted.target._replace(replicas=number), why=why)

    @property
    def _ready(self) -> int:
        """The number of ready placeholders."""
        seen = self._placeholders.seen if self._placeholders.replicas is not None else None
        return seen.ready if seen and self._slots.placeholders else 0

    def _seen(self, found: SlotCounts) -> ScaleTarget:
        """Return the state of the pool; every seat that a session can take is ready."""
        ready = len(found.free) + max(len(found.handed), self._ready)
        beside = self._placeholders.seen
        return ScaleTarget(len(found.present), "", ready, beside.uid if beside else "")

    def _is_handing_over(self, found: SlotCounts) -> bool:
        return self._slots.placeholders and bool(found.pending or found.handed or self._ready)

    def _tell(self, found: SlotCounts, done: PlanResult) -> None:
        desired = self.desired
        if desired is None or not (done.made or done.renewed or done.removed):
            return
        facts = {
            "who": self._context.who,
            "pool": self._pool,
            "slots": self._slots.name,
            "occurrences": desired.target.occurrences,
            "made": len(done.made),
            "renewed": len(done.renewed),
            "removed": len(done.removed),
            "free": desired.target.replicas,
            "used": len(found.used),
            "reason": self._reason(found, done, desired),
        }
        self._context.log.info("slots", **facts)

    def _reason(self, found: SlotCounts, done: PlanResult, desired: DesiredState) -> str:
        if not desired.target.occurrences and desired.target.override is None:
            return "closed"
        if found.dead and done.removed:
            return f"{len(found.dead)} were over, or lost their node"
        todo = replica_change(found.spare, desired, self._settled)
        if todo:
            return todo.reason
        if done.made or done.removed:
            return "another shape"
        handed = any(slot.is_to_close for slot in found.living if slot.name in done.renewed)
        return "placeholders have handed over" if handed else "the end has moved"
