"""Sessions come and go, their pods a little later; the seats are as promised, and nothing comes and goes
without need.
"""

from random import Random

import pytest
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.scaler import TICK

from tests.runtime.slotworld import SlotWorld, slot_text
from tests.runtime.world import Row, clock
from tests.seeds import rest_is_long, seeds

ROW: Row = ("course/1", "07:30", "07:35", "07:50", {"small": 30})


class Class:
    """The sessions of a course, as they are told and as they have slots."""

    def __init__(self, world: SlotWorld) -> None:
        self.world = world
        self.told: set[str] = set()
        self._tell()

    def _tell(self) -> None:
        self.world.sessions(small={"course/1": len(self.told)})

    def plan(self, second: float, name: str, bound: float, left: float, gone: float) -> None:
        """It is told from a second on and until `left`, and its pod has a place from `bound` to `gone`."""
        for moment, action in (
            (second, lambda: self.told.add(name)),
            (bound, lambda: self.world.koordinator.enter(name)),
            (left, lambda: self.told.discard(name)),
            (gone, lambda: self.world.koordinator.leave(name)),
        ):
            self.world.plan(clock(self.world.now + moment), action, self._tell)


def full(**more: object) -> tuple[SlotWorld, Class]:
    world = SlotWorld("07:30", slot_text(ROW, **more))  # type: ignore[arg-type]
    return world, Class(world)


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("delay", rest_is_long([3, 0, 9, 20], 1))
def test_a_rush_of_sessions_takes_no_slot_away(delay: int, behaviour: str) -> None:
    """One a second; at no moment of it are all bound."""
    world, course = full(behaviour=behaviour)
    for n in range(30):
        course.plan(300 + n, f"s{n}", 300 + n + delay, 2000, 2000)
    world.run(until="07:49")

    verbs = [verb for verb, _ in world.koordinator.writes]
    assert verbs == ["POST"] * (30 if behaviour == "maintain" else 60)
    assert world.counts == ("0+30" if behaviour == "maintain" else "30+30")


@pytest.mark.parametrize("grace", rest_is_long([4, 0, 20], 1))
@pytest.mark.parametrize("is_first", rest_is_long([True, False], 1))
def test_sessions_that_are_hibernated_or_restarted_cause_no_write(grace: int, is_first: bool) -> None:
    """The pod goes after its session, or before; and some come back at once."""
    world, course = full()
    for n in range(20):
        left = 400 + 5 * n
        course.plan(300, f"s{n}", 302, *((left, left + grace) if is_first else (left + grace, left)))
        course.plan(left + grace + 2, f"s{n}", left + grace + 4, 2000, 2000)
    world.run(until="07:49")

    assert [verb for verb, _ in world.koordinator.writes] == ["POST"] * 30
    assert world.counts == "10+20"


@pytest.mark.parametrize("once", rest_is_long([False, True], 1))
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
@pytest.mark.parametrize("seed", seeds(1, 4))
def test_there_are_never_fewer_seats_than_promised_for_long(seed: int, behaviour: str, once: bool) -> None:
    """Some sessions find a slot and some do not, some end soon, and sometimes nobody counts them.

    A seat is made again within two looks. Others may be taken meanwhile, so that some seat is missing for up
    to six: the bound of `SlotReconciler`.
    """
    random = Random(seed)
    world, course = full(behaviour=behaviour, allocateOnce=once)
    for n in range(45):
        second = random.uniform(0, 1000)
        bound = second + random.choice((0.5, 4, 12, 5000))
        left = bound % 5000 + random.choice((20, 300, 5000))
        course.plan(second, f"s{n}", min(bound, 5000), left, left + random.choice((-3, 0, 5, 20)))
    timetable, lacks, worst = parse_timetable(slot_text(ROW, behaviour=behaviour)), [0.0], [0.0]
    turn = world.turn

    def watched() -> None:
        turn()
        counts = {"course/1": len(course.told)}
        promised = pool_target(timetable, timetable.pools[0], int(world.now), counts).replicas
        there = len(world.koordinator.free())
        # A session that leaves before its pod gives its seat back with the pod.
        late = len(
            [
                name
                for name in world.koordinator.used()
                if course.told.isdisjoint(world.koordinator.owners(name))
            ]
        )
        if there + late >= promised:
            lacks[0] = world.now
        worst[0] = max(worst[0], world.now - lacks[0])

    lacks[0] = world.now
    world.turn = watched  # type: ignore[method-assign]

    assert world.run() == 0
    assert world.koordinator.objects == {}
    assert worst[0] <= 6 * TICK
    assert [when for when, _ in world.koordinator.used_deletes if when < "07:50"] == []
