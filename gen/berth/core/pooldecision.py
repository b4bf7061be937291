"""What to do so that a pool stands as desired: the decision that scaler and sweep share. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from berth.core.target import Stabilizer

if TYPE_CHECKING:
    from berth.core.jsonvalues import Tree
    from berth.core.objects import ObjectRef
    from berth.core.poolobjects import PoolObject
    from berth.core.target import DesiredState
    from berth.plugins.slots.slots import SlotCounts, SlotOwner, SlotPlan
    from berth.plugins.slots.slotspec import SlotSpec


class ScalePool(NamedTuple):
    """Write the number of a pool."""

    pool: PoolObject
    to: float
    why: str  # the reason of the sweep
    leaving: tuple[SlotOwner, ...] = ()  # placeholders that must leave their slots before
    value: object = None  # of somebody else's number; None: removes it
    note: Tree | None = None  # the ConfigMap that says what it was, which is written before
    closes: bool = False  # removes that ConfigMap afterwards
    is_lost: bool = False  # what it was is not known, so it stays
    lease: str = ""  # that nobody may hold by then; empty: whoever does

    @property
    def ref(self) -> ObjectRef:
        return self.pool.ref


class ChangeSlots(NamedTuple):
    """Make, renew and remove slots of a class."""

    ref: ObjectRef  # which gets the Event: the timetable, or a slot
    resource_class: str
    slots: SlotSpec | None  # of those that are made; None: the pool is removed
    plan: SlotPlan
    why: str
    lease: str = ""  # as of `ScalePool`


class PoolFound(NamedTuple):
    """What was found of a pool. `object` is what is scaled, None if there is none."""

    object: PoolObject | None
    slots: SlotCounts | None = None


class PoolHistory:
    """What a scaler remembers of a pool from look to look."""

    def __init__(self) -> None:
        self.stabilizer = Stabilizer()
        self.set_back = ""  # who has set back a number of theirs, and what to do

    def note_written(self, action: ScalePool, now: int) -> None:
        """Note that the number was written."""


class PoolPlan(NamedTuple):
    """What to do about a pool, and what it should have, which is free slots where slots hold it."""

    desired: DesiredState
    actions: tuple[ScalePool | ChangeSlots, ...]
    is_busy: bool = False  # slots are being replaced: look again soon


def decide_pool(
    ref: ObjectRef, found: PoolFound, desired: DesiredState, why: str = "", history: PoolHistory | None = None
) -> PoolPlan:
    """Decide what to do so that a pool stands as desired.

    `ref` is the timetable. `history` is that of the scaler, None in the sweep, which counts no sessions and
    remembers nothing.
    """
    if desired.target.pool.holder.slots is not None:
        from berth.plugins.slots.slotdecision import decide_slots  # noqa: PLC0415 - where a cluster has them

        return decide_slots(ref, found, desired, why, history)
    if desired.target.pool.holder.foreign:
        from berth.plugins.numbers.numberdecision import decide_number  # noqa: PLC0415 - as above

        return PoolPlan(desired, decide_number(found.object, desired, why, history))
    return PoolPlan(desired, tuple(scale_pool(found.object, desired.target.replicas, why)))


def scale_pool(stands: PoolObject | None, to: int, why: str) -> Iterator[ScalePool]:
    """Yield the scaling of a pool that is there and has another number of replicas."""
    if stands and stands.replicas != to:
        yield ScalePool(stands, to, why)
