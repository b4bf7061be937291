"""The sweep's decisions about the slots of a resource class. Pure.

The sweep does not count sessions. It makes as many slots as could be needed, and before the end it removes
only those that hold nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from berth.core.decisions import DesiredState
from berth.core.slots import (
    PlaceholderOwner,
    Slot,
    bridging_placeholders,
    count_slots,
    plan_slots,
    slot_demand,
)
from berth.runtime.sweepactions import Action, MakeSlots, RemoveSlots, ScalePool
from berth.runtime.sweepstate import ObjectRef, PoolObject


class SlotSweep(NamedTuple):
    """The slots of one resource class of a reservation."""

    namespace: str
    ref: ObjectRef  # the timetable, where it is told
    resource_class: str
    slots: tuple[Slot, ...]
    now: int

    def is_open(self, desired: DesiredState) -> bool:
        """Return whether an occurrence is open, even without seats."""
        return slot_demand(desired, 0, 0).expires is not None

    def close(self, why: str) -> Iterator[Action]:
        """Remove all slots."""
        present = tuple(slot for slot in self.slots if not slot.is_terminating)
        if present:
            yield RemoveSlots(self.ref, self.resource_class, present, why)

    def hold(self, desired: DesiredState, deployment: PoolObject | None, why: str) -> Iterator[Action]:
        """Make missing slots. `deployment` has the placeholders, where they come first."""
        pool = desired.target.pool
        assert pool.slots
        found = count_slots(self.slots, PlaceholderOwner(self.namespace, pool.deployment))
        wanted = slot_demand(desired, sum(found.owners.values()), 0)
        if deployment:
            number = bridging_placeholders(found, pool.slots, wanted.wanted, deployment.replicas, self.now)
            if number != deployment.replicas:
                yield ScalePool(deployment, number, why)
        todo = plan_slots(found, pool.slots, wanted, self.now, deployment.ready if deployment else 0)
        if todo.make:
            yield MakeSlots(self.ref, self.resource_class, pool.slots, todo.make, todo.expires, why)
        if todo.drop:
            yield RemoveSlots(self.ref, self.resource_class, todo.drop, "they have ended")
