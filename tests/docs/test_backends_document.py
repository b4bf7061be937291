"""docs/backends.md: a node for each placeholder, and the numbers of a plan."""

import json
from pathlib import Path

import pytest

from tests.console import ROOT, blocks, printed

TEXT = (ROOT / "docs/backends.md").read_text("utf-8")
CLUSTER, COURSE, ALONE = (text for language, text in blocks(TEXT) if language == "yaml")
FULL_CLASS, RESERVATION = COURSE.split("---\n")
NODES = 11
SITE = "apiVersion: berth.dev/v1alpha1\nkind: Site\nmetadata: {name: uni}\nspec:\n  timeZone: Europe/Zurich\n"
CAMPUS = """\
apiVersion: berth.dev/v1alpha1
kind: CloudCapacity
metadata: {name: campus}
spec:
  provider: generic
  nodes: [{name: large, allocatable: {cpu: "15.6", memory: 60Gi}, labels: {example.org/pool: students}}]
  nodeStartMinutes: 4
  daemonRequests: {cpu: 300m, memory: 512Mi, pods: 6}
"""
STUDENTS = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: student}
spec: {requests: {cpu: 500m, memory: 2Gi}}
"""


def machines(folder: Path, resource_class: str, reservation: str) -> int:
    """The most nodes that a plan with the nodes of the page needs."""
    site = SITE + "".join(f"  {line}\n" for line in CLUSTER.splitlines())
    with_nodes = resource_class.replace("\nspec:\n", "\nspec:\n  cloudCapacity: [campus]\n")
    with_nodes = with_nodes.replace("spec: {", "spec: {cloudCapacity: [campus], ")
    (folder / "reservations").mkdir()
    for name, text in (("site", site), ("nodes", CAMPUS), ("class", with_nodes), ("course", reservation)):
        (folder / f"reservations/{name}.yaml").write_text(text, "utf-8")
    assert printed("berth validate --strict", folder) == "1 reservation is valid.\n"
    assert printed("berth render", folder).startswith("rendered/: ")
    plan = json.loads(printed("berth plan --now 2026-01-01 -o json", folder))
    most: int = sum(kind["count"] for kind in plan["peaks"][0]["machines"])
    return most


def test_each_placeholder_takes_a_node(tmp_path: Path) -> None:
    assert machines(tmp_path, FULL_CLASS, RESERVATION) == NODES


def test_small_placeholders_keep_away_from_each_other(tmp_path: Path) -> None:
    reservation = RESERVATION.replace("whole-node", "one-on-each-node")

    assert machines(tmp_path, ALONE, reservation) == NODES


@pytest.mark.parametrize(("students", "nodes"), [(29, 1), (30, 2), (300, NODES)], ids=str)
def test_the_sessions_of_the_table_fit(students: int, nodes: int, tmp_path: Path) -> None:
    course = RESERVATION.replace("whole-node", "student")
    course = course.replace("placeholderCount: 11", f"placeholderCount: {students}")

    assert machines(tmp_path, STUDENTS, course) == nodes
    assert "29 sessions fit, so 300 students need 11 nodes." in TEXT


def test_the_window_on_the_page_is_that_of_its_course(tmp_path: Path) -> None:
    """It is open from 08:40 to 09:30."""
    machines(tmp_path, FULL_CLASS, RESERVATION)

    out = printed("berth simulate biology-lab --now 2026-01-01 --sessions 09:00+40 -o json", tmp_path)

    assert [(item["at"][11:16], item["target"]) for item in json.loads(out)["items"]][:3] == [
        ("07:40", 11),
        ("08:00", 11),
        ("08:30", 0),
    ]
    assert [word for word in ("| 08:40 |", "| 09:30 |", "| 09:40 |") if word not in TEXT] == []
