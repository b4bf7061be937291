"""The scaler, a sidecar of the main program: placeholders give way while sessions arrive.

It counts sessions, reports the counts to the main program and then scales. While the two programs follow
different timetables, it does not scale. It runs until the kubelet stops it.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType
from typing import NamedTuple, Protocol

from berth.core.backoff import NO_PAUSE, Pause
from berth.core.decisions import DesiredState, desired_state, requesting_occurrences
from berth.core.overrides import next_override_end
from berth.core.overrides import override_target as overriding
from berth.core.target import next_change
from berth.core.timetable import Timetable, TimetablePool, active_occurrences
from berth.runtime.apiclient import SCALER_FIELD_MANAGER, Api
from berth.runtime.connection import ACCOUNT, in_cluster
from berth.runtime.program import (
    SCALER,
    RuntimeContext,
    TimetableSource,
    context_of,
    jitter,
    log_of,
    shared_path,
    source_of,
)
from berth.runtime.reconciler import ReplicaReconciler
from berth.runtime.reports import (
    COUNTS,
    MAIN_ALIVE,
    SCALER_ALIVE,
    CountReport,
    ReportedSessions,
    SharedState,
    file_reader,
    file_writer,
    fresh,
    parse_shared,
    shared_text,
)
from berth.runtime.sessionobserver import SessionObserver
from berth.runtime.watch import MAX_RESPONSE_BYTES, WatchContext

TICK = 5.0  # seconds: the longest without a look at the pools
REREAD = 25.0  # seconds between looks at a timetable
LIST_TIMEOUT = 10.0  # seconds for a first complete list of sessions, before its absence is told
SOON = 1.0  # seconds, where the two programs do not follow the same timetable yet
AFTER_TROUBLE = 1.0  # seconds


class SessionView(Protocol):
    """The observed sessions of a class."""

    @property
    def counts(self) -> dict[str, int] | None: ...
    @property
    def pending(self) -> bool: ...


class SessionSource(Protocol):
    """Observes sessions: `berth.runtime.sessionobserver.SessionObserver` in the cluster."""

    def update(self, timetable: Timetable) -> None: ...
    def wait(self, seconds: float) -> None: ...
    def seen(self, resource_class: str, now: float, /) -> SessionView: ...
    def next_change(self, now: float) -> float | None: ...


class ScalerShare(NamedTuple):
    """The files shared with the main program.

    `hear` returns its report and `told` that of an earlier scaler, empty without one; `tell` and `live` raise
    OSError.
    """

    hear: Callable[[], str]
    told: Callable[[], str]
    tell: Callable[[str], object]
    live: Callable[[str], object]


class Scaler:
    """Scales the pools of a reservation by its sessions."""

    def __init__(
        self, source: TimetableSource, context: RuntimeContext, folder: ScalerShare, observed: SessionSource
    ) -> None:
        self._source = source
        self._context = context
        self._folder = folder
        self._observed = observed
        self._reading = self._debounce = NO_PAUSE  # since the timetable was last read
        self._looked = NO_PAUSE  # at all pools
        self._reconcilers: dict[str, ReplicaReconciler] = {}  # by Deployment
        self._waits: dict[str, Pause] = {}  # by class, for its first complete list
        self._earlier = fresh(parse_shared(folder.told()), context.now())
        self._coming: float | None = None  # when the counts change though nobody comes or goes
        self._is_told = False  # the main program can know what we count

    def run(self, wait: Callable[[float], object]) -> None:
        """Run until the pod ends. `wait` sleeps after an unexpected error."""
        while True:
            try:
                self._observed.wait(self.step())
            except Exception as error:
                self._context.log.trouble("scaler", error)
                wait(AFTER_TROUBLE)
            else:
                self._context.log.works("scaler")

    def step(self) -> float:
        """Reconcile everything once; return the seconds until the next step if nothing changes."""
        began = self._context.now()
        timetable = self._read(began)
        if timetable is not None:
            self._observed.update(timetable)
            self._follow(timetable)
        self._folder.live("")
        return self._sleep(began)

    def _read(self, now: float) -> Timetable | None:
        """Read the timetable when due, or soon if the main program follows another one."""
        if not self._reading.left(now) or not (self._debounce.left(now) or self._agrees(now)):
            self._reading = Pause(now, REREAD if self._source.refresh() else TICK)
            self._debounce = Pause(now, SOON)
        return self._source.timetable

    def _agrees(self, now: float) -> bool:
        main = fresh(parse_shared(self._folder.hear()), now)
        return main is None or main.timetable == self._source.version

    def _follow(self, timetable: Timetable) -> None:
        now = self._context.now()
        # Asked before the sessions: it takes notice of what has come, and that would not wake us any more.
        self._coming = self._observed.next_change(now)
        pools = [pool for pool in timetable.pools if pool.behavior != "none"]
        found = {pool.resource_class: self._counted(timetable, pool, now) for pool in pools}
        self._tell(now, found)
        is_due = not self._looked.left(now)
        if is_due:
            self._looked = Pause(now, TICK)
        # Slots follow sessions by themselves, and the main program alone makes and removes them.
        ours = [pool for pool in pools if pool.holder.is_scaled_by_sessions]
        self._reconcilers = {
            pool.deployment: self._reconcilers.get(pool.deployment)
            or ReplicaReconciler(self._context, pool.deployment)
            for pool in ours
        }
        for pool in ours:
            counted = found[pool.resource_class]
            if not counted.is_awaited:
                decide = partial(self._desired, timetable, pool, counted.sessions)
                self._reconcilers[pool.deployment].reconcile(decide, quick=not is_due)

    def _counted(self, timetable: Timetable, pool: TimetablePool, now: float) -> CountReport:
        seen = self._observed.seen(pool.resource_class, now)
        if seen.pending:
            wait = self._waits.setdefault(pool.resource_class, Pause(now, LIST_TIMEOUT))
            return CountReport(wait.left(now) > 0)
        if seen.counts is None:
            return CountReport(False)
        asking = requesting_occurrences(timetable, pool, int(now))
        return CountReport(False, {name: seen.counts[name] for name in asking if name in seen.counts})

    def _tell(self, now: float, found: Mapping[str, CountReport]) -> None:
        """Report the counts; classes that are not listed yet keep the counts of an earlier scaler."""
        classes = {name: counted.sessions for name, counted in found.items() if not counted.is_awaited}
        earlier = self._earlier.classes if self._earlier else {}
        classes |= {name: earlier[name] for name in found if name in earlier and name not in classes}
        try:
            self._folder.tell(shared_text(SharedState(now, self._source.version, classes)))
        except OSError as error:
            self._is_told = False
            self._context.log.trouble("share", error)
        else:
            self._is_told = True
            self._context.log.works("share")

    def _desired(
        self, timetable: Timetable, pool: TimetablePool, sessions: ReportedSessions | None, is_contested: bool
    ) -> DesiredState | None:
        """Return the desired state by the reported counts, None if they are not complete.

        An occurrence may have opened meanwhile, or the timetable may have changed.
        """
        if is_contested:
            self._source.refresh()
            if self._source.timetable is not timetable:
                return None
        now = self._context.now()
        if not self._is_told or not self._agrees(now):
            return None
        if sessions is not None and not sessions.keys() >= set(
            requesting_occurrences(timetable, pool, int(now))
        ):
            return None
        override = overriding(self._source.overrides, pool.resource_class, int(now))
        return desired_state(timetable, pool, int(now), sessions, override)

    def _sleep(self, began: float) -> float:
        now, timetable = self._context.now(), self._source.timetable
        instants = (
            next_change(active_occurrences(timetable), int(began)) if timetable else None,
            next_override_end(self._source.overrides.values(), int(began)),
            self._coming,
        )
        waits = [
            self._looked.left(now) or TICK,
            *(instant - now for instant in instants if instant is not None),
        ]
        for reconciler in self._reconcilers.values():
            waits.append(SOON if reconciler.is_left_alone else reconciler.pause.left(now) or TICK)
        return max(0.0, min(waits))


WRITE_SECONDS = 10.0  # well below the minute after which the main program would not believe us any more


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = log_of(environment)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        log.info("terminated", reason="SIGTERM")
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    try:
        connection = in_cluster(environment, account, write_seconds=WRITE_SECONDS)
        context = context_of(environment, Api(connection, SCALER_FIELD_MANAGER), log, SCALER)
        counts = shared_path(environment, COUNTS)
        folder = ScalerShare(
            file_reader(shared_path(environment, MAIN_ALIVE)),
            file_reader(counts),
            file_writer(counts),
            file_writer(shared_path(environment, SCALER_ALIVE)),
        )
        token_file = environment.get("BERTH_RENKU_TOKEN_FILE", "")
        watch_context = WatchContext(
            lambda: in_cluster(environment, account, most=MAX_RESPONSE_BYTES),
            context.namespace,
            log,
            time.time,
            jitter,
            token_file,
        )
        scaling = Scaler(source_of(environment, context), context, folder, SessionObserver(watch_context))
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    scaling.run(time.sleep)
    return 0


if __name__ == "__main__":
    sys.exit(main())
