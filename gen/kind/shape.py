"""How a declared value is checked: shapes such as `ListOf(...)` or `Fields({...})`.

A shape's `check` reports what is wrong and goes on, so that one run tells all. It answers what is sound, with
`INVALID` in place of the rest. Nothing here knows Berth's own words; those stand in the other modules.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from gen.finding import ERROR, Path, Problem
from gen.rules import severity

INVALID: Final[Any] = object()
REQUIRED: Final[Any] = object()

UNKNOWN_KEY, MISSING, RANGE, TYPE, CHOICE, CONFLICT, IDLE_KEY = (
    "B010",
    "B011",
    "B012",
    "B013",
    "B014",
    "B016",
    "B029",
)


class Report:
    """Collects the problems of one document; `errors` counts those that keep it from being used."""

    def __init__(self, file: str, index: int, prefix: Path = ()) -> None:
        self.file = file
        self.index = index
        self.prefix = prefix
        self.errors = 0
        self.problems: list[Problem] = []

    def __call__(self, code: str, path: Path, message: str, fix: str, *, at_key: bool = False) -> Any:
        """Keep one problem; answers `INVALID`, so that a check can return what this returns."""
        self.problems.append(
            Problem(code, self.file, self.index, (*self.prefix, *path), message, fix, at_key)
        )
        self.errors += severity(code) == ERROR
        return INVALID


class Shape(Protocol):
    def check(self, value: Any, path: Path, report: Report) -> Any: ...

    def words(self) -> str:
        """What may be written, for people: `whole number from 1 up`."""


class Refusal(Exception):  # noqa: N818 - it refuses a text; it is not an error of ours
    """A text does not follow its grammar. Carries the code, what is wrong, and what to do."""

    def __init__(self, message: str, fix: str, code: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code


Grammar = Callable[[str], Any]
"""Answers what a text means, or raises Refusal."""


def shown(value: object) -> str:
    """A value as a message tells it: text in quotes, the rest as YAML writes it; long ones are cut."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    cut = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:60])
    cut += "..." if len(text) > 60 else ""
    return f'"{cut}"' if type(value) is str else cut


def article(words: str) -> str:
    if words.startswith(("text", "one of", "true", '"')):
        return words
    return ("an " if words[0] in "aeiou" else "a ") + words


def wrong_type(value: object, words: str, path: Path, report: Report) -> Any:
    return report(TYPE, path, f"{shown(value)} is not {article(words)}.", f"Write {article(words)}.")


def nearest(given: str, known: tuple[str, ...], otherwise: str) -> str:
    """The advice for a word that is not known: the nearest known ones, else all of them."""
    if not known:
        return "Declare it, or remove it."
    found = close(given, known)
    return f"Did you mean {' or '.join(found)}?" if found else f"{otherwise} {', '.join(known)}."


def choice(given: str, known: tuple[str, ...]) -> str:
    """The advice for a word that must be one of the known ones."""
    return nearest(given, known, "Write one of" if len(known) > 1 else "Write")


def close(given: str, known: tuple[str, ...]) -> list[str]:
    """At most three known words that resemble this one, the nearest first."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a faulty file pays for it

    lowered = {name.lower(): name for name in known}
    return [lowered[n] for n in get_close_matches(given.lower(), list(lowered), n=3, cutoff=0.6)]


def items(checked: Any) -> tuple[Any, ...]:
    """What is sound in a checked list; nothing if there is none or it is none."""
    return tuple(item for item in checked if item is not INVALID) if isinstance(checked, tuple) else ()


class ListOf(NamedTuple):
    item: Shape
    minimum: int = 0

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not list:
            fix = 'Write a list: begin each item with "- ".'
            if isinstance(value, str | int) and len(str(value)) <= 60 and not isinstance(self.item, Fields):
                fix = f"Write a list: [{shown(value)}]."
            return report(TYPE, path, f"{shown(value)} is not a list.", fix)
        if len(value) < self.minimum:
            return report(RANGE, path, "the list is empty.", "Write at least one item.")
        check = self.item.check
        return tuple([check(inner, (*path, i), report) for i, inner in enumerate(value)])

    def words(self) -> str:
        return "list"


class MapOf(NamedTuple):
    """A mapping whose keys follow a grammar too. Checked, it is a tuple of pairs in the order of the file."""

    key: Grammar
    item: Shape
    minimum: int = 0

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not dict:
            return wrong_type(value, self.words(), path, report)
        if len(value) < self.minimum:
            return report(RANGE, path, "the mapping is empty.", "Write at least one key.")
        return tuple(
            [
                (self._key(name, (*path, name), report), self.item.check(inner, (*path, name), report))
                for name, inner in value.items()
            ]
        )

    def _key(self, name: str, path: Path, report: Report) -> Any:
        try:
            return self.key(name)
        except Refusal as refusal:
            return report(refusal.code, path, refusal.message, refusal.fix, at_key=True)

    def words(self) -> str:
        return "mapping"


class Either(NamedTuple):
    """Two ways to write one thing, told apart by whether a mapping is written; `plain` checks all else."""

    plain: Shape
    mapping: Shape

    def check(self, value: Any, path: Path, report: Report) -> Any:
        shape = self.mapping if isinstance(value, dict) else self.plain
        return shape.check(value, path, report)

    def words(self) -> str:
        return f"{self.plain.words()}, or {article(self.mapping.words())}"


class Field(NamedTuple):
    """One key. `default` stands for a key that is left out or null; it is a checked value already."""

    shape: Shape
    default: Any = REQUIRED
    meaning: str = ""
    default_words: str = ""  # where the default cannot be shown as it is


Made = dict[str, Any]
"""Every known key with its checked value; `INVALID` where that is missing or not sound."""
Agree = Callable[[Made, Path, Report], object]
"""Reports what sound values say against each other; what is `INVALID` is told already."""


class Fields:
    """A mapping with known keys. `make` turns the checked values into one value if all of them are sound."""

    def __init__(
        self,
        fields: Mapping[str, Field],
        make: Callable[[Made], Any] | None = None,
        *,
        agree: Agree | None = None,
        extensions: bool = False,
    ) -> None:
        self.fields = dict(fields)
        self.make = make
        self.agree = agree
        self.extensions = extensions  # whether keys that begin with x- are the author's own
        self._checks = {name: field.shape.check for name, field in self.fields.items()}
        self._required = [name for name, field in self.fields.items() if field.default is REQUIRED]
        self._blank = {name: field.default for name, field in self.fields.items()}

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not dict:
            return wrong_type(value, self.words(), path, report)
        errors = report.errors
        made = self._blank.copy()
        for name, inner in value.items():
            check = self._checks.get(name)
            if check is None:
                self._unknown(name, value, made, path, report)
            elif inner is not None:
                made[name] = check(inner, (*path, name), report)
        for name in self._required:
            if made[name] is REQUIRED:
                words = article(self.fields[name].shape.words())
                made[name] = report(MISSING, path, f"{name} is missing.", f"Add {name}: {words}.")
        if self.agree is not None:
            self.agree(made, path, report)
        if self.make is None:
            return made
        return self.make(made) if report.errors == errors else INVALID

    def _unknown(self, name: str, value: Made, made: Made, path: Path, report: Report) -> None:
        """A key that is misspelt stands for the one that is meant: that one is not missing."""
        if self.extensions and name.startswith("x-"):
            return
        known = tuple(self.fields)
        report(
            UNKNOWN_KEY,
            (*path, name),
            "this key is unknown.",
            nearest(name, known, "Known here:"),
            at_key=True,
        )
        for meant in close(name, known)[:1]:
            if value.get(meant) is None:
                made[meant] = INVALID

    def words(self) -> str:
        return "mapping"
