"""Line charts as self-contained SVG for light and dark pages. Pure: the same chart gives the same bytes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from berth.charts.drawing import (
    ChartLine,
    LinePanel,
    TimeAxis,
    escaped,
    round_numbers,
    rounded,
    shortened,
    spread,
    written,
)
from berth.dates.moments import local_day, near_text

_WIDTH, _LEFT, _RIGHT = 760, 60, 118
_TOP, _HEAD, _HEIGHT, _FOOT = 64, 58, 240, 40  # of the picture; of each panel
_LABEL, _WORD = 18, 44  # least distances: of labels, downwards; of the words above a panel
_LONGEST_TITLE, _LONGEST_SUBTITLE, _MOST_STEPS = 78, 105, 12
_STYLE = """\
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.faint { fill: #59636e }
.label, .heading { font-weight: 600 }
.left { text-anchor: end }
.middle { text-anchor: middle }
.paper { fill: #ffffff; stroke: #d1d9e0 }
.lead { fill: #59636e; fill-opacity: .11 }
.grid { stroke: #59636e; stroke-opacity: .22 }
.axis { stroke: #59636e }
.line { fill: none; stroke-linejoin: round }
.area { fill-opacity: .13 }
.target.line, .maintain.line { stroke: #0969da; stroke-width: 2.5 }
.reduce.line { stroke: #d4651a; stroke-width: 4.5 }
.none.line { stroke: #59636e; stroke-width: 8; stroke-opacity: .35 }
.buffer.line { stroke: #8250df; stroke-width: 2.5; stroke-dasharray: 7 3 }
.sessions.line { stroke: #1a7f37; stroke-width: 2; stroke-dasharray: 2 3 }
.target.area { fill: #0969da }
text.target, text.maintain { fill: #0969da }
text.reduce { fill: #c2410c }
text.none { fill: #59636e }
text.buffer { fill: #8250df }
text.sessions { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.faint, text.none { fill: #9198a1 }
.paper { fill: #0d1117; stroke: #3d444d }
.lead { fill: #9198a1; fill-opacity: .16 }
.grid { stroke: #9198a1 }
.axis { stroke: #9198a1 }
.target.line, .maintain.line { stroke: #4493f8 }
.reduce.line { stroke: #f0883e }
.none.line { stroke: #9198a1 }
.buffer.line { stroke: #ab7df8 }
.sessions.line { stroke: #3fb950 }
.target.area { fill: #4493f8 }
text.target, text.maintain { fill: #4493f8 }
text.reduce { fill: #f0883e }
text.buffer { fill: #ab7df8 }
text.sessions { fill: #3fb950 }
}
"""


class _Plot(NamedTuple):
    """The position of a panel's lines, in units of the picture. `floor` is the line of zero."""

    span: TimeAxis
    top: int  # value
    floor: int

    def x(self, at: int) -> float:
        done, whole = at - self.span.open, self.span.end - self.span.open
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * done / whole

    def y(self, value: int) -> float:
        return self.floor - _HEIGHT * value / self.top


def line_chart(title: str, subtitle: str, panels: Sequence[LinePanel], span: TimeAxis) -> str:
    """Draw panels below each other, along the same time axis."""
    height = _TOP + len(panels) * (_HEAD + _HEIGHT + _FOOT)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{escaped(title)}</title>',
        f'<desc id="desc">{escaped(_described(subtitle, panels, span))}</desc>',
        f"<style>\n{_STYLE}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
        written(24, 34, shortened(title, _LONGEST_TITLE), "title"),
        written(24, 56, shortened(subtitle, _LONGEST_SUBTITLE), "faint"),
    ]
    for number, panel in enumerate(panels):
        top = _TOP + number * (_HEAD + _HEIGHT + _FOOT)
        parts += _panel(panel, _Plot(span, panel.top, top + _HEAD + _HEIGHT))
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: LinePanel, plot: _Plot) -> Iterator[str]:
    ceiling = plot.floor - _HEIGHT
    yield written(24, ceiling - 34, panel.title, "heading")
    yield from _background(panel, plot)
    for line in panel.lines:
        if line.name == "target":
            path = f"{_path(line, plot)}V{rounded(plot.floor)}H{rounded(plot.x(plot.span.open))}Z"
            yield f'<path class="area target" d="{path}"/>'
    for line in panel.lines:
        yield f'<path class="line {line.name}" d="{_path(line, plot)}"/>'
    yield from _labels(panel.lines, plot)


def _background(panel: LinePanel, plot: _Plot) -> Iterator[str]:
    span, ceiling = plot.span, plot.floor - _HEIGHT
    left, start, right = (rounded(plot.x(at)) for at in (span.open, span.start, span.end))
    if span.open < span.start:
        wide = rounded(plot.x(span.start) - plot.x(span.open))
        yield f'<rect class="lead" x="{left}" y="{ceiling}" width="{wide}" height="{_HEIGHT}"/>'
    for value in _values(panel):
        y = rounded(plot.y(value))
        yield f'<path class="{"grid" if value else "axis"}" d="M{left} {y}H{right}"/>'
        yield written(_LEFT - 10, plot.y(value) + 4.5, str(value), "faint left")
    for x in dict.fromkeys((start, right)):
        yield f'<path class="axis" d="M{x} {ceiling - 6}V{plot.floor}"/>'
    for at, text in span.ticks(9):
        x = rounded(plot.x(at))
        yield f'<path class="axis" d="M{x} {plot.floor}v5"/>'
        yield written(plot.x(at), plot.floor + 21, text, "faint middle")
    for place, text in _marks(plot):
        yield written(place, ceiling - 12, text, "faint middle")


def _marks(plot: _Plot) -> list[tuple[float, str]]:
    """Return the words above the panel; in a narrow lead only that of the start."""
    marks = [(plot.x(at), text) for at, text in plot.span.marks()]
    return [one for one, after in pairwise([*marks, (inf, "")]) if after[0] - one[0] > _WORD]


def _values(panel: LinePanel) -> list[int]:
    """Return round values and the reserved seats."""
    step = next(step for step in round_numbers() if panel.top <= 5 * step)
    apart = panel.top * 15 / _HEIGHT
    values = [
        value for value in range(0, panel.top + 1, step) if abs(value - panel.seats) > apart or not value
    ]
    return sorted({*values, panel.seats})


def _path(line: ChartLine, plot: _Plot) -> str:
    """Return the steps of a line."""
    (at, value), *rest = line.points
    path = f"M{rounded(plot.x(at))} {rounded(plot.y(value))}"
    for at, following in rest:
        if following != value:
            path += f"H{rounded(plot.x(at))}V{rounded(plot.y(following))}"
            value = following
    return path + f"H{rounded(plot.x(plot.span.end))}"


def _labels(lines: Sequence[ChartLine], plot: _Plot) -> Iterator[str]:
    """Draw labels beside the ends of the lines."""
    end = plot.span.end
    ordered = sorted(lines, key=lambda line: -line.value_before(end))
    places = spread([plot.y(line.value_before(end)) for line in ordered], _LABEL, plot.floor)
    for line, y in zip(ordered, places, strict=True):
        yield written(plot.x(end) + 10, y + 4.5, line.label(end), f"label {line.name}")


def _described(subtitle: str, panels: Sequence[LinePanel], span: TimeAxis) -> str:
    """Describe the chart in words."""
    sentences = [f"{subtitle}."]
    for panel in panels:
        sentences.append(f"{panel.title}:")
        sentences += [f"{line.words}: {_steps(line, span)}." for line in panel.lines]
    return " ".join(sentences)


def _steps(line: ChartLine, span: TimeAxis) -> str:
    steps = [(at, value) for (_, old), (at, value) in pairwise([(0, -1), *line.points]) if value != old]
    day = local_day(span.start, span.zone)
    words = [f"{value} from {near_text(at, span.zone, day)}" for at, value in steps]
    if len(words) > _MOST_STEPS:
        words[_MOST_STEPS - 2 : -1] = ["and so on"]
    return ", ".join(words)
