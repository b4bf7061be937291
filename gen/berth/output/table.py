"""Tables as aligned text for terminals, or as Markdown. Widths are what a terminal shows.

A cell stays one cell on one line: control characters in it are escaped.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple
from unicodedata import category, east_asian_width

Rows = Sequence[Sequence[str]]

GAP = "  "
ELLIPSIS = "\u2026"
_SPACE, _HYPHEN = re.compile(r"(?<!\d) "), re.compile(r"(?<!\d)-")  # a number stays with what it counts
_JOINERS = "\u200c\u200d"  # cannot be seen, and scripts and emoji need them


def width(value: str) -> int:
    """Return the columns on a terminal: wide East Asian characters take two, marks and joiners none."""
    if value.isascii():
        return len(value)
    return sum(
        0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in value
    )


class Fit(NamedTuple):
    """How a table becomes as narrow as a terminal. Columns are named by their headings."""

    columns: int | None  # of the terminal; None: the table stays as wide as it is
    cut: Collection[str] = ()  # the columns whose cells may end in an ellipsis
    spare: Sequence[str] = ()  # the columns that are left out, in this order, where that is not enough
    names: Collection[str] = ()  # the columns that are cut only where nothing else helps


def text(headings: Sequence[str], rows: Rows, fit: Fit | None = None) -> str:
    """Return an aligned table with upper-case headings."""
    shown = [[heading.upper() for heading in headings], *([visible(cell) for cell in row] for row in rows)]
    if fit is not None and fit.columns is not None:
        shown = _fitted(headings, shown, fit.columns, fit)
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        cells = [cell + " " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        lines.append(GAP.join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _fitted(headings: Sequence[str], rows: Rows, room: int, fit: Fit) -> list[list[str]]:
    """Return the rows with the widest columns cut, and without spare columns, as far as it must be."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(headings)}
    cells = {name: {*column} for name, column in columns.items()}
    cut = {*fit.cut}

    def needed(limit: int) -> int:
        """Return the width of the table with cells cut to a limit."""
        widths = [
            max(width(cut_at_word(cell, limit) if name in cut else cell) for cell in cells[name])
            for name in columns
        ]
        return sum(widths) + len(GAP) * (len(widths) - 1)

    for name in fit.spare:
        if needed(0) > room:
            columns.pop(name, None)
    if needed(0) > room:
        cut |= {*fit.names}
    limit = room
    while limit and needed(limit) > room:
        limit -= 1
    shown = [
        [cut_at_word(cell, limit) for cell in column] if name in cut else column
        for name, column in columns.items()
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def cut_at_word(cell: str, most: int) -> str:
    """Return the beginning of a text with an ellipsis, at most so wide if a word ends soon enough."""
    if width(cell) <= most:
        return cell
    beginnings = _beginnings(cell)
    return next((beginning for beginning in reversed(beginnings) if width(beginning) <= most), beginnings[0])


def _beginnings(cell: str) -> list[str]:
    """Return the text cut at each end of a word; at hyphens if it is one word. At least the text itself."""
    ends = [match.start() for match in (_SPACE if " " in cell else _HYPHEN).finditer(cell)]
    return [f"{cell[:end].rstrip(' ,;-')}{ELLIPSIS}" for end in ends if end] or [cell]


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; markup in cells is escaped."""
    lines = [headings, ["---"] * len(headings), *([escaped_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def visible(cell: str) -> str:
    """Return the text with control and format characters escaped."""
    if cell.isprintable():
        return cell
    return "".join(c.encode("unicode_escape").decode() if _breaks_out(c) else c for c in cell)


def _breaks_out(character: str) -> bool:
    return character not in _JOINERS and category(character) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def escaped_cell(cell: str) -> str:
    return "".join(f"\\{c}" if c in "\\|`*_<>[]" else c for c in visible(cell))
