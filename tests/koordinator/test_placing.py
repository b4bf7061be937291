"""Which Reservation a pod takes, whether it must, and what it has to come from it."""

import json
from typing import Any

import pytest

from tests.koordinator.world import node, pod, reservation, settled

NEEDING = {"scheduling.koordinator.sh/reservation-affinity": "{}"}
ORDER = "scheduling.koordinator.sh/reservation-order"
OPTIONS = "scheduling.koordinator.sh/reservation-restricted-options"
IGNORED = "scheduling.koordinator.sh/reservation-ignored"


def test_strangers_do_not_get_what_is_reserved() -> None:
    world = settled(node(cpu="2"), reservation(cpu="2"))
    world.add(pod("stranger", labels={}), pod("session"))

    world.look()

    assert world.where() == {"session": "n1", "r1": "n1"}
    assert world.waits() == {"stranger": "0/1 nodes are available: 1 Insufficient cpu."}


def test_without_affinity_a_pod_that_fits_into_none_takes_what_is_free() -> None:
    """The choice is soft: one Reservation at most, and never the remainders of several."""
    world = settled(node(cpu="4"), reservation(), reservation("r2"))
    world.add(pod("large", cpu="2"))
    world.look()
    assert world.where()["large"] == "n1"
    assert world.owners() == {"r1": [], "r2": []}

    world.add(pod("larger", cpu="2"))
    world.look()
    assert world.waits() == {"larger": "0/1 nodes are available: 1 Insufficient cpu by node."}


def test_restricted_must_do_alone_and_aligned_takes_the_rest_from_the_node() -> None:
    for policy, owners in (("Restricted", []), ("Aligned", ["s1"]), (None, ["s1"])):
        world = settled(node(cpu="4"), reservation(allocatePolicy=policy))
        world.add(pod("s1", cpu="2", annotations=NEEDING))
        world.look()
        assert world.owners() == {"r1": owners}, policy


def test_aligned_needs_both_together() -> None:
    world = settled(node(cpu="4"), reservation(allocatePolicy="Aligned"), pod("other", cpu="2", labels={}))
    world.add(pod("s1", cpu="3", annotations=NEEDING))
    world.look()

    assert world.waits() == {"s1": "0/1 nodes are available: 1 Insufficient cpu."}


def test_restricted_options_leave_other_resources_to_the_node() -> None:
    both = {"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
    asked = [{"resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}]
    for options, owners in (("", []), ('{"resources": ["cpu"]}', ["s1"]), ('{"resources": ["gpu"]}', [])):
        world = settled(node(), reservation(template=both, annotations={OPTIONS: options}))
        world.add(pod("s1", containers=asked, annotations=NEEDING))
        world.look()
        assert world.owners() == {"r1": owners}, options


def test_options_that_cannot_be_read_hold_room_for_nobody() -> None:
    world = settled(node(cpu="1"), reservation(annotations={OPTIONS: "cpu"}))
    world.add(pod("s1"))
    world.look()

    assert world.where() == {"r1": "n1"}


def test_what_a_reservation_does_not_hold_comes_from_the_node() -> None:
    world = settled(node(), reservation())
    world.add(pod("s1", containers=[{"resources": {"requests": {"cpu": "1", "memory": "9Gi"}}}]))
    world.look()

    assert world.owners() == {"r1": ["s1"]}


def test_a_part_may_be_held_back_inside_it() -> None:
    held = {"node.koordinator.sh/reservation": '{"resources": {"cpu": "500m"}}'}
    world = settled(node(), reservation(annotations=held))
    world.add(pod("s1", annotations=NEEDING), pod("s2", cpu="500m", annotations=NEEDING))
    world.look()

    assert world.owners() == {"r1": ["s2"]}


@pytest.mark.parametrize(("present", "new", "fits"), [
    ("Restricted", "Restricted", True), ("Restricted", "Aligned", True), ("Aligned", "Restricted", True),
    (None, None, True), (None, "Restricted", False), ("Aligned", None, False), (None, "Aligned", False),
])  # fmt: skip
def test_an_unset_policy_shares_no_node(present: str | None, new: str | None, fits: bool) -> None:
    world = settled(node(), reservation(allocatePolicy=present))
    world.add(reservation("r2", allocatePolicy=new))
    world.look()

    assert world.phases()["r2"] == ("Available" if fits else "Pending")
    if not fits:
        said = "0/1 nodes are available: 1 node(s) reservation allocate policy conflict."
        assert world.refused("r2") == said


def test_the_lowest_order_goes_first_then_the_fullest() -> None:
    orders = {"none": "", "zero": "0", "text": "x", "third": "30", "first": "-5", "second": "7"}
    several = [reservation(name, labels={ORDER: order}) for name, order in orders.items()]
    world = settled(node(cpu="9"), *several)
    for number in range(3):
        world.add(pod(f"s{number}"))
        world.look()
    assert [world.owners()[name] for name in ("first", "second", "third")] == [["s0"], ["s1"], ["s2"]]

    world = settled(node(cpu="9"), reservation("small"), reservation("large", cpu="3"))
    world.add(pod("s1"))
    world.look()
    assert world.owners() == {"small": ["s1"], "large": []}


def test_an_order_makes_its_node_the_preferred_one_and_any_reservation_goes_before_none() -> None:
    at = [{"nodeName": name} for name in ("n1", "n2")]
    ordered = reservation("r2", template=at[1], labels={ORDER: "9"})
    nodes = (node("n1"), node("n2", cpu="1"), node("n0", cpu="64"))
    world = settled(*nodes, reservation("r1", template=at[0]), ordered)
    for number in range(3):
        world.add(pod(f"s{number}"))
        world.look()

    assert {name: world.where()[name] for name in ("s0", "s1", "s2")} == {"s0": "n2", "s1": "n1", "s2": "n0"}


@pytest.mark.parametrize("order", ["9223372036854775808", "-9223372036854775809", "1.5", ""])
def test_an_order_that_go_cannot_read_is_none(order: str) -> None:
    world = settled(node(), reservation("r1"), reservation("r2", labels={ORDER: order}))
    world.add(pod("s1"))
    world.look()

    assert world.owners() == {"r1": ["s1"], "r2": []}


def test_reservation_ignored_uses_any_room_and_is_never_an_owner() -> None:
    world = settled(node(cpu="1"), reservation(owners=[{"object": {"name": "other"}}]))
    world.add(pod("s1", labels={IGNORED: "true"}))
    world.look()

    assert world.where()["s1"] == "n1"
    assert world.owners() == {"r1": []}


def test_its_owners_count_once_for_everybody_else() -> None:
    """Used in part, a Reservation and its owner take no more than the Reservation."""
    world = settled(node(cpu="4"), reservation(cpu="3"), pod("s1", cpu="2", annotations=NEEDING))
    world.look()
    world.add(pod("stranger", labels={}))
    world.look()

    assert world.owners() == {"r1": ["s1"]}
    assert world.where()["stranger"] == "n1"


def test_a_pod_of_another_scheduler_is_left_alone() -> None:
    world = settled(node(), pod("s1", schedulerName="default-scheduler"))

    assert world.where() == {}


OPERATING: dict[str, Any] = {
    "labels": {"scheduling.koordinator.sh/operating-mode": "Reservation"},
    "annotations": {"scheduling.koordinator.sh/reservation-owners": json.dumps([{"object": {"name": "s1"}}])},
}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(("status", "is_owner"), [(READY, True), ({}, False)], ids=["ready", "not-ready"])
def test_a_pod_may_be_a_reservation(status: dict[str, Any], is_owner: bool) -> None:
    """For one owner, once it is Running and Ready. Nothing deletes it then."""
    world = settled(node(cpu="1"), pod("place", at="n1", status=status, **OPERATING))
    world.add(pod("s1"))
    world.look()

    assert ("s1" in world.where()) is is_owner
    if is_owner:
        assert json.loads(world.pods["s1"]["metadata"]["annotations"][
            "scheduling.koordinator.sh/reservation-allocated"
        ]) == {"name": "place", "uid": "uid-of-place"}  # fmt: skip


def test_operating_pods_count_as_aligned() -> None:
    world = settled(
        node(), pod("place", at="n1", status=READY, **OPERATING), reservation(allocatePolicy=None)
    )

    assert world.phases() == {"r1": "Pending"}


@pytest.mark.parametrize("requires", [False, True], ids=["free-to-go", "requires-a-slot"])
def test_a_session_goes_to_the_node_of_the_lowest_order_though_its_slots_are_full(requires: bool) -> None:
    """And passes by a slot that is free, unless it must take one."""
    low = reservation("low", labels={ORDER: "1"}, template={"nodeName": "n1"})
    high = reservation("high", labels={ORDER: "2"}, template={"nodeName": "n2"})
    world = settled(node("n1"), node("n2"), low, high)
    world.add(pod("s1"))
    world.look()
    world.add(pod("s2", annotations=NEEDING if requires else {}))
    world.look()

    assert world.where()["s1"] == "n1"
    assert (world.where()["s2"], world.owners()["high"]) == (("n2", ["s2"]) if requires else ("n1", []))
