"""Find the files that Berth has written to an output folder, and compare them with what should be there.

Every file that Berth renders begins with a header line. Each file is compared as soon as it is rendered, so
only one is in memory. Nothing is written, links are not followed, and OSErrors pass through.

Engines and kubectl apply hidden files and files that git ignores, too, so those are not left out.
"""

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from berth.findings import FilePlace, Finding, FindingsError
from berth.reading.source import twins_of

MARK = "# Rendered by berth"
OWNED = ("clusters", "gitops")
"""The folders that Berth writes to. An output folder has nothing beside them but a README.md of people."""
_README = "README.md"

AGAIN = "Check its permissions and the free space of the disk, then run again."

_is_label = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?").fullmatch
_is_path = re.compile(rf"(?:{'|'.join(OWNED)})(?:/[a-z0-9][a-z0-9.-]*)+").fullmatch
_is_temporary = re.compile(r"\.berth-[0-9a-f]{8}-.+\.tmp").fullmatch

SAME, DIFFERS, MISSING, BLOCKED = "same", "differs", "missing", "blocked"

_MARK = MARK.encode()
_NO_HEADER = f"A file that does not begin with `{MARK}`"
_NOT_A_FILE = "Something that is neither a file nor a folder"
LINK = "A symbolic link"
# Do not follow links, and do not wait for a pipe. Not every system has each flag.
_READ = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_CHUNK = 64 * 1024  # larger buffers are mapped and unmapped at each read


def header(site: str) -> str:
    """Return the first line of every file: the mark, and what to edit instead."""
    if not _is_label(site):
        raise ValueError(f"{site!r} is not a DNS label")
    return f"{MARK} for site {site} from reservations/. Edit those files and run: berth render\n"


def is_rendered(path: str, text: str) -> bool:
    """Tell whether a path in the output folder is in an owned folder and the text has the header."""
    return text.startswith(MARK) and _is_path(path) is not None


def temporary_name(token: str, name: str) -> str:
    """Return a hidden name that no engine applies if a crash leaves the file. `token`: 8 hex digits."""
    return f".berth-{token}-{name}.tmp"


def is_temporary(name: str) -> bool:
    return _is_temporary(name) is not None


def finding(code: str, shown: str, path: str, message: str, fix: str) -> Finding:
    """Make a finding about a `path` in the output folder `shown`; an empty path is the folder itself."""
    printable = os.fsencode(path).decode("utf-8", "backslashreplace")
    file = f"{shown.rstrip('/')}/{printable}" if path else shown
    return FilePlace(file).finding(code, message, fix)


def refusal(shown: str, path: str, error: OSError, fix: str) -> FindingsError:
    """Report what the operating system refused as a finding."""
    is_named = bool(error.filename) and not (path or is_temporary(str(error.filename).rpartition("/")[2]))
    where = f" ({error.filename})" if is_named else ""
    message = f"It cannot be read or written: {error.strerror or error}{where}."
    return FindingsError([finding("B092", shown, path, message, fix)])


class Entries(NamedTuple):
    """What is in the output folder, by path relative to it."""

    files: set[str]
    folders: set[str]
    others: dict[str, str]  # links, pipes, what is beside the owned folders, ... and what to call them
    leftovers: list[str]  # temporary files of runs that go on or were killed; nothing applies them


class OwnedTree:
    """An output folder as it was when the run began, and what the run expects there."""

    def __init__(self, folder: str, shown: str) -> None:
        """`shown` is what findings call the folder. It need not exist."""
        self.problems: list[Finding] = []
        self._folder, self._shown = folder, shown
        self._expected: set[str] = set()
        self._reported: set[str] = set()
        self._is_link = os.path.islink(folder)  # noqa: PTH114 - importing pathlib is slow
        if self._is_link:
            message = f"{LINK} is in the place of the output folder."
            self.problems.append(finding("B090", shown, "", message, "Replace it with a folder."))
        for name in twins_of(folder):
            message = f"some file systems take {name} for this folder, and what is in it for rendered files."
            self.problems.append(finding("B090", shown, "", message, "Move it away or delete it."))
        self._entries = no_entries() if self._is_link else entries_of(folder)
        self.leftovers = self._entries.leftovers

    def compare(self, path: str, text: str, data: bytes) -> str:
        """Return SAME, DIFFERS or MISSING, or BLOCKED after adding a problem. `data` is the text's bytes."""
        if not is_rendered(path, text) or path in self._expected:
            raise ValueError(f"{path!r} is outside of the owned folders, has no header or is rendered twice")
        self._expected.add(path)
        if self._is_link:
            return BLOCKED
        if path not in self._entries.files:
            return self._without_file(path)
        present = _read(f"{self._folder}/{path}", len(data) + 1)
        if present == data:
            return SAME
        if present is None:
            return MISSING
        return DIFFERS if present.startswith(_MARK) else self._blocked(path, _NO_HEADER, path)

    def stale(self) -> list[str]:
        """Return unexpected rendered files, sorted. All other files and links are problems."""
        rendered, foreign = [], []
        for path in sorted(self._entries.files - self._expected):
            head = _read(f"{self._folder}/{path}", len(_MARK))
            if head == _MARK:
                rendered.append(path)
            elif head is not None:
                foreign.append(path)
        foreign = sorted({*foreign, *self._entries.others} - self._reported)
        self.problems += [self._foreign(path) for path in foreign]
        return rendered

    def empty_folders(self) -> list[str]:
        """Return folders that hold nothing and need not be there, sorted.

        Git has no empty folders: in a fresh clone, one is a submodule, which an engine may fill with files.
        """
        return empty_folders(self._entries, self._expected)

    def _without_file(self, path: str) -> str:
        """Return MISSING, or BLOCKED by a folder of this name or by a parent that is not a folder."""
        if path in self._entries.folders:
            return self._blocked(path, "A folder", path)
        above = path
        while above and above not in self._entries.folders:
            if above in self._entries.others:
                return self._blocked(above, self._entries.others[above], path)
            if above in self._entries.files:
                return self._blocked(above, "A file", path)
            above = above.rpartition("/")[0]
        return MISSING

    def _blocked(self, found: str, what: str, path: str) -> str:
        if found not in self._reported:
            self._reported.add(found)
            message = f"{what} is where {path} must be written."
            self.problems.append(finding("B090", self._shown, found, message, "Move it away or delete it."))
        return BLOCKED

    def _foreign(self, path: str) -> Finding:
        what, top = self._entries.others.get(path, _NO_HEADER), path.partition("/")[0]
        reason = f", which owns {top if top in OWNED else self._shown.rstrip('/')}/"
        message = f"{what} was not written by Berth{reason}."
        return finding("B090", self._shown, path, message, "Move it away or delete it.")


def folders_above(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path


def empty_folders(entries: Entries, expected: Iterable[str]) -> list[str]:
    """Return folders that hold nothing, also none of the expected files, sorted."""
    held = {*entries.files, *entries.others, *entries.leftovers, *expected}
    used = {above for path in held for above in folders_above(path)}
    return sorted(entries.folders - used - {*OWNED})


def no_entries() -> Entries:
    return Entries(set(), set(), {}, [])


def entries_of(folder: str) -> Entries:
    """Return everything in an output folder. What is beside the owned folders is not entered."""
    entries = no_entries()
    waiting = []
    try:
        with os.scandir(folder) as top:
            for entry in top:
                if entry.name in OWNED:
                    waiting.append((entry.name, entry))
                elif (what := _beside(entry)) is not None:
                    entries.others[entry.name] = what
    except FileNotFoundError:
        return entries
    while waiting:
        path, entry = waiting.pop()
        if entry.is_symlink():
            entries.others[path] = LINK
        elif entry.is_dir():
            entries.folders.add(path)
            with os.scandir(entry.path) as inner:
                waiting += [(f"{path}/{below.name}", below) for below in inner]
        elif not entry.is_file():
            entries.others[path] = _NOT_A_FILE
        elif is_temporary(entry.name):
            entries.leftovers.append(path)
        else:
            entries.files.add(path)
    return entries


def _beside(entry: "os.DirEntry[str]") -> str | None:
    """Return what to call something beside the owned folders that must not be there; None if it may."""
    if entry.is_symlink():
        return LINK
    if entry.is_dir():
        return "A folder"
    if not entry.is_file():
        return _NOT_A_FILE
    return None if entry.name == _README else "A file"


def _read(path: str, size: int) -> bytes | None:
    """Read the first `size` bytes at most; None if the file is gone."""
    try:
        file = os.open(path, _READ)
    except FileNotFoundError:
        return None
    try:
        data = os.read(file, min(size, _CHUNK))
        while len(data) < size and (more := os.read(file, min(size - len(data), _CHUNK))):
            data += more
        return data
    finally:
        os.close(file)
