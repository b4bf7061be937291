"""Tables as aligned text for terminals, or as Markdown. Widths are what a terminal shows.

A cell stays one cell on one line: control characters in it are escaped.
"""

from collections.abc import Sequence
from unicodedata import category, east_asian_width

Rows = Sequence[Sequence[str]]

_JOINERS = "\u200c\u200d"  # cannot be seen, and scripts and emoji need them


def width(value: str) -> int:
    """Return the columns on a terminal: wide East Asian characters take two, marks and joiners none."""
    if value.isascii():
        return len(value)
    return sum(
        0 if category(c) in ("Mn", "Me", "Cf") else 2 if east_asian_width(c) in "WF" else 1 for c in value
    )


def text(headings: Sequence[str], rows: Rows) -> str:
    """Return an aligned table with upper-case headings."""
    shown = [[heading.upper() for heading in headings], *([visible(cell) for cell in row] for row in rows)]
    widths = [max(map(width, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        cells = [cell + " " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """Return a Markdown table; markup in cells is escaped."""
    lines = [headings, ["---"] * len(headings), *([_escaped(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def visible(cell: str) -> str:
    """Return the text with control and format characters escaped."""
    if cell.isprintable():
        return cell
    return "".join(c.encode("unicode_escape").decode() if _breaks_out(c) else c for c in cell)


def _breaks_out(character: str) -> bool:
    return character not in _JOINERS and category(character) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def _escaped(cell: str) -> str:
    return "".join(f"\\{c}" if c in "\\|`*_<>[]" else c for c in visible(cell))
