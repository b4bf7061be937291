"""Commands in process, and as processes of their own."""

from pathlib import Path

import pytest
from berth import cli

from tests.answer import Answer, Berth
from tests.cli import project

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The small project of `tests.cli.project`."""
    return project.write(tmp_path)


@pytest.fixture
def evening(folder: Path) -> Path:
    """The small project with one reservation more."""
    return project.write(folder, evening=project.EVENING)


@pytest.fixture
def berth(folder: Path, capsys: pytest.CaptureFixture[str]) -> Berth:
    """A command in process, in the small project."""

    def run(*arguments: str) -> Answer:
        code = cli.run(["-C", str(folder), *arguments])
        return Answer(code, *capsys.readouterr())

    return run
