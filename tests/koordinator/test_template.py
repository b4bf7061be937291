"""What becomes of a template: the pod that only the scheduler has, its priority, and what an edit changes."""

from typing import Any

import pytest

from tests.koordinator.objects import reserve_pod
from tests.koordinator.world import NOON, World, node, pod, reservation


def test_its_size_and_node_are_fixed_once_it_is_available() -> None:
    """And all else of it acts live: here its owners, its ttl, its order."""
    world = World(node(cpu="4"), reservation(cpu="3"))
    world.look()
    smaller = reservation(cpu="1", ttl="1h", owners=[{"object": {"name": "other"}}])
    world.add({**smaller, "status": world.reservations["r1"]["status"]})
    world.add(pod("s1", cpu="2"), pod("other", cpu="3"))

    world.look()

    assert world.where() == {"other": "n1", "r1": "n1"}
    world.pass_hours(1.1)
    world.look()
    assert world.phases() == {"r1": "Failed"}


def test_resizing_is_read_when_binding_only() -> None:
    annotation = {"scheduling.koordinator.sh/reservation-resize-allocatable": '{"resources": {"cpu": "2"}}'}
    world = World(node(), reservation(annotations=annotation), reservation("r2"))
    world.look()
    world.reservations["r2"]["metadata"]["annotations"] = annotation
    world.look()

    sizes = {name: one["status"]["allocatable"] for name, one in world.reservations.items()}
    assert sizes == {"r1": {"cpu": "2"}, "r2": {"cpu": "1"}}


def test_the_reserve_pod_takes_what_the_reservation_says_over_its_template() -> None:
    one = reservation(labels={"a": "own", "b": "own"}, annotations={"c": "own"})
    one["spec"]["template"]["metadata"] = {"namespace": "team", "labels": {"a": "theirs", "d": "theirs"}}

    made = reserve_pod(one)["metadata"]

    assert made == {
        "name": "uid-of-r1",
        "uid": "uid-of-r1",
        "namespace": "team",
        "labels": {"a": "own", "b": "own", "d": "theirs"},
        "annotations": {"c": "own"},
    }
    assert reserve_pod(reservation())["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("label", "template", "priority"),
    [
        ("", {}, 2**31 - 1),
        ("9000", {}, 9000),
        ("9000", {"priority": -10}, -10),
        ("nine", {}, 2**31 - 1),
        ("2147483648", {}, 2**31 - 1),
        ("", {"priorityClassName": "low"}, 2**31 - 1),
    ],
    ids=["none", "label", "template-wins", "no-number", "too-large", "a-class-changes-nothing"],
)
def test_priority(label: str, template: dict[str, Any], priority: int) -> None:
    one = reservation(labels={"koordinator.sh/priority": label}, template=template)

    assert reserve_pod(one)["spec"]["priority"] == priority


def test_reservations_go_before_pods_and_the_older_first() -> None:
    late = reservation("late", created=NOON + 1)
    world = World(node(cpu="1"), pod("s1", labels={}), late, reservation("soon"))

    world.look()

    assert world.where() == {"soon": "n1"}
