"""Two Jobs of one reservation and the sweep write one scale, and whatever takes turns with whatever, no value
is below what is promised, and none comes back.

Random schedules: scalers, the sweep, sessions, people, an engine and the clock come in between wherever a
program waits for the server.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from berth.core.decide import decide
from berth.core.labels import SWEEP_FIELD_MANAGER
from berth.core.leases import PoolLease, parse_lease
from berth.core.objects import LEASE, ObjectRef
from berth.core.state import ReservationState, SiteState, TimetableObject
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.actionrunner import ActionRunner
from berth.runtime.apiclient import Api
from berth.runtime.program import Log, RuntimeContext, TimetableSource
from berth.runtime.scaler import TICK
from berth.runtime.sessionobserver import ObservedSessions

from tests.objectstore import no_answer, refusal
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, NEXT, at, timetable_text
from tests.runtime.turns import Stage, pause, pausing, playing
from tests.seeds import seeds

SEEDS = seeds(2, 8)
TROUBLE = (no_answer(), refusal(409, "Conflict"), refusal(500, "InternalError"), refusal(403, "Forbidden"))
CASTS = [("first",), ("first", "second"), ("first", "sweep"), ("first", "second", "sweep")]
SWEEP = "sweep"


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
        self.edited = 0
        self.allowed: dict[str, set[int]] = {name: set() for name in names}
        self.wrong: list[tuple[str, int, set[int]]] = []
        self.targets: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
        self.swept = ""  # the timetable that the sweep has read
        steps: dict[str, Callable[[], object]] = {
            name: partial(self._step, name, pod) for name, pod in self.pods.items()
        }
        steps[SWEEP] = self._sweep
        for name in names:
            self.cast(name, steps[name])
        for pod in self.pods.values():
            pod.pause = pause
        self.cluster.watch = self._check

    def _step(self, name: str, pod: ScalerPod) -> None:
        self.allowed[name].clear()
        self.look()
        pod.scaler.step()

    def _sweep(self) -> None:
        """What a sweep does, from its lists to its actions."""
        self.allowed[SWEEP].clear()
        api = Api(pausing(self.cluster), SWEEP_FIELD_MANAGER)
        refs = {
            kind: ObjectRef(kind, name, f"uid-{kind}", "course", 0)
            for kind, name in (("ConfigMap", "course"), ("Deployment", "course-small"))
        }
        pool = api.get_pool("berth", "course-small")._replace(ref=refs["Deployment"])
        lease = api.find(LEASE, "berth", "course-small")
        leases: dict[str, PoolLease] = {"course-small": parse_lease(lease)} if lease else {}
        text = api.get_timetable("berth", "course").timetable
        self.swept = text
        self.look()
        state = SiteState(
            "example",
            (
                ReservationState(
                    "course",
                    (TimetableObject(refs["ConfigMap"], text, "", self.edited),),
                    (pool,),
                ),
            ),
            namespace="berth",
            leases=leases,
        )
        log = Log(lambda _: None, lambda: self.pod.now, "")
        context = RuntimeContext(api, "berth", log, lambda: self.pod.now, lambda: 0.0, lambda _: None)
        ActionRunner(context, state, self.pod.now).act(decide(state, int(self.pod.now)).actions)

    def look(self) -> None:
        """After whatever has changed something."""
        for name, pod in self.pods.items():
            self._allow(name, pod.source, pod.observed.seen("small", self.pod.now))
        if self.swept:
            timetable = parse_timetable(self.swept)
            target = pool_target(timetable, timetable.pools[0], int(self.pod.now))
            self.allowed[SWEEP].add(target.replicas)

    def _allow(self, name: str, source: TimetableSource, seen: ObservedSessions) -> None:
        if source.timetable:
            pool = source.timetable.pools[0]
            counts = None if pool.behavior == "none" else seen.counts
            now, targets = self.pod.now, self.targets[name]
            target = pool_target(source.timetable, pool, int(now), counts).replicas
            targets.append((now, target))
            since = now - source.timetable.settings.stabilization_seconds
            lower = {known for at, known in targets if at > since and known < target}
            self.allowed[name] |= {target, *lower}

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

    def edit(self, text: str) -> None:
        self.cluster.timetable, self.edited = text, int(self.pod.now)

    def settle(self, rounds: int = 8) -> None:
        """Time in which nothing happens; each program works as it does then."""
        for _ in range(rounds):
            self.pod.now += TICK
            self.look()
            names = list(self.players)
            self.random.shuffle(names)
            for name in names:
                self.finish(name)

    def finish(self, name: str) -> None:
        """Let it go on until a step is done."""
        player, steps = self.players[name], self.players[name].steps
        while player.steps == steps:
            player.turn()
            self.look()


def stage(
    seed: int, timetable: str, now: str = "08:00", names: tuple[str, ...] = ("first", "second", SWEEP)
) -> Writers:
    return Writers(seed, timetable, now, names)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", CASTS, ids="-".join)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_every_written_value_is_a_current_target_and_the_last_is_correct(
    behaviour: str, names: tuple[str, ...], seed: int
) -> None:
    with stage(seed, timetable_text(COURSE, NEXT, behaviour=behaviour), "09:29:45", names) as play:
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

        assert SWEEP in names or play.errors == []  # a sweep that cannot read ends, and comes back
        assert play.wrong == []
        assert play.pod.replicas == play.pod.wished()
        assert behaviour == "reduce" or len(play.values) == settled


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", CASTS, ids="-".join)
def test_old_timetable_values_are_not_written_after_the_first_new_value(
    names: tuple[str, ...], seed: int
) -> None:
    """The values of the two are told apart by their size."""
    before = timetable_text(COURSE, behaviour="maintain")
    after = timetable_text((*COURSE[:4], {"small": 1000}), behaviour="maintain")
    with stage(seed, before, names=names) as play:
        for n in range(300 * len(names)):
            if n == 100:
                play.finish("first")
                play.edit(after)
                play.pod.source.refresh()  # long before the other does
            if play.random.random() < 0.05:
                play.pod.arrive(1)
            if play.random.random() < 0.03:
                play.cluster.set("course-small", play.random.choice((0, 5000)))
            if play.random.random() < 0.3:
                play.pod.now += 0.3
            play.look()
            play.turn()
        play.settle()
        first = next(n for n, value in enumerate(play.values) if value > 100)

        assert play.errors == []
        assert min(play.values[first:]) > 100
        assert play.pod.replicas == play.pod.wished() > 100


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("names", CASTS, ids="-".join)
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_a_pool_opens_once_and_closes_once_during_one_window(
    behaviour: str, names: tuple[str, ...], seed: int
) -> None:
    row = ("course/1", "08:00", "08:01", "08:03", {"small": 25})
    with stage(seed, timetable_text(row, behaviour=behaviour), "07:59:30", names) as play:
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
