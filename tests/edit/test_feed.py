"""What is read of an iCalendar file: lines, times, zones and counts, and what is reported of the rest."""

from datetime import date

import pytest
from berth.edit.eventcounts import described_seats
from berth.edit.feed import read_feed
from berth.reading.source import Source
from berth.schema.documentproblems import Refusal

from tests.cases import tabled
from tests.edit.events import event, feed, imported, moment, starts, windows

TIME = ("DTSTART:20260302T100000", "DTEND:20260302T120000")


def test_an_event_of_36_years_is_not_imported_and_the_others_are() -> None:
    one = event(TIME[0], "DTEND:20620302T120000", uid="1", title="Typo")
    found = imported(feed(one, event(*TIME, uid="2", title="Course")))

    assert found.results == ["not imported", "new"]
    assert len(windows(found.sources)) == 1


@pytest.mark.parametrize("at", range(1, 12))
def test_a_line_that_is_folded_at_any_byte_is_read(at: int) -> None:
    text = "SUMMARY:Ü🎓ü".encode()
    data = feed(event(*TIME)).text.replace(b"SUMMARY:Course", text[:at] + b"\r\n " + text[at:])
    (found,) = read_feed(Source("team.ics", b"\xef\xbb\xbf" + data)).events

    assert found.title == "Ü🎓ü"


@tabled("edit")
def test_a_description_has_all_its_lines(lines: str, expected: str) -> None:
    (found,) = read_feed(feed(event(f"DESCRIPTION:{lines}", *TIME))).events

    assert found.description == expected


@pytest.mark.parametrize(
    "lines",
    [
        (TIME[0], "DTEND;TZID=tzone://Microsoft/Utc:20260302T110000"),
        ("dtstart;tzid=Europe/Zurich:20260302t100000", "dtend;Tzid=europe/zurich:20260302T120000"),
        ("DTSTART:20260302T100000,", "DTEND:20260302T120000;"),
        (*TIME, "DURATION:PT2H"),
        (*TIME, "DURATION:PT0S"),
        (*TIME, *TIME),
        ("DTSTART;VALUE=DATE:20260302T100000", "DTEND;VALUE=DATE:20260302T120000"),
        (
            *TIME,
            "EXDATE:",
            "RDATE;TZID=tzone://Microsoft/Utc:",
            "SEQUENCE:",
            "STATUS:",
            "RRULE:",
            "DURATION:",
        ),
        (*TIME, "RRULE:FREQ=WEEKLY;COUNT=1;", "EXDATE:20260309T100000,"),
        (*TIME, 'ATTENDEE;CN="lost quote:mailto:a@example.org', "X-LIC_ERROR;A=b:c", "NOTE:unknown"),
    ],
    ids=[
        "colon-in-zone",
        "lower-case",
        "trailing-separators",
        "end-and-length",
        "end-and-no-length",
        "same-lines-twice",
        "date-with-time",
        "empty",
        "trailing-separators-of-lists",
        "other-properties",
    ],
)
def test_events_with_known_faults_of_calendar_programs_are_imported(lines: tuple[str, ...]) -> None:
    found = imported(feed(event(*lines)))
    ((_, start, end),) = windows(found.sources)

    assert (moment(start), moment(end)) == ("03-02 09:00", "03-02 11:00")
    assert [code for code, _ in found.codes] == ["B207"] * ("NOTE:unknown" in lines)


@tabled("edit")
def test_an_unreadable_event_gets_the_finding_b206_and_the_others_are_imported(line: str) -> None:
    """It hides no other event."""
    key = line.partition(":")[0].partition(";")[0]
    lines = [line if one.startswith(key) else one for one in TIME]
    lines += [line] if line not in lines else ["DTEND:20260302T130000"] * (line == "DTEND:20260302T120000")
    found = imported(feed(event(*lines), event(*TIME, uid="2", title="Other")), last=None)

    assert found.results == ["not imported", "new"]
    assert [(finding.code, '"Course"' in finding.path) for finding in found.findings] == [("B206", True)]


@tabled("edit")
def test_an_unreadable_part_of_an_event_is_left_out_with_the_finding_b207(
    line: str, dates: list[str]
) -> None:
    found = imported(feed(event(*TIME, "RRULE:FREQ=WEEKLY;COUNT=3", line)))

    assert (found.codes, starts(found)) == ([("B207", 10)], dates)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VALARM\nEND:VEVENT\nEND:VCALENDAR\n", 3),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VEVENT\nEND:VEVENT\nEND:VCALENDAR\n", 2),
        ("BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR\n", 1),
        ("BEGIN:VEVENT\nEND:VEVENT\n", 1),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n", 2),
        ("<html>\n<title>Sign in: calendar</title>\n", 1),
        ("", 1),
        ("BEGIN:VCALENDAR\nNAME:\udcdc\nEND:VCALENDAR\n", 2),
    ],
    ids=["part", "event", "calendar", "without-calendar", "cut", "page", "empty", "not-utf8"],
)
def test_a_file_that_is_not_a_calendar_is_an_error(text: str, line: int) -> None:
    found = imported(Source("team.ics", text.encode("utf-8", "surrogateescape")))

    assert (found.codes, found.files, found.findings[0].severity) == ([("B205", line)], [], "error")


ZURICH = """\
BEGIN:VTIMEZONE
TZID:Customized Time Zone
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
"""
EASTERN = (
    ZURICH.replace("+0200", "-0400")
    .replace("+0100", "-0500")
    .replace("BYDAY=-1SU;BYMONTH=10", "BYDAY=1SU;BYMONTH=11")
    .replace("BYDAY=-1SU", "BYDAY=2SU")
)
MONDAYS = ("DTSTART;TZID=Customized Time Zone:20260323T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")


@tabled("edit")
def test_an_event_is_imported_with_its_start_and_end(lines: list[str], expected: str) -> None:
    found = imported(feed(ZURICH, event(*lines)))
    texts = [f"{moment(start)} to {moment(end)}" for _, start, end in windows(found.sources)]

    assert ([*found.codes], ", ".join(texts)) == ([], expected)


@pytest.mark.parametrize("zone", ["EST", "est", "Etc/GMT+5", "GMT", "Etc/UTC", "UTC", "Our time"])
def test_the_vtimezone_of_a_zone_that_is_not_a_place_is_used(zone: str) -> None:
    defined = EASTERN.replace("Customized Time Zone", zone)
    lines = (f"DTSTART;TZID={zone}:20260601T100000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=4")
    found = imported(feed(defined, event(*lines)))

    assert (found.codes, starts(found)[0], "America/New_York" in found.text) == ([], "06-01 14:00", True)


def test_est_on_a_date_in_summer_time_gets_the_finding_b206() -> None:
    found = imported(feed(event("DTSTART;TZID=EST:20260601T100000", "DURATION:PT1H")))

    assert (found.codes, found.results) == ([("B206", 7)], ["not imported"])
    assert "11:00 in America/New_York" in found.findings[0].message


@pytest.mark.parametrize(
    "broken",
    [
        ZURICH + ZURICH.replace("+0200", "+0300"),
        ZURICH.replace("TZOFFSETTO:+0100", "TZOFFSETTO:north"),
        ZURICH.replace("FREQ=YEARLY", "FREQ=SECONDLY"),
        "",
    ],
    ids=["twice", "offset", "endless", "missing"],
)
def test_a_zone_without_a_readable_definition_gets_the_finding_b206(broken: str) -> None:
    found = imported(feed(broken, event(*MONDAYS)))

    assert [(finding.code, finding.path) for finding in found.findings] == [("B206", 'DTSTART of "Course"')]


def test_times_without_a_zone_use_the_zone_of_the_option_or_of_the_calendar() -> None:
    source = feed(
        "X-WR-TIMEZONE:w. europe standard time\n", event("DTSTART:20260202T090000", "DURATION:PT1H")
    )
    unknown = feed("X-WR-TIMEZONE:Mars/Base\n", event("DTSTART:20260202T090000", "DURATION:PT1H"))

    assert starts(imported(source)) == ["02-02 08:00"]
    assert starts(imported(source, zone="America/New_York")) == ["02-02 14:00"]
    assert (imported(unknown).codes, starts(imported(unknown))) == ([("B207", 4)], ["02-02 08:00"])


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("seats: 25", {"": 25}),
        ("Hello\n- Seats : 1,200.", {"": 1200}),
        ("<p>seats:&nbsp;<b>60</b></p>", {"": 60}),
        ("GPU: 2<br>small: 60", {"gpu": 2, "small": 60}),
        ("seats: 60\nSEATS: 60", {"": 60}),
        ("60 seats", {}),
        ("Seats needed: 60", {}),
        ("small 60", {}),
        ("- GPU 4090\n- Git", {}),
        ("room: 312\nWeek 5: students present", {}),
        ("25 small in prod, open from Mon 2026-02-02 08:30 (Europe/Zurich)", {}),
        ("seats: 60\n" * 3 + "x" * 300, {"": 60}),
    ],
)
def test_a_seat_count_is_read_only_from_a_line_of_its_own(text: str, counts: dict[str, int]) -> None:
    assert described_seats(text, ("small", "gpu")) == counts


@pytest.mark.parametrize(
    "text", ["seats: 0", "seats: ~60", "small: 25-30", "seats: 60 (max 80)", "seats: -5"]
)
@pytest.mark.parametrize("more", ["", "\ngpu: 2"])
def test_a_malformed_seat_count_is_refused(text: str, more: str) -> None:
    with pytest.raises(Refusal):
        described_seats(text + more, ("small", "gpu"))


@pytest.mark.parametrize("text", ["seats: 5\nseats: 6", "seats: 5\nsmall: 5"])
def test_conflicting_seat_counts_are_refused(text: str) -> None:
    with pytest.raises(Refusal):
        described_seats(text, ("small", "gpu"))


def test_an_event_with_too_many_dates_gets_the_finding_b206() -> None:
    found = imported(feed(event(*TIME, "RRULE:FREQ=DAILY;COUNT=3000")), last=date(2040, 1, 1))

    assert (found.codes, found.files) == ([("B206", 9)], [])


def test_the_second_calendar_of_a_file_has_its_own_method_and_zone() -> None:
    canceled = feed("METHOD:CANCEL\n", event(*TIME)).text
    found = imported(Source("team.ics", canceled + feed(event(*TIME, uid="2")).text))

    assert found.results == ["canceled", "new"]
