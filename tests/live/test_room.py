"""Room for all seats of the next windows: limits of quotas, NodePools and node groups against the pods."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from berth import quantity
from berth.live.room import (
    LimitingObject,
    PodLoad,
    autoscaler_rooms,
    nodepool_rooms,
    quota_room,
    steps_by_cluster,
)
from berth.pipeline import Pipeline

from tests.cases import tabled
from tests.live import project
from tests.live.conftest import Live
from tests.live.judged import wordless

NOW = 1_000_000  # a minute
DAY = 1440
Object = dict[str, Any]


def pod(cpu: str = "2", **spec: Any) -> Object:
    return {"containers": [{"resources": {"requests": {"cpu": cpu}, "limits": {"cpu": "4"}}}], **spec}


def load(seats: int, first: int = NOW + DAY, spec: Object | None = None) -> PodLoad:
    """Seats for two hours."""
    return PodLoad([first, seats, first + 120, -seats], spec or pod())


def quota(hard: Mapping[str, str], used: Mapping[str, str] = {}, **spec: Any) -> Object:
    return {
        "metadata": {"name": "compute"},
        "spec": {"hard": hard, **spec},
        "status": {"hard": hard, "used": used},
    }


def rooms(found: LimitingObject) -> dict[str, tuple[str | None, bool, bool]]:
    """What is needed of each resource, and whether the limit is too small, or taken by others."""
    return {
        room.resource: (
            None if room.needed is None else quantity.text(room.needed),
            room.is_too_small,
            room.is_taken,
        )
        for room in found.rooms
    }


# Quotas


@pytest.mark.parametrize(
    ("key", "most", "expected"),
    [
        pytest.param("requests.cpu", "20", ("20", False, False), id="just-enough"),
        pytest.param("cpu", "19500m", ("20", True, True), id="too-small"),
        pytest.param("limits.cpu", "39", ("40", True, True), id="limits"),
        pytest.param("pods", "9", ("10", True, True), id="pods"),
        pytest.param("count/pods", "10", ("10", False, False), id="count-of-pods"),
        pytest.param("requests.nvidia.com/gpu", "0", ("0", False, False), id="a-device-nobody-requests"),
        pytest.param("services", "1", (None, False, False), id="not-about-pods"),
        pytest.param("requests.storage", "1Gi", (None, False, False), id="volumes"),
    ],
)
def test_a_quota_is_compared_with_the_usage_that_it_counts(
    key: str, most: str, expected: tuple[str | None, bool, bool]
) -> None:
    limiting_object = quota_room(quota({key: most}), [load(10)], NOW)

    assert rooms(limiting_object) == {key: expected}


def test_usage_of_others_counts_but_seats_that_berth_holds_now_do_not() -> None:
    open_now = load(10, NOW - 60)
    tomorrow = load(10)
    hard = {"pods": "12"}

    assert rooms(quota_room(quota(hard, {"pods": "10"}), [open_now, tomorrow], NOW))["pods"][1:] == (
        False,
        False,
    )
    assert rooms(quota_room(quota(hard, {"pods": "13"}), [open_now, tomorrow], NOW))["pods"][1:] == (
        False,
        True,
    )


def test_simultaneous_windows_add_up_and_later_ones_do_not() -> None:
    together = quota_room(quota({"pods": "99"}), [load(10), load(5, NOW + DAY + 60)], NOW)
    apart = quota_room(quota({"pods": "99"}), [load(10), load(5, NOW + 2 * DAY)], NOW)
    far = quota_room(quota({"pods": "99"}), [load(10, NOW + 15 * DAY)], NOW)

    assert [rooms(found)["pods"][0] for found in (together, apart, far)] == ["15", "10", "0"]
    assert together.rooms[0].at == NOW + DAY + 60


@tabled("live")
def test_a_quota_with_scopes_counts_the_pods_that_match_all_scopes(spec: Object, needed: str) -> None:
    seats = load(10, spec=pod(priorityClassName="seats"))

    assert rooms(quota_room(quota({"pods": "99"}, **spec), [seats], NOW))["pods"][0] == needed


def test_an_unknown_quota_scope_is_reported() -> None:
    limiting_object = quota_room(quota({"pods": "1"}, scopes=["CrossNamespacePodAffinity"]), [load(10)], NOW)

    assert (limiting_object.rooms, limiting_object.unknown) == (
        (),
        "its scope CrossNamespacePodAffinity is not looked at",
    )


# NodePools


def nodepool(name: str, cpu: str | None, used: str = "0", **template: Any) -> Object:
    limits = {} if cpu is None else {"limits": {"cpu": cpu}}
    return {
        "metadata": {"name": name},
        "spec": {
            **limits,
            "template": {"metadata": {"labels": template.pop("labels", {})}, "spec": template},
        },
        "status": {"resources": {"cpu": used}},
    }


def node(cpu: str, labels: Mapping[str, str] = {}, **spec: Any) -> Object:
    return {
        "metadata": {"name": "n", "labels": dict(labels)},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu}},
    }


def nodepools(*pools: Object, nodes: tuple[Object, ...] = (), seats: Object | None = None) -> dict[str, Any]:
    limiting_objects = nodepool_rooms(pools, nodes, [load(10, spec=seats)], NOW)
    return {nodepool_room.name: rooms(nodepool_room)["cpu"] for nodepool_room in limiting_objects}


GPU = {"key": "gpu", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("pools", "seats", "expected"),
    [
        pytest.param([nodepool("a", "20")], pod(), {"NodePool/a": ("20", False, False)}, id="enough"),
        pytest.param([nodepool("a", "19")], pod(), {"NodePool/a": ("20", True, True)}, id="too-small"),
        pytest.param([nodepool("a", "30", "11")], pod(), {"NodePool/a": ("20", False, True)}, id="taken"),
        pytest.param([nodepool("a", None)], pod(), {}, id="no-limit"),
        pytest.param([nodepool("a", "5"), nodepool("b", None)], pod(), {}, id="one-of-two-without-a-limit"),
        pytest.param(
            [nodepool("a", "8"), nodepool("b", "8")], pod(), {"NodePool/a, b": ("20", True, True)}, id="both"
        ),
        pytest.param(
            [nodepool("a", "8"), nodepool("b", "30", labels={"hub": "x"})],
            pod(nodeSelector={"hub": "x"}),
            {"NodePool/b": ("20", False, False)},
            id="by-label",
        ),
        pytest.param(
            [nodepool("a", "8", taints=[GPU]), nodepool("b", "30")],
            pod(),
            {"NodePool/b": ("20", False, False)},
            id="not-tolerated",
        ),
        pytest.param(
            [nodepool("a", "8", taints=[GPU])],
            pod(tolerations=[{"key": "gpu", "operator": "Exists"}]),
            {"NodePool/a": ("20", True, True)},
            id="tolerated",
        ),
        pytest.param(
            [
                nodepool("a", "8", requirements=[{"key": "zone", "operator": "In", "values": ["x"]}]),
                nodepool("b", "9", requirements=[{"key": "zone", "operator": "In", "values": ["y"]}]),
            ],
            pod(
                affinity={
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {"key": "zone", "operator": "In", "values": ["y", "z"]}
                                    ]
                                }
                            ]
                        }
                    }
                }
            ),
            {"NodePool/b": ("20", True, True)},
            id="by-affinity",
        ),
    ],
)
def test_node_pool_limits_are_compared_with_the_pods_that_fit_the_pool(
    pools: list[Object], seats: Object, expected: dict[str, Any]
) -> None:
    assert nodepools(*pools, seats=seats) == expected


@pytest.mark.parametrize(
    ("other", "is_too_small"),
    [
        pytest.param(node("12"), False, id="a-node-of-no-nodepool"),
        pytest.param(node("12", {"karpenter.sh/nodepool": "a"}), True, id="a-node-of-a-nodepool"),
        pytest.param(node("12", unschedulable=True), True, id="cordoned"),
        pytest.param(node("12", taints=[GPU]), True, id="tainted"),
    ],
)
def test_nodes_without_a_node_pool_count_as_room(other: Object, is_too_small: bool) -> None:
    assert nodepools(nodepool("a", "8"), nodes=(other,))["NodePool/a"][1] is is_too_small


def test_seats_limited_to_one_node_pool_count_in_the_sum_of_both_pools() -> None:
    """Each alone would suffice."""
    anywhere, only_a = load(5), load(5, spec=pod(nodeSelector={"p": "a"}))
    pools = [nodepool("a", "10", labels={"p": "a"}), nodepool("b", "8", labels={"p": "b"})]
    found = {
        nodepool_room.name: rooms(nodepool_room)["cpu"]
        for nodepool_room in nodepool_rooms(pools, [], [anywhere, only_a], NOW)
    }

    assert found == {"NodePool/a": ("10", False, False), "NodePool/a, b": ("20", True, True)}


# cluster-autoscaler


STATUS = """\
time: 2026-02-02 08:00:00 +0000 UTC
autoscalerStatus: Running
nodeGroups:
  - name: seats
    health: {status: Healthy, cloudProviderTarget: 3, minSize: 0, maxSize: 10}
"""


def configmap(status: str) -> Object:
    return {"metadata": {"name": "cluster-autoscaler-status"}, "data": {"status": status}}


def test_node_groups_are_listed_with_their_maximum() -> None:
    (found,) = autoscaler_rooms(configmap(STATUS))

    assert (found.name, found.rooms[0].text) == ("node group seats", "nodes 3 of 10 now, not compared")


@pytest.mark.parametrize("text", ["", "Cluster-autoscaler status at 2023-01-01:", "[", "nodeGroups: 3"])
def test_an_unreadable_autoscaler_status_is_reported(text: str) -> None:
    (found,) = autoscaler_rooms(configmap(text))

    assert found.unknown
    assert found.rooms == ()


# What the windows need


def test_the_jobs_of_a_reservation_count_once_while_it_is_open(tmp_path: Path) -> None:
    pipeline = Pipeline(str(project.write(tmp_path)))
    (found,) = steps_by_cluster(pipeline.items()).values()
    first = 29_500_290  # 2026-02-02T07:30Z

    assert found.pools["course-small"] == [first, 25, first + 270, -25, first + 10080, 25, first + 10350, -25]
    assert [*found.jobs["course"][:2], found.jobs["course"][3]] == [first, 1, -1]


def limits(live: Live) -> tuple[int, list[str]]:
    """Exit code, rows about room, and findings without their sentences."""
    code, out, _ = live("preflight")
    lines = wordless(out).splitlines()
    return code, [line for line in lines if " room " in line or "[S07" in line or "[S004" in line]


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param(("20", "26"), (1, "no room", "error[S078]"), id="too-small"),
        pytest.param(("33", "34"), (0, "room taken", "warning[S079] 8"), id="taken"),
    ],
)
def test_a_quota_without_room_gets_s078_or_s079(
    live: Live, pods: tuple[str, str], expected: tuple[int, str, str]
) -> None:
    """The course is open with 25 seats and its Job. `pods`: the limit, and what is used, by others too."""
    limits_of_pods = quota({"pods": pods[0]}, {"pods": pods[1]})
    limits_of_pods["metadata"]["namespace"] = "berth"
    live.world.apply_rendered({"kind": "ResourceQuota", **limits_of_pods})
    code, lines = limits(live)
    expected_code, brief, finding = expected

    assert code == expected_code
    assert brief in lines[0]
    assert {*finding.split()} <= {*lines[1].split()}


@tabled("live")
def test_an_unreadable_limit_gets_the_note_s004(path: str, what: str, live: Live) -> None:
    live.world.refused = {path: "forbidden"}
    code, lines = limits(live)

    assert code == 0
    assert what in lines[0]
    assert "partly unknown" in lines[0]
    assert "note[S004]" in lines[1]
