"""What is done to slots, one write after the other, and what becomes of a write that fails.

Where somebody else was faster, nothing has failed. What the server refuses of one slot holds up no other; a
server in trouble is left alone at once.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

from gen.runtime.api import Api, ApiError, Request
from gen.runtime.objectkind import SLOT
from gen.runtime.pages import page
from gen.runtime.slot import Slot, body, life, selector, slot
from gen.runtime.slotplan import Plan
from gen.runtime.timetable import Slots
from gen.runtime.verbs import Tree, create, delete, patch

PAGE = 100  # slots in one answer


class Done(NamedTuple):
    """The names of what has been made, renewed and removed, by us or by somebody else meanwhile."""

    made: list[str]
    taken: list[str]  # were to be made, but there is something of that name
    renewed: list[str]
    removed: list[str]
    changed: list[str]  # were to be renewed or removed, but have changed since
    is_cut: bool  # there is more to do


def listed(api: Api, slots: Slots) -> list[Slot]:
    """All of the pool but those that git holds. They are small; the objects are read one after the other, and
    none is kept.
    """
    found: list[Slot] = []
    query = {"labelSelector": selector(slots), "limit": str(PAGE)}
    while True:
        text = api.read(Request("GET", f"{SLOT.path('')}?{urlencode(query)}"))
        token = page(text, lambda tree: found.append(_slot(tree))).token
        if not token:
            return found
        query["continue"] = token


def _slot(tree: Tree) -> Slot:
    try:
        return slot(tree)
    except (KeyError, TypeError, ValueError) as error:
        raise ApiError(200, "Nonsense", f"the answer has a Reservation without {error}") from None


def carry_out(
    api: Api, slots: Slots | None, plan: Plan, now: Callable[[], float], may_go_on: Callable[[int], bool]
) -> Done:
    """Seats first. `may_go_on` is asked before each write but the first, with the number of those that were
    tried. Raises the first error at the end, or at once if the server is in trouble. `slots` is needed only
    where some are made.
    """
    done = Done([], [], [], [], [], False)
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
    api: Api, slots: Slots | None, plan: Plan, now: Callable[[], float], done: Done
) -> Iterator[_Write]:
    if slots:
        for name in plan.make:
            yield name, partial(_make, api, slots, name, now, plan.expires), done.made, done.taken
    for one in plan.renew:
        yield one.name, partial(_renew, api, one, plan.expires), done.renewed, done.changed
    for one in plan.drop:
        yield one.name, partial(delete, api, SLOT, "", one.name, uid=one.uid), done.removed, done.changed
    for one in plan.remove:
        remove = partial(delete, api, SLOT, "", one.name, uid=one.uid, resourceVersion=one.version)
        yield one.name, remove, done.removed, done.changed


def _make(api: Api, slots: Slots, name: str, now: Callable[[], float], expires: int) -> bool:
    return create(api, SLOT, "", body(slots, name, int(now()), expires))


def _renew(api: Api, one: Slot, expires: int) -> bool:
    spec = life(one.created, expires)
    if one.is_to_close:
        spec["owners"] = json.loads(one.closed)
    return patch(api, SLOT, "", one.name, {"metadata": {"resourceVersion": one.version}, "spec": spec})
