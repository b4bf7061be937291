"""Read the reservations and rendered files of a commit or a folder, as one side of a comparison."""

import os
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from errno import ENOENT
from hashlib import sha1, sha256
from pathlib import Path

from berth.findings import Problem
from berth.git import Git, top_of
from berth.output.folder import MARK, OWNED, Entries, empty_folders, entries_of, no_entries
from berth.reading.source import (
    RESERVATIONS,
    Source,
    attributes,
    is_attributes,
    is_input,
    is_overlooked,
    link,
    overlooked,
    read,
    read_within,
    submodule,
    usable,
)


class CommitFiles:
    """The files of a commit. Contents are fetched only where they are needed."""

    def __init__(self, git: Git, commit: str, output: str) -> None:
        """`output` is the path of the output folder."""
        self._git, self._commit = git, commit
        folders = [RESERVATIONS, *(f"{output}/{name}" for name in OWNED)]
        blobs = git.blobs(commit, folders)
        self._inputs = {path: blob for path, blob in blobs.items() if path.startswith(f"{RESERVATIONS}/")}
        self._problems = [attributes(path) for path in sorted(self._inputs) if _is_read_attributes(path)]
        # Hidden links are not read, as in a folder.
        for path, kind in sorted(git.specials(commit, RESERVATIONS).items()):
            if kind == "submodule":
                self._problems.append(submodule(path))
            elif _is_read_attributes(path):
                self._problems.append(attributes(path))
            elif not path.startswith(f"{RESERVATIONS}/") or "/." not in path:
                self._problems.append(link(path))
            elif is_overlooked(path):
                self._problems.append(overlooked(path))
        self._rendered = {
            path.removeprefix(f"{output}/"): blob
            for path, blob in blobs.items()
            if path.startswith(f"{output}/")
        }

    def inputs(self) -> tuple[list[Source], list[Problem]]:
        """Return the files to read, and why others cannot be read: the same as those of a folder."""
        wanted = {path: blob for path, blob in sorted(self._inputs.items()) if is_input(path)}
        contents = self._git.contents(wanted.values())
        found = [usable(Source(path, contents[blob])) for path, blob in wanted.items()]
        problems = [overlooked(path) for path in sorted(self._inputs) if is_overlooked(path)]
        problems += [one for one in found if isinstance(one, Problem)]
        return [one for one in found if isinstance(one, Source)], [*self._problems, *problems]

    def other_file(self, path: str) -> Source:
        """Return a file in the project. Raise OSError if there is none."""
        blob = self._git.file(self._commit, path)
        if blob is None:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)
        return Source(path, self._git.contents([blob])[blob])

    def attributes(self) -> dict[str, Sequence[bytes]]:
        """Return the lines of git's attributes above both folders, by path; none where there is no file."""
        blobs = {path: self._git.file(self._commit, path) for path in _attributes_paths(self._git.depth)}
        contents = self._git.contents(filter(None, blobs.values()))
        return {path: contents[blob].splitlines() if blob else () for path, blob in blobs.items()}

    def paths(self) -> Sequence[str]:
        return [*self._rendered]

    def has(self, path: str, text: str) -> bool:
        """Tell whether the file has exactly this text."""
        blob, data = self._rendered.get(path, ""), text.encode()
        digest = sha256 if len(blob) == 64 else sha1  # by the format of the repository
        return blob == digest(b"blob %d\0" % len(data) + data).hexdigest()

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the texts of those files that exist, by path."""
        blobs = {path: self._rendered[path] for path in paths if path in self._rendered}
        contents = self._git.contents(blobs.values()) if blobs else {}
        return {path: contents[blob].decode(errors="replace") for path, blob in blobs.items()}


class FolderFiles:
    """The files of a project in a folder."""

    def __init__(self, folder: str, output: str) -> None:
        """`output` is the path of the output folder in `folder`."""
        self._folder = folder
        self._output = Path(folder, output)

    def inputs(self) -> tuple[list[Source], list[Problem]]:
        return read(f"{self._folder}/{RESERVATIONS}", RESERVATIONS)

    def other_file(self, path: str) -> Source:
        """Return a file in the project. Raise OSError if there is none."""
        return read_within(self._folder, path)

    def attributes(self) -> dict[str, Sequence[bytes]]:
        found = dict[str, Sequence[bytes]]()
        for path in _attributes_paths(top_of(Path(self._folder))[1].count("/")):
            file, found[path] = Path(self._folder, path), ()
            with suppress(OSError):
                found[path] = () if file.is_symlink() else file.read_bytes().splitlines()  # git follows none
        return found

    def paths(self) -> Sequence[str]:
        """Return all files that may be of Berth: engines apply also hidden ones."""
        return [*self._entries().files]

    def empty_folders(self, expected: Iterable[str]) -> list[str]:
        """Return folders that hold nothing, also none of the expected files: each may be a submodule."""
        return [f"{path}/" for path in empty_folders(self._entries(), expected)]

    def foreign(self, ours: Container[str]) -> list[str]:
        """Return the paths of what Berth did not write; an empty path is the output folder itself.

        `ours`: files that are as they should be.
        """
        if self._output.is_symlink() or self._output.is_file():
            return [""]
        entries, foreign = self._entries(), list[str]()
        for path in entries.files:
            if path in ours:
                continue
            with (self._output / path).open("rb") as content:
                foreign += [] if content.read(len(MARK)) == MARK.encode() else [path]
        return [*entries.others, *foreign]

    def _entries(self) -> Entries:
        return no_entries() if self._output.is_file() else entries_of(str(self._output))

    def has(self, path: str, text: str) -> bool:
        return self._text(path) == text

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        found = {path: self._text(path) for path in paths}
        return {path: text for path, text in found.items() if text is not None}

    def _text(self, path: str) -> str | None:
        file = self._output / path
        try:
            return file.read_bytes().decode(errors="replace") if file.is_file() else None
        except OSError:
            return None


def _attributes_paths(depth: int) -> list[str]:
    """Return where git's attributes of all files of a project are, up to the top of its repository."""
    return ["../" * level + ".gitattributes" for level in range(depth + 1)]


def _is_read_attributes(path: str) -> bool:
    """Tell whether a path is one of git's attributes in a folder that is read: in no hidden one."""
    folders = path.split("/")[:-1]
    return is_attributes(path) and not any(folder.startswith(".") for folder in folders)
