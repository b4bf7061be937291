"""iCalendar: what a calendar gets, and that no text breaks out of its line."""

from datetime import UTC, date, datetime

import icalendar
import pytest
from berth.output.calendarfile import CalendarEvent, FeedHeader, StandingEvent, calendar_bytes

from tests.awkward import TITLES

EVENT = CalendarEvent(
    "a/2026-02-02T09:00", 1_770_019_200, 1_770_033_600, "Algebra", "25 small, 3 huge\nin prod", canceled=False
)
FEED = FeedHeader("Spring, at uni", "uni", 1_769_900_400)
HEAD = b"""\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//berth.dev//Berth//EN
METHOD:PUBLISH
NAME:Spring\\, at uni
X-WR-CALNAME:Spring\\, at uni
REFRESH-INTERVAL;VALUE=DURATION:PT1H
X-PUBLISHED-TTL:PT1H
"""
EMPTY = HEAD + b"END:VCALENDAR\n"
WHOLE = (
    HEAD
    + b"""\
BEGIN:VEVENT
UID:a/2026-02-02T09:00@uni
DTSTART:20260202T080000Z
DTEND:20260202T120000Z
DESCRIPTION:25 small\\, 3 huge\\nin prod
SUMMARY:Algebra
STATUS:CONFIRMED
TRANSP:TRANSPARENT
DTSTAMP:20260131T230000Z
LAST-MODIFIED:20260131T230000Z
SEQUENCE:192063600
END:VEVENT
END:VCALENDAR
"""
)
STANDING = StandingEvent("lab", date(2026, 3, 1), "Lab", "2 small", canceled=False)


def read(*events: CalendarEvent | StandingEvent, published: int = FEED.published) -> list[icalendar.Event]:
    """The events that another program finds; it complains of nothing."""
    calendar = icalendar.Calendar.from_ical(calendar_bytes(FEED._replace(published=published), events))
    assert isinstance(calendar, icalendar.Calendar)
    assert calendar.errors == []
    found = calendar.events
    assert [event.errors for event in found] == [[]] * len(events)
    return found


def test_an_event_has_its_lines() -> None:
    assert calendar_bytes(FEED, [EVENT]) == WHOLE.replace(b"\n", b"\r\n")


def test_no_events_are_an_empty_calendar() -> None:
    assert calendar_bytes(FEED, []) == EMPTY.replace(b"\n", b"\r\n")


def test_events_keep_their_order_ids_and_instants() -> None:
    events = [EVENT._replace(id=f"a/{number}", start=EVENT.start - number) for number in range(3)]

    found = read(*events)

    assert [str(event["UID"]) for event in found] == ["a/0@uni", "a/1@uni", "a/2@uni"]
    assert [event.start for event in found] == [datetime.fromtimestamp(event.start, UTC) for event in events]
    assert [event.end for event in found] == [datetime.fromtimestamp(event.end, UTC) for event in events]


def test_an_event_that_moves_to_an_earlier_time_replaces_the_one_that_a_client_has() -> None:
    (before,) = read(EVENT, published=FEED.published)
    (after,) = read(EVENT._replace(start=EVENT.start - 86_400), published=FEED.published + 1)

    assert before["UID"] == after["UID"]
    assert before.start > after.start
    assert int(str(before["SEQUENCE"])) < int(str(after["SEQUENCE"]))
    for key in ("DTSTAMP", "LAST-MODIFIED"):
        assert before.decoded(key) < after.decoded(key), key


@pytest.mark.parametrize("year", [1970, 2020, 2087])
def test_a_sequence_fits_into_32_bits(year: int) -> None:
    (found,) = read(EVENT, published=int(datetime(year, 1, 1, tzinfo=UTC).timestamp()))

    assert 0 <= int(str(found["SEQUENCE"])) < 2**31


def test_what_stands_takes_each_day_from_the_publication_to_its_last() -> None:
    (found,) = read(STANDING)

    assert (found.start, found.end) == (date(2026, 1, 31), date(2026, 2, 1))
    assert found["RRULE"].to_ical() == b"FREQ=DAILY;UNTIL=20260301"


def test_what_stands_without_end_recurs_without_end() -> None:
    (found,) = read(STANDING._replace(last=None))

    assert found["RRULE"].to_ical() == b"FREQ=DAILY"


def test_what_stood_before_the_publication_is_shown_on_its_last_day() -> None:
    (found,) = read(STANDING._replace(last=date(2025, 12, 24)))

    assert found.start == date(2025, 12, 24)


def test_an_event_leads_to_its_file() -> None:
    (found,) = read(EVENT._replace(url="https://git.example.org/a/blob/main/x.yaml"))

    assert str(found["URL"]) == "https://git.example.org/a/blob/main/x.yaml"


@pytest.mark.parametrize(("canceled", "status"), [(True, "CANCELLED"), (False, "CONFIRMED")])
def test_a_canceled_event_says_so(canceled: bool, status: str) -> None:
    (found,) = read(EVENT._replace(canceled=canceled))

    assert str(found["STATUS"]) == status


def test_every_text_that_a_document_may_have_comes_back() -> None:
    for text in TITLES:
        (found,) = read(EVENT._replace(title=text, description=f"{text}\n{text}"))

        assert (str(found["SUMMARY"]), str(found["DESCRIPTION"])) == (text, f"{text}\n{text}"), ascii(text)


@pytest.mark.parametrize("character", ["a", "é", "語", "\U0001f680"])
def test_lines_have_at_most_75_octets_and_no_character_is_cut(character: str) -> None:
    for length in range(60, 90):
        title = "-" * (length % 4) + character * length
        event = EVENT._replace(title=title)

        assert max(map(len, calendar_bytes(FEED, [event]).split(b"\r\n"))) <= 75
        for line in calendar_bytes(FEED, [event]).split(b"\r\n"):
            line.decode()
        assert str(read(event)[0]["SUMMARY"]) == title
