"""`berth occurrences -o ics`: which events a calendar gets; tests/output has how they are written."""

from tests.cli.conftest import Berth

WHOLE = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//berth.dev//Berth//EN
BEGIN:VEVENT
UID:night/2026-02-07T22:00
DTSTAMP:20260208T030000Z
DTSTART:20260208T030000Z
DTEND:20260208T110000Z
SUMMARY:night
DESCRIPTION:3 bench in lab\\, from 2026-02-08T02:00:00Z on\\n2 small in prod
 \\, from 2026-02-08T02:00:00Z on
STATUS:CONFIRMED
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
"""


def unfolded(text: str) -> list[str]:
    """Lines as RFC 5545 reads them: CRLF, and a space after one goes on with the line before."""
    assert text.endswith("\r\n")
    return text.replace("\r\n ", "").split("\r\n")[:-1]


def test_one_event_for_each_occurrence_whatever_its_clusters(berth: Berth) -> None:
    assert berth("occurrences", "night", "-o", "ics") == (0, WHOLE.replace("\n", "\r\n"), "")


def test_a_suspended_occurrence_is_cancelled_and_a_moved_one_keeps_its_id(berth: Berth) -> None:
    lines = unfolded(berth("occurrences", "-o", "ics").out)

    assert [line for line in lines if line.startswith(("UID", "DTSTART", "STATUS"))] == [
        "UID:course/2026-02-02T09:00",
        "DTSTART:20260202T080000Z",
        "STATUS:CONFIRMED",
        "UID:rest/2026-02-03T10:00",
        "DTSTART:20260203T090000Z",
        "STATUS:CANCELLED",
        "UID:night/2026-02-07T22:00",
        "DTSTART:20260208T030000Z",
        "STATUS:CONFIRMED",
        "UID:course/2026-02-23T09:00",
        "DTSTART:20260224T080000Z",
        "STATUS:CONFIRMED",
    ]


def test_nothing_is_an_empty_calendar(berth: Berth) -> None:
    told = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//berth.dev//Berth//EN\r\nEND:VCALENDAR\r\n"

    assert berth("occurrences", "--from", "2027-01-01", "-o", "ics") == (0, told, "")
