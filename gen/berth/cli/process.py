"""The program: from the arguments of a process to its exit code, and the last resort for unexpected errors.

No other module exits. Click is imported only by `run`, because `berth --version` does not need it.
"""

import gc
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from berth.cli.console import (
    COMPLETE,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    OutputLostError,
    silence,
    stderr,
    stdout,
)
from berth.version import VERSION

if TYPE_CHECKING:
    import click

_MANY = 250_000  # objects between two garbage collections: a run allocates much and makes few cycles


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Only unexpected errors are raised."""
    try:
        if [*arguments] == ["--version"]:
            stdout(f"berth {VERSION}\n")
            return EXIT_OK
        return _run(arguments)
    except OutputLostError as error:
        return _lost(error)


def _lost(error: OutputLostError) -> int:
    stderr(f"berth: cannot write the output: {error}.\n")
    return EXIT_INTERNAL


def _run(arguments: Sequence[str]) -> int:
    import click  # noqa: PLC0415 - its import takes longer than the start of Python

    from berth.cli.group import berth  # noqa: PLC0415
    from berth.notation.refusal import CommandError  # noqa: PLC0415

    try:
        with berth.make_context("berth", [*arguments]) as context:
            code: int = berth.invoke(context)
            return code
    except click.exceptions.Exit as done:
        return done.exit_code
    except CommandError as error:
        for problem in error.each:
            code_text = f" [{problem.code}]" if problem.code else ""
            stderr(f"berth: {_line(problem.message)}{_lookalikes(problem.message, arguments)}{code_text}\n")
        return EXIT_USAGE
    except PermissionError as error:
        stderr(f"berth: {error.filename}: {error.strerror}\n")
        return EXIT_USAGE
    except click.ClickException as error:
        stderr(f"berth: {_message(error)}{_lookalikes(error.message, arguments)}\n")
        if isinstance(error, click.UsageError) and error.ctx:
            stderr(f"Try: {error.ctx.command_path} --help\n")
        return EXIT_USAGE


def _line(message: str) -> str:
    """Return a message on one line."""
    return " ".join(message.split())


def _message(error: "click.ClickException") -> str:
    """Return what is wrong, in the same words for all versions of click."""
    import click  # noqa: PLC0415 - as above

    from berth.cli.command import did_you_mean  # noqa: PLC0415

    if isinstance(error, click.NoSuchOption):
        hint = did_you_mean(error.option_name, error.possibilities or ())
        if not hint and error.ctx and isinstance(error.ctx.command, click.Group):
            hint = " Options of a command follow it."
        return f"No such option {error.option_name}.{hint}"
    message = _line(error.format_message())
    if isinstance(error, click.UsageError) and error.ctx and message.startswith("Got unexpected extra"):
        usage = " ".join([error.ctx.command_path, *error.ctx.command.collect_usage_pieces(error.ctx)])
        return f"{message}. Write: {usage}"
    return message


def _lookalikes(message: str, arguments: Sequence[str]) -> str:
    """Name the characters of refused words that look like others, with their columns: a pasted dash."""
    from berth.reading.lookalikes import note, places_in  # noqa: PLC0415 - only a mistake pays for it
    from berth.schema.documentproblems import shown  # noqa: PLC0415

    columns: dict[str, list[str]] = {}
    for word in arguments:
        parts = [(0, word), *((part.start(), part[0]) for part in re.finditer(r"[^ ,=]+", word))]
        refused = [(start, part) for start, part in parts if shown(part).lower() in message.lower()]
        for start, part in refused[:1]:
            for at in places_in(part, 0, len(part)):
                columns.setdefault(note(part, part[at], message), []).append(f"{start + at + 1}")
    return "".join(
        f" {text} in column{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}."
        for text, numbers in columns.items()
    )


def main(act: Callable[[Sequence[str]], int] = run) -> NoReturn:
    """Run the program. `act` runs the command."""
    gc.set_threshold(_MANY)
    if isinstance(sys.stdout, io.TextIOWrapper):  # the same bytes in every locale
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = _complete() if COMPLETE in os.environ else act(sys.argv[1:])
    except KeyboardInterrupt:
        silence(sys.stdout)  # what is still buffered is no longer wanted
        code = EXIT_INTERRUPTED
    except Exception:
        stderr(_report(sys.argv[1:]), is_prose=False)
        code = EXIT_INTERNAL
    gc.freeze()  # the interpreter would collect once more at exit, for a tenth of the run
    sys.exit(code)


def _complete() -> int:
    from click.shell_completion import shell_complete  # noqa: PLC0415

    from berth.cli.group import berth  # noqa: PLC0415

    try:
        return shell_complete(berth, {}, "berth", COMPLETE, os.environ[COMPLETE])
    except OSError as error:  # click writes the candidates
        silence(sys.stdout)
        return _lost(OutputLostError(error.strerror))


def _report(arguments: Sequence[str]) -> str:
    from traceback import format_exc  # noqa: PLC0415

    python = sys.version.split()[0]
    return (
        "berth: internal error; please report it with the text below.\n"
        f"berth {VERSION}, Python {python}, berth {' '.join(arguments)}\n{format_exc()}"
    )
