"""iCalendar: what a calendar gets, and that no text breaks out of its line."""

from datetime import UTC, datetime

import icalendar
import pytest
from berth.output.calendar import CalendarEvent, calendar_bytes

from tests.awkward import AWKWARD

EVENT = CalendarEvent(
    "a/2026-02-02T09:00", 1_770_019_200, 1_770_033_600, "Algebra", "25 small, 3 huge\nin prod", canceled=False
)
EMPTY = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//berth.dev//Berth//EN\r\nEND:VCALENDAR\r\n"
WHOLE = b"""\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//berth.dev//Berth//EN
BEGIN:VEVENT
UID:a/2026-02-02T09:00
DTSTAMP:20260202T080000Z
DTSTART:20260202T080000Z
DTEND:20260202T120000Z
SUMMARY:Algebra
DESCRIPTION:25 small\\, 3 huge\\nin prod
STATUS:CONFIRMED
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
"""


def read(*events: CalendarEvent) -> list[icalendar.Event]:
    """The events that another program finds; it complains of nothing."""
    calendar = icalendar.Calendar.from_ical(calendar_bytes(events))
    assert isinstance(calendar, icalendar.Calendar)
    assert calendar.errors == []
    found = calendar.events
    assert [event.errors for event in found] == [[]] * len(events)
    return found


def test_an_event_has_its_lines() -> None:
    assert calendar_bytes([EVENT]) == WHOLE.replace(b"\n", b"\r\n")


def test_no_events_are_an_empty_calendar() -> None:
    assert calendar_bytes([]) == EMPTY


def test_events_keep_their_order_ids_and_instants() -> None:
    events = [EVENT._replace(id=f"a/{number}", start=EVENT.start - number) for number in range(3)]

    found = read(*events)

    assert [str(event["UID"]) for event in found] == ["a/0", "a/1", "a/2"]
    assert [event.start for event in found] == [datetime.fromtimestamp(one.start, UTC) for one in events]
    assert [event.end for event in found] == [datetime.fromtimestamp(one.end, UTC) for one in events]
    assert [event.decoded("DTSTAMP") for event in found] == [event.start for event in found]


@pytest.mark.parametrize(("canceled", "status"), [(True, "CANCELLED"), (False, "CONFIRMED")])
def test_a_canceled_event_says_so(canceled: bool, status: str) -> None:
    (found,) = read(EVENT._replace(canceled=canceled))

    assert str(found["STATUS"]) == status


def test_every_text_comes_back_but_for_what_a_calendar_cannot_hold() -> None:
    for text in AWKWARD:
        expected = "".join(" " if (c < " " and c != "\n") or c == "\x7f" else c for c in text)
        (found,) = read(EVENT._replace(title=text, description=text))

        expected = expected.removeprefix("\ufeff")  # a byte order mark is no part of a text
        assert (str(found["SUMMARY"]), str(found["DESCRIPTION"])) == (expected, expected), ascii(text)


@pytest.mark.parametrize("character", ["a", "é", "語", "\U0001f680"])
def test_lines_have_at_most_75_octets_and_no_character_is_cut(character: str) -> None:
    for length in range(60, 90):
        title = "-" * (length % 4) + character * length
        event = EVENT._replace(title=title)

        assert max(map(len, calendar_bytes([event]).split(b"\r\n"))) <= 75
        for line in calendar_bytes([event]).split(b"\r\n"):
            line.decode()
        assert str(read(event)[0]["SUMMARY"]) == title
