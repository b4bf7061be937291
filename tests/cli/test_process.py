"""Berth as a program of its own: pipes, terminals, signals, locales, full disks."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project
from tests.cli.conftest import ROOT
from tests.outputfolder import content
from tests.terminal import on_terminal

BAD = "kind: [\n"
PLACE = "reservations/bad.yaml:1:7:"


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def shell(line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """`berth` in the line is the program; the line fails where one of its parts does."""
    script = f'set -o pipefail; berth() {{ "{sys.executable}" -m berth "$@"; }}; {line}'
    command = ["bash", "-c", script]
    return subprocess.run(
        command, cwd=folder, env=environment(**more), capture_output=True, text=True, check=False
    )


@pytest.fixture
def many(folder: Path) -> Path:
    """More occurrences than a pipe holds: 115 kB."""
    (folder / "reservations" / "many.yaml").write_text(
        project.COURSE.replace("name: course", "name: many")
        .replace("weekly", "daily")
        .replace("2026-03-01", "2031-03-01")
        .replace("    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
        .replace("dayOfWeek: mon, ", ""),
        "utf-8",
    )
    return folder


def test_a_pipe_that_is_closed_early_is_no_error(many: Path) -> None:
    done = shell("berth occurrences | head -n 1 | cut -c 1-11", many)

    assert (done.returncode, done.stdout, done.stderr) == (0, "RESERVATION\n", "")


def test_an_error_keeps_its_exit_code_if_the_pipe_is_closed(folder: Path) -> None:
    (folder / "reservations" / "bad.yaml").write_text(BAD)

    done = shell("berth validate | (exec <&-; sleep 0.5)", folder)

    assert (done.returncode, done.stderr) == (1, "")


def test_manifests_are_written_if_the_pipe_of_the_warnings_is_closed(folder: Path) -> None:
    warned = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
    (folder / "reservations" / "rest.yaml").write_text(warned)

    done = shell("berth render 2>&1 >/dev/null | (exec <&-; sleep 0.5)", folder)

    assert (done.returncode, done.stderr) == (0, "")
    assert [name for name in content(folder / "rendered") if not name.endswith("/")] == project.RENDERED


def test_a_closed_stderr_is_ignored_and_a_closed_stdout_exits_3(folder: Path) -> None:
    done = shell("berth render 2>&-", folder)

    assert (done.returncode, done.stderr) == (0, "")
    done = shell("berth list >&-", folder)
    assert (done.returncode, done.stderr) == (3, "berth: cannot write the output: it is closed.\n")


def test_output_that_cannot_be_written_is_reported_and_exits_3(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")

    done = shell("berth list > /dev/full", folder)

    told = "berth: cannot write the output: No space left on device.\n"
    assert (done.returncode, done.stderr) == (3, told)
    done = shell("_BERTH_COMPLETE=bash_source berth > /dev/full", folder)
    assert (done.returncode, done.stderr) == (3, told)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_exits_130_at_once_and_silently(number: signal.Signals, many: Path) -> None:
    """Its answer fills the pipe, so that it waits for a reader until the signal comes."""
    with subprocess.Popen(
        [sys.executable, "-m", "berth", "occurrences"],
        cwd=many,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # take one byte of the pipe, not all that it holds
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.send_signal(number)

        assert process.wait(10) == 130
        assert process.stderr.read() == b""


def test_an_interrupt_while_modules_are_imported_is_silent_too(folder: Path) -> None:
    (folder / "shutil.py").write_text("raise KeyboardInterrupt")

    done = shell("berth list", folder, PYTHONPATH=f"{folder}:{ROOT}")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    ids=["terminal", "empty-no-color", "no-color", "dumb"],
)
def test_color_is_used_only_on_terminals_that_allow_it(
    folder: Path, variables: dict[str, str], coloured: bool
) -> None:
    (folder / "reservations" / "bad.yaml").write_text(BAD)

    _, shown = on_terminal(folder, ["validate"], **{"TERM": "xterm", "NO_COLOR": "", **variables})

    place, kind = ("\x1b[1m{}\x1b[0m", "\x1b[31m{}\x1b[0m") if coloured else ("{}", "{}")
    assert shown.startswith(f"{place.format(PLACE)} {kind.format('error[B003]')} the bracket")


@pytest.mark.parametrize(
    "variables",
    [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}],
    ids=["locale-c", "ascii"],
)
def test_output_is_utf_8_in_every_locale(folder: Path, berth: Berth, variables: dict[str, str]) -> None:
    done = shell("berth list -o wide --now 2026-02-01", folder, **variables)

    assert (done.returncode, done.stdout, done.stderr) == berth("list", "-o", "wide", "--now", "2026-02-01")
    assert "Zürich, Café" in done.stdout


def test_a_folder_name_that_is_not_utf_8_is_printed_escaped(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "berth", "render", "--output-dir", b"out-\xff"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"out-\\udcff/: 9 written, 0 removed, 0 unchanged.\n"
