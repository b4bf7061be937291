"""With `runtime.image` in the Site, a window opens and closes by an image that contains the code."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import yaml

from tests.e2e import code_image, project
from tests.e2e.cluster import Cluster
from tests.e2e.sidebyside import Stage, Stories
from tests.e2e.windows import (
    GRACE,
    MINUTE,
    OPENING,
    Recorder,
    entry,
    reservation,
    sleep_until,
    wait_until,
)

NAMESPACE, SITE = "berth-code-image", "code-image"
NAME, POOL = "imaged", "imaged-small"


class Story(NamedTuple):
    """`opens` and the times of the record are seconds since the epoch."""

    reference: str
    opens: int
    rendered: list[str]  # files of the cluster
    objects: list[dict[str, Any]]
    record: Recorder
    pods: list[dict[str, Any]]  # of the occurrence and of the sweep, at the end


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    cluster.kwok.create_nodes(1, "imaged", capacity={"pods": "20", "cpu": "10", "memory": "20Gi"})
    reference, archive = code_image.build(folder)
    cluster.node.import_image(archive)
    small = project.resource_class("small")
    documents = [
        project.site(SITE, namespace=NAMESPACE, runtime={"image": reference}),
        small,
        reservation(NAME, opens, [entry(opens, 0, 2)], lead=0, seats={"small": 5}),
    ]
    project.write(folder, documents)
    project.berth(folder, "render")
    rendered = folder / "rendered" / "clusters" / "real"
    cluster.apply(rendered)
    stage.undo.callback(cluster.kubectl, "delete", "namespace", NAMESPACE, "--wait=false")
    record = Recorder(NAMESPACE)
    record.start()
    try:
        sleep_until(opens + 2 * MINUTE + GRACE + 5)
    finally:
        record.stop()
    files = sorted(rendered.rglob("*.yaml"))
    objects = [one for file in files for one in yaml.safe_load_all(file.read_text()) if one]
    wait_until(lambda: not any(_is_active(pod) for pod in _pods(cluster)), time.time() + MINUTE)
    pods = _pods(cluster)
    return Story(reference, opens, [file.name for file in files], objects, record, pods)


def _pods(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.find("pods", NAMESPACE, "batch.kubernetes.io/job-name")


def _is_active(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] in ("Pending", "Running")


@pytest.fixture(scope="module")
def story(side_by_side: Stories) -> Iterator[Story]:
    with side_by_side.judged(__name__) as told:
        yield told


def test_its_window_opens_and_closes(story: Story) -> None:
    changes = [(at - story.opens, wanted) for at, wanted in story.record.changes(POOL)[1:]]
    during = story.record.between(POOL, story.opens + MINUTE, story.opens + 2 * MINUTE - 1)

    assert [wanted for _, wanted in changes] == [5, 0]
    assert -1 <= changes[0][0] <= OPENING
    assert 0 <= changes[1][0] - 2 * MINUTE <= GRACE
    assert {(look.wanted, look.ready) for look in during} == {(5, 5)}


def test_every_pod_of_ours_runs_the_image_and_completes(story: Story) -> None:
    used = {one["image"] for pod in story.pods for key in _CONTAINERS for one in pod["spec"].get(key, [])}
    owners = {pod["metadata"]["labels"].get("berth.dev/reservation", "") for pod in story.pods}

    assert used == {story.reference}
    assert NAME in owners
    assert {pod["status"]["phase"] for pod in story.pods} == {"Succeeded"}


_CONTAINERS = ("initContainers", "containers")


def test_no_code_is_rendered_or_mounted(story: Story) -> None:
    mounted = [
        volume["configMap"]["name"]
        for pod in story.pods
        for volume in pod["spec"]["volumes"]
        if "configMap" in volume
    ]

    assert "runtime.yaml" not in story.rendered
    assert [
        object_
        for object_ in story.objects
        if object_["kind"] == "ConfigMap" and "scaler.py" in object_["data"]
    ] == []
    assert [name for name in mounted if name.startswith("berth-")] == []
