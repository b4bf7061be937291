"""Why seats of a rehearsal are missing is read from what the cluster says, and looked at within bounds."""

from typing import Any

import pytest
from berth.core.holders import BUFFERED, REPLICAS, HeldNumber, nodes_of
from berth.core.pooldecision import PoolFound
from berth.core.poolobjects import read_pool
from berth.core.record import MAX_FAULTS, OccurrenceRecord, PoolObservation, with_faults
from berth.plugins.rehearsals.obstacles import (
    ADMISSION,
    IMAGE,
    LIMIT,
    MAXIMUM,
    NO_ROOM,
    NOT_READY,
    QUOTA,
    STARTING,
    Obstacle,
    is_obstacle,
    merge_obstacles,
    nodes_by_class,
    parse_placeholder,
    parse_scale_up_refusal,
    pod_obstacles,
    pool_obstacles,
)
from berth.plugins.rehearsals.placeholderobserver import MAX_OBJECTS
from berth.plugins.rehearsals.rehearsalrecord import MAX_NODES, with_obstacles
from berth.plugins.slots.slots import SlotCounts
from berth.runtime.apiclient import Request

from tests.objectstore import Tree, refusal
from tests.runtime.fake_cluster import PODS
from tests.runtime.sweepworld import seen, slot_of
from tests.runtime.world import COURSE, Row, World, timetable_text

EXAM: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
NO_CPU = "0/4 nodes are available: 4 Insufficient cpu."
OVER_LIMITS = (
    'Failed to schedule pod, incompatible with nodepool "gpu", no instance type has enough; '
    "all available instance types exceed limits for nodepool (NodePool=uni.cloud.big)"
)
OVER_QUOTA = "exceeded quota: seats, requested: pods=1, used: pods=3, limited: pods=3"


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Tree:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def placeholder(
    number: int, *conditions: Tree, node: str = "", waiting: Tree | None = None, **metadata: Any
) -> Tree:
    labels = {
        "berth.dev/site": "example",
        "berth.dev/reservation": "course",
        "berth.dev/resource-class": "small",
    }
    status: Tree = {"conditions": list(conditions)}
    if waiting:
        status["containerStatuses"] = [{"image": "pause:none", "state": {"waiting": waiting}}]
    spec = {"nodeName": node} if node else {}
    return {"metadata": {"name": f"p-{number}", "labels": labels, **metadata}, "spec": spec, "status": status}


def waiting_pod(number: int, message: str = NO_CPU) -> Tree:
    return placeholder(number, condition("PodScheduled", "False", "Unschedulable", message))


def ready_pod(number: int, node: str = "n-1") -> Tree:
    return placeholder(number, condition("Ready", "True"), node=node)


def refused(number: int, message: str, reason: str = "FailedScheduling", source: str = "karpenter") -> Tree:
    return {
        "metadata": {"name": f"e-{number}"},
        "involvedObject": {"kind": "Pod", "name": f"p-{number}"},
        "reason": reason,
        "message": message,
        "source": {"component": source},
        "lastTimestamp": "2026-02-02T07:31:00Z",
    }


PULL = {"reason": "ErrImagePull", "message": "no such image"}


@pytest.mark.parametrize(
    ("tree", "cause"),
    [
        pytest.param(ready_pod(1), "", id="ready"),
        pytest.param(waiting_pod(1), NO_ROOM, id="no-room"),
        pytest.param(
            placeholder(1, condition("PodScheduled", "False", "SchedulingGated")), ADMISSION, id="gated"
        ),
        pytest.param(placeholder(1), STARTING, id="no-scheduler"),
        pytest.param(placeholder(1, node="n", waiting=PULL), IMAGE, id="image"),
        pytest.param(
            placeholder(1, node="n", waiting={"reason": "ContainerCreating"}), STARTING, id="starts"
        ),
    ],
)
def test_a_placeholder_says_what_it_waits_for(tree: Tree, cause: str) -> None:
    found = parse_placeholder(tree)

    assert found is not None
    assert found.cause == cause
    assert bool(found.message) == bool(cause)


def test_one_that_is_deleted_says_nothing() -> None:
    assert parse_placeholder(placeholder(1, deletionTimestamp="2026-02-02T07:31:00Z")) is None


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (OVER_LIMITS, LIMIT),
        ("Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=x)", LIMIT),
        ("pod didn't trigger scale-up: 2 max node group size reached, 1 node(s) had taints", MAXIMUM),
        ("pod didn't trigger scale-up: 1 max cluster cpu, memory limit reached", MAXIMUM),
        ("pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu", NO_ROOM),
        ('Failed to schedule pod, incompatible with nodepool "x", no instance type has enough', NO_ROOM),
    ],
)
def test_an_autoscaler_says_why_no_node_comes(message: str, cause: str) -> None:
    scale_up_refusal = parse_scale_up_refusal(refused(1, message))

    assert scale_up_refusal is not None
    assert scale_up_refusal.cause == cause


def test_of_a_limit_only_what_it_says_is_kept() -> None:
    scale_up_refusal = parse_scale_up_refusal(refused(1, OVER_LIMITS))

    assert scale_up_refusal is not None
    assert (
        scale_up_refusal.message
        == "all available instance types exceed limits for nodepool (NodePool=uni.cloud.big)"
    )


def test_the_last_event_of_a_pod_says_more_than_its_scheduler() -> None:
    pods = [pod for tree in map(waiting_pod, range(4)) if (pod := parse_placeholder(tree))]
    older = {**refused(0, "old"), "lastTimestamp": "2026-02-02T07:30:00Z"}
    events = [refused(0, OVER_LIMITS), older, refused(9, OVER_LIMITS)]
    refusals = [event for tree in events if (event := parse_scale_up_refusal(tree))]

    (no_room, limit) = pod_obstacles(pods, refusals)["small"]
    assert (no_room, limit.cause, limit.missing) == (Obstacle(NO_ROOM, 3, NO_CPU), LIMIT, 1)


def test_obstacles_of_one_cause_are_one_with_the_message_of_most() -> None:
    obstacles = merge_obstacles(
        [Obstacle(NO_ROOM, 1, "a"), *[Obstacle(NO_ROOM, 1, "b")] * 2, Obstacle(IMAGE, 4, "c")]
    )

    assert obstacles == (Obstacle(IMAGE, 4, "c"), Obstacle(NO_ROOM, 3, "b"))
    assert all(is_obstacle(merge_obstacle.describe("placeholders", "small")) for merge_obstacle in obstacles)
    assert not is_obstacle("record: 403 Forbidden: no")


# Objects that hold seats


def scaled(spec: Tree, **status: Any) -> Tree:
    return {
        "metadata": {"name": "x", "resourceVersion": "1"},
        "spec": {"replicas": 5, **spec},
        "status": status,
    }


FAILURE = condition("ReplicaFailure", "True", "FailedCreate", f'pods "x-1" is forbidden: {OVER_QUOTA}')
WEBHOOK = condition("ReplicaFailure", "True", "FailedCreate", 'admission webhook "x" denied the request: no')


@pytest.mark.parametrize(
    ("number", "tree", "expected"),
    [
        pytest.param(
            REPLICAS,
            scaled({}, replicas=3, conditions=[FAILURE]),
            Obstacle(QUOTA, 2, OVER_QUOTA),
            id="quota",
        ),
        pytest.param(
            REPLICAS,
            scaled({}, conditions=[WEBHOOK]),
            Obstacle(ADMISSION, 5, WEBHOOK["message"]),
            id="admission",
        ),
        pytest.param(REPLICAS, scaled({}, replicas=5, conditions=[FAILURE]), None, id="all-made"),
        pytest.param(REPLICAS, scaled({}, replicas=3), None, id="nothing-said"),
        pytest.param(
            nodes_of("x"),
            scaled({"limits": {"nodes": "3"}}, nodes=3),
            Obstacle(LIMIT, 2, "limits.nodes of the NodePool is 3"),
            id="node-limit",
        ),
        pytest.param(
            nodes_of("x"),
            scaled({}, nodes=0, conditions=[condition("Ready", "False", "NodeClassNotReady", "no AMI")]),
            Obstacle(NOT_READY, 5, "no AMI"),
            id="node-class",
        ),
        pytest.param(
            nodes_of("x"), scaled({"limits": {"nodes": "9"}}, nodes=3), None, id="nodes-on-their-way"
        ),
        pytest.param(
            BUFFERED,
            scaled({}, conditions=[condition("LimitedByQuotas", "True", "Limited", "quota seats")]),
            Obstacle(QUOTA, 5, "quota seats"),
            id="buffer-quota",
        ),
        pytest.param(
            BUFFERED,
            scaled({}, conditions=[condition("ReadyForProvisioning", "False", "PodTemplateNotFound")]),
            Obstacle(NOT_READY, 5, "PodTemplateNotFound"),
            id="buffer-template",
        ),
        pytest.param(
            BUFFERED,
            scaled(
                {}, conditions=[condition("Provisioning", "False", "RequiresNewCapacity", "2 do not fit")]
            ),
            Obstacle(NO_ROOM, 5, "2 do not fit"),
            id="buffer-room",
        ),
    ],
)
def test_what_holds_seats_says_why_some_are_missing(
    number: HeldNumber, tree: Tree, expected: Obstacle | None
) -> None:
    assert pool_obstacles(PoolFound(read_pool(number, tree))) == ((expected,) if expected else ())


def test_slots_that_are_pending_say_why() -> None:
    tree = slot_of("example-course-small-0-abc", "Pending")
    tree["status"]["conditions"] = [condition("Scheduled", "False", "Unschedulable", NO_CPU)]
    other = slot_of("example-course-small-1-abc", "")
    (state,) = seen(tree, other).reservations
    pending = tuple(slot.slot for slot in state.slots)

    first, second = pool_obstacles(PoolFound(None, SlotCounts(pending=pending)))
    assert (first, second.cause) == (Obstacle(NO_ROOM, 1, NO_CPU), STARTING)


# The record


def seeing(record: OccurrenceRecord, *obstacles: Obstacle, ready: int = 20, **nodes: int) -> OccurrenceRecord:
    look = PoolObservation("small", 25, ready, None, 0)
    return with_obstacles(record, [look], {"small": obstacles}, {"small": nodes})


RECORD = OccurrenceRecord("course/9/rehearsal", {"small": 25}, rehearses="course/9")


def test_the_record_has_the_obstacles_of_the_last_look_before_other_faults() -> None:
    record = with_faults(RECORD, ["record: 500 InternalError: no"])
    record = seeing(record, Obstacle(NO_ROOM, 5, NO_CPU))
    record = seeing(record, Obstacle(QUOTA, 2, OVER_QUOTA), ready=23)

    assert record.faults == (
        f"quota: 2 placeholders of small: {OVER_QUOTA}",
        "record: 500 InternalError: no",
    )


def test_obstacles_are_never_more_than_the_seats_that_are_missing_and_go_with_them() -> None:
    few = seeing(RECORD, Obstacle(NO_ROOM, 9, NO_CPU), ready=24)
    none = seeing(few, Obstacle(NO_ROOM, 9, NO_CPU), ready=25)

    assert few.faults == (f"no room: 1 placeholder of small: {NO_CPU}",)
    assert none.faults == ()


def test_the_record_stays_small() -> None:
    obstacles = [
        Obstacle(cause, 1, "x" * 500) for cause in (NO_ROOM, IMAGE, LIMIT, QUOTA, ADMISSION, STARTING)
    ]
    nodes = {f"n-{number:02}": number + 1 for number in range(50)}
    record = seeing(RECORD, *obstacles, **nodes)

    assert len(record.faults) == MAX_FAULTS
    assert max(map(len, record.faults)) <= 160
    assert len(record.nodes) == MAX_NODES
    assert min(record.nodes.values()) == 31
    assert seeing(record).nodes == record.nodes


# Looks


def world_of(pods: list[Tree], *events: Tree) -> World:
    world = World("07:30", timetable_text(EXAM), small=0)
    world.cluster.ready["course-small"] = sum(bool(pod["spec"]) for pod in pods)
    world.cluster.pods, world.cluster.autoscaler_events = pods, list(events)
    return world


def test_a_rehearsal_that_fails_says_why_and_where_placeholders_were() -> None:
    pods = [ready_pod(0, "n-1"), ready_pod(1, "n-2"), ready_pod(2, "n-2"), *map(waiting_pod, range(3, 25))]
    foreign = waiting_pod(99)
    foreign["metadata"]["labels"]["berth.dev/reservation"] = "other"
    world = world_of([*pods, foreign], *(refused(number, OVER_LIMITS) for number in range(3, 25)))
    world.run()

    (record,) = world.cluster.records()
    limit = (
        "NodePool limit: 22 placeholders of small: all available instance types exceed limits for nodepool"
    )
    assert record["nodes"] == {"n-1": 1, "n-2": 2}
    assert [fault.startswith(limit) for fault in record["faults"]] == [True]
    assert limit in world.cluster.events[-1]["message"]


def test_one_that_succeeds_has_its_nodes_and_no_obstacle() -> None:
    world = world_of([waiting_pod(0), *map(ready_pod, range(1, 25))])

    def arrive() -> None:
        world.cluster.pods[0] = ready_pod(0, "n-9")
        world.cluster.ready.clear()

    world.plan("07:33:02", arrive)
    world.run()

    (record,) = world.cluster.records()
    assert record["nodes"] == {"n-1": 24, "n-9": 1}
    assert "faults" not in record


def lists(world: World) -> list[str]:
    found = (request.path.partition("?")[0].rpartition("/")[2] for request in world.cluster.requests)
    return [plural for plural in found if plural in ("pods", "events")]


def test_it_looks_twice_a_minute_and_asks_for_events_only_where_there_is_no_room() -> None:
    full, creating = world_of([waiting_pod(0)]), world_of([placeholder(0, node="n")])
    for world in (full, creating):
        world.run(until="07:40")

    assert lists(full) == ["pods", "events", "events"] * 19
    assert lists(creating) == ["pods"] * 19


def test_nobody_looks_at_the_placeholders_of_a_class() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.cluster.ready["course-small"] = 12
    world.run(until="08:10")

    assert lists(world) == ["events"]  # one that is written


def test_what_may_not_be_read_is_a_fault() -> None:
    world = world_of([waiting_pod(0)])
    world.cluster.interfere(
        "GET /api/v1/namespaces/berth/pods", refusal(403, "Forbidden", "cannot list pods")
    )
    world.run()

    (record,) = world.cluster.records()
    assert record["faults"] == ["list placeholders: 403 Forbidden: cannot list pods"]


def test_the_classes_of_a_reservation_are_told_apart() -> None:
    pods = [ready_pod(0), ready_pod(1)]
    pods[1]["metadata"]["labels"]["berth.dev/resource-class"] = "huge"
    found = [one for tree in pods if (one := parse_placeholder(tree))]

    assert nodes_by_class(found) == {"small": {"n-1": 1}, "huge": {"n-1": 1}}


def test_a_look_ends_after_so_many_pods() -> None:
    world = world_of([waiting_pod(number) for number in range(1200)])
    world.run(until="07:30:04")

    assert lists(world).count("pods") == -(-MAX_OBJECTS // 32)


def test_a_look_at_a_slow_server_ends_after_a_moment() -> None:
    world = world_of([waiting_pod(number) for number in range(1200)])

    def delay(request: Request) -> None:
        if request.path.startswith(PODS):
            world.now += 0.6

    world.cluster.interferences.append(delay)
    world.run(until="07:30:04")

    assert lists(world).count("pods") == 3
    assert world.writes == [("07:30:00", "small", 25)]
