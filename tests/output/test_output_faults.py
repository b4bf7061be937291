"""Whatever fails in the middle of a run, each file is old or new, and nothing else is left."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from berth.findings import ERROR, Finding
from berth.output.stage import DISK, Stage

from tests.outputfolder import (
    AGAIN,
    BASE,
    HEADER,
    NEW,
    OLD,
    A,
    B,
    check,
    content,
    failing,
    files_in,
    out_of_reach,
    refused,
    render,
    unusable,
    write,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("survives", [0, 1, 2])
def test_a_full_disk_changes_nothing(out: Path, survives: int) -> None:
    before = content(out)
    findings = refused(lambda: render(out, NEW, DISK._replace(write=failing(os.write, survives))))

    path = list(NEW)[survives]
    assert findings == (
        unusable(f"rendered/{path}", "No space left on device", f"{AGAIN} Nothing has changed."),
    )
    assert content(out) == before


@pytest.mark.parametrize("survives", [0, 1, 2])
def test_a_rename_that_fails_leaves_each_file_old_or_new(out: Path, survives: int) -> None:
    findings = refused(lambda: render(out, NEW, DISK._replace(replace=failing(os.replace, survives))))

    changed = "Every file is complete, old or new." if survives else "Nothing has changed."
    path = [B, A, BASE][survives]
    assert findings == (unusable(f"rendered/{path}", "No space left on device", f"{AGAIN} {changed}"),)
    now = files_in(out)
    assert now.keys() == OLD.keys()
    assert sum(now[path] == NEW[path] for path in now) == survives
    assert sum(now[path] == OLD[path] for path in now) == 3 - survives


def test_short_writes_are_continued_until_the_file_is_complete(out: Path) -> None:
    render(out, NEW, DISK._replace(write=lambda file, data: os.write(file, data[:7])))

    assert files_in(out) == NEW


@pytest.mark.parametrize("call", ["write", "replace"])
@pytest.mark.parametrize("survives", [0, 2])
def test_a_killed_run_leaves_whole_files_and_the_next_run_removes_leftovers(
    out: Path, call: str, survives: int
) -> None:
    code = (
        "import sys\n"
        "from berth.output.stage import DISK\n"
        "from tests.outputfolder import NEW, die, failing, render\n"
        "from pathlib import Path\n"
        "call, survives, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])\n"
        "render(folder, NEW, DISK._replace(**{call: failing(getattr(DISK, call), survives, die)}))\n"
    )
    run = subprocess.run([sys.executable, "-c", code, call, str(survives), str(out)], cwd=ROOT, check=False)
    now = files_in(out)
    hidden = now.keys() - OLD.keys()

    assert run.returncode == -signal.SIGKILL
    assert all(now[path] in (OLD[path], NEW[path]) for path in OLD)
    assert all(Path(path).name.startswith(".berth-") for path in hidden)
    assert hidden

    render(out, NEW)

    assert files_in(out) == NEW


def test_a_second_run_at_the_same_time_is_refused(out: Path) -> None:
    with Stage(str(out), "rendered") as first:
        first.put(A, NEW[A])

        assert refused(lambda: render(out, NEW)) == (
            Finding(
                *("rendered", 1, 1, "B092", ERROR, ""),
                "Another berth render is writing here.",
                "Run again when it is done.",
            ),
        )
        assert check(out, OLD) == []

        first.finish()

    assert render(out, NEW).written == [BASE, B]


def test_render_works_on_a_file_system_without_locks(out: Path) -> None:
    def no_locks(_: int) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    render(out, NEW, DISK._replace(lock=no_locks))

    assert files_in(out) == NEW


ON_WINDOWS = """\
import os, sys
sys.modules["fcntl"] = None
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK"):
    delattr(os, name)
from berth.cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("command", [["render"], ["render", "--check"], ["validate"]], ids=" ".join)
def test_commands_work_on_a_system_without_fcntl(tmp_path: Path, command: list[str]) -> None:
    shutil.copytree(ROOT / "reservations", tmp_path / "reservations")
    shutil.copytree(ROOT / "rendered", tmp_path / "rendered")
    if command == ["render"]:
        next((tmp_path / "rendered").rglob("*.yaml")).unlink()
    (tmp_path / "rendered/clusters/.berth-01234567-a.tmp").touch()
    done = [sys.executable, "-c", ON_WINDOWS, "-C", str(tmp_path), *command]

    subprocess.run(done, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)

    expected = files_in(ROOT / "rendered")
    if command != ["render"]:
        expected["clusters/.berth-01234567-a.tmp"] = ""
    assert files_in(tmp_path / "rendered") == expected


@pytest.mark.parametrize(
    ("folder", "found"),
    [("file", "file"), ("file/below", "file"), ("loop", "loop")],
    ids=["file", "below-a-file", "loop"],
)
def test_an_output_folder_behind_a_file_or_a_loop_gets_the_finding_b092(
    tmp_path: Path, folder: str, found: str
) -> None:
    write(tmp_path / "file", "mine")
    (tmp_path / "loop").symlink_to("loop")

    assert refused(lambda: render(tmp_path / folder, OLD)) == (
        unusable("rendered", f"File exists ({tmp_path / found})", f"{AGAIN} Nothing has changed."),
    )
    assert (tmp_path / "file").read_text("utf-8") == "mine"


def test_check_reports_a_file_in_place_of_the_output_folder(tmp_path: Path) -> None:
    path = write(tmp_path / "file", "mine")

    assert refused(lambda: check(path, OLD)) == (
        unusable("rendered", f"Not a directory ({path})", "Check its permissions, then run again."),
    )


def test_a_file_with_a_path_that_is_too_long_gets_the_finding_b092(tmp_path: Path) -> None:
    path = out_of_reach(tmp_path / "rendered")
    wanted = {path: HEADER}
    folder, message = tmp_path / "rendered", "File name too long"

    assert refused(lambda: render(folder, wanted)) == (
        unusable(f"rendered/{path}", message, f"{AGAIN} Nothing has changed."),
    )
    assert refused(lambda: check(folder, wanted)) == (
        unusable(f"rendered/{path}", message, "Check its permissions, then run again."),
    )
    assert refused(lambda: render(folder, {})) == (
        unusable("rendered", f"{message} ({folder}/{path})", f"{AGAIN} Nothing has changed."),
    )
    assert refused(lambda: check(folder, {})) == (
        unusable("rendered", f"{message} ({folder}/{path})", "Check its permissions, then run again."),
    )
