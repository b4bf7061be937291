"""Stacked bar charts over days, weeks or months, as SVG for light and dark pages.

Pure: the same values give the same bytes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.charts.drawing import escaped, round_numbers, rounded, shortened, written

_WIDTH, _LEFT, _RIGHT = 760, 78, 24
_TOP, _HEAD, _HEIGHT, _FOOT = 70, 48, 150, 34  # of the picture; of each panel
_LONGEST_TITLE, _LONGEST_SUBTITLE = 78, 108
_MOST_LABELS, _LETTER = 12, 8
_STYLE = """\
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.heading { font-weight: 600 }
.faint { fill: #59636e }
.left { text-anchor: end }
.middle { text-anchor: middle }
.paper { fill: #ffffff; stroke: #d1d9e0 }
.grid { stroke: #59636e; stroke-opacity: .22 }
.axis { stroke: #59636e }
.seats { fill: #8250df }
.reserved, .idle { fill: #1a7f37 }
.idle { fill-opacity: .3 }
.on-demand { fill: #0969da }
.spot { fill: #c2410c }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.faint { fill: #9198a1 }
.paper { fill: #0d1117; stroke: #3d444d }
.grid { stroke: #9198a1 }
.axis { stroke: #9198a1 }
.seats { fill: #a371f7 }
.reserved, .idle { fill: #3fb950 }
.on-demand { fill: #4493f8 }
.spot { fill: #f0883e }
}
"""


class BarLayer(NamedTuple):
    """A layer of bars: `seats`, `reserved`, `idle`, `on-demand` or `spot`, with a value for each bin."""

    name: str
    values: tuple[float, ...]


class BarPanel(NamedTuple):
    """Layers, the lowest first."""

    title: str
    layers: tuple[BarLayer, ...]

    @property
    def tops(self) -> list[float]:
        return [sum(column) for column in zip(*(layer.values for layer in self.layers), strict=True)]


def bar_chart(title: str, subtitle: str, panels: Sequence[BarPanel], bins: Sequence[str]) -> str:
    """Draw panels below each other; `bins` are the labels below the bars."""
    height = _TOP + len(panels) * (_HEAD + _HEIGHT + _FOOT)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{escaped(title)}</title>',
        f'<desc id="desc">{escaped(_described(subtitle, panels, bins))}</desc>',
        f"<style>\n{_STYLE}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
        written(24, 34, shortened(title, _LONGEST_TITLE), "title"),
        written(24, 56, shortened(subtitle, _LONGEST_SUBTITLE), "faint"),
    ]
    for place, panel in enumerate(panels):
        floor = _TOP + place * (_HEAD + _HEIGHT + _FOOT) + _HEAD + _HEIGHT
        parts += _panel(panel, bins, floor)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: BarPanel, bins: Sequence[str], floor: int) -> Iterator[str]:
    ceiling = floor - _HEIGHT
    yield written(24, ceiling - 18, panel.title, "heading")
    yield from _legend(panel, ceiling - 18)
    top, marks = _axis(max(panel.tops, default=0))
    for value in marks:
        y = floor - _HEIGHT * value / top
        style = "grid" if value else "axis"
        yield f'<path class="{style}" d="M{_LEFT} {rounded(y)}H{_WIDTH - _RIGHT}"/>'
        yield written(_LEFT - 10, y + 4.5, f"{value:,}", "faint left")
    yield from _bars(panel, len(bins), floor, top)
    yield from _below(bins, floor)


def _legend(panel: BarPanel, y: float) -> Iterator[str]:
    """Draw the legend if more than one layer is visible."""
    shown = [layer for layer in panel.layers if any(layer.values)]
    x = float(_WIDTH - _RIGHT)
    for layer in reversed(shown) if len(panel.layers) > 1 else ():
        x -= len(layer.name) * _LETTER
        yield written(x, y, layer.name, "faint")
        x -= 15
        yield f'<rect class="{layer.name}" x="{rounded(x)}" y="{rounded(y - 10)}" width="10" height="10"/>'
        x -= 18


def _axis(most: float) -> tuple[int, list[int]]:
    """Return at most five round values, the highest above every bar."""
    step = next(step for step in round_numbers() if most <= 4 * step)
    steps = max(1, -int(-most // step))
    return step * steps, [step * i for i in range(steps + 1)]


def _bars(panel: BarPanel, number: int, floor: int, top: int) -> Iterator[str]:
    wide = (_WIDTH - _LEFT - _RIGHT) / max(number, 1)
    gap = min(wide * 0.2, 6)
    for place in range(number):
        y = float(floor)
        for layer in panel.layers:
            high = _HEIGHT * layer.values[place] / top
            if high:
                y -= high
                x = _LEFT + place * wide + gap / 2
                yield (
                    f'<rect class="{layer.name}" x="{rounded(x)}" y="{rounded(y)}" '
                    f'width="{rounded(wide - gap)}" height="{rounded(high)}"/>'
                )


def _below(bins: Sequence[str], floor: int) -> Iterator[str]:
    wide = (_WIDTH - _LEFT - _RIGHT) / max(len(bins), 1)
    every = -(-len(bins) // _MOST_LABELS)
    for place, text in enumerate(bins):
        if place % every == 0:
            yield written(_LEFT + (place + 0.5) * wide, floor + 19, text, "faint middle")


def _described(subtitle: str, panels: Sequence[BarPanel], bins: Sequence[str]) -> str:
    """Describe the highest bar of each panel in words."""
    sentences = [f"{subtitle}."]
    for panel in panels:
        tops = panel.tops
        most = max(tops, default=0.0)
        if most:
            place = tops.index(most)
            parts = [
                f"{rounded(layer.values[place])} {layer.name}"
                for layer in panel.layers
                if layer.values[place]
            ]
            sentences.append(f"{panel.title}: most in {bins[place]}, {', '.join(parts)}.")
        else:
            sentences.append(f"{panel.title}: nothing.")
    return " ".join(sentences)
