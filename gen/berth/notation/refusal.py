"""How a text that is not understood is refused, and how messages show values and suggest words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeVar

from berth.reading.text import legible

P = ParamSpec("P")
T = TypeVar("T")


class Refusal(ValueError):  # noqa: N818 - it refuses a value; it is not an error of the program
    """A value does not follow its grammar. Carries the code, what is wrong, and what to do.

    `readings`: what the text may mean, by the words of Berth for it.
    """

    def __init__(
        self,
        message: str,
        fix: str,
        code: str,
        *,
        at_key: bool = False,
        readings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.code = code
        self.at_key = at_key
        self.readings = readings


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


def taken(read: Callable[[], T]) -> T:
    """Return what a grammar reads, or the only reading of a text that is not in the words of Berth.

    Commands, forms and tables take it, as a person sees what they answer; a file has the words of Berth.
    """
    try:
        return read()
    except Refusal as refusal:
        if len(refusal.readings) != 1:
            raise
        return next(iter(refusal.readings.values()))  # type: ignore[no-any-return] # what it reads


def read_at(place: str, read: Callable[[], T]) -> T:
    """Return what a grammar takes; raise CommandError if it refuses the text of this option or argument."""
    try:
        return taken(read)
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


def reads(
    what: str, written: Callable[Concatenate[str, P], Iterable[str]]
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Make a grammar tell what may be meant by a text that it refuses: the readings of the refusal.

    `written` yields the text in the words of Berth, once for each way to read it. Characters that look like
    others are read as those: who writes a text sees these. `what` the text should be, with its article.
    """

    def decorate(grammar: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        @wraps(grammar)
        def read(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return grammar(text, *args, **kwargs)
            except Refusal as first:
                refusal, typed = first, " ".join(as_typed(text).split())
            readings = _readings([typed], grammar, *args, **kwargs)
            if not readings:
                texts = [*written(typed, *args, **kwargs)]
                readings = _readings(texts, grammar, *args, **kwargs)
                if not readings and len(texts) == 1 and texts[0].lower() != typed.lower():
                    refusal = _refusal_of(texts[0], grammar, *args, **kwargs)
            if not readings:
                raise Refusal(refusal.message, refusal.fix, refusal.code)
            message, fix = f"{shown(text)} is not {what}.", f"Write {' or '.join(readings)}."
            raise Refusal(message, fix, refusal.code, readings=readings)

        return read

    return decorate


def _readings(
    texts: Iterable[str], grammar: Callable[Concatenate[str, P], T], *args: P.args, **kwargs: P.kwargs
) -> dict[str, T]:
    """Return the values of the texts that a grammar takes, each value once."""
    found: dict[str, T] = {}
    for text in texts:
        try:
            value = grammar(text, *args, **kwargs)
        except Refusal:
            continue
        if value not in found.values():
            found[text] = value
    return found


def _refusal_of(
    text: str, grammar: Callable[Concatenate[str, P], T], *args: P.args, **kwargs: P.kwargs
) -> Refusal:
    """Return what is wrong with a text in the words of Berth: it names only what could not be read."""
    try:
        grammar(text, *args, **kwargs)
    except Refusal as refusal:
        return refusal
    raise AssertionError(text)


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
