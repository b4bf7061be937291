"""The problems of one document, and how they are collected."""

from collections.abc import Mapping, Sequence

from berth.findings import ERROR, Origin, Path, Problem, severity
from berth.notation.refusal import Refusal, article, choice, close, nearest, shown

__all__ = ["DocumentProblems", "Refusal", "article", "choice", "close", "nearest", "shown"]

MOST = 100
"""The most problems of one document that are reported one by one."""


class DocumentProblems:
    """The problems of one document; `errors` counts those that keep it from being used.

    Of more than MOST, only the number is known: a file of a megabyte may have 40,000.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.errors = 0
        self.problems: list[Problem] = []
        self.left_out = 0

    def __call__(self, code: str, path: Path, message: str, fix: str, *, at_key: bool = False) -> None:
        is_first_error = severity(code) == ERROR and not self.errors
        self.errors += severity(code) == ERROR
        if self.is_full and not is_first_error:  # one error is always listed
            self.left_out += 1
            return
        self.problems.append(
            self.origin.problem(code, (*self.origin.prefix, *path), message, fix, at_key=at_key)
        )

    def repeated(
        self, what: str, values: Sequence[object], path: Path, key: str = "", code: str = "B016"
    ) -> None:
        """Report each value that an earlier item of a list has, too."""
        for i, value in enumerate(values):
            if value in values[:i]:
                at = (*path, i, key) if key else (*path, i)
                self(code, at, f"duplicate {what}{shown(value)}.", "Change or remove one of the two.")

    def exclude(self, values: Mapping[str, object], path: Path) -> None:
        """Report keys of one mapping of which only one may be given."""
        given = [name for name, value in values.items() if value is not None]
        if len(given) > 1:
            self("B016", path, f"{' and '.join(given)} exclude each other.", "Keep one of them.")

    @property
    def is_full(self) -> bool:
        return len(self.problems) >= MOST

    def closed(self) -> list[Problem]:
        """Return the problems, and one that counts those that are left out."""
        if not self.left_out:
            return self.problems
        message = f"{self.left_out} more problems of this document are not listed."
        fix = "Correct those above, then run again."
        return [*self.problems, self.origin.problem("B272", self.origin.prefix, message, fix)]

    def refuse(self, refusal: Refusal, path: Path, *, at_key: bool = False) -> None:
        self(refusal.code, path, refusal.message, refusal.fix, at_key=at_key or refusal.at_key)
