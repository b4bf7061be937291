"""Who may own a Reservation: parts of an entry are ANDed, entries are ORed, empty texts are anything."""

from typing import Any

import pytest

from tests.koordinator.owners import owns
from tests.koordinator.world import World, node, pod, reservation

STATEFUL = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "hub", "uid": "u1", "controller": True}
CONTROLLED: dict[str, Any] = {"owners": [STATEFUL]}
ANYTHING = {"apiVersion": "", "kind": "", "name": "", "uid": ""}


@pytest.mark.parametrize(
    ("owner", "is_owner"),
    [
        ({"object": {"name": "s1"}}, True),
        ({"object": {"name": "s2"}}, False),
        ({"object": {"name": "s1", "namespace": "hub", "uid": "uid-of-s1"}}, True),
        ({"object": {"name": "s1", "namespace": "other"}}, False),
        ({"object": {"uid": "other"}}, False),
        ({"object": {"name": "", "namespace": ""}}, True),
        ({"object": {}}, True),
        ({"object": {"name": "s1", "kind": "Node", "resourceVersion": "9", "fieldPath": "spec"}}, True),
        ({"object": {"name": "s1", "apiVersion": "v1"}}, False),
        ({"controller": {**ANYTHING, "kind": "StatefulSet"}}, True),
        ({"controller": {**ANYTHING, "kind": "Deployment"}}, False),
        ({"controller": {**ANYTHING, "kind": "StatefulSet", "namespace": "hub"}}, True),
        ({"controller": {**ANYTHING, "kind": "StatefulSet", "namespace": "other"}}, False),
        ({"controller": {**STATEFUL, "blockOwnerDeletion": True}}, True),
        ({"controller": {**STATEFUL, "controller": False}}, False),
        ({"controller": {**ANYTHING, "controller": True}}, True),
        ({"controller": {**ANYTHING, "apiVersion": "v1"}}, False),
        ({"controller": ANYTHING}, True),
        ({"labelSelector": {"matchLabels": {"app": "session"}}}, True),
        ({"labelSelector": {"matchLabels": {"app": "other"}}}, False),
        ({"labelSelector": {}}, True),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, True),
        ({"labelSelector": {"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["y"]}]}}, True),
        ({"object": {"namespace": "hub"}, "labelSelector": {"matchLabels": {"app": "session"}}}, True),
        ({"object": {"namespace": "x"}, "labelSelector": {"matchLabels": {"app": "session"}}}, False),
        ({"object": {"name": "s1"}, "controller": {**ANYTHING, "kind": "Job"}}, False),
    ],
)
def test_one_entry(owner: dict[str, Any], is_owner: bool) -> None:
    assert owns(owner, pod("s1", **CONTROLLED)) is is_owner


def test_a_pod_without_a_controller_matches_no_controller() -> None:
    assert not owns({"controller": ANYTHING}, pod("s1"))


def test_one_of_several_entries_is_enough() -> None:
    owners = [{"object": {"name": "other"}}, {"labelSelector": {"matchLabels": {"app": "session"}}}]
    world = World(node(), reservation(owners=owners))
    world.look()
    world.add(pod("s1"), pod("stranger", labels={}))
    world.look()

    assert world.owners() == {"r1": ["s1"]}


BROKEN = [
    {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Equals", "values": ["b"]}]}},
    {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
    {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
    {"labelSelector": {"matchExpressions": [{"key": "not a key", "operator": "Exists"}]}},
]


@pytest.mark.parametrize("owner", BROKEN, ids=["operator", "no-values", "values", "key"])
def test_owners_that_cannot_be_read_hold_room_for_nobody(owner: dict[str, Any]) -> None:
    """Not even for those whom another entry would let in."""
    world = World(node(cpu="1"), reservation(owners=[owner, {"labelSelector": {}}]))
    world.look()
    world.add(pod("s1"))
    world.look()

    assert world.where() == {"r1": "n1"}
    assert world.waits() == {"s1": "0/1 nodes are available: 1 Insufficient cpu."}


def test_labels_alone_are_never_checked() -> None:
    """They match nothing that may exist, and nobody says so."""
    broken = {"labelSelector": {"matchLabels": {"not a key": "no value!"}}}
    world = World(node(), reservation(owners=[broken, {"object": {"name": "s1"}}]))
    world.look()
    world.add(pod("s1"))
    world.look()

    assert world.owners() == {"r1": ["s1"]}
