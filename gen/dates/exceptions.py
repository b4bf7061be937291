"""What is left out of a bare recurrence, and why: `except` first, then the calendars."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from gen.dates.bare import Bare
from gen.dates.dayrange import Cover, any_within, cover, title_of
from gen.dates.occurrence import Fault
from gen.dates.zone import DAY, clock, number
from gen.model import Calendar, Except, Recurrence

NOTHING_TO_SKIP = "B045"


class Absence:
    """Answers why an occurrence does not happen."""

    def __init__(self, recurrence: Recurrence, calendars: Mapping[str, Calendar]) -> None:
        """Calendars that are unknown leave nothing out; they are told elsewhere."""
        self.calendars = [_days_off(calendars[name]) for name in recurrence.calendars if name in calendars]
        self.excepts = _by_start(recurrence.excepts)
        self.possible = bool(self.calendars or self.excepts)

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
def _days_off(calendar: Calendar) -> Cover:
    """Made once for a calendar, however many reservations share it."""
    reason = f"calendar {calendar.name}"
    return cover(
        (number(first), number(last), f"{reason}: {title}" if title else reason)
        for first, last, title in calendar.dates
    )


def _by_start(excepts: Iterable[Except]) -> dict[int | None, Cover]:
    """The days left out, by the start that is named; None: whatever starts there."""
    ranges: dict[int | None, list[tuple[int, int, str]]] = {}
    for item in excepts:
        ranges.setdefault(item.start, []).append((number(item.first), number(item.last), ""))
    return {start: cover(days) for start, days in ranges.items()}


def idle_excepts(excepts: Sequence[Except], bare: Iterable[Bare]) -> list[Fault]:
    """Those that hit nothing of the bare recurrence; a range hits if one of its days does."""
    if not excepts:
        return []
    days: dict[int | None, list[int]] = {}
    for wall in sorted(wall for wall, _ in bare):
        day, minutes = divmod(wall, DAY)
        days.setdefault(None, []).append(day)
        days.setdefault(minutes, []).append(day)
    return [
        _idle(item, i)
        for i, item in enumerate(excepts)
        if not any_within(days.get(item.start, ()), number(item.first), number(item.last))
    ]


def _idle(item: Except, i: int) -> Fault:
    when = f"on {item.first}" if item.first == item.last else f"from {item.first} to {item.last}"
    at = "" if item.start is None else f" at {clock(item.start)}"
    message = f"the recurrence has nothing {when}{at} that could be left out."
    fix = "Name an occurrence of the schedule, or remove this exception."
    return Fault(NOTHING_TO_SKIP, ("spec", "recurrence", "except", i), message, fix)
