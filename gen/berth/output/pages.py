"""Write the files of a site into a folder, all of them or none, beside files of others.

A file is Berth's if it begins with a mark. Only such files are replaced, or removed when they are no longer
expected.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from berth.findings import Finding, FindingsError
from berth.output.folder import AGAIN, FOREIGN, finding, refusal
from berth.output.stage import link_on_way, write_files

_HEAD = 256  # bytes in which the mark must be


class SiteFiles(NamedTuple):
    """The bytes of each file by path. `feeds` is the folder of which Berth owns all files with a mark."""

    files: Mapping[str, bytes]
    marks: tuple[bytes, ...]
    feeds: str


def write_site(folder: str, site: SiteFiles) -> tuple[int, list[str]]:
    """Write the files; return how many changed, and the paths of those that are removed.

    Raises FindingsError, with nothing written, if a file of others is in the way.
    """
    top = Path(folder)
    try:
        changed = {path: data for path, data in site.files.items() if _content(top / path) != data}
        in_the_way = [
            path
            for path in changed
            if link_on_way(folder, str(top / path)) or not _is_free(top / path, site.marks)
        ]
        if in_the_way:
            raise FindingsError([_in_the_way(folder, path) for path in in_the_way])
        write_files(folder, changed)
        stale = [path for path in _marked(top, site) if path not in site.files]
        for path in stale:
            (top / path).unlink()
    except OSError as error:
        raise refusal(folder, "", error, AGAIN) from error
    return len(changed), stale


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _is_free(path: Path, marks: tuple[bytes, ...]) -> bool:
    if path.is_dir():
        return False
    return not path.exists() or _has_mark(path, marks)


def _has_mark(path: Path, marks: tuple[bytes, ...]) -> bool:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(mark in head for mark in marks)


def _in_the_way(folder: str, path: str) -> Finding:
    message = f"Something that Berth did not write is where {path} must be written."
    return finding(FOREIGN, folder, path, message, "Move it away or delete it, or name another folder.")


def _marked(top: Path, site: SiteFiles) -> list[str]:
    """Return the files in the folder of feeds that Berth wrote, at this run or an earlier one."""
    found = sorted((top / site.feeds).glob("*.ics"))
    return [f"{site.feeds}/{file.name}" for file in found if _has_mark(file, site.marks)]
