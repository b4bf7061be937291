"""The small project, to be edited."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from berth import cli

from tests.cli import project

BEFORE_ALL = "2026-01-01"
"""The time of every command that is not given another one."""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project.write(tmp_path)


@pytest.fixture
def berth(folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Answer]]:
    def run(*words: str) -> Answer:
        code = cli.run(["-C", str(folder), "--now", BEFORE_ALL, *words])
        return Answer(code, *capsys.readouterr())

    with contextlib.chdir("."):
        yield run
