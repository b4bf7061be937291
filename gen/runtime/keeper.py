"""Brings one pool to what is wished, and remembers how that went.

Each pool has a keeper of its own, so that the trouble of one never reaches another. It is level-triggered: it
looks, compares and writes, and never acts on what it only remembers.
"""

from collections.abc import Callable
from typing import NamedTuple

from gen.runtime.api import Api, ApiError
from gen.runtime.log import Log
from gen.runtime.pause import NO_PAUSE, Pause, after_failure
from gen.runtime.plan import Change, Settled, Wish, change
from gen.runtime.timetable import Timetable

ATTEMPTS = 5  # at a scale that others keep changing, before it counts as a failure


class Hands(NamedTuple):
    """What keepers act with. `jitter` gives numbers from 0 to 1."""

    api: Api
    namespace: str
    log: Log
    now: Callable[[], float]
    jitter: Callable[[], float]


class Keeper:
    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._settled: Settled | None = None
        self._failures = 0
        self.pause = NO_PAUSE
        self.replicas: int | None = None  # as the server said at the last attempt; None: that failed
        self.is_refused = False  # the last attempt was forbidden

    def keep(self, wanted: Wish, timetable: Timetable) -> None:
        """Does nothing during the pause after a failure."""
        hands = self._hands
        if self.pause.left(hands.now()):
            return
        subject = f"deployment {wanted.pool.deployment}"
        try:
            self.replicas = self._bring(wanted)
        except Exception as error:
            self._fail(error)
            hands.log.trouble(subject, error)
            return
        if self.replicas == wanted.replicas:
            self._settled = Settled(wanted, timetable)
        self._failures, self.is_refused = 0, False
        hands.log.works(subject)

    def _fail(self, error: Exception) -> None:
        self.replicas = None
        self._failures += 1
        self.is_refused = isinstance(error, ApiError) and error.status == 403
        retry_after = error.retry_after if isinstance(error, ApiError) else 0.0
        hands = self._hands
        self.pause = Pause(hands.now(), after_failure(self._failures, retry_after, hands.jitter()))

    def _bring(self, wanted: Wish) -> int:
        """The replicas afterwards. Looks again at once where somebody else wrote in between."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._look_and_write(wanted)
            except ApiError as error:
                if not error.is_conflict():
                    raise
        return self._look_and_write(wanted)

    def _look_and_write(self, wanted: Wish) -> int:
        api, namespace, deployment = self._hands.api, self._hands.namespace, wanted.pool.deployment
        try:
            found = api.get_scale(namespace, deployment)
        except ApiError as error:
            if error.is_gone() and not wanted.replicas:
                return 0  # what is not there holds no seats
            raise
        todo = change(found.replicas, wanted, self._settled, int(self._hands.now()))
        if todo is None:
            return found.replicas
        taken = api.scale(namespace, deployment, todo.after, found.resource_version)
        self._tell(wanted, todo)
        return taken.replicas

    def _tell(self, wanted: Wish, todo: Change) -> None:
        facts = {
            "pool": wanted.pool.resource_class,
            "deployment": wanted.pool.deployment,
            "occurrences": todo.occurrences,
            "from": todo.before,
            "to": todo.after,
            "reason": todo.reason,
        }
        self._hands.log.info("scaled", **facts)
