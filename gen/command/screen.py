"""How wide is the reader's terminal, and what can it show? A file or a pipe gets the same everywhere."""

import os
from collections.abc import Mapping

from gen.chart.terminal import TerminalStyle
from gen.command.answer import coloured

_USUAL_WIDTH = 80


def look(stream: object) -> TerminalStyle:
    columns = width(stream)
    if columns is None:
        return TerminalStyle(_USUAL_WIDTH)
    return TerminalStyle(columns, boxes=shows_boxes(os.environ), color=coloured(stream))


def width(stream: object) -> int | None:
    """Columns; None where it is no terminal."""
    isatty = getattr(stream, "isatty", None)
    if isatty is None or not isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH  # type: ignore[attr-defined] # a terminal
    except OSError:
        return _USUAL_WIDTH


def shows_boxes(environment: Mapping[str, str]) -> bool:
    """By what the locale says of the terminal; one that says nothing is taken for a terminal of today.

    Where the locale is C, Python itself sets LC_CTYPE to C.UTF-8: that says nothing about the terminal.
    """
    if environment.get("TERM") == "dumb":
        return False
    said = [environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if said[1] == "C.UTF-8" and said[2] in ("C", "POSIX"):
        del said[1]
    name = next((value for value in said if value), "")
    return not name or "utf8" in name.lower().replace("-", "")
