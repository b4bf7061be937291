"""Line charts in the terminal: box-drawing characters, or ASCII where needed. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from berth.charts.drawing import ChartLine, LinePanel, TimeAxis, round_numbers, scale, spread


class _Cell(NamedTuple):
    character: str = " "
    color: str = ""


class Grid:
    """Characters by row (from the top) and column. What lies outside is ignored."""

    def __init__(self, rows: int, columns: int) -> None:
        self._rows = [[_Cell()] * columns for _ in range(rows)]

    def put(self, row: int, column: int, text: str, color: str = "") -> None:
        """Write text. `color` is an ECMA-48 number such as 36; empty: the terminal's default."""
        cells = self._rows[row]
        for at, character in enumerate(text, column):
            if 0 <= at < len(cells):
                cells[at] = _Cell(character, color)

    def is_free(self, row: int, first: int, end: int) -> bool:
        return all(cell.character == " " for cell in self._rows[row][max(first, 0) : end])

    def text(self, *, color: bool) -> str:
        return "".join(f"{_row_text(row, color)}\n" for row in self._rows)


def _row_text(cells: list[_Cell], color: bool) -> str:
    """Return the text of a row without trailing blanks."""
    filled = len("".join(cell.character for cell in cells).rstrip())
    line, shown = "", ""
    for cell in cells[:filled]:
        if color and cell.color != shown and cell.character != " ":
            shown = cell.color
            line += f"\x1b[{shown or 0}m"
        line += cell.character
    return line + "\x1b[0m" * bool(shown)


_ROWS, _TICKS, _NARROWEST = 16, 4, 24
_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
# One character for each set of sides that a cell joins, by the sum of these.
_HEAVY = " ╹╻┃╸┛┓┫╺┗┏┣━┻┳╋"
_DOUBLE = " ║║║═╝╗╣═╚╔╠═╩╦╬"
_LIGHT = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"
_DOTTED = " ╵╷┊╴╯╮┤╶╰╭├┈┴┬┼"
_DASHED = " ╵╷╎╴╯╮┤╶╰╭├╌┴┬┼"
_DRAWN = {
    "target": _HEAVY,
    "maintain": _HEAVY,
    "reduce": _DOUBLE,
    "none": _LIGHT,
    "buffer": _DASHED,
    "sessions": _DOTTED,
}
_TYPED = {"target": "#", "maintain": "#", "reduce": "*", "none": "-", "buffer": "+", "sessions": "."}
_COLORS = {"target": "36", "maintain": "36", "reduce": "35", "none": "33", "buffer": "31", "sessions": "32"}
_FAINT = "90"


class TerminalStyle(NamedTuple):
    """How a terminal shows charts."""

    width: int  # of the terminal, in columns
    boxes: bool = True
    color: bool = False


class _Scale(NamedTuple):
    """Each `unit` of value has `rows`; the highest row is `top`, the row of zero is 0."""

    unit: int
    rows: int
    top: int

    def row(self, value: int) -> int:
        """Return the nearest row; never that of zero for more than zero."""
        nearest = (2 * value * self.rows + self.unit) // (2 * self.unit)
        return max(nearest, 1) if value else 0

    def ticks(self, seats: int) -> dict[int, int]:
        """Return round values by row, and the reserved seats."""
        highest = self.top * self.unit // self.rows
        steps = (step for step in round_numbers() if not step * self.rows % self.unit)
        step = next(step for step in steps if highest <= step * _TICKS)
        values = {self.row(value): value for value in range(0, highest + 1, step)}
        own = self.row(seats)
        return {row: value for row, value in values.items() if not row or abs(row - own) > 1} | {own: seats}


def _scale(top: int) -> _Scale:
    unit = scale(top, _ROWS)
    steps = -(-top // unit)
    rows = max(_ROWS // 2 // steps, 1)
    return _Scale(unit, rows, steps * rows)


class _Plot(NamedTuple):
    """The position of the lines: `left` is the first column; the end lies in the last."""

    span: TimeAxis
    scale: _Scale
    ticks: dict[int, int]
    left: int
    columns: int

    def column(self, at: int) -> int:
        done, whole = at - self.span.open, self.span.end - self.span.open
        return self.left + done * (self.columns - 1) // whole

    def row(self, value: int) -> int:
        """Return the row of a value, from the top."""
        return self.scale.top - self.scale.row(value)


def draw(panel: LinePanel, span: TimeAxis, look: TerminalStyle) -> str:
    """Draw a panel, at most as wide as the terminal but wide enough to read."""
    scaled = _scale(panel.top)
    ticks = scaled.ticks(panel.seats)
    margin = max(len(str(value)) for value in ticks.values()) + 2
    right = max(len(line.label(span.end)) for line in panel.lines) + 1
    columns = max(look.width - margin - right, _NARROWEST)
    plot = _Plot(span, scaled, ticks, margin, columns)
    grid = Grid(scaled.top + 4, margin + columns + right)
    _axes(grid, plot, look)
    for line in panel.lines:
        for (row, column), sides in _path(line, plot).items():
            character = _DRAWN[line.name][sides] if look.boxes else _TYPED[line.name]
            grid.put(row, column, character, _COLORS[line.name])
    _label(grid, plot, panel.lines)
    return grid.text(color=look.color)


def _axes(grid: Grid, plot: _Plot, look: TerminalStyle) -> None:
    side, tick, corner, floor, notch, mark = "│┤└─┬┊" if look.boxes else "||+-+:"
    bottom, left = plot.scale.top, plot.left
    for row in range(bottom + 1):
        value = plot.ticks.get(bottom - row)
        grid.put(row, 0, f"{'' if value is None else value:>{left - 2}}")
        grid.put(row, left - 1, side if value is None else tick, _FAINT)
        grid.put(row, plot.column(plot.span.start), mark, _FAINT)
    grid.put(bottom + 1, left - 1, corner + floor * plot.columns, _FAINT)
    for at, text in plot.span.ticks(plot.columns // 8):
        column = plot.column(at)
        grid.put(bottom + 1, column, notch, _FAINT)
        _centered(grid, bottom + 2, column, text)
    for at, text in reversed(plot.span.marks()):
        _centered(grid, bottom + 3, plot.column(at), text, _FAINT)


def _centered(grid: Grid, row: int, column: int, text: str, color: str = "") -> None:
    """Write centered text if there is room."""
    first = column - len(text) // 2
    if grid.is_free(row, first - 1, first + len(text) + 1):
        grid.put(row, first, text, color)


def _path(line: ChartLine, plot: _Plot) -> dict[tuple[int, int], int]:
    """Return the sides that each cell of the line joins."""
    sides: dict[tuple[int, int], int] = {}

    def join(row: int, column: int, side: int) -> None:
        sides[row, column] = sides.get((row, column), 0) | side

    by_column: dict[int, list[int]] = {}
    for at, value in line.points:
        by_column.setdefault(plot.column(at), []).append(plot.row(value))
    row = by_column[plot.left][0]
    last = plot.left + plot.columns - 1
    for column in range(plot.left, last + 1):
        join(row, column, _LEFT)
        before = row
        for following in by_column.get(column, ()):
            way, back, step = (_DOWN, _UP, 1) if following > row else (_UP, _DOWN, -1)
            for passed in range(row, following, step):
                join(passed, column, way)
                join(passed + step, column, back)
            row = following
        if column < last or row == before:
            join(row, column, _RIGHT)
    return sides


def _label(grid: Grid, plot: _Plot, lines: Sequence[ChartLine]) -> None:
    """Write labels beside the ends of the lines."""
    end = plot.span.end
    ordered = sorted(lines, key=lambda line: -line.value_before(end))
    rows = spread([plot.row(line.value_before(end)) for line in ordered], 1, plot.scale.top)
    for line, row in zip(ordered, rows, strict=True):
        grid.put(int(row), plot.left + plot.columns + 1, line.label(end), _COLORS[line.name])
