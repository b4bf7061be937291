"""A command line with several wrong values: each is reported, in one run, and nothing is written."""

import re
import shlex
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cases import tabled

TERM = "--from 2026-03-02 --until 2026-05-29"


@tabled("edit")
def test_all_wrong_values_of_a_command_are_reported_in_one_run(
    command: str, places: str, berth: Berth, folder: Path
) -> None:
    files = {file: file.read_bytes() for file in folder.rglob("*.yaml")}
    told = berth(*shlex.split(command))
    lines = [re.fullmatch(r"berth: ([^ :]+).*?( \[B\d+\])?", line) for line in told.err.splitlines()]
    assert " ".join(line[1] + (line[2] or "") for line in lines if line) == places
    assert (told.code, told.out, None in lines) == (2, "", False)
    assert {file: file.read_bytes() for file in folder.rglob("*.yaml")} == files


def test_a_value_that_is_wrong_in_two_ways_is_reported_once(berth: Berth) -> None:
    """`--class` is read alone, with `--seats`, and as a name of what is declared."""
    command = f"new lab 09:00-11:00 --weekly mon --class 'A B' --seats 5 {TERM}"
    assert berth(*shlex.split(command)).err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "places"),
    [
        (
            f"new lab a=09:00-11:00 a=09:00-12:00 --weekly mon --seats 5 --behavior none {TERM}"
            " --class small",
            {"TIMES", "--weekly"},
        ),
        (
            "new lab 09:00-11:00 --dates 2026-03-03 --class small,tiny --seats small=5,tiny=1"
            " --behavior none",
            {"--class"},
        ),
        ("add exam 2026-06-01 14:00-15:00 --name late", {"TIMES", "DATE"}),
    ],
    ids=["times", "class", "extra"],
)
def test_a_finding_is_reported_at_the_option_that_causes_it(
    berth: Berth, command: str, places: set[str]
) -> None:
    exam = "new exam 09:00-11:00 --dates 2026-06-01 --class small --seats 5 --behavior none"
    assert berth(*exam.split()).code == 0
    assert berth("add", "exam", "2026-06-01", "14:00-15:00", "--name", "late").code == 0
    told = berth(*shlex.split(command))
    assert (told.code, {line.partition(":")[0] for line in told.err.splitlines()[:-2]}) == (1, places)
