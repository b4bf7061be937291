"""The scaler, the only program of an occurrence's pod that talks to the API server.

It observes the timetable, the sessions and the pools, decides, and acts: at each change of sessions, at each
instant of the timetable, and at least every eight seconds. It relies on the clock of the API server and on
nothing computed before. It writes the pools whose Leases it holds, and stands by for the others. When nothing
is open and all pools are closed, it says so to the main container, which ends the Job. On SIGTERM it scales
nothing: the seats stay, and the next pod of the Job takes the Leases.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType

from berth.core.jsonvalues import instant_text
from berth.core.leases import new_lease
from berth.core.objectnames import record, single
from berth.core.record import PoolObservation
from berth.core.sessions import Recognition
from berth.core.target import (
    EARLY_START,
    DesiredState,
    PoolTarget,
    counted_occurrences,
    desired_state,
    next_change,
    open_now,
    opens_within,
    pools_to_reconcile,
)
from berth.core.timetable import Timetable, TimetablePool, active_occurrences, next_override_end
from berth.core.timetable import override_target as overriding
from berth.runtime.apiclient import ACCOUNT, Api, Connections, in_cluster
from berth.runtime.leasekeeper import LeaseKeeper
from berth.runtime.occurrence import CLOSED, WAITING
from berth.runtime.pools import Access, PoolReconciler, pool_reconciler
from berth.runtime.program import (
    NO_PAUSE,
    Pause,
    RuntimeContext,
    ServerClock,
    TimetableSource,
    jitter,
    load_plugins,
    log_of,
    timetable_source,
)
from berth.runtime.recorder import Recorder
from berth.runtime.sessionobserver import ObservedSessions, SessionObserver

TICK = 8.0  # seconds, the longest sleep: how long a reset or a set clock can stay unseen
SOON = 0.5  # seconds between looks at a pool that waits for its sessions, or has more to do
REREAD = 24.0  # seconds between looks at a timetable; with a tick on top, half of what an edit may take
LIST_TIMEOUT = 10.0  # seconds for a first complete list of sessions; then all seats are held
PARALLEL_REQUESTS = 4  # writes to slots
RECORDER_SECONDS = 1.5  # for what holds no seats
RELEASE_SECONDS = 1.0  # for each request on SIGTERM, before the pod is killed
LEASE_SECONDS = 5.0  # for each request about a Lease: longer than a webhook should take


class Scaler:
    """One run of a reservation, from its first look until nothing is open and all pools are closed."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        source: TimetableSource,
        context: RuntimeContext,
        observed: SessionObserver,
        recorder: Recorder,
        say: Callable[[str], object],
        keeper: Callable[[str], LeaseKeeper],
    ) -> None:
        """`say` gives the main container its word, at each look. It may raise OSError.

        `keeper` makes what keeps the Lease of a name.
        """
        self._source, self._context, self._observed = source, context, observed
        self._recorder, self._write_word, self._make_keeper = recorder, say, keeper
        self._keepers: dict[str, LeaseKeeper] = {}  # by the name of the Lease
        self._opened: set[tuple[str, str]] = set()  # pools and occurrences that need no raise
        self._peers: dict[str, TimetableSource] = {}  # of other reservations that hold the same numbers
        self._reading = NO_PAUSE  # of the timetables
        self._looked = NO_PAUSE  # at all pools
        self._reconcilers: dict[str, PoolReconciler] = {}  # by key
        self._short_since: dict[str, float] = {}  # fewer seats are ready than wanted
        self._waits: dict[str, tuple[Recognition | None, Pause]] = {}  # by class, for its first complete list
        self._awaited = ""  # the occurrence that this run was told to wait for
        self._coming: float | None = None  # when counts of sessions change though nobody comes or goes
        self._word = ""
        self.exit_code: int | None = None  # None: go on

    def run(self, wait: Callable[[float], object]) -> int:
        """Run until everything is closed and return the exit code.

        `wait` sleeps after an unexpected error. If the API server says that there is no timetable, it says no
        word, and the main container ends the pod; while the timetable cannot be read, the pod waits.
        """
        while self.exit_code is None:
            try:
                seconds = self.step()
                if self.exit_code is None:
                    self._observed.wait(seconds)
            except Exception as error:
                self._context.log.trouble("run", error)
                wait(TICK)
            else:
                self._context.log.works("run")
        return self.exit_code

    def step(self) -> float:
        """Observe, decide and act once; return the seconds until the next look if nothing changes."""
        began = self._context.now()
        timetable = self._read(began)
        if timetable is None:
            self._say("" if self._source.is_missing else WAITING)
            return TICK
        self._recorder_safely(lambda: self._recorder.tell_open(timetable, int(began)))
        # Asked before the sessions: it takes notice of what has come, and that would not wake us any more.
        self._coming = self._observed.next_change(began)
        is_due = self._is_due(began)
        if is_due:
            self._looked = Pause(began, TICK)
        for key, reconciler in self._reconcilers.items():
            self._keep_leases(timetable)  # of all: a webhook may hold each write for half a minute
            self._say(self._word)
            access = self._access(key, is_due=is_due)
            if access == "raise":  # to the full count, whoever came
                known, now = self._source.timetable or timetable, int(self._context.now())
                reconciler.reconcile(partial(desired_state, known, reconciler.pool, now), access)
            elif access:
                reconciler.reconcile(partial(self._desired, reconciler), access)
        if self._source.timetable is not timetable:
            return 0.0  # read anew meanwhile
        is_over = self._is_over(timetable)
        # Of pods that hold different pools one writes the record. Others may have a shared number for long.
        first = min(self._named(timetable), key=lambda pool: bool(pool.peers), default=None)
        if first and not self._keepers[first.lease].is_others:
            self._recorder_safely(lambda: self._record(timetable, is_over))
        self._source.end_rehearsals(self._recorder.ended)
        if self._source.timetable is not timetable:
            return 0.0  # a rehearsal is over
        self._word = CLOSED if is_over else str(self._needed_until(timetable))
        if self._say(self._word) and is_over:
            self._context.log.info("ended", reason="nothing is open")
            self.release(None)
            self.exit_code = 0
        return self._sleep(began)

    def _access(self, key: str, *, is_due: bool) -> Access | None:
        """Return what the look at a pool may do now; None if there is nothing to look at.

        Without a Lease, a pool is opened once, at an opening at which nobody says who holds it: there are
        never fewer seats than promised.
        """
        reconciler = self._reconcilers[key]
        keeper, was_held = self._keepers[reconciler.pool.lease], reconciler.is_held
        opens = self._opens(key)
        reconciler.is_held = keeper.is_held
        if not keeper.is_held:
            return "raise" if opens and not keeper.is_others else "observe" if is_due else None
        if reconciler.pool.peers and not was_held:
            self._refresh()  # others held it until now, for what they ask
        is_waiting = reconciler.is_left_alone or reconciler.is_busy or reconciler.pause.seconds
        if is_due or is_waiting or not was_held:
            return "full"
        return "quick" if reconciler.pool.holder.is_stabilized else None

    def release(self, api: Api | None) -> None:
        """Give all Leases up, by another client if this one may be in the middle of a request."""
        for keeper in self._keepers.values():
            with self._context.log.guard("release"):
                keeper.release(api or self._context.api)

    def _keep_leases(self, timetable: Timetable) -> None:
        """Take and renew Leases, and learn from them which rehearsals are over."""
        metadata = new_lease(timetable.site, self._source.home)
        for name in {item.pool.lease: None for item in self._reconcilers.values()}:
            self._say(self._word)
            if name not in self._keepers:
                self._keepers[name] = self._make_keeper(name)
            keeper = self._keepers[name]
            keeper.keep(metadata, self._source.ended)
            if keeper.found:
                self._source.end_rehearsals(keeper.found.ended)

    def _opens(self, key: str) -> bool:
        """Return whether an occurrence of a pool has opened since the last look."""
        pool, timetable, now = self._reconcilers[key].pool, self._source.timetable, int(self._context.now())
        counted = counted_occurrences(active_occurrences(timetable), pool, now) if timetable else ()
        new = {(key, item.id) for item in counted if now < item.end} - self._opened
        self._opened |= new
        return bool(new)

    def _is_due(self, now: float) -> bool:
        """Return whether all pools are to be looked at: after a tick, and at each change of the timetable."""
        change = self._next_change(int(self._looked.since))
        return not self._looked.left(now) or (change is not None and change <= now)

    def _read(self, now: float) -> Timetable | None:
        """Return the timetable, read anew when that is due."""
        if not self._reading.left(now):
            self._reading = Pause(now, REREAD if self._refresh() else TICK)
        if (timetable := self._source.timetable) is not None:
            self._recorder_safely(lambda: self._recorder.resume(timetable, int(now)))
            self._source.end_rehearsals(self._recorder.ended)
            self._follow(self._source.timetable or timetable)
        return self._source.timetable

    def _refresh(self) -> bool:
        """Read the timetable, and those of other reservations that hold the same numbers.

        Pools that are no longer named may have to go back to what others ask for.
        """
        is_read, timetable = self._source.refresh(), self._source.timetable
        pools = (*self._pools().values(), *(timetable.pools if timetable else ()))
        for name in {name for pool in pools for name in pool.peers}:
            if name not in self._peers:
                self._peers[name] = timetable_source(name, single(name), self._context, f" of {name}")
            self._peers[name].refresh()
        return is_read

    def _follow(self, timetable: Timetable) -> None:
        self._observed.update(timetable)
        pools = pools_to_reconcile(self._pools(), timetable.pools)
        # After an edit it may lack the code of a pool, which then is the sweep's.
        unknown = {
            pool.lease for pool in pools.values() if {pool.holder.plugin} - self._context.plugins - {""}
        }
        known, self._reconcilers = self._reconcilers, {}
        for key, pool in pools.items():
            if pool.lease not in unknown:
                reconciler = known.get(key) or pool_reconciler(self._context, pool)
                reconciler.pool = pool
                self._reconcilers[key] = reconciler

    def _pools(self) -> dict[str, TimetablePool]:
        """Return the pools that this pod looks at, by key."""
        return {key: reconciler.pool for key, reconciler in self._reconcilers.items()}

    def _desired(self, reconciler: PoolReconciler) -> DesiredState | None:
        """Return the desired state of a pool; None leaves it as it is.

        Called after reading the pool, because that may take seconds.
        """
        timetable, pool = self._source.timetable, reconciler.pool
        if timetable is None:
            return None
        self._observed.update(timetable)
        # As this very timetable says it, which may be read but now.
        pool = next((known for known in timetable.pools if known.key == pool.key), pool)
        moment = self._context.now()
        now = int(moment)
        override = overriding(self._source.overrides, pool.resource_class, now)
        counted, sessions = counted_occurrences(active_occurrences(timetable), pool, now), None
        if pool.behavior != "none":
            is_early = self._awaits(pool, moment)  # from the first look on, open or not
            seen = self._seen(pool.resource_class, moment) if counted else ObservedSessions(None, False)
            if seen.pending and override is None and is_early:
                return None
            if seen.counts is not None:
                sessions = {item.id: seen.counts[item.id] for item in counted if item.id in seen.counts}
        peers = self._peer_targets(pool, now) if pool.peers else ()
        desired = desired_state(timetable, pool, now, sessions, self._source.overrides, peers)
        if not pool.holder.is_stabilized:
            return desired
        seconds = timetable.settings.stabilization_seconds
        return reconciler.history.stabilizer.settle(desired, moment, seconds)

    def _peer_targets(self, pool: TimetablePool, now: int) -> list[PoolTarget]:
        from berth.plugins.numbers.peers import peer_targets  # noqa: PLC0415 - where a cluster has them

        known = [source for source in self._peers.values() if not source.is_missing]
        return peer_targets(pool, ((source.timetable, source.overrides) for source in known), now)

    def _seen(self, resource_class: str, now: float) -> ObservedSessions:
        """Return the sessions of a class; unknown if a bug keeps us from counting, so that all seats open."""
        observed_sessions = ObservedSessions(None, pending=False)
        with self._context.log.guard(f"sessions of {resource_class}"):
            observed_sessions = self._observed.seen(resource_class, now)
        return observed_sessions  # noqa: RET504 (without the failure)

    def _awaits(self, pool: TimetablePool, now: float) -> bool:
        """Return whether there is time left for the first complete list of sessions, as recognized now."""
        known = self._waits.get(pool.resource_class)
        if known is None or known[0] != pool.sessions:
            known = self._waits[pool.resource_class] = pool.sessions, Pause(now, LIST_TIMEOUT)
        return known[1].left(now) > 0

    def _recorder_safely(self, action: Callable[[], object]) -> None:
        """Let the recorder act. Seats do not depend on it."""
        try:
            action()
        except Exception as error:
            self._context.log.trouble("record", error)

    def _record(self, timetable: Timetable, is_over: bool) -> None:
        now = self._context.now()
        self._recorder.note(timetable, self._looks(timetable, now), now)
        coming = self._next_change(int(now))
        if is_over:
            self._recorder.send_last(now)
        elif coming is None or coming - now > TICK:
            self._recorder.send(now)

    def _looks(self, timetable: Timetable, now: float) -> list[PoolObservation]:
        looks = []
        for pool in self._named(timetable):
            reconciler = self._reconcilers[pool.key]
            if reconciler.desired is None or not reconciler.found:
                continue
            wanted = reconciler.desired.target.replicas
            ready, sessions = reconciler.ready, reconciler.desired.sessions
            is_short = ready is not None and ready < wanted
            since = self._short_since.get(pool.key, now) if is_short else now
            self._short_since[pool.key] = since
            seen = PoolObservation(pool.resource_class, wanted, ready, sessions, since, pool.holder.kind)
            subject = self._source.home
            if pool.holder.has_deployment and (stands := reconciler.found.object):
                subject = stands.ref
            set_back = reconciler.history.set_back
            looks.append(seen._replace(set_back=set_back, found=reconciler.found, subject=subject))
        return looks

    def _named(self, timetable: Timetable) -> list[TimetablePool]:
        """Return the pools that the timetable names, and of which this pod has the code."""
        return [pool for pool in timetable.pools if pool.key in self._reconcilers]

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
            self._keepers[reconciler.pool.lease].is_others
            or reconciler.is_closed
            or (reconciler.is_refused and key not in named)
            for key, reconciler in self._reconcilers.items()
        )

    def _say(self, word: str) -> bool:
        """Tell the main container until when the pod is needed; return whether that was possible."""
        try:
            if word:
                self._write_word(word)
        except OSError as error:
            self._context.log.trouble("share", error)
            return False
        self._context.log.works("share")
        return bool(word)

    def _needed_until(self, timetable: Timetable) -> int:
        """Return the last end of what is open or opens soon, and of overrides, at least now."""
        now = int(self._context.now())
        ends = [item.end for item in active_occurrences(timetable) if item.open <= now + EARLY_START]
        ends += [override.until for override in self._source.overrides.values()]
        return max([end for end in ends if end > now], default=now)

    def _sleep(self, began: float) -> float:
        """Return the seconds until the next tick, change of the timetable, or end of a pause."""
        now = self._context.now()
        waits = [self._looked.left(now) or TICK]
        timetable = self._source.timetable
        seconds = timetable.settings.stabilization_seconds if timetable else 0
        reconcilers = self._reconcilers.values()
        settling = [reconciler.history.stabilizer.next_change(seconds) for reconciler in reconcilers]
        instants = (self._next_change(int(began)), self._coming, *settling)
        waits += [instant - now for instant in instants if instant is not None]
        waits += [keeper.pause.left(now) or TICK for keeper in self._keepers.values() if not keeper.is_held]
        for reconciler in reconcilers:
            waits.append(reconciler.pause.left(now) or TICK)
            if (reconciler.is_left_alone or reconciler.is_busy) and reconciler.is_held:
                waits.append(SOON)
        return max(0.0, min(waits))

    def _next_change(self, now: int) -> int | None:
        """Return the next change of the timetable or of an override."""
        timetable = self._source.timetable
        instants = (
            next_change(active_occurrences(timetable), now) if timetable else None,
            next_override_end(self._source.overrides.values(), now),
        )
        return min((instant for instant in instants if instant is not None), default=None)


def main(environment: Mapping[str, str] = os.environ, account: str = ACCOUNT) -> int:
    clock = ServerClock()
    log = log_of(environment, clock)
    scaler: Scaler | None = None

    def leave(_signal: int, _frame: FrameType | None) -> None:
        # Not by an exception: that could be caught or lost on its way, and a request may hold us.
        log.info("terminated", reason="SIGTERM; nothing is scaled")
        if scaler:
            scaler.release(Api(in_cluster(environment, account, RELEASE_SECONDS, RELEASE_SECONDS)))
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    try:
        plugins = load_plugins(environment, unused="sweep")
        aside = in_cluster(environment, account, RECORDER_SECONDS, RECORDER_SECONDS)
        leases = Api(in_cluster(environment, account, LEASE_SECONDS, LEASE_SECONDS))
        connections = Connections(partial(in_cluster, environment, account))
        api = Api(clock.learns_from(connections), parallel_requests=PARALLEL_REQUESTS)
        context = RuntimeContext(api, environment["BERTH_NAMESPACE"], log, clock, jitter, plugins=plugins)
        name, pod = record(environment["BERTH_RESERVATION"]), environment["HOSTNAME"]
        recorder = Recorder(Api(aside), context.namespace, name, log)
        if "rehearsals" in plugins:
            from berth.plugins.rehearsals.rehearsalrecorder import RehearsalRecorder  # noqa: PLC0415 - where used

            recorder = RehearsalRecorder(Api(aside), context.namespace, name, log)
        token_file = environment.get("BERTH_RENKU_TOKEN_FILE", "")
        observed = SessionObserver(context, partial(in_cluster, environment, account), token_file)
        path = f"{environment.get('BERTH_SHARE', '/share')}/until"

        def say(word: str) -> None:
            """Give the main container its word, an instant by the clock of the node that both have."""
            _replace(path, str(int(word) - int(clock.ahead)) if word.isdigit() else word)

        reservation = environment["BERTH_RESERVATION"]
        source = timetable_source(reservation, environment["BERTH_TIMETABLE"], context)
        keeper = partial(LeaseKeeper, leases, context, pod)
        scaler = Scaler(source, context, observed, recorder, say, keeper)
    except (KeyError, ValueError, ImportError) as error:
        log.error("ended", reason=f"missing or invalid environment variable: {error}")
        return 1
    scaler.run(time.sleep)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while True:
        signal.pause()  # until the main container has gone and the kubelet stops this one


def _replace(path: str, text: str) -> None:
    """Replace a file. Raises OSError if the folder is missing or full."""
    with open(f"{path}.new", "w", encoding="ascii") as file:  # noqa: PTH123 (pathlib is memory)
        file.write(text)
    os.replace(f"{path}.new", path)  # noqa: PTH105 (pathlib is memory)


if __name__ == "__main__":
    sys.exit(main())
