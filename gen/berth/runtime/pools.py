"""The reconciler of a pool: observe what stands, decide, act; and pause after a failure.

It is level-triggered: a write that crosses another one is corrected at the next look.
"""

from collections.abc import Callable
from typing import Literal

from berth.core.holders import HeldNumber
from berth.core.objects import CONFIG_MAP, ObjectRef
from berth.core.pooldecision import ChangeSlots, PoolFound, PoolHistory, PoolPlan, ScalePool, decide_pool
from berth.core.poolobjects import PoolObject
from berth.core.target import DesiredState, PoolTarget
from berth.core.timetable import TimetablePool
from berth.runtime.actionrunner import Outcome, carry_out
from berth.runtime.apiclient import ApiError
from berth.runtime.program import LONGEST, NO_PAUSE, Pause, RuntimeContext, backoff

Access = Literal["full", "quick", "raise", "observe"]
"""What a look may do: anything; anything, on the replicas that were last seen, where nobody else writes them;
raise the number only; nothing."""


def pool_reconciler(context: RuntimeContext, pool: TimetablePool) -> "PoolReconciler":
    """Return the reconciler of what holds the pool."""
    if pool.holder.slots:
        from berth.plugins.slots.slotreconciler import SlotReconciler  # noqa: PLC0415 - where a cluster has them

        return SlotReconciler(context, pool)
    if pool.holder.foreign:
        from berth.plugins.numbers.numberreconciler import NumberReconciler  # noqa: PLC0415 - as above

        return NumberReconciler(context, pool)
    return PoolReconciler(context, pool)


class PoolReconciler:
    """Brings one pool to its desired state. This one holds a number in an object of Berth."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        self._context = context
        self.pool = pool  # as the timetable has it now: its object may be read in another version of its API
        self._subject = f"{pool.object_kind.name.lower()} {pool.scaled}"
        self._failures = 0
        self._stood: float | None = None  # the number at which it last stood as desired
        self.history = PoolHistory()
        self.found: PoolFound | None = None  # at the last look, and what was written since; None: it failed
        self.desired: DesiredState | None = None  # at the last look
        self.pause = NO_PAUSE
        self.is_refused = False  # the last attempt was forbidden
        self.is_busy = False  # there is more to do than was done
        self.is_held = True  # its Lease was, at the last look

    @property
    def is_closed(self) -> bool:
        """Whether it holds nothing."""
        stands = self.found.object if self.found else None
        return self.found is not None and (stands is None or not stands.replicas)

    @property
    def is_left_alone(self) -> bool:
        """Whether the pool exists and its desired state is not known yet."""
        return self.desired is None and self.found is not None

    @property
    def ready(self) -> int | None:
        """The number of seats that a session can take; None if nobody tells."""
        stands = self.found.object if self.found else None
        if stands and not stands.tells_ready:
            return None
        return stands.ready if stands else 0

    def reconcile(self, desire: Callable[[], DesiredState | None], access: Access = "full") -> None:
        """Reconcile once, unless a pause after a failure has not ended.

        `desire` returns what is desired after the look, None to leave the pool as it is.
        """
        context, found, gone = self._context, self.found, None
        if self.pause.left(context.now()):
            return
        try:
            if found is None or found.object is None or access != "quick" or self.pool.holder.foreign:
                found, gone = self.observe()
            self.found, desired = found, desire()
            history = self.history if access in ("full", "quick") else None
            plan = self.decide(found, desired, history) if desired else None
            self.desired, self.is_busy = (plan.desired, plan.is_busy) if plan else (None, False)
            for action in plan.actions if plan and access != "observe" else ():
                if access != "raise" or isinstance(action, ChangeSlots) or action.to > action.pool.replicas:
                    self.note(action, carry_out(context, action, self.budget()))
            if gone and (self.desired is None or self.desired.target.is_open):
                raise gone
        except Exception as error:
            self.found = None
            self._failures += 1
            self.is_refused = isinstance(error, ApiError) and error.status == 403
            retry_after = min(error.retry_after, LONGEST) if isinstance(error, ApiError) else 0.0
            self.pause = Pause(context.now(), backoff(self._failures, retry_after, context.jitter()))
            context.log.trouble(self._subject, error)
            return
        if self.desired is not None:
            self.note_number(self.desired.target)
        self._failures, self.is_refused, self.pause = 0, False, NO_PAUSE
        context.log.works(self._subject)

    # What another holder does in its own way.

    def observe(self) -> tuple[PoolFound, ApiError | None]:
        """Return what stands, and the error if there is no object of this name to scale."""
        try:
            number = self.pool.holder.number
            return PoolFound(self.read(number) if number else None), None
        except ApiError as error:
            if not error.is_gone():
                raise
            return PoolFound(None), error

    def read(self, number: HeldNumber) -> PoolObject:
        return self._context.api.get_pool(self._context.namespace, self.pool.scaled, number)

    def decide(self, found: PoolFound, desired: DesiredState, history: PoolHistory | None) -> PoolPlan:
        self.pool = desired.target.pool
        ref = ObjectRef(CONFIG_MAP.name, "", "", desired.timetable.reservation, 0)
        return decide_pool(ref, found, desired, history=history)

    def budget(self) -> Callable[[int], bool]:
        """Return what `carry_out` asks between writes to slots."""
        return lambda _: True

    def note(self, action: ScalePool | ChangeSlots, outcome: Outcome) -> None:
        """Note and log what came of an action."""
        if isinstance(action, ScalePool) and outcome.object:
            self.found = (self.found or PoolFound(None))._replace(object=outcome.object)
            self.history.note_written(action, int(self._context.now()))
            self.tell(action)
        else:
            self.is_busy = True  # others have changed it meanwhile: look again

    def note_number(self, target: PoolTarget) -> None:
        """Note the number if the pool stands as desired: who sets another one then resets it."""
        stands = self.found.object if self.found else None
        number = stands.replicas if stands else 0
        if number == target.replicas:
            self._stood = number
        elif not target.is_open:
            self._stood = None  # it is somebody else's again

    def tell(self, action: ScalePool) -> None:
        """Log a number that was written, and what it depends on."""
        assert self.desired
        pool, target = action.pool, self.desired.target
        facts: dict[str, object] = {
            "pool": self.pool.resource_class,
            pool.number.object_kind.name.lower(): pool.ref.name,
            "occurrences": target.occurrences,
            "sessions": target.sessions,
            "override": target.override,
            "from": pool.replicas,
            "to": action.to,
            "reset": action.to == self._stood,  # somebody has set another one meanwhile
        }
        log = self._context.log
        (log.error if action.is_lost else log.info)("scaled", **facts)
