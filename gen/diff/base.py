"""The base of a comparison: a commit, or a folder. Its reservations as sources, and its rendered files."""

from collections.abc import Sequence
from hashlib import sha1, sha256
from pathlib import Path

from gen.git import Git
from gen.input.source import Source, is_input, read
from gen.output.folder import OWNED

RESERVATIONS = "reservations"


class Commit:
    """`gen.diff.sides.Rendered` of a commit. Only what differs is fetched."""

    def __init__(self, git: Git, commit: str, output: str) -> None:
        """`output` is the output folder."""
        self._git = git
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

    def paths(self) -> Sequence[str]:
        return [path for path in self._rendered if not _is_hidden(path)]

    def has(self, path: str, text: str) -> bool:
        blob = self._rendered.get(path)
        return blob is not None and blob == _blob(text.encode(), len(blob))

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        blobs = {path: self._rendered[path] for path in paths if path in self._rendered}
        contents = self._git.contents(blobs.values()) if blobs else {}
        return {path: contents[blob].decode(errors="replace") for path, blob in blobs.items()}


class Folder:
    """`gen.diff.sides.Rendered` of a folder like ours."""

    def __init__(self, folder: str, output: str) -> None:
        self._folder = folder
        self._output = Path(folder, output)

    def sources(self) -> list[Source]:
        return read(f"{self._folder}/{RESERVATIONS}", RESERVATIONS)[0]

    def paths(self) -> Sequence[str]:
        files = (file for name in OWNED for file in (self._output / name).rglob("*") if file.is_file())
        paths = [file.relative_to(self._output).as_posix() for file in files]
        return [path for path in paths if not _is_hidden(path)]

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


def _blob(data: bytes, length: int) -> str:
    """The id that git gives to these bytes; its length tells by which hash."""
    head = b"blob %d\0" % len(data)
    return (sha256 if length == 64 else sha1)(head + data).hexdigest()  # git's own, not for secrecy


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))
