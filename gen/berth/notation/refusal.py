"""How a text that is not understood is refused, and how messages show values and suggest words."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from berth.reading.text import legible

RANGE, TYPE, CHOICE = "B012", "B013", "B014"
P = ParamSpec("P")
T = TypeVar("T")


class Refusal(ValueError):  # noqa: N818 - it refuses a value; it is not an error of the program
    """A value does not follow its grammar. Carries the code, what is wrong, and what to do."""

    def __init__(self, message: str, fix: str, code: str, *, at_key: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code
        self.at_key = at_key


class CommandError(Exception):
    """A command that is understood but cannot be followed. The message is one sentence or more, for people.

    `code` is that of the finding which the same value has in a file; empty if there is none. `more`: what
    else is wrong with the command line. `place` is the option or argument whose value is refused, if it is
    one, and `refusal` why.
    """

    def __init__(self, message: str, code: str = "", more: Iterable["CommandError"] = ()) -> None:
        self.message = message if message.endswith((".", "?")) else f"{message}."
        super().__init__(self.message)
        self.code, self.more = code, (*more,)
        self.place = ""
        self.refusal: Refusal | None = None

    @property
    def each(self) -> tuple["CommandError", ...]:
        """Return it and all else that is wrong, each alone."""
        return self.with_more(()), *self.more

    def with_more(self, more: Iterable["CommandError"]) -> "CommandError":
        """Return it with what else is wrong."""
        error = CommandError(self.message, self.code, more)
        error.place, error.refusal = self.place, self.refusal
        return error

    @classmethod
    def at(cls, place: str, refusal: Refusal) -> "CommandError":
        """Return the error of a refused value; `place` is the option or argument that has it."""
        message = f"{place}: {refusal.message} {refusal.fix}"
        error = cls(message, refusal.code)
        error.place, error.refusal = place, refusal
        return error


def read_at(place: str, read: Callable[[], T]) -> T:
    """Return what a grammar reads; raise CommandError if it refuses the text of this option or argument."""
    try:
        return read()
    except Refusal as refusal:
        raise CommandError.at(place, refusal) from None


def read_all(*reads: Callable[[], Any]) -> tuple[Any, ...]:
    """Return what each of them reads from the command line. Raise one error with all that is refused."""
    values: list[Any] = []
    errors = []
    for read in reads:
        try:
            values.append(read())
        except CommandError as error:
            errors.append(error)
    raise_all(errors)
    return tuple(values)


def raise_all(errors: Iterable[CommandError]) -> None:
    """Raise all of the errors as one, if there are any; a value that is read twice is wrong once."""
    if each := {(problem.message, problem.code): problem for error in errors for problem in error.each}:
        first, *more = each.values()
        raise first.with_more(more)


def reads_lookalikes(
    grammar: Callable[Concatenate[str, P], T],
) -> Callable[Concatenate[str, P], T]:
    """Make a grammar advise what is meant by a text that has characters which look like others.

    The text is refused all the same: who reads it sees something else than what is there.
    """

    @wraps(grammar)
    def read(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return grammar(text, *args, **kwargs)
        except Refusal as refusal:
            meant = as_typed(text)
            if meant == text:
                raise
            try:
                grammar(meant, *args, **kwargs)
            except Refusal as other:
                fix = other.fix
            else:
                fix = f"Write {meant}."
            raise Refusal(refusal.message, fix, refusal.code) from None

    return read


def as_typed(text: str) -> str:
    """Return a text with what is meant by characters that look like others."""
    if text.isascii():
        return text
    from berth.reading.lookalikes import mended  # noqa: PLC0415 - only a mistake pays for it

    return mended(text)


def shown(value: object) -> str:
    """Return a value as a message shows it: text in quotes, the rest as YAML writes it; long ones are cut."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    cut = legible(text[:60]) + ("..." if len(text) > 60 else "")
    return f'"{cut}"' if type(value) is str else cut


def article(words: str) -> str:
    """Put `a` or `an` before a description that needs one."""
    if words.startswith(("text", "one of", "true", '"')):
        return words
    return ("an " if words[0] in "aeiou" else "a ") + words


def nearest(given: str, known: Sequence[str], otherwise: str = "There are") -> str:
    """Advise on an unknown word: the nearest known ones, or all of them."""
    if not known:
        return "Declare it, or remove it."
    found = close(given, known)
    return f"Did you mean {' or '.join(found)}?" if found else f"{otherwise} {', '.join(known)}."


def choice(given: str, known: tuple[str, ...]) -> str:
    """Advise on a word that must be one of the known ones."""
    return nearest(given, known, "Write one of" if len(known) > 1 else "Write")


def close(given: str, known: Sequence[str], likeness: float = 0.6) -> list[str]:
    """Return at most three known words that are so much like this one, the nearest first."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake pays for it

    lowered = {name.lower(): name for name in known}
    return [lowered[n] for n in get_close_matches(given.lower(), list(lowered), n=3, cutoff=likeness)]
