"""The small project, to be edited."""

from pathlib import Path

import pytest
from berth import cli

from tests.answer import Answer, Berth
from tests.cli import project
from tests.edit.trip import FILE, TRIP

BEFORE_ALL = "2026-01-01"
"""The time of every command that is not given another one."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project.write(tmp_path)


@pytest.fixture
def berth(folder: Path, capsys: pytest.CaptureFixture[str]) -> Berth:
    def run(*words: str) -> Answer:
        code = cli.run(["-C", str(folder), "--now", BEFORE_ALL, *words])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def trip(folder: Path) -> Path:
    """The file of `tests.edit.trip`, in the small project."""
    file = folder / FILE
    file.write_text(TRIP, "utf-8")
    return file


@pytest.fixture
def site_holidays(folder: Path) -> None:
    """The calendar of the small project, which all its reservations follow."""
    project.change(folder, "site", "engine: argocd", "engine: argocd\n  calendars: [holidays]")
