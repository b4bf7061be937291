"""The fake koord-scheduler does what the real one of version 1.8.0 was seen to do, as far as tests of slots
go by it.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.koordinator.objects import NOON, REQUIRED, SESSION, reservation
from tests.koordinator.remembering import RESTARTING, TELLING, UNTRIED, WAKING, Memory
from tests.runtime.fake_koordinator import FakeKoordinator
from tests.seeds import seeds

PLACEHOLDERS = {"object": {"namespace": "berth"}}


class Beside:
    """A fake with a clock, and a node with so many seats."""

    def __init__(self, room: int, *slots: str, seed: int = 0, **memory: float) -> None:
        self.now = float(NOON)
        self.koordinator = FakeKoordinator(lambda: self.now)
        self.koordinator.memory = Memory(Random(seed), **memory)
        self.koordinator.room = room
        for name in slots:
            self.add(name)

    def add(self, name: str, **more: Any) -> None:
        self.koordinator.put(name, reservation(name, created=int(self.now), **more))
        self.wait(0)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.koordinator.schedule()

    def phases(self) -> list[str]:
        return [self.koordinator.phase(name) for name in sorted(self.koordinator.objects)]


def delete(world: Beside) -> None:
    del world.koordinator.objects["r1"]


def expire(world: Beside) -> None:
    world.koordinator.objects["r1"]["spec"]["expires"] = "2026-02-02T11:00:00Z"


@pytest.mark.parametrize("happens", [delete, expire])
def test_a_slot_that_was_refused_is_not_tried_when_another_one_goes(
    happens: Callable[[Beside], None],
) -> None:
    world = Beside(1, "r1", "r2")
    happens(world)
    world.wait(UNTRIED - 1)
    before = world.koordinator.phase("r2")
    world.wait(2)

    assert (before, world.koordinator.phase("r2")) == ("Pending", "Available")


def test_one_that_is_made_after_another_has_gone_is_tried_at_once() -> None:
    world = Beside(1, "r1", "r2")
    delete(world)
    world.add("r3")

    assert world.phases() == ["Pending", "Available"]


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_a_pod_that_ends_and_a_node_that_comes_wake_what_was_refused(seed: int) -> None:
    world = Beside(1, seed=seed)
    world.koordinator.ask("other")
    world.add("r1")
    world.add("r2")
    found = []
    events: list[Callable[[], object]] = [
        lambda: world.koordinator.pods.pop("other"),
        lambda: setattr(world.koordinator, "room", 2),
    ]
    for happens in events:
        happens()
        for wait in (0.0, WAKING[0] - 0.01, WAKING[1] - WAKING[0] + 0.02):
            world.wait(wait)
            found.append(world.koordinator.of("Available"))

    assert [len(there) for there in found] == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_owners_are_told_a_little_later(seed: int) -> None:
    world = Beside(1, "r1", seed=seed)
    found = []
    for happens in (world.koordinator.enter, world.koordinator.leave):
        happens("s1")
        for wait in (0.0, TELLING[0] - 0.01, TELLING[1] - TELLING[0] + 0.02):
            world.wait(wait)
            found.append(world.koordinator.told_sessions("r1"))

    assert found == [[], [], ["s1"], ["s1"], ["s1"], []]


@pytest.mark.parametrize("comes_between", [False, True])
def test_a_pod_that_waits_may_get_the_room_of_a_slot_whose_owner_leaves(comes_between: bool) -> None:
    """The slot goes on to be Available, and nobody can use it until that pod has left."""
    world = Beside(1, "r1", between=float(comes_between))
    koordinator = world.koordinator
    koordinator.enter("s1")
    koordinator.ask("other")
    world.wait(1)
    koordinator.leave("s1")
    world.wait(1)
    koordinator.enter("s2")

    assert world.phases() == ["Available"]
    assert (koordinator.runs("other"), koordinator.is_in_slot("s2")) == (comes_between, not comes_between)
    koordinator.leave("other")
    world.wait(1)
    assert koordinator.is_in_slot("s2")


@pytest.mark.parametrize("is_refused", [False, True], ids=["nobody-waits", "a-pod-waits"])
def test_a_slot_that_ends_may_kill_the_scheduler_while_a_pod_is_refused(is_refused: bool) -> None:
    """It knows nothing when it is back, and tries everything."""
    world = Beside(1, "r1", crashing=1.0)
    if is_refused:
        world.koordinator.ask("other", cpu="3")
    delete(world)
    world.wait(0)
    world.add("r2")

    assert world.koordinator.memory.crashes == is_refused
    assert world.phases() == ["Pending" if is_refused else "Available"]
    world.wait(RESTARTING[1])
    assert world.phases() == ["Available"]


@pytest.mark.parametrize("is_there", [False, True], ids=["no-placeholder", "a-placeholder"])
def test_a_slot_that_must_take_over_room_waits_for_a_placeholder(is_there: bool) -> None:
    """On a node that is full; the room stays with the slot when the placeholder has gone."""
    world = Beside(1)
    world.koordinator.scale(int(is_there))
    world.add("r1", labels={REQUIRED: "true"}, owners=[SESSION, PLACEHOLDERS], preAllocation=True)
    before = world.phases(), bool(world.koordinator.owners("r1"))
    world.koordinator.scale(0)
    world.koordinator.ask("stranger")
    world.wait(1)

    assert before == (["Available" if is_there else "Pending"], is_there)
    assert world.koordinator.runs("stranger") is not is_there


def test_a_slot_for_one_owner_is_over_as_soon_as_it_has_one() -> None:
    world = Beside(1, "r1")
    world.koordinator.objects["r1"]["spec"]["allocateOnce"] = True
    world.koordinator.enter("s1")
    world.wait(1)

    assert world.phases() == ["Succeeded"]


def test_a_slot_without_its_node_is_over_and_cleared_away_within_a_minute() -> None:
    world = Beside(1, "r1")
    world.koordinator.lose_nodes("r1")
    before = world.phases()
    world.wait(60)

    assert (before, world.phases()) == (["Failed"], [])


def test_a_session_preempts_a_placeholder_in_its_slot_and_a_stranger_does_not() -> None:
    world = Beside(1, between=0.0)
    world.koordinator.scale(1)
    world.add("r1", owners=[SESSION, PLACEHOLDERS], preAllocation=True)
    world.koordinator.ask("stranger")
    world.wait(5)
    before = world.koordinator.placeholders
    world.koordinator.enter("s1")
    world.wait(5)

    assert (len(before), world.koordinator.runs("stranger")) == (1, False)
    assert world.koordinator.is_in_slot("s1")
