"""Tables as aligned text for terminals, or as Markdown. Widths are what a terminal shows.

A cell stays one cell on one line: control characters in it are escaped.
"""

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import category, east_asian_width

from berth.output.escape import in_markdown, visible

Rows = Sequence[Sequence[str]]

GAP = "  "
_SPACE, _HYPHEN = re.compile(r"(?<=(?<!\d) )"), re.compile(r"(?<=(?<!\d)-)")  # where a line may end
_ESCAPE = re.compile(r"\x1b\[\d*m")  # colors take no columns


def width(value: str) -> int:
    """Return the columns on a terminal: wide East Asian characters take two, marks and joiners none."""
    if value.isascii():
        return len(value)
    return sum(
        0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in value
    )


class Fit(NamedTuple):
    """How a table becomes as narrow as a terminal. Columns are named by their headings."""

    columns: int | None  # of the terminal; None: the table stays as wide as it is, and a row is one line
    breaks: Collection[str] = ()  # the columns whose cells may take several lines
    spare: Sequence[str] = ()  # the columns that are left out, in this order, where that is not enough
    names: Collection[str] = ()  # the columns whose cells are broken only where nothing else helps


def text(headings: Sequence[str], rows: Rows, fit: Fit | None = None) -> str:
    """Return an aligned table with upper-case headings."""
    shown = [[heading.upper() for heading in headings], *([visible(cell) for cell in row] for row in rows)]
    lines = [[[cell] for cell in row] for row in shown]
    if fit is not None and fit.columns is not None:
        lines = _fitted(headings, shown, fit.columns, fit)
    widths = [max(width(line) for cell in column for line in cell) for column in zip(*lines, strict=True)]
    printed = []
    for row in lines:
        for parts in zip_longest(*row, fillvalue=""):
            cells = [part + " " * (most - width(part)) for part, most in zip(parts, widths, strict=True)]
            printed.append(GAP.join(cells).rstrip())
    return "\n".join(printed) + "\n"


def _fitted(headings: Sequence[str], rows: Rows, room: int, fit: Fit) -> list[list[list[str]]]:
    """Return the lines of each cell: the widest are broken, and spare columns left out, as far as needed."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(headings)}
    cells = {name: {*column} for name, column in columns.items()}
    broken = {*fit.breaks}

    def needed(limit: int) -> int:
        """Return the width of the table with cells broken at a limit."""
        widths = [
            max(
                max(map(width, cell_lines(cell, limit))) if name in broken else width(cell)
                for cell in cells[name]
            )
            for name in columns
        ]
        return sum(widths) + len(GAP) * (len(widths) - 1)

    for name in fit.spare:
        if needed(0) > room:
            columns.pop(name, None)
    if needed(0) > room:
        broken |= {*fit.names}
    limit = room
    while limit and needed(limit) > room:
        limit -= 1
    shown = [
        [cell_lines(cell, limit) if name in broken else [cell] for cell in column]
        for name, column in columns.items()
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def cell_lines(cell: str, most: int) -> list[str]:
    """Break a text at words, or at hyphens if it is one word, into lines of at most so many columns.

    What cannot be broken is longer: a number stays with what it counts, and a date whole.
    """
    if width(cell) <= most:
        return [cell]
    lines, line = list[str](), ""
    for part in (_SPACE if " " in cell else _HYPHEN).split(cell):
        if line and width(line + part.rstrip()) > most:
            lines.append(line.rstrip())
            line = ""
        line += part
    return [*lines, line.rstrip()]


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; markup in cells is escaped."""
    lines = [headings, ["---"] * len(headings), *(map(in_markdown, row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


INDENT = 4  # of the further lines of a sentence that a terminal breaks


def wrapped(text: str, columns: int | None, indent: int = 0) -> str:
    """Break a text at spaces into lines of at most so many columns; None: do not break it.

    Further lines are indented. A word that is too long stays whole, so that paths and commands can be copied.
    """
    if columns is None:
        return text
    return "\n".join("\n".join(_wrapped(line, columns, indent)) for line in text.split("\n"))


def _wrapped(text: str, columns: int, indent: int) -> list[str]:
    lines, line = list[str](), ""
    for word in re.findall(r" *[^ ]+|^ *$", text):
        if line.strip() and width(_ESCAPE.sub("", line + word)) > columns:
            lines.append(line)
            line = " " * indent + word.lstrip(" ")
        else:
            line += word
    return [*lines, line]
