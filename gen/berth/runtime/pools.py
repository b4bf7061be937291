"""The reconciler of a pool: observe what stands, decide, act; and pause after a failure.

It is level-triggered, and every write carries the resourceVersion it was decided on: a concurrent write is a
conflict, and the pool is observed again. Slots change by themselves, so they are listed at each look.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from berth.core.objects import CONFIG_MAP
from berth.core.obstacles import Obstacle, merge_obstacles
from berth.core.pooldecision import (
    ChangeSlots,
    PoolDecision,
    PoolFound,
    ScalePool,
    decide_pool,
    describe_reset,
)
from berth.core.poolobjects import ObjectRef
from berth.core.slots import (
    PlaceholderOwner,
    SessionDebounce,
    SlotCounts,
    count_slots,
    reported_sessions,
    slot_obstacles,
)
from berth.core.target import DesiredState
from berth.core.timetable import TimetablePool
from berth.runtime.apiclient import BERTH_FIELD_MANAGERS, ApiError
from berth.runtime.poolwrites import PlanResult, apply_plan, leave_slots, list_slots, write_number
from berth.runtime.program import NO_PAUSE, Pause, RuntimeContext, backoff

ATTEMPTS = 5  # at a pool that others keep changing, before it counts as a failure
MAX_WRITES = 250  # writes to slots at a look
YIELD_SECONDS, LONGEST_YIELD = 60.0, 960.0  # to whoever sets back a number of theirs
WRITE_BUDGET_SECONDS = 4.0  # seconds of writes to slots at a look: other pools and an end wait meanwhile

Desire = Callable[[bool], DesiredState | None]
"""Returns what is desired now; None: leave the pool as it is.

True: somebody else has changed the pool, and may know a newer timetable, so that must be read once more.
"""


class PoolReconciler:
    """Brings one pool to its desired state."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        self._context, self._pool = context, pool
        kind = pool.object_kind.name.lower()
        self._subject = f"slots of {pool.deployment}" if pool.slots else f"{kind} {pool.scaled}"
        self._failures = 0
        self._debounce = SessionDebounce()
        self._settled: DesiredState | None = None  # the last in which the pool stood as desired
        self._found: PoolFound | None = None  # at the last look, and what was written since; None: it failed
        self._left_replicas: float = 0
        self._left_slots = 0
        self._written: object = None  # what a number of somebody else was set to
        self._resets = 0  # how often they have set that back
        self._is_reset = False  # since it was written
        self._wrote_at = 0.0
        self._taken: set[str] = set()  # names of slots that are not among those of the pool
        self.desired: DesiredState | None = None  # at the last look
        self.pause = NO_PAUSE
        self.is_refused = False  # the last attempt was forbidden
        self.is_busy = False  # there is more to do than was done
        self.set_back = ""  # who has set back a number of theirs, and what to do
        self.may_write = True  # at the last look
        self._may_lower = True

    def follow(self, pool: TimetablePool) -> None:
        """Take the pool as the timetable has it now: its object may be read in another version of its API."""
        self._pool = pool

    @property
    def is_known(self) -> bool:
        """Whether the last attempt has not failed."""
        return self._found is not None

    @property
    def is_closed(self) -> bool:
        """Whether it holds nothing: there are no slots, and its number is 0 or was given back."""
        if self._found is None or self._left_slots:
            return False
        stands, wanted = self._found.object, self.desired.target if self.desired else None
        if stands and stands.tree:  # others hold it, who give it back
            return stands.held is None or (wanted is not None and wanted.is_shared and not wanted.is_open)
        return stands is None or not self._left_replicas

    @property
    def is_left_alone(self) -> bool:
        """Whether the pool exists and its desired state is not known yet."""
        return self.desired is None and self._found is not None

    @property
    def uid(self) -> str:
        return self._found.object.ref.uid if self._found and self._found.object else ""

    @property
    def ready(self) -> int | None:
        """The number of seats that a session can take; None if nobody tells."""
        if self._found is None:
            return 0
        if self._found.object and not self._found.object.tells_ready:
            return None
        placeholders = self._found.object.ready if self._found.object else 0
        slots = self._found.slots
        return len(slots.free) + max(len(slots.handed), placeholders)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What keeps seats from being ready, as far as the objects that hold them say so."""
        if self._found is None:
            return ()
        own = self._found.object.obstacle if self._found.object else None
        return merge_obstacles([*([own] if own else []), *slot_obstacles(self._found.slots)])

    @property
    def nodes(self) -> Mapping[str, int]:
        """How many slots each node has."""
        slots = self._found.slots.living if self._found else ()
        return Counter(slot.node for slot in slots if slot.node)

    def reconcile(
        self, desire: Desire, *, quick: bool = False, may_write: bool = True, may_lower: bool = True
    ) -> None:
        """Reconcile once, unless a pause after a failure has not ended.

        `quick` decides on the replicas that were last seen; the server rejects the write if the object has
        changed since, and it is observed again. Without `may_write` the pool is only observed.
        """
        context = self._context
        self.may_write, self._may_lower = may_write, may_lower
        if self.pause.left(context.now()):
            return
        try:
            self._attempt(desire, quick)
        except Exception as error:
            self._found = None
            self._failures += 1
            self.is_refused = isinstance(error, ApiError) and error.status == 403
            retry_after = error.retry_after if isinstance(error, ApiError) else 0.0
            self.pause = Pause(context.now(), backoff(self._failures, retry_after, context.jitter()))
            context.log.trouble(self._subject, error)
            return
        self._failures, self.is_refused, self.pause = 0, False, NO_PAUSE
        if self.set_back and not self._is_reset and context.now() - self._wrote_at > LONGEST_YIELD:
            self._forgive()
        context.log.works(self._subject)

    def _attempt(self, desire: Desire, quick: bool) -> None:
        """Reconcile; if the pool has changed before it could be scaled, observe again."""
        conflict = self._once(desire, quick=quick)
        for _ in range(ATTEMPTS - 1):
            if conflict is None:
                return
            conflict = self._once(desire, quick=False)
        if conflict:
            raise conflict

    def _once(self, desire: Desire, *, quick: bool) -> ApiError | None:
        """Observe, decide and act; return the conflict that kept the pool from being scaled."""
        gone = None
        is_ours = not (self._pool.slots or self._pool.holder.foreign)
        observed = self._found if quick and is_ours else None
        if observed is None or observed.object is None:
            observed, gone = self._observe()
        self._found, desired = observed, desire(False)
        decision = self._decide(observed, desired)
        if decision and decision.actions and self._is_contested(observed):
            desired = desire(True)
            decision = self._decide(observed, desired)
        self.desired = desired._replace(target=decision.target) if desired and decision else None
        self._note(observed)
        if self.desired is not None and decision is not None:
            self._pool = self.desired.target.pool  # its slots may have another shape now
            self.is_busy = decision.is_busy or self._is_handing_over(observed)
            for action in decision.actions if self.may_write else ():
                if not self._may_lower and isinstance(action, ScalePool) and action.to < action.pool.replicas:
                    continue
                if isinstance(action, ChangeSlots):
                    self._change_slots(action, self.desired)
                elif conflict := self._scale(action):
                    return conflict
        if gone and (self.desired is None or self.desired.target.is_open):
            raise gone
        if self.desired is None:
            return None
        spare = self._left_replicas if self._pool.slots is None else observed.slots.spare
        if spare == self.desired.target.replicas or (self._pool.holder.foreign and self.is_closed):
            self._settled = self.desired
        return None

    def _observe(self) -> tuple[PoolFound, ApiError | None]:
        """Return what stands, and the error if there is no object of this name to scale."""
        context, pool = self._context, self._pool
        pool_object, gone = None, None
        if number := pool.holder.number:
            try:
                pool_object = context.api.get_pool(context.namespace, pool.scaled, number)
            except ApiError as error:
                if not error.is_gone():
                    raise
                gone = error
        slots = SlotCounts()
        if pool.slots:
            home = PlaceholderOwner(context.namespace, pool.deployment)
            slots = count_slots(list_slots(context.api, pool.slots), home)
            self._taken -= slots.names
            slots = slots._replace(taken=frozenset(self._taken))
        return PoolFound(pool_object, slots), gone

    def _decide(self, observed: PoolFound, desired: DesiredState | None) -> PoolDecision | None:
        if desired is None:
            return None
        ref = ObjectRef(CONFIG_MAP.name, "", "", desired.timetable.reservation, 0)
        if desired.target.pool.slots:
            sessions = sum(reported_sessions(desired).values())
            seconds = desired.timetable.settings.stabilization_seconds
            settled = self._debounce.look(self._context.now(), sessions, observed.slots.owners, seconds)
            observed = observed._replace(settled=settled)
        return decide_pool(ref, observed, desired, settled=self._settled)

    def _is_contested(self, observed: PoolFound) -> bool:
        """Return whether somebody else has changed the pool since the last look."""
        replicas = observed.object.replicas if observed.object else 0
        return (replicas, len(observed.slots.present)) != (self._left_replicas, self._left_slots)

    def _note(self, observed: PoolFound) -> None:
        self._left_replicas = observed.object.replicas if observed.object else 0
        self._left_slots = len(observed.slots.present)

    def _is_handing_over(self, observed: PoolFound) -> bool:
        placeholders = bool(self._pool.slots and self._pool.slots.placeholders)
        ready = observed.object.ready if observed.object else 0
        return placeholders and bool(observed.slots.pending or observed.slots.handed or ready)

    def _scale(self, action: ScalePool) -> ApiError | None:
        context, pool = self._context, action.pool
        leave_slots(context.api, action.leaving, context.wait)
        if self._must_yield(action):
            return None
        try:
            changed = write_number(context.api, context.namespace, action)
        except ApiError as error:
            if error.is_conflict():
                return error
            raise
        self._left_replicas, self._written = changed.replicas, action.value
        self._is_reset, self._wrote_at = False, context.now()
        if self._found:
            self._found = self._found._replace(object=changed)
        facts: dict[str, object] = {
            "pool": self._pool.resource_class,
            pool.number.object_kind.name.lower(): pool.ref.name,
            "occurrences": action.occurrences,
            "from": pool.replicas,
            "to": action.to,
            "reason": action.why,
        }
        if action.is_lost:
            context.log.error("scaled", **facts)
        else:
            context.log.info("scaled", **facts)
        return None

    def _must_yield(self, action: ScalePool) -> bool:
        """Return whether to wait before writing somebody else's number again that they have set back.

        It is written again a minute after the last time at the earliest, and each time after twice as long.
        """
        if action.closes:
            self._forgive()
        if action.pool.tree is None or action.closes or action.value != self._written:
            self._resets = 0
            return False
        if not self._is_reset:
            self._is_reset = True
            self._resets += 1
            self.set_back = describe_reset(action, BERTH_FIELD_MANAGERS)
            self._context.log.trouble(f"{self._subject} was set back", ApiError(0, "SetBack", self.set_back))
        pause = Pause(self._wrote_at, min(YIELD_SECONDS * 2 ** (self._resets - 1), LONGEST_YIELD))
        return pause.left(self._context.now()) > 0

    def _forgive(self) -> None:
        """Note that nobody sets the number back any more."""
        self.set_back = ""
        self._context.log.works(f"{self._subject} was set back")

    def _change_slots(self, action: ChangeSlots, desired: DesiredState) -> None:
        context, began = self._context, self._context.now()
        done = apply_plan(
            context.api,
            action.slots,
            action.plan,
            context.now,
            lambda tried: tried < MAX_WRITES and 0 <= context.now() - began < WRITE_BUDGET_SECONDS,
        )
        self._left_slots += len(done.made) - len(done.removed)
        self._taken.update(done.taken)
        self.is_busy = self.is_busy or done.is_cut or bool(done.changed)
        if done.made or done.renewed or done.removed:
            self._tell_slots(action, desired, done)

    def _tell_slots(self, action: ChangeSlots, desired: DesiredState, done: PlanResult) -> None:
        assert self._found
        slots = self._found.slots
        facts: dict[str, object] = {
            "pool": self._pool.resource_class,
            "slots": action.slots.name if action.slots else "",
            "occurrences": desired.target.occurrences,
            "made": len(done.made),
            "renewed": len(done.renewed),
            "removed": len(done.removed),
            "free": desired.target.replicas,
            "used": len(slots.used),
            "reason": action.why,
        }
        self._context.log.info("slots", **facts)
