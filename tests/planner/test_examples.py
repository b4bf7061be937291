"""Examples whose results are known from Karpenter: what comes of reservations, loop by loop."""

from typing import Any

import pytest
from berth.karpenter.instancetypes import InstanceType, Offering
from berth.karpenter.nodelabels import (
    ARCH,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL,
    OS,
    RESERVATION_ID,
    RESERVATION_INTERRUPTIBLE,
    RESERVATION_TYPE,
    ZONE,
)
from berth.karpenter.requirements import requirement
from berth.karpenter.resourcelists import parse_resources
from berth.planner.inputs import (
    KarpenterSettings,
    NodePool,
    PodAffinityTerm,
    PodSelector,
    PodSet,
    PreferredTerm,
)
from berth.planner.provisioning import NewNode, SchedulingResult, UnscheduledPods

from tests.planner.machines import ANY, ask, left, machine, pod, price

HOST = "kubernetes.io/hostname"
APP = (("app", "test"),)
ALONE: dict[str, Any] = {"labels": APP, "anti_affinity": (PodAffinityTerm(HOST, PodSelector(APP)),)}


def with_reservation(name: str, cpu: str, reservation: str = "", count: int = 1) -> InstanceType:
    base = machine(name, {"cpu": cpu, "memory": f"{cpu}Gi"})
    cost = price(base.capacity) / 100_000
    offering = Offering("reserved", "test-zone-1", cost, True, reservation or f"r-{name}", count)
    return base._replace(offerings=(*base.offerings, offering))


LARGE = machine("large", {"cpu": "6", "memory": "6Gi"})
MEDIUM = with_reservation("medium", "3")
SMALL = with_reservation("small", "2")
TYPES = (LARGE, MEDIUM, SMALL)
ON_SMALL: dict[str, Any] = {"required": ((requirement(INSTANCE_TYPE, "In", ("small",)),),)}


def loops(answer: SchedulingResult) -> list[list[tuple[str, str, str]]]:
    """(pool, type, reservation) of what each loop buys."""
    return [[(m.pool, m.type, m.reservation) for m in loop.machines] for loop in answer.loops]


def test_one_pod_a_loop_while_a_claim_books_every_reservation_that_it_may_use() -> None:
    answer = ask([pod("seat", {"cpu": "1800m"}, 3)], types=TYPES)

    assert loops(answer) == [
        [("default", "small", "r-small")],
        [("default", "medium", "r-medium")],
        [("default", "small", "")],
    ]
    assert [loop.deferred for loop in answer.loops] == [2, 1, 0]
    assert answer.left == ()


def test_the_first_machine_of_these_in_full() -> None:
    first = ask([pod("seat", {"cpu": "1800m"}, 3)], types=TYPES).machines[0]

    labels = {
        ARCH: "amd64",
        CAPACITY_TYPE: "reserved",
        INSTANCE_TYPE: "small",
        NODEPOOL: "default",
        OS: "darwin",
        RESERVATION_ID: "r-small",
        RESERVATION_INTERRUPTIBLE: "false",
        RESERVATION_TYPE: "default",
        ZONE: "test-zone-1",
        "integer": "2",
        "size": "small",
    }
    assert first == NewNode(
        "default",
        "small",
        "test-zone-1",
        "reserved",
        price(SMALL.capacity) / 100_000,
        "r-small",
        (("seat", 1),),
        ("small", "medium"),
        tuple(sorted(labels.items())),
    )


def test_two_pods_that_fit_one_node_share_it() -> None:
    assert loops(ask([pod("seat", {"cpu": "900m"}, 2)], types=TYPES)) == [[("default", "small", "r-small")]]


def test_a_pinned_type_makes_one_loop_enough_for_two_reservations() -> None:
    pods = [
        pod("a", {"cpu": "1800m"}, required=((requirement(INSTANCE_TYPE, "In", ("medium",)),),)),
        pod("b", {"cpu": "1800m"}, **ON_SMALL),
    ]

    assert loops(ask(pods, types=TYPES)) == [
        [("default", "medium", "r-medium"), ("default", "small", "r-small")]
    ]


def test_a_reservation_that_two_pools_share_is_booked_once() -> None:
    pods = [
        pod(
            name,
            **{**ALONE, "required": (ON_SMALL["required"][0] + (requirement(NODEPOOL, "In", (name,)),),)},
        )
        for name in ("np-1", "np-2")
    ]
    answer = ask(pods, [ANY._replace(name="np-1"), ANY._replace(name="np-2")], TYPES)

    assert loops(answer) == [[("np-1", "small", "r-small")], [("np-2", "small", "")]]


def test_reservations_of_their_own_let_two_pools_buy_in_one_loop() -> None:
    pods = [
        pod(
            name,
            **{**ALONE, "required": (ON_SMALL["required"][0] + (requirement(NODEPOOL, "In", (name,)),),)},
        )
        for name in ("np-1", "np-2")
    ]
    second = ANY._replace(name="np-2", types=(with_reservation("small", "2", "r-distinct"),))
    answer = ask(pods, [ANY._replace(name="np-1"), second], TYPES)

    assert loops(answer) == [[("np-1", "small", "r-small"), ("np-2", "small", "r-distinct")]]


def test_several_reservations_of_one_type_and_zone_book_a_slot_in_each() -> None:
    more = Offering("reserved", "test-zone-1", price(SMALL.capacity) / 100_000, True, "r-small-2", 2)
    types = (LARGE, MEDIUM, SMALL._replace(offerings=(*SMALL.offerings, more)))
    answer = ask([pod("seat", {}, 4, **ALONE, **ON_SMALL)], types=types)

    assert [len(loop.machines) for loop in answer.loops] == [2, 1, 1]
    assert [sum(bool(m.reservation) for m in loop.machines) for loop in answer.loops] == [2, 1, 0]


def test_a_lower_pool_has_to_wait_while_a_reservation_of_a_higher_one_is_only_booked() -> None:
    fallback = ANY._replace(name="np-fallback", weight=50)
    fallback = fallback._replace(types=(with_reservation("small", "2", "r-fallback"),))
    primary = ANY._replace(name="np-primary", weight=100)
    answer = ask([pod("seat", {}, 2, **ALONE, **ON_SMALL)], [fallback, primary], TYPES)

    assert loops(answer) == [[("np-primary", "small", "r-small")], [("np-primary", "small", "")]]


def test_wishes_are_kept_while_a_pod_waits_for_a_reservation() -> None:
    wish = (PreferredTerm(1, (requirement(NODEPOOL, "In", ("np-1",)),)),)
    second = ANY._replace(name="np-2", types=(with_reservation("small", "2", "r-distinct"),))
    pods = [pod("seat", {}, 2, **ALONE, **ON_SMALL, preferred=wish)]
    answer = ask(pods, [ANY._replace(name="np-1"), second], TYPES)

    assert loops(answer) == [[("np-1", "small", "r-small")], [("np-1", "small", "")]]


def test_pods_together_in_a_zone_share_a_reserved_node() -> None:
    term = (
        *ON_SMALL["required"][0],
        requirement(NODEPOOL, "In", ("default",)),
        requirement(CAPACITY_TYPE, "In", ("reserved",)),
        requirement(ZONE, "In", ("test-zone-1",)),
    )
    seat = pod(
        "seat", {}, 2, labels=APP, affinity=(PodAffinityTerm(ZONE, PodSelector(APP)),), required=(term,)
    )

    assert loops(ask([seat], types=TYPES)) == [[("default", "small", "r-small")]]


def test_a_slot_is_free_again_when_a_claim_can_no_longer_use_it() -> None:
    """The second pod narrows the first claim to `medium`; the third then finds the slot of `small`."""
    pods = [
        pod("a", {"cpu": "1500m"}),
        pod("b", {"cpu": "1100m"}, required=((requirement(INSTANCE_TYPE, "In", ("medium",)),),)),
        pod("c", {"cpu": "1050m"}, **ON_SMALL),
    ]

    assert loops(ask(pods, types=TYPES)) == [
        [("default", "medium", "r-medium"), ("default", "small", "r-small")]
    ]


def test_a_pod_that_pins_on_demand_never_uses_a_reservation() -> None:
    seat = pod("seat", {"cpu": "1800m"}, 2, node_selector=((CAPACITY_TYPE, "on-demand"),))

    assert loops(ask([seat], types=TYPES)) == [[("default", "large", "")]]


def test_a_pod_may_ask_for_one_reservation() -> None:
    seat = pod("seat", {"cpu": "1"}, 2, node_selector=((RESERVATION_ID, "r-medium"),))

    assert loops(ask([seat], types=TYPES)) == [[("default", "medium", "r-medium")]]
    gone = pod("seat", {"cpu": "1"}, node_selector=((RESERVATION_ID, "r-other"),))
    assert left(ask([gone], types=TYPES)) == {"seat": (1, "types")}


def test_a_pool_without_reserved_uses_none() -> None:
    pool = NodePool("plain", (requirement(CAPACITY_TYPE, "In", ("on-demand",)),))

    assert loops(ask([pod("seat", {"cpu": "1800m"}, 2)], [pool], TYPES)) == [[("plain", "large", "")]]


def test_a_pool_of_reserved_machines_only_reports_who_has_none() -> None:
    pool = NodePool("gpu", (requirement(CAPACITY_TYPE, "In", ("reserved",)),))
    answer = ask([pod("seat", {"cpu": "1800m"}, 4)], [pool], TYPES)

    assert loops(answer) == [[("gpu", "small", "r-small")], [("gpu", "medium", "r-medium")]]
    message = "no pool has a type left that is offered as the pool requires"
    assert answer.left == (UnscheduledPods("seat", 2, "pools", message),)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_as_many_reserved_machines_as_are_free_are_used_in_one_loop(count: int) -> None:
    types = (with_reservation("only", "2", "r", 5),)
    answer = ask([pod("seat", {"cpu": "1800m"}, count)], types=types)

    assert [sum(bool(m.reservation) for m in loop.machines) for loop in answer.loops][:1] == [min(count, 5)]
    assert len(answer.machines) == count


def test_a_reservation_without_a_free_machine_is_not_offered() -> None:
    empty = Offering("reserved", "test-zone-1", 0.0, False, "r", 0)
    types = (machine("only", {"cpu": "2"}, (empty, Offering("on-demand", "test-zone-1", 1.0))),)

    assert loops(ask([pod("seat")], types=types)) == [[("default", "only", "")]]


def test_settings_have_karpenters_defaults() -> None:
    assert KarpenterSettings()[:2] == (600, 60)
    assert PodSet("seat", parse_resources({"cpu": "1"})).count == 1
