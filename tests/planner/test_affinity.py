"""Pod affinity and anti-affinity: over hosts and zones."""

from itertools import pairwise

import pytest
from berth.karpenter.nodelabels import ZONE
from berth.karpenter.resourcelists import parse_resources
from berth.planner.inputs import PodAffinityTerm, PodSelector

from tests.planner.machines import ask, by_domain, left, pod, sizes
from tests.planner.spreading import HOST, LARGE, TEST, node, spread


def near(key: str, **labels: str) -> tuple[PodAffinityTerm, ...]:
    return (PodAffinityTerm(key, PodSelector(tuple(labels.items()))),)


S2 = {"security": "s2"}
LABELS2 = tuple(S2.items())


def test_pods_go_where_the_pod_is_that_they_want() -> None:
    others = pod("others", count=10, labels=TEST, spread=spread(HOST))
    wanted = pod("wanted", labels=LABELS2)
    wants = pod("wants", affinity=near(HOST, **S2))
    answer = ask([others, wants, wanted])

    together = [dict(m.pods) for m in answer.machines if "wants" in dict(m.pods)]
    assert [set(one) & {"wants", "wanted"} for one in together] == [{"wants", "wanted"}]


@pytest.mark.parametrize(("count", "placed"), [(3, [3]), (10, [5])])
def test_pods_that_want_each_other_share_one_host_and_the_rest_stays_out(
    count: int, placed: list[int]
) -> None:
    answer = ask([pod(count=count, labels=LABELS2, affinity=near(HOST, **S2))])

    assert sizes(answer) == placed
    assert left(answer) == ({} if placed == [count] else {"pod": (count - placed[0], "topology")})


def test_pods_that_want_each_other_in_a_zone_take_several_hosts_of_it() -> None:
    answer = ask([pod(requests=LARGE, count=9, labels=LABELS2, affinity=near(ZONE, **S2))])

    assert (by_domain(answer, "zone"), len(answer.machines) > 1) == ([9], True)


def test_nobody_goes_to_a_pod_that_is_not_there() -> None:
    assert left(ask([pod(count=10, affinity=near(HOST, **S2))])) == {"pod": (10, "topology")}
    assert sizes(ask([pod(count=2, preferred_affinity=near(HOST, **S2))])) == [2]


def test_a_chain_of_wants_is_followed_in_whatever_order_it_comes() -> None:
    letters = "abcd"
    pods = [pod("a", labels=(("type", "a"),))]
    pods += [
        pod(one, labels=(("type", one),), affinity=near(HOST, type=before))
        for before, one in pairwise(letters)
    ]

    assert sizes(ask(reversed(pods))) == [4]


@pytest.mark.parametrize("key", [HOST, ZONE])
def test_pods_that_avoid_each_other(key: str) -> None:
    answer = ask([pod(count=5, labels=LABELS2, anti_affinity=near(key, **S2))])

    assert sizes(answer) == [1] * (5 if key == HOST else 3)


def test_anti_affinity_over_zones_rules_out_all_zones_that_a_claim_may_be_in_until_it_is_launched() -> None:
    """So one pod a loop; Karpenter's own test calls it Schroedinger's."""
    answer = ask([pod(requests=LARGE, count=3, labels=LABELS2, anti_affinity=near(ZONE, **S2))])

    assert [len(loop.machines) for loop in answer.loops] == [1, 1, 1]
    assert by_domain(answer, "zone") == [1, 1, 1]


def test_anti_affinity_works_both_ways() -> None:
    first = [
        pod(f"z{n}", {"cpu": "2"}, labels=LABELS2, node_selector=((ZONE, f"test-zone-{n}"),))
        for n in (1, 2, 3)
    ]
    avoids = pod("avoids", anti_affinity=near(ZONE, **S2))
    large = pod("avoids", {"cpu": "3"}, anti_affinity=near(ZONE, **S2))

    assert left(ask([*first, avoids])) == {"avoids": (1, "topology")}
    assert sum(sizes(ask([*first, large]))) < 4


def test_who_stands_keeps_others_away() -> None:
    old = pod("old", anti_affinity=near(ZONE, **S2))
    nodes = (node("n", "test-zone-1", allocatable=parse_resources({"pods": "1"}))._replace(pods=(old,)),)
    answer = ask([pod(requests=LARGE, count=4, labels=LABELS2)], nodes=nodes)

    assert by_domain(answer, "zone") == [4]
    assert {m.zone for m in answer.machines} == {"test-zone-2"}


def test_avoiding_may_be_a_wish_only() -> None:
    first = [
        pod(f"z{n}", {"cpu": "2"}, labels=LABELS2, node_selector=((ZONE, f"test-zone-{n}"),))
        for n in (1, 2, 3)
    ]
    avoids = pod("avoids", preferred_anti_affinity=(near(ZONE, **S2)[0]._replace(weight=10),))

    assert sum(sizes(ask([*first, avoids]))) == 4


def test_namespaces_of_a_term() -> None:
    target = pod("target", labels=LABELS2, namespace="other", node_selector=((ZONE, "test-zone-3"),))
    here = pod("wants", {"cpu": "3"}, affinity=near(ZONE, **S2))
    there = here._replace(affinity=(near(ZONE, **S2)[0]._replace(namespaces=("other",)),))

    assert left(ask([target, here])) == {"wants": (1, "topology")}
    assert {m.zone for m in ask([target, there]).machines} == {"test-zone-3"}
