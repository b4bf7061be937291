"""The reconciler of a pool: observe what stands, decide, act; and pause after a failure.

It is level-triggered: a write that crosses another one is corrected at the next look.
"""

from collections.abc import Callable

from berth.core.objects import CONFIG_MAP
from berth.core.pooldecision import PoolDecision, PoolFound, ScalePool, decide_pool
from berth.core.poolobjects import ObjectRef
from berth.core.target import DesiredState, PoolTarget
from berth.core.timetable import TimetablePool
from berth.runtime.apiclient import ApiError
from berth.runtime.program import LONGEST, NO_PAUSE, Pause, RuntimeContext, backoff

Desire = Callable[[], DesiredState | None]
"""Returns what is desired now; None: leave the pool as it is."""


def pool_reconciler(context: RuntimeContext, pool: TimetablePool) -> "PoolReconciler":
    """Return the reconciler of what holds the pool."""
    if pool.slots:
        from berth.plugins.slots.slotreconciler import SlotReconciler  # noqa: PLC0415 - where a cluster has them

        return SlotReconciler(context, pool)
    if pool.holder.foreign:
        from berth.plugins.numbers.numberreconciler import NumberReconciler  # noqa: PLC0415 - as above

        return NumberReconciler(context, pool)
    return PoolReconciler(context, pool)


class PoolReconciler:
    """Brings one pool to its desired state. This one holds a number in an object of Berth."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        self._context, self._pool = context, pool
        self._subject = f"{pool.object_kind.name.lower()} {pool.scaled}"
        self._failures = 0
        self._stood: float | None = None  # the number at which it last stood as desired
        self.found: PoolFound | None = None  # at the last look, and what was written since; None: it failed
        self.desired: DesiredState | None = None  # at the last look
        self.pause = NO_PAUSE
        self.is_refused = False  # the last attempt was forbidden
        self.is_busy = False  # there is more to do than was done
        self.set_back = ""  # who has set back a number of theirs, and what to do
        self.may_write = True  # at the last look
        self.may_lower = True

    def follow(self, pool: TimetablePool) -> None:
        """Take the pool as the timetable has it now: its object may be read in another version of its API."""
        self._pool = pool

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
    def uid(self) -> str:
        return self.found.object.ref.uid if self.found and self.found.object else ""

    @property
    def ready(self) -> int | None:
        """The number of seats that a session can take; None if nobody tells."""
        stands = self.found.object if self.found else None
        if stands and not stands.tells_ready:
            return None
        return stands.ready if stands else 0

    def reconcile(
        self, desire: Desire, *, quick: bool = False, may_write: bool = True, may_lower: bool = True
    ) -> None:
        """Reconcile once, unless a pause after a failure has not ended.

        `quick` decides on the replicas that were last seen. Without `may_write` the pool is only observed.
        """
        context = self._context
        self.may_write, self.may_lower = may_write, may_lower
        if self.pause.left(context.now()):
            return
        try:
            self.attempt(desire, quick=quick)
        except Exception as error:
            self.found = None
            self._failures += 1
            self.is_refused = isinstance(error, ApiError) and error.status == 403
            retry_after = min(error.retry_after, LONGEST) if isinstance(error, ApiError) else 0.0
            self.pause = Pause(context.now(), backoff(self._failures, retry_after, context.jitter()))
            context.log.trouble(self._subject, error)
            return
        self._failures, self.is_refused, self.pause = 0, False, NO_PAUSE
        context.log.works(self._subject)

    def attempt(self, desire: Desire, *, quick: bool) -> None:
        """Observe, decide and act. Raises ApiError."""
        found, gone = self.found, None
        if found is None or found.object is None or not quick:
            found, gone = self.observe()
        self.found, desired = found, desire()
        decision = self.decide(found, desired) if desired else None
        self.desired = desired._replace(target=decision.target) if desired and decision else None
        if self.desired is not None and decision is not None:
            self.act(decision, self.desired)
        if gone and (self.desired is None or self.desired.target.is_open):
            raise gone
        if self.desired is not None:
            self.note_number(self.desired.target)

    # What another holder does in its own way.

    def observe(self) -> tuple[PoolFound, ApiError | None]:
        """Return what stands, and the error if there is no object of this name to scale."""
        context, pool, stands = self._context, self._pool, None
        try:
            if number := pool.holder.number:
                stands = context.api.get_pool(context.namespace, pool.scaled, number)
        except ApiError as error:
            if not error.is_gone():
                raise
            return PoolFound(None), error
        return PoolFound(stands), None

    def decide(self, found: PoolFound, desired: DesiredState) -> PoolDecision:
        ref = ObjectRef(CONFIG_MAP.name, "", "", desired.timetable.reservation, 0)
        return decide_pool(ref, found, desired)

    def act(self, decision: PoolDecision, desired: DesiredState) -> None:  # noqa: ARG002
        for action in decision.actions:
            if isinstance(action, ScalePool):
                self.scale(action)

    def scale(self, action: ScalePool) -> None:
        """Write the number of the pool, if that is allowed."""
        if not self.may_write or (action.to < action.pool.replicas and not self.may_lower):
            return
        pool = self._context.api.set_replicas(self._context.namespace, action.pool, int(action.to))
        self.found = (self.found or PoolFound(None))._replace(object=pool)
        self.tell(action)

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
        pool, target = action.pool, self.desired.target if self.desired else None
        facts: dict[str, object] = {
            "pool": self._pool.resource_class,
            pool.number.object_kind.name.lower(): pool.ref.name,
            "occurrences": target.occurrences if target else (),
            "sessions": target.sessions if target else None,
            "override": target.override if target else None,
            "from": pool.replicas,
            "to": action.to,
            "reset": action.to == self._stood,  # somebody has set another one meanwhile
        }
        log = self._context.log
        (log.error if action.is_lost else log.info)("scaled", **facts)
