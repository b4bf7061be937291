"""Properties of the scheduler over worlds made by chance."""

import json
import random
from collections.abc import Iterator

import pytest

from tests.koordinator import amounts
from tests.koordinator.amounts import Amounts, Tree
from tests.koordinator.deciding import decide
from tests.koordinator.nodes import cached
from tests.koordinator.objects import allocated_to, is_available, node_of, spec_of, status_of, uid_of
from tests.koordinator.world import SCHEDULER, World, node, pod, reservation
from tests.seeds import seeds

SEEDS = seeds(10, 60)
AFFINITY = "scheduling.koordinator.sh/reservation-affinity"


def made(chance: random.Random) -> World:
    nodes = [node(f"n{n}", cpu=str(chance.randint(2, 8)), pods=str(chance.choice([4, 20]))) for n in range(3)]
    return World(
        *nodes, *(_reservation(chance, n) for n in range(8)), *(_pod(chance, n, 0) for n in range(4))
    )


def _reservation(chance: random.Random, number: int) -> Tree:
    more: Tree = {"ttl": chance.choice(["1h", "24h", "0s"]), "allocateOnce": chance.random() < 0.3}
    return reservation(f"r{number}", cpu=str(chance.randint(1, 3)), **more)


def _pod(chance: random.Random, number: int, turn: int) -> Tree:
    needs = {AFFINITY: json.dumps({})} if chance.random() < 0.3 else {}
    labels = {"app": chance.choice(["session", "session", "stranger"])}
    cpu = chance.choice(["500m", "1", "2"])
    return pod(f"p{turn}-{number}", cpu=cpu, labels=labels, annotations=needs)


def turns(world: World, chance: random.Random) -> Iterator[None]:
    """What people do between the looks of the scheduler."""
    for turn in range(1, 6):
        world.look()
        yield
        for name in [*world.pods]:
            if chance.random() < 0.2:
                world.end(name) if chance.random() < 0.5 else world.pods.pop(name)
        for name in [*world.reservations]:
            if chance.random() < 0.1:
                del world.reservations[name]
        world.add(*(_pod(chance, number, turn) for number in range(3)))
        world.pass_hours(chance.choice([0, 0.5, 1]))


def held(world: World, name: str) -> Amounts:
    """What is taken on a node: pods, and of each Reservation what no owner has."""
    there = [one for one in world.pods.values() if spec_of(one).get("nodeName") == name]
    alive = [one for one in there if status_of(one)["phase"] == "Running"]
    total = amounts.add(*(amounts.requests_of(spec_of(one)) for one in alive))
    for one in world.reservations.values():
        if is_available(one) and node_of(one) == name:
            owners = [each for each in alive if allocated_to(each) == uid_of(one)]
            used = amounts.add(*(amounts.requests_of(spec_of(each)) for each in owners))
            size = amounts.read(status_of(one)["allocatable"])
            total = amounts.add(total, amounts.subtract(size, amounts.smaller(size, used)))
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_no_node_ever_holds_more_than_it_has(seed: int) -> None:
    chance = random.Random(seed)
    world = made(chance)

    for _ in turns(world, chance):
        for name, one in world.nodes.items():
            room = amounts.read(status_of(one)["allocatable"])
            assert amounts.short_of(held(world, name), room) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_no_restricted_reservation_gives_more_than_it_has(seed: int) -> None:
    chance = random.Random(seed)
    world = made(chance)

    for _ in turns(world, chance):
        for each in cached(*world.seen()).values():
            for info in each.infos.values():
                assert amounts.short_of(info.allocated, info.allocatable) == []
                assert not info.once or len(info.pods) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_only_sessions_own_and_who_needs_a_reservation_has_one(seed: int) -> None:
    chance = random.Random(seed)
    world = made(chance)

    for _ in turns(world, chance):
        for one in world.pods.values():
            owns = bool(allocated_to(one))
            assert not owns or one["metadata"]["labels"]["app"] == "session"
            if AFFINITY in one["metadata"]["annotations"]:
                assert owns == ("nodeName" in spec_of(one))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_look_depends_on_nothing_else_and_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    world = made(chance)

    for _ in turns(world, chance):
        before = json.dumps(world.seen())
        once, again = (decide(world.now, world.seen(), [SCHEDULER]) for _ in range(2))
        assert once == again
        assert json.dumps(world.seen()) == before
