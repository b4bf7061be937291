"""What was refused waits for a reason to be tried again, and what has happened is told a little later."""

from collections.abc import Callable
from random import Random

import pytest

from tests.koordinator.amounts import Tree
from tests.koordinator.matching import AFFINITY
from tests.koordinator.remembering import RESTARTING, TELLING, UNTRIED, WAKING, Memory
from tests.koordinator.world import SESSION, Remembering, node, pod, reservation
from tests.seeds import seeds

STRANGER = {"app": "other"}


def full(seed: int = 0, between: float = 0.0) -> Remembering:
    """One seat on one node, which a slot has; another slot waits for it."""
    world = Remembering(node(cpu="1"), reservation("r1"))
    world.begin(seed, between)
    world.look()
    world.add(reservation("r2"))
    world.wait(1)
    assert world.phases() == {"r1": "Available", "r2": "Pending"}
    return world


def delete(world: Remembering) -> None:
    del world.reservations["r1"]


def expire(world: Remembering) -> None:
    world.reservations["r1"]["spec"]["expires"] = "2026-02-02T11:00:00Z"


@pytest.mark.parametrize("happens", [delete, expire])
def test_a_slot_that_was_refused_is_not_tried_when_another_one_goes(
    happens: Callable[[Remembering], None],
) -> None:
    world = full()
    happens(world)
    world.wait(UNTRIED - 2)
    before = world.phases()["r2"]
    world.wait(2)

    assert (before, world.phases()["r2"]) == ("Pending", "Available")


def test_one_that_is_made_after_another_has_gone_is_tried_at_once() -> None:
    world = full()
    delete(world)
    world.look()
    world.add(reservation("r3"))
    world.look()

    assert world.phases() == {"r2": "Pending", "r3": "Available"}


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_a_pod_that_ends_and_a_node_that_comes_wake_what_was_refused(seed: int) -> None:
    world = Remembering(
        node(cpu="1"), pod("other", labels=STRANGER, at="n1"), reservation("r1"), reservation("r2")
    )
    world.begin(seed)
    found = []
    events: list[Callable[[], None]] = [lambda: world.end("other"), lambda: world.add(node("n2", cpu="1"))]
    for happens in events:
        world.look()
        happens()
        for wait in (0.0, WAKING[0] - 0.01, WAKING[1] - WAKING[0] + 0.02):
            world.wait(wait)
            found.append(sorted(world.phases().values()))

    none, one, both = ["Pending"] * 2, ["Available", "Pending"], ["Available"] * 2
    assert found == [none, none, one, one, one, both]


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_owners_are_told_a_little_later(seed: int) -> None:
    world = Remembering(node(cpu="1"), reservation("r1"))
    world.begin(seed)
    world.look()
    found = []
    for comes in (True, False):
        if comes:
            world.add(pod("s1"))
        else:
            del world.pods["s1"]
        for wait in (0.0, TELLING[0] - 0.01, TELLING[1] - TELLING[0] + 0.02):
            world.wait(wait)
            found.append(world.owners()["r1"])

    assert found == [[], [], ["s1"], ["s1"], ["s1"], []]


@pytest.mark.parametrize("comes_between", [False, True])
def test_a_pod_that_waits_may_get_the_room_of_a_slot_whose_owner_leaves(comes_between: bool) -> None:
    """The slot goes on to be Available, and nobody can use it until that pod has left."""
    world = Remembering(node(cpu="1"), reservation("r1", owners=[SESSION]))
    world.begin(between=float(comes_between))
    world.look()
    world.add(pod("s1"))
    world.wait(1)
    world.add(pod("other", labels=STRANGER))
    world.wait(1)
    del world.pods["s1"]
    world.wait(1)
    world.add(pod("s2"))
    world.wait(1)

    assert world.phases() == {"r1": "Available"}
    assert ("other" in world.where(), "s2" in world.where()) == (comes_between, not comes_between)
    if comes_between:
        world.end("other")
        world.look()
        world.wait(1)
        assert world.where()["s2"] == "n1"


@pytest.mark.parametrize("required", [False, True], ids=["no-affinity", "affinity"])
def test_an_owner_that_waits_may_land_beside_its_slot_unless_it_must_have_one(required: bool) -> None:
    world = Remembering(node(cpu="1"), reservation("r1"))
    world.begin(between=1.0)
    world.look()
    world.add(pod("s1"))
    world.wait(1)
    world.add(pod("s2", annotations={AFFINITY: "{}"} if required else {}))
    world.wait(1)
    del world.pods["s1"]
    for _ in range(3):
        world.wait(1)

    assert world.where()["s2"] == "n1"
    assert world.owners() == {"r1": ["s2"] if required else []}


CHANGES: dict[str, Callable[[Tree], object]] = {
    "labels": lambda slot: slot["metadata"].update(labels={"a": "b"}),
    "annotations": lambda slot: slot["metadata"].update(annotations={"a": "b"}),
    "expires": lambda slot: slot["spec"].update(expires="2026-02-03T12:00:00Z"),
    "tolerations": lambda slot: slot["spec"]["template"]["spec"].update(tolerations=[{"operator": "Exists"}]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_slot_that_was_refused_wakes_nothing(change: Callable[[Tree], object]) -> None:
    world = full()
    delete(world)
    world.look()
    change(world.reservations["r2"])
    world.wait(UNTRIED - 2)

    assert world.phases() == {"r2": "Pending"}


def test_a_pod_is_not_tried_when_a_slot_gets_other_owners() -> None:
    world = Remembering(node(cpu="1"), reservation("r1", owners=[{"object": {"name": "nobody"}}]))
    world.begin()
    world.look()
    world.add(pod("s1"))
    world.wait(1)
    world.reservations["r1"]["spec"]["owners"] = [SESSION]
    world.wait(UNTRIED - 2)
    before = world.where().get("s1")
    world.wait(2)

    assert (before, world.where()["s1"]) == (None, "n1")


@pytest.mark.parametrize("is_refused", [False, True], ids=["nobody-waits", "a-pod-waits"])
def test_a_slot_that_ends_may_kill_the_scheduler_while_a_pod_is_refused(is_refused: bool) -> None:
    """It knows nothing when it is back, and tries everything."""
    world = Remembering(node(cpu="1"), reservation("r1"))
    world.memory = Memory(Random(0), crashing=1.0)
    world.look()
    if is_refused:
        world.add(pod("other", labels=STRANGER))
        world.wait(1)
    delete(world)
    world.look()
    world.add(reservation("r2", cpu="500m"))
    world.look()

    assert world.memory.crashes == is_refused
    assert world.phases() == {"r2": "Pending" if is_refused else "Available"}
    world.wait(RESTARTING[1])
    assert len(world.where()) == 1
