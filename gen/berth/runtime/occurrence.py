"""The main program of an occurrence's Job: opens the seats on time, and closes them at the end.

Every few seconds, and whenever an occurrence opens, starts or ends, it reads the timetable and reconciles all
pools. It relies on the current wall clock and on nothing computed before. Exit code 0 means that nothing is
open and all pools are closed. On SIGTERM before the end it exits with 143 and scales nothing: the seats stay,
and the next pod of the Job continues.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from berth.core.backoff import NO_PAUSE, Pause
from berth.core.decisions import (
    EARLY_START,
    DesiredState,
    desired_state,
    pools_to_reconcile,
    requesting_occurrences,
)
from berth.core.instants import instant_text
from berth.core.labels import RECORD
from berth.core.objects import CONFIG_MAP, EventSubject
from berth.core.overrides import next_override_end, override_end
from berth.core.overrides import override_target as overriding
from berth.core.record import PoolObservation
from berth.core.target import next_change, open_now, opens_within
from berth.core.timetable import Timetable, TimetablePool, active_occurrences
from berth.runtime.apiclient import SCALER_FIELD_MANAGER, Api
from berth.runtime.connection import ACCOUNT, in_cluster
from berth.runtime.program import (
    MAIN,
    RuntimeContext,
    TimetableSource,
    context_of,
    log_of,
    shared_path,
    source_of,
)
from berth.runtime.reconciler import ReplicaReconciler
from berth.runtime.recorder import Recorder
from berth.runtime.reports import (
    COUNTS,
    MAIN_ALIVE,
    ReportTracker,
    SharedState,
    file_reader,
    file_writer,
    fresh,
    parse_shared,
    shared_text,
)

if TYPE_CHECKING:
    from berth.runtime.slotreconciler import SlotReconciler

TICK = 5.0  # seconds, the longest sleep: how long a reset or a set clock can stay unseen
SOON = 0.5  # seconds between looks at a pool that waits to hear of its sessions, or has more to do
REREAD = 25.0  # seconds between looks at a timetable; with a tick on top, half of what an edit may take
NO_CODE = "this pod does not have the code for slots; the sweep starts a Job that does"
BLIND_TICKS = 12  # without any timetable, before a fresh pod with fresh code and a fresh mount may try


class MainShare(NamedTuple):
    """The files shared with the scaler.

    `read` returns its report, empty without one; `write` raises OSError.
    """

    read: Callable[[], str]
    write: Callable[[str], object]


class OccurrenceRun:
    """One run of a reservation, from its first look until nothing is open and all pools are closed."""

    def __init__(
        self, source: TimetableSource, context: RuntimeContext, folder: MainShare, recorder: Recorder
    ) -> None:
        self._source = source
        self._context = context
        self._folder = folder
        self._recorder = recorder
        self._reports = ReportTracker()
        self._reading = NO_PAUSE
        self._blind = 0
        self._pools: dict[str, TimetablePool] = {}  # by key
        self._reconcilers: dict[
            str, ReplicaReconciler | SlotReconciler
        ] = {}  # by key; of a pool that we cannot keep, none
        self._raised: dict[str, tuple[int, float]] = {}  # by key: what is wanted, since when that much
        self._awaited = ""  # the occurrence that this run was told to wait for
        self.exit_code: int | None = None  # None: go on

    def run(self, wait: Callable[[float], object]) -> int:
        """Run until the end and return the exit code.

        0: nothing is open any more. 1: no timetable could be read at all.
        """
        while True:
            seconds = self._tick_safely()
            if self.exit_code is not None:
                return self.exit_code
            wait(seconds)

    def _tick_safely(self) -> float:
        try:
            seconds = self.tick()
        except Exception as error:
            self._context.log.trouble("run", error)
            return TICK
        self._context.log.works("run")
        return seconds

    def tick(self) -> float:
        """Reconcile everything once; return the seconds to sleep. At the end, `exit_code` is set."""
        began = self._context.now()
        timetable = self._read(began)
        if timetable is None:
            self._live()
            return TICK
        self._tell_open(timetable)
        for key, reconciler in self._reconcilers.items():
            self._live()
            reconciler.reconcile(partial(self._desired, self._pools[key]))
        if self._source.timetable is not timetable:
            return 0.0  # read anew meanwhile
        is_over = self._is_over(timetable)
        self._tell(timetable, is_over)
        if is_over:
            self._context.log.info("ended", reason="nothing is open")
            self.exit_code = 0
        elif self._pools.keys() > self._reconcilers.keys() and self._are_closed(timetable):
            self._context.log.error("ended", reason=NO_CODE)
            self.exit_code = 0
        return self._sleep(began)

    def _read(self, now: float) -> Timetable | None:
        told = fresh(parse_shared(self._folder.read()), now)
        is_other = told is not None and told.timetable != self._source.version
        if is_other or not self._reading.left(now):
            self._reading = Pause(now, REREAD if self._source.refresh() else 0.0)
        timetable = self._source.timetable
        if timetable is None:
            self._blind += 1
            if self._blind == BLIND_TICKS:
                self._context.log.error("ended", reason="no timetable could be read; nothing is scaled")
                self.exit_code = 1
            return None
        self._follow(timetable)
        return timetable

    def _follow(self, timetable: Timetable) -> None:
        self._pools = pools_to_reconcile(self._pools, timetable.pools)
        found = {
            key: self._reconcilers.get(key) or self._reconciler(pool) for key, pool in self._pools.items()
        }
        self._reconcilers = {key: reconciler for key, reconciler in found.items() if reconciler}

    def _reconciler(self, pool: TimetablePool) -> "ReplicaReconciler | SlotReconciler | None":
        if pool.slots is None:
            return ReplicaReconciler(self._context, pool.scaled, pool.holder.scaled_kind)
        try:
            from berth.runtime.slotreconciler import SlotReconciler  # noqa: PLC0415 (most pods do not have it)
        except ImportError as error:
            self._context.log.trouble(f"slots of {pool.deployment}", error)
            return None
        return SlotReconciler(self._context, pool, pool.slots)

    def _live(self) -> None:
        """Update the file for the liveness probe, which also tells the scaler the current timetable."""
        said = shared_text(SharedState(self._context.now(), self._source.version))
        try:
            self._folder.write(said)
        except OSError as error:
            self._context.log.trouble("share", error)
        else:
            self._context.log.works("share")

    def _desired(self, pool: TimetablePool, is_contested: bool) -> DesiredState | None:
        """Return the desired state of a pool; None leaves it as it is.

        Called after reading the pool, because that may take seconds, and what the scaler knew when it wrote
        must be known here too.
        """
        if is_contested:
            self._source.refresh()
            self._live()
        timetable = self._source.timetable
        if timetable is None:
            return None
        # As this very timetable says it, which may be read but now.
        pool = next((known for known in timetable.pools if known.key == pool.key), pool)
        told = parse_shared(self._folder.read())
        moment = self._context.now()  # not before: what was told may be of the next second
        now, sessions = int(moment), None
        override = overriding(self._source.overrides, pool.resource_class, now)
        asking = requesting_occurrences(timetable, pool, now)
        if pool.behavior != "none" and asking:
            version = self._source.version
            report = self._reports.sessions(told, pool.resource_class, asking, version, moment)
            if report.is_awaited and override is None:
                return None
            sessions = report.sessions
        until = override_end(self._source.overrides, pool.resource_class)
        return desired_state(timetable, pool, now, sessions, override)._replace(until=until)

    def _tell_open(self, timetable: Timetable) -> None:
        try:
            self._recorder.tell_open(timetable, int(self._context.now()))
        except Exception as error:
            self._context.log.trouble("record", error)

    def _tell(self, timetable: Timetable, is_over: bool) -> None:
        """Report the state of the pools. Seats do not depend on it, and it delays no opening or end."""
        now = self._context.now()
        try:
            self._recorder.note(
                timetable, self._looks(timetable, now), self._subjects(timetable), now, self._source.home
            )
            coming = self._next_change(int(now))
            if is_over:
                self._recorder.send_last(now)
            elif coming is None or coming - now > TICK:
                self._recorder.send(now)
        except Exception as error:
            self._context.log.trouble("record", error)

    def _looks(self, timetable: Timetable, now: float) -> list[PoolObservation]:
        looks = []
        for pool in timetable.pools:
            reconciler = self._reconcilers.get(pool.key)
            if (
                reconciler is None
                or reconciler.desired is None
                or reconciler.seen is None
                or reconciler.replicas is None
            ):
                continue
            wanted = reconciler.desired.target.replicas
            before, since = self._raised.get(pool.key, (0, now))
            since = now if wanted > before else since
            self._raised[pool.key] = wanted, since
            sessions = reconciler.desired.sessions
            looks.append(
                PoolObservation(
                    pool.resource_class, wanted, reconciler.seen.ready, sessions, since, pool.holder.kind
                )
            )
        return looks

    def _subjects(self, timetable: Timetable) -> dict[str, EventSubject]:
        found = {}
        namespace, home = self._context.namespace, self._source.home
        for pool in timetable.pools:
            reconciler = self._reconcilers.get(pool.key)
            uid = reconciler.seen.uid if reconciler and reconciler.seen else ""
            found[pool.resource_class] = (
                EventSubject(namespace, pool.deployment, uid)
                if pool.holder.has_deployment
                else EventSubject(namespace, home.name, home.uid, CONFIG_MAP)
            )
        return found

    def _is_over(self, timetable: Timetable) -> bool:
        """Return whether nothing is open or opens soon, and all pools are closed.

        The run does not wait for a pool that the timetable no longer names and that it may not scale.
        """
        occurrences, now = active_occurrences(timetable), int(self._context.now())
        if open_now(occurrences, now) or not self._are_closed(timetable):
            return False
        coming = opens_within(occurrences, now, EARLY_START)
        if coming and coming.id != self._awaited:
            self._awaited = coming.id
            self._context.log.info("waiting", occurrence=coming.id, until=instant_text(coming.open))
        return coming is None

    def _are_closed(self, timetable: Timetable) -> bool:
        named = {pool.key for pool in timetable.pools}
        return all(
            reconciler.replicas == 0 or (reconciler.is_refused and key not in named)
            for key, reconciler in self._reconcilers.items()
        )

    def _sleep(self, began: float) -> float:
        """Return the seconds until the next tick, change of the timetable, or end of a pause."""
        now = self._context.now()
        coming = self._next_change(int(began))
        waits = [reconciler.pause.left(now) or TICK for reconciler in self._reconcilers.values()]
        if any(reconciler.is_left_alone or reconciler.is_busy for reconciler in self._reconcilers.values()):
            waits.append(SOON)
        return max(0.0, min(TICK, *waits, TICK if coming is None else coming - now))

    def _next_change(self, now: int) -> int | None:
        """Return the next change of the timetable or of an override."""
        timetable = self._source.timetable
        instants = (
            next_change(active_occurrences(timetable), now) if timetable else None,
            next_override_end(self._source.overrides.values(), now),
        )
        return min((instant for instant in instants if instant is not None), default=None)


TERMINATED = 128 + signal.SIGTERM
RECORDER_SECONDS = 1.5  # for what holds no seats: a tick and two of these stay below ten seconds


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    log = log_of(environment)

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # Not by an exception: that could be caught or lost on its way, and a request may hold us.
        log.info("terminated", reason="SIGTERM before the end; nothing is scaled")
        os._exit(TERMINATED)

    signal.signal(signal.SIGTERM, leave)
    try:
        connection = in_cluster(environment, account)
        aside = in_cluster(
            environment, account, read_seconds=RECORDER_SECONDS, write_seconds=RECORDER_SECONDS
        )
        context = context_of(environment, Api(connection), log, MAIN)
        name = f"{environment['BERTH_TIMETABLE']}-{RECORD}"
        recorder = Recorder(Api(aside, SCALER_FIELD_MANAGER), context.namespace, name, log)
        folder = MainShare(
            file_reader(shared_path(environment, COUNTS)), file_writer(shared_path(environment, MAIN_ALIVE))
        )
        run = OccurrenceRun(source_of(environment, context), context, folder, recorder)
    except (KeyError, ValueError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    with closing(connection), closing(aside):
        return run.run(time.sleep)


if __name__ == "__main__":
    sys.exit(main())
