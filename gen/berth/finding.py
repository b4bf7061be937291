"""What a finding is, in which order findings are told, and what they mean for the exit code.

A check makes a `Problem`: it names the document and the path of the value, not yet its line.
`berth.reading.place` finds the line when, and only when, there is something to say; so a good run never pays for
places.
"""

from collections.abc import Iterable
from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"

Path = tuple[str | int, ...]
"""Keys and 0-based list positions from the top of a document to a value."""


class Problem(NamedTuple):
    """Something wrong with one value of one document.

    `path` leads to the value; what is missing is told at its parent; with `at_key` the place is the key, not
    the value. `message` and `fix` are sentences that end in a full stop; `message` names the value.
    """

    code: str
    file: str
    index: int  # type: ignore[assignment] # which document of the file, from 0; hides tuple.index
    path: Path
    message: str
    fix: str
    at_key: bool = False


class Finding(NamedTuple):
    """A problem with its place. Lines and columns count from 1, columns in characters."""

    file: str
    line: int
    column: int
    code: str
    severity: str
    path: str
    message: str
    fix: str


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once, by file, line, column and code."""
    return sorted(set(findings))
