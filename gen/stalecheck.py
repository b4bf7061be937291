"""Is the output folder what would be rendered now? Called like `gen.stage`, but writes nothing."""

from typing import NamedTuple

from gen.output import OutputError, refusal
from gen.ownedtree import BLOCKED, SAME, OwnedTree

_FIX = "See to its permissions, then run again."


class Difference(NamedTuple):
    path: str  # relative to the output folder
    kind: str  # missing | differs | stale


class StaleCheck:
    """`put` every file that should be there, then ask `finish` for the differences. Raises `OutputError`."""

    def __init__(self, folder: str, shown: str) -> None:
        """Findings call the folder `shown`. It need not exist."""
        self._shown = shown
        self._differences: list[Difference] = []
        try:
            self._tree = OwnedTree(folder, shown)
        except OSError as error:
            raise refusal(shown, "", error, _FIX) from error

    def put(self, path: str, text: str) -> None:
        try:
            found = self._tree.compare(path, text, text.encode())
        except OSError as error:
            raise refusal(self._shown, path, error, _FIX) from error
        if found not in (SAME, BLOCKED):
            self._differences.append(Difference(path, found))

    def finish(self) -> list[Difference]:
        """By path. Somebody else's files among ours are errors here as they are when rendering."""
        try:
            stale = self._tree.stale()
        except OSError as error:
            raise refusal(self._shown, "", error, _FIX) from error
        if self._tree.problems:
            raise OutputError(self._tree.problems)
        return sorted(self._differences + [Difference(path, "stale") for path in stale])
