"""One run of a reservation: from its first look until nothing of it is open and all its pools are closed.

Every few seconds, and on the second at which an occurrence opens, starts or ends, it does the same: which
timetable holds, what does it want now, is it so? It trusts the wall clock of the moment and nothing that it
worked out before.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from gen.runtime.event import Subject
from gen.runtime.heard import Heard
from gen.runtime.instant import instant_text
from gen.runtime.keeper import Hands, Keeper
from gen.runtime.override import in_force as overriding
from gen.runtime.override import next_over
from gen.runtime.pause import NO_PAUSE, Pause
from gen.runtime.plan import Aim, aim_at, asking_of
from gen.runtime.record import Look
from gen.runtime.recorder import Recorder
from gen.runtime.share import Shared, believed, parse_shared, shared_text
from gen.runtime.source import Source
from gen.runtime.target import next_change, open_now, opens_within
from gen.runtime.timetable import Pool, Timetable, in_force

TICK = 5.0  # seconds, the longest sleep: how long a reset or a set clock can stay unseen
SOON = 0.5  # seconds between looks at a pool that waits to hear of its sessions
REREAD = 25.0  # seconds between looks at a timetable; with a tick on top, half of what an edit may take
EARLY = 120  # seconds: a run that comes this early waits, because clocks differ
BLIND_TICKS = 12  # without any timetable, before a fresh pod with fresh code and a fresh mount may try


class Folder(NamedTuple):
    """What a program shares with the other one of its pod. `read` gives an empty text where there is none;
    `write` raises OSError.
    """

    read: Callable[[], str]
    write: Callable[[str], object]


class Run:
    def __init__(self, source: Source, hands: Hands, folder: Folder, recorder: Recorder) -> None:
        self._source = source
        self._hands = hands
        self._folder = folder
        self._recorder = recorder
        self._heard = Heard()
        self._reading = NO_PAUSE
        self._blind = 0
        self._pools: dict[str, Pool] = {}  # by Deployment, all that any timetable of this run has named
        self._keepers: dict[str, Keeper] = {}
        self._raised: dict[str, tuple[int, float]] = {}  # by Deployment: what is wanted, since when that much
        self._awaited = ""  # the occurrence that this run was told to wait for
        self.exit_code: int | None = None  # None: go on

    def run(self, wait: Callable[[float], object]) -> int:
        """The exit code: 0 at the end, 1 if no timetable could be read at all. Nothing else ends it."""
        while True:
            seconds = self._tick_safely()
            if self.exit_code is not None:
                return self.exit_code
            wait(seconds)

    def _tick_safely(self) -> float:
        try:
            seconds = self.tick()
        except Exception as error:
            self._hands.log.trouble("run", error)
            return TICK
        self._hands.log.works("run")
        return seconds

    def tick(self) -> float:
        """One look at everything. Seconds to sleep; at the end `exit_code` is set."""
        began = self._hands.now()
        timetable = self._read(began)
        if timetable is None:
            self._live()
            return TICK
        self._tell_open(timetable)
        for deployment, pool in self._pools.items():
            self._live()
            self._keepers[deployment].keep(partial(self._aim, pool))
        if self._source.timetable is not timetable:
            return 0.0  # read anew meanwhile
        is_over = self._is_over(timetable)
        self._tell(timetable, is_over)
        if is_over:
            self._hands.log.info("ended", reason="nothing is open")
            self.exit_code = 0
        return self._sleep(began)

    def _read(self, now: float) -> Timetable | None:
        told = believed(parse_shared(self._folder.read()), now)
        is_other = told is not None and told.timetable != self._source.version
        if is_other or not self._reading.left(now):
            self._reading = Pause(now, REREAD if self._source.refresh() else 0.0)
        timetable = self._source.timetable
        if timetable is None:
            self._blind += 1
            if self._blind == BLIND_TICKS:
                self._hands.log.error("ended", reason="no timetable could be read; nothing is scaled")
                self.exit_code = 1
            return None
        self._pools |= {pool.deployment: pool for pool in timetable.pools}
        for deployment in self._pools:
            self._keepers.setdefault(deployment, Keeper(self._hands, deployment))
        return timetable

    def _live(self) -> None:
        """For the probe, and for the scaler, which leaves pools alone while it follows another timetable."""
        said = shared_text(Shared(self._hands.now(), self._source.version))
        try:
            self._folder.write(said)
        except OSError as error:
            self._hands.log.trouble("share", error)
        else:
            self._hands.log.works("share")

    def _aim(self, pool: Pool, is_contested: bool) -> Aim | None:
        """Asked after each look at the pool: the one before may have taken seconds, and what the scaler knew
        when it wrote must be known here too.
        """
        if is_contested:
            self._source.refresh()
            self._live()
        timetable = self._source.timetable
        if timetable is None:
            return None
        told = parse_shared(self._folder.read())
        moment = self._hands.now()  # not before: what was told may be of the next second
        now, sessions = int(moment), None
        override = overriding(self._source.overrides, pool.resource_class, now)
        asking = asking_of(timetable, pool, now)
        if pool.behaviour != "none" and asking:
            version = self._source.version
            hearing = self._heard.sessions(told, pool.resource_class, asking, version, moment)
            if hearing.is_awaited and override is None:
                return None
            sessions = hearing.sessions
        return aim_at(timetable, pool, now, sessions, override)

    def _tell_open(self, timetable: Timetable) -> None:
        try:
            self._recorder.tell_open(timetable, int(self._hands.now()))
        except Exception as error:
            self._hands.log.trouble("record", error)

    def _tell(self, timetable: Timetable, is_over: bool) -> None:
        """Whatever goes wrong here, seats do not depend on it; nor does it take time from an instant that is
        near.
        """
        now = self._hands.now()
        try:
            self._recorder.note(timetable, self._looks(timetable, now), self._subjects(timetable), now)
            coming = self._next_change(int(now))
            if is_over:
                self._recorder.send_last(now)
            elif coming is None or coming - now > TICK:
                self._recorder.send(now)
        except Exception as error:
            self._hands.log.trouble("record", error)

    def _looks(self, timetable: Timetable, now: float) -> list[Look]:
        looks = []
        for pool in timetable.pools:
            keeper = self._keepers[pool.deployment]
            if keeper.aim is None or keeper.seen is None or keeper.replicas is None:
                continue
            wanted = keeper.aim.wish.replicas
            before, since = self._raised.get(pool.deployment, (0, now))
            since = now if wanted > before else since
            self._raised[pool.deployment] = wanted, since
            looks.append(Look(pool.resource_class, wanted, keeper.seen.ready, keeper.aim.sessions, since))
        return looks

    def _subjects(self, timetable: Timetable) -> dict[str, Subject]:
        found = {}
        for pool in timetable.pools:
            seen = self._keepers[pool.deployment].seen
            uid = seen.uid if seen else ""
            found[pool.resource_class] = Subject(self._hands.namespace, pool.deployment, uid)
        return found

    def _is_over(self, timetable: Timetable) -> bool:
        """Nothing is open or about to be, and every pool is known to be at zero. A pool that the timetable no
        longer names may be beyond our rights, and then nobody waits for it.
        """
        occurrences, now = in_force(timetable), int(self._hands.now())
        if open_now(occurrences, now):
            return False
        named = {pool.deployment for pool in timetable.pools}
        for deployment, keeper in self._keepers.items():
            if keeper.replicas != 0 and not (keeper.is_refused and deployment not in named):
                return False
        coming = opens_within(occurrences, now, EARLY)
        if coming and coming.id != self._awaited:
            self._awaited = coming.id
            self._hands.log.info("waiting", occurrence=coming.id, until=instant_text(coming.open))
        return coming is None

    def _sleep(self, began: float) -> float:
        """Until the next tick, the next instant of the timetable (one that passed meanwhile included), or the
        end of a pool's pause.
        """
        now = self._hands.now()
        coming = self._next_change(int(began))
        waits = [keeper.pause.left(now) or TICK for keeper in self._keepers.values()]
        if any(keeper.is_left_alone for keeper in self._keepers.values()):
            waits.append(SOON)
        return max(0.0, min(TICK, *waits, TICK if coming is None else coming - now))

    def _next_change(self, now: int) -> int | None:
        """Of the timetable and the overrides."""
        timetable = self._source.timetable
        instants = (
            next_change(in_force(timetable), now) if timetable else None,
            next_over(self._source.overrides.values(), now),
        )
        return min((instant for instant in instants if instant is not None), default=None)
