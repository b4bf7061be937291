"""The command line: arguments, exit codes, and the last resort for what nobody expected.

It imports no command before it is asked for, so that `--version`, `--help` and completion cost little more than
Python itself. No other module reads the clock, exits, or decides where output goes.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gen.version import VERSION

GOOD, BAD_INPUT, USAGE, OUR_FAULT, STALE, INTERRUPTED = 0, 1, 2, 3, 4, 130


class UsageError(Exception):
    """The command line cannot be understood. The message is a sentence."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}.\nTry: {self.prog} --help")


def _shared(*, top: bool) -> _Parser:
    """The flags that stand before or after the command. Below the command they have no default of their own."""

    def default(value: Any) -> Any:
        return value if top else argparse.SUPPRESS

    shared = _Parser(add_help=False)
    group = shared.add_argument_group("everywhere")
    add = group.add_argument
    add("-C", dest="root", metavar="DIR", default=default("."), help="work in this folder")
    add(
        "-o", "--output", metavar="FORM", default=default(None), help="text, json, or what the command offers"
    )
    add("--strict", action="store_true", default=default(False), help="warnings are errors too")
    add("--now", metavar="INSTANT", default=default(None), help="instead of the clock")
    return shared


def parser() -> argparse.ArgumentParser:
    whole = _Parser(
        prog="berth",
        description="Scheduled Kubernetes capacity as a pull request.",
        parents=[_shared(top=True)],
        epilog="Exit codes: 0 good, 1 errors in the input, 2 usage, 3 our fault, 4 stale, 130 interrupted.",
    )
    whole.add_argument("--version", action="version", version=f"berth {VERSION}")
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help_, description=help_, parents=[_shared(top=False)])

    _render(add("render", "Write the manifests of all reservations to rendered/."))
    add("validate", "Check the reservations; write nothing.")
    _selection(add("list", "List the reservations: seats, seat-hours, next occurrence."))
    occurrences = add("occurrences", "List every dated occurrence in local time and UTC.")
    occurrences.add_argument("names", metavar="NAME", nargs="*", help="only these reservations")
    occurrences.add_argument("--at", metavar="INSTANT", help="only those that are open then")
    occurrences.add_argument("--from", dest="since", metavar="INSTANT", help="only those that end later")
    occurrences.add_argument("--until", metavar="INSTANT", help="only those that open earlier")
    _selection(occurrences)
    completion = add("completion", "Print a script that completes berth's words in a shell.")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    return whole


def _render(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--check", action="store_true", help="write nothing; exit 4 if anything would change"
    )
    command.add_argument("--output-dir", default="rendered", metavar="DIR", help="instead of rendered/")
    command.add_argument(
        "--templates", metavar="DIR", help="templates of your own, used instead of ours by name"
    )


def _selection(command: argparse.ArgumentParser) -> None:
    command.add_argument("--class", dest="resource_class", metavar="NAME", help="only seats of this class")
    command.add_argument("--cluster", metavar="NAME", help="only this cluster")


def _enter(folder: str) -> None:
    """-C, as git and make have it: every other path is relative to this folder."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(f"-C {folder}: {error.strerror}.") from error


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function behind a command; its imports are paid for here."""
    from importlib import import_module  # noqa: PLC0415

    found: Callable[[argparse.Namespace], int] = import_module(f"gen.command.{name}").run
    return found


def run(arguments: Sequence[str]) -> int:
    """One command; answers its exit code. Only what nobody foresaw is raised."""
    try:
        asked = parser().parse_args(arguments)
        if asked.command is None:
            parser().print_help()
            return USAGE
        _enter(asked.root)
        return _command(asked.command)(asked)
    except UsageError as error:
        sys.stderr.write(f"berth: {error}\n")
        return USAGE
    except SystemExit as done:  # argparse, after --help and --version
        return int(done.code or 0)
    except BrokenPipeError:  # the reader had enough: `berth occurrences | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD


def main() -> NoReturn:
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception:  # noqa: BLE001 - the last resort: whatever it is, it is our fault
        from traceback import format_exc  # noqa: PLC0415

        words = " ".join(sys.argv[1:])
        sys.stderr.write(
            f"berth: this is our fault, not yours. Please report it with the text below.\n"
            f"berth {VERSION}, Python {sys.version.split()[0]}, berth {words}\n{format_exc()}"
        )
        code = OUR_FAULT
    sys.exit(code)
