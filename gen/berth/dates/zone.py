"""Convert between local times and instants, also at clock changes, with the zones of the `tzdata` package.

All values are numbers: a day is days since 1970-01-01; a wall time is minutes since the midnight of that
day on the clock of its zone; an instant is seconds since it in UTC. The zones of the machine are never used,
and the clock is never read.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import cache
from io import BytesIO
from typing import NamedTuple
from zoneinfo import ZoneInfo

import tzdata

DAY = 1440
GAP, FOLD = "gap", "fold"
_EPOCH = date(1970, 1, 1).toordinal()
_NOT_A_PLACE = frozenset({"Factory"})  # for machines whose zone is not set


class _Offsets(dict[int, int | None]):
    """The offset from UTC in seconds of each whole day; None for a day with a clock change.

    Days are computed when they are first looked up, and reservations share days. A day has no change if the
    offsets of its first and its last minute are equal: no zone has two changes a day.
    """

    def __init__(self, info: ZoneInfo) -> None:
        super().__init__()
        self.info = info

    def __missing__(self, day: int) -> int | None:
        midnight = day * DAY
        before, after = self.before(midnight), self.after(midnight + DAY - 1)
        self[day] = before if before == after else None
        return self[day]

    def before(self, wall: int) -> int:
        """Return the offset at a wall time; the one before the change for a skipped or repeated time."""
        return _seconds(_datetime(wall).replace(tzinfo=self.info))

    def after(self, wall: int) -> int:
        return _seconds(_datetime(wall).replace(tzinfo=self.info, fold=1))


class Zone(NamedTuple):
    name: str
    offsets: _Offsets


def _datetime(wall: int) -> datetime:
    day, minutes = divmod(wall, DAY)
    return datetime.fromordinal(_EPOCH + day) + timedelta(minutes=minutes)


def _seconds(moment: datetime) -> int:
    offset = moment.utcoffset() or timedelta()
    return offset.days * 86_400 + offset.seconds


def _packaged(name: str) -> bytes:
    data: bytes = tzdata.__loader__.get_data(f"{tzdata.__path__[0]}/{name}")
    return data


@cache
def known() -> tuple[str, ...]:
    """Return all names of zones, sorted. Go's `time.LoadLocation`, and so Kubernetes, accepts the same."""
    return tuple(sorted({*_packaged("zones").decode().split()} - _NOT_A_PLACE))


@cache
def load(name: str) -> Zone | None:
    """Return the zone of exactly this name, or None. An unknown name is never used as a path."""
    if name not in known():
        return None
    return Zone(name, _Offsets(ZoneInfo.from_file(BytesIO(_packaged(f"zoneinfo/{name}")), key=name)))


def number(day: date) -> int:
    return day.toordinal() - _EPOCH


def day_of(wall: int) -> date:
    """Return the local date of a wall time."""
    return date.fromordinal(_EPOCH + wall // DAY)


@cache
def date_text(day: int) -> str:
    """Return `2026-02-02`. Cached, because reservations share days."""
    return date.fromordinal(_EPOCH + day).isoformat()


def clock(wall: int) -> str:
    """Return the time of day of a wall time: `09:00`."""
    hours, minutes = divmod(wall % DAY, 60)
    return f"{hours:02}:{minutes:02}"


def clock_text(minutes: int) -> str:
    """Return a time of day as a file has it: 24:00 is the midnight at the end of the day."""
    return "24:00" if minutes == DAY else clock(minutes)


def resolve(zone: Zone, wall: int) -> int:
    """Return the instant of a wall time. A skipped time moves forward by the gap; of two, the first is used.

    Both follow from one rule: use the offset from before the change. In a gap of an hour, 02:30 is then the
    instant at which clocks show 03:30.
    """
    offset = zone.offsets[wall // DAY]
    return wall * 60 - (zone.offsets.before(wall) if offset is None else offset)


def trait(zone: Zone, wall: int) -> str:
    """Return `gap` for a wall time that a clock change skips, `fold` for a repeated one, else nothing."""
    if zone.offsets[wall // DAY] is not None:
        return ""
    before, after = zone.offsets.before(wall), zone.offsets.after(wall)
    return GAP if before < after else FOLD if before > after else ""


def window(zone: Zone, start: int, end: int) -> tuple[int, int]:
    """Return the instants of a window between two wall times, `start` before `end`; it is never empty.

    A gap can move `start` to or past `end`. Then the window keeps its wall-clock length from its new start:
    02:30-03:15 becomes 03:30-04:15.
    """
    first, last = resolve(zone, start), resolve(zone, end)
    if first < last:
        return first, last
    return first, resolve(zone, local(zone, first) + end - start)


def walls(zone: Zone, instants: Iterable[int]) -> list[int]:
    """Return the wall time of each instant, cut to the minute."""
    offsets = zone.offsets
    found = []
    for instant in instants:
        offset = offsets[instant // 86_400]  # a guess: that of the same day in UTC
        if offset is not None and offsets[(instant + offset) // 86_400] == offset:
            found.append((instant + offset) // 60)
        else:
            seconds = _seconds(datetime.fromtimestamp(instant, offsets.info))
            found.append((instant + seconds) // 60)
    return found


def local(zone: Zone, instant: int) -> int:
    """Return the wall time of an instant, cut to the minute."""
    return walls(zone, (instant,))[0]
