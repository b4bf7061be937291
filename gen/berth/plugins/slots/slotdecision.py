"""What to do so that the slots of a pool stand as desired. Pure."""

from berth.core.pooldecision import ChangeSlots, PoolDecision, PoolFound, ScalePool, scale_pool
from berth.core.poolobjects import ObjectRef
from berth.core.target import DesiredState
from berth.plugins.slots.slots import SlotCounts, bridging_placeholders, plan_slots, slot_demand


def decide_slots(ref: ObjectRef, observed: PoolFound, desired: DesiredState, why: str) -> PoolDecision:
    """Decide as `decide_pool`.

    Placeholders that bridge the time until slots are available are scaled first. Once nothing of the pool is
    open, all its slots are dropped. Where nobody counts sessions, as in the sweep, no free slot is removed
    and none is renewed.
    """
    pool, stands, counts = desired.target.pool, observed.object, observed.slots or SlotCounts()
    assert pool.slots is not None
    actions: list[ScalePool | ChangeSlots] = []
    demand = slot_demand(desired, sum(counts.owners.values()), observed.settled or 0)
    ready = 0
    if pool.slots.placeholders and stands:
        number, ready = 0, stands.ready
        if demand.is_open:
            number = bridging_placeholders(counts, demand.wanted, int(stands.replicas), desired.now)
        leaving = () if number else tuple(owner for slot in counts.handed for owner in slot.owners)
        actions += [action._replace(leaving=leaving) for action in scale_pool(stands, number, why)]
    plan = plan_slots(counts, pool.slots, demand, desired.now, ready)
    if observed.settled is None:
        plan = plan._replace(renew=(), remove=())
    if plan.writes:
        actions.append(ChangeSlots(ref, pool.resource_class, pool.slots, plan, why))
    return PoolDecision(demand.target, tuple(actions), plan.is_busy)
