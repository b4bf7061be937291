"""Engine `none`: people apply with kubectl, as often as they like and whenever they like."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.e2e import project, windows
from tests.e2e.appliers import eventually
from tests.e2e.cluster import Cluster
from tests.e2e.replicas import Replicas
from tests.e2e.windows import MINUTE, entry, reservation, sleep_until

SPACE = "berth-none"
RESET = 10  # seconds within which a scale by hand is put right


class Story(NamedTuple):
    """What happened, and when: instants in seconds since the epoch."""

    record: Replicas
    opens: int
    opened: float
    applied: list[str]  # what kubectl said at the second time
    changed: dict[str, Any]  # what a placeholder asks for after the template has changed
    reset: float


@pytest.fixture(scope="module")
def story(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("none")
    nodes = cluster.kwok.create_nodes(1, "plain", capacity={"pods": "300", "cpu": "200", "memory": "400Gi"})
    opens = windows.next_minute(40)
    course = reservation("course", opens, [entry(opens, 0, 2)], lead=0, seats={"small": 5})
    project.write(folder, [project.site(namespace=SPACE, engine="none"), *_class("100m"), course])
    record = Replicas(SPACE)
    try:
        record.start()
        _apply(cluster, folder)
        yield _happen(cluster, folder, record, opens)
    finally:
        record.stop()
        cluster.kubectl("delete", "namespace", SPACE, "--wait=false")
        cluster.kwok.delete_nodes(nodes)


def _class(cpu: str) -> list[project.Document]:
    made = project.resource_class("small")
    made["spec"]["requests"]["cpu"] = cpu
    return [made]


def _apply(cluster: Cluster, folder: Path) -> str:
    """As README says."""
    project.berth(folder, "render")
    return cluster.apply(folder / "rendered" / "clusters" / "real")


def _happen(cluster: Cluster, folder: Path, record: Replicas, opens: int) -> Story:
    def wanted() -> int:
        found: int = cluster.get("deployment", "course-small", SPACE)["spec"]["replicas"]
        return found

    sleep_until(opens)
    opened = eventually("the window to open", lambda: wanted() == 5, MINUTE)
    applied = _apply(cluster, folder).splitlines()
    time.sleep(3)
    project.write(folder, _class("150m"))
    _apply(cluster, folder)
    pool = cluster.get("deployment", "course-small", SPACE)
    changed = pool["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    time.sleep(3)
    reset = time.time()
    cluster.kubectl("scale", "deployment/course-small", "--replicas=0", f"--namespace={SPACE}")
    sleep_until(opens + 2 * MINUTE + 15)
    return Story(record, opens, opened, applied, changed, reset)


def test_applying_again_changes_nothing_at_all(story: Story) -> None:
    assert [line for line in story.applied if not line.endswith(" unchanged")] == []
    assert "deployment.apps/course-small unchanged" in story.applied


def test_applying_in_the_middle_of_a_window_resets_nothing(story: Story) -> None:
    """Neither the same again nor another template: replicas are not in git."""
    assert story.reset - story.opened > 6
    assert story.record.between("course-small", story.opened, story.reset) == [5]
    assert story.changed == {"cpu": "150m", "memory": "64Mi"}


def test_whoever_resets_it_all_the_same_is_corrected(story: Story) -> None:
    (down, none), (up, five), (_, ended) = story.record.changes("course-small")[-3:]

    assert (none, five, ended) == (0, 5, 0)
    assert story.reset <= down <= up <= down + RESET


def test_a_new_pool_starts_with_one_until_the_sweep_or_the_window_puts_that_right(story: Story) -> None:
    """What Kubernetes makes of a field that is not there."""
    steps = story.record.steps("course-small")

    assert steps[: steps.index(5)] in ([1], [1, 0])
