"""Reconcilers of pools: each brings one pool to its desired state and retries after failures.

A reconciler is level-triggered: it reads the current state, decides, and writes with the resourceVersion it
read. A concurrent write by somebody else is a conflict, and the reconciler decides again.
"""

from collections.abc import Callable

from berth.core.backoff import NO_PAUSE, Pause, backoff
from berth.core.decisions import DesiredState, PoolTarget, ReplicaChange, replica_change
from berth.core.objects import DEPLOYMENT, ObjectKind
from berth.runtime.apiclient import ApiError, ScaleTarget
from berth.runtime.program import RuntimeContext

ATTEMPTS = 5  # at a scale that others keep changing, before it counts as a failure

_ABSENT = ScaleTarget(0, "")  # what is not there holds no seats

Decide = Callable[[bool], DesiredState | None]
"""What is wished now; None: leave the pool as it is. True: somebody else has moved the pool, and may know a
newer timetable, so that must be read once more.
"""


class RetryingReconciler:
    """Brings one pool to its desired state, retries, and pauses after failures."""

    def __init__(self, context: RuntimeContext, subject: str) -> None:
        """`subject` names the pool in the log."""
        self._context = context
        self._subject = subject
        self._failures = 0
        self.desired: DesiredState | None = None  # at the last look
        self.pause = NO_PAUSE
        self.is_refused = False  # the last attempt was forbidden
        self.seen: ScaleTarget | None = None  # at the last look
        self.is_busy = False  # there is more to do than was done

    def reconcile(self, decide: Decide, *, quick: bool = False) -> None:
        """Reconcile once, unless a pause after a failure has not ended.

        `quick` writes with the last known resourceVersion instead of reading first; the server rejects it if
        the object has changed.
        """
        context = self._context
        if self.pause.left(context.now()):
            return
        try:
            self._attempt(decide, quick)
        except Exception as error:
            self._forget()
            self._fail(error)
            context.log.trouble(self._subject, error)
            return
        self._failures, self.is_refused = 0, False
        context.log.works(self._subject)

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        self.is_refused = isinstance(error, ApiError) and error.status == 403
        retry_after = error.retry_after if isinstance(error, ApiError) else 0.0
        context = self._context
        self.pause = Pause(context.now(), backoff(self._failures, retry_after, context.jitter()))

    def _attempt(self, decide: Decide, quick: bool) -> None:
        raise NotImplementedError

    def _forget(self) -> None:
        """Forget the last known state of the pool."""
        raise NotImplementedError


class ReplicaReconciler(RetryingReconciler):
    """Reconciles a pool whose seats are replicas of a Deployment or nodes of a NodePool."""

    def __init__(self, context: RuntimeContext, deployment: str, kind: ObjectKind = DEPLOYMENT) -> None:
        super().__init__(context, f"{kind.name.lower()} {deployment}")
        self._deployment = deployment
        self._kind = kind
        self._settled: DesiredState | None = None
        self._last: ScaleTarget | None = None  # as the server told at the last look or write; None: it failed

    @property
    def replicas(self) -> int | None:
        """The replicas at the last attempt; None if it failed."""
        return self._last.replicas if self._last else None

    @property
    def is_left_alone(self) -> bool:
        """Whether the pool exists and its desired state is not known yet."""
        return self.desired is None and self._last is not None

    def _forget(self) -> None:
        self._last = None

    def _attempt(self, decide: Decide, quick: bool) -> None:
        """Read, decide and write; read again at once after a conflict."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._write(decide, self._last if quick else None)
            except ApiError as error:
                if not error.is_conflict():
                    raise
            quick = False
        return self._write(decide, None)

    def _write(self, decide: Decide, known: ScaleTarget | None) -> None:
        gone, found = None, known
        if found is None:
            try:
                found = self.seen = self._look()
            except ApiError as error:
                self.seen = None
                if not error.is_gone():
                    raise
                gone, found = error, _ABSENT
        desired = decide(False)
        if desired and self._is_contested(found, desired):
            desired = decide(True)
        self.desired = desired
        if gone and (desired is None or desired.target.replicas):
            raise gone
        self._last = found
        if desired is None:
            return
        todo = replica_change(found.replicas, desired, self._settled)
        if todo is not None:
            taken = self._context.api.scale(
                self._context.namespace, self._deployment, todo.after, found.resource_version, self._kind
            )
            self._last = found._replace(replicas=taken.replicas, resource_version=taken.resource_version)
            self._tell(desired.target, todo)
        if self._last.replicas == desired.target.replicas:
            self._settled = desired

    def _look(self) -> ScaleTarget:
        return self._context.api.get_deployment(self._context.namespace, self._deployment, self._kind)

    def _is_contested(self, found: ScaleTarget, desired: DesiredState) -> bool:
        """Return whether somebody else scaled the pool: it is neither as left nor as desired."""
        left_at = self._settled.target.replicas if self._settled else 0
        return found.replicas not in (left_at, desired.target.replicas)

    def _tell(self, wanted: PoolTarget, todo: ReplicaChange) -> None:
        facts = {
            "who": self._context.who,
            "pool": wanted.pool.resource_class,
            self._kind.name.lower(): self._deployment,
            "occurrences": todo.occurrences,
            "from": todo.before,
            "to": todo.after,
            "reason": todo.reason,
        }
        self._context.log.info("scaled", **facts)
