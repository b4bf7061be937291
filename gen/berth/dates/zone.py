"""When is a wall-clock time? The zones of the pinned `tzdata` package, and the one home of the time rule.

Numbers all: a day is days since 1970-01-01; a wall time is minutes since that midnight on the clock of its
zone; an instant is seconds since it in UTC. Never looks at the machine's own zones, never reads the clock.
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
_NOT_A_PLACE = frozenset({"Factory"})  # for a machine that nobody has told its zone


class _Offsets(dict[int, int | None]):
    """Seconds east of UTC that hold all through a day; None on a day with a change. Filled when asked.

    Reservations share their days, so almost every question costs one look into a dict. A day has no change
    if its first minute, before any change, and its last, after any change, agree: no zone has two a day.
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
        """The offset at a wall time, that from before the change where the time is skipped or repeated."""
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
    """All names, sorted. They are those that Go's `time.LoadLocation`, and so Kubernetes, takes."""
    return tuple(sorted({*_packaged("zones").decode().split()} - _NOT_A_PLACE))


@cache
def load(name: str) -> Zone | None:
    """The zone of exactly this name, or None. A name must stand in the list first: it is never a path."""
    if name not in known():
        return None
    return Zone(name, _Offsets(ZoneInfo.from_file(BytesIO(_packaged(f"zoneinfo/{name}")), key=name)))


def number(day: date) -> int:
    return day.toordinal() - _EPOCH


def day_of(wall: int) -> date:
    """The local date of a wall time."""
    return date.fromordinal(_EPOCH + wall // DAY)


@cache
def date_text(day: int) -> str:
    """2026-02-02. Kept, because reservations share their days."""
    return date.fromordinal(_EPOCH + day).isoformat()


def clock(wall: int) -> str:
    """The time of day of a wall time, as people write it: 09:00."""
    hours, minutes = divmod(wall % DAY, 60)
    return f"{hours:02}:{minutes:02}"


def resolve(zone: Zone, wall: int) -> int:
    """The instant of a wall time: a skipped one moves forward by the gap, a repeated one is its first pass.

    Both are one rule: the offset from before the change holds. In a gap of an hour, 02:30 is then the instant
    that clocks call 03:30.
    """
    offset = zone.offsets[wall // DAY]
    return wall * 60 - (zone.offsets.before(wall) if offset is None else offset)


def trait(zone: Zone, wall: int) -> str:
    """`gap` for a wall time that a change skips, `fold` for one that it repeats, else nothing."""
    if zone.offsets[wall // DAY] is not None:
        return ""
    before, after = zone.offsets.before(wall), zone.offsets.after(wall)
    return GAP if before < after else FOLD if before > after else ""


def window(zone: Zone, start: int, end: int) -> tuple[int, int]:
    """The instants of a window between two wall times, `start` before `end`; it always has a length.

    A gap can carry `start` to or past `end`. Then the window keeps its wall-clock length from where its start
    went: 02:30-03:15 becomes 03:30-04:15.
    """
    first, last = resolve(zone, start), resolve(zone, end)
    if first < last:
        return first, last
    return first, resolve(zone, local(zone, first) + end - start)


def walls(zone: Zone, instants: Iterable[int]) -> list[int]:
    """The wall time of each instant, cut to the minute."""
    offsets = zone.offsets
    found = []
    for instant in instants:
        offset = offsets[instant // 86_400]  # of the local day with that number: near, so worth a try
        if offset is not None and offsets[(instant + offset) // 86_400] == offset:
            found.append((instant + offset) // 60)
        else:
            found.append(_local(zone, instant))
    return found


def local(zone: Zone, instant: int) -> int:
    """The wall time of an instant, cut to the minute."""
    return walls(zone, (instant,))[0]


def _local(zone: Zone, instant: int) -> int:
    return (instant + _seconds(datetime.fromtimestamp(instant, zone.offsets.info))) // 60
