"""Check what is easily forgotten about dates: calendars of another year, time zones, a course that is there
twice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from berth.checks.project import CheckedReservation, Project
from berth.dates.expansion import EXTRA, MOVED, Occurrence
from berth.dates.moments import local_day, local_text, named, near_text
from berth.dates.zone import Zone, load, local
from berth.findings import Problem
from berth.notation.zones import FIXED, is_utc
from berth.schema.calendardocument import Calendar
from berth.schema.reservation import Reservation
from berth.schema.values import Recurrence

_IF_MEANT = 'if it is meant, annotate berth.dev/ignore: "B240: <reason>".'


def check_zone_is_named(project: Project) -> Iterator[Problem]:
    """Note once that times are in UTC because no time zone is named."""
    if project.declared.assumes_utc:
        message = "no time zone is named here, so the times of reservations that name none are in UTC."
        fix = "Add timeZone: one such as Europe/Zurich, or UTC."
        yield project.site.origin.problem("B058", ("spec",), message, fix)


def check_site_zone(project: Project) -> Iterator[Problem]:
    """Report a zone of the site that is an offset, with the first date at which it differs from its place."""
    site = project.site
    if site.zone in FIXED:
        found = (
            _first_elsewhere(site.zone, item.expansion.occurrences)
            for item in project.items
            if item.reservation.recurrence.zone == site.zone
        )
        first = min(filter(None, found), key=lambda occurrence: occurrence.start, default=None)
        message, fix = _offset_texts(site.zone, first)
        yield site.origin.problem("B240", ("spec", "timeZone"), message, fix)


def check_zone_of_reservation(checked: CheckedReservation) -> Iterator[Problem]:
    """Check that a zone of its own is not an offset, and that no rule in UTC passes a change of clocks."""
    reservation, site, occurrences = checked.reservation, checked.project.site, checked.expansion.occurrences
    zone = reservation.recurrence.zone
    if zone == site.zone:
        return
    path = ("spec", "recurrence", "timeZone")
    if zone in FIXED:
        message, fix = _offset_texts(zone, _first_elsewhere(zone, occurrences))
        yield reservation.problem("B240", path, message, fix)
    elif is_utc(zone) and not is_utc(site.zone) and reservation.recurrence.type in ("daily", "weekly"):
        place = named(site.zone)
        regular = [occurrence.start for occurrence in occurrences if not {MOVED, EXTRA} & {*occurrence.marks}]
        changed = [start for start in regular if _ahead(place, start) != _ahead(place, regular[0])]
        if changed:
            before, after = (local_text(start, place) for start in (regular[0], changed[0]))
            message = (
                f"the rule repeats in UTC: clocks in {place.name} show {before[-5:]} on {before[:-6]}, and "
                f"{after[-5:]} on {after[:-6]}."
            )
            fix = f"Write timeZone: {place.name} with the times of its clocks; {_IF_MEANT}"
            yield reservation.problem("B240", path, message, fix)


def _offset_texts(zone: str, differs: Occurrence | None) -> tuple[str, str]:
    """Return message and fix for a zone that is an offset; `differs`: a date when clocks of its place do."""
    name, hours = FIXED[zone], _ahead(named(zone), 0) // 60
    message = f"{zone} is not a place: its clocks are at UTC{hours:+03}:00 all year."
    if differs:
        own, place = named(zone), named(name)
        shown = near_text(differs.start, place, local_day(differs.start, own))
        message += f" On {local_text(differs.start, own)}, clocks in {name} show {shown}."
    return message, f"Write the place{name and ', such as '}{name}; {_IF_MEANT}"


def _first_elsewhere(zone: str, occurrences: Sequence[Occurrence]) -> Occurrence | None:
    """Return the first occurrence at whose start the clocks of the place that a zone means differ."""
    own, place = named(zone), load(FIXED[zone])
    return next(
        (one for one in occurrences if place and _ahead(place, one.start) != _ahead(own, one.start)), None
    )


def _ahead(zone: Zone, instant: int) -> int:
    """Return by how many minutes clocks are ahead of UTC."""
    return local(zone, instant) - instant // 60


def check_calendar_dates(checked: CheckedReservation) -> Iterator[Problem]:
    """Check that the calendars of a reservation are about its time."""
    reservation = checked.reservation
    span = _span(reservation.recurrence)
    for i, name in enumerate(reservation.recurrence.calendars):
        calendar = checked.project.declared.calendars.get(name)
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
        yield reservation.origin.problem("B056", path, message, fix)


def check_site_calendars(project: Project) -> Iterator[Problem]:
    """Check that the calendars of the Site do not all end before a reservation begins."""
    declared, site = project.declared, project.site
    named_here = [declared.calendars[name] for name in site.calendars if name in declared.calendars]
    ends = [dates[1] for dates in map(_hull, named_here) if dates is not None]
    spans = [(_span(reservation.recurrence), reservation.name) for reservation in declared.reservations]
    later = sorted(
        (span[0], name) for span, name in spans if span is not None and ends and span[0] > max(ends)
    )
    if later:
        first, name = later[0]
        message = f"the dates of these calendars end on {max(ends)}, before {name} begins on {first}"
        message += f", and before {len(later) - 1} more." if len(later) > 1 else "."
        fix = "Add this year's dates to a calendar, or name another one."
        yield site.origin.problem("B056", ("spec", "calendars"), message, fix)


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


def check_same_courses(project: Project) -> Iterator[Problem]:
    """Report each reservation that overlaps one of an earlier name and counts the same sessions, once.

    Two such reservations are probably one course that is there twice. A course is what `sessions` narrows a
    class to; without that, nothing tells two courses apart.
    """
    reservations = {item.reservation.name: item.reservation for item in project.items}
    count = Counter(map(_course, reservations.values()))
    windows: dict[tuple[tuple[object, ...], str], list[tuple[int, int, str]]] = {}
    for placed, occurrences, *_ in project.parts:
        course, name = _course(placed.reservation), placed.reservation.name
        names = {resource_class.name for resource_class in placed.classes} if count[course] > 1 else {}
        for occurrence in occurrences if course and names else ():
            for resource_class in names & dict(occurrence.seats).keys():
                span = occurrence.start, occurrence.end, name
                windows.setdefault((course, resource_class), []).append(span)
    reported: set[str] = set()
    for (_, resource_class), spans in windows.items():
        latest = (0, "")
        for start, end, name in sorted(spans):
            until, other = latest
            first, second = sorted((name, other))
            if start < until and first != second and second not in reported:
                reported.add(second)
                yield _same_course(reservations[second], first, resource_class, start)
            latest = max(latest, (end, name))


def _course(reservation: Reservation) -> tuple[object, ...]:
    """Return what tells the sessions of a reservation from others of its class; empty if nothing does."""
    return () if reservation.suspend else reservation.sessions.course


def _same_course(reservation: Reservation, other: str, name: str, at: int) -> Problem:
    when = local_text(at, named(reservation.recurrence.zone))
    message = (
        f"its sessions are those of {other}, and their windows overlap, first on {when}: seats of "
        f"{name} add up."
    )
    fix = (
        "Remove one of the two, or narrow their sessions; if the sum is meant, "
        'annotate berth.dev/ignore: "B057: <reason>".'
    )
    return reservation.problem("B057", ("spec", "recurrence"), message, fix)
