"""One cluster at a time on a machine: bridge addresses and cgroups have fixed names."""

import fcntl
import os
from pathlib import Path
from typing import TextIO

from tests.e2e.errors import E2EError

LOCK = Path("/run/berth-e2e.lock")


class MachineLock:
    """The kernel frees it when its holder dies, however that happens."""

    def __init__(self, path: Path = LOCK) -> None:
        self.path = path
        self._handle: TextIO | None = None

    @property
    def held(self) -> bool:
        """By us."""
        return self._handle is not None

    def acquire(self) -> None:
        while True:
            handle = self.path.open("a+")
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.close()
                raise E2EError(
                    f"process {self.holder() or 'unknown'} runs a cluster on this machine already:"
                    " wait for it, or end it with `python -m tests.e2e down`"
                ) from None
            if self._is_current(handle):
                break
            handle.close()  # its last holder removed the file between open and flock
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        self._handle = handle

    def release(self) -> None:
        if self._handle is None:
            return
        self.path.unlink(missing_ok=True)
        self._handle.close()
        self._handle = None

    def holder(self) -> int | None:
        """The process that holds the lock now."""
        try:
            with self.path.open() as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    text = handle.read().strip()
                    return int(text) if text.isdigit() else None
        except FileNotFoundError:
            pass
        return None

    def _is_current(self, handle: TextIO) -> bool:
        try:
            return os.fstat(handle.fileno()).st_ino == self.path.stat().st_ino
        except FileNotFoundError:
            return False
