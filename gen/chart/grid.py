"""Characters by row and column, each with its colour. Pure."""

from typing import NamedTuple


class _Cell(NamedTuple):
    character: str = " "
    colour: str = ""


class Grid:
    """Rows count from the top. What is put outside of it is not seen."""

    def __init__(self, rows: int, columns: int) -> None:
        self._rows = [[_Cell()] * columns for _ in range(rows)]

    def put(self, row: int, column: int, text: str, colour: str = "") -> None:
        """`colour` is a number of ECMA-48, as 36; empty: the terminal's own."""
        cells = self._rows[row]
        for at, character in enumerate(text, column):
            if 0 <= at < len(cells):
                cells[at] = _Cell(character, colour)

    def is_free(self, row: int, first: int, end: int) -> bool:
        return all(cell.character == " " for cell in self._rows[row][max(first, 0) : end])

    def text(self, *, colour: bool) -> str:
        return "".join(f"{_line(row, colour)}\n" for row in self._rows)


def _line(cells: list[_Cell], colour: bool) -> str:
    """Without blanks at its end."""
    filled = len("".join(cell.character for cell in cells).rstrip())
    line, shown = "", ""
    for cell in cells[:filled]:
        if colour and cell.colour != shown and cell.character != " ":
            shown = cell.colour
            line += f"\x1b[{shown or 0}m"
        line += cell.character
    return line + "\x1b[0m" * bool(shown)
