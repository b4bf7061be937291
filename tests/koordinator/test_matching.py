"""Which Reservations a pod may use by what its annotations say."""

import json
from typing import Any

import pytest

from tests.koordinator.world import node, pod, reservation, settled

AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
EXACT = "scheduling.koordinator.sh/exact-match-reservation"
TAINT = {"key": "exam", "value": "yes", "effect": "NoSchedule"}


def wanting(**said: Any) -> dict[str, str]:
    """The annotation of a pod that needs a Reservation."""
    return {AFFINITY: json.dumps(said)}


def test_affinity_makes_it_required() -> None:
    world = settled(node(), reservation(owners=[{"object": {"name": "other"}}]))
    world.add(pod("s1", annotations=wanting(reservationSelector={"course": "x"})))
    world.look()

    said = "0/1 nodes are available: 1 node(s) no reservations match reservation affinity."
    assert world.waits() == {"s1": said}


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        ({"reservationSelector": {"course": "b"}}, "b"),
        ({"reservationSelector": {"course": "b", "room": "1"}}, None),
        ({"reservationSelector": {"kubernetes.io/hostname": "n1", "course": "a"}}, "a"),
        ({"name": "a"}, "a"),
        ({"name": "a", "reservationSelector": {"course": "b"}}, "a"),
        ({"name": "none"}, None),
        ({"requiredDuringSchedulingIgnoredDuringExecution": {"reservationSelectorTerms": [
            {"matchExpressions": [{"key": "course", "operator": "In", "values": ["b", "c"]}]}]}}, "b"),
        ({"requiredDuringSchedulingIgnoredDuringExecution": {"reservationSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}, "a"),
        ({"requiredDuringSchedulingIgnoredDuringExecution": {"reservationSelectorTerms": []}}, None),
    ],
    ids=["label", "two-labels", "of-the-node-too", "name", "name-wins", "no-such-name", "terms", "fields",
         "no-term"],
)  # fmt: skip
def test_affinity_chooses(said: dict[str, Any], owner: str | None) -> None:
    two = [reservation(name, labels={"course": name}) for name in "ab"]
    world = settled(node(), *two)
    world.add(pod("s1", annotations=wanting(**said)))
    world.look()

    found = [name for name, owners in world.owners().items() if owners]
    assert found == ([owner] if owner else [])


@pytest.mark.parametrize("text", ["{", "[]", '"r1"'])
def test_an_affinity_that_cannot_be_read_is_never_scheduled(text: str) -> None:
    world = settled(node(), reservation())
    world.add(pod("s1", annotations={AFFINITY: text}))
    world.look()

    assert "s1" in world.waits()


@pytest.mark.parametrize(
    ("taint", "annotations", "is_owner"),
    [
        (TAINT, wanting(), False),
        (TAINT, wanting(tolerations=[{"key": "exam", "operator": "Exists"}]), True),
        (TAINT, wanting(tolerations=[{"key": "exam", "value": "no"}]), False),
        (TAINT, wanting(tolerations=[{"operator": "Exists"}]), True),
        (TAINT, wanting(name="r1"), True),
        (TAINT, {}, True),
        ({**TAINT, "effect": "NoExecute"}, wanting(), False),
        ({**TAINT, "effect": "PreferNoSchedule"}, wanting(), True),
    ],
    ids=["untolerated", "exists", "another-value", "all", "by-name", "no-affinity", "no-execute", "prefer"],
)
def test_taints_are_tolerated_by_the_annotation(
    taint: dict[str, str], annotations: dict[str, str], is_owner: bool
) -> None:
    """And by nothing else: not by the pod's own tolerations. Who says nothing is not asked."""
    world = settled(node(), reservation(taints=[taint]))
    world.add(pod("s1", annotations=annotations, tolerations=[{"operator": "Exists"}]))
    world.look()

    assert world.owners() == {"r1": ["s1"] if is_owner else []}


CLOSED = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("annotations", "is_owner"),
    [({}, False), (wanting(), False), (wanting(tolerations=[CLOSED]), True), (wanting(name="r1"), True)],
    ids=["soft", "required", "tolerated", "by-name"],
)
def test_an_unschedulable_one_takes_no_new_owners(annotations: dict[str, str], is_owner: bool) -> None:
    world = settled(node(), reservation(unschedulable=True))
    world.add(pod("s1", annotations=annotations))
    world.look()

    assert world.owners() == {"r1": ["s1"] if is_owner else []}


@pytest.mark.parametrize(
    ("names", "cpu", "is_owner"),
    [
        (["cpu"], "1", True),
        (["cpu"], "500m", False),
        (["cpu", "memory"], "1", True),
        (["gpu"], "500m", True),
        ([], "500m", True),
    ],
    ids=["equal", "smaller", "neither-has-memory", "neither-has-it", "none"],
)
def test_an_exact_match_is_of_quantities(names: list[str], cpu: str, is_owner: bool) -> None:
    world = settled(node(), reservation())
    exact = {EXACT: json.dumps({"resourceNames": names})}
    world.add(pod("s1", cpu=cpu, annotations={**wanting(), **exact}))
    world.look()

    assert world.owners() == {"r1": ["s1"] if is_owner else []}
