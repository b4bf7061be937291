"""Write the rendered files into the output folder, all of them or none, or compare them with it.

Every file that differs is first written next to its target, with a hidden name. When all are written and no
files of others are in the way, they are renamed into place and stale ones are removed. After a crash of the
process or with a full disk, each file is old or new, never partial; the next run removes leftovers. Nothing
is synced to the disk: a crash of the machine may lose the last files.
"""
# Importing pathlib takes longer than writing the files.
# ruff: noqa: PTH100, PTH101, PTH102, PTH106, PTH108, PTH112, PTH114, PTH120

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, Self

from berth.findings import FindingsError
from berth.output.folder import (
    AGAIN,
    BLOCKED,
    SAME,
    OwnedTree,
    finding,
    folders_above,
    refusal,
    temporary_name,
)

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows: two runs at once are not refused there
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CREATE |= sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_BINARY"))  # not every system has each
_READABLE = "Check its permissions, then run again."
_ALL_OLD, _OLD_OR_NEW = f"{AGAIN} Nothing has changed.", f"{AGAIN} Every file is complete, old or new."


class WriteResult(NamedTuple):
    """What a run has changed."""

    written: list[str]  # relative paths, sorted, like `removed`
    removed: list[str]
    unchanged: int


class Difference(NamedTuple):
    """A file that is not as it should be."""

    path: str  # relative to the output folder
    kind: str  # missing | differs | stale


class Disk(NamedTuple):
    """The system calls whose failure matters most. A test can let any of them fail."""

    write: Callable[[int, memoryview], int]
    replace: Callable[[str, str], None]
    lock: Callable[[int], None]


def _lock(file: int) -> None:
    """Lock an open file or folder for this process; `BlockingIOError` if another one has locked it."""
    flock(file, LOCK_EX | LOCK_NB)


DISK = Disk(os.write, os.replace, _lock)


def link_on_way(folder: str, path: str) -> str | None:
    """Return the first symbolic link among the parts of a path below a folder; None if there is none.

    Of a path that is elsewhere, only the last part counts.
    """
    top, part = os.path.abspath(folder), os.path.abspath(path)
    ways = [part]
    while os.path.dirname(part).startswith(f"{top.rstrip(os.sep)}{os.sep}"):
        part = os.path.dirname(part)
        ways.append(part)
    link = next((way for way in reversed(ways) if os.path.islink(way)), None)
    return link and os.path.relpath(link)


class PendingFiles:
    """Files that are written next to their targets, with hidden names, and renamed into place together.

    Leaving the context removes those that are not in place, and folders that were made for them. Paths are
    relative to `folder`. Only OSErrors are raised.
    """

    def __init__(self, folder: str, disk: Disk = DISK, mode: int = 0o666) -> None:
        self.paths: list[str] = []  # what is not in place yet
        self._folder, self._disk, self._mode = folder, disk, mode
        self._token = os.urandom(4).hex()
        self._made: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def write(self, path: str, data: bytes, permissions: int | None = None) -> None:
        """Write the temporary file. `permissions` are set regardless of the umask."""
        self.make_folder(os.path.dirname(path))
        self.paths.append(path)  # before it exists: an interrupt may come right after
        file = os.open(self._temporary(path), _CREATE, self._mode)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._disk.write(file, rest) :]
        finally:
            os.close(file)
        if permissions is not None:
            os.chmod(self._temporary(path), permissions)

    def replace_last(self) -> str:
        """Put the last file in place and return its path."""
        path = self.paths[-1]
        self._disk.replace(self._temporary(path), f"{self._folder}/{path}")
        return self.paths.pop()

    def make_folder(self, path: str = "") -> None:
        """Make a folder below the folder of all files, and all above it."""
        folder = f"{self._folder}/{path}".rstrip("/")
        missing = []
        while folder and not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for new in reversed(missing):
            try:
                os.mkdir(new)
            except FileExistsError:
                if not os.path.isdir(new):  # another run may have created it
                    raise
            else:
                self._made.append(new)

    def discard(self) -> None:
        while self.paths:
            with suppress(OSError):
                os.unlink(self._temporary(self.paths.pop()))
        while self._made:
            with suppress(OSError):  # there is a file in it
                os.rmdir(self._made.pop())

    def _temporary(self, path: str) -> str:
        parent, _, name = path.rpartition("/")
        return f"{self._folder}/{parent}/{temporary_name(self._token, name)}"


def write_files(folder: str, files: Mapping[str, bytes], permissions: int | None = None) -> None:
    """Write files below a folder, by their paths: all of them or none. Only OSErrors are raised."""
    with PendingFiles(folder) as pending:
        for path, data in files.items():
            pending.write(path, data, permissions)
        while pending.paths:
            pending.replace_last()


class Stage:
    """Changes an output folder: `put` every file, then `finish`. Leaving the context earlier discards all.

    A lock prevents a second run in the same folder; it ends with the process. Without support for locks,
    every file is still complete, from one run or the other. Raises FindingsError.
    """

    def __init__(self, folder: str, shown: str, disk: Disk = DISK) -> None:
        """Create `folder` if it is missing. `shown` is its name in findings."""
        self._folder, self._shown, self._disk = folder, shown, disk
        self._pending = PendingFiles(folder, disk, 0o644)
        self._lock: int | None = None
        self._unchanged = 0
        try:
            self._pending.make_folder()
            self._take_lock()
            self._tree = OwnedTree(folder, shown)
            for path in self._tree.leftovers:
                os.unlink(f"{folder}/{path}")
        except OSError as error:
            raise self._fail("", error, _ALL_OLD) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abandon()

    def put(self, path: str, text: str) -> None:
        """Add a file: its path in the folder, and the complete text with the header."""
        data = text.encode()
        try:
            if self._tree.compare(path, text, data) == SAME:
                self._unchanged += 1
            elif not self._tree.problems:  # with a problem, only look for more problems
                self._pending.write(path, data)
        except OSError as error:
            raise self._fail(path, error, _ALL_OLD) from error

    def finish(self) -> WriteResult:
        """Put new and changed files in place, then remove what is stale."""
        path, fix, written = "", _ALL_OLD, list[str]()
        try:
            stale = self._tree.stale()
            if self._tree.problems:
                self.abandon()
                raise FindingsError(self._tree.problems)
            while self._pending.paths:
                path = self._pending.paths[-1]
                written.append(self._pending.replace_last())
                fix = _OLD_OR_NEW
            for path in stale:
                os.unlink(f"{self._folder}/{path}")
                fix = _OLD_OR_NEW
        except OSError as error:
            raise self._fail(path, error, fix) from error
        emptied = {above for stale_path in stale for above in folders_above(stale_path)}
        # A folder comes after what is in it.
        for path in (*sorted(emptied, reverse=True), *reversed(self._tree.empty_folders())):
            with suppress(OSError):  # it is not empty
                os.rmdir(f"{self._folder}/{path}")
        return WriteResult(sorted(written), stale, self._unchanged)

    def abandon(self) -> None:
        """Remove everything that is not in place yet. Does nothing after `finish`."""
        self._pending.discard()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _fail(self, path: str, error: OSError, fix: str) -> FindingsError:
        self.abandon()
        return refusal(self._shown, path, error, fix)

    def _take_lock(self) -> None:
        if not _HAS_LOCKS:
            return
        self._lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._disk.lock(self._lock)
        except BlockingIOError:
            self.abandon()
            message = "Another berth render is writing here."
            busy = finding("B092", self._shown, "", message, "Run again when it is done.")
            raise FindingsError([busy]) from None
        except OSError:
            return  # a file system without locks


class FolderComparison:
    """Compares an output folder: `put` every file, then `finish`. Raises `FindingsError`."""

    def __init__(self, folder: str, shown: str) -> None:
        """`shown` is the name of the folder in findings. It need not exist."""
        self._shown = shown
        self._differences: list[Difference] = []
        try:
            self._tree = OwnedTree(folder, shown)
        except OSError as error:
            raise refusal(shown, "", error, _READABLE) from error

    def put(self, path: str, text: str) -> None:
        """Compare a file: its path in the folder, and its text."""
        try:
            found = self._tree.compare(path, text, text.encode())
        except OSError as error:
            raise refusal(self._shown, path, error, _READABLE) from error
        if found not in (SAME, BLOCKED):
            self._differences.append(Difference(path, found))

    def finish(self) -> list[Difference]:
        """Return the differences by path. Files that Berth did not write are errors here too."""
        try:
            stale = self._tree.stale()
        except OSError as error:
            raise refusal(self._shown, "", error, _READABLE) from error
        if self._tree.problems:
            raise FindingsError(self._tree.problems)
        stale += [f"{path}/" for path in self._tree.empty_folders()]
        return sorted(self._differences + [Difference(path, "stale") for path in stale])
