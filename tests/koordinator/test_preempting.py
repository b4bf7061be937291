"""Pods of a lower priority leave for what was refused: for pods always, for Reservations where that is on."""

from random import Random

import pytest

from tests.koordinator.claiming import Settings
from tests.koordinator.remembering import PREEMPTING, Memory
from tests.koordinator.world import Remembering, World, node, pod, reservation
from tests.seeds import seeds

CRITICAL = 2_000_001_000  # the highest that Kubernetes knows: system-node-critical
OTHER = {"app": "other"}
EVERYBODY = [{"labelSelector": {"matchLabels": {"app": name}}} for name in ("session", "place")]


def seat(name: str, priority: int, at: str = "n1") -> dict[str, object]:
    return pod(name, at=at, priority=priority, labels={"app": "place"})


@pytest.mark.parametrize(
    ("preemption", "slot", "stays"),
    [
        (False, None, [0, 8999, 9000, 100_000, CRITICAL]),
        (True, None, []),
        (True, 9000, [9000, 100_000, CRITICAL]),
    ],
    ids=["off", "no-priority", "priority"],
)
def test_a_slot_without_priority_evicts_anything_and_one_with_it_what_is_lower(
    preemption: bool, slot: int | None, stays: list[int]
) -> None:
    template = {} if slot is None else {"priority": slot}
    there = (0, 8999, 9000, 100_000, CRITICAL)
    pods = [pod(f"p{one}", priority=one, at=f"n{one}", labels=OTHER) for one in there]
    nodes = [node(f"n{one}", cpu="1") for one in there]
    slots = [reservation(f"r{one}", template=template) for one in there]
    world = World(*nodes, *pods, *slots, settings=Settings(preemption=preemption))
    world.look(times=3)

    assert sorted(world.pods) == sorted(f"p{one}" for one in stays)
    assert list(world.phases().values()).count("Available") == len(there) - len(stays)


def test_no_reservation_is_evicted() -> None:
    world = World(node(cpu="1"), reservation(template={"priority": 1}), settings=Settings(preemption=True))
    world.look()
    world.add(reservation("r2"), pod("stranger", labels=OTHER, priority=CRITICAL))
    world.look()

    assert world.phases() == {"r1": "Available", "r2": "Pending"}
    assert "stranger" in world.waits()


def test_the_least_important_go_and_no_more_than_must() -> None:
    pods = [seat("low", -10), seat("lower", -20), seat("middle", -5, at="n2"), seat("high", 7, at="n2")]
    world = World(node("n1", cpu="2"), node("n2", cpu="2"), *pods, pod("s1"))
    world.look()

    assert sorted(world.pods) == ["high", "low", "middle", "s1"]
    assert world.where()["s1"] == "n1"


def test_two_that_wait_take_two_seats_and_not_one_twice() -> None:
    world = World(node(cpu="2"), seat("p1", -10), seat("p2", -10), pod("s1"), pod("s2"))
    world.look()

    assert world.where() == {"s1": "n1", "s2": "n1"}


@pytest.mark.parametrize(("labels", "owns"), [({"app": "session"}, True), (OTHER, False)])
def test_a_session_preempts_the_placeholder_in_its_slot_and_a_stranger_cannot(
    labels: dict[str, str], owns: bool
) -> None:
    slot = reservation(owners=EVERYBODY, preAllocation=True)
    world = World(node(cpu="1"), seat("place", -10), slot)
    world.look()
    assert world.owners() == {"r1": ["place"]}

    world.add(pod("new", labels=labels))
    world.look()

    assert world.owners() == {"r1": ["new"] if owns else ["place"]}
    assert ("new" in world.waits()) is not owns


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_the_room_is_free_within_three_seconds_and_for_nobody_else(seed: int) -> None:
    world = Remembering(node(cpu="1"), seat("place", -10))
    world.memory = Memory(Random(seed))
    world.look()
    world.add(pod("s1", priority=5))
    world.look()
    world.add(pod("s2"))
    world.wait(PREEMPTING[1])

    assert world.where() == {"s1": "n1"}
