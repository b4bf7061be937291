"""The reconciler of a pool that slots hold. They change by themselves, so they are listed at each look."""

from berth.core.pooldecision import ChangeSlots, PoolDecision, PoolFound, ScalePool
from berth.core.target import DesiredState, PoolTarget
from berth.core.timetable import TimetablePool
from berth.plugins.slots.slots import (
    PlaceholderOwner,
    SessionDebounce,
    SlotCounts,
    count_slots,
    reported_sessions,
)
from berth.plugins.slots.slotwrites import PlanResult, apply_plan, leave_slots, list_slots
from berth.runtime.apiclient import ApiError
from berth.runtime.pools import PoolReconciler
from berth.runtime.program import RuntimeContext

MAX_WRITES = 250  # writes to slots at a look
WRITE_BUDGET_SECONDS = 4.0  # seconds of writes to slots at a look: other pools and an end wait meanwhile


class SlotReconciler(PoolReconciler):
    """Brings the slots of a pool to their desired state, and the placeholders that hand over to them.

    Slots are looked at once a tick, of eight seconds. One that was held and is taken is made again within two
    looks; while others are taken meanwhile, a seat may be missing for six, 48 seconds.
    """

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        super().__init__(context, pool)
        self._subject = f"slots of {pool.deployment}"
        self._debounce = SessionDebounce()
        self._left = 0  # slots
        self._taken: set[str] = set()  # names of slots that are not among those of the pool

    @property
    def _slots(self) -> SlotCounts:
        return (self.found and self.found.slots) or SlotCounts()

    @property
    def is_closed(self) -> bool:
        return super().is_closed and not self._left

    @property
    def ready(self) -> int | None:
        return len(self._slots.free) + max(len(self._slots.handed), super().ready or 0)

    def observe(self) -> tuple[PoolFound, ApiError | None]:
        found, gone = super().observe()
        spec = self._pool.slots
        assert spec
        home = PlaceholderOwner(self._context.namespace, self._pool.deployment)
        slots = count_slots(list_slots(self._context.api, spec), home)
        self._taken -= slots.names
        self._left = len(slots.present)
        return found._replace(slots=slots._replace(taken=frozenset(self._taken))), gone

    def decide(self, found: PoolFound, desired: DesiredState) -> PoolDecision:
        sessions = sum(reported_sessions(desired).values())
        owners = found.slots.owners if found.slots else {}
        seconds = desired.timetable.settings.stabilization_seconds
        settled = self._debounce.look(self._context.now(), sessions, owners, seconds)
        return super().decide(found._replace(settled=settled), desired)

    def act(self, decision: PoolDecision, desired: DesiredState) -> None:
        if desired.target.pool.slots:
            self._pool = desired.target.pool  # they may have another shape now
        counts, stands = self._slots, self.found.object if self.found else None
        hands_over = bool(self._pool.slots and self._pool.slots.placeholders)
        is_handing = bool(counts.pending or counts.handed or (stands and stands.ready))
        self.is_busy = decision.is_busy or (hands_over and is_handing)
        super().act(decision, desired)
        for action in decision.actions:
            if isinstance(action, ChangeSlots) and self.may_write:
                self._change(action, desired, counts)

    def scale(self, action: ScalePool) -> None:
        if self.may_write:
            leave_slots(self._context.api, action.leaving, self._context.wait)
        super().scale(action)

    def note_number(self, target: PoolTarget) -> None:
        """Note nothing: placeholders come and go while their slots stay."""

    def _change(self, action: ChangeSlots, desired: DesiredState, counts: SlotCounts) -> None:
        context, began = self._context, self._context.now()
        plan = action.plan if self.may_lower else action.plan._replace(remove=(), drop=())
        done = apply_plan(
            context.api,
            action.slots,
            plan,
            context.now,
            lambda tried: tried < MAX_WRITES and 0 <= context.now() - began < WRITE_BUDGET_SECONDS,
        )
        self._left += len(done.made) - len(done.removed)
        self._taken.update(done.taken)
        self.is_busy = self.is_busy or done.is_cut or bool(done.changed)
        if done.made or done.renewed or done.removed:
            self._tell_slots(action, desired, done, len(counts.used))

    def _tell_slots(self, action: ChangeSlots, desired: DesiredState, done: PlanResult, used: int) -> None:
        facts: dict[str, object] = {
            "pool": self._pool.resource_class,
            "slots": action.slots.name if action.slots else "",
            "occurrences": desired.target.occurrences,
            "made": len(done.made),
            "renewed": len(done.renewed),
            "removed": len(done.removed),
            "free": desired.target.replicas,
            "used": used,
        }
        self._context.log.info("slots", **facts)
