"""Find the clocks of the time zones of iCalendar: names of the tz database and of Windows, and VTIMEZONE."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from berth.dates.zone import DAY, Zone, day_of, known, load, local, number, resolve
from berth.edit.calendarlines import Component, ContentLine
from berth.edit.calendarrules import parse_rule
from berth.edit.calendarvalues import UTC, read_spans, read_time
from berth.notation.zones import FIXED, by_name, in_any_case, is_utc, windows_places

_OFFSET = re.compile(r"([+-])(\d\d)(\d\d)(\d\d)?", re.ASCII)
_MOST_CHANGES = 5000


class ZoneClock(NamedTuple):
    """The clock of a zone of the tz database."""

    zone: Zone

    def instant(self, wall: int) -> int:
        return resolve(self.zone, wall)

    def wall(self, instant: int) -> int:
        return local(self.zone, instant)


class ClockChange(NamedTuple):
    """A change of offset, in minutes, at a wall time of the clock before it."""

    wall: int
    before: int
    after: int


class FeedClock(NamedTuple):
    """The clock of a VTIMEZONE: its changes, ascending, and the offset before them all."""

    changes: tuple[ClockChange, ...]

    def instant(self, wall: int) -> int:
        """Return the instant of a wall time, by the time rule: the offset before a change decides."""
        at = bisect_right(
            self.changes, wall, key=lambda change: change.wall + max(0, change.after - change.before)
        )
        return (wall - self._offset(at)) * 60

    def wall(self, instant: int) -> int:
        minutes = instant // 60
        at = bisect_right(self.changes, minutes, key=lambda change: change.wall - change.before)
        return minutes + self._offset(at)

    def _offset(self, at: int) -> int:
        return self.changes[at - 1].after if at else self.changes[0].before


EventClock = ZoneClock | FeedClock


class FeedZones:
    """The zones of a VCALENDAR. `default`: the TZID of times without one, or empty.

    `contradictions`: each VTIMEZONE whose rules differ from those of one before with its TZID.
    """

    def __init__(self, default: str, components: Iterable[Component]) -> None:
        self.default = default
        self.contradictions: dict[str, Component] = {}
        self._definitions: dict[str, Component] = {}
        self._clocks: dict[str, FeedClock | None] = {}
        for component in components:
            name = component.title("TZID")
            other = self._definitions.setdefault(name, component)
            if other is not component and not _is_same(other, component):
                self.contradictions.setdefault(name, component)
        for name in self.contradictions:
            del self._definitions[name]

    def definition(self, name: str) -> FeedClock | None:
        """Return the clock of the VTIMEZONE of a TZID; None if there is none that can be read."""
        if name in self._definitions and name not in self._clocks:
            self._clocks[name] = _feed_clock(self._definitions[name])
        return self._clocks.get(name)

    def clock(self, name: str) -> EventClock | None:
        """Return the clock of a TZID, a name of the tz database or of Windows, or a path; None if unknown.

        The name of a place counts more than its VTIMEZONE, which is often out of date. For other names, the
        VTIMEZONE counts. With several that differ, none does, and such a name is unknown.
        """
        component, zone = self._definitions.get(name), known_zone(name)
        if component and (zone is None or not _is_place(zone)):
            place = known_zone(component.title("X-LIC-LOCATION"))
            definition = ZoneClock(place) if place and _is_place(place) else self.definition(name)
            if definition is not None:
                return definition
        is_unclear = name in self.contradictions and not (zone and _is_place(zone))
        return ZoneClock(zone) if zone and not is_unclear else None

    def is_doubtful(self, name: str) -> bool:
        """Return whether a TZID has no clock changes, although its author may have meant a place that has."""
        zone = known_zone(name)
        is_defined = name in self.contradictions or self.definition(name) is not None
        return zone is not None and zone.name in FIXED and not is_defined


def _is_place(zone: Zone) -> bool:
    return not is_utc(zone.name) and zone.name not in FIXED


def known_zone(name: str) -> Zone | None:
    """Return the zone that a name means, also at the end of a path: `/example.org/Europe/Berlin`."""
    whole = name.strip().strip('"')
    ends = ["/".join(whole.split("/")[-count:]) for count in (3, 2, 1)]
    return load(by_name(whole) or next(filter(None, map(in_any_case, ends)), ""))


def place_of(clock: FeedClock, walls: Iterable[int], preferred: Iterable[Zone]) -> Zone | None:
    """Return a zone that has the offsets of a clock at these wall times, if possible all year."""
    dates = sorted(walls)
    first, last = (day_of(wall).year for wall in (dates[0], dates[-1]))
    days = range(number(day_of(0).replace(year=first)), number(day_of(0).replace(year=last + 1)))
    for every in ([*dates, *(day * DAY + DAY // 2 for day in days)], dates):
        expected = [(wall, clock.instant(wall)) for wall in every]
        for zone in _candidates(preferred):
            if all(resolve(zone, wall) == instant for wall, instant in expected):
                return zone
    return None


def _candidates(preferred: Iterable[Zone]) -> Iterator[Zone]:
    """Yield zones, the well-known ones first: the preferred ones, UTC, those of Windows, all places."""
    yield from preferred
    for name in (UTC, *windows_places().values(), *known()):
        zone = load(name)
        if zone and ("/" in name or name == UTC) and name not in FIXED:
            yield zone


def _is_same(one: Component, other: Component) -> bool:
    """Tell whether two VTIMEZONEs say the same of the clock."""
    places = {part.title("X-LIC-LOCATION") for part in (one, other)}
    return len(places) == 1 and _feed_clock(one) == _feed_clock(other)


def _feed_clock(component: Component) -> FeedClock | None:
    """Return the clock of a VTIMEZONE; None if it cannot be read."""
    try:
        changes = sorted(change for part in component.parts for change in _changes(part))
    except ValueError:
        return None
    return FeedClock(tuple(changes)) if changes else None


def _changes(part: Component) -> Iterator[ClockChange]:
    """Yield the changes to STANDARD or DAYLIGHT."""
    before, after = (_offset(_single(part, key).title) for key in ("TZOFFSETFROM", "TZOFFSETTO"))
    begin = read_time(_single(part, "DTSTART"))
    walls = {begin.wall}
    for line in part.all("RRULE"):
        rule = parse_rule(line.value, begin)
        last = None if rule.until is None else rule.until.wall + (before if rule.until.zone == UTC else 0)
        for wall in rule.starts(begin.wall):
            if last is not None and wall > last:
                break
            walls.add(wall)
            if len(walls) > _MOST_CHANGES:
                raise ValueError("a clock does not change so often")
    for line in part.all("RDATE"):
        walls |= {span.start.wall for span in read_spans(line)}
    yield from (ClockChange(wall, before, after) for wall in walls)


def _single(part: Component, name: str) -> ContentLine:
    lines = part.all(name)
    if len(lines) != 1:
        raise ValueError(f"a change needs one {name}")
    return lines[0]


def _offset(text: str) -> int:
    """Return minutes east of UTC, rounded."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not an offset')
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    return (hours * 60 + minutes + (seconds >= 30)) * (-1 if match[1] == "-" else 1)
