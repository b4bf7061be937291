"""`berth init`: a repository that passes its own checks at once, and `berth new` where somebody answers."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from berth.reading.document import parse
from berth.reading.source import Source

from tests.edit.conftest import Answer
from tests.flow.conftest import ROOT, SCRIPTS

Berth = Callable[..., Answer]
FILES = [
    ".gitattributes",
    ".github/workflows/berth.yaml",
    "README.md",
    "rendered/clusters/prod/base.yaml",
    "rendered/clusters/prod/reservations/first-course.yaml",
    "rendered/clusters/prod/runtime.yaml",
    "reservations/.schema.json",
    "reservations/classes.yaml",
    "reservations/first-course.yaml",
    "reservations/site.yaml",
]


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


@pytest.fixture
def started(berth: Berth, tmp_path: Path) -> Path:
    told = berth("init", str(tmp_path / "My Seats"), "--now", "2026-01-10", "--time-zone", "Europe/Zurich")
    assert (told.code, told.out.splitlines()[0]) == (
        0,
        f"{tmp_path}/My Seats is a repository of reservations now. Next:",
    )
    return tmp_path / "My Seats"


def test_it_passes_its_own_checks(started: Path, berth: Berth) -> None:
    assert files(started) == FILES
    assert berth("-C", str(started), "validate", "--strict").code == 0
    told = berth("-C", str(started), "render", "--check")
    assert (told.code, told.out) == (0, "rendered/ is up to date.\n")
    assert told.err.endswith("2 notes.\n")


def test_its_workflow_finds_it_valid_and_fresh(started: Path, tmp_path: Path) -> None:
    """The very script that the action runs, on the first commit."""
    program = tmp_path / "bin/berth"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m berth "$@"\n')
    program.chmod(0o755)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "-m", "first")):
        subprocess.run(["git", *words], cwd=started, check=True)
    out = tmp_path / "out"
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "BASE": "0" * 40}
    subprocess.run(
        ["bash", SCRIPTS / "preview.sh"], cwd=started, env={**environment, "OUT": str(out)}, check=True
    )
    assert {(out / name).read_text() for name in ("valid", "fresh")} == {"true\n"}


def test_the_first_course_begins_on_the_next_monday(started: Path, berth: Berth) -> None:
    told = berth("-C", str(started), "list", "--now", "2026-01-10")
    row = " ".join(told.out.splitlines()[1].split())
    assert row == "first-course prod 25 small 12 1350 Mon 2026-01-12 08:30"


def test_every_declaration_points_to_the_schema_beside_it(started: Path) -> None:
    for name in ("site", "classes", "first-course"):
        text = (started / f"reservations/{name}.yaml").read_text("utf-8")
        assert text.startswith("# yaml-language-server: $schema=.schema.json\n")


def test_the_workflow_is_yaml_that_names_this_version(started: Path) -> None:
    text = (started / ".github/workflows/berth.yaml").read_text("utf-8")
    (one,), faults = parse(Source("berth.yaml", text.encode()))
    assert not faults
    workflow: Any = one.value
    assert workflow["jobs"]["preview"]["steps"][1]["uses"].startswith("berth-dev/berth@v")


@pytest.mark.parametrize("name", ["reservations/mine.yaml", "README.md", "rendered/x"])
def test_what_is_there_is_never_overwritten(berth: Berth, tmp_path: Path, name: str) -> None:
    file = tmp_path / "seats" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    there = tmp_path / "seats" / (name if name == "README.md" else name.partition("/")[0])
    told = berth("init", str(tmp_path / "seats"))
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith(f"berth: {there} exists; nothing was written.\n")
    assert files(tmp_path / "seats") == [name]


def test_what_would_not_validate_is_not_written(berth: Berth, tmp_path: Path) -> None:
    told = berth("init", str(tmp_path / "seats"), "--time-zone", "Mars")
    assert (told.code, told.out) == (1, "")
    assert 'error[B021] spec.timeZone: "Mars" is not a time zone' in told.err
    assert not (tmp_path / "seats").exists()


def test_new_asks_on_a_terminal_for_what_is_missing(started: Path) -> None:
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "berth", "new", "algebra", "--lead", "10"],
        cwd=started,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    shown = b""
    for question, answer in (
        ("How many seats? [25] ", "12"),
        ("On which weekdays, or which dates? [mon,wed] ", ""),
        ("On which weekdays, or which dates? [mon,wed] ", "tue"),
        ("From when to when? [09:00-13:00] ", "14:00-16:00"),
        ("First date? [2026-02-02] ", "2026-02-03"),
        ("Last date? [2026-05-15] ", "2026-03-03"),
    ):
        while not shown.decode().endswith(question):
            shown += os.read(main, 1024)
        shown = b""
        os.write(main, f"{answer}\n".encode())
    while process.poll() is None:
        try:
            shown += os.read(main, 1024)
        except OSError:
            break
    os.close(main)
    assert process.wait() == 0
    text = (started / "reservations/algebra.yaml").read_text("utf-8")
    assert '- {dayOfWeek: tue, startTime: "14:00", endTime: "16:00"}\n' in text
    assert "placeholderCount: 12\n    leadTimeMinutes: 10\n" in text
    assert "+ 12 small: Tue 14:00-16:00, 5 dates from 2026-02-03 to 2026-03-03" in shown.decode()
