"""Files of reservations that stand, from declarations to the folder."""

from pathlib import Path

import pytest
import yaml
from berth import cli
from berth.manifests.clusterobjects import INVENTORY_HEAD, SLOTS_HEAD
from berth.plugins.pruning.inventory import parse_inventory as read

from tests.cli import project
from tests.outputfolder import files_in

CLASSES = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: seat}
spec:
  cluster: lab
  requests: {cpu: "2"}
  schedulerName: koord-scheduler
  sessions: {source: pods, namespaces: [jhub], selector: {matchLabels: {app: hub}}}
"""
STANDING = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: robots}
spec:
  resourceClass: seat
  provisioning: {placeholderCount: 2}
  backend: {type: koordinator, standing: true}
"""
SITE = project.SITE.replace("namespace: seats}", "namespace: seats, koordinator: {}}")
FILE = "clusters/lab/reservations/robots.yaml"


def rendered(folder: Path, standing: str) -> dict[str, str]:
    project.write(folder, site=SITE, classes=CLASSES, course=None, night=None, rest=standing)
    assert cli.run(["-C", str(folder), "render"]) == 0
    return files_in(folder / "rendered")


def inventory(files: dict[str, str], key: str = "reservations.txt") -> list[str]:
    (found,) = yaml.safe_load_all(files["clusters/lab/inventory.yaml"])
    lines: list[str] = found["data"][key].splitlines()
    return lines


def test_a_standing_reservation_has_a_file_and_is_in_the_inventory(tmp_path: Path) -> None:
    files = rendered(tmp_path, STANDING)

    assert [one["kind"] for one in yaml.safe_load_all(files[FILE])] == ["Reservation", "Reservation"]
    assert inventory(files) == [INVENTORY_HEAD, "robots"]


def test_the_inventory_lists_slots_as_the_sweep_reads_them(tmp_path: Path) -> None:
    files = rendered(tmp_path, STANDING)
    lines = inventory(files, "slots.txt")
    slots = [one["metadata"]["name"] for one in yaml.safe_load_all(files[FILE])]

    assert (lines[0], len(lines)) == (SLOTS_HEAD, 2)
    assert read("", {"reservations.txt": "", "slots.txt": "\n".join(lines)}).persistent == {
        "robots": frozenset(slots)
    }


def test_a_suspended_standing_reservation_has_no_file_and_no_inventory_entry(tmp_path: Path) -> None:
    rendered(tmp_path, STANDING)
    files = rendered(tmp_path, STANDING + "  suspend: true\n")

    assert FILE not in files
    assert inventory(files) == [INVENTORY_HEAD]


def test_slots_in_a_cluster_without_koordinator_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    classes = CLASSES.replace("cluster: lab", "cluster: prod")
    project.write(tmp_path, site=SITE, classes=classes, course=None, night=None, rest=STANDING)
    assert cli.run(["-C", str(tmp_path), "render"]) == 1

    assert "error[B283]" in capsys.readouterr().err
    assert not (tmp_path / "rendered").exists()
