"""README works as it stands in a fresh clone, and stays short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console import ROOT, blocks
from tests.pages import checkout, followed, text_of

README = text_of("README.md")
BLOCKS = blocks(README)
PLAIN = [block for language, block in BLOCKS if language == "console" and "$ " not in block.splitlines()[0]]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return checkout(tmp_path)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 160


def test_its_declarations_are_valid_beside_the_examples(clone: Path) -> None:
    declarations = [block for language, block in BLOCKS if language == "yaml"]
    for i, declaration in enumerate(declarations):
        (clone / "reservations" / f"readme-{i}.yaml").write_text(declaration)

    command = [sys.executable, "-m", "berth", "-C", str(clone), "validate", "--strict"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert declarations
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_setup_commands_name_targets_that_exist() -> None:
    setup, _ = PLAIN
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    make, export = [line.partition("#")[0].split() for line in setup.splitlines()]

    assert make[0] == "make"
    assert make[1] in targets
    assert export == ["export", 'PATH="$PWD/.venv/bin:$PATH"']


def test_the_commands_for_a_window_today_work_and_name_what_they_render(clone: Path) -> None:
    """They run after the commands above them, in a real shell, because they contain today's date."""
    for _ in followed(README.partition("## Choose an engine")[0], clone):
        pass
    _, today = PLAIN
    *commands, apply = today.splitlines()
    (stop,) = re.findall(r"run `(berth set [^`]+)`", README)
    berth = f'berth() {{ "{sys.executable}" -m berth "$@"; }}'
    script = "\n".join(["set -e", berth, *commands, stop, "berth render --check || test $? = 4"])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=clone / "my-seats",
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    folder = clone / "my-seats" / apply.split()[-1]

    assert done.returncode == 0, done.stdout + done.stderr
    assert apply.startswith("kubectl apply --recursive -f ")
    assert (folder / "reservations" / "today.yaml").is_file()
