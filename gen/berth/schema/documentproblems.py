"""The problems of one document, and how they are collected."""

from collections.abc import Mapping, Sequence

from berth.findings import ERROR, Origin, Path, Problem, severity
from berth.notation.refusal import Refusal, article, choice, close, nearest, shown

__all__ = ["DocumentProblems", "Refusal", "article", "choice", "close", "nearest", "shown"]

MOST = 100
"""The most problems of one document that are reported one by one."""


class DocumentProblems:
    """The problems of one document; `errors` counts those that keep it from being used.

    Places are given from `path` on. Of more than MOST, only the number is known: a file of a megabyte may
    have 40,000.
    """

    def __init__(self, origin: Origin, path: Path = (), whole: "DocumentProblems | None" = None) -> None:
        self.origin, self.path = origin, path
        self.whole = whole or self
        """That of the document, which has what those of its parts report."""

        if whole is None:
            self.errors = 0
            self.problems: list[Problem] = []
            self.left_out = 0

    def below(self, *steps: str | int) -> "DocumentProblems":
        """Return what reports problems with a part of the value."""
        return DocumentProblems(self.origin, (*self.path, *steps), self.whole)

    def __call__(self, code: str, at: str | Path, message: str, fix: str, *, at_key: bool = False) -> None:
        """Report a problem with the value of a key or at a path; with an empty one, with all of it."""
        whole, path = self.whole, (*self.path, *((at,) if isinstance(at, str) else at))
        is_first_error = severity(code) == ERROR and not whole.errors
        whole.errors += severity(code) == ERROR
        if whole.is_full and not is_first_error:  # one error is always listed
            whole.left_out += 1
            return
        whole.problems.append(self.origin.problem(code, path, message, fix, at_key=at_key))

    def repeated(self, what: str, values: Sequence[object], key: str = "", code: str = "B016") -> None:
        """Report each value that an earlier item of a list has, too."""
        for i, value in enumerate(values):
            if value in values[:i]:
                at = (i, key) if key else (i,)
                self(code, at, f"duplicate {what}{shown(value)}.", "Change or remove one of the two.")

    def exclude(self, values: Mapping[str, object]) -> None:
        """Report keys of one mapping of which only one may be given."""
        given = [name for name, value in values.items() if value is not None]
        if len(given) > 1:
            self("B016", (), f"{' and '.join(given)} exclude each other.", "Keep one of them.")

    @property
    def is_full(self) -> bool:
        return len(self.problems) >= MOST

    def closed(self) -> list[Problem]:
        """Return the problems, and one that counts those that are left out."""
        if not self.left_out:
            return self.problems
        message = f"{self.left_out} more problems of this document are not listed."
        fix = "Correct those above, then run again."
        return [*self.problems, self.origin.problem("B272", self.path, message, fix)]

    def refuse(self, refusal: Refusal, at: str | Path, *, at_key: bool = False) -> None:
        self(refusal.code, at, refusal.message, refusal.fix, at_key=at_key or refusal.at_key)
