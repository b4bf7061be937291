"""The cgroups that hold the kubelet's pods: made before it starts, removed when all in them is dead."""

import contextlib
import os
import signal
import time
from pathlib import Path

from tests.e2e.errors import E2EError

NAME = "berth-e2e"
# All pods together count as four tasks of the machine, and not as one: they run where tests compute, too.
WEIGHTS = {"cpu.shares": "4096", "cpu.weight": "400"}  # of versions 1 and 2
UNIFIED = Path("/sys/fs/cgroup")


def create(path: str = NAME) -> None:
    """NAME, or one below it."""
    for hierarchy in _hierarchies():
        try:
            (hierarchy / path).mkdir(exist_ok=True)
        except OSError as error:
            raise E2EError(f"cannot make a cgroup in {hierarchy}: {error.strerror}; run as root") from error
        for name, weight in WEIGHTS.items() if path == NAME else ():
            if (hierarchy / path / name).is_file():
                (hierarchy / path / name).write_text(weight)
    parent = (UNIFIED / path).parent
    if (parent / "cgroup.controllers").is_file():
        # The kubelet refuses a cgroup that lacks a controller the root has.
        for name in (parent / "cgroup.controllers").read_text().split():
            with contextlib.suppress(OSError):  # of one that cannot be delegated, the kubelet tells
                (parent / "cgroup.subtree_control").write_text(f"+{name}")


def kill(path: str) -> None:
    """End every process in the cgroup and below it."""
    for hierarchy in _hierarchies():
        for pid in _below(hierarchy / path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes(container: str) -> list[int]:
    """Of a container, by its id as containerd says it; numbers as this machine sees them."""
    for hierarchy in _hierarchies():
        if found := _below(hierarchy / NAME, container):
            return found
    return []


def _below(top: Path, part: str = "") -> list[int]:
    """Of the cgroups whose name has that part; others come and go meanwhile."""
    found = []
    for folder, _, _ in os.walk(top):
        if part in Path(folder).name:
            with contextlib.suppress(OSError):
                found += [int(pid) for pid in (Path(folder) / "cgroup.procs").read_text().split()]
    return found


def remove(timeout: float = 10) -> None:
    deadline = time.monotonic() + timeout
    while left := [path for path in map(_remove_tree, _hierarchies()) if path is not None]:
        if time.monotonic() >= deadline:
            raise E2EError(f"cgroup {left[0]} is still busy: end the processes listed in its cgroup.procs")
        time.sleep(0.05)


def _remove_tree(hierarchy: Path) -> Path | None:
    """The first cgroup that could not be removed yet."""
    for folder, _, _ in os.walk(hierarchy / NAME, topdown=False):
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return Path(folder)
    return None


def _hierarchies() -> list[Path]:
    """Every mounted cgroup hierarchy: several for version 1, one for version 2."""
    found = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount_point, kind, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            found.append(Path(mount_point))
    return found
