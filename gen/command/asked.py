"""What does a command line ask for? Pure.

Flags stand before or after the command, as `--flag VALUE`, `--flag=VALUE`, `-f VALUE` or `-fVALUE`. Of one
that is said twice, the last counts, but for the few that may be repeated; after `--` nothing is a flag.
Written by hand: argparse costs as much as the start of Python, and words its refusals differently from one
Python to the next.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gen.command.flags import BERTH, COMMANDS, EVERYWHERE, Command, Flag


class UsageError(Exception):
    """The command line cannot be understood or followed. The message is for people."""


class Asked(NamedTuple):
    """`form` is how to answer; empty where the command has no choice."""

    command: Command
    words: tuple[str, ...]
    given: dict[str, str]  # by the long name of the flag; switches are empty
    form: str

    def has(self, flag: str) -> bool:
        return flag in self.given

    def value(self, flag: str) -> str | None:
        return self.given.get(flag)

    def values(self, flag: str) -> list[str]:
        """Of a flag that may be said many times."""
        return self.given[flag].split("\n") if flag in self.given else []


def parse(arguments: Sequence[str]) -> Asked:
    """Raises UsageError. Where help is asked for, nothing is missing."""
    command, words = BERTH, list[str]()
    given: dict[str, str] = {}
    rest, only_words = iter(arguments), False
    for word in rest:
        if only_words or not word.startswith("-") or word == "-":
            if command is BERTH:
                command = _command(word)
            else:
                words.append(word)
        elif word == "--":
            only_words = True
        else:
            flag, value = _flag(command, word, rest)
            before = f"{given[flag.name]}\n" if flag.many and flag.name in given else ""
            given[flag.name] = before + value
    if "--help" not in given and "--version" not in given:
        _check_words(command, words)
    return Asked(command, tuple(words), given, _form(command, given.get("--output")))


def _command(word: str) -> Command:
    for command in COMMANDS:
        if command.name == word:
            return command
    raise _refusal(BERTH, f"there is no command {word}.{_nearest(word, [one.name for one in COMMANDS])}")


def _flag(command: Command, word: str, rest: Iterator[str]) -> tuple[Flag, str]:
    """The flag and its value; `rest` loses what belongs to it."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
    else:
        name, value = word[:2], word[2:].removeprefix("=")
        equals = "=" if len(word) > 2 else ""
    flag = _known(command, name, word)
    if not flag.value:
        if equals:
            raise _refusal(command, f"{name} is a switch and takes no value.")
        return flag, ""
    if not equals:
        found = next(rest, None)
        if found is None:
            raise _refusal(command, f"{name} needs a value: {name} {flag.value}.")
        value = found
    return flag, value


def _known(command: Command, name: str, word: str) -> Flag:
    flags = (*EVERYWHERE, *command.flags)
    for flag in flags:
        if name in (flag.name, flag.short):
            return flag
    for other, flag in _flags_of_commands() if command is BERTH else ():
        if name == flag.name:
            said = f"{_title(other)} {name} {flag.value}".rstrip()
            raise _refusal(other, f"{name} stands before its command. Write: {said}.")
    hint = _nearest(word.partition("=")[0], [flag.name for flag in flags])
    raise _refusal(
        command, f"{name if name.startswith('--') else word} is no flag of {_title(command)}.{hint}"
    )


def _flags_of_commands() -> list[tuple[Command, Flag]]:
    return [(command, flag) for command in COMMANDS for flag in command.flags]


def _check_words(command: Command, words: list[str]) -> None:
    if words and not command.words:
        raise _refusal(command, f'{_title(command)} takes only flags, not "{words[0]}".')
    if command.choices and (len(words) != 1 or words[0] not in command.choices):
        said = f', not "{" ".join(words)}"' if words else ""
        raise _refusal(command, f"{_title(command)} takes one of {', '.join(command.choices)}{said}.")
    if command.words and not command.words.startswith("[") and len(words) != 1:
        said = f', not "{" ".join(words)}"' if words else ""
        raise _refusal(command, f"{_title(command)} takes one {command.words}{said}.")


def _form(command: Command, wanted: str | None) -> str:
    usual = command.forms[0] if command.forms else ""
    if wanted is None or command is BERTH or wanted in command.forms:
        return wanted or usual
    if not command.forms:
        raise UsageError(f"{command.name} answers in one form only; leave out -o.")
    raise UsageError(f"{command.name} cannot answer as {wanted}; it can as {', '.join(command.forms)}.")


def _title(command: Command) -> str:
    return f"berth {command.name}".rstrip()


def _nearest(word: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only a slip pays for it

    close = get_close_matches(word, known, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _refusal(command: Command, message: str) -> UsageError:
    return UsageError(f"{message}\nTry: {_title(command)} --help")
