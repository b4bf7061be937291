"""Two programs write one scale, and whatever takes turns with whatever, their values do not.

Random schedules: the main program, the scaler, sessions, people and the clock come in between wherever a
program waits for a server or a file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from berth.core.decisions import pool_target
from berth.runtime.apiclient import Request
from berth.runtime.program import TimetableSource
from berth.runtime.reports import ReportedSessions, parse_shared

from tests.runtime.fake_cluster import no_answer, refusal
from tests.runtime.pod import Pod
from tests.runtime.turns import Player, pause
from tests.runtime.world import COURSE, NEXT, timetable_text
from tests.seeds import seeds

SEEDS = seeds(2, 8)
TROUBLE = (no_answer(), refusal(409, "Conflict"), refusal(500, "InternalError"), refusal(403, "Forbidden"))


class Stage:
    """A pod whose programs take turns. `allowed` has, for each program, what it might wish at the moments of
    the step that it is in.
    """

    def __init__(self, pod: Pod, random: Random) -> None:
        self.pod, self.random = pod, random
        self.errors: list[BaseException] = []
        self.allowed: dict[str, set[int]] = {"occurrence": set(), "scaler": set()}
        self.wrong: list[tuple[str, int, set[int]]] = []
        self.players = {
            "occurrence": Player("occurrence", self._main, self.errors.append),
            "scaler": Player("scaler", self._scaler, self.errors.append),
        }
        pod.pause = pause
        if pod.beside is None:
            pod.cluster.watch = self._check

    def _main(self) -> None:
        self.allowed["occurrence"].clear()
        self.look()
        self.pod.main.tick()

    def _scaler(self) -> None:
        self.allowed["scaler"].clear()
        self.look()
        self.pod.scaler.step()

    def look(self) -> None:
        """After whatever has changed something."""
        shared = parse_shared(self.pod.files.get("counts", ""))
        told = shared.classes.get("small") if shared else None
        self._allow("occurrence", self.pod.main_source, told)
        seen = self.pod.observed.seen("small", self.pod.now)
        self._allow("scaler", self.pod.scaler_source, seen.counts)

    def _allow(self, name: str, source: TimetableSource, counts: ReportedSessions | None) -> None:
        if source.timetable:
            pool = source.timetable.pools[0]
            self.allowed[name].add(pool_target(source.timetable, pool, int(self.pod.now), counts).replicas)

    def _check(self, _deployment: str, replicas: int) -> None:
        who = self.pod.cluster.writers[-1]
        self.pod.on_write(_deployment, replicas)
        if replicas not in self.allowed[who]:
            self.wrong.append((who, replicas, set(self.allowed[who])))

    def turn(self) -> None:
        name = self.random.choice(("occurrence", "scaler"))
        self.players[name].turn()
        self.look()

    def lose_an_answer(self) -> None:
        """The next write is taken, and whoever wrote does not hear of it."""
        cluster = self.pod.cluster

        def lose(request: Request) -> None:
            if request.method == "PATCH" and "/deployments/" in request.path:
                cluster.interferences.remove(lose)
                cluster(request)
                raise no_answer()

        cluster.interferences.append(lose)

    def settle(self, rounds: int = 8) -> None:
        """Time in which nothing happens; each program works as it does then."""
        for _ in range(rounds):
            self.pod.now += 5
            self.look()
            names = ["occurrence", "scaler"]
            self.random.shuffle(names)
            for name in names:
                self.players[name].finish()
                self.look()


@contextmanager
def stage(seed: int, timetable: str, now: str = "08:00") -> Iterator[Stage]:
    made = Stage(Pod(now, timetable, 25), Random(seed))
    try:
        yield made
    finally:
        for player in made.players.values():
            player.stop()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce"])
def test_while_sessions_only_come_the_scale_only_falls(behaviour: str, seed: int) -> None:
    with stage(seed, timetable_text(COURSE, behaviour=behaviour)) as it:
        for _ in range(250):
            if it.random.random() < 0.1:
                it.pod.arrive(1)
                it.look()
            if it.random.random() < 0.05:
                it.pod.now += it.random.random()
                it.look()
            it.turn()
        it.settle()
        values = [write.replicas for write in it.pod.writes]

        assert it.errors == []
        assert it.wrong == []
        assert values == sorted(set(values), reverse=True)
        assert it.pod.replicas == it.pod.wished()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_whatever_happens_each_value_is_a_wish_of_its_step_and_all_is_right_in_the_end(
    behaviour: str, seed: int
) -> None:
    with stage(seed, timetable_text(COURSE, NEXT, behaviour=behaviour), "09:29:45") as it:
        for _ in range(300):
            happens = it.random.random()
            if happens < 0.06:
                it.pod.arrive(it.random.choice((1, 1, 2, -1)) if it.pod.wished() < 25 else 1)
            elif happens < 0.1:
                it.pod.cluster.set("course-small", it.random.choice((0, 3, 100)))
            elif happens < 0.13:
                it.pod.cluster.interfere("/deployments/", it.random.choice(TROUBLE), times=1)
            elif happens < 0.14:
                it.lose_an_answer()
            elif happens < 0.2:
                it.pod.now += it.random.choice((0.01, 0.3, 1.0))
            it.look()
            it.turn()
        it.pod.cluster.interferences.clear()
        it.settle(4)
        settled = len(it.pod.writes)
        it.settle(1)

        assert it.errors == []
        assert it.wrong == []
        assert it.pod.replicas == it.pod.wished()
        assert behaviour == "reduce" or len(it.pod.writes) == settled


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("pods", [1, 2])
def test_after_the_first_value_of_an_edit_there_is_none_of_the_timetable_before(pods: int, seed: int) -> None:
    """The values of the two are told apart by their size. Two pods are those of a run that was doubled."""
    before = timetable_text(COURSE, behaviour="maintain")
    after = timetable_text((*COURSE[:4], {"small": 1000}), behaviour="maintain")
    with stage(seed, before) as it, company(it, before, pods - 1) as others:
        for n in range(400 * pods):
            if n == 100:
                it.pod.cluster.timetable = after
            if it.random.random() < 0.05:
                it.pod.arrive(1)
            if it.random.random() < 0.03:
                it.pod.cluster.set("course-small", it.random.choice((0, 5000)))
            if it.random.random() < 0.3:
                it.pod.now += 0.3
            it.random.choice((it, *others)).turn()
        for _ in range(8):
            it.settle(1)
            for player in (player for other in others for player in other.players.values()):
                player.finish()
        values = [write.replicas for write in it.pod.writes]
        first = next(n for n, value in enumerate(values) if value > 100)

        assert [pod.errors for pod in (it, *others)] == [[]] * pods
        assert min(values[first:]) > 100
        assert it.pod.replicas == it.pod.wished() > 100


@contextmanager
def company(first: Stage, timetable: str, number: int) -> Iterator[list[Stage]]:
    """Other pods of the same reservation: they see the same sessions at the same time."""
    others = []
    for _ in range(number):
        others.append(Stage(Pod("08:00", timetable, beside=first.pod), first.random))
    try:
        yield others
    finally:
        for player in (player for other in others for player in other.players.values()):
            player.stop()
