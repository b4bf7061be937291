"""What only pools have that a CapacityBuffer holds."""

from typing import Any

import pytest
from berth.core.holders import BUFFERED
from berth.core.poolobjects import read_pool
from berth.core.target import pools_to_reconcile
from berth.core.timetable import TimetablePool

from tests.runtime.fake_cluster import PODS
from tests.runtime.holders import Buffer
from tests.runtime.sweepworld import Swept, capacity_buffer
from tests.runtime.world import Row


def condition(reason: str, status: str, generation: int = 2) -> dict[str, Any]:
    return {"type": "Provisioning", "status": status, "reason": reason, "observedGeneration": generation}


def test_a_buffer_without_nodes_at_the_start_is_told_on_the_timetable() -> None:
    world = Buffer("07:30")
    world.cluster.conditions = [condition("RequiresNewCapacity", "False")]
    world.run("07:35")

    (event,) = world.cluster.events
    assert event["involvedObject"]["kind"] == "ConfigMap"
    assert event["message"].startswith("0 of 4 buffered seats of small are ready for course/1, ")
    assert "readyAt" not in world.cluster.records()[0]


def test_of_a_buffer_of_cluster_autoscaler_nobody_says_that_it_is_ready_or_late() -> None:
    world = Buffer("07:30")
    world.cluster.conditions = [condition("FakePodsInjected", "True")]
    world.run("07:45")

    assert world.cluster.events == []
    assert "readyAt" not in world.cluster.records()[0]


def test_a_buffer_for_which_karpenter_has_nodes_is_ready() -> None:
    world = Buffer("07:30")
    world.run("07:45")

    assert world.cluster.events == []
    assert "readyAt" in world.cluster.records()[0]


@pytest.mark.parametrize(
    ("conditions", "ready", "tells"),
    [
        pytest.param([condition("FitsExistingCapacity", "True")], 25, True, id="room"),
        pytest.param([condition("FitsExistingCapacity", "True", 1)], 0, True, id="room-for-another-number"),
        pytest.param([condition("RequiresNewCapacity", "False")], 0, True, id="no-room"),
        pytest.param([condition("FakePodsInjected", "True")], 0, False, id="cluster-autoscaler"),
        pytest.param([], 0, True, id="nobody-looks"),
    ],
)
def test_what_a_condition_means_depends_on_its_reason(
    conditions: list[dict[str, Any]], ready: int, tells: bool
) -> None:
    tree = capacity_buffer(25) | {"status": {"replicas": 25, "conditions": conditions}}
    tree["metadata"] |= {"generation": 2, "resourceVersion": "1"}
    pool_object = read_pool(BUFFERED, tree)

    assert (pool_object.replicas, pool_object.ready, pool_object.tells_ready) == (25, ready, tells)


def test_a_buffer_and_a_deployment_of_one_name_are_never_mixed_up() -> None:
    seats = TimetablePool("small", "course-small", "none")
    buffered = seats._replace(holder=BUFFERED)

    assert seats.key != buffered.key
    assert pools_to_reconcile({seats.key: seats}, [buffered]) == {seats.key: seats, buffered.key: buffered}


def test_a_buffer_without_a_timetable_is_marked_and_then_removed() -> None:
    swept = Swept("12:00", capacity_buffer(7, "gone-small", reservation="gone"))

    assert swept.run() == 0
    assert swept.cluster.writes[0] == "PATCH capacitybuffers gone-small"
    assert swept.cluster.of("capacitybuffers")["gone-small"]["spec"]["replicas"] == 7
    swept.cluster.now += 300
    assert swept.run() == 0
    assert swept.cluster.of("capacitybuffers") == {}


REHEARSAL: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
INJECTED = {"type": "Provisioning", "status": "True", "reason": "FakePodsInjected", "observedGeneration": 2}
NO_NODES = {**INJECTED, "status": "False", "reason": "RequiresNewCapacity", "message": "9 pods do not fit"}


@pytest.mark.parametrize(
    ("told", "closes", "event"),
    [
        pytest.param(None, "07:30:01", "RehearsalSucceeded", id="room"),
        pytest.param([NO_NODES], "08:00:00", "RehearsalFailed", id="no-room"),
        pytest.param([INJECTED], "08:00:00", None, id="nobody-tells"),
    ],
)
def test_a_rehearsal_of_a_buffer_is_judged_only_where_somebody_tells(
    told: list[dict[str, Any]] | None, closes: str, event: str | None
) -> None:
    world = Buffer("07:30", REHEARSAL)
    world.cluster.conditions = told

    assert world.run() == 0
    assert world.changes == [("07:30:00", 25), (closes, 0)]
    assert [one["reason"] for one in world.cluster.events] == ([event] if event else [])
    assert not [request for request in world.cluster.requests if request.path.startswith(PODS)]
    if event == "RehearsalFailed":
        (record,) = world.cluster.records()
        assert record["faults"] == ["no room: 25 buffered seats of small: 9 pods do not fit"]
