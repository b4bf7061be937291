"""A site that declares no nodes gets the lines it lacks; pasted as they are, they work."""

import json
import re
import shutil
from pathlib import Path

import pytest
from berth import cli

from tests.answer import Berth
from tests.cli import clouds, project
from tests.cli.conftest import ROOT

NOW = ("--now", "2026-02-01")
_DOCUMENT = re.compile(r"^Write the nodes of cluster \S+ to (\S+)\.\n.*\n\n((?:.+\n)+)", re.MULTILINE)
_LINE = re.compile(r"^Add this line to class (\S+) in (\S+), below spec:\n\n(  .*\n)", re.MULTILINE)


def paste(folder: Path, text: str) -> list[str]:
    """Do what the text says; return the names of the classes that got a line."""
    for file, content in _DOCUMENT.findall(text):
        assert not (folder / file).exists()
        (folder / file).write_text(content, "utf-8")
    names = []
    for name, file, line in _LINE.findall(text):
        documents = (folder / file).read_text("utf-8").split("---\n")
        changed = [
            document.replace("\nspec:\n", f"\nspec:\n{line}", 1) if is_class(document, name) else document
            for document in documents
        ]
        assert changed != documents
        (folder / file).write_text("---\n".join(changed), "utf-8")
        names.append(name)
    return names


def is_class(document: str, name: str) -> bool:
    return bool(re.search(rf"^kind: ResourceClass$[\s\S]*?\bname: {name}\b", document, re.MULTILINE))


def test_the_lines_that_plan_prints_work_after_they_are_pasted(berth: Berth, folder: Path) -> None:
    code, text, _ = berth("plan", *NOW)
    assert (code, sorted(paste(folder, text))) == (0, ["bench", "small"])

    told = berth("plan", *NOW)
    assert told.code == 0
    assert "No machines are planned" not in told.out
    assert "on-demand small" in told.out


def test_plan_prints_six_lines_of_nodes_for_a_new_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["init", str(tmp_path / "seats")]) == 0
    capsys.readouterr()
    assert cli.run(["-C", str(tmp_path / "seats"), "plan"]) == 0
    text = capsys.readouterr().out
    ((_, content),) = _DOCUMENT.findall(text)
    assert len(content.splitlines()) == 6
    assert paste(tmp_path / "seats", text) == ["small"]
    assert cli.run(["-C", str(tmp_path / "seats"), "size", "first-course", "--students", "30"]) == 0


@pytest.mark.parametrize("name", ["small", "gpu"])
def test_the_lines_that_plan_prints_for_a_class_give_it_machines(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this repository, which has several clusters, and nodes in one of them."""
    shutil.copytree(ROOT / "reservations", tmp_path / "reservations")
    words = ["-C", str(tmp_path), "size", "--class", name, "--students", "20", *NOW]
    assert cli.run(words) == 0
    assert f"berth plan --class {name} prints" in " ".join(capsys.readouterr().out.split())
    assert cli.run(["-C", str(tmp_path), "plan", "--class", name, *NOW]) == 0
    assert paste(tmp_path, capsys.readouterr().out) == [name]
    assert cli.run([*words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["machines"]


def test_nodes_have_the_labels_that_a_class_selects(berth: Berth, folder: Path) -> None:
    placement = "nodeSelector: {topology.kubernetes.io/zone: west-1, disk: '1e3'}"
    project.change(folder, "classes", "small}\nspec:\n", f"small}}\nspec:\n  {placement}\n")
    words = ("size", "course", "--students", "20", *NOW)
    assert paste(folder, berth("plan", "course", *NOW).out) == ["small"]
    told = berth(*words)
    assert (told.code, "on-demand small" in told.out) == (0, True)


def test_plan_prints_only_the_line_of_the_class_if_the_cluster_has_nodes(berth: Berth, folder: Path) -> None:
    clouds.write(folder)
    project.change(folder, "classes", "  cloudCapacity: [general]\n", "")
    text = berth("plan", "course", *NOW).out
    assert _DOCUMENT.findall(text) == []
    assert [line for _, _, line in _LINE.findall(text)] == ["  cloudCapacity: [general]\n"]
