"""One run of a reservation: from its first look until nothing of it is open and all its pools are closed.

Every few seconds, and on the second at which an occurrence opens, starts or ends, it does the same: which
timetable holds, what does it want now, is it so? It trusts the wall clock of the moment and nothing that it
worked out before.
"""

from collections.abc import Callable

from gen.runtime.instant import instant_text
from gen.runtime.keeper import Hands, Keeper
from gen.runtime.pause import NO_PAUSE, Pause
from gen.runtime.plan import wish
from gen.runtime.source import Source
from gen.runtime.target import next_change, open_now, opens_within
from gen.runtime.timetable import Pool, Timetable, in_force

TICK = 5.0  # seconds, the longest sleep: how long a reset or a set clock can stay unseen
REREAD = 25.0  # seconds between looks at a timetable; with a tick on top, half of what an edit may take
EARLY = 120  # seconds: a run that comes this early waits, because clocks differ
BLIND_TICKS = 12  # without any timetable, before a fresh pod with fresh code and a fresh mount may try


class Run:
    def __init__(self, source: Source, hands: Hands) -> None:
        self._source = source
        self._hands = hands
        self._reading = NO_PAUSE
        self._blind = 0
        self._pools: dict[str, Pool] = {}  # by Deployment, all that any timetable of this run has named
        self._keepers: dict[str, Keeper] = {}
        self._told: set[str] = set()  # occurrences that the log says are open
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
            return TICK
        self._tell_occurrences(timetable)
        for deployment, pool in self._pools.items():
            # Wished at this very moment: the pool before may have taken seconds.
            wanted = wish(timetable, pool, int(self._hands.now()))
            self._keepers[deployment].keep(wanted, timetable)
        if self._is_over(timetable):
            self._hands.log.info("ended", reason="nothing is open")
            self.exit_code = 0
        return self._sleep(began, timetable)

    def _read(self, now: float) -> Timetable | None:
        if not self._reading.left(now):
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
            self._keepers.setdefault(deployment, Keeper(self._hands))
        return timetable

    def _tell_occurrences(self, timetable: Timetable) -> None:
        now = int(self._hands.now())
        found = {item.id: item for item in open_now(in_force(timetable), now)}
        for name in sorted(self._told - found.keys()):
            self._hands.log.info("over", occurrence=name)
        for name in sorted(found.keys() - self._told):
            self._hands.log.info("open", occurrence=name, until=instant_text(found[name].end))
        self._told = set(found)

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

    def _sleep(self, began: float, timetable: Timetable) -> float:
        """Until the next tick, the next instant of the timetable (one that passed meanwhile included), or the
        end of a pool's pause.
        """
        now = self._hands.now()
        coming = next_change(in_force(timetable), int(began))
        waits = [keeper.pause.left(now) or TICK for keeper in self._keepers.values()]
        return max(0.0, min(TICK, *waits, TICK if coming is None else coming - now))
