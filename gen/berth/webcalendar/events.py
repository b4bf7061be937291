"""Occurrences as events of a calendar: titles, descriptions, and the addresses of the files they are from."""

from collections.abc import Iterable
from typing import NamedTuple

from berth.dates.expansion import EXTRA, MOVED, Occurrence
from berth.dates.moments import local_day, local_text, named
from berth.dates.recurrence import OTHER_SEATS, SUSPENDED
from berth.dates.zone import DAY, day_of
from berth.output.answers import seats_text
from berth.output.calendarfile import CalendarEvent, StandingEvent
from berth.schema.reservation import Reservation
from berth.schema.values import Seats, Site
from berth.webcalendar.forgelinks import file_url


class EventSource(NamedTuple):
    """What the events of a reservation are made from: its occurrences, each with its seats by cluster.

    `standing` has the seats by cluster that are held without windows.
    """

    reservation: Reservation
    url: str
    occurrences: list[tuple[str, Occurrence]]
    standing: list[tuple[str, Seats]]

    @classmethod
    def of(cls, reservation: Reservation, site: Site) -> "EventSource":
        """Return that of a reservation, still without dates."""
        return cls(reservation, file_url(site.repository, reservation.origin.file), [], [])


def feed_name(site: Site) -> str:
    """Return the name of the feed of all reservations."""
    return f"Seats of {site.name}"


def events_of(source: EventSource) -> list[CalendarEvent | StandingEvent]:
    """Return one event for each occurrence, by start, and one for what stands."""
    by_id: dict[str, list[tuple[str, Occurrence]]] = {}
    for cluster, occurrence in sorted(source.occurrences, key=lambda part: part[0]):
        by_id.setdefault(occurrence.id, []).append((cluster, occurrence))
    found: list[CalendarEvent | StandingEvent] = [_dated(source, parts) for parts in by_id.values()]
    return sorted([*found, *_standing(source)], key=event_order)


def event_order(event: CalendarEvent | StandingEvent) -> tuple[int, str]:
    """Return the key by which events are sorted: what stands is first."""
    return event.start if isinstance(event, CalendarEvent) else 0, event.id


def _dated(source: EventSource, parts: list[tuple[str, Occurrence]]) -> CalendarEvent:
    one, reservation = parts[0][1], source.reservation
    lines = [*_differences(one), *(_seats_line(reservation, *part) for part in parts)]
    title = f"{reservation.title} ({one.name})" if one.name else reservation.title
    text, canceled = _text(reservation, lines), SUSPENDED in one.marks
    return CalendarEvent(one.id, one.start, one.end, title, text, canceled, source.url)


def _seats_line(reservation: Reservation, cluster: str, one: Occurrence) -> str:
    opens = f"{local_text(one.open, named(one.zone))} ({one.zone})"
    return f"{seats_text(one.seats, reservation.holder.unit)} in {cluster}, open from {opens}"


def _differences(found: Occurrence) -> list[str]:
    """Return what differs from the schedule, in the words of an edit."""
    day, _, start = found.id.rpartition("/")[2].partition("T")
    words = {
        MOVED: f"moved from {day} {start}",
        EXTRA: "not in the schedule",
        OTHER_SEATS: "other seats than usual",
    }
    return [words[mark] for mark in found.marks if mark in words]


def _standing(source: EventSource) -> Iterable[StandingEvent]:
    reservation, found = source.reservation, source.reservation.holder.persistence
    if found is None or not source.standing:
        return
    unit = reservation.holder.unit
    lines = [f"{seats_text(seats, unit)} in {cluster}, always open" for cluster, seats in source.standing]
    zone = named(reservation.recurrence.zone)
    last = None if found.until is None else day_of(local_day(found.until - 1, zone) * DAY)
    yield StandingEvent(
        reservation.name, last, reservation.title, _text(reservation, lines), reservation.suspend, source.url
    )


def _text(reservation: Reservation, lines: list[str]) -> str:
    owner = [f"Owner: {reservation.owner}"] if reservation.owner else []
    held = [f"Sets {reservation.holder.held_text}"] if reservation.holder.held_text else []
    return "\n".join([*lines, *held, *owner])
