"""Shapes of single values: text, whole number, true or false, one of some words."""

import re
from typing import Any, NamedTuple

from gen.finding import Path
from gen.input.scalar import Octalish
from gen.kind.shape import CHOICE, RANGE, TYPE, Grammar, Refusal, Report, article, choice, shown, wrong_type

_FEW_DIGITS = re.compile(r"[-+]?[0-9]{1,9}", re.ASCII)


class Text(NamedTuple):
    """Any text, or one that `grammar` accepts; the answer is what the grammar makes of it."""

    name: str = "text"
    grammar: Grammar | None = None

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not str:
            return self._no_text(value, path, report)
        if self.grammar is None:
            return value
        try:
            return self.grammar(value)
        except Refusal as refusal:
            return report(refusal.code, path, refusal.message, refusal.fix)

    def _no_text(self, value: Any, path: Path, report: Report) -> Any:
        """A number or truth value may be text without its quotes; whether they help, the grammar knows."""
        if not isinstance(value, int | float | Octalish):
            return wrong_type(value, self.words(), path, report)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            if self.grammar is not None:
                self.grammar(text)
        except Refusal as refusal:
            message = refusal.message.replace(shown(text), shown(text).strip('"'))
            return report(refusal.code, path, message, refusal.fix)
        kind = "a truth value" if isinstance(value, bool) else "a number"
        message = f"{shown(value)} is {kind}, not {article(self.words())}."
        if isinstance(value, float) or len(text) > 60:  # 1e3 would not be told as it is written
            return report(TYPE, path, message, "Write it in quotes.")
        return report(TYPE, path, message, f'Write it in quotes: "{text}".')

    def words(self) -> str:
        return self.name


class Whole(NamedTuple):
    """A whole number; both bounds are allowed values."""

    minimum: int
    maximum: int | None = None

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not int:
            fix = f"Write a {self.words()}."
            if isinstance(value, str) and _FEW_DIGITS.fullmatch(value):
                without = "zeros in front" if isinstance(value, Octalish) else "quotes"
                fix = f"Write it without {without}: {int(value)}."
            return report(TYPE, path, f"{shown(value)} is not a {self.words()}.", fix)
        if value < self.minimum:
            return report(RANGE, path, f"{shown(value)} is below {self.minimum}.", f"Write a {self.words()}.")
        if self.maximum is not None and value > self.maximum:
            return report(RANGE, path, f"{shown(value)} is above {self.maximum}.", f"Write a {self.words()}.")
        return value

    def words(self) -> str:
        up = "up" if self.maximum is None else f"to {self.maximum}"
        return f"whole number from {self.minimum} {up}"


class Flag(NamedTuple):
    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is bool:
            return value
        word = str(value).lower()
        if isinstance(value, str) and word in ("yes", "on", "y", "true", "no", "off", "n", "false"):
            meant = "true" if word in ("yes", "on", "y", "true") else "false"
            return report(TYPE, path, f"{shown(value)} is text, not true or false.", f"Write {meant}.")
        return wrong_type(value, self.words(), path, report)

    def words(self) -> str:
        return "true or false"


class OneOf(NamedTuple):
    choices: tuple[str, ...]

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is not str:
            return wrong_type(value, self.words(), path, report)
        if value in self.choices:
            return value
        return report(CHOICE, path, f"{shown(value)} is not {self.words()}.", choice(value, self.choices))

    def words(self) -> str:
        return f'"{self.choices[0]}"' if len(self.choices) == 1 else f"one of {', '.join(self.choices)}"
