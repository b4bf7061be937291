"""The cases of tests/cases/refusededits.yaml and writtenedits.yaml: what edits say, write and refuse."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.answer import Berth
from tests.edit.lab import write_lab
from tests.edit.newcourse import GIVEN
from tests.edit.trip import FILE, TRIP


def cases(name: str) -> list[Any]:
    table = yaml.safe_load((Path(__file__).parents[1] / f"cases/{name}.yaml").read_text("utf-8"))
    return [pytest.param(case, id=claim) for claim, listed in table.items() for case in listed]


@pytest.fixture
def reservations(folder: Path) -> Path:
    write_lab(folder)
    (folder / FILE).write_text(TRIP, "utf-8")
    return folder / "reservations"


def lines(file: Path) -> list[str]:
    return [" ".join(line.split()) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", cases("refusededits"))
def test_a_refused_or_unnecessary_edit_writes_nothing(
    berth: Berth, reservations: Path, case: list[Any]
) -> None:
    code, command, *says = case
    before = {file: file.read_bytes() for file in reservations.iterdir()}
    told = berth(*shlex.split(command.replace("GIVEN", shlex.join(GIVEN))))

    assert (told.code, told.out == "") == (code, code > 0)
    assert [text for text in says if text not in told.out + told.err] == []
    assert {file: file.read_bytes() for file in reservations.iterdir()} == before


@pytest.mark.parametrize("case", cases("writtenedits"))
def test_an_edit_changes_the_lines_of_its_case(
    berth: Berth, reservations: Path, case: dict[str, Any]
) -> None:
    words = shlex.split(case["run"])
    file = reservations / f"{words[1]}.yaml"
    before = lines(file)
    told = berth(*words)
    after = lines(file)

    assert (told.code, case.get("says", "") in told.out) == (0, True)
    new, gone = [line for line in after if line not in before], [line for line in before if line not in after]
    assert new == case.get("new", new)
    assert gone == case.get("gone", gone)
    assert after != before
    assert berth("validate").code == 0
