"""Read the files of a folder of reservations. No other module reads input from the disk.

No link is followed, a pipe never blocks, and the size of a file is limited.
"""

import errno
import os
import re
import unicodedata
from typing import NamedTuple

from berth.findings import Origin, Problem
from berth.reading.text import visible

LIMIT = 1024 * 1024
"""The most bytes in one file: about 2,000 reservations."""

RESERVATIONS = "reservations"
"""The folder of the project that holds the declarations."""

OUTPUT = "rendered"
"""The folder of the project that Berth writes to."""

SCHEMA = ".schema.json"
"""The JSON Schema beside the declarations. It is hidden, because it is not one of them."""

_SUFFIXES = (".yaml", ".yml", ".json")
# In a name: it is of a declaration, or was once. `.yamllint` configures yamllint.
_DECLARATION = re.compile(r"\.ya?ml(?!lint)|\.json(?![a-z])", re.IGNORECASE)
_OPEN_IN_EDITOR = re.compile(r"\.#|\..*\.sw[a-p]$")  # as long as Emacs or Vim has the file open
_CHUNK = 64 * 1024  # larger buffers are mapped and unmapped at each read, which costs more than the read
# A file may have been replaced by a pipe. Not every system has each flag.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_BINARY"))


class Source(NamedTuple):
    """The path of a file in the project, with `/`, and its bytes."""

    file: str
    text: bytes


def is_input(path: str) -> bool:
    """Tell whether a file of this path would be read: not hidden, nor in a hidden folder."""
    return path.lower().endswith(_SUFFIXES) and not any(part.startswith(".") for part in path.split("/"))


def is_overlooked(path: str) -> bool:
    """Tell whether a file of this path looks like a declaration, but is not read."""
    *folders, name = path.split("/")
    is_of_tool = name == SCHEMA or ".git" in folders or _OPEN_IN_EDITOR.match(name)
    return not is_input(path) and not is_of_tool and _DECLARATION.search(name) is not None


def is_attributes(path: str) -> bool:
    """Tell whether a file of this path changes what git checks out beside it."""
    return path.lower().rpartition("/")[2] == ".gitattributes"


def read(folder: str, shown_as: str) -> tuple[list[Source], list[Problem]]:
    """Read all YAML and JSON files in the folder, at any depth, by path, except hidden ones.

    `shown_as` is the path of the folder in findings; `.` is the root of the project.
    """
    walk = _Walk()
    walk.through(folder, "" if shown_as == "." else f"{shown_as}/")
    sources, problems = [], walk.problems
    for shown, path in walk.files:
        try:
            source = usable(Source(shown, _bytes(path)))
        except OSError as error:
            source = unreadable(shown, error)
        if isinstance(source, Source):
            sources.append(source)
        else:
            problems.append(source)
    if not sources and not problems:
        fix = 'Add a file such as "site.yaml", or run "berth init", which writes a first one.'
        problems.append(Origin(shown_as).problem("B008", (), "the folder has no YAML or JSON file.", fix))
    problems += [overlooked(path) for path in walk.others if is_overlooked(path)]
    sources.sort()
    return sources, problems


def usable(source: Source) -> Source | Problem:
    """Return a file that may be read, or why not: its name or its size."""
    if not source.file.isprintable():
        return _unusable(source.file, "its name has invisible characters.", "Rename it.")
    return _too_large(source.file) if len(source.text) > LIMIT else source


def twins_of(folder: str) -> list[str]:
    """Return the names beside a folder that some file systems take for its own: other letters, same name."""
    above, own = os.path.split(os.path.abspath(folder))  # noqa: PTH100 - importing pathlib is slow
    try:
        names = sorted(os.listdir(above))  # noqa: PTH208
    except OSError:
        return []
    return [name for name in names if name != own and _folded(name) == _folded(own)]


def twin(shown: str, own: str) -> Problem:
    """Return the problem of a file or folder beside another one of the same name in other letters."""
    message = f"some file systems take it for {own}, and what is in it for files of {own}."
    return _unusable(shown, message, "Move it away or delete it.")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def read_within(project: str, file: str) -> Source:
    """Read a file that a document names.

    Raise OSError if that fails, the file is not in the repository of the project, or a link leads to it.
    Where there is no repository, it must be in the project.
    """
    here = os.path.realpath(project)
    top = repository_of(here) or here
    path = os.path.normpath(f"{here}/{file}")
    within = path.removeprefix(f"{top.rstrip('/')}/")
    if within == path or ".git" in within.split("/"):
        raise OSError(errno.EACCES, "it leads out of the repository")
    if link_on_path(within, top) is not None:
        raise OSError(errno.ELOOP, "a symbolic link leads to it")
    text = _bytes(path)
    if len(text) > LIMIT:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return Source(file, text)


def repository_of(folder: str) -> str | None:
    """Return the top of the repository around a folder, or None if there is none."""
    top = os.path.realpath(folder)
    while not os.path.exists(f"{top}/.git"):  # noqa: PTH110 - importing pathlib is slow
        if os.path.dirname(top) == top:  # noqa: PTH120
            return None
        top = os.path.dirname(top)  # noqa: PTH120
    return top


def link_on_path(path: str, start: str = ".") -> str | None:
    """Return the first part of a path that is a symbolic link in a repository, or None.

    Outside of a repository, nobody else decides where links lead.
    """
    at = "/" if path.startswith("/") else start
    for name in filter(None, path.split("/")):
        above, at = at, os.path.join(at, name)  # noqa: PTH118
        if os.path.islink(at) and repository_of(above) is not None:  # noqa: PTH114
            return at
    return None


class _Walk:
    """All files below a folder."""

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []  # as shown, and the path
        self.others: list[str] = []  # files that are not read, as shown
        self.problems: list[Problem] = []
        self._folders: list[tuple[str, str]] = []  # as shown with a `/` at the end, and the path

    def through(self, folder: str, shown: str) -> None:
        if os.path.islink(folder):  # noqa: PTH114 - importing pathlib is slow
            self.problems.append(link(shown[:-1] or "."))
            return
        self.problems += [twin(name, shown[:-1]) for name in twins_of(folder) if shown]
        try:
            self._enter(folder, shown)
        except OSError as error:
            self.problems.append(_no_folder(shown[:-1] or ".", error))
        while self._folders:
            shown, path = self._folders.pop()
            try:
                self._enter(path, shown)
            except OSError as error:
                self.problems.append(unreadable(shown[:-1], error))

    def _enter(self, path: str, shown: str) -> None:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_attributes(entry.name):
                    self.problems.append(attributes(shown + entry.name))
                elif entry.name == ".git":
                    if repository_of(os.path.dirname(path)) is not None:  # noqa: PTH120
                        self.problems.append(submodule(shown[:-1] or "."))
                elif entry.name.startswith("."):
                    self._pass_over(entry, shown + entry.name)
                else:
                    self._take(entry, shown + entry.name)

    def _pass_over(self, entry: "os.DirEntry[str]", shown: str) -> None:
        """List what is hidden. Links are not followed."""
        if not entry.is_dir(follow_symlinks=False):
            self.others.append(shown)
            return
        for folder, _, names in os.walk(entry.path):
            inner = folder[len(entry.path) :].replace(os.sep, "/")
            self.others += [f"{shown}{inner}/{name}" for name in names]

    def _take(self, entry: "os.DirEntry[str]", shown: str) -> None:
        is_data = entry.name.lower().endswith(_SUFFIXES)
        if entry.is_symlink():
            self.problems.append(link(shown))
        elif entry.is_file():
            if is_data:
                self.files.append((shown, entry.path))
            else:
                self.others.append(shown)
        elif is_data:
            self.problems.append(_not_a_file(shown, "folder" if entry.is_dir() else "pipe, socket or device"))
        elif entry.is_dir():
            self._folders.append((shown + "/", entry.path))


def _bytes(path: str) -> bytes:
    """Read the file's bytes, or a little more than the limit."""
    descriptor = os.open(path, _FLAGS)
    try:
        chunk = text = os.read(descriptor, _CHUNK)
        while len(chunk) == _CHUNK and len(text) <= LIMIT:
            chunk = os.read(descriptor, _CHUNK)
            text += chunk
    finally:
        os.close(descriptor)
    return text


def _no_folder(shown: str, error: OSError) -> Problem:
    fix = 'Run the command in the project\'s folder, name it with "-C DIR", or create one with "berth init".'
    return Origin(shown).problem("B001", (), f"the folder cannot be read: {error.strerror}.", fix)


def _unusable(shown: str, message: str, fix: str, code: str = "B001") -> Problem:
    name = os.fsencode(shown).decode(errors="backslashreplace")
    return Origin(visible(name, len(name))).problem(code, (), message, fix)


def link(shown: str) -> Problem:
    """Return the problem of a symbolic link: a review of it shows nothing that is behind it."""
    return _unusable(shown, "it is a symbolic link.", "Replace it with what it leads to.")


def submodule(shown: str) -> Problem:
    """Return the problem of a folder whose files git stores in another repository."""
    return _unusable(shown, "it is a submodule.", "Replace it with the files that it contains.")


def attributes(shown: str) -> Problem:
    """Return the problem of a file by which git may check out other text than it stores."""
    fix = "Move its lines to the .gitattributes at the top of the repository."
    return _unusable(shown, "it may change what git checks out here.", fix)


def overlooked(shown: str) -> Problem:
    """Return the problem of a file that looks like a declaration, but is not read."""
    hidden = next((part for part in shown.split("/") if part.startswith(".")), "")
    message = f'"{visible(hidden)}" is hidden' if hidden else f"its name does not end in {_SUFFIXES[0]}"
    fix = "Rename it if it is a declaration, or move it out of reservations/."
    return _unusable(shown, f"the file is not read: {message}.", fix, "B007")


def unreadable(shown: str, error: OSError) -> Problem:
    """Return the problem of a file or folder that cannot be read."""
    message = f"it cannot be read: {error.strerror}."
    fixes = {errno.ENOENT: "Check the path.", errno.EFBIG: "Split it into several files."}
    fix = fixes.get(error.errno or 0, "Check its permissions, or remove it.")
    return _unusable(shown, message, fix)


def _not_a_file(shown: str, what: str) -> Problem:
    return _unusable(shown, f"it is a {what}, but has the name of a file.", "Rename or remove it.")


def _too_large(shown: str) -> Problem:
    message = f"the file is larger than {LIMIT // 1024} KiB."
    return Origin(shown).problem(
        "B006", (), message, "Split it into several files, for example one for each course."
    )
