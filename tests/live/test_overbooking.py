"""Which nodes are overbooked, by what pods and Reservations request."""

import json
from typing import Any

import pytest
from berth.live.overbooking import overbooked_nodes, pod_requests
from berth.plugins.slots.slots import ALLOCATED

from tests.cases import tabled

Tree = dict[str, Any]


def node(cpu: str, name: str = "n1") -> Tree:
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi"}}}


def slot(name: str, cpu: str = "1", phase: str = "Available", at: str = "n1") -> Tree:
    status = {"phase": phase, "nodeName": at, "allocatable": {"cpu": cpu}}
    return {"metadata": {"uid": name}, "status": status}


def pod(cpu: str, inside: str = "", phase: str = "Running", at: str = "n1") -> Tree:
    notes = {ALLOCATED: json.dumps({"name": inside, "uid": inside})} if inside else {}
    spec = {"nodeName": at, "containers": [{"resources": {"requests": {"cpu": cpu}}}]}
    return {"metadata": {"annotations": notes}, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("pods", "slots", "requested"),
    [
        pytest.param([], [slot("a"), slot("b")], None, id="full-of-slots"),
        pytest.param([pod("1", "a")], [slot("a"), slot("b")], None, id="a-session-inside"),
        pytest.param([pod("1")], [slot("a"), slot("b")], 3, id="a-pod-beside"),
        pytest.param([pod("1", "gone")], [slot("a"), slot("b")], 3, id="of-a-slot-that-is-gone"),
        pytest.param([pod("1", "a", at="n2")], [slot("a", at="n1"), slot("b")], None, id="elsewhere"),
        pytest.param([pod("2", "a")], [slot("a"), slot("b")], 3, id="larger-than-its-slot"),
        pytest.param([pod("1", phase="Succeeded")], [slot("a"), slot("b")], None, id="ended"),
        pytest.param([pod("1")], [slot("a"), slot("b", phase="Failed")], None, id="slot-over"),
    ],
)
def test_a_node_is_overbooked_by_pods_beside_its_slots(
    pods: list[Tree], slots: list[Tree], requested: int | None
) -> None:
    found = overbooked_nodes([node("2")], pods, slots)

    assert [
        (
            overbooked_node.name,
            overbooked_node.resource,
            overbooked_node.requested // 10**9,
            overbooked_node.allocatable // 10**9,
        )
        for overbooked_node in found
    ] == ([] if requested is None else [("n1", "cpu", requested, 2)])


@pytest.mark.parametrize("text", ["[", "[" * 100_000], ids=["cut", "deep"])
def test_an_unreadable_annotation_is_ignored(text: str) -> None:
    odd = pod("1")
    odd["metadata"]["annotations"] = {ALLOCATED: text}

    assert len(overbooked_nodes([node("1")], [odd], [slot("a")])) == 1


@tabled("live")
def test_requests_of_a_pod_are_those_that_the_scheduler_counts(spec: Tree, millis: int) -> None:
    assert pod_requests(spec) == {"cpu": millis * 10**6}
