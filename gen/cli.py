"""The command line: from arguments to an exit code, and the last resort for what nobody expected.

It imports no command before it is asked for, so that `--version`, `--help` and completion cost little more
than Python itself. No other module exits, or changes the folder that the process works in.
"""

import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

from gen.command.asked import UsageError, parse
from gen.command.exits import GOOD, INTERRUPTED, OUR_FAULT, USAGE
from gen.command.say import OutputLostError, say, silence
from gen.version import VERSION


def run(arguments: Sequence[str]) -> int:
    """One command; answers its exit code. Only what nobody foresaw is raised."""
    try:
        return _run(arguments)
    except UsageError as error:
        say(f"berth: {error}\n", aside=True)
        return USAGE
    except OutputLostError as error:
        say(f"berth: the answer cannot be written: {error}.\n", aside=True)
        return OUR_FAULT


def _run(arguments: Sequence[str]) -> int:
    asked = parse(arguments)
    if asked.has("--version"):
        say(f"berth {VERSION}\n")
        return GOOD
    if asked.has("--help") or not asked.command.name:
        from gen.command import usage  # noqa: PLC0415

        say(usage.text(asked.command), aside=not asked.has("--help"))
        return GOOD if asked.has("--help") else USAGE
    _enter(asked.value("-C"))
    code: int = import_module(f"gen.command.{asked.command.name}").run(asked)
    return code


def _enter(folder: str | None) -> None:
    """-C, as git and make have it: every other path is relative to this folder."""
    if folder is None:
        return
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(f"-C {folder}: {error.strerror}.") from error


def main(act: Callable[[Sequence[str]], int] = run) -> NoReturn:
    """The program. `act` does the work."""
    gc.disable()  # a run is short and makes no circles worth a fifth of its time
    if isinstance(sys.stdout, io.TextIOWrapper):  # the same bytes in every locale, whatever a folder's name
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = act(sys.argv[1:])
    except KeyboardInterrupt:
        silence(sys.stdout)  # what it holds back is no longer wanted, and its reader may never take it
        code = INTERRUPTED
    except Exception:  # the last resort: whatever it is, it is our fault
        say(_report(sys.argv[1:]), aside=True)
        code = OUR_FAULT
    gc.freeze()  # Python would still look for circles among all that is left, for a tenth of the run
    sys.exit(code)


def _report(arguments: Sequence[str]) -> str:
    from traceback import format_exc  # noqa: PLC0415

    python = sys.version.split()[0]
    return (
        "berth: this is our fault, not yours. Please report it with the text below.\n"
        f"berth {VERSION}, Python {python}, berth {' '.join(arguments)}\n{format_exc()}"
    )
