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
STANDING = StandingEvent("lab", date(2026, 3, 1), "Lab", "2 small", canceled=False)


def read(*events: CalendarEvent | StandingEvent, published: int = FEED.published) -> list[icalendar.Event]:
    """The events that another program finds; it complains of nothing."""
    calendar = icalendar.Calendar.from_ical(calendar_bytes(FEED._replace(published=published), events))
    assert isinstance(calendar, icalendar.Calendar)
    assert (calendar.errors, calendar["NAME"]) == ([], r"Spring\, at uni")
    found = calendar.events
    assert [event.errors for event in found] == [[]] * len(events)
    return found


@pytest.mark.parametrize("year", [1970, 2020, 2087])
def test_a_sequence_fits_into_32_bits(year: int) -> None:
    (found,) = read(EVENT, published=int(datetime(year, 1, 1, tzinfo=UTC).timestamp()))

    assert 0 <= int(str(found["SEQUENCE"])) < 2**31


def test_a_standing_event_without_an_end_recurs_without_an_end() -> None:
    (found,) = read(STANDING._replace(last=None))

    assert found["RRULE"].to_ical() == b"FREQ=DAILY"


def test_an_expired_standing_event_is_shown_on_its_last_day() -> None:
    (found,) = read(STANDING._replace(last=date(2025, 12, 24)))

    assert found.start == date(2025, 12, 24)


def test_every_text_of_a_valid_document_is_read_back_unchanged() -> None:
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
