"""Write the files of a site into a folder, all of them or none, beside files of others.

A file is Berth's if it begins with a mark. Only such files are replaced, or removed when they are no longer
expected.
"""

from collections.abc import Mapping
from pathlib import Path

from berth.findings import FindingsError
from berth.output.folder import AGAIN, finding, refusal
from berth.output.stage import link_on_way, write_files

_HEAD = 256  # bytes in which the mark must be


def write_site(
    folder: str, files: Mapping[str, bytes], marks: tuple[bytes, ...], feeds: str
) -> tuple[int, list[str]]:
    """Write the bytes of each file by path; return how many changed, and the paths of those that are removed.

    `feeds` is the folder of which Berth owns all files with a mark. Raises FindingsError, with nothing
    written, if a file of others is in the way.
    """
    top = Path(folder)
    try:
        changed = {path: data for path, data in files.items() if not _is_same(top / path, data)}
        problems = [
            finding(
                "B090",
                folder,
                path,
                f"Something that Berth did not write is where {path} must be written.",
                "Move it away or delete it, or name another folder.",
            )
            for path in changed
            if link_on_way(folder, str(top / path))
            or ((top / path).exists() and not _has_mark(top / path, marks))
        ]
        if problems:
            raise FindingsError(problems)
        write_files(folder, changed)
        there = [f"{feeds}/{file.name}" for file in sorted((top / feeds).glob("*.ics"))]
        stale = [path for path in there if path not in files and _has_mark(top / path, marks)]
        for path in stale:
            (top / path).unlink()
    except OSError as error:
        raise refusal(folder, "", error, AGAIN) from error
    return len(changed), stale


def _is_same(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _has_mark(path: Path, marks: tuple[bytes, ...]) -> bool:
    """Tell whether Berth wrote what is there, at this run or an earlier one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(mark in head for mark in marks)
