"""Numbers of objects of somebody else: held during windows, and given back after."""

from typing import Any

import pytest

from tests.objectstore import Tree
from tests.runtime.heldworld import HPA, SHORT, HeldWorld, foreign, number_text, shop
from tests.runtime.world import Row


def held_world(now: str = "07:29:07", number: Tree = HPA, tree: Tree | None = None, **more: Any) -> HeldWorld:
    world = HeldWorld(now, number, tree)
    world.apply(number_text(number, **more))
    return world


@pytest.mark.parametrize(
    ("before", "more", "after"),
    [
        pytest.param(2, {}, 2, id="as-it-was"),
        pytest.param(2, {"otherwise": 1}, 1, id="otherwise"),
        pytest.param(2, {"otherwise": 0}, 0, id="otherwise-none"),
        pytest.param(None, {}, None, id="missing"),
        pytest.param("3", {}, "3", id="text"),
    ],
)
def test_a_number_is_held_from_the_minute_on_and_given_back_on_the_second(
    before: object, more: Tree, after: object
) -> None:
    world = held_world(number=HPA | more, tree=shop(before))
    world.start()
    world.run("08:01")

    assert world.changes == [("07:30:00", 25), ("08:00:00", after)]
    assert world.value == after
    assert world.cluster.notes() == []
    assert world.pods == {}


QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ClusterQueue",
    "plural": "clusterqueues",
    "name": "team",
    "path": [
        "spec",
        "groups",
        0,
        "flavors",
        ["name", "gpu"],
        "resources",
        ["name", "memory"],
        "nominalQuota",
    ],
    "scale": False,
    "unit": "Gi",
    "suffix": "Gi",
}


def queue(quota: str | None) -> Tree:
    memory = {"name": "memory", **({} if quota is None else {"nominalQuota": quota})}
    flavors = [{"name": "cpu"}, {"name": "gpu", "resources": [{"name": "cpu"}, memory]}]
    return foreign("ClusterQueue", "kueue.x-k8s.io/v1beta1", "team", spec={"groups": [{"flavors": flavors}]})


@pytest.mark.parametrize("before", ["64Gi", "500m", "1.5", "1e3", None])
def test_a_quantity_of_an_item_of_a_list_comes_back_literally(before: str | None) -> None:
    world = held_world(number=QUEUE, tree=queue(before))
    world.start()
    world.run("08:01")

    assert world.changes == [("07:30:00", "25Gi"), ("08:00:00", before)]


def test_objects_on_the_way_that_are_missing_are_made() -> None:
    number = HPA | {"path": ["spec", "behavior", "scaleDown", "selectPolicy/x~y"]}
    world = held_world(number=number)
    world.start()
    world.run("08:01")

    assert world.changes == [("07:30:00", 25), ("08:00:00", None)]


def test_an_object_on_the_way_that_is_null_is_made() -> None:
    tree = shop()
    tree["spec"]["behavior"] = None
    world = held_world(number=HPA | {"path": ["spec", "behavior", "x"]}, tree=tree)
    world.start()
    world.run("08:01")

    assert world.changes == [("07:30:00", 25), ("08:00:00", None)]


def test_an_item_of_a_list_that_is_missing_is_told_and_not_made() -> None:
    number = QUEUE | {"path": ["spec", "groups", 0, "flavors", ["name", "tpu"], "quota"]}
    world = held_world(number=number, tree=queue("1Gi"))
    pod = world.start()
    world.run("08:20")

    assert world.changes == []
    assert [line["reason"] for line in pod.told("failed")] == ["200 NoSuchField"]
    assert world.cluster.notes() == []
    assert world.pods == {}


def test_a_kind_with_a_scale_is_written_there() -> None:
    number = HPA | {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "plural": "statefulsets",
        "name": "db",
        "path": ["spec", "replicas"],
        "scale": True,
        "ready": ["status", "readyReplicas"],
    }
    world = held_world(
        number=number, tree=foreign("StatefulSet", "apps/v1", "db", "web", spec={"replicas": 1})
    )
    world.start()
    world.run("08:01")
    writes = {
        request.path for request in world.cluster.requests if "statefulsets" in request.path and request.body
    }

    assert world.changes == [("07:30:00", 25), ("08:00:00", 1)]
    assert writes == {"/apis/apps/v1/namespaces/web/statefulsets/db/scale?fieldManager=berth-scaler"}


def test_the_note_is_written_before_the_number_and_removed_after() -> None:
    world = held_world()
    world.start()
    world.run("08:01")
    writes = [
        (request.method, request.path.partition("?")[0].rpartition("/")[2])
        for request in world.cluster.requests
        if request.method != "GET" and "/leases/" not in request.path
        if not request.path.partition("?")[0].endswith(("record", "events"))
    ]

    (note,) = {name for _, name in writes if name.endswith(".held")}
    assert writes == [("PATCH", note), ("PATCH", "shop"), ("PATCH", "shop"), ("DELETE", note)]


def test_nothing_is_written_where_the_number_is_as_it_should_be() -> None:
    """What it was is what it was before the first write."""
    world = held_world(tree=shop(25))
    world.start()
    world.run("07:45")
    assert world.changes == []
    world.set(3)
    world.run("08:01")

    assert world.changes == [("07:45:00", 25), ("08:00:00", 3)]


def test_of_windows_of_one_reservation_the_largest_may_count() -> None:
    second: Row = ("course/2", "07:50", "07:50", "08:10", {"small": 10})
    world = held_world(rows=(SHORT, second), overlap="max")
    world.start()
    world.run("08:11")

    assert [value for _, value in world.changes] == [25, 10, 2]


def test_a_rehearsal_of_a_number_is_judged_by_what_its_object_says_is_ready() -> None:
    number = HPA | {"ready": ["status", "currentReplicas"]}
    rehearsal: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
    world = held_world(number=number, rows=(rehearsal,))

    def become_ready() -> None:
        tree = shop(world.value)
        tree["metadata"]["uid"] = "same"
        world.cluster.add({**tree, "status": {"currentReplicas": 25}})

    first = shop()
    first["metadata"]["uid"] = "same"
    world.cluster.add(first)
    world.plan("07:40", become_ready)
    world.start()
    world.run("08:10")

    assert [value for _, value in world.changes] == [25, 2]
    assert world.changes[1][0] < "07:40:30"
    assert len(world.events("RehearsalSucceeded")) == 1


def test_a_rehearsal_that_is_not_ready_fails_and_gives_back() -> None:
    number = HPA | {"ready": ["status", "currentReplicas"]}
    rehearsal: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
    world = held_world(number=number, rows=(rehearsal,))
    world.start()
    world.run("08:10")

    assert world.changes == [("07:30:00", 25), ("08:00:00", 2)]
    assert len(world.events("RehearsalFailed")) == 1


# Objects that come and go


def test_an_object_that_is_deleted_leaves_a_note_that_the_sweep_removes() -> None:
    world = held_world()
    world.plan(
        "07:40",
        lambda: world.cluster.remove("/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers", "shop"),
    )
    world.start()
    world.run("08:10")
    assert world.pods == {}

    world.sweeps("08:16")
    assert world.cluster.notes() == []
    assert world.changes == [("07:30:00", 25)]


def test_an_object_that_is_made_anew_goes_back_to_what_it_was_then() -> None:
    world = held_world()
    world.plan(
        "07:40",
        lambda: world.cluster.remove("/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers", "shop"),
    )
    world.plan("07:50", lambda: world.cluster.add(shop(6)))
    world.start()
    world.run("08:10")

    assert [value for _, value in world.changes] == [25, 25, 6]


def test_an_object_that_is_made_anew_after_the_end_keeps_what_it_has() -> None:
    world = held_world()
    world.start()
    world.run("07:40")
    world.kill()
    world.cluster.remove("/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers", "shop")
    world.now += 2 * 3600
    world.cluster.add(shop(6))
    world.sweep()

    assert world.changes == [("07:30:00", 25)]
    assert world.value == 6
    assert world.cluster.notes() == []


# Somebody sets it back


def test_who_sets_back_a_number_is_told_once_and_written_to_ever_more_seldom() -> None:
    world = held_world()
    world.start()

    for minute in range(31, 60):
        world.plan(f"07:{minute}", lambda: world.set(2, "argocd-controller"))
    pod = world.pods["course"]
    world.run("07:59")

    times = [when for when, value in world.changes if value == 25]
    assert times == ["07:30:00", "07:31:00", "07:33:00", "07:37:00", "07:45:00"]
    (message,) = world.events("NumberSetBack")
    assert message.startswith(
        "argocd-controller has set spec.minReplicas of HorizontalPodAutoscaler web/shop to 2"
    )
    assert len([line for line in pod.told("failed") if "set back" in line["subject"]]) == 1
    (record,) = world.cluster.records()
    assert any("argocd-controller" in fault for fault in record["faults"])


def test_a_number_of_the_timetable_is_written_at_once_whoever_sets_it_back() -> None:
    second: Row = ("course/2", "07:40", "07:40", "08:00", {"small": 10})
    world = held_world(rows=(SHORT, second))
    world.start()
    for minute in range(31, 40):
        world.plan(f"07:{minute}", lambda: world.set(2, "helm"))
    world.run("07:41")

    assert world.changes[-1] == ("07:40:00", 35)
    assert len(world.events("NumberSetBack")) == 1


def test_once_nobody_sets_it_back_any_more_the_trouble_is_over() -> None:
    world = held_world()
    pod = world.start()
    world.plan("07:35", lambda: world.set(2, "kustomize-controller"))
    world.run("07:55")

    assert [line["subject"] for line in pod.told("recovered")] == [
        "horizontalpodautoscaler shop was set back"
    ]
