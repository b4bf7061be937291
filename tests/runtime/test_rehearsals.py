"""A rehearsal opens its seats, ends when all are ready or with its lead, and says why some are missing."""

from functools import partial
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
    parse_placeholder,
    parse_scale_up_refusal,
    pod_obstacles,
    pool_obstacles,
)
from berth.plugins.rehearsals.placeholderobserver import MAX_OBJECTS
from berth.plugins.rehearsals.rehearsalrecord import MAX_NODES, last_failed, rehearsal_state, with_obstacles
from berth.plugins.slots.slots import SlotCounts
from berth.runtime.apiclient import Request, Response

from tests.objectstore import Tree, no_answer, refusal
from tests.runtime.fake_cluster import PODS
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.slotworld import pool_labels
from tests.runtime.sweepworld import Swept, cronjob, deployment, lease, seen, slot_of, timetable
from tests.runtime.timetables import COURSE, REHEARSED, Row, at, timetable_text

EXAM = "course/9"
REHEARSAL: Row = (f"{EXAM}{REHEARSED}", "07:30", "07:30", "08:00", {"small": 25})
BESIDE: Row = (f"{EXAM}{REHEARSED}", "08:30", "08:30", "09:00", {"small": 5})
OPENED, FORBIDDEN = ("07:30:00", "small", 25), refusal(403, "Forbidden")
LABEL = "berth.dev/rehearsal"


def rehearsing(*rows: Row, ready: str = "07:34:02", **more: Any) -> ScalerPod:
    """A world in which 20 of 25 seats are ready, and all of them at an instant; empty: never."""
    world = ScalerPod("07:30", timetable_text(*(rows or (REHEARSAL,)), **more), small=0)
    world.cluster.ready["course-small"] = 20
    if ready:
        world.plan(ready, world.cluster.ready.clear)
    return world


def rehearsed(world: ScalerPod) -> Tree:
    (found,) = (one for one in world.cluster.records() if "rehearses" in one)
    return dict(found)


def reasons(world: ScalerPod) -> list[str]:
    return [event["reason"] for event in world.cluster.events]


def label(world: ScalerPod) -> str | None:
    assert world.cluster.record is not None
    found: str | None = world.cluster.record["metadata"]["labels"].get(LABEL)
    return found


# Until all seats are ready


def test_a_rehearsal_closes_when_all_seats_are_ready_and_reports_success() -> None:
    world = rehearsing()

    assert world.run() == 0
    assert world.writes == [OPENED, ("07:34:08", "small", 0)]
    assert rehearsed(world)["ready"] == {
        "small": [["2026-02-02T07:30:00Z", 20], ["2026-02-02T07:34:08Z", 25]]
    }
    assert rehearsed(world)["readyAt"] == "2026-02-02T07:34:08Z"
    (event,) = world.cluster.events
    assert (event["type"], event["reason"]) == ("Normal", "RehearsalSucceeded")
    assert "5 minutes" in event["message"]


def test_a_rehearsal_with_missing_seats_fails_with_its_lead_and_reports_how_many() -> None:
    world = rehearsing(ready="")

    assert world.run() == 0
    assert world.writes == [OPENED, ("08:00:00", "small", 0)]
    (event,) = world.cluster.events
    assert (event["type"], event["reason"]) == ("Warning", "RehearsalFailed")
    assert event["message"].startswith("5 of 25 seats of small for course/9 ")
    assert "readyAt" not in rehearsed(world)


def test_an_override_with_fewer_seats_does_not_end_a_rehearsal() -> None:
    world = rehearsing(ready="07:50:02")
    world.cluster.annotate('{"small": {"target": 5, "until": "2026-02-02T07:45:00Z"}}')

    assert world.run() == 0
    assert world.writes == [("07:30:00", "small", 5), ("07:45:00", "small", 25), ("07:50:04", "small", 0)]


# Restarts


def test_the_next_pod_continues_the_rehearsal_of_a_pod_that_died() -> None:
    world = rehearsing()
    world.run(until="07:32")
    world.run()

    assert world.writes == [OPENED, ("07:34:08", "small", 0)]
    assert rehearsed(world)["ready"]["small"][0] == ["2026-02-02T07:30:00Z", 20]
    assert reasons(world) == ["RehearsalSucceeded"]


@pytest.mark.parametrize("is_forbidden", [False, True], ids=["by-the-record", "by-the-lease"])
def test_a_successful_rehearsal_is_not_opened_again(is_forbidden: bool) -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()
    if is_forbidden:
        world.cluster.interfere("course-record", FORBIDDEN)

    assert world.run() == 0
    assert (world.writes, len(reasons(world))) == ([], 1)


def test_the_next_pod_reports_the_failure_if_no_pod_ran_at_the_end() -> None:
    coming: Row = (EXAM, "20:00", "20:30", "22:00", {"small": 25})
    world = rehearsing(coming, REHEARSAL, ready="")
    world.run(until="07:59")
    world.pass_time(at("08:01") - world.now)

    assert [world.run(), world.run()] == [0, 0]
    assert world.writes == [OPENED, ("08:01:00", "small", 0)]
    assert reasons(world) == ["RehearsalFailed"]
    assert label(world) == "failed"


def test_a_rehearsal_with_a_new_time_starts_again() -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()
    later: Row = (REHEARSAL[0], "09:00", "09:00", "09:30", {"small": 25})
    world.cluster.timetable = timetable_text(later)
    world.pass_time(at("09:00") - world.now)
    world.run()

    assert world.writes == [("09:00:00", "small", 25), ("09:00:08", "small", 0)]
    assert rehearsed(world)["readyAt"] == "2026-02-02T09:00:08Z"
    assert reasons(world) == ["RehearsalSucceeded"] * 2


# Beside a class


def test_rehearsal_seats_add_to_those_of_a_window_and_sessions_count_for_the_window() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE, BESIDE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 7})
    world.plan("08:30", partial(world.cluster.ready.update, {"course-small": 18}))
    world.plan("08:40:02", world.cluster.ready.clear)
    world.run()

    assert world.writes == [
        ("07:30:00", "small", 18),
        ("08:30:00", "small", 23),
        ("08:40:08", "small", 18),
        ("10:00:00", "small", 0),
    ]
    (course,) = (one for one in world.cluster.records() if "rehearses" not in one)
    assert course["sessionsPeak"] == {"small": 7}
    assert {name: count for name, count in rehearsed(world).get("sessionsPeak", {}).items() if count} == {}
    assert [count for _, count in rehearsed(world)["ready"]["small"]] == [0, 5]
    assert reasons(world) == ["RehearsalSucceeded"]


# Faults


@pytest.mark.parametrize("part", ["/pods", "/events", "course-record"])
@pytest.mark.parametrize(
    "outcome", [no_answer(), FORBIDDEN, refusal(500, "InternalError"), RuntimeError("a bug")]
)
def test_failed_reads_and_writes_do_not_stop_seats_from_opening_or_closing(
    part: str, outcome: Response | Exception
) -> None:
    world = rehearsing()
    world.cluster.interfere(part, outcome)

    assert world.run() == 0
    assert world.writes == [OPENED, ("07:34:08", "small", 0)]
    subjects = [line["subject"] for line in world.told("failed")]
    assert subjects
    assert len(subjects) == len(set(subjects))


# The sweep


def swept(ended: str = "", renewed: str = "07:40", rehearsal: str = REHEARSAL[0]) -> Swept:
    """At 07:45, in the middle of the rehearsal, long after or while a pod holds its Lease.

    `ended` is when it was over, as the Lease says.
    """
    held = lease(renewed)
    held["metadata"]["annotations"] = {"berth.dev/ended": f"{rehearsal} {ended}"} if ended else {}
    return Swept("07:45", timetable(REHEARSAL), deployment(0), cronjob(), held)


def test_the_sweep_opens_an_unserved_rehearsal_and_starts_a_job() -> None:
    world = swept()

    assert world.run() == 0
    assert world.cluster.replicas() == {"course-small": 25}
    assert "PATCH jobs course-sweep" in world.cluster.writes


@pytest.mark.parametrize("renewed", ["07:40", "07:44:50"], ids=["nobody-serves", "a-pod-has-just-closed-it"])
def test_the_sweep_does_not_reopen_a_rehearsal_that_is_over(renewed: str) -> None:
    world = swept("2026-02-02T07:34:08Z", renewed)

    assert world.run() == 0
    assert world.cluster.writes == []


@pytest.mark.parametrize(
    ("rehearsal", "ended"),
    [
        pytest.param(REHEARSAL[0], "2026-01-26T07:34:08Z", id="another-time"),
        pytest.param(f"other/1{REHEARSED}", "2026-02-02T07:34:08Z", id="another-one"),
        pytest.param(REHEARSAL[0], "soon", id="malformed"),
    ],
)
def test_a_lease_ends_only_the_rehearsal_whose_id_and_time_it_names(rehearsal: str, ended: str) -> None:
    world = swept(ended, rehearsal=rehearsal)

    assert world.run() == 0
    assert world.cluster.replicas() == {"course-small": 25}


# The label of the record


def test_the_label_shows_the_state_of_rehearsals_of_coming_occurrences() -> None:
    coming: Row = (EXAM, "20:00", "20:30", "22:00", {"small": 25})
    world = rehearsing(coming, REHEARSAL, ready="")
    world.run(until="07:40")
    during = label(world)
    world.run(until="08:01")

    assert (during, label(world)) == ("open", "failed")
    world.cluster.timetable = timetable_text(coming, (REHEARSAL[0], "09:00", "09:00", "09:30", {"small": 25}))
    world.cluster.ready.clear()
    world.pass_time(at("09:00") - world.now)
    world.run(until="09:01")
    assert label(world) == "succeeded"


def test_a_group_that_succeeded_does_not_hide_a_group_that_failed() -> None:
    """Groups of one date are rehearsed at the same instant, or one after the other."""
    window = at("07:30"), at("07:30"), at("08:00")
    failed = OccurrenceRecord(REHEARSAL[0], {"small": 25}, window=window, rehearses=EXAM)
    other = f"{EXAM}~slow"
    id_ = f"{other}/rehearsal"
    for later in (0, 600):
        shifted = (window[0] + later, window[1] + later, window[2] + later)
        succeeded = OccurrenceRecord(id_, {"small": 5}, shifted[0] + 60, window=shifted, rehearses=other)
        for records in ([failed, succeeded], [succeeded, failed]):
            assert rehearsal_state(records, (), (EXAM, other)) == "failed"
            assert last_failed(records, ()) == [failed]
    both = [failed, failed._replace(occurrence=id_, rehearses=other)]
    assert last_failed(both, ()) == both


# Why seats are missing


TRIAL: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
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
    status: Tree = {"conditions": list(conditions)}
    if waiting:
        status["containerStatuses"] = [{"image": "pause:none", "state": {"waiting": waiting}}]
    spec = {"nodeName": node} if node else {}
    return {
        "metadata": {"name": f"p-{number}", "labels": pool_labels(), **metadata},
        "spec": spec,
        "status": status,
    }


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
NO_NODE = 'Failed to schedule pod, incompatible with nodepool "x", no instance type has enough'
EXHAUSTED = "Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=x)"
GROUP = "2 max node group size reached, 1 node(s) had taints"
CLUSTER = "1 max cluster cpu, memory limit reached"
OLDER = {**refused(0, "old"), "lastTimestamp": "2026-02-02T07:30:00Z"}
FULL = list(map(waiting_pod, range(4)))
CAUSES: dict[str, tuple[list[Tree], list[Tree], list[tuple[str, int]]]] = {
    "ready": ([ready_pod(0)], [], []),
    "deleted": ([placeholder(0, deletionTimestamp="2026-02-02T07:31:00Z")], [], []),
    "no-room": ([waiting_pod(0)], [], [(NO_ROOM, 1)]),
    "gated": ([placeholder(0, condition("PodScheduled", "False", "SchedulingGated"))], [], [(ADMISSION, 1)]),
    "no-scheduler": ([placeholder(0)], [], [(STARTING, 1)]),
    "image": ([placeholder(0, node="n", waiting=PULL)], [], [(IMAGE, 1)]),
    "starts": ([placeholder(0, node="n", waiting={"reason": "ContainerCreating"})], [], [(STARTING, 1)]),
    "exhausted": (FULL[:1], [refused(0, EXHAUSTED)], [(LIMIT, 1)]),
    "group": (FULL[:1], [refused(0, f"pod didn't trigger scale-up: {GROUP}")], [(MAXIMUM, 1)]),
    "cluster": (FULL[:1], [refused(0, f"pod didn't trigger scale-up: {CLUSTER}")], [(MAXIMUM, 1)]),
    "no-node": (FULL[:1], [refused(0, NO_NODE)], [(NO_ROOM, 1)]),
    "last-event": (
        FULL,
        [refused(0, OVER_LIMITS), OLDER, refused(9, OVER_LIMITS)],
        [(NO_ROOM, 3), (LIMIT, 1)],
    ),
}


@pytest.mark.parametrize(("pods", "events", "expected"), CAUSES.values(), ids=CAUSES)
def test_obstacles_come_from_placeholders_and_events_of_the_autoscaler(
    pods: list[Tree], events: list[Tree], expected: list[tuple[str, int]]
) -> None:
    placeholders = [pod for tree in pods if (pod := parse_placeholder(tree))]
    refusals = [event for tree in events if (event := parse_scale_up_refusal(tree))]
    found = pod_obstacles(placeholders, refusals).get("small", ())

    assert [(obstacle.cause, obstacle.missing) for obstacle in found] == expected
    assert all(obstacle.message for obstacle in found)


def test_obstacles_of_one_cause_are_merged_with_the_most_frequent_message() -> None:
    obstacles = merge_obstacles(
        [Obstacle(NO_ROOM, 1, "a"), *[Obstacle(NO_ROOM, 1, "b")] * 2, Obstacle(IMAGE, 4, "c")]
    )

    assert obstacles == (Obstacle(IMAGE, 4, "c"), Obstacle(NO_ROOM, 3, "b"))
    assert all(is_obstacle(obstacle.describe("placeholders", "small")) for obstacle in obstacles)
    assert not is_obstacle("record: 403 Forbidden: no")


# Objects that hold seats


def scaled(*conditions: Tree, limit: str = "", **status: Any) -> Tree:
    spec = {"replicas": 5, **({"limits": {"nodes": limit}} if limit else {})}
    status["conditions"] = list(conditions)
    return {"metadata": {"name": "x", "resourceVersion": "1"}, "spec": spec, "status": status}


NODES = nodes_of("x")
FAILURE = condition("ReplicaFailure", "True", "FailedCreate", f'pods "x-1" is forbidden: {OVER_QUOTA}')
WEBHOOK = condition("ReplicaFailure", "True", "FailedCreate", 'admission webhook "x" denied the request: no')
NO_AMI = condition("Ready", "False", "NodeClassNotReady", "no AMI")
LIMITED = condition("LimitedByQuotas", "True", "Limited", "quota seats")
NO_TEMPLATE = condition("ReadyForProvisioning", "False", "PodTemplateNotFound")
NO_FIT = condition("Provisioning", "False", "RequiresNewCapacity", "2 do not fit")
HOLDERS = {
    "quota": (REPLICAS, scaled(FAILURE, replicas=3), Obstacle(QUOTA, 2, OVER_QUOTA)),
    "admission": (REPLICAS, scaled(WEBHOOK), Obstacle(ADMISSION, 5, WEBHOOK["message"])),
    "all-made": (REPLICAS, scaled(FAILURE, replicas=5), None),
    "nothing-said": (REPLICAS, scaled(replicas=3), None),
    "limit": (NODES, scaled(limit="3", nodes=3), Obstacle(LIMIT, 2, "limits.nodes of the NodePool is 3")),
    "node-class": (NODES, scaled(NO_AMI, nodes=0), Obstacle(NOT_READY, 5, "no AMI")),
    "nodes-on-their-way": (NODES, scaled(limit="9", nodes=3), None),
    "buffer-quota": (BUFFERED, scaled(LIMITED), Obstacle(QUOTA, 5, "quota seats")),
    "buffer-template": (BUFFERED, scaled(NO_TEMPLATE), Obstacle(NOT_READY, 5, "PodTemplateNotFound")),
    "buffer-room": (BUFFERED, scaled(NO_FIT), Obstacle(NO_ROOM, 5, "2 do not fit")),
}


@pytest.mark.parametrize(("number", "tree", "expected"), HOLDERS.values(), ids=HOLDERS)
def test_the_status_of_a_holder_says_why_seats_are_missing(
    number: HeldNumber, tree: Tree, expected: Obstacle | None
) -> None:
    assert pool_obstacles(PoolFound(read_pool(number, tree))) == ((expected,) if expected else ())


def test_pending_slots_report_their_cause() -> None:
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


def test_the_record_lists_the_latest_obstacles_before_other_faults() -> None:
    record = with_faults(RECORD, ["record: 500 InternalError: no"])
    record = seeing(record, Obstacle(NO_ROOM, 5, NO_CPU))
    record = seeing(record, Obstacle(QUOTA, 2, OVER_QUOTA), ready=23)

    assert record.faults == (f"quota: 2 placeholders of small: {OVER_QUOTA}", "record: 500 InternalError: no")


def test_obstacles_never_exceed_the_missing_seats_and_end_with_them() -> None:
    few = seeing(RECORD, Obstacle(NO_ROOM, 9, NO_CPU), ready=24)
    none = seeing(few, Obstacle(NO_ROOM, 9, NO_CPU), ready=25)

    assert few.faults == (f"no room: 1 placeholder of small: {NO_CPU}",)
    assert none.faults == ()


def test_the_record_limits_its_faults_and_nodes() -> None:
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


def world_of(pods: list[Tree], *events: Tree) -> ScalerPod:
    world = ScalerPod("07:30", timetable_text(TRIAL), small=0)
    world.cluster.ready["course-small"] = sum(bool(pod["spec"]) for pod in pods)
    world.cluster.pods, world.cluster.autoscaler_events = pods, list(events)
    return world


def test_a_failed_rehearsal_records_its_obstacles_and_nodes() -> None:
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


def test_a_successful_rehearsal_records_its_nodes_and_no_obstacles() -> None:
    world = world_of([waiting_pod(0), *map(ready_pod, range(1, 25))])

    def arrive() -> None:
        world.cluster.pods[0] = ready_pod(0, "n-9")
        world.cluster.ready.clear()

    world.plan("07:33:02", arrive)
    world.run()

    (record,) = world.cluster.records()
    assert record["nodes"] == {"n-1": 24, "n-9": 1}
    assert "faults" not in record


def lists(world: ScalerPod) -> list[str]:
    found = (request.path.partition("?")[0].rpartition("/")[2] for request in world.cluster.requests)
    return [plural for plural in found if plural in ("pods", "events")]


def test_pods_are_listed_twice_a_minute_and_events_only_if_there_is_no_room() -> None:
    full, creating = world_of([waiting_pod(0)]), world_of([placeholder(0, node="n")])
    for world in (full, creating):
        world.run(until="07:40")

    assert lists(full) == ["pods", "events", "events"] * 19
    assert lists(creating) == ["pods"] * 19


def test_placeholders_of_a_window_without_a_rehearsal_are_not_listed() -> None:
    world = ScalerPod("07:30", timetable_text(COURSE), small=0)
    world.cluster.ready["course-small"] = 12
    world.run(until="08:10")

    assert lists(world) == ["events"]  # one that is written


def test_a_forbidden_list_is_recorded_as_a_fault() -> None:
    world = world_of([waiting_pod(0)])
    world.cluster.interfere(
        "GET /api/v1/namespaces/berth/pods", refusal(403, "Forbidden", "cannot list pods")
    )
    world.run()

    (record,) = world.cluster.records()
    assert record["faults"] == ["list placeholders: 403 Forbidden: cannot list pods"]


def test_a_look_reads_a_limited_number_of_pods() -> None:
    world = world_of([waiting_pod(number) for number in range(1200)])
    world.run(until="07:30:04")

    assert lists(world).count("pods") == -(-MAX_OBJECTS // 32)


def test_a_look_at_a_slow_server_ends_after_three_pages() -> None:
    world = world_of([waiting_pod(number) for number in range(1200)])

    def delay(request: Request) -> None:
        if request.path.startswith(PODS):
            world.now += 0.6

    world.cluster.interferences.append(delay)
    world.run(until="07:30:04")

    assert lists(world).count("pods") == 3
    assert world.writes == [("07:30:00", "small", 25)]
