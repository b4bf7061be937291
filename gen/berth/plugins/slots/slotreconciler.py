"""The reconciler of a pool that slots hold. They change by themselves, so they are listed at each look."""

from collections.abc import Callable

from berth.core.pooldecision import ChangeSlots, PoolFound, ScalePool
from berth.core.target import PoolTarget
from berth.core.timetable import TimetablePool
from berth.plugins.slots.slotdecision import SlotHistory
from berth.plugins.slots.slots import PlaceholderOwner, SlotCounts, count_slots
from berth.plugins.slots.slotwrites import PlanResult, list_slots
from berth.runtime.actionrunner import Outcome
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
        self._subject = f"slots of {pool.name}"
        self.history: SlotHistory = SlotHistory()
        self._left = 0  # slots

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
        assert self.pool.holder.slots
        home = PlaceholderOwner(self._context.namespace, self.pool.name)
        slots = count_slots(list_slots(self._context.api, self.pool.holder.slots), home)
        self._left = len(slots.present)
        return found._replace(slots=slots), gone

    def budget(self) -> Callable[[int], bool]:
        now, began = self._context.now, self._context.now()
        return lambda tried: tried < MAX_WRITES and 0 <= now() - began < WRITE_BUDGET_SECONDS

    def note(self, action: ScalePool | ChangeSlots, outcome: Outcome) -> None:
        done = outcome.slots
        if not done or isinstance(action, ScalePool):
            super().note(action, outcome)
            return
        self._left += len(done.made) - len(done.removed)
        self.history.taken.update(done.taken)
        self.is_busy = self.is_busy or done.is_cut or bool(done.changed)
        if done.made or done.renewed or done.removed:
            self._tell_slots(action, done)

    def note_number(self, target: PoolTarget) -> None:
        """Note nothing: placeholders come and go while their slots stay."""

    def _tell_slots(self, action: ChangeSlots, done: PlanResult) -> None:
        assert self.desired
        facts: dict[str, object] = {
            "pool": self.pool.resource_class,
            "slots": action.slots.name if action.slots else "",
            "occurrences": self.desired.target.occurrences,
            "made": len(done.made),
            "renewed": len(done.renewed),
            "removed": len(done.removed),
            "free": self.desired.target.replicas,
            "used": len(self._slots.used),
        }
        self._context.log.info("slots", **facts)
