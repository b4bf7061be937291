"""What to do so that the slots of a pool stand as desired. Pure."""

from berth.core.pooldecision import ChangeSlots, PoolDecision, PoolFound, ScalePool, scale_pool
from berth.core.poolobjects import ObjectRef
from berth.core.target import DesiredState, replica_change
from berth.plugins.slots.slots import SlotCounts, SlotPlan, bridging_placeholders, plan_slots, slot_demand


def decide_slots(
    ref: ObjectRef,
    observed: PoolFound,
    desired: DesiredState,
    why: str = "",
    settled: DesiredState | None = None,
) -> PoolDecision:
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
        number, reason, ready = 0, "closed", stands.ready
        if demand.is_open:
            number = bridging_placeholders(counts, demand.wanted, int(stands.replicas), desired.now)
            reason = f"{number} seats wait for slots" if number else "no seat waits for a slot"
        leaving = () if number else tuple(owner for slot in counts.handed for owner in slot.owners)
        for action in scale_pool(stands, number, why or reason):
            actions.append(action._replace(leaving=leaving, occurrences=demand.target.occurrences))
    plan = plan_slots(counts, pool.slots, demand, desired.now, ready)
    if observed.settled is None:
        plan = plan._replace(renew=(), remove=())
    if plan.writes:
        why = why or _slot_reason(counts, plan, desired._replace(target=demand.target), settled)
        actions.append(ChangeSlots(ref, pool.resource_class, pool.slots, plan, why))
    return PoolDecision(demand.target, tuple(actions), plan.is_busy)


def _slot_reason(
    slots: SlotCounts, plan: SlotPlan, desired: DesiredState, settled: DesiredState | None
) -> str:
    """Return why slots change, for the log."""
    if not desired.target.occurrences and desired.target.override is None:
        return "closed"
    if plan.drop:
        return f"{len(plan.drop)} were over, or lost their node"
    if change := replica_change(slots.spare, desired, settled):
        return change.reason
    if plan.make or plan.remove:
        shape = desired.target.pool.slots.hash if desired.target.pool.slots else ""
        is_retry = all(slot.hash == shape for slot in plan.remove)
        return "found no room, tried again" if is_retry else "another shape"
    is_handed_over = any(slot.is_to_close for slot in plan.renew)
    return "placeholders have handed over" if is_handed_over else "the end has moved"
