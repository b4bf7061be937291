"""`min_values`: how many different values a claim leaves to choose from, and what becomes of too few."""

import pytest
from berth.karpenter.instancetypes import InstanceType, reserved_offering
from berth.karpenter.nodelabels import ARCH, INSTANCE_TYPE, NODEPOOL, ZONE
from berth.karpenter.requirements import Requirement, requirement
from berth.karpenter.resourcelists import parse_resources
from berth.planner.inputs import NodePool
from berth.planner.provisioning import UnscheduledPods

from tests.planner.machines import ANY, SETTINGS, ask, bought, growing, left, pod, sizes


def least(number: int, key: str = INSTANCE_TYPE, operator: str = "Exists", *values: str) -> NodePool:
    return ANY._replace(requirements=(*ANY.requirements, requirement(key, operator, values, number)))


def test_claims_keep_as_many_values_as_a_pool_wants() -> None:
    seats = pod(requests={"cpu": "800m"}, count=2)

    assert [len(ask([seats], [least(n)], growing(2)).machines) for n in (1, 2)] == [1, 2]


@pytest.mark.parametrize(
    ("requirements", "placed"),
    [
        ([requirement("integer", "Gt", ("2",), 2)], True),
        ([requirement("integer", "Gt", ("3",), 2)], False),
        ([requirement("integer", "Lt", ("3",), 2)], True),
        ([requirement("integer", "Lt", ("2",), 2)], False),
        ([requirement("integer", "Gt", ("1",), 1), requirement("integer", "Lt", ("4",), 2)], True),
        ([requirement("integer", "Gt", ("1",), 1), requirement("integer", "Lt", ("4",), 3)], False),
        ([requirement(INSTANCE_TYPE, "In", ("fake-it-0", "fake-it-1"), 2)], True),
        ([requirement(INSTANCE_TYPE, "In", ("fake-it-0", "fake-it-9"), 2)], False),
        ([requirement(ARCH, "Exists", (), 2)], False),
        ([requirement(INSTANCE_TYPE, "Exists", (), 3), requirement("integer", "Exists", (), 4)], True),
        ([requirement(ZONE, "Exists", (), 3)], True),
        ([requirement(ZONE, "Exists", (), 4)], False),
    ],
)
def test_too_few_values_are_no_pool(requirements: list[Requirement], placed: bool) -> None:
    pool = ANY._replace(requirements=(*ANY.requirements, *requirements))

    assert bool(ask([pod(requests={"cpu": "500m"})], [pool], growing(4)).machines) == placed


def test_values_that_the_pod_excludes_do_not_count() -> None:
    narrow = pod(node_selector=((ZONE, "test-zone-1"),))

    assert left(ask([narrow], [least(2, ZONE)], growing(2))) == {"pod": (1, "min-values")}


def test_too_few_values_among_the_types_that_may_be_sent_leave_the_pods_waiting() -> None:
    two = SETTINGS._replace(max_types=2)
    answer = ask([pod()], [least(3)], growing(5), settings=two)

    assert answer.left == (UnscheduledPods("pod", 1, "min-values", "default: too few values are left"),)


def test_too_few_values_among_the_types_of_one_call_leave_the_pods_waiting() -> None:
    """The provider cuts once more, and asks once more."""
    two = SETTINGS._replace(max_launch_types=2)
    message = "default: too few values are left"

    assert ask([pod()], [least(3)], growing(5), settings=two).left == (
        UnscheduledPods("pod", 1, "min-values", message),
    )
    assert sizes(ask([pod()], [least(2)], growing(5), settings=two)) == [1]


def second_reserved(number: int) -> tuple[InstanceType, ...]:
    """Of growing sizes the second has a reservation of one machine."""
    first, second, *rest = growing(number)
    held = reserved_offering("r", "test-zone-1", 1, 1)
    return first, second._replace(offerings=(*second.offerings, held)), *rest


def test_types_without_a_reservation_are_no_values_for_a_claim_that_holds_one() -> None:
    """Of two types one is left of the reserved kind."""
    message = "default: too few values are left"

    assert ask([pod()], [least(2)], second_reserved(2)).left == (
        UnscheduledPods("pod", 1, "min-values", message),
    )
    assert bought(ask([pod()], [least(1)], second_reserved(2))) == [("fake-it-1", "test-zone-1", 1)]


def test_limits_are_the_reason_where_without_them_a_pod_would_wait_for_a_reserved_machine() -> None:
    """The claim of the first holds it, and is never launched; the pool of the second has no room for it."""
    limited = ANY._replace(name="limited", limits=parse_resources({"cpu": "1"}))
    first = pod("first", {"cpu": "1.8"}, node_selector=((NODEPOOL, "default"),))
    second = pod("second", {"cpu": "1.5"}, node_selector=((NODEPOOL, "limited"),))
    answer = ask([first, second], [least(2), limited], second_reserved(3))

    assert left(answer) == {"first": (1, "min-values"), "second": (1, "limits")}
