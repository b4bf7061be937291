"""An end-to-end test that fails is run once more, alone. Tried with modules that need no cluster."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.secondrun import MOST, VARIABLE

ROOT = Path(__file__).parents[1]
# Each writes down that it was run, and whether alone.
GOOD = """\
import os
from pathlib import Path


def told(name):
    with (Path(__file__).parent / "runs.txt").open("a") as file:
        print(name, os.environ.get("BERTH_E2E_ALONE", "with the others"), file=file)


def test_good():
    told(__name__)
"""
ONCE = f"{GOOD}\n\ndef test_once():\n    assert os.environ.get('{VARIABLE}') == __name__\n"
ALWAYS = f"{GOOD}\n\ndef test_always():\n    assert False\n"
SETUP = f"""{GOOD}
import pytest


@pytest.fixture
def story():
    assert os.environ.get("{VARIABLE}")


def test_setup(story):
    pass
"""


class Ran:
    """What one run of all modules printed, and which modules it ran, in order."""

    def __init__(self, folder: Path, *options: str, **modules: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
        for name, text in modules.items():
            (folder / f"test_{name}.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "tests.e2e.secondrun", str(folder), *options],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # they take longer than the tests
        )
        self.code = done.returncode
        self.lines = done.stdout.splitlines()
        runs = folder / "runs.txt"
        self.runs = runs.read_text().splitlines() if runs.exists() else []


def first(*names: str) -> list[str]:
    return [f"test_{name} with the others" for name in names]


def test_modules_that_pass_run_once(tmp_path: Path) -> None:
    ran = Ran(tmp_path, a=GOOD, b=GOOD)

    assert (ran.code, ran.runs) == (0, first("a", "b"))
    assert not any("second run" in line for line in ran.lines)


@pytest.mark.parametrize(("text", "test"), [(ONCE, "test_once"), (SETUP, "test_setup")])
def test_a_module_that_passes_alone_lets_the_run_pass_with_a_notice(
    tmp_path: Path, text: str, test: str
) -> None:
    ran = Ran(tmp_path, a=text, b=GOOD)

    assert (ran.code, ran.runs) == (0, [*first("a", "b"), "test_a test_a"])
    assert ran.lines[-3:] == [
        "== modules that failed, and were run once more",
        f"test_a.py: first run FAILED ({test}); second run, alone, passed",
        "NEEDED A SECOND RUN: test_a.py. This run passes; find out why the first one failed.",
    ]


def test_a_module_that_also_fails_alone_fails_the_run(tmp_path: Path) -> None:
    ran = Ran(tmp_path, a=ALWAYS, b=GOOD, c=ONCE)

    assert (ran.code, ran.runs) == (1, [*first("a", "b", "c"), "test_a test_a", "test_c test_c"])
    assert ran.lines[-2:] == [
        "test_a.py: first run FAILED (test_always); second run, alone, FAILED (exit code 1)",
        "test_c.py: first run FAILED (test_once); second run, alone, passed",
    ]


def test_a_stopped_run_fails_without_a_second_run(tmp_path: Path) -> None:
    """Tests that were not run have not passed."""
    stopped = Ran(tmp_path / "stopped", "--exitfirst", a=ONCE, b=GOOD)
    no_cluster = f"{GOOD}\nimport pytest\n\n\ndef test_exit():\n    pytest.exit('no cluster', returncode=1)\n"
    left = Ran(tmp_path / "left", a=ONCE, b=no_cluster, c=GOOD)

    assert (stopped.code, stopped.runs) == (1, first("a"))
    assert (left.code, left.runs) == (1, first("a", "b"))


def test_a_module_that_cannot_be_imported_is_not_tried_again(tmp_path: Path) -> None:
    assert Ran(tmp_path, a="import nothing_like_this\n").code == pytest.ExitCode.INTERRUPTED


def test_too_many_failed_modules_get_no_second_run(tmp_path: Path) -> None:
    names = "abcdefgh"[: MOST + 1]
    ran = Ran(tmp_path, **dict.fromkeys(names, ONCE))

    assert (ran.code, ran.runs) == (1, first(*names))


def test_options_apply_to_the_second_run(tmp_path: Path) -> None:
    ran = Ran(tmp_path, "-k", "once", a=ONCE, b=GOOD)

    assert (ran.code, ran.runs) == (0, [])
    assert sum("1 passed, 1 deselected" in line for line in ran.lines) == 1
