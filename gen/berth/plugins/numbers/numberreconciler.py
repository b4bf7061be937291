"""The reconciler of a number of somebody else. Every write carries the version that it was decided on."""

from berth.core.pooldecision import PoolFound, ScalePool
from berth.core.timetable import TimetablePool
from berth.plugins.numbers.numberdecision import describe_reset
from berth.plugins.numbers.numberwrites import read_number, write_number
from berth.runtime.apiclient import BERTH_FIELD_MANAGERS, ApiError
from berth.runtime.pools import Desire, PoolReconciler
from berth.runtime.program import Pause, RuntimeContext

ATTEMPTS = 5  # at a number that others keep changing, before it counts as a failure
YIELD_SECONDS, LONGEST_YIELD = 60.0, 960.0  # to whoever sets back a number of theirs


class NumberReconciler(PoolReconciler):
    """Holds a number, and yields to who sets it back."""

    def __init__(self, context: RuntimeContext, pool: TimetablePool) -> None:
        super().__init__(context, pool)
        self._written: object = None  # what the number was set to
        self._resets = 0  # how often they have set that back
        self._is_reset = False  # since it was written
        self._wrote_at = 0.0

    def observe(self) -> tuple[PoolFound, ApiError | None]:
        number = self._pool.holder.foreign
        assert number
        try:
            found = read_number(self._context.api, self._context.namespace, self._pool.scaled, number)
        except ApiError as error:
            if not error.is_gone():
                raise
            return PoolFound(None), error
        return PoolFound(found), None

    @property
    def is_closed(self) -> bool:
        """Whether it was given back, or others hold it, who give it back."""
        stands, wanted = self.found and self.found.object, self.desired and self.desired.target
        is_others = wanted is not None and wanted.is_shared and not wanted.is_open
        return self.found is not None and (stands is None or stands.held is None or is_others)

    def attempt(self, desire: Desire, *, quick: bool) -> None:  # noqa: ARG002 - it may change meanwhile
        for attempt in range(1, ATTEMPTS + 1):
            try:
                super().attempt(desire, quick=False)
                break
            except ApiError as error:
                if not error.is_conflict() or attempt == ATTEMPTS:
                    raise
        if self.set_back and not self._is_reset and self._context.now() - self._wrote_at > LONGEST_YIELD:
            self._forgive()

    def scale(self, action: ScalePool) -> None:
        if not self.may_write or self._must_yield(action):
            return
        changed = write_number(self._context.api, self._context.namespace, action)
        self._written, self._is_reset, self._wrote_at = action.value, False, self._context.now()
        self.found = self.found._replace(object=changed) if self.found else None
        self.tell(action)

    def _must_yield(self, action: ScalePool) -> bool:
        """Return whether to wait before writing a number again that they have set back.

        It is written again a minute after the last time at the earliest, and each time after twice as long.
        """
        if action.closes:
            self._forgive()
        if action.closes or action.value != self._written:
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
