"""Read the reservations and rendered files of a commit or a folder, as one side of a comparison."""

from collections.abc import Mapping, Sequence
from hashlib import sha1, sha256
from pathlib import Path
from typing import Protocol

from berth.git import Git
from berth.output.folder import OWNED, is_temporary
from berth.reading.source import Source, is_input, read, read_file

RESERVATIONS = "reservations"


class RenderedFiles(Protocol):
    """The committed files in rendered/ of one side."""

    def paths(self) -> Sequence[str]: ...

    def has(self, path: str, text: str) -> bool:
        """Tell whether the file has exactly this text."""

    def texts(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of those files that exist, by path."""


class CommitFiles:
    """The files of a commit. Contents are fetched only where they are needed."""

    def __init__(self, git: Git, commit: str, output: str) -> None:
        """`output` is the path of the output folder."""
        self._git, self._commit = git, commit
        folders = [RESERVATIONS, *(f"{output}/{name}" for name in OWNED)]
        blobs = git.blobs(commit, folders)
        self._inputs = {path: blob for path, blob in blobs.items() if path.startswith(f"{RESERVATIONS}/")}
        self._rendered = {
            path.removeprefix(f"{output}/"): blob
            for path, blob in blobs.items()
            if path.startswith(f"{output}/")
        }

    def sources(self) -> list[Source]:
        wanted = {path: blob for path, blob in sorted(self._inputs.items()) if is_input(path)}
        contents = self._git.contents(wanted.values())
        return [Source(path, contents[blob]) for path, blob in wanted.items()]

    def other_file(self, path: str) -> Source:
        """Return a file in the project. Raise OSError if there is none."""
        return Source(path, self._git.content(self._commit, path))

    def paths(self) -> Sequence[str]:
        return [*self._rendered]

    def has(self, path: str, text: str) -> bool:
        blob = self._rendered.get(path)
        return blob is not None and blob == _blob_id(text.encode(), len(blob))

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        blobs = {path: self._rendered[path] for path in paths if path in self._rendered}
        contents = self._git.contents(blobs.values()) if blobs else {}
        return {path: contents[blob].decode(errors="replace") for path, blob in blobs.items()}


class FolderFiles:
    """The files of a project in a folder."""

    def __init__(self, folder: str, output: str) -> None:
        """`output` is the path of the output folder in `folder`."""
        self._folder = folder
        self._output = Path(folder, output)

    def sources(self) -> list[Source]:
        return read(f"{self._folder}/{RESERVATIONS}", RESERVATIONS)[0]

    def other_file(self, path: str) -> Source:
        """Return a file in the project. Raise OSError if there is none."""
        return read_file(f"{self._folder}/{path}")

    def paths(self) -> Sequence[str]:
        """Return everything in the owned folders but folders: an engine may apply it, whatever its name."""
        return [
            file.relative_to(self._output).as_posix()
            for name in OWNED
            for file in (self._output / name).rglob("*")
            if file.is_symlink() or not (file.is_dir() or is_temporary(file.name))
        ]

    def has(self, path: str, text: str) -> bool:
        return self._text(path) == text

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        found = {path: self._text(path) for path in paths}
        return {path: text for path, text in found.items() if text is not None}

    def _text(self, path: str) -> str | None:
        try:
            return (self._output / path).read_bytes().decode(errors="replace")
        except OSError:
            return None


def _blob_id(data: bytes, length: int) -> str:
    """Return the id that git gives to these bytes. A SHA-256 id has 64 digits, a SHA-1 id 40."""
    return (sha256 if length == 64 else sha1)(b"blob %d\0" % len(data) + data).hexdigest()
