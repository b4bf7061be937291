"""`berth codeowners`: in a repository, or outside of one."""

import subprocess
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project

COURSE = project.COURSE + '  owner: {name: Physics, contact: "@uni/physics"}\n'
NIGHT = project.NIGHT + "  owner: {name: The night shift, contact: n@example.org}\n"
LINES = "/reservations/course.yaml @uni/physics\n/reservations/night.yaml n@example.org\n"


@pytest.fixture
def owned(folder: Path) -> Path:
    return project.write(folder, course=COURSE, night=NIGHT)


def test_it_prints_lines(berth: Berth, owned: Path) -> None:
    assert berth("codeowners") == (0, LINES, "")
    assert [path.name for path in owned.iterdir() if path.name != "reservations"] == []


def test_without_owners_it_prints_nothing(berth: Berth) -> None:
    assert berth("codeowners") == (0, "", "")


def test_what_cannot_be_a_line_is_a_warning(berth: Berth, owned: Path) -> None:
    project.write(owned, course=COURSE, night=NIGHT.replace("n@example.org", "Room 5"))
    code, out, err = berth("codeowners")

    assert (code, out) == (0, LINES.splitlines(keepends=True)[0])
    assert err.startswith("reservations/night.yaml:16:43: warning[B235] spec.owner.contact: ")
    assert berth("codeowners", "--strict", "--write")[0] == 1
    assert not (owned / "CODEOWNERS").exists()


def test_it_writes_a_block_at_the_top_of_the_repository(berth: Berth, folder: Path) -> None:
    """The project is a folder of the repository."""
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    project.write(folder / "teaching", course=COURSE, night=NIGHT)
    file = folder / ".github/CODEOWNERS"
    file.parent.mkdir()
    file.write_text("* @uni/platform\n")
    inside = ("-C", str(folder / "teaching"), "codeowners")
    lines = LINES.replace("/reservations", "/teaching/reservations")

    assert berth(*inside) == (0, lines, "")
    assert [berth(*inside, flag)[0] for flag in ("--check", "--write", "--check", "--write")] == [4, 0, 0, 0]
    assert lines in file.read_text()
    assert file.read_text().startswith("* @uni/platform\n")


@pytest.mark.parametrize(
    ("there", "written"),
    [((), "CODEOWNERS"), ((".github/x",), ".github/CODEOWNERS"), (("CODEOWNERS", ".github/x"), "CODEOWNERS")],
)
def test_it_writes_the_file_that_is_there_or_where_others_are(
    berth: Berth, owned: Path, there: tuple[str, ...], written: str
) -> None:
    for name in there:
        (owned / name).parent.mkdir(exist_ok=True)
        (owned / name).write_text("")
    assert berth("codeowners", "--write") == (
        0,
        f"{written}: 2 lines in the block of berth codeowners.\n",
        "",
    )
    assert LINES in (owned / written).read_text()


def test_errors_in_the_input_write_nothing(berth: Berth, owned: Path) -> None:
    project.write(
        owned, course=COURSE, rest=project.REST.replace("placeholderCount: 1", "placeholderCount: 0")
    )

    assert berth("codeowners", "--write")[0] == 1
    assert not (owned / "CODEOWNERS").exists()


def test_both_flags_are_a_usage_error(berth: Berth) -> None:
    assert berth("codeowners", "--write", "--check")[0] == 2
