"""Proves that the cluster of these tests is a real one."""

import json
from pathlib import Path

import pytest

from tests.e2e import linters
from tests.e2e.cluster import Cluster
from tests.e2e.cronfires import missed_opens
from tests.e2e.errors import E2EError
from tests.e2e.lock import MachineLock


def test_every_part_has_the_pinned_version(cluster: Cluster) -> None:
    versions = json.loads(cluster.kubectl("version", "-o", "json"))
    assert versions["serverVersion"]["gitVersion"] == "v1.36.3"
    assert versions["clientVersion"]["gitVersion"] == "v1.36.3"
    node = cluster.get("node", cluster.node.name)
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.36.3"
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"] == "containerd://2.4.2"
    assert "taints" not in node["spec"]


def test_a_second_cluster_is_refused_in_one_line(cluster: Cluster) -> None:
    assert all(component.running for component in cluster.components)
    with pytest.raises(E2EError, match="runs a cluster on this machine already") as refused:
        Cluster().up()
    assert "\n" not in str(refused.value)
    assert MachineLock().holder() is not None
    cluster.kubectl("get", "--raw", "/readyz")


def test_actionlint_accepts_a_good_workflow_and_rejects_a_bad_workflow(tmp_path: Path) -> None:
    workflow = "on: push\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo\n"
    (tmp_path / "good.yaml").write_text(workflow)
    linters.actionlint(tmp_path / "good.yaml")
    (tmp_path / "bad.yaml").write_text(workflow.replace("runs-on", "runs-at"))
    with pytest.raises(linters.LintError, match="runs-at"):
        linters.actionlint(tmp_path / "bad.yaml")


def test_cronfires_finds_the_openings_that_no_schedule_meets() -> None:
    zurich = [{"schedule": "30 8 * * 1", "timeZone": "Europe/Zurich"}]
    opens = ["2026-02-02T07:30:00Z", "2026-07-06T06:30:00Z", "2026-07-06T07:30:00Z", "2026-02-03T07:30:00Z"]
    missed = missed_opens(
        [
            {"name": "met", "schedules": zurich, "opens": opens[:2]},
            {"name": "missed", "schedules": zurich, "opens": opens},
        ]
    )
    assert missed == {"met": [], "missed": opens[2:]}
