"""Reconcilers of pools: each brings one pool to its desired state and retries after failures.

A reconciler is level-triggered: it reads the current state, decides, and writes with the resourceVersion it
read. A concurrent write by somebody else is a conflict, and the reconciler decides again.
"""

from collections.abc import Callable

from gen.core.backoff import NO_PAUSE, Pause, backoff
from gen.core.decisions import DesiredState, PoolTarget, ReplicaChange, replica_change
from gen.core.objects import DEPLOYMENT, ObjectKind
from gen.runtime.apiclient import ApiError, ScaleTarget
from gen.runtime.program import RuntimeContext

ATTEMPTS = 5  # at a scale that others keep changing, before it counts as a failure

_ABSENT = ScaleTarget(0, "")  # what is not there holds no seats

Decide = Callable[[bool], DesiredState | None]
"""What is wished now; None: leave the pool as it is. True: somebody else has moved the pool, and may know a
newer timetable, so that must be read once more.
"""


class RetryingReconciler:
    """Tries to bring one pool to what is wished, again and again, and rests after failures."""

    def __init__(self, hands: RuntimeContext, subject: str) -> None:
        """`subject` names the pool in the log."""
        self._hands = hands
        self._subject = subject
        self._failures = 0
        self.aim: DesiredState | None = None  # at the last look
        self.pause = NO_PAUSE
        self.is_refused = False  # the last attempt was forbidden
        self.seen: ScaleTarget | None = None  # at the last look
        self.is_busy = False  # there is more to do than was done

    def keep(self, decide: Decide, *, quick: bool = False) -> None:
        """Does nothing during the pause after a failure. `quick` writes upon what the server last told, and
        so spares a look; the server refuses it if that is not so any more.
        """
        hands = self._hands
        if self.pause.left(hands.now()):
            return
        try:
            self._bring(decide, quick)
        except Exception as error:
            self._forget()
            self._fail(error)
            hands.log.trouble(self._subject, error)
            return
        self._failures, self.is_refused = 0, False
        hands.log.works(self._subject)

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        self.is_refused = isinstance(error, ApiError) and error.status == 403
        retry_after = error.retry_after if isinstance(error, ApiError) else 0.0
        hands = self._hands
        self.pause = Pause(hands.now(), backoff(self._failures, retry_after, hands.jitter()))

    def _bring(self, decide: Decide, quick: bool) -> None:
        raise NotImplementedError

    def _forget(self) -> None:
        """How the pool stands is not known any more."""
        raise NotImplementedError


class ReplicaReconciler(RetryingReconciler):
    """Of a pool whose seats are the replicas of its Deployment, or the nodes of its NodePool."""

    def __init__(self, hands: RuntimeContext, deployment: str, kind: ObjectKind = DEPLOYMENT) -> None:
        super().__init__(hands, f"{kind.name.lower()} {deployment}")
        self._deployment = deployment
        self._kind = kind
        self._settled: DesiredState | None = None
        self._last: ScaleTarget | None = None  # as the server told at the last look or write; None: it failed

    @property
    def replicas(self) -> int | None:
        """As the server said at the last attempt; None: that failed."""
        return self._last.replicas if self._last else None

    @property
    def is_left_alone(self) -> bool:
        """It stands, and nobody knows yet what is wished."""
        return self.aim is None and self._last is not None

    def _forget(self) -> None:
        self._last = None

    def _bring(self, decide: Decide, quick: bool) -> None:
        """Looks again at once where somebody else wrote in between."""
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
        aim = decide(False)
        if aim and self._is_contested(found, aim):
            aim = decide(True)
        self.aim = aim
        if gone and (aim is None or aim.wish.replicas):
            raise gone
        self._last = found
        if aim is None:
            return
        todo = replica_change(found.replicas, aim, self._settled)
        if todo is not None:
            taken = self._hands.api.scale(
                self._hands.namespace, self._deployment, todo.after, found.resource_version, self._kind
            )
            self._last = found._replace(replicas=taken.replicas, resource_version=taken.resource_version)
            self._tell(aim.wish, todo)
        if self._last.replicas == aim.wish.replicas:
            self._settled = aim

    def _look(self) -> ScaleTarget:
        return self._hands.api.get_deployment(self._hands.namespace, self._deployment, self._kind)

    def _is_contested(self, found: ScaleTarget, aim: DesiredState) -> bool:
        """It stands neither as it was left nor as it should: somebody else had a reason."""
        left_at = self._settled.wish.replicas if self._settled else 0
        return found.replicas not in (left_at, aim.wish.replicas)

    def _tell(self, wanted: PoolTarget, todo: ReplicaChange) -> None:
        facts = {
            "who": self._hands.who,
            "pool": wanted.pool.resource_class,
            self._kind.name.lower(): self._deployment,
            "occurrences": todo.occurrences,
            "from": todo.before,
            "to": todo.after,
            "reason": todo.reason,
        }
        self._hands.log.info("scaled", **facts)
