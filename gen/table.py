"""Rows as a table: aligned text for terminals, or Markdown for a comment. Widths count what a terminal shows."""

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

Rows = Sequence[Sequence[str]]


def width(value: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining marks none."""
    if value.isascii():
        return len(value)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in value)


def text(headings: Sequence[str], rows: Rows) -> str:
    widths = [max(map(width, column)) for column in zip(headings, *rows, strict=True)]
    lines = []
    for row in [[heading.upper() for heading in headings], *rows]:
        cells = [cell + " " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def markdown(headings: Sequence[str], rows: Rows) -> str:
    lines = [headings, ["---"] * len(headings), *([_escaped(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(cell: str) -> str:
    return "".join(f"\\{c}" if c in "\\|`*_<>[]" else c for c in cell)
