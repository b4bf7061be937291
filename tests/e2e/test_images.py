"""A window whose placeholders bring images onto the node: one that is there, one that nobody can pull, and
one that comes late.

The kubelet and containerd are real. `absent` mounts an image of a registry that does not exist; `background`
has the same image without waiting for it; the registry of `slow` sends its layer after a minute and a half.
The pods of Berth run an image that contains its code: `runtime.image` in the Site.
"""

import json
import sys
import time
from typing import Any, NamedTuple

from tests.e2e import code_image, images, project, slowregistry
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk, Done
from tests.e2e.project import Document, document
from tests.e2e.sidebyside import Stage
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
    rendered: str  # everything
    image: str  # of the pods of Berth
    pods: list[dict[str, Any]]  # of its Jobs, after the end


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    words = ("-m", slowregistry.__name__)
    registry = cluster.add(sys.executable, *words, environment={"PYTHONPATH": str(project.ROOT)})
    registry.start()
    stage.undo.callback(registry.stop)
    image, archive = code_image.build(folder)
    cluster.node.import_image(archive)
    clusters = [{"name": "real", "kubernetes": "1.36"}]
    site = project.site(SITE, namespace=NAMESPACE, clusters=clusters, runtime={"image": image})
    classes = [
        document("ResourceClass", name, {"requests": {"cpu": "1m", "memory": "4Mi"}, **spec})
        for name, spec in CLASSES.items()
    ]
    course = reservation(
        NAME, opens, [entry(opens, LEAD, LENGTH)], lead=LEAD, seats=dict.fromkeys(CLASSES, 1)
    )
    course["spec"]["provisioning"]["scaleDownBehavior"] = "none"
    stage.apply([site, *classes, course], NAMESPACE)
    stage.forget(SESSIONS)
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
    wait_until(lambda: not any(map(_is_active, _pods(cluster))), time.time() + MINUTE)
    files = (folder / "rendered" / "clusters" / "real").rglob("*.yaml")
    rendered = "".join(file.read_text() for file in files)
    return Story(early, ready, status, pulls, left, rendered, image, _pods(cluster))


def _pods(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.find("pods", NAMESPACE, "batch.kubernetes.io/job-name")


def _is_active(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] in ("Pending", "Running")


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


def test_a_session_starts_without_a_pull_after_a_placeholder(story: Story) -> None:
    (pulled,) = story.pulls

    assert "already present" in pulled


def test_every_pool_closes_at_the_end_even_if_its_placeholders_never_ran(story: Story) -> None:
    assert story.left == dict.fromkeys(CLASSES, 0)


def test_every_pod_of_berth_runs_the_image_of_the_site_and_completes(story: Story) -> None:
    used = {
        container["image"]
        for pod in story.pods
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])
    }

    assert used == {story.image}
    assert NAME in {pod["metadata"]["labels"].get("berth.dev/reservation") for pod in story.pods}
    assert {pod["status"]["phase"] for pod in story.pods} == {"Succeeded"}


def test_with_an_image_of_the_site_no_code_is_rendered_or_mounted(story: Story) -> None:
    volumes = [volume for pod in story.pods for volume in pod["spec"]["volumes"] if "configMap" in volume]

    assert "scaler.py" not in story.rendered
    assert [volume for volume in volumes if volume["configMap"]["name"].startswith("berth-")] == []
