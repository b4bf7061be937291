"""An output folder in tests: what a render leaves there, how to run one, and disks that fail."""

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from berth.findings import ERROR, Finding, FindingsError
from berth.output.folder import header
from berth.output.stage import DISK, Difference, Disk, FolderComparison, Stage, WriteResult

First = TypeVar("First")
Second = TypeVar("Second")
Answer = TypeVar("Answer")

HEADER = header("uni")
NO_HEADER = "A file that does not begin with `# Rendered by berth`"
BASE, A, B = (
    "clusters/prod/base.yaml",
    "clusters/prod/reservations/a.yaml",
    "clusters/prod/reservations/b.yaml",
)
OLD = {BASE: HEADER + "base: 1\n", A: HEADER + "a: 1\n", B: HEADER + "b: 1\n"}
NEW = {path: text.replace("1", "2") for path, text in OLD.items()}
AGAIN = "Check its permissions and the free space of the disk, then run again."


def render(folder: Path, files: dict[str, str], disk: Disk = DISK) -> WriteResult:
    with Stage(str(folder), "rendered", disk) as stage:
        for path, text in files.items():
            stage.put(path, text)
        return stage.finish()


def check(folder: Path, files: dict[str, str]) -> list[Difference]:
    compared = FolderComparison(str(folder), "rendered")
    for path, text in files.items():
        compared.put(path, text)
    return compared.finish()


def refused(act: Callable[[], object]) -> tuple[Finding, ...]:
    with pytest.raises(FindingsError) as caught:
        act()
    return caught.value.findings


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def content(folder: Path) -> dict[str, str]:
    """Every file by relative path, hidden ones too; folders end in a slash."""
    return {
        str(path.relative_to(folder)) + "/" * path.is_dir(): path.read_text("utf-8") if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


def files_in(folder: Path) -> dict[str, str]:
    return {path: text for path, text in content(folder).items() if not path.endswith("/")}


def foreign(path: str, what: str = NO_HEADER, owner: str | None = None) -> Finding:
    """Expect that a file is refused. `owner`: the folder of Berth that it is in."""
    folder = path.partition("/")[0] if owner is None else owner
    message = f"{what} was not written by Berth, which owns {folder}/."
    fix = "Move it away or delete it."
    return Finding(f"rendered/{path}", 1, 1, "B090", ERROR, "", message, fix)


def in_the_way(path: str, what: str, wanted: str) -> Finding:
    message = f"{what} is where {wanted} must be written."
    return Finding(f"rendered/{path}", 1, 1, "B090", ERROR, "", message, "Move it away or delete it.")


def unusable(path: str, message: str, fix: str) -> Finding:
    return Finding(path, 1, 1, "B092", ERROR, "", f"It cannot be read or written: {message}.", fix)


def failing(
    call: Callable[[First, Second], Answer], survives: int, fault: Callable[[], None] | None = None
) -> Callable[[First, Second], Answer]:
    """The call, until it has worked `survives` times; then the fault, or a full disk."""
    done: list[int] = []

    def wrapped(first: First, second: Second) -> Answer:
        if len(done) == survives:
            if fault is not None:
                fault()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done.append(1)
        return call(first, second)

    return wrapped


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def out_of_reach(folder: Path) -> str:
    """The relative path of a new file that can be listed but not opened, not even by root: it is too long."""
    longest = os.pathconf("/", "PC_PATH_MAX")
    path = "clusters"
    while len(f"{folder}/{path}") < longest - 111:
        path += "/" + "d" * 99
    (folder / path).mkdir(parents=True)
    parent = os.open(folder / path, os.O_RDONLY)
    name = "f" * 200 + ".yaml"
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=parent))
    os.close(parent)
    return f"{path}/{name}"
