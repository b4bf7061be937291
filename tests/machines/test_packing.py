"""How many machines, and of which size: without reservations and without topology."""

from typing import Any

import pytest
from berth.machines.instancetypes import InstanceType, Offering, parse_resources
from berth.machines.nodelabels import ARCH

from tests.cases import tabled
from tests.machines.questions import ANY, ask, bought, growing, left, machine, pod, sizes

AMD: dict[str, Any] = {"node_selector": ((ARCH, "amd64"),)}


@pytest.mark.parametrize(
    ("requests", "count", "machines"),
    [
        ({"memory": "100M"}, 1, [("small-instance-type", 1)]),
        ({"memory": "2000M"}, 1, [("small-instance-type", 1)]),
        ({"cpu": "3"}, 1, [("default-instance-type", 1)]),
        ({"memory": "10M"}, 5, [("small-instance-type", 5)]),
        ({"memory": "1.8G"}, 40, [("default-instance-type", 2)] * 20),
        ({"memory": "1m", "cpu": "1m"}, 25, [("small-instance-type", 5)] * 5),
        ({"foo.com/weird-resources": "0"}, 1, [("small-instance-type", 1)]),
        ({"fake.com/vendor-a": "1"}, 1, [("gpu-vendor-instance-type", 1)]),
        ({"memory": "2Ti"}, 1, []),
        ({"fake.com/vendor-a": "1", "fake.com/vendor-b": "1"}, 1, []),
    ],
    ids=[
        "little",
        "just-fits-the-smallest",
        "needs-the-next",
        "several-on-one",
        "two-on-each",
        "by-number-of-pods",
        "none-of-a-resource-that-nobody-has",
        "a-device",
        "too-large",
        "devices-of-two-types",
    ],
)
def test_equal_pods_are_packed_onto_the_expected_machines(
    requests: dict[str, str], count: int, machines: list[tuple[str, int]]
) -> None:
    answer = ask([pod(requests=requests, count=count, **AMD)])

    assert [(one, pods) for one, _, pods in bought(answer)] == machines
    assert left(answer) == ({} if machines else {"pod": (count, "pools")})


def test_small_pods_fill_the_space_beside_large_pods() -> None:
    large = pod("large", {"memory": "1.8G"}, 40, **AMD)
    small = pod("small", {"memory": "400M"}, 20, **AMD)
    answer = ask([small, large])

    assert [(m.type, dict(m.seats)) for m in answer.bought] == [
        ("default-instance-type", {"large": 2, "small": 1})
    ] * 20


def test_a_pod_that_does_not_fit_beside_a_large_one_gets_its_own_node() -> None:
    answer = ask([pod("a", {"cpu": "4.5"}), pod("b", {"cpu": "1"})], types=growing(5))

    assert bought(answer) == [("fake-it-4", "test-zone-1", 1), ("fake-it-1", "test-zone-1", 1)]


def test_large_pods_are_placed_first_in_any_input_order() -> None:
    pods = [pod("a", {"cpu": "500m"}), pod("b", {"cpu": "3"}), pod("c", {"cpu": "3", "memory": "1Gi"})]

    assert [dict(m.seats) for m in ask(pods, types=[machine("one")]).bought] == [{"a": 1, "c": 1}, {"b": 1}]


def test_machines_grow_to_the_largest_type_at_any_price() -> None:
    dear = machine("dear", {"cpu": "64", "memory": "64Gi", "pods": "99"}, (Offering("spot", "z", 1000.0),))
    cheap = machine("cheap", {"cpu": "2", "memory": "2Gi"}, (Offering("spot", "z", 0.01),))

    assert bought(ask([pod(requests={"cpu": "1"}, count=30)], types=[dear, cheap])) == [("dear", "z", 30)]


def test_the_cheapest_remaining_type_is_bought_at_any_size() -> None:
    prices = {"medium": ("2", 3.0), "small": ("1", 2.0), "large": ("4", 1.0)}
    types = [
        machine(name, {"cpu": cpu, "memory": f"{cpu}Gi"}, (Offering("on-demand", "test-zone-1a", cost),))
        for name, (cpu, cost) in prices.items()
    ]
    only = ask([pod(requests={"cpu": "1m", "memory": "1Mi"})], types=types).bought[0]

    assert only.type == "large"


def test_the_claim_with_the_fewest_pods_is_tried_first() -> None:
    """Of two with equally many pods the one that grew last, as a stable sort before each pod leaves them."""
    types = [machine("one", {"cpu": "8", "memory": "64Gi", "pods": "20"})]
    pods = [
        pod("a", {"cpu": "5"}),
        pod("b", {"cpu": "4"}),
        pod("c", {"cpu": "1"}, 3),
        pod("d", {"cpu": "100m"}, 3),
    ]

    assert [dict(m.seats) for m in ask(pods, types=types).bought] == [
        {"a": 1, "c": 1, "d": 2},
        {"b": 1, "c": 2, "d": 1},
    ]


def test_resources_of_two_types_need_two_machines() -> None:
    pods = [pod("a", {"fake.com/vendor-a": "1"}), pod("b", {"fake.com/vendor-b": "1"})]

    assert [m.type for m in ask(pods).bought] == ["gpu-vendor-instance-type", "gpu-vendor-b-instance-type"]


def test_an_instance_type_without_offerings_is_not_bought() -> None:
    closed = InstanceType("closed", parse_resources({"cpu": "4", "memory": "4Gi", "pods": "5"}), ())

    assert left(ask([pod()], types=[closed])) == {"pod": (1, "pools")}


@tabled("machines")
def test_limits_of_a_node_pool_bound_the_placed_pods(
    limits: dict[str, str], requests: dict[str, str], count: int, placed: int
) -> None:
    answer = ask([pod(requests=requests, count=count)], [ANY._replace(limits=parse_resources(limits))])

    assert sum(sizes(answer)) == placed
    assert left(answer) == ({} if placed == count else {"pod": (count - placed, "limits")})


def test_types_larger_than_the_remaining_limit_are_not_bought() -> None:
    pool = ANY._replace(limits=parse_resources({"cpu": "8"}))
    types = [machine("two", {"cpu": "2", "memory": "2Gi"}), machine("eight", {"cpu": "8", "memory": "8Gi"})]
    answer = ask([pod("a", {"cpu": "5"}), pod("b", {"cpu": "4"}), pod("c", {"cpu": "1"})], [pool], types)
    small = ask([pod("a", {"cpu": "1"}, 12)], [pool], types[:1])

    assert [m.type for m in answer.bought] == ["eight"]
    assert left(answer) == {"b": (1, "limits")}
    assert (sizes(small), left(small)) == ([1, 1, 1, 1], {"a": (8, "limits")})


def test_the_limit_of_nodes_is_checked_between_rounds_and_not_within_one() -> None:
    pool = ANY._replace(limits=parse_resources({"nodes": "2"}))

    assert len(ask([pod(requests={"cpu": "3"}, count=5, **AMD)], [pool]).bought) == 5
