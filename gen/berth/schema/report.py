"""Collects the problems of one document."""

from typing import Any, Final

from berth.findings import ERROR, Path, Problem, severity

INVALID: Final[Any] = object()
"""Stands for a value that is missing or faulty; the problem is reported already."""

UNKNOWN_KEY, MISSING, RANGE, TYPE, CHOICE, CONFLICT, IDLE_KEY = (
    "B010",
    "B011",
    "B012",
    "B013",
    "B014",
    "B016",
    "B029",
)


class Refusal(ValueError):  # noqa: N818 - it refuses a value; it is not an error of the program
    """A value does not follow its grammar. Carries the code, what is wrong, and what to do."""

    def __init__(self, message: str, fix: str, code: str, *, at_key: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code
        self.at_key = at_key


class Report:
    """The problems of one document; `errors` counts those that keep it from being used."""

    def __init__(self, file: str, index: int, prefix: Path = ()) -> None:
        self.file = file
        self.index = index
        self.prefix = prefix
        self.errors = 0
        self.problems: list[Problem] = []

    def __call__(self, code: str, path: Path, message: str, fix: str, *, at_key: bool = False) -> None:
        self.problems.append(
            Problem(code, self.file, self.index, (*self.prefix, *path), message, fix, at_key)
        )
        self.errors += severity(code) == ERROR

    def refuse(self, refusal: Refusal, path: Path, *, at_key: bool = False) -> None:
        self(refusal.code, path, refusal.message, refusal.fix, at_key=at_key or refusal.at_key)

    def is_sound(self, path: Path, value: object) -> bool:
        """Tell whether there is a value, and no error is reported at its path or below it."""
        if value is None or value is INVALID:
            return False
        if not self.errors:
            return True
        whole = (*self.prefix, *path)
        return not any(
            one.path[: len(whole)] == whole and severity(one.code) == ERROR for one in self.problems
        )
