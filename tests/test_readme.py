"""README does what it says: its commands print what stands there, its declarations are good, its tables are
current.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gen.runtime.formula import placeholders
from tests import readmetable
from tests.console import ROOT, blocks, commands, printed

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = blocks(README)
COMMANDS = commands(README)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("reservations", "rendered", "tests/examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "output"), COMMANDS, ids=[words.replace("/", "-") for words, _ in COMMANDS]
)
def test_a_command_prints_what_readme_shows(command: str, output: str, checkout: Path) -> None:
    assert command.startswith("berth ")
    assert printed(command, checkout) == output


def test_other_commands_name_targets_and_folders_that_exist() -> None:
    lines = [
        line.partition("#")[0].split()
        for language, block in BLOCKS
        if language == "console" and "$ " not in block
        for line in block.splitlines()
    ]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)

    assert len(lines) == 5
    for program, *words in lines:
        if program == "make":
            assert words[0] in targets
        elif program == "export":
            assert words == ['PATH="$PWD/.venv/bin:$PATH"']
        else:
            assert program == "kubectl"
            assert (ROOT / words[-1] / "base.yaml").is_file()


def test_its_declarations_are_good_beside_the_examples(checkout: Path) -> None:
    declarations = [block for language, block in BLOCKS if language == "yaml"]
    for i, declaration in enumerate(declarations):
        (checkout / "reservations" / f"readme-{i}.yaml").write_text(declaration)

    command = [sys.executable, "-m", "gen", "-C", str(checkout), "validate", "--strict"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert declarations
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


KEYED = {"seats", "nodes", "machineHours", "cost"}  # by class, or by capacity type


def keys(value: object) -> set[str]:
    """All of an answer, but for those that are names of something."""
    if isinstance(value, list):
        return {key for one in value for key in keys(one)}
    if not isinstance(value, dict):
        return set()
    return {*value, *(key for name, one in value.items() if name not in KEYED for key in keys(one))}


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("OccurrenceList", "occurrences"),
        ("ReservationList", "list"),
        ("Simulation", "simulate machine-learning"),
        ("Plan", "plan"),
    ],
)
def test_its_block_of_json_names_every_key(kind: str, command: str, checkout: Path) -> None:
    answer = json.loads(printed(f"berth {command} --now 2026-01-01 -o json", checkout))
    block = README.partition("### JSON")[2].partition("### ")[0]
    (told,) = re.findall(rf"^    {kind} (.*?)\n(?:    \w|\n)", block, re.M | re.S)

    assert (answer["kind"], keys(answer) - {"apiVersion", "kind"} - {*re.findall(r"\w+", told)}) == (
        kind,
        set(),
    )


def test_the_table_of_the_time_rule_is_what_the_code_computes() -> None:
    assert readmetable.text() in README


def test_the_picture_of_the_behaviours_is_the_one_that_its_command_makes(checkout: Path) -> None:
    """After a change: run the command that README names."""
    (command,) = re.findall(r"`berth (simulate [^`]+--chart (\S+))`", README)
    (checkout / command[1]).parent.mkdir(parents=True)

    words = [sys.executable, "-m", "gen", "-C", str(checkout), *command[0].split()]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=True)

    assert (checkout / command[1]).read_bytes() == (ROOT / command[1]).read_bytes()
    assert f"]({command[1]})" in README


@pytest.mark.parametrize(
    ("spare", "before_end", "theirs", "ours", "words"),
    [
        (20, 210, 23, 20, "20 placeholders become 23 with 30 minutes of lead"),
        (20, 360, 40, 20, "and 40 with 180. Here they are 20."),
        (5, 90, 2, 3, "2.5 placeholders are 3, not 2."),
    ],
    ids=["lead-of-30", "lead-of-180", "half"],
)
def test_where_the_formula_departs_from_renku_as_readme_says(
    spare: int, before_end: int, theirs: int, ours: int, words: str
) -> None:
    """For a course of three hours, in minutes. Renku's own formula is a line of Python."""
    assert theirs == round(spare * before_end / 180)
    assert ours == placeholders("reduce", spare, 0, (-180, 0, 180), 180 - before_end)
    assert words in " ".join(README.split())
