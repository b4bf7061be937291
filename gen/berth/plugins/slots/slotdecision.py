"""What to do so that the slots of a pool stand as desired. Pure."""

from berth.core.objects import ObjectRef
from berth.core.pooldecision import ChangeSlots, PoolFound, PoolHistory, PoolPlan, ScalePool, scale_pool
from berth.core.target import DesiredState
from berth.plugins.slots.slots import (
    SessionDebounce,
    SlotCounts,
    bridging_placeholders,
    plan_slots,
    reported_sessions,
    slot_demand,
)


class SlotHistory(PoolHistory):
    """Remembers which sessions had time to take a slot, and which names are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.debounce = SessionDebounce()
        self.taken: set[str] = set()  # names of slots that are not among those of the pool

    def settled(self, counts: SlotCounts, desired: DesiredState) -> int:
        """Return how many sessions own no slot and had enough time to take one."""
        self.taken -= counts.names
        sessions = sum(reported_sessions(desired).values())
        seconds = desired.timetable.settings.stabilization_seconds
        return self.debounce.look(desired.now, sessions, counts.owners, seconds)


def decide_slots(
    ref: ObjectRef, found: PoolFound, desired: DesiredState, why: str, history: PoolHistory | None = None
) -> PoolPlan:
    """Decide as `decide_pool`.

    Placeholders that bridge the time until slots are available are scaled first. Once nothing of the pool is
    open, all its slots are dropped. Where nobody counts sessions, as in the sweep, no free slot is removed
    and none is renewed, and placeholders do not leave their slots.
    """
    pool, stands, counts = desired.target.pool, found.object, found.slots or SlotCounts()
    assert pool.holder.slots is not None
    settled, counts_sessions = 0, isinstance(history, SlotHistory)
    if isinstance(history, SlotHistory):
        settled = history.settled(counts, desired)
        counts = counts._replace(taken=frozenset(history.taken))
    actions: list[ScalePool | ChangeSlots] = []
    demand = slot_demand(desired, sum(counts.owners.values()), settled)
    ready = 0
    if pool.holder.slots.placeholders and stands:
        number, ready = 0, stands.ready
        if demand.is_open:
            number = bridging_placeholders(counts, demand.wanted, int(stands.replicas), desired.now)
        is_leaving = counts_sessions and not number
        leaving = tuple(owner for slot in counts.handed for owner in slot.owners) if is_leaving else ()
        actions += [action._replace(leaving=leaving) for action in scale_pool(stands, number, why)]
    plan = plan_slots(counts, pool.holder.slots, demand, desired.now, ready)
    if not counts_sessions:
        plan = plan._replace(renew=(), remove=())
    if plan.writes:
        actions.append(ChangeSlots(ref, pool.resource_class, pool.holder.slots, plan, why))
    is_handing = bool(counts.pending or counts.handed or ready)
    is_busy = plan.is_busy or (pool.holder.slots.placeholders and is_handing)
    return PoolPlan(desired._replace(target=demand.target), tuple(actions), is_busy)
