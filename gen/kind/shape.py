"""How a declared value is checked: shapes such as `Whole(1)` or `Fields({...})`, put together in `gen.kind`.

A shape's `check` answers the checked value, or `INVALID` after it reported why; it goes on after a fault, so that one
run tells them all. It knows nothing of Berth's own words; those stand in `gen.kind`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from gen.finding import Path, Problem
from gen.input.scalar import Octalish

INVALID: Final[Any] = object()
REQUIRED: Final[Any] = object()

UNKNOWN_KEY, MISSING, RANGE, TYPE, CHOICE, CONFLICT = (
    "B010",
    "B011",
    "B012",
    "B013",
    "B014",
    "B016",
)


class Report:
    """Collects the problems of one document."""

    def __init__(self, file: str, index: int, prefix: Path = ()) -> None:
        self.file = file
        self.index = index
        self.prefix = prefix
        self.problems: list[Problem] = []

    def __call__(self, code: str, path: Path, message: str, fix: str, *, at_key: bool = False) -> Any:
        """Keep one problem; answers `INVALID`, so that a check can return what this returns."""
        self.problems.append(
            Problem(code, self.file, self.index, (*self.prefix, *path), message, fix, at_key)
        )
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


def shown(value: object) -> str:
    """A value as a message tells it: text in quotes, the rest as YAML writes it; long ones are cut."""
    if isinstance(value, Octalish):
        return str(value)
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value[:60])
        return f'"{text}{"..." if len(value) > 60 else ""}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else str(value)


def is_text(value: object) -> bool:
    return type(value) is str


def wrong_type(value: object, words: str, path: Path, report: Report) -> Any:
    if isinstance(value, (int, float, Octalish)) and not isinstance(value, bool) and "text" in words:
        return report(
            TYPE, path, f"{shown(value)} is a number, not {words}.", f'Write it in quotes: "{value}".'
        )
    if isinstance(value, bool) and "text" in words:
        text = str(value).lower()
        return report(TYPE, path, f"{text} is a truth value, not {words}.", f'Write it in quotes: "{text}".')
    return report(TYPE, path, f"{shown(value)} is not {article(words)}.", f"Write {article(words)}.")


def article(words: str) -> str:
    if words.startswith(("text", "one of", "true")):
        return words
    return ("an " if words[0] in "aeiou" else "a ") + words


class Text(NamedTuple):
    """Any text, or one that `grammar` accepts; `grammar` answers the parsed value or raises Refusal."""

    name: str = "text"
    grammar: Callable[[str], Any] | None = None

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not str:
            return wrong_type(value, self.words(), path, report)
        if self.grammar is None:
            return value
        try:
            return self.grammar(value)
        except Refusal as refusal:
            return report(refusal.code, path, refusal.message, refusal.fix)

    def words(self) -> str:
        return self.name if self.name == "text" else f"text ({self.name})"


class Whole(NamedTuple):
    """A whole number; both bounds are allowed values."""

    minimum: int
    maximum: int | None = None

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not int:
            return wrong_type(value, self.words(), path, report)
        if value < self.minimum:
            return report(RANGE, path, f"{value} is below {self.minimum}.", f"Write a {self.words()}.")
        if self.maximum is not None and value > self.maximum:
            return report(RANGE, path, f"{value} is above {self.maximum}.", f"Write a {self.words()}.")
        return value

    def words(self) -> str:
        up = "up" if self.maximum is None else f"to {self.maximum}"
        return f"whole number from {self.minimum} {up}"


class Flag(NamedTuple):
    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is bool:
            return value
        word = str(value).lower()
        if isinstance(value, str) and word in ("yes", "on", "y", "no", "off", "n"):
            meant = "true" if word in ("yes", "on", "y") else "false"
            return report(TYPE, path, f"{shown(value)} is text in YAML 1.2.", f"Write {meant}.")
        return wrong_type(value, self.words(), path, report)

    def words(self) -> str:
        return "true or false"


class OneOf(NamedTuple):
    choices: tuple[str, ...]

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is str and value in self.choices:
            return value
        if type(value) is not str:
            return wrong_type(value, self.words(), path, report)
        return report(
            CHOICE, path, f"{shown(value)} is not {self.words()}.", nearest(value, self.choices, "Write")
        )

    def words(self) -> str:
        return self.choices[0] if len(self.choices) == 1 else f"one of {', '.join(self.choices)}"


class ListOf(NamedTuple):
    item: Shape
    minimum: int = 0

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not list:
            return wrong_type(value, self.words(), path, report)
        if len(value) < self.minimum:
            return report(RANGE, path, "the list is empty.", "Write at least one item.")
        items = tuple(self.item.check(inner, (*path, i), report) for i, inner in enumerate(value))
        return INVALID if INVALID in items else items

    def words(self) -> str:
        return f"list ({self.item.words()} each)"


class MapOf(NamedTuple):
    """A mapping whose keys follow a grammar too. Checked, it is a tuple of pairs in the order of the file."""

    key: Text
    item: Shape
    minimum: int = 0

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not dict:
            return wrong_type(value, self.words(), path, report)
        if len(value) < self.minimum:
            return report(RANGE, path, "the mapping is empty.", "Write at least one key.")
        pairs = []
        for name, inner in value.items():
            at = (*path, name)
            key = self._key(name, at, report)
            pairs.append((key, self.item.check(inner, at, report)))
        return INVALID if any(INVALID in pair for pair in pairs) else tuple(pairs)

    def _key(self, name: str, path: Path, report: Report) -> Any:
        if self.key.grammar is None:
            return name
        try:
            return self.key.grammar(name)
        except Refusal as refusal:
            return report(refusal.code, path, refusal.message, refusal.fix, at_key=True)

    def words(self) -> str:
        return f"mapping ({self.item.words()} for each key)"


class Anything(NamedTuple):
    """A value that somebody else checks."""

    name: str = "value"

    def check(self, value: Any, path: Path, report: Report) -> Any:
        del path, report
        return value

    def words(self) -> str:
        return self.name


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


Make = Callable[[dict[str, Any], Path, Report], Any]


class Fields:
    """A mapping with known keys. `make` turns the checked values into the value of the whole, or reports."""

    def __init__(
        self, fields: Mapping[str, Field], make: Make | None = None, *, extensions: bool = False
    ) -> None:
        self.fields = dict(fields)
        self.make = make
        self.extensions = extensions  # whether keys that begin with x- are the author's own
        self._checks = {name: field.shape.check for name, field in self.fields.items()}
        self._required = [name for name, field in self.fields.items() if field.default is REQUIRED]
        self._defaults = {n: f.default for n, f in self.fields.items() if f.default is not REQUIRED}

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not dict:
            return wrong_type(value, self.words(), path, report)
        checked = dict(self._defaults)
        sound = True
        for name, inner in value.items():
            check = self._checks.get(name)
            if check is None:
                sound = self._unknown(name, path, report) and sound
            elif inner is not None:
                checked[name] = found = check(inner, (*path, name), report)
                sound = sound and found is not INVALID
        for name in self._required:
            if name not in checked:
                words = article(self.fields[name].shape.words())
                report(MISSING, path, f"{name} is missing.", f"Add {name}: {words}.")
                sound = False
        if not sound:
            return INVALID
        return checked if self.make is None else self.make(checked, path, report)

    def _unknown(self, name: str, path: Path, report: Report) -> bool:
        if self.extensions and name.startswith("x-"):
            return True
        fix = nearest(name, tuple(self.fields), "Known here:")
        report(UNKNOWN_KEY, (*path, name), "this key is unknown.", fix, at_key=True)
        return False

    def words(self) -> str:
        return "mapping"


def nearest(given: str, known: tuple[str, ...], otherwise: str) -> str:
    """The advice for a word that is not known: the nearest known ones, else all of them."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a faulty file pays for it

    lowered = {name.lower(): name for name in known}
    close = [lowered[n] for n in get_close_matches(given.lower(), list(lowered), n=3, cutoff=0.6)]
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"{otherwise} {', '.join(known)}." if known else "Declare it, or remove it."
