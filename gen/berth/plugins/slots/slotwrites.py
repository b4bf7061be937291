"""Lists slots, and writes them."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from berth.core.jsonvalues import Tree
from berth.core.objects import POD, SLOT
from berth.plugins.slots.slots import (
    ALLOCATED,
    Slot,
    SlotOwner,
    SlotPlan,
    parse_slot,
    slot_lifetime,
    slot_object,
    slot_selector,
)
from berth.plugins.slots.slotspec import SlotSpec
from berth.runtime.apiclient import Api, ApiError
from berth.runtime.watch import Collection, list_objects, start_thread

LEAVING_SECONDS = 0.5  # ten times what the scheduler needs


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
    # The next look asks again: a pause here would keep the scaler from its other pools and its Leases.
    list_objects(api, collection, lambda tree: listed.append(_read_slot(tree)), gives_up=lambda _: True)
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
        _run_all([partial(_try_write, write, errors) for write in batch])
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
    written = api.patch(SLOT, "", slot.name, {"metadata": {"resourceVersion": slot.version}, "spec": spec})
    return bool(written)


def _run_all(runs: Sequence[Callable[[], None]]) -> None:
    """Run all at the same time, and wait for them. None of them may raise."""
    over = threading.Semaphore(0)

    def run_one(run: Callable[[], None]) -> None:
        try:
            run()
        finally:
            over.release()

    for run in runs[1:]:
        start_thread(partial(run_one, run))
    runs[0]()
    for _ in runs[1:]:
        over.acquire()
