"""One text after the other: on a terminal in its place, elsewhere only the lines that are new."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gen.table import width

Write = Callable[[str], None]

_HOME, _REST_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"
_BEGIN, _END = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_COLOUR = re.compile(r"\x1b\[\d+m")


@contextmanager
def on_screen(
    write: Write, size: Callable[[], tuple[int, int]] = shutil.get_terminal_size
) -> Iterator[Write]:
    """A screen of its own, and afterwards the old one. Each text is written over the one before, in one go
    and without clearing first, so nothing flickers. `size` is columns and lines.
    """

    def show(text: str) -> None:
        lines = [f"{line}{_REST_OF_LINE}" for line in _that_fit(text.splitlines(), *size())]
        write(_HOME + "\r\n".join(lines) + _REST)

    write(_BEGIN)
    try:
        yield show
    finally:
        write(_END)


def _that_fit(lines: list[str], columns: int, rows: int) -> list[str]:
    """As many as there is room for; the terminal breaks long ones."""
    taken = [max(1, -(-width(_COLOUR.sub("", line)) // columns)) for line in lines]
    if sum(taken) <= rows:
        return lines
    number = 0
    while sum(taken[: number + 1]) < rows:
        number += 1
    return [*lines[:number], f"... and {len(lines) - number} more lines"]


@contextmanager
def changes(write: Write) -> Iterator[Write]:
    """Writes the first text whole, and of each further one the lines that the one before did not have. Spaces
    make no difference: one wider cell moves a whole table.
    """
    before: set[str] = set()

    def show(text: str) -> None:
        lines = {_words(line): line for line in text.splitlines()}
        new = [line for words, line in lines.items() if words not in before] if before else text.splitlines()
        before.clear()
        before.update(lines)
        if new:
            write("".join(f"{line}\n" for line in new))

    yield show


def _words(line: str) -> str:
    return " ".join(line.split())
