"""A window whose placeholders bring images onto the node: one that is there, one that nobody can pull, and
one that comes late.

The kubelet and containerd are real. `absent` mounts an image of a registry that does not exist; `background`
has the same image without waiting for it; the registry of `slow` sends its layer after a minute and a half.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.e2e import images, project, slowregistry
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk, Done
from tests.e2e.project import Document, document
from tests.e2e.sidebyside import Stage, Stories
from tests.e2e.windows import GRACE, MINUTE, entry, reservation, sleep_until, suspend_sweep, wait_until

NAMESPACE, SITE, SESSIONS = "berth-images", "images", "images-sessions"
NAME = "course"
ABSENT = "registry.example.invalid/course:1"
RUN = ["python3", "-c", ""]
PULLING = "S032"
CLASSES: dict[str, Document] = {
    "absent": {"images": [ABSENT]},
    "background": {"images": [ABSENT], "imageWarmUp": "background"},
    "first": {"images": [images.PYTHON], "imageWarmUp": "initContainer", "warmUpCommand": RUN},
    "present": {"images": [images.PYTHON]},
    "slow": {"images": [slowregistry.IMAGE]},
}
LEAD, LENGTH = 2, 1  # minutes
TOLD = 65  # seconds after the opening, from which on seats should be ready
PULLED = 155  # seconds after the opening, by which all that can be pulled is there


class Story(NamedTuple):
    early: Done  # the status while an image is pulled
    ready: dict[str, int]  # placeholders of each class, once all has been pulled
    status: Done
    pulls: list[str]  # what the kubelet says of the image of a session that starts then
    left: dict[str, int]  # replicas after the end


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    words = ("-m", slowregistry.__name__)
    registry = cluster.add(sys.executable, *words, environment={"PYTHONPATH": str(project.ROOT)})
    registry.start()
    stage.undo.callback(registry.stop)
    site = project.site(SITE, namespace=NAMESPACE, clusters=[{"name": "real", "kubernetes": "1.36"}])
    classes = [
        document("ResourceClass", name, {"requests": {"cpu": "1m", "memory": "4Mi"}, **spec})
        for name, spec in CLASSES.items()
    ]
    course = reservation(
        NAME, opens, [entry(opens, LEAD, LENGTH)], lead=LEAD, seats=dict.fromkeys(CLASSES, 1)
    )
    course["spec"]["provisioning"]["scaleDownBehavior"] = "none"
    project.write(folder, [site, *classes, course])
    project.berth(folder, "render")
    cluster.apply(folder / "rendered" / "clusters" / "real")
    stage.undo.callback(cluster.kubectl, "delete", "namespace", NAMESPACE, SESSIONS, "--wait=false")
    cluster.wait_for_namespace(NAMESPACE)
    suspend_sweep(cluster, NAMESPACE)
    cluster.create_namespace(SESSIONS)
    sleep_until(opens + TOLD)
    early = Desk(cluster, folder).ask("status", "-o", "json")
    wait_until(lambda: _pool(cluster, "slow")["status"].get("readyReplicas", 0) > 0, opens + PULLED)
    ready = {name: _pool(cluster, name)["status"].get("readyReplicas", 0) for name in CLASSES}
    status = Desk(cluster, folder).ask("status", "-o", "json")
    pulls = _session(cluster)
    sleep_until(opens + (LEAD + LENGTH) * MINUTE + GRACE)
    left = {name: _pool(cluster, name)["spec"]["replicas"] for name in CLASSES}
    return Story(early, ready, status, pulls, left)


def _pool(cluster: Cluster, name: str) -> dict[str, Any]:
    return cluster.get("deployment", f"{NAME}-{name}", NAMESPACE)


def _session(cluster: Cluster) -> list[str]:
    """What the kubelet says of the image of a pod that runs what class `present` has."""
    container = {"name": "notebook", "image": images.PYTHON, "command": RUN}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "session", "namespace": SESSIONS},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    cluster.apply(json.dumps(pod))

    def has_ended() -> bool:
        return bool(cluster.get("pod", "session", SESSIONS)["status"].get("phase") == "Succeeded")

    cluster.wait_for(has_ended, 90, "the session to end")
    mine = ("--field-selector=involvedObject.name=session,reason=Pulled", f"--namespace={SESSIONS}")

    def said() -> list[str]:
        events = json.loads(cluster.kubectl("get", "events", *mine, "-o", "json"))["items"]
        return [event["message"] for event in events]

    return cluster.wait_for(said, 30, "the kubelet to say what it has pulled")


@pytest.fixture(scope="module")
def story(side_by_side: Stories) -> Iterator[Story]:
    with side_by_side.judged(__name__) as told:
        yield told


def test_a_placeholder_is_ready_once_its_images_are_on_the_node(story: Story) -> None:
    assert story.ready == {"absent": 0, "background": 1, "first": 1, "present": 1, "slow": 1}


def findings(done: Done) -> dict[str, dict[str, str]]:
    """What is wrong with each class, by code."""
    items = json.loads(done.stdout)["items"]
    return {item["class"]: {each["code"]: each["message"] for each in item["findings"]} for item in items}


def test_status_names_the_image_that_is_being_pulled(story: Story) -> None:
    slow = findings(story.early)["slow"]

    assert set(slow) == {PULLING}
    assert f"for the image {slowregistry.IMAGE}" in slow[PULLING]


def test_status_names_the_image_that_cannot_be_pulled(story: Story) -> None:
    told = findings(story.status)

    assert ABSENT in told["absent"]["S041"]
    assert [told[name] for name in ("background", "first", "present", "slow")] == [{}, {}, {}, {}]


def test_a_session_then_starts_without_a_pull(story: Story) -> None:
    (pulled,) = story.pulls

    assert "already present" in pulled


def test_the_end_closes_every_pool_also_of_placeholders_that_never_ran(story: Story) -> None:
    assert story.left == dict.fromkeys(CLASSES, 0)
