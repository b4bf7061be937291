"""The clocks of an iCalendar file: those of the places that its time zones name, and of its VTIMEZONEs."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache

from icalendar import Timezone

from berth.dates.moments import named
from berth.dates.zone import DAY, Zone, known, load, local, resolve
from berth.notation.zones import FIXED, by_name, in_any_case, is_utc, windows_places

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the changes of a VTIMEZONE have no zone
# What a rule of a VTIMEZONE may say: any other could have millions of dates.
_YEARLY = re.compile(
    r"(?:FREQ=YEARLY|(?:BYDAY|BYMONTH|BYMONTHDAY|UNTIL|COUNT|WKST)=[^;]+|INTERVAL=[1-9]\d*|;)*", re.IGNORECASE
)


class FeedClock:
    """A clock: there is one of each place, and of each VTIMEZONE without one.

    A VTIMEZONE has its changes in minutes since 1970 UTC, ascending, and the offset in minutes after each.
    """

    def __init__(self, name: str, zone: Zone | None, changes: Sequence[int], offsets: Sequence[int]) -> None:
        self.name, self.zone, self.changes, self.offsets = name, zone, changes, offsets

    def instant(self, wall: int) -> int:
        """Return the instant of a wall time, by the time rule: the offset before a change decides."""
        if self.zone is not None:
            return resolve(self.zone, wall)
        at = bisect_right(range(len(self.changes)), wall, key=self._reached)
        return (wall - self.offsets[max(0, at - 1)]) * 60

    def wall(self, instant: int) -> int:
        if self.zone is not None:
            return local(self.zone, instant)
        at = bisect_right(self.changes, instant // 60)
        return instant // 60 + self.offsets[max(0, at - 1)]

    def _reached(self, change: int) -> int:
        """Return the first wall time after a change that was not there before it."""
        return self.changes[change] + max(self.offsets[max(0, change - 1)], self.offsets[change])


@cache
def clock_in(zone: str) -> FeedClock:
    """Return the clock of a zone of the tz database."""
    return FeedClock(zone, named(zone), (), ())


UTC = clock_in("UTC")


class FeedZones:
    """The zones of a VCALENDAR. `default`: the TZID of times without one, or empty."""

    def __init__(self, default: str, definitions: Mapping[str, tuple[str, ...]]) -> None:
        self.default = default
        self._definitions = definitions
        self._clocks: dict[str, FeedClock | None] = {}

    def clock(self, name: str) -> FeedClock | None:
        """Return the clock of a TZID: a name of the tz database or of Windows, or a path; None if unknown.

        The name of a place counts more than its VTIMEZONE, which is often out of date. For a zone with one
        offset all year, and for other names, the VTIMEZONE counts.
        """
        if name not in self._clocks:
            ends = ["/".join(name.split("/")[-count:]) for count in (3, 2, 1)]  # of a path
            zone = load(by_name(name) or next(filter(None, map(in_any_case, ends)), ""))
            is_place = zone is not None and zone.name not in FIXED and not is_utc(zone.name)
            definition = None if is_place else _defined(name, self._definitions.get(name, ()))
            self._clocks[name] = definition or (clock_in(zone.name) if zone else None)
        return self._clocks[name]

    @property
    def own(self) -> FeedClock | None:
        """Return the clock of the calendar itself, on which the midnights of its whole days are."""
        only = next(iter(self._definitions)) if len(self._definitions) == 1 else ""
        return self.clock(self.default or only)


@cache
def _defined(name: str, lines: tuple[str, ...]) -> FeedClock | None:
    """Return the clock of a VTIMEZONE; None if it cannot be read."""
    text = "\r\n".join(lines)
    rules = re.findall(r"^RRULE:(.*)$", text.replace("\r", ""), re.MULTILINE | re.IGNORECASE)
    if not all(map(_YEARLY.fullmatch, rules)):
        return None
    try:
        definition = Timezone.from_ical(text)
        assert isinstance(definition, Timezone)
        times, kinds = definition.get_transitions()
        changes = tuple(int((time - _EPOCH).total_seconds()) // 60 for time in times)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None  # the library does not check what is in it
    offsets = tuple(int(after.total_seconds()) // 60 for after, _, _ in kinds)
    return FeedClock(name, None, changes, offsets) if changes else None


def place_of(clock: FeedClock, walls: Iterable[int], preferred: Zone) -> Zone | None:
    """Return a zone whose clock shows these wall times at the same instants, if possible all year."""
    meant = [(wall, clock.instant(wall)) for wall in sorted(walls)]
    year = [(wall, clock.instant(wall)) for wall in range(meant[0][0], meant[0][0] + 366 * DAY, 7 * DAY)]
    for expected in ([*meant, *year], meant):
        for zone in _candidates(preferred):
            if all(resolve(zone, wall) == instant for wall, instant in expected):
                return zone
    return None


def _candidates(preferred: Zone) -> Iterator[Zone]:
    """Yield zones, the well-known ones first: the preferred one, UTC, those of Windows, all places."""
    yield preferred
    for name in ("UTC", *windows_places().values(), *known()):
        zone = load(name)
        if zone and ("/" in name or name == "UTC") and name not in FIXED:
            yield zone
