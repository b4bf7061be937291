"""Loops, machines that stand, static pools, and the choice of the provider."""

from typing import Any

import pytest
from berth.machines.estimate import Estimate, ExistingMachine, NodePool, PreferredTerm
from berth.machines.instancetypes import InstanceType, Offering, parse_resources, reserved_offering
from berth.machines.nodelabels import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL,
    RESERVED,
    Taint,
    requirement,
)

from tests.machines.questions import ANY, ask, bought, left, machine, pod, sizes

ROOM = parse_resources({"cpu": "4", "memory": "8Gi", "pods": "10"})
SEAT = {"cpu": "1"}


def node(name: str, **more: Any) -> ExistingMachine:
    return ExistingMachine(name, ROOM, ROOM)._replace(**more)


def taken(answer: Estimate) -> dict[str, dict[str, int]]:
    return {name: dict(seats) for name, seats in answer.taken}


def test_without_pods_nothing_is_bought() -> None:
    assert ask([]) == ((), (), (), 0)
    assert ask([pod(count=0)]).bought == ()


def test_existing_nodes_are_filled_before_anything_is_bought() -> None:
    answer = ask([pod(requests=SEAT, count=6)], machines=(node("a"),))

    assert taken(answer) == {"a": {"pod": 4}}
    assert sizes(answer) == [2]


def test_existing_nodes_are_filled_in_order_of_their_names() -> None:
    nodes = (node("c"), node("b"))

    assert taken(ask([pod(requests=SEAT, count=5)], machines=nodes)) == {
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
        ({"seats": (pod("old", {"cpu": "3"}, 1),)}, {}, True),
        ({"seats": (pod("old", {"cpu": "3.5"}, 1),)}, {}, False),
        ({"seats": (pod("old", {}, 10),)}, {}, False),
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
def test_an_existing_node_takes_only_fitting_pods(
    more: dict[str, Any], asks: dict[str, Any], fits: bool
) -> None:
    answer = ask([pod(requests=SEAT, **asks)], machines=(node("n", **more),))

    assert (len(answer.taken), len(answer.bought)) == ((1, 0) if fits else (0, 1))


def test_nodes_of_a_node_pool_count_toward_its_limits() -> None:
    pool = ANY._replace(limits=parse_resources({"cpu": "6"}))
    full = node("n", allocatable=parse_resources({}), labels=((NODEPOOL, "default"),))

    assert bought(ask([pod(requests=SEAT)], [pool], machines=(full,))) == [
        ("small-instance-type", "test-zone-1", 1)
    ]
    assert left(ask([pod(requests={"cpu": "3"})], [pool], machines=(full,))) == {"pod": (1, "limits")}
    assert left(
        ask([pod(requests=SEAT)], [ANY._replace(limits=parse_resources({"nodes": "1"}))], machines=(full,))
    ) == {"pod": (1, "limits")}


def test_a_pod_that_would_cost_a_claim_its_reservation_waits_for_the_next_loop() -> None:
    """`b` may not join the claim of `a`, which would lose its reservation; on the real machine it fits."""
    cost = 1.0
    small = machine("small", {"cpu": "4", "memory": "4Gi"}, (Offering("reserved", "z", cost, "r", 1),))
    wide = machine("wide", {"cpu": "8", "memory": "8Gi"}, (Offering("reserved", "z", cost * 2, "q", 1),))
    pods = [
        pod("a", {"cpu": "3"}),
        pod("b", {"cpu": "2.5"}, required=((requirement(INSTANCE_TYPE, "In", ("small",)),),)),
        pod("c", {"cpu": "500m"}, required=((requirement(INSTANCE_TYPE, "In", ("small",)),),)),
    ]
    answer = ask(pods, types=[small, wide])

    assert [(m.type, dict(m.seats)) for m in answer.bought] == [("small", {"a": 1, "c": 1})]
    assert left(answer) == {"b": (1, "reserved")}


HELD = ANY._replace(name="held", weight=9, requirements=(requirement(CAPACITY_TYPE, "In", (RESERVED,)),))
WISH = (PreferredTerm(1, (requirement(CAPACITY_TYPE, "In", (RESERVED,)),)),)


@pytest.mark.parametrize("pools", [[ANY], [HELD, ANY]], ids=["one-pool", "two-pools"])
@pytest.mark.parametrize("preferred", [(), WISH], ids=["", "preferred"])
@pytest.mark.parametrize("free", [0, 1])
def test_pods_wait_for_full_reservations_that_are_still_offered(
    pools: list[NodePool], preferred: tuple[PreferredTerm, ...], free: int
) -> None:
    """Where the pod may have nothing else: since 1.15 neither a lighter pool nor a weaker wish is tried."""
    held = reserved_offering("cr-1", "z", 1.0, free)
    types = [machine("fixed", {}, (held, Offering("on-demand", "z", 1.0)))]
    seats = pod(requests={"cpu": "3"}, count=3, preferred=preferred)
    answer = ask([seats], pools, types)
    reserved = [one.reservation for one in answer.bought]

    if len(pools) == 1 and not preferred:
        assert sorted(reserved) == ["", "", "cr-1" if free else ""]
    else:
        assert (reserved, left(answer)) == (["cr-1"] * free, {"pod": (3 - free, "reserved")})


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
                of_price("a", "reserved", 0.1, reservation="q", count=1, kind="capacity-block"),
                of_price("b", "reserved", 0.2, reservation="r", count=1),
            ],
            "a",
        ),
    ],
    ids=[
        "the-cheapest",
        "spot",
        "spot-that-costs-more-than-on-demand",
        "equal-prices-by-name",
        "reserved-before-cheaper-spot",
        "a-cheaper-block",
    ],
)
def test_the_provider_buys_the_cheapest_allowed_offering(types: list[InstanceType], expected: str) -> None:
    assert [m.type for m in ask([pod(requests=SEAT)], types=types).bought] == [expected]


def test_a_machine_has_the_capacity_type_of_its_node_pool() -> None:
    for kind in ("spot", "on-demand"):
        pool = NodePool("one", (requirement(CAPACITY_TYPE, "In", (kind,)),))
        assert [m.capacity_type for m in ask([pod()], [pool]).bought] == [kind]
