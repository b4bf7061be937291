"""Follows the sessions of a reservation with the placeholders of its pools, for as long as the pod lives.

At every change, and at least every few seconds, it does the same: which sessions count, what do the pools
want, is it so? It tells the main program what it counted before it writes any scale, and writes none while
the two follow different timetables: then the main program alone decides, and no two values take turns.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from gen.runtime.heard import Hearing
from gen.runtime.keeper import Hands, Keeper
from gen.runtime.override import in_force as overriding
from gen.runtime.override import next_over
from gen.runtime.pause import NO_PAUSE, Pause
from gen.runtime.plan import Aim, aim_at, asking_of
from gen.runtime.share import Counts, Shared, believed, parse_shared, shared_text
from gen.runtime.source import Source
from gen.runtime.target import next_change
from gen.runtime.timetable import Pool, Timetable, in_force

TICK = 5.0  # seconds: the longest without a look at the pools
REREAD = 25.0  # seconds between looks at a timetable
PATIENCE = 10.0  # seconds for a first complete list of sessions, before its absence is told
SOON = 1.0  # seconds, where the two programs do not follow the same timetable yet
AFTER_TROUBLE = 1.0  # seconds


class Seen(Protocol):
    @property
    def counts(self) -> dict[str, int] | None: ...
    @property
    def pending(self) -> bool: ...


class Observer(Protocol):
    """What is seen of the sessions: `gen.runtime.observed.Observed` in the cluster."""

    def update(self, timetable: Timetable) -> None: ...
    def wait(self, seconds: float) -> None: ...
    def seen(self, resource_class: str, now: float, /) -> Seen: ...
    def next_change(self, now: float) -> float | None: ...


class Folder(NamedTuple):
    """What is shared with the main program. `hear` gives an empty text where that has told nothing, `told`
    what a scaler before this one has; `tell` and `live` raise OSError.
    """

    hear: Callable[[], str]
    told: Callable[[], str]
    tell: Callable[[str], object]
    live: Callable[[str], object]


class Scaling:
    def __init__(self, source: Source, hands: Hands, folder: Folder, observed: Observer) -> None:
        self._source = source
        self._hands = hands
        self._folder = folder
        self._observed = observed
        self._reading = self._haste = NO_PAUSE  # since the timetable was last read
        self._looked = NO_PAUSE  # at all pools
        self._keepers: dict[str, Keeper] = {}  # by Deployment
        self._waits: dict[str, Pause] = {}  # by class, for its first complete list
        self._earlier = believed(parse_shared(folder.told()), hands.now())
        self._coming: float | None = None  # when the counts change though nobody comes or goes
        self._is_told = False  # the main program can know what we count

    def run(self, wait: Callable[[float], object]) -> None:
        """Never ends; the pod ends it. `wait` is for after what nobody had expected."""
        while True:
            try:
                self._observed.wait(self.step())
            except Exception as error:
                self._hands.log.trouble("scaler", error)
                wait(AFTER_TROUBLE)
            else:
                self._hands.log.works("scaler")

    def step(self) -> float:
        """One look at everything. Seconds until the next, if nothing changes before."""
        began = self._hands.now()
        timetable = self._read(began)
        if timetable is not None:
            self._observed.update(timetable)
            self._follow(timetable)
        self._folder.live("")
        return self._sleep(began)

    def _read(self, now: float) -> Timetable | None:
        """At once where the main program follows another timetable, but not in haste."""
        if not self._reading.left(now) or not (self._haste.left(now) or self._agrees(now)):
            self._reading = Pause(now, REREAD if self._source.refresh() else TICK)
            self._haste = Pause(now, SOON)
        return self._source.timetable

    def _agrees(self, now: float) -> bool:
        main = believed(parse_shared(self._folder.hear()), now)
        return main is None or main.timetable == self._source.version

    def _follow(self, timetable: Timetable) -> None:
        now = self._hands.now()
        # Asked before the sessions: it takes notice of what has come, and that would not wake us any more.
        self._coming = self._observed.next_change(now)
        pools = [pool for pool in timetable.pools if pool.behaviour != "none"]
        found = {pool.resource_class: self._counted(timetable, pool, now) for pool in pools}
        self._tell(now, found)
        is_due = not self._looked.left(now)
        if is_due:
            self._looked = Pause(now, TICK)
        # Slots follow sessions by themselves, and the main program alone makes and removes them.
        ours = [pool for pool in pools if pool.has_deployment and pool.slots is None]
        self._keepers = {
            pool.deployment: self._keepers.get(pool.deployment) or Keeper(self._hands, pool.deployment)
            for pool in ours
        }
        for pool in ours:
            counted = found[pool.resource_class]
            if not counted.is_awaited:
                decide = partial(self._aim, timetable, pool, counted.sessions)
                self._keepers[pool.deployment].keep(decide, quick=not is_due)

    def _counted(self, timetable: Timetable, pool: Pool, now: float) -> Hearing:
        seen = self._observed.seen(pool.resource_class, now)
        if seen.pending:
            wait = self._waits.setdefault(pool.resource_class, Pause(now, PATIENCE))
            return Hearing(wait.left(now) > 0)
        if seen.counts is None:
            return Hearing(False)
        asking = asking_of(timetable, pool, int(now))
        return Hearing(False, {name: seen.counts[name] for name in asking if name in seen.counts})

    def _tell(self, now: float, found: Mapping[str, Hearing]) -> None:
        """What is awaited stays as a scaler before this one has told it."""
        classes = {name: counted.sessions for name, counted in found.items() if not counted.is_awaited}
        earlier = self._earlier.classes if self._earlier else {}
        classes |= {name: earlier[name] for name in found if name in earlier and name not in classes}
        try:
            self._folder.tell(shared_text(Shared(now, self._source.version, classes)))
        except OSError as error:
            self._is_told = False
            self._hands.log.trouble("share", error)
        else:
            self._is_told = True
            self._hands.log.works("share")

    def _aim(
        self, timetable: Timetable, pool: Pool, sessions: Counts | None, is_contested: bool
    ) -> Aim | None:
        """By the counts that were told, and only where they are whole: meanwhile one more may have opened, or
        another timetable may hold.
        """
        if is_contested:
            self._source.refresh()
            if self._source.timetable is not timetable:
                return None
        now = self._hands.now()
        if not self._is_told or not self._agrees(now):
            return None
        if sessions is not None and not sessions.keys() >= set(asking_of(timetable, pool, int(now))):
            return None
        override = overriding(self._source.overrides, pool.resource_class, int(now))
        return aim_at(timetable, pool, int(now), sessions, override)

    def _sleep(self, began: float) -> float:
        now, timetable = self._hands.now(), self._source.timetable
        instants = (
            next_change(in_force(timetable), int(began)) if timetable else None,
            next_over(self._source.overrides.values(), int(began)),
            self._coming,
        )
        waits = [
            self._looked.left(now) or TICK,
            *(instant - now for instant in instants if instant is not None),
        ]
        for keeper in self._keepers.values():
            waits.append(SOON if keeper.is_left_alone else keeper.pause.left(now) or TICK)
        return max(0.0, min(waits))
