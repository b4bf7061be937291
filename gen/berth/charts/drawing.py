"""What a chart shows: lines over time, the marks of its axes, and text in SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import NamedTuple

from berth.dates.zone import DAY, Zone, clock, day_of, local, resolve
from berth.notation.weekdays import WEEKDAYS
from berth.output.table import visible, width


def written(x: float, y: float, said: str, style: str) -> str:
    return f'<text class="{style}" x="{rounded(x)}" y="{rounded(y)}">{escaped(said)}</text>'


def escaped(value: str) -> str:
    return escape(visible(value), quote=False)


def shortened(said: str, longest: int) -> str:
    if width(said) <= longest:
        return said
    kept = list(accumulate(said))
    return next(part for part in reversed(kept) if width(part) < longest) + "…"


def rounded(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


SESSIONS, TARGET = "sessions", "target"
_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, DAY, 2 * DAY, 7 * DAY, 28 * DAY)  # minutes


class ChartLine(NamedTuple):
    """A line of steps: `sessions`, `target`, or a behavior.

    `points` are (instant, value) from the opening on; a value holds until the next.
    """

    name: str
    points: tuple[tuple[int, int], ...]
    title: str = ""  # for people; default: the name

    @property
    def words(self) -> str:
        return self.title or self.name

    def value_before(self, at: int) -> int:
        return next((value for when, value in reversed(self.points) if when < at), 0)

    def label(self, at: int) -> str:
        """Return the label beside the line."""
        return f"{self.words} {self.value_before(at)}"


class LinePanel(NamedTuple):
    """A resource class. Lines are drawn in order, the last on top."""

    title: str
    seats: int  # that were reserved
    lines: tuple[ChartLine, ...]

    @property
    def top(self) -> int:
        """The highest value, at least 1."""
        return max(1, self.seats, *(value for line in self.lines for _, value in line.points))


class TimeAxis(NamedTuple):
    """The time of an occurrence, on the clock of its zone."""

    open: int
    start: int
    end: int
    zone: Zone
    is_whole: bool = True  # else only a part of the occurrence, whose opening and end are not marked

    def marks(self) -> list[tuple[int, str]]:
        """Return the marks of opening, start and end."""
        opens = [(self.open, "opens")] if self.is_whole and self.open < self.start else []
        ends = [(self.end, "ends")] if self.is_whole else []
        return [*opens, (self.start, "starts"), *ends]

    def ticks(self, most: int) -> list[tuple[int, str]]:
        """Return at most `most` round times with labels; long windows have days."""
        first, last = local(self.zone, self.open), local(self.zone, self.end)
        length = last - first
        longest = _STEPS[-1] * (length // (_STEPS[-1] * most) + 1)
        step = next((step for step in _STEPS if length // step < most), longest)
        return [(at, self._text(wall, length)) for at, wall in self._round(first, last, step)]

    def _round(self, first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
        for wall in range(-(-first // step) * step, last + 1, step):
            at = resolve(self.zone, wall)
            if self.open <= at <= self.end and local(self.zone, at) == wall:  # else it is skipped
                yield at, wall

    @staticmethod
    def _text(wall: int, length: int) -> str:
        if wall % DAY or length < DAY:
            return clock(wall)
        day = day_of(wall)
        return WEEKDAYS[day.weekday()].capitalize() if length < 7 * DAY else f"{day:%m-%d}"


def round_numbers() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50, 100 and so on."""
    unit = 1
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10


def scale(top: int, most: int) -> int:
    """Return the smallest round number of which at most `most` reach the top."""
    return next(number for number in round_numbers() if -(-top // number) <= most)


def spread(wanted: Sequence[float], apart: float, last: float) -> list[float]:
    """Place labels near the wanted positions, at least `apart` from each other.

    `wanted` ascends up to `last`; if there is room, no place exceeds it.
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + apart) if places else place)
    for at in range(len(places) - 1, -1, -1):
        places[at] = min(places[at], last)
        last = places[at] - apart
    return places
