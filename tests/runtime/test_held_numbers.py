"""Numbers of objects of somebody else: held during windows, and given back after."""

from typing import Any

import pytest

from tests.objectstore import Tree, home, refusal
from tests.runtime.heldworld import HPA, SHORT, HeldWorld, foreign, number_text, shop
from tests.runtime.timetables import Row


def held_world(now: str = "07:29:07", number: Tree = HPA, tree: Tree | None = None, **more: Any) -> HeldWorld:
    world = HeldWorld(now, number, tree)
    world.apply(number_text(number, **more))
    return world


FLAVORS = ["spec", "groups", 0, "flavors"]
QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ClusterQueue",
    "plural": "clusterqueues",
    "name": "team",
    "path": [*FLAVORS, ["name", "gpu"], "resources", ["name", "memory"], "nominalQuota"],
    "scale": False,
    "unit": "Gi",
    "suffix": "Gi",
}
DATABASE = HPA | {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "plural": "statefulsets",
    "name": "db",
    "path": ["spec", "replicas"],
    "scale": True,
    "ready": ["status", "readyReplicas"],
}


def queue(quota: str | None) -> Tree:
    memory = {"name": "memory", **({} if quota is None else {"nominalQuota": quota})}
    flavors = [{"name": "cpu"}, {"name": "gpu", "resources": [{"name": "cpu"}, memory]}]
    return foreign("ClusterQueue", "kueue.x-k8s.io/v1beta1", "team", spec={"groups": [{"flavors": flavors}]})


def with_null() -> Tree:
    tree = shop()
    tree["spec"]["behavior"] = None
    return tree


COMES_BACK = {
    "as-it-was": (HPA, shop(2), 2),
    "otherwise": (HPA | {"otherwise": 1}, shop(2), 1),
    "otherwise-none": (HPA | {"otherwise": 0}, shop(2), 0),
    "missing": (HPA, shop(None), None),
    "text": (HPA, shop("3"), "3"),
    **{f"quantity-{quota}": (QUEUE, queue(quota), quota) for quota in ("64Gi", "500m", "1.5", "1e3", None)},
    "objects-are-missing": (HPA | {"path": ["spec", "behavior", "scaleDown", "policy/x~y"]}, shop(), None),
    "an-object-on-the-way-is-null": (HPA | {"path": ["spec", "behavior", "x"]}, with_null(), None),
    "at-its-scale": (DATABASE, foreign("StatefulSet", "apps/v1", "db", "web", spec={"replicas": 1}), 1),
}


@pytest.mark.parametrize(("number", "tree", "after"), COMES_BACK.values(), ids=COMES_BACK)
def test_a_number_is_held_from_the_opening_until_the_end_to_the_second(
    number: Tree, tree: Tree, after: object
) -> None:
    world = held_world(number=number, tree=tree)
    world.start()
    world.run("08:01")

    held = "25Gi" if number is QUEUE else 25
    assert world.changes == [("07:30:00", held), ("08:00:00", after)]
    assert (world.value, world.cluster.notes(), world.pods) == (after, [], {})
    paths = {
        request.path for request in world.cluster.requests if "statefulsets" in request.path and request.body
    }
    scale = "/apis/apps/v1/namespaces/web/statefulsets/db/scale?fieldManager=berth-scaler"
    assert paths == ({scale} if number is DATABASE else set())


def test_a_missing_list_item_is_reported_and_not_created() -> None:
    number = QUEUE | {"path": [*FLAVORS, ["name", "tpu"], "quota"]}
    world = held_world(number=number, tree=queue("1Gi"))
    pod = world.start()
    world.run("08:20")

    assert (world.changes, world.cluster.notes(), world.pods) == ([], [], {})
    assert [line["reason"] for line in pod.told("failed")] == ["200 NoSuchField"]


def test_a_number_that_is_already_correct_is_not_written() -> None:
    """What it was is what it was before the first write."""
    world = held_world(tree=shop(25))
    world.start()
    world.run("07:45")
    assert world.changes == []
    world.set(3)
    world.run("08:01")

    assert world.changes == [("07:45:00", 25), ("08:00:00", 3)]


@pytest.mark.parametrize("is_ready", [True, False])
def test_the_ready_field_of_an_object_decides_the_rehearsal_of_its_number(is_ready: bool) -> None:
    rehearsal: Row = ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25})
    world = held_world(number=HPA | {"ready": ["status", "currentReplicas"]}, rows=(rehearsal,))

    def become_ready() -> None:
        tree = shop(world.value) | {"status": {"currentReplicas": 25}}
        tree["metadata"]["uid"] = world.cluster.all_in(home(tree))["shop"]["metadata"]["uid"]
        world.cluster.add(tree)

    if is_ready:
        world.plan("07:40", become_ready)
    world.start()
    world.run("08:10")

    assert [value for _, value in world.changes] == [25, 2]
    assert world.changes[1][0] < "07:40:30" if is_ready else world.changes[1][0] == "08:00:00"
    assert len(world.events("RehearsalSucceeded" if is_ready else "RehearsalFailed")) == 1


# Objects that come and go


@pytest.mark.parametrize(
    ("again", "changes"),
    [(None, [25]), ("07:50", [25, 25, 6]), ("10:00", [25])],
    ids=["gone", "back", "late"],
)
def test_a_recreated_object_keeps_or_gets_back_its_own_value(again: str | None, changes: list[int]) -> None:
    world = held_world()
    world.plan("07:40", lambda: world.cluster.remove(home(shop()), "shop"))
    if again:
        world.plan(again, lambda: world.cluster.add(shop(6)))
    world.start()
    world.run("08:10")
    assert world.pods == {}
    world.run("10:01")
    world.sweeps("10:10")

    assert [value for _, value in world.changes] == changes
    assert (world.value, world.cluster.notes()) == (6 if again else None, [])


# Somebody sets it back


def test_repeated_resets_are_reported_once_and_corrected_with_growing_pauses() -> None:
    world = held_world()
    pod = world.start()
    for minute in range(31, 60):
        world.plan(f"07:{minute}", lambda: world.set(2, "argocd-controller"))
    world.run("07:59")

    times = [when for when, value in world.changes if value == 25]
    assert times == ["07:30:00", "07:31:00", "07:33:00", "07:37:00", "07:45:00"]
    (message,) = world.events("NumberSetBack")
    assert message.startswith(
        "argocd-controller has set spec.minReplicas of HorizontalPodAutoscaler web/shop to 2"
    )
    assert len([line for line in pod.told("failed") if "set back" in str(line["subject"])]) == 1
    (record,) = world.cluster.records()
    assert any("argocd-controller" in fault for fault in record["faults"])


def test_a_new_target_is_written_at_once_despite_repeated_resets() -> None:
    second: Row = ("course/2", "07:40", "07:40", "08:00", {"small": 10})
    world = held_world(rows=(SHORT, second))
    world.start()
    for minute in range(31, 40):
        world.plan(f"07:{minute}", lambda: world.set(2, "helm"))
    world.run("07:41")

    assert world.changes[-1] == ("07:40:00", 35)
    assert len(world.events("NumberSetBack")) == 1


def test_the_log_reports_recovery_after_resets_stop() -> None:
    world = held_world()
    pod = world.start()
    world.plan("07:35", lambda: world.set(2, "kustomize-controller"))
    world.run("07:55")

    assert [line["subject"] for line in pod.told("recovered")] == [
        "horizontalpodautoscaler shop was set back"
    ]


# Faults, each of which ends with the number as it was


def is_over(world: HeldWorld) -> bool:
    return (world.value, world.cluster.notes(), world.pods) == (2, [], {})


@pytest.mark.parametrize("part", [".held", "PATCH /api/v1/namespaces/berth/configmaps", "DELETE"])
@pytest.mark.parametrize("status", [403, 409, 500])
@pytest.mark.parametrize(
    ("begin", "end"), [("07:29:50", "07:31"), ("07:59:50", "08:01")], ids=["open", "end"]
)
def test_a_number_is_held_and_restored_despite_a_minute_of_refused_note_writes(
    begin: str, end: str, status: int, part: str
) -> None:
    world = held_world()
    world.plan(begin, lambda: world.cluster.interfere(part, refusal(status, "No")))
    world.plan(end, lambda: world.cluster.interfere("", None))
    world.start()
    world.run("08:02:30")

    assert [value for _, value in world.changes] == [25, 2]
    assert is_over(world)


@pytest.mark.parametrize("jump", [-3600.0, -90.0, 90.0, 3600.0, 86400.0])
def test_a_number_is_restored_after_the_clock_jumps_and_returns(jump: float) -> None:
    world = held_world()
    pod = world.start()
    world.plan("07:40", lambda: setattr(pod, "ahead", jump))
    world.plan("07:42", lambda: setattr(pod, "ahead", 0.0))
    world.run("08:02")
    world.kill()
    world.sweeps("08:20")

    assert is_over(world)
