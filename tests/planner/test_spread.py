"""Spread constraints: over hosts, zones, capacity types and labels of people's own."""

from typing import Any

import pytest
from berth.karpenter.nodelabels import ARCH, CAPACITY_TYPE, NODEPOOL, ZONE
from berth.karpenter.requirements import Requirement, requirement
from berth.karpenter.resourcelists import parse_resources
from berth.karpenter.taints import Taint, Toleration
from berth.planner.inputs import NodePool, PodSelector, SpreadConstraint

from tests.planner.machines import ANY, ask, by_domain, left, pod, sizes
from tests.planner.spreading import HOST, LARGE, TEST, node, spread

FIELDS = {ZONE: "zone", CAPACITY_TYPE: "capacity_type"}


def pool(*requirements: Requirement, **more: Any) -> NodePool:
    return ANY._replace(requirements=(*ANY.requirements, *requirements), **more)


def zones(*names: str) -> Requirement:
    return requirement(ZONE, "In", names)


@pytest.mark.parametrize(
    ("pools", "key", "count", "expected"),
    [
        ([ANY], ZONE, 4, [1, 1, 2]),
        ([pool(zones("test-zone-1", "test-zone-2"))], ZONE, 4, [2, 2]),
        ([pool(labels=((ZONE, "test-zone-1"),))], ZONE, 4, [4]),
        ([pool(zones("test-zone-1", "test-zone-2"), labels=((ZONE, "test-zone-1"),))], ZONE, 4, [4]),
        (
            [
                pool(zones("test-zone-1", "test-zone-2"), labels=((ZONE, "test-zone-1"),)),
                ANY._replace(name="np-2", labels=((ZONE, "test-zone-2"),)),
            ],
            ZONE,
            4,
            [2, 2],
        ),
        ([pool(requirement(CAPACITY_TYPE, "In", ("spot", "on-demand")))], CAPACITY_TYPE, 4, [2, 2]),
    ],
    ids=["zones", "two-zones", "by-label", "label-and-requirement", "two-pools", "capacity-types"],
)
def test_pods_are_spread_over_the_domains_that_pools_can_make(
    pools: list[NodePool], key: str, count: int, expected: list[int]
) -> None:
    answer = ask([pod(count=count, labels=TEST, spread=spread(key))], pools)

    assert by_domain(answer, FIELDS[key]) == expected
    assert answer.left == ()


@pytest.mark.parametrize(
    ("names", "min_domains", "count", "expected"),
    [
        (("test-zone-1", "test-zone-2"), 3, 3, [1, 1]),
        (("test-zone-1", "test-zone-2", "test-zone-3"), 3, 11, [3, 4, 4]),
        (("test-zone-1", "test-zone-2", "test-zone-3"), 2, 11, [3, 4, 4]),
    ],
    ids=["too-few", "just-enough", "more-than-enough"],
)
def test_a_least_number_of_domains(
    names: tuple[str, ...], min_domains: int, count: int, expected: list[int]
) -> None:
    seats = pod(count=count, labels=TEST, spread=spread(ZONE, min_domains=min_domains))

    assert by_domain(ask([seats], [pool(zones(*names))]), "zone") == expected


@pytest.mark.parametrize(
    ("standing", "names", "skew", "expected"),
    [
        ([("test-zone-3", 1)], ("test-zone-1", "test-zone-2"), 1, [2, 2]),
        ([("test-zone-1", 1)], ("test-zone-2", "test-zone-3"), 1, [2, 2]),
        ([("test-zone-1", 1), ("test-zone-2", 1)], ("test-zone-3",), 5, [6]),
    ],
)
def test_pods_that_stand_count(
    standing: list[tuple[str, int]], names: tuple[str, ...], skew: int, expected: list[int]
) -> None:
    """Ten come; where the zones that are left would be too full, some stay out."""
    nodes = tuple(
        node(f"n{number}", zone, count, allocatable=parse_resources({"pods": "1"}))
        for number, (zone, count) in enumerate(standing)
    )
    seats = pod(requests=LARGE, count=10, labels=TEST, spread=spread(ZONE, skew))
    answer = ask([seats], [pool(zones(*names))], nodes=nodes)

    assert by_domain(answer, "zone") == expected
    assert left(answer) == {"pod": (10 - sum(expected), "topology")}


def test_only_pods_that_are_selected_and_have_a_domain_count() -> None:
    other = pod("other", count=7)
    elsewhere = pod("elsewhere", count=7, labels=TEST, namespace="other")
    full = {"allocatable": parse_resources({"pods": "3"})}
    nodes = (
        node("a", "test-zone-1", 2, **full)._replace(
            pods=(pod("old", count=2, labels=TEST), other, elsewhere)
        ),
        node("b", "test-zone-2", 1, **full),
        node("c", None, 9, **full),
    )
    answer = ask([pod(requests=LARGE, count=2, labels=TEST, spread=spread(ZONE))], nodes=nodes)

    assert [(m.zone, m.pods) for m in answer.machines] == [("test-zone-3", (("pod", 2),))]


@pytest.mark.parametrize(("skew", "expected"), [(1, [1, 1, 1, 1]), (4, [4]), (3, [3, 1])])
def test_hosts(skew: int, expected: list[int]) -> None:
    assert sizes(ask([pod(count=4, labels=TEST, spread=spread(HOST, skew))])) == expected


def test_two_groups_spread_over_the_same_hosts() -> None:
    groups = [
        pod(
            app,
            count=2,
            labels=(("app", app),),
            spread=(SpreadConstraint(HOST, 1, PodSelector((("app", app),))),),
        )
        for app in ("app1", "app2")
    ]
    split = [
        group._replace(node_selector=((ARCH, arch),))
        for group, arch in zip(groups, ("amd64", "arm64"), strict=True)
    ]

    assert [sizes(ask(groups)), sizes(ask(split))] == [[2, 2], [1, 1, 1, 1]]


def test_who_is_not_selected_is_not_spread() -> None:
    assert sizes(ask([pod(count=5, spread=spread(HOST))])) == [5]
    assert sizes(ask([pod(count=2, labels=TEST, spread=spread(HOST, selector=None))])) == [2]
    nonsense = PodSelector((("test", "{{ zqfmgb }}"),))
    assert sizes(ask([pod(count=2, labels=nonsense.labels, spread=spread(HOST, selector=nonsense))])) == [2]


def test_an_unknown_domain_leaves_no_place() -> None:
    assert left(ask([pod(labels=TEST, spread=spread("unknown"))])) == {"pod": (1, "topology")}


def test_a_spread_that_may_fail_is_dropped() -> None:
    seats: dict[str, Any] = {"requests": LARGE, "count": 4, "labels": TEST}
    only = [pool(zones("test-zone-1"))]
    nodes = (node("n", "test-zone-2"), node("m", "test-zone-1", 1, allocatable=parse_resources({})))

    strict = ask([pod(**seats, spread=spread(ZONE))], only, nodes=nodes)
    loose = ask([pod(**seats, spread=spread(ZONE, schedule_anyway=True))], only, nodes=nodes)

    assert [sum(sizes(strict)), sum(sizes(loose))] == [0, 4]


def test_constraints_hold_together() -> None:
    both = (*spread(ZONE), *spread(HOST, 3))
    answer = ask([pod(count=9, labels=TEST, spread=both)])

    assert (by_domain(answer, "zone"), sizes(answer)) == ([3, 3, 3], [3, 3, 3])


def test_a_node_selector_limits_the_domains_and_what_counts() -> None:
    chosen: dict[str, Any] = {"node_selector": ((ZONE, "test-zone-1"),)}
    answer = ask([pod(count=5, labels=TEST, spread=spread(ZONE), **chosen)])

    assert by_domain(answer, "zone") == [5]


def test_keys_of_a_pods_labels_split_a_group() -> None:
    versions = [
        pod(v, count=2, labels=(*TEST, ("version", v)), spread=spread(ZONE, match_label_keys=("version",)))
        for v in ("1", "2")
    ]
    answer = ask(versions, [pool(zones("test-zone-1", "test-zone-2"))])

    assert by_domain(answer, "zone") == [2, 2]


@pytest.mark.parametrize(("honor", "expected"), [(False, [1]), (True, [2])])
def test_domains_of_pools_that_a_pod_does_not_bear_count_unless_taints_are_honoured(
    honor: bool, expected: list[int]
) -> None:
    key = "example.org/rack"
    pools = [
        ANY._replace(name="a", labels=((key, "one"),)),
        ANY._replace(name="b", labels=((key, "two"),), taints=(Taint("closed"),)),
    ]
    answer = ask([pod(count=2, labels=TEST, spread=spread(key, honor_taints=honor))], pools)

    assert sizes(answer) == expected


def test_tolerations_are_those_of_the_pod() -> None:
    tainted = ANY._replace(taints=(Taint("only"),))
    seats = pod(count=3, labels=TEST, spread=spread(HOST), tolerations=(Toleration("only", "Exists"),))

    assert sizes(ask([seats], [tainted])) == [1, 1, 1]


def test_zones_of_pools_that_no_pod_may_use_count_all_the_same() -> None:
    """Be they among the pools, or elsewhere."""
    mine, theirs = pool(zones("test-zone-1", "test-zone-2")), ANY._replace(name="theirs")
    seats = pod(count=5, labels=TEST, spread=spread(ZONE), node_selector=((NODEPOOL, mine.name),))
    together, apart = ask([seats], [mine, theirs]), ask([seats], [mine], other_pools=(theirs,))

    assert by_domain(apart, "zone") == by_domain(together, "zone") == [1, 1]
    assert left(apart) == left(together) == {"pod": (3, "topology")}
