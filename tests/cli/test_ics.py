"""iCalendar: what a calendar gets, and that no text breaks out of its line."""

import re

import pytest
from berth.cli import ics

from tests.awkward import AWKWARD
from tests.cli.conftest import Berth

EVENT = ics.Event("a/2026-02-02T09:00", 1_770_019_200, 1_770_033_600, "Algebra", "25 small", canceled=False)
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
DESCRIPTION:3 bench in lab\\, from 2026-02-08T02:00:00Z on\\n2 small in prod\\
 , from 2026-02-08T02:00:00Z on
STATUS:CONFIRMED
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
"""


def unfolded(text: str) -> list[str]:
    """Lines as RFC 5545 reads them: CRLF, and a space after one goes on with the line before."""
    assert text.endswith("\r\n")
    return text.replace("\r\n ", "").split("\r\n")[:-1]


def unescaped(value: str) -> str:
    return re.sub(r"\\([\\;,n])", lambda match: "\n" if match[1] == "n" else match[1], value)


def summary(title: str) -> str:
    (line,) = (
        line for line in unfolded(ics.text([EVENT._replace(title=title)])) if line.startswith("SUMMARY:")
    )
    return unescaped(line.removeprefix("SUMMARY:"))


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


def test_the_instants_are_the_occurrences_and_never_the_clocks() -> None:
    lines = unfolded(ics.text([EVENT]))

    assert lines[5:8] == ["DTSTAMP:20260202T080000Z", "DTSTART:20260202T080000Z", "DTEND:20260202T120000Z"]


def test_every_text_comes_back_but_for_control_characters() -> None:
    for title in AWKWARD:
        expected = "".join(" " if (c < " " and c != "\n") or c == "\x7f" else c for c in title)

        assert summary(title) == expected, ascii(title)


@pytest.mark.parametrize("character", ["a", "é", "語", "\U0001f680"])
def test_lines_have_at_most_75_octets_and_no_character_is_cut(character: str) -> None:
    for length in range(60, 90):
        title = "-" * (length % 4) + character * length
        lines = ics.text([EVENT._replace(title=title)]).encode().split(b"\r\n")

        assert max(map(len, lines)) <= 75
        assert summary(title) == title
        for line in lines:
            line.decode()


def test_a_line_is_folded_only_where_it_must_be() -> None:
    """SUMMARY: and 67 letters are 75 octets; one more needs a second line."""
    for length, parts in ((67, 1), (68, 2), (67 + 74, 2), (67 + 75, 3)):
        text = ics.text([EVENT._replace(title="a" * length)])

        assert text.count("\r\n ") == parts - 1
