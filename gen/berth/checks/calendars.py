"""Check what is easily forgotten about dates: calendars of another year, time zones, a course that is there
twice.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

from berth.dates.expansion import Occurrence
from berth.dates.moments import local_text, named
from berth.findings import Problem
from berth.manifests.placed import Placed
from berth.schema.calendardocument import Calendar
from berth.schema.declared import Declared
from berth.schema.reservation import Reservation
from berth.schema.values import Recurrence, Site

NEVER_MEETS, SAME_COURSE, ASSUMED_ZONE = "B056", "B057", "B058"


def check_zone_is_named(declared: Declared, site: Site) -> Iterator[Problem]:
    """Note once that times are in UTC because no time zone is named."""
    if declared.assumes_utc:
        message = "no time zone is named here, so the times of reservations that name none are in UTC."
        fix = "Add timeZone: one such as Europe/Zurich, or UTC."
        yield site.origin.problem(ASSUMED_ZONE, ("spec",), message, fix)


def check_calendar_dates(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Check that the calendars of a reservation are about its time."""
    span = _span(reservation.recurrence)
    for i, name in enumerate(reservation.recurrence.calendars):
        calendar = declared.calendars.get(name)
        dates = None if calendar is None else _hull(calendar)
        if span is None or dates is None or (span[0] <= dates[1] and dates[0] <= span[1]):
            continue
        side = "before this reservation" if dates[1] < span[0] else "after this reservation"
        message = (
            f"calendar {name} has dates from {dates[0]} to {dates[1]}: {side}, which is from {span[0]} to "
            f"{span[1]}."
        )
        fix = "Add this year's dates to the calendar, or name another one."
        path = ("spec", "recurrence", "calendars", i)
        yield reservation.origin.problem(NEVER_MEETS, path, message, fix)


def _span(recurrence: Recurrence) -> tuple[date, date] | None:
    """Return the first and the last date that the schedule may have; None if they are not known."""
    if recurrence.first is not None and recurrence.last is not None:
        return recurrence.first, recurrence.last
    days = [day for both in recurrence.dates for day in both]
    return (min(days), max(days)) if days else None


def _hull(calendar: Calendar) -> tuple[date, date] | None:
    if not calendar.dates:
        return None
    return min(dates.first for dates in calendar.dates), max(dates.last for dates in calendar.dates)


class SameCourses:
    """Collect the windows of reservations that count the same sessions, then look for overlaps.

    Two such reservations are probably one course that is there twice. A course is what `sessions` narrows a
    class to; without that, nothing tells two courses apart.
    """

    def __init__(self, declared: Declared) -> None:
        self._reservations = {reservation.name: reservation for reservation in declared.reservations}
        self._count = Counter(map(_course, declared.reservations))
        self._windows: dict[tuple[tuple[object, ...], str], dict[str, array[int]]] = {}

    def take(
        self, placed: Placed, occurrences: Sequence[Occurrence], is_limited: Callable[[str, str], bool]
    ) -> None:
        """Collect the windows of one part of a reservation, of classes that no ceiling limits."""
        course, name = _course(placed.reservation), placed.reservation.name
        if not course or self._count[course] < 2:
            return
        for resource_class in placed.classes:
            if not is_limited(placed.cluster.name, resource_class.name):
                windows = [
                    occurrence for occurrence in occurrences if resource_class.name in dict(occurrence.seats)
                ]
                flat = array("q", [instant for window in windows for instant in (window.start, window.end)])
                self._windows.setdefault((course, resource_class.name), {})[name] = flat

    def problems(self) -> Iterator[Problem]:
        """Report each reservation that overlaps one of an earlier name, once."""
        reported: set[str] = set()
        for (_, resource_class), by_name in self._windows.items():
            latest = (0, "")
            for start, end, name in sorted(_windows(by_name)):
                until, other = latest
                first, second = sorted((name, other))
                if start < until and first != second and second not in reported:
                    reported.add(second)
                    yield _same_course(self._reservations[second], first, resource_class, start)
                latest = max(latest, (end, name))


def _course(reservation: Reservation) -> tuple[object, ...]:
    """Return what tells the sessions of a reservation from others of its class; empty if nothing does."""
    return () if reservation.suspend else reservation.sessions.course


def _windows(by_name: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int, str]]:
    for name, flat in by_name.items():
        for start, end in zip(flat[::2], flat[1::2], strict=True):
            yield start, end, name


def _same_course(reservation: Reservation, other: str, name: str, at: int) -> Problem:
    when = local_text(at, named(reservation.recurrence.zone))
    message = (
        f"its sessions are those of {other}, and their windows overlap, first on {when}: seats of "
        f"{name} add up, and no ceiling limits them."
    )
    fix = (
        "Remove one of the two, narrow their sessions, or add a ceiling for the class; if the sum is meant, "
        f'annotate berth.dev/ignore: "{SAME_COURSE}: <reason>".'
    )
    return reservation.problem(SAME_COURSE, ("spec", "recurrence"), message, fix)
