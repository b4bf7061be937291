"""A program counts as alive for as long as it writes its file, and before it has begun to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from berth.runtime.alive import is_alive, main

from tests.runtime.programs import PACKAGE


@pytest.mark.parametrize(
    ("written", "expected"),
    [(None, True), (1000.0, True), (910.0, True), (909.9, False), (1090.0, True), (1090.1, False)],
)
def test_it_is_alive_within_so_many_seconds(written: float | None, expected: bool) -> None:
    assert is_alive(written, 1000.0, 90.0) is expected


def test_the_probe_looks_at_the_file(tmp_path: Path) -> None:
    file = tmp_path / "scaler.alive"

    assert main([str(file), "90"]) == 0

    file.touch()

    assert main([str(file), "90"]) == 0

    os.utime(file, (0, 0))

    assert main([str(file), "90"]) == 1


def test_the_probe_is_started_as_a_module(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    os.utime(tmp_path / "old", (0, 0))
    command = [sys.executable, "-S", "-E", "-m", "berth.runtime.alive", str(tmp_path / "old"), "90"]

    assert subprocess.run(command, cwd=PACKAGE.parents[1], check=False).returncode == 1
