"""What the sweep does about the slots of one class of a reservation. Pure: slots in, actions out.

It knows no sessions, so it makes as many as there should be at the most, and takes away none that is good for
something before the end.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gen.runtime.action import Action, MakeSlots, RemoveSlots, Scale
from gen.runtime.facts import Deployment, Thing
from gen.runtime.plan import Aim
from gen.runtime.slot import Slot
from gen.runtime.slotdemand import demand
from gen.runtime.slotplan import Home, census, placeholders, plan


class Case(NamedTuple):
    namespace: str
    thing: Thing  # the timetable, where it is told
    resource_class: str
    slots: tuple[Slot, ...]
    now: int

    def is_open(self, aim: Aim) -> bool:
        """Also with no seat at all."""
        return demand(aim, 0, 0).expires is not None

    def close(self, why: str) -> Iterator[Action]:
        standing = tuple(slot for slot in self.slots if not slot.is_going)
        if standing:
            yield RemoveSlots(self.thing, self.resource_class, standing, why)

    def hold(self, aim: Aim, deployment: Deployment | None, why: str) -> Iterator[Action]:
        """`deployment` has the placeholders that come first, where some do."""
        pool = aim.wish.pool
        assert pool.slots
        found = census(self.slots, Home(self.namespace, pool.deployment))
        wanted = demand(aim, sum(found.owners.values()), 0)
        if deployment:
            number = placeholders(found, pool.slots, wanted.wanted, deployment.replicas, self.now)
            if number != deployment.replicas:
                yield Scale(deployment, number, why)
        todo = plan(found, pool.slots, wanted, self.now, deployment.ready if deployment else 0)
        if todo.make:
            yield MakeSlots(self.thing, self.resource_class, pool.slots, todo.make, todo.expires, why)
        if todo.drop:
            yield RemoveSlots(self.thing, self.resource_class, todo.drop, "they were over")
