"""Fold the lines of a large change: what a thousand reservations have in common fits on a screen."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.diff.change import ChangeWarning
from berth.diff.manifests import FileChange, deleted_objects
from berth.diff.wording import DiffLine, file_line, number_of, objects_text, warning_line

FEW_ALIKE = 3  # warnings of a code that are shown
FEW_FILES = 8  # that are named one by one
FEW_RESERVATIONS = 8  # that are shown whole


class Folded(NamedTuple):
    """Lines that are shown, and those that are folded, with what they are."""

    lines: tuple[DiffLine, ...]
    rest: tuple[DiffLine, ...] = ()
    rest_name: str = ""  # `and 12 more`

    def shortened(self, hint: str = "") -> list[DiffLine]:
        """Return the lines, and one for the rest."""
        more = [DiffLine(" ", f"{self.rest_name}{hint}")] if self.rest else []
        return [*self.lines, *more]

    def whole(self) -> list[DiffLine]:
        return [*self.lines, *self.rest]


def folded(lines: Sequence[DiffLine], most: int, noun: str = "") -> Folded:
    """Fold the lines after the first ones, unless only one would be."""
    if len(lines) <= most + 1:
        return Folded(tuple(lines))
    left = len(lines) - most
    name = f"and {number_of(left, f'more {noun}')}" if noun else f"and {left} more"
    return Folded(tuple(lines[:most]), tuple(lines[most:]), name)


def folded_warnings(warnings: Sequence[ChangeWarning]) -> list[Folded]:
    """Fold the warnings by code, in their order."""
    by_code: dict[str, list[DiffLine]] = {}
    for warning in warnings:
        by_code.setdefault(warning.code, []).append(warning_line(warning))
    parts = [(code, folded(lines, FEW_ALIKE)) for code, lines in by_code.items()]
    return [
        part._replace(rest_name=f"{part.rest_name} of {code}") if part.rest else part for code, part in parts
    ]


def file_lines(files: Sequence[FileChange], *, is_whole: bool) -> Iterator[DiffLine]:
    """Yield a line for each file, or for each folder with many, and what the engine deletes."""
    by_folder: dict[tuple[str, str], list[FileChange]] = {}
    for file in files:
        by_folder.setdefault((file.path.rpartition("/")[0], file.change), []).append(file)
    for (folder, _), own in by_folder.items():
        if is_whole or len(own) <= FEW_FILES:
            yield from map(file_line, own)
        else:
            sign = file_line(own[0]).sign
            objects = objects_text([item for file in own for item in file.objects])
            yield DiffLine(sign, f"{folder}/: {number_of(len(own), 'file')}, {objects}")
    yield from deleted_lines(files)


def deleted_lines(files: Sequence[FileChange]) -> list[DiffLine]:
    """Return a line that counts what the engine deletes, if it deletes anything."""
    counts = ", ".join(f"{count} {kind}" for kind, count in deleted_objects(files).items())
    return [DiffLine("-", f"the engine deletes {counts}")] if counts else []
