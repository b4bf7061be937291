"""Pods of two releases serve one reservation, one after the other or both at once: seats never fall.

What they share is the contract in docs/upgrading.md: the timetable, labels, annotations, names and the scale.
"""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import pytest
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable

from tests.runtime.pod import Pod
from tests.runtime.released import ReleasedPod
from tests.runtime.world import Row, at, timetable_text

COURSE: Row = ("course/1", "07:30", "07:35", "08:00", {"small": 25})
END = at("08:00")
BEHAVIORS = ("maintain", "none", "reduce")


class Program(NamedTuple):
    """A loop of a pod: `step` returns the seconds until its next look."""

    step: Callable[[], float]
    is_over: Callable[[], bool]


class Fleet:
    """Pods of both releases in one cluster, with one clock."""

    def __init__(self, behavior: str, random: Random) -> None:
        self.text, self.random = timetable_text(COURSE, behaviour=behavior), random
        self.timetable = parse_timetable(self.text)
        self.first = Pod("07:29:58", self.text)  # which has the cluster, the clock and the sessions
        self.first.observed.update(self.timetable)
        self._running: dict[str, list[tuple[float, int, Program]]] = {}
        self.heights: list[tuple[float, int, int]] = []  # when, what stands, what should stand

    def start(self, release: str) -> None:
        pod = self.first
        if release == "0.1.0":
            old = ReleasedPod(pod.cluster, pod.observed, lambda: pod.now, self.text)
            programs = [
                Program(old.main.tick, lambda: old.is_over),
                Program(old.scaler.step, lambda: old.is_over),
            ]
        else:
            new = Pod("07:29:58", self.text, beside=pod)
            programs = [Program(new.scaler.step, lambda: new.scaler.exit_code is not None)]
        at_once = [(pod.now + n / 100, n, program) for n, program in enumerate(programs)]
        self._running[release] = at_once

    def kill(self, release: str) -> None:
        self._running.pop(release, None)

    def run(self, until: float, arrivals: list[float]) -> None:
        pod = self.first
        while pod.now < until:
            due = [(wake, release, n) for release, some in self._running.items() for wake, n, _ in some]
            wake, release, n = min(due, default=(until, "", 0))
            coming = min((arrival for arrival in arrivals if arrival > pod.now), default=until)
            pod.now = max(pod.now, min(wake, coming, until))
            if pod.now == coming and coming < until:
                pod.arrive(1)
                for some in self._running.values():  # sessions wake whoever observes them
                    some[-1:] = [(pod.now, *some[-1][1:])]
            elif release and pod.now < until:
                self._step(release, n)
            self._look()

    def _step(self, release: str, n: int) -> None:
        some = self._running[release]
        place = next(place for place, (_, number, _) in enumerate(some) if number == n)
        program = some[place][2]
        seconds = program.step()
        if program.is_over():
            self.kill(release)
        else:
            some[place] = (self.first.now + max(seconds, 0.001), n, program)

    def _look(self) -> None:
        pod = self.first
        counts = pod.observed.seen("small", pod.now).counts
        wanted = pool_target(self.timetable, self.timetable.pools[0], int(pod.now), counts).replicas
        self.heights.append((pod.now, pod.replicas, wanted))


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize(("before", "after"), [("0.1.0", "new"), ("new", "0.1.0")], ids=["up", "down"])
@pytest.mark.parametrize("together", [False, True], ids=["one-after-the-other", "both-at-once"])
@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 17), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_seats_never_fall_while_releases_change(
    behavior: str, before: str, after: str, together: bool, seeds: range
) -> None:
    for seed in seeds:
        random = Random(f"{behavior} {before} {together} {seed}")
        fleet = Fleet(behavior, random)
        change = random.uniform(at("07:30:15"), END - 60)
        gap = 0 if together else random.uniform(0, 45)
        arrivals = sorted(random.uniform(at("07:31"), END - 60) for _ in range(random.randrange(30)))
        fleet.start(before)
        fleet.run(change, arrivals)
        if not together:
            fleet.kill(before)
        fleet.run(change + gap, arrivals)
        fleet.start(after)
        fleet.run(END + 60, arrivals)

        opened = [(stands, wanted) for when, stands, wanted in fleet.heights if at("07:30:10") <= when < END]
        assert opened
        assert all(stands >= wanted for stands, wanted in opened)
        writes = [write.replicas for write in fleet.first.writes]
        assert sorted(writes, reverse=True) == writes, "seats went up again: the two do not agree"
        assert fleet.first.replicas == 0
