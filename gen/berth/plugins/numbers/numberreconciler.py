"""The reconciler of a number of somebody else. Every write carries the version that it was decided on."""

from berth.core.holders import HeldNumber
from berth.core.pooldecision import PoolFound, PoolHistory, PoolPlan
from berth.core.poolobjects import PoolObject
from berth.core.target import DesiredState
from berth.core.timetable import TimetablePool
from berth.plugins.numbers.numberdecision import NumberHistory
from berth.plugins.numbers.numberwrites import read_number
from berth.runtime.apiclient import ApiError
from berth.runtime.pools import PoolReconciler
from berth.runtime.program import RuntimeContext


class NumberReconciler(PoolReconciler):
    """Holds a number, and yields to who sets it back."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        super().__init__(context, pool)
        self.history: NumberHistory = NumberHistory()

    @property
    def is_closed(self) -> bool:
        """Whether it was given back, or others hold it, who give it back."""
        stands, wanted = self.found and self.found.object, self.desired and self.desired.target
        is_others = wanted is not None and wanted.is_shared and not wanted.is_open
        return self.found is not None and (stands is None or stands.held is None or is_others)

    def read(self, number: HeldNumber) -> PoolObject:
        assert number.foreign
        return read_number(self._context.api, self._context.namespace, self.pool.scaled, number.foreign)

    def decide(self, found: PoolFound, desired: DesiredState, history: PoolHistory | None) -> PoolPlan:
        before, subject = self.history.resets, f"{self._subject} was set back"
        plan = super().decide(found, desired, history)
        if self.history.resets != before:
            self._context.log.trouble(subject, ApiError(0, "SetBack", self.history.set_back))
        elif not self.history.set_back:
            self._context.log.works(subject)
        return plan
