"""Writes to what holds a pool: its number, with the note about it, and its slots."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from berth.core.holders import SlotSpec
from berth.core.jsonvalues import Tree, part
from berth.core.objects import CONFIG_MAP, POD, SLOT
from berth.core.pooldecision import ScalePool
from berth.core.poolobjects import PoolObject, parse_held
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
from berth.runtime.apiclient import Api, ApiError
from berth.runtime.watch import Collection, list_objects, run_all

LEAVING_SECONDS = 0.5  # ten times what the scheduler needs


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
        _apply_note(api, namespace, action.note)
        pool = pool._replace(held=parse_held(pool.ref, action.note))
    if action.is_needed:
        pool = api.set_number(namespace, pool, action.value if pool.tree else action.to)
    if action.closes and held:
        is_same = {"uid": held.ref.uid, "resourceVersion": held.version}
        if not api.delete(CONFIG_MAP, namespace, held.ref.name, **is_same):
            raise ApiError(409, "Conflict", "it is held again")
        if held.is_kept:
            _release_note(api, namespace, held.ref.name)
        pool = pool._replace(held=None)
    return pool


def _apply_note(api: Api, namespace: str, note: Tree) -> None:
    """Write a note, in place of one that its account has made immutable or unreadable."""
    name = str(part(note, "metadata")["name"])
    try:
        api.apply(CONFIG_MAP, namespace, name, note)
    except ApiError as error:
        if error.status != 422 and not error.is_unreadable():
            raise
        api.delete(CONFIG_MAP, namespace, name)
        _release_note(api, namespace, name)
        api.apply(CONFIG_MAP, namespace, name, note)


def _release_note(api: Api, namespace: str, name: str) -> None:
    """Let a note go that finalizers keep: whoever may write it may have added them."""
    api.patch(CONFIG_MAP, namespace, name, {"metadata": {"finalizers": None}})


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
    written = api.patch(SLOT, "", slot.name, {"metadata": {"resourceVersion": slot.version}, "spec": spec})
    return bool(written)
