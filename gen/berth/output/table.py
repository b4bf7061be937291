"""Tables as aligned text for terminals, or as Markdown. Widths are what a terminal shows.

A cell stays one cell on one line: control characters in it are escaped.
"""

import re
import sys
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import category, east_asian_width

from berth.output.escape import in_markdown, visible

Rows = Sequence[Sequence[str]]

GAP = "  "
_NARROWEST = 16  # a broken cell
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
    """How a table becomes as narrow as a terminal. Nothing of it is left out."""

    columns: int | None  # of the terminal; None: the table stays as wide as it is, and a row is one line
    breaks: Collection[str] = ()  # the headings of those columns whose cells may take several lines


def text(headings: Sequence[str], rows: Rows, fit: Fit | None = None) -> str:
    """Return an aligned table with upper-case headings.

    Where it is too wide also with broken cells, each row takes several lines, and so do the headings.
    """
    shown = [[heading.upper() for heading in headings], *([visible(cell) for cell in row] for row in rows)]
    fit = fit or Fit(None)
    columns = [
        _ShownColumn({*cells}, heading in fit.breaks)
        for heading, cells in zip(headings, zip(*shown, strict=True), strict=True)
    ]
    limit, parts = _fitted(columns, fit.columns)
    widths = [column.width(limit) for column in columns]
    printed = []
    for row in shown:
        cells = [column.lines(cell, limit) for column, cell in zip(columns, row, strict=True)]
        for part in parts:
            for texts in zip_longest(*(cells[place] for place in part), fillvalue=""):
                padded = [text + " " * (widths[i] - width(text)) for i, text in zip(part, texts, strict=True)]
                line = GAP.join(padded).rstrip()
                if part is parts[0]:
                    printed.append(line)
                elif line:
                    printed.append(" " * INDENT + line)
    return "\n".join(printed) + "\n"


class _ShownColumn(NamedTuple):
    """The different cells of a column, and whether they may take several lines."""

    cells: Collection[str]
    may_break: bool

    def lines(self, cell: str, limit: int) -> list[str]:
        return cell_lines(cell, limit) if self.may_break else [cell]

    def width(self, limit: int) -> int:
        return max(width(line) for cell in self.cells for line in self.lines(cell, limit))


def _fitted(columns: Sequence[_ShownColumn], room: int | None) -> tuple[int, list[range]]:
    """Return at which width cells are broken, and which columns stand beside each other."""
    whole = range(len(columns))
    if room is None:
        return sys.maxsize, [whole]

    def needed(part: range, limit: int) -> int:
        return sum(columns[place].width(limit) for place in part) + len(GAP) * (len(part) - 1)

    for limit in range(room, _NARROWEST - 1, -1):
        if needed(whole, limit) <= room:
            return limit, [whole]
    limit, parts = room - INDENT, [range(1)]
    for place in whole[1:]:
        wider = range(parts[-1].start, place + 1)
        if needed(wider, limit) + INDENT * (len(parts) > 1) <= room:
            parts[-1] = wider
        else:
            parts.append(range(place, place + 1))
    return limit, parts


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
