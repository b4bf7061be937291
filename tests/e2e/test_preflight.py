"""`berth preflight` on the real cluster: a sound site, and one that a ResourceQuota holds up.

Then the window opens under the quota, and `berth status` says why it has no Job's pod.
"""

import json
import time
from functools import partial
from typing import Any, NamedTuple

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk, Done
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import MINUTE, entry, reservation, sleep_until, suspend_sweep, wait_until

NAMESPACE, SITE = "berth-preflight", "preflight"
NAME, POOL = "examined", "examined-small"
ASKED = ("preflight", "-o", "json")


class Story(NamedTuple):
    sound: Done
    left: list[str]  # Jobs and pods after it
    replicas: int  # of the pool after it
    limited: Done
    opened: Done  # what `berth status` says while the window should be open


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    small = project.resource_class("small")
    documents = [
        project.site(SITE, namespace=NAMESPACE),
        small,
        reservation(NAME, opens, [entry(opens, 0, 5)], lead=0, seats={"small": 3}),
    ]
    stage.apply(documents, NAMESPACE)
    cluster.wait_for_namespace(NAMESPACE)
    suspend_sweep(cluster, NAMESPACE)
    desk = Desk(cluster, folder)
    sleep_until(opens - 2 * MINUTE)  # the faults take the controllers away before
    sound = desk.ask(*ASKED)
    wait_until(
        lambda: not _left(cluster), time.time() + MINUTE
    )  # the pod of the test Job goes in the background
    left = _left(cluster)
    replicas = cluster.get("deployment", POOL, NAMESPACE)["spec"]["replicas"]
    for name, hard in (("limits", "limits.cpu=4"), ("seats", "pods=3,requests.cpu=50")):
        cluster.kubectl("create", "quota", name, f"--hard={hard}", f"--namespace={NAMESPACE}")
        cluster.wait_for(partial(_is_counted, cluster, name), 60, "the quota to be counted")
    limited = desk.ask(*ASKED)
    sleep_until(opens + MINUTE)
    return Story(sound, left, replicas, limited, desk.ask("status", "-o", "json"))


def _left(cluster: Cluster) -> list[str]:
    found = cluster.find("jobs,pods", NAMESPACE, "berth.dev/role=preflight")
    return [one["metadata"]["name"] for one in found]


def _is_counted(cluster: Cluster, name: str) -> bool:
    return "hard" in cluster.get("resourcequota", name, NAMESPACE)["status"]


def checks(done: Done) -> dict[tuple[str | None, str], dict[str, Any]]:
    return {(load["reservation"], load["check"]): load for load in json.loads(done.stdout)["items"]}


def test_a_sound_site_passes(story: Story) -> None:
    found = checks(story.sound)

    assert story.sound.returncode == 0, story.sound.stdout
    assert {what for _, what in found} == {"sweep", "permissions", "Job", "placeholder", "test Job"}
    assert all(check["passed"] for check in found.values())
    assert found[NAME, "test Job"]["seconds"] >= 1


def test_preflight_leaves_no_objects_and_opens_no_pool(story: Story) -> None:
    assert story.left == []
    assert story.replicas == 0


def test_preflight_finds_a_quota_on_limits(story: Story) -> None:
    """Our Jobs have no CPU limit, on purpose, and such a quota wants one of every container."""
    found = checks(story.limited)
    job, sweep = found[NAME, "Job"]["findings"], found[None, "sweep"]["findings"]

    assert story.limited.returncode == 1
    assert [check["code"] for check in (*job, *sweep)] == ["S052", "S052"]
    assert all(
        "failed quota: limits: must specify limits.cpu" in check["message"] for check in (*job, *sweep)
    )
    assert (NAME, "test Job") not in found
    assert found[NAME, "permissions"]["passed"]


def test_preflight_finds_a_quota_without_room_for_all_seats(story: Story) -> None:
    """Three placeholders and the pod of the Job are four."""
    (seats,) = (
        load for load in json.loads(story.limited.stdout)["items"] if load["object"] == "ResourceQuota/seats"
    )
    by_resource = {room["resource"]: (room["needed"], room["limit"]) for room in seats["room"]}

    assert [seat["code"] for seat in seats["findings"]] == ["S078"]
    assert by_resource["pods"] == ("4", "3")
    assert by_resource["requests.cpu"][1] == "50"


def test_status_says_why_the_pod_is_refused_in_an_open_window(story: Story) -> None:
    (item,) = json.loads(story.opened.stdout)["items"]
    said = {one["code"]: one["message"] for one in item["findings"]}

    assert story.opened.returncode == 1
    assert item["ready"] == 0
    assert "failed quota: limits: must specify limits.cpu" in said["S052"]
