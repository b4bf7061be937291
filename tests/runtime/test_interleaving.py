"""Two Jobs of one reservation write one scale, and whatever takes turns with whatever, each value is right.

Random schedules: scalers, sessions, people and the clock come in between wherever a program waits for the
server.
"""

from functools import partial
from itertools import pairwise

import pytest
from berth.core.target import pool_target
from berth.runtime.scaler import TICK

from tests.objectstore import no_answer, refusal
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, NEXT, at, timetable_text
from tests.runtime.turns import Stage, pause, playing
from tests.seeds import seeds

SEEDS = seeds(2, 8)
TROUBLE = (no_answer(), refusal(409, "Conflict"), refusal(500, "InternalError"), refusal(403, "Forbidden"))
CASTS = [("first",), ("first", "second")]


class Writers(Stage):
    """Programs that take turns. `allowed` has, for each, what it might wish at the moments of its step.

    A session that left does not raise the target for half a minute: lower ones of that time hold.
    """

    def __init__(self, seed: int, timetable: str, now: str, names: tuple[str, ...]) -> None:
        super().__init__(seed)
        self.pod = ScalerPod(now, timetable, small=25)
        self.pods = {"first": self.pod}
        if "second" in names:
            self.pods["second"] = ScalerPod(now, timetable, beside=self.pod)
            self.pods["second"].observed.sessions = self.pod.observed.sessions
        self.cluster = self.pod.cluster
        self.allowed: dict[str, set[int]] = {name: set() for name in names}
        self.wrong: list[tuple[str, int, set[int]]] = []
        self.targets: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
        for name, pod in self.pods.items():
            self.cast(name, partial(self._step, name, pod))
            pod.pause = pause
        self.cluster.watch = self._check

    def _step(self, name: str, pod: ScalerPod) -> None:
        self.allowed[name].clear()
        self.look()
        pod.scaler.step()

    def look(self) -> None:
        """After whatever has changed something."""
        now = self.pod.now
        for name, pod in self.pods.items():
            if timetable := pod.source.timetable:
                pool, targets = timetable.pools[0], self.targets[name]
                counts = None if pool.behavior == "none" else pod.observed.seen("small", now).counts
                target = pool_target(timetable, pool, int(now), counts).replicas
                targets.append((now, target))
                since = now - timetable.settings.stabilization_seconds
                self.allowed[name] |= {
                    target,
                    *(known for at, known in targets if at > since and known < target),
                }

    def _check(self, deployment: str, replicas: int) -> None:
        self.pod.on_write(deployment, replicas)
        if replicas not in self.allowed[playing()]:
            self.wrong.append((playing(), replicas, set(self.allowed[playing()])))

    @property
    def values(self) -> list[int]:
        return [replicas for _, replicas in self.pod.seats]

    def turn(self) -> None:
        super().turn()
        self.look()

    def settle(self, rounds: int = 8) -> None:
        """Time in which nothing happens; each program works as it does then."""
        for _ in range(rounds):
            self.pod.now += TICK
            self.look()
            players = list(self.players.values())
            self.random.shuffle(players)
            for player in players:
                player.finish()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", CASTS, ids="-".join)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_every_written_value_is_a_current_target_and_the_last_is_correct(
    behaviour: str, names: tuple[str, ...], seed: int
) -> None:
    with Writers(seed, timetable_text(COURSE, NEXT, behaviour=behaviour), "09:29:45", names) as play:
        for _ in range(200 * len(names)):
            happens = play.random.random()
            if happens < 0.06:
                play.pod.arrive(play.random.choice((1, 1, 2, -1)) if play.pod.wished() < 25 else 1)
            elif happens < 0.1:
                play.cluster.set("course-small", play.random.choice((0, 3, 100)))
            elif happens < 0.13:
                play.cluster.interfere("/deployments/", play.random.choice(TROUBLE), times=1)
            elif happens < 0.14:
                play.cluster.lose_an_answer("PATCH /apis/apps")
            elif happens < 0.2:
                play.pod.now += play.random.choice((0.01, 0.3, 1.0))
            play.look()
            play.turn()
        play.cluster.interferences.clear()
        play.settle(4)
        settled = len(play.values)
        play.settle(1)

        assert play.errors == []
        assert play.wrong == []
        assert play.pod.replicas == play.pod.wished()
        assert behaviour == "reduce" or len(play.values) == settled


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", CASTS, ids="-".join)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_a_pool_opens_once_and_closes_once_during_one_window(
    behaviour: str, names: tuple[str, ...], seed: int
) -> None:
    row = ("course/1", "08:00", "08:01", "08:03", {"small": 25})
    with Writers(seed, timetable_text(row, behaviour=behaviour), "07:59:30", names) as play:
        play.cluster.set("course-small", 0)
        while play.pod.now < at("08:03:20"):
            if play.random.random() < 0.3:
                play.pod.now += play.random.choice((0.01, 0.3, 1.0))
                play.look()
            play.turn()
        play.settle(7)
        moves = [after - before for before, after in pairwise([0, *play.values])]

        assert play.errors == []
        assert play.wrong == []
        assert [move > 0 for move in moves].count(True) == 1
        assert 0 not in moves
        assert (play.values[0], play.values[-1]) == (25, 0)
        assert [pod.scaler.exit_code for pod in play.pods.values()] == [0] * len(play.pods)
        assert [pod.word for pod in play.pods.values()] == ["closed"] * len(play.pods)
