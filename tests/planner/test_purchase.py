"""Loops, machines that stand, static pools, and the choice of the provider."""

from typing import Any

import pytest
from berth.karpenter.instancetypes import InstanceType, Offering, reserved_offering
from berth.karpenter.nodelabels import ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, RESERVED
from berth.karpenter.requirements import requirement
from berth.karpenter.resourcelists import parse_resources
from berth.karpenter.taints import Taint
from berth.planner.inputs import NodePool, PreferredTerm, StateNode
from berth.planner.provisioning import SchedulingLoop, UnscheduledPods

from tests.planner.machines import ANY, SETTINGS, ask, bought, growing, left, machine, pod, sizes

ROOM = parse_resources({"cpu": "4", "memory": "8Gi", "pods": "10"})
SEAT = {"cpu": "1"}


def node(name: str, **more: Any) -> StateNode:
    return StateNode(name, ROOM, ROOM)._replace(**more)


def standing(loop: SchedulingLoop) -> dict[str, dict[str, int]]:
    return {name: dict(pods) for name, pods in loop.standing}


def test_nothing_comes_nothing_is_bought() -> None:
    assert ask([]) == ((), (), ())
    assert ask([pod(count=0)]) == ((), (), ())


def test_without_a_pool_everybody_stays_out() -> None:
    message = "no pool has a type left that is offered as the pool requires"

    assert ask([pod(count=3)], []).left == (UnscheduledPods("pod", 3, "pools", message),)


def test_what_stands_is_filled_before_anything_is_bought() -> None:
    answer = ask([pod(requests=SEAT, count=6)], nodes=(node("a"),))

    assert standing(answer.loops[0]) == {"a": {"pod": 4}}
    assert sizes(answer) == [2]


def test_nodes_go_by_name() -> None:
    nodes = (node("c"), node("b"))

    assert standing(ask([pod(requests=SEAT, count=5)], nodes=nodes).loops[0]) == {
        "b": {"pod": 4},
        "c": {"pod": 1},
    }


@pytest.mark.parametrize(
    ("more", "asks", "fits"),
    [
        ({}, {}, True),
        ({"labels": ((ARCH, "amd64"),)}, {"node_selector": ((ARCH, "amd64"),)}, True),
        ({}, {"node_selector": ((ARCH, "amd64"),)}, False),
        ({"unknown": frozenset((ARCH,))}, {"node_selector": ((ARCH, "amd64"),)}, True),
        (
            {"unknown": frozenset((ARCH,)), "labels": ((ARCH, "arm64"),)},
            {"node_selector": ((ARCH, "amd64"),)},
            False,
        ),
        ({"taints": (Taint("x"),)}, {}, False),
        ({"pods": (pod("old", {"cpu": "3"}, 1),)}, {}, True),
        ({"pods": (pod("old", {"cpu": "3.5"}, 1),)}, {}, False),
        ({"pods": (pod("old", {}, 10),)}, {}, False),
    ],
    ids=[
        "empty",
        "labelled",
        "a-label-it-has-not",
        "a-label-it-may-have",
        "another-value-of-a-label-it-has",
        "tainted",
        "partly-full",
        "full",
        "no-pod-more",
    ],
)
def test_what_a_node_takes(more: dict[str, Any], asks: dict[str, Any], fits: bool) -> None:
    answer = ask([pod(requests=SEAT, **asks)], nodes=(node("n", **more),))

    assert (len(answer.loops[0].standing), len(answer.machines)) == ((1, 0) if fits else (0, 1))


def test_nodes_of_a_pool_count_against_its_limits() -> None:
    pool = ANY._replace(limits=parse_resources({"cpu": "6"}))
    full = node("n", allocatable=parse_resources({}), labels=((NODEPOOL, "default"),))

    assert bought(ask([pod(requests=SEAT)], [pool], nodes=(full,))) == [
        ("small-instance-type", "test-zone-1", 1)
    ]
    assert left(ask([pod(requests={"cpu": "3"})], [pool], nodes=(full,))) == {"pod": (1, "limits")}
    assert left(
        ask([pod(requests=SEAT)], [ANY._replace(limits=parse_resources({"nodes": "1"}))], nodes=(full,))
    ) == {"pod": (1, "limits")}


def test_the_next_loop_finds_room_on_what_the_first_one_bought() -> None:
    """`b` may not join the claim of `a`, which would lose its reservation; on the real machine it fits."""
    cost = 1.0
    small = machine("small", {"cpu": "4", "memory": "4Gi"}, (Offering("reserved", "z", cost, True, "r", 1),))
    wide = machine(
        "wide", {"cpu": "8", "memory": "8Gi"}, (Offering("reserved", "z", cost * 2, True, "q", 1),)
    )
    pods = [
        pod("a", {"cpu": "3"}),
        pod("b", {"cpu": "2.5"}, required=((requirement(INSTANCE_TYPE, "In", ("small",)),),)),
        pod("c", {"cpu": "500m"}, required=((requirement(INSTANCE_TYPE, "In", ("small",)),),)),
    ]
    answer = ask(pods, types=[small, wide])

    assert [[(m.type, dict(m.pods)) for m in loop.machines] for loop in answer.loops] == [
        [("small", {"a": 1, "c": 1})]
    ]
    assert left(answer) == {"b": (1, "types")}


def test_static_pools_stand_before_anything_is_planned() -> None:
    static = NodePool("static", replicas=2, types=(machine("fixed", {"cpu": "4", "pods": "20"}),))
    answer = ask([pod(requests=SEAT, count=8)], [static, ANY])

    assert [(m.pool, m.type, m.pods) for m in answer.static] == [("static", "fixed", ())] * 2
    assert list(standing(answer.loops[0]).values()) == [{"pod": 3}, {"pod": 3}]
    assert [m.pool for m in answer.machines] == ["default"]


def test_static_pools_grow_for_nobody() -> None:
    static = NodePool("static", replicas=1, limits=parse_resources({"nodes": "5"}))

    assert left(ask([pod(requests=SEAT, count=9)], [static])) == {"pod": (8, "pools")}


def test_limits_of_nodes_hold_for_static_pools_and_reservations_run_out() -> None:
    offers = (reserved_offering("cr-1", "z", 1.0, 2), Offering("on-demand", "z", 1.0))
    static = NodePool(
        "static", replicas=9, limits=parse_resources({"nodes": "3"}), types=(machine("fixed", {}, offers),)
    )

    assert [m.reservation for m in ask([], [static]).static] == ["cr-1", "cr-1", ""]


HELD = ANY._replace(name="held", weight=9, requirements=(requirement(CAPACITY_TYPE, "In", (RESERVED,)),))
WISH = (PreferredTerm(1, (requirement(CAPACITY_TYPE, "In", (RESERVED,)),)),)


@pytest.mark.parametrize("pools", [[ANY], [HELD, ANY]], ids=["one-pool", "two-pools"])
@pytest.mark.parametrize("preferred", [(), WISH], ids=["", "preferred"])
@pytest.mark.parametrize("free", [0, 1])
def test_pods_wait_for_full_reservations_that_are_still_offered(
    pools: list[NodePool], preferred: tuple[PreferredTerm, ...], free: int
) -> None:
    """Where the pod may have nothing else: since 1.15 neither a lighter pool nor a weaker wish is tried."""
    held = reserved_offering("cr-1", "z", 1.0, free)._replace(available=True)
    types = [machine("fixed", {}, (held, Offering("on-demand", "z", 1.0)))]
    seats = pod(requests={"cpu": "3"}, count=3, preferred=preferred)
    known = SETTINGS._replace(offers_full=True)
    answer = ask([seats], pools, types, settings=known)
    reserved = [one.reservation for one in answer.machines]

    if len(pools) == 1 and not preferred:
        assert sorted(reserved) == ["", "", "cr-1" if free else ""]
    else:
        assert (reserved, left(answer)) == (["cr-1"] * free, {"pod": (3 - free, "reserved")})


def test_a_reservation_that_is_full_and_not_offered_is_absent() -> None:
    """As before 1.15, and as what is not available for another reason is since then."""
    types = [machine("fixed", {}, (reserved_offering("cr-1", "z", 1.0, 0), Offering("on-demand", "z", 1.0)))]
    for known in (SETTINGS, SETTINGS._replace(offers_full=True)):
        answer = ask([pod()], [HELD, ANY], types, settings=known)

        assert [one.capacity_type for one in answer.machines] == ["on-demand"]


def of_price(name: str, capacity_type: str, cost: float, **more: Any) -> InstanceType:
    return machine(name, {"cpu": "2"}, (Offering(capacity_type, "z", cost)._replace(**more),))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([of_price("a", "on-demand", 2.0), of_price("b", "on-demand", 1.0)], "b"),
        ([of_price("a", "on-demand", 1.0), of_price("b", "spot", 0.9)], "b"),
        ([of_price("a", "on-demand", 1.0), of_price("b", "spot", 1.1)], "a"),
        ([of_price("b", "on-demand", 1.0), of_price("a", "on-demand", 1.0)], "a"),
        ([of_price("a", "spot", 0.1), of_price("b", "reserved", 0.2, reservation="r", count=1)], "b"),
        (
            [
                of_price("a", "reserved", 0.2, reservation="q", count=9, kind="capacity-block"),
                of_price("b", "reserved", 0.2, reservation="r", count=1),
            ],
            "b",
        ),
        (
            [
                of_price("a", "reserved", 0.1, reservation="q", count=1, kind="capacity-block"),
                of_price("b", "reserved", 0.2, reservation="r", count=1),
            ],
            "a",
        ),
        (
            [
                machine("a", {"nvidia.com/gpu": "1"}, (Offering("on-demand", "z", 0.1),)),
                of_price("b", "spot", 9.0),
            ],
            "b",
        ),
    ],
    ids=[
        "the-cheapest",
        "spot",
        "spot-that-costs-more-than-on-demand",
        "equal-prices-by-name",
        "reserved-before-cheaper-spot",
        "default-before-a-block",
        "a-cheaper-block",
        "no-gpu-for-who-asks-for-none",
    ],
)
def test_what_the_provider_buys(types: list[InstanceType], expected: str) -> None:
    assert [m.type for m in ask([pod(requests=SEAT)], types=types).machines] == [expected]


def test_of_reservations_of_one_type_and_zone_the_fullest_is_used() -> None:
    offers = tuple(
        reserved_offering(name, "z", 1.0, count) for name, count in (("cr-few", 1), ("cr-many", 3))
    )

    assert [m.reservation for m in ask([pod()], types=[machine("a", {}, offers)]).machines] == ["cr-many"]


def test_options_are_what_could_have_been_bought_cheapest_first() -> None:
    only = ask([pod(requests={"cpu": "3"})], types=growing(6)).machines[0]

    assert only.options == ("fake-it-3", "fake-it-4", "fake-it-5")


def test_capacity_type_of_the_pool_is_the_machines() -> None:
    for kind in ("spot", "on-demand"):
        pool = NodePool("one", (requirement(CAPACITY_TYPE, "In", (kind,)),))
        assert [m.capacity_type for m in ask([pod()], [pool]).machines] == [kind]
