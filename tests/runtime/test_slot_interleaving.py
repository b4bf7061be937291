"""Two Jobs of one reservation and the sweep write the same slots, and whatever takes turns with whatever, no
session loses its slot, and all is right in the end.

Random schedules: programs, sessions, Koordinator, people and the clock come in between wherever a program
waits for the server.
"""

import pytest
from berth.core.labels import SWEEP_FIELD_MANAGER
from berth.core.objects import LEASE, SLOT
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.apiclient import Api
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.sweep import Sweep, SweepSettings

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_koordinator import PATH
from tests.runtime.slotworld import SlotWorld, slot_text
from tests.runtime.sweepworld import NAMESPACE, SITE, FakeObjects, cronjob, timetable
from tests.runtime.timetables import Row, at
from tests.runtime.turns import Stage, pause, pausing
from tests.seeds import seeds

ROW: Row = ("course/1", "07:30", "07:35", "10:00", {"small": 6})
TROUBLE = (no_answer(), refusal(409, "Conflict"), refusal(500, "InternalError"), refusal(403, "Forbidden"))


class Writers(Stage):
    """Programs that take turns, with one set of Leases."""

    def __init__(self, seed: int, text: str, *players: str) -> None:
        super().__init__(seed)
        self.world = SlotWorld("08:00", text)
        self.world.pause = pause
        self.koordinator = self.world.koordinator
        self.objects = FakeObjects(at("08:00"), timetable(text=text), cronjob())
        self.objects.koordinator = self.koordinator
        leases = LEASE.path(NAMESPACE)
        self.objects.collections[leases] = self.world.cluster.all_in(leases)
        self.counted: set[str] = set()
        self.tell()
        self.runs = [self.world.make() for name in players if name != "sweep"]
        steps = iter([run.step for run in self.runs])
        for name in players:
            self.cast(name, self._sweep if name == "sweep" else next(steps))

    def _sweep(self) -> None:
        self.objects.now = int(self.world.now)
        log = Log(lambda _: None, lambda: self.world.now, "")
        site = SweepSettings(SITE, prunes=False, inventory="", kinds=(SLOT,))
        api = Api(pausing(self.objects), SWEEP_FIELD_MANAGER)
        context = RuntimeContext(api, NAMESPACE, log, lambda: self.world.now, lambda: 0.0, lambda _: None)
        Sweep(context, site).run()

    def tell(self) -> None:
        self.world.sessions(small={"course/1": len(self.counted)})

    def happen(self) -> None:
        koordinator, random = self.koordinator, self.random
        names = [f"s{n}" for n in range(6)]
        match random.randrange(9):
            case 0 | 1:
                koordinator.schedule()
            case 2:
                self.counted.add(random.choice(names))
            case 3 if waiting := [name for name in self.counted if not self.is_bound(name)]:
                koordinator.enter(random.choice(waiting))
            case 4 if self.counted:
                self.counted.remove(random.choice(sorted(self.counted)))
            case 5:
                koordinator.leave(random.choice(names))
            case 6 if koordinator.objects and random.random() < 0.2:
                koordinator.objects.pop(random.choice(list(koordinator.objects)))
            case 7 if random.random() < 0.3:
                self.world.cluster.interfere(PATH, random.choice(TROUBLE), times=1)
            case _:
                self.world.now += random.choice((0.1, 1.0, 4.0))
        self.tell()

    def is_bound(self, name: str) -> bool:
        return self.koordinator.is_in_slot(name)

    def settle(self, rounds: int = 12) -> None:
        """Time in which nothing happens but what follows by itself."""
        for name in self.counted:
            if not self.is_bound(name):
                self.koordinator.enter(name)
        for name in [f"s{n}" for n in range(6) if f"s{n}" not in self.counted]:
            self.koordinator.leave(name)
        for _ in range(rounds):
            self.world.now += 5
            players = list(self.players.values())
            self.random.shuffle(players)
            for player in players:
                player.finish()
            self.koordinator.schedule()

    def wished(self) -> int:
        assert self.world.cluster.timetable
        read = parse_timetable(self.world.cluster.timetable)
        counts = {"course/1": len(self.counted)}
        return pool_target(read, read.pools[0], int(self.world.now), counts).replicas


@pytest.mark.parametrize(
    "players", [("first", "second"), ("first", "sweep"), ("first", "second", "sweep")], ids="-".join
)
@pytest.mark.parametrize("seed", seeds(1, 5))
@pytest.mark.parametrize("behaviour", ["maintain", "none", "reduce"])
def test_interleaved_programs_end_with_the_right_number_of_free_slots(
    behaviour: str, seed: int, players: tuple[str, ...]
) -> None:
    with Writers(seed, slot_text(ROW, behaviour=behaviour), *players) as play:
        for _ in range(300):
            if play.random.random() < 0.25:
                play.happen()
            play.turn()
        play.world.cluster.interferences.clear()
        play.settle()
        writes = len(play.koordinator.writes)
        play.settle(1)

        assert play.errors == []
        assert play.koordinator.used_deletes == []
        assert play.world.counts.split("+")[0] == str(play.wished())
        assert behaviour == "reduce" or len(play.koordinator.writes) == writes
