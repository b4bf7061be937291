"""The program's stdout and stderr, what it knows of the terminal and the environment, and its exit codes.

A reader that goes away (`berth occurrences | head`) changes neither what a command does nor its exit code:
what nobody reads is dropped.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TypeVar

from berth.output.escape import printed
from berth.output.table import INDENT, wrapped
from berth.output.table import width as width_of

T = TypeVar("T")
Write = Callable[[str], None]

EXIT_OK, EXIT_BAD_INPUT, EXIT_USAGE, EXIT_INTERNAL, EXIT_STALE, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130
COMPLETE = "_BERTH_COMPLETE"
"""The environment variable by which the shells' completion scripts ask for candidates."""
DEFAULT_COLUMNS = 80
_PATIENCE = 1.0  # seconds before the first report of progress, and between two of them
_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
_ENTER_SCREEN, _LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_COLOR = re.compile(r"\x1b\[\d+m")


class OutputLostError(Exception):
    """Output that cannot be written; the message is the operating system's."""


def stdout(text: str, *, is_data: bool = False) -> None:
    """Write a result. `is_data`: for a program, and as it is."""
    _write(sys.stdout, text if is_data else printed(text, has_color=has_color(sys.stdout)))


def stderr(text: str, *, is_prose: bool = True, is_data: bool = False) -> None:
    """Write everything else: findings, errors, hints. A terminal gets prose broken at words."""
    if is_prose and not is_data:
        text = wrapped(text, columns(sys.stderr), INDENT)
    if sys.stderr is not None:
        _write(sys.stderr, text if is_data else printed(text, has_color=has_color(sys.stderr)))


def controls(text: str) -> None:
    """Write text with control sequences to the terminal."""
    _write(sys.stdout, text)


def _write(stream: IO[str] | None, text: str) -> None:
    if stream is None:  # it was closed before the program began
        raise OutputLostError("it is closed")
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        raise OutputLostError(error.strerror) from error


def silence(stream: IO[str] | None) -> None:
    """Send everything that is still written there, or buffered, to the null device."""
    if stream is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def is_terminal(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return isatty is not None and bool(isatty())


def has_color(stream: object) -> bool:
    """Whether to color: on a terminal, unless NO_COLOR or TERM=dumb is set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns(stream: object) -> int | None:
    """Return the width of a terminal; None where the stream is not a terminal."""
    if not is_terminal(stream):
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS  # type: ignore[attr-defined] # a terminal
    except OSError:
        return DEFAULT_COLUMNS


def progress(
    items: Iterable[T], total: int, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
) -> Generator[T, None, None]:
    """Yield the items and report how far they are, on a terminal and only after a second.

    `total` is the expected number of items; `stream` is stderr by default.
    """
    stream = stream or sys.stderr
    if stream is None or not stream.isatty():
        yield from items
        return
    last, reported = clock(), False
    try:
        for number, item in enumerate(items):
            now = clock()
            if now - last >= _PATIENCE:
                stream.write(f"\r{number} of {total} reservations")
                stream.flush()
                last, reported = now, True
            yield item
    finally:
        if reported:
            stream.write(f"\r{_CLEAR_LINE}")
            stream.flush()


@contextmanager
def on_screen(write: Write, size: Callable[[], tuple[int, int]] | None = None) -> Iterator[Write]:
    """Show one text after the other on the alternate screen of the terminal.

    Each is written over the one before without clearing first, so nothing flickers. `write` takes control
    sequences, and `size` is columns and lines.
    """
    from shutil import get_terminal_size  # noqa: PLC0415 - it imports compression

    def show(text: str) -> None:
        shown = printed(text, has_color=has_color(sys.stdout)).splitlines()
        lines = [f"{line}{_CLEAR_LINE}" for line in _that_fit(shown, *(size or get_terminal_size)())]
        write(_HOME + "\r\n".join(lines) + _CLEAR_BELOW)

    write(_ENTER_SCREEN)
    try:
        yield show
    finally:
        write(_LEAVE_SCREEN)


def _that_fit(lines: list[str], columns: int, rows: int) -> list[str]:
    """Return as many lines as fit; the terminal wraps long ones."""
    taken = [max(1, -(-width_of(_COLOR.sub("", line)) // columns)) for line in lines]
    if sum(taken) <= rows:
        return lines
    number = 0
    while sum(taken[: number + 1]) < rows:
        number += 1
    return [*lines[:number], f"... and {len(lines) - number} more lines"]


@contextmanager
def new_lines(write: Write) -> Iterator[Write]:
    """Write the first text whole, and of each further one the lines that the one before did not have.

    Lines that differ in spaces only are the same: one wider cell moves a whole table.
    """
    before: set[str] = set()

    def show(text: str) -> None:
        lines = {" ".join(line.split()): line for line in text.splitlines()}
        new = [line for words, line in lines.items() if words not in before] if before else text.splitlines()
        before.clear()
        before.update(lines)
        if new:
            write("".join(f"{line}\n" for line in new))

    yield show
