"""What holds for every question: made by chance, and told plainly where there is something to compare."""

from collections.abc import Callable, Iterable

import pytest
from berth.karpenter.nodelabels import NODEPOOL, RESERVED
from berth.karpenter.resourcelists import ONE, PODS, allocatable, fits, sum_resources
from berth.planner.inputs import SchedulingInput
from berth.planner.nodeclaimtemplates import pool_instance_types
from berth.planner.provisioning import result_range, schedule, schedule_with
from berth.planner.tiebreaks import TieBreaker

from tests.planner import grouped
from tests.planner.chance import full_question, question
from tests.planner.plainly import Plainly
from tests.seeds import rest_is_long

SEEDS = rest_is_long(range(0, 400, 20), 4)


@pytest.mark.parametrize("made", [question, full_question], ids=["1.14", "1.15"])
@pytest.mark.parametrize("first", SEEDS)
def test_groups_of_pods_go_where_each_would_go_alone(
    first: int, made: Callable[[int], SchedulingInput]
) -> None:
    for seed in range(first, first + 20):
        asked = made(seed)
        told, why = Plainly(asked).tell()
        left: dict[str, int] = {}
        for name in why:
            left[name.rpartition("-")[0]] = left.get(name.rpartition("-")[0], 0) + 1

        assert grouped.tell(asked) == (told, left), seed


@pytest.mark.parametrize("first", SEEDS)
def test_every_pod_is_placed_once_or_reported(first: int) -> None:
    for seed in range(first, first + 20):
        asked = question(seed)
        answer = schedule(asked)
        counts = {pod.name: 0 for pod in asked.pods}
        for machine in answer.machines:
            for name, count in machine.pods:
                counts[name] += count
        for loop in answer.loops:
            for _, pods in loop.standing:
                for name, count in pods:
                    counts[name] += count
        for one in answer.left:
            counts[one.pod] += one.count

        assert counts == {pod.name: pod.count for pod in asked.pods}, seed


@pytest.mark.parametrize("first", SEEDS)
def test_no_machine_holds_more_than_it_has_room_for(first: int) -> None:
    """Nor does a reservation give more machines than it has."""
    for seed in range(first, first + 20):
        asked = question(seed)
        answer = schedule(asked)
        used: dict[str, int] = {}
        for machine in answer.machines:
            pool = next(pool for pool in asked.pools if pool.name == machine.pool)
            one = next(
                pool_instance_type_
                for pool_instance_type_ in pool_instance_types(pool, asked.types)
                if pool_instance_type_.name == machine.type
            )
            used[machine.reservation] = used.get(machine.reservation, 0) + 1
            assert fits(_wanted(asked, machine.pods), allocatable(one.capacity, one.overhead)), seed
        nodes = {node.name: node for node in asked.nodes}
        placed: dict[str, list[tuple[str, int]]] = {}
        for loop in answer.loops:
            for name, pods in loop.standing:
                placed.setdefault(name, []).extend(pods)
        for name in placed.keys() & nodes.keys():
            assert fits(_wanted(asked, placed[name]), dict(nodes[name].allocatable)), seed
        offered = (o for type_ in asked.types for o in type_.offerings if o.capacity_type == RESERVED)
        assert all(used.get(o.reservation, 0) <= o.count for o in offered), seed


def _wanted(asked: SchedulingInput, placed: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    requests = {pod.name: (*pod.requests, (PODS, ONE)) for pod in asked.pods}
    counted = [[(r, value * count) for r, value in requests[name]] for name, count in placed]
    return list(sum_resources(*counted).items())


def plain(asked: SchedulingInput) -> SchedulingInput:
    """Without limits, reservations, topology and least numbers of values: nothing that one pod takes from
    another.
    """
    pools = tuple(
        p._replace(limits=(), requirements=tuple(r._replace(min_values=None) for r in p.requirements))
        for p in asked.pools
    )
    types = tuple(
        t._replace(offerings=tuple(o for o in t.offerings if o.capacity_type != RESERVED))
        for t in asked.types
    )
    pods = tuple(
        p._replace(
            spread=(), affinity=(), anti_affinity=(), preferred_affinity=(), preferred_anti_affinity=()
        )
        for p in asked.pods
    )
    return asked._replace(pools=pools, types=types, pods=pods, nodes=())


@pytest.mark.parametrize("first", SEEDS)
def test_one_more_type_leaves_nobody_out_who_had_a_place(first: int) -> None:
    for seed in range(first, first + 20):
        asked = plain(question(seed))
        fewer = asked._replace(types=asked.types[1:])
        out = {one.pod for one in schedule(asked).left}

        assert out <= {one.pod for one in schedule(fewer).left}, seed


@pytest.mark.parametrize("first", SEEDS)
def test_what_nobody_competes_for_needs_one_loop(first: int) -> None:
    for seed in range(first, first + 20):
        answer = schedule(plain(question(seed)))

        assert len(answer.loops) <= 1, seed


@pytest.mark.parametrize("first", SEEDS)
def test_pools_of_a_pods_choice_and_no_other(first: int) -> None:
    for seed in range(first, first + 20):
        asked = question(seed)
        chosen = {
            pod.name: one.values
            for pod in asked.pods
            if len(pod.required) == 1
            for one in pod.required[0]
            if one.key == NODEPOOL
        }
        for machine in schedule(asked).machines:
            assert all(machine.pool in chosen[n] for n, _ in machine.pods if n in chosen), seed


@pytest.mark.parametrize("first", SEEDS)
def test_the_plain_answer_lies_within_the_band_and_is_the_same_every_time(first: int) -> None:
    for seed in range(first, first + 20, 4):
        asked = question(seed)
        found = result_range(asked)

        assert schedule_with(asked, TieBreaker()) == schedule(asked) == found.plain
        assert len(found.least.machines) <= len(found.plain.machines) <= len(found.most.machines)
