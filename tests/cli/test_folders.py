"""Commands find the project from any folder below it, as git does; paths are those of the user."""

import contextlib
import json
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from berth import cli

from tests.answer import Answer
from tests.cases import tabled
from tests.cli import project
from tests.outputfolder import content

BAD = project.COURSE.replace("placeholderCount: 25", "placeholderCount: -3")
Below = Callable[..., Answer]


@pytest.fixture
def below(folder: Path, capsys: pytest.CaptureFixture[str]) -> Below:
    """A command in process, two folders below the project."""
    (folder / "docs" / "course").mkdir(parents=True)

    def run(*arguments: str) -> Answer:
        with contextlib.chdir(folder / "docs" / "course"):
            return Answer(cli.run(arguments), *capsys.readouterr())

    return run


def test_render_writes_the_same_files_from_a_subfolder(below: Below, folder: Path) -> None:
    assert below("render") == (0, "../../rendered/: 9 written, 0 removed, 0 unchanged.\n", "")
    before = content(folder / "rendered")
    assert below("render", "--check") == (0, "../../rendered/ is up to date.\n", "")
    assert content(folder / "rendered") == before


def test_a_finding_names_its_file_relative_to_the_current_folder(below: Below, folder: Path) -> None:
    project.write(folder, course=BAD)

    code, out, _ = below("validate")
    assert (code, out.partition(":")[0]) == (1, "../../reservations/course.yaml")
    (item,) = json.loads(below("validate", "-o", "json").out)["items"]
    assert item["file"] == "reservations/course.yaml"


def test_github_annotations_have_paths_of_the_repository(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write(folder, course=BAD)
    with contextlib.chdir(folder.parent):
        assert cli.run(["-C", folder.name, "validate", "-o", "github"]) == 1

    assert capsys.readouterr().out.startswith(f"::error file={folder.name}/reservations/course.yaml,")


def test_the_folder_of_the_option_c_is_used_as_the_project(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project that became a submodule is an empty folder: nothing above it stands for it."""
    (folder / "docs").mkdir()
    with contextlib.chdir(folder):
        assert cli.run(["-C", "docs", "validate"]) == 1

    assert capsys.readouterr().out.startswith("reservations:1:1: error[B001] the folder cannot be read")


def test_paths_on_the_command_line_are_relative_to_the_current_folder(below: Below, folder: Path) -> None:
    here = folder / "docs" / "course"
    (here / "sessions.txt").write_text("09:00+3\n")

    assert below("render", "--output-dir", "out").out.startswith("out/: 9 written")
    assert (here / "out" / "clusters").is_dir()
    assert below("simulate", "course", "--sessions", "sessions.txt").code == 0
    assert below("render", "--output-dir", "../../reservations/out").code == 2
    assert below("diff", "../..", "--now", "2026-02-01").code == 0


def test_an_edit_names_its_file_relative_to_the_current_folder(below: Below, folder: Path) -> None:
    code, out, _ = below("skip", "course", "2026-02-02")

    assert (code, out.splitlines()[0]) == (0, "../../reservations/course.yaml:")
    assert "2026-02-02" in (folder / "reservations" / "course.yaml").read_text()
    new = "new algebra 09:00-10:00 --dates 2026-02-03 --class small --seats 1 --behavior none --file"
    assert below(*new.split(), "../../reservations/deep/a.yaml").code == 0
    assert (folder / "reservations" / "deep" / "a.yaml").is_file()


def test_the_nearest_project_is_used(below: Below, folder: Path) -> None:
    inner = folder / "docs"
    project.write(inner, night=None, rest=None)

    assert below("validate").out == "1 reservation is valid.\n"


def test_a_folder_with_unreadable_reservations_is_still_the_project(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even where they cannot be read."""
    inner = folder / "inner"
    inner.mkdir()
    (inner / "reservations").write_text("")

    assert cli.run(["-C", str(inner), "validate"]) == 1
    assert capsys.readouterr().out.startswith("reservations:1:1: error[B001]")


def test_init_writes_into_the_current_folder(below: Below, folder: Path) -> None:
    assert below("init", "seats", "--now", "2026-01-01").code == 0
    assert (folder / "docs" / "course" / "seats" / "reservations").is_dir()


@tabled("cli")
def test_every_command_that_cannot_write_gets_the_finding_b092(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with contextlib.chdir(folder):
            code = cli.run([*words, "--now", "2026-01-01"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    told = capsys.readouterr()

    assert (code, told.out) == (1, "")
    assert "error[B092]" in told.err
    assert content(folder) == before


@tabled("cli")
def test_an_empty_path_is_a_usage_error(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(folder)
    with contextlib.chdir(folder):
        assert cli.run(words) == 2

    assert "the path is empty" in capsys.readouterr().err
    assert content(folder) == before
