"""What is left out of a bare recurrence, and why: `except` first, then the calendars."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from gen.dates.bare import Bare
from gen.dates.dayrange import Cover, cover, listed, meets, title_of
from gen.dates.occurrence import Fault
from gen.dates.zone import DAY, clock, number
from gen.model import Calendar, Entry, Except, Recurrence

NOTHING_TO_SKIP = "B045"


class Absence:
    """Answers why an occurrence does not happen."""

    def __init__(self, recurrence: Recurrence, calendars: Iterable[Calendar]) -> None:
        """`calendars` are the recurrence's, in its order."""
        off = [_days_off(calendar) for calendar in calendars]
        excepted = listed((number(item.first), number(item.last)) for item in recurrence.excepts)
        self.calendars = [covered for covered, _ in off]
        self.excepts = _by_start(recurrence.excepts)
        self._days = _union([*(days for _, days in off), excepted])

    def possible(self, bare: Sequence[Bare]) -> Sequence[Bare]:
        """Those on days on which anything may be left out: mostly few."""
        days = self._days
        return bare if days is None else [one for one in bare if one[0] // DAY in days]

    def reason(self, wall: int) -> str | None:
        """For the occurrence that starts at a wall time; None: it happens."""
        day, minutes = divmod(wall, DAY)
        for start in (None, minutes):
            if start in self.excepts and title_of(self.excepts[start], day) is not None:
                return "except"
        return self.holiday(day)

    def holiday(self, day: int) -> str | None:
        """`calendar <name>: <title>` of the first calendar that holds the day."""
        for days in self.calendars:
            reason = title_of(days, day)
            if reason is not None:
                return reason
        return None


@lru_cache(maxsize=1024)
def _days_off(calendar: Calendar) -> tuple[Cover, frozenset[int] | None]:
    """Made once for a calendar, however many reservations share it."""
    reason = f"calendar {calendar.name}"
    ranges = [
        (number(first), number(last), f"{reason}: {title}" if title else reason)
        for first, last, title in calendar.dates
    ]
    return cover(ranges), listed((first, last) for first, last, _ in ranges)


def _union(sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    every: frozenset[int] = frozenset()
    for days in sets:
        if days is None:
            return None
        every |= days
    return every


def _by_start(excepts: Iterable[Except]) -> dict[int | None, Cover]:
    """The days left out, by the start that is named; None: whatever starts there."""
    ranges: dict[int | None, list[tuple[int, int, str]]] = {}
    for item in excepts:
        ranges.setdefault(item.start, []).append((number(item.first), number(item.last), ""))
    return {start: cover(days) for start, days in ranges.items()}


def idle_excepts(
    excepts: Sequence[Except], schedule: Sequence[Entry], falls: Sequence[Sequence[range]]
) -> list[Fault]:
    """Those that hit nothing of the bare recurrence, whose entries fall on these days; a range hits if one of
    its days does.
    """
    return [_idle(item, i) for i, item in enumerate(excepts) if not _hits(item, schedule, falls)]


def _hits(item: Except, schedule: Sequence[Entry], falls: Sequence[Sequence[range]]) -> bool:
    first, last = number(item.first), number(item.last)
    return any(
        item.start in (None, entry.start) and meets(days, first, last)
        for entry, days in zip(schedule, falls, strict=True)
    )


def _idle(item: Except, i: int) -> Fault:
    when = f"on {item.first}" if item.first == item.last else f"from {item.first} to {item.last}"
    at = "" if item.start is None else f" at {clock(item.start)}"
    message = f"the recurrence has nothing {when}{at} that could be left out."
    fix = "Name an occurrence of the schedule, or remove this exception."
    return Fault(NOTHING_TO_SKIP, ("spec", "recurrence", "except", i), message, fix)
