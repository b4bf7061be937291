"""What is read of an iCalendar file: its lines, and what is reported of those that cannot be read."""

from pathlib import Path

import pytest
from berth.edit.calendarfeed import Event, Feed, read_feed
from berth.reading.source import Source

from tests.console import ROOT
from tests.edit.events import codes, event, feed, imported, written

WORLD = ROOT / "tests" / "cases" / "world"
TIME = ("DTSTART:20260302T100000", "DTEND:20260302T120000")


def world(name: str) -> Source:
    """Return a file as a program of the world writes it."""
    return Source(name, Path(WORLD / name).read_bytes())


def read(*lines: str, title: str = "Course") -> Feed:
    return read_feed(feed(event(*lines, title=title)))


def only(found: Feed) -> Event:
    """Return the one event of a feed without findings."""
    assert found.findings == ()
    (one,) = found.events
    return one


def test_a_character_that_a_fold_cuts_is_whole() -> None:
    assert only(read_feed(world("folded-character.ics"))).title == (
        "Einführung in die künstliche Intelligenz für Anfänger und Übungen zur Vorlesung"
    )


@pytest.mark.parametrize("at", range(1, 12))
def test_a_line_may_be_folded_at_each_byte(at: int) -> None:
    text = "SUMMARY:Ü🎓ü".encode()
    data = feed(event(*TIME)).text.replace(b"SUMMARY:Course", text[:at] + b"\r\n " + text[at:])

    assert only(read_feed(Source("team.ics", data))).title == "Ü🎓ü"


def test_text_that_is_not_utf8_is_an_error_of_its_line() -> None:
    data = feed(event(*TIME)).text.replace(b"Course", b"\xdcbung")

    assert [(finding.code, finding.line) for finding in read_feed(Source("team.ics", data)).findings] == [
        ("B205", 7)
    ]


def test_a_byte_order_mark_is_left_out() -> None:
    source = feed(event(*TIME))

    assert only(read_feed(source._replace(text=b"\xef\xbb\xbf" + source.text))).title == "Course"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("line one\nline two without colon\nseats: 30", "line one\nline two without colon\nseats: 30"),
        ("line one\nseats: 30", "line one\nseats: 30"),
        ("line one\n\nsmall=30", "line one\n\nsmall=30"),
        (r"a\nb\Nc\, d\; e\\n", "a\nb\nc, d; e\\n"),
        ("a\nDESCRIPTION:b", "a\nb"),
    ],
    ids=["raw", "raw-with-colon", "empty-line", "escaped", "twice"],
)
def test_a_description_has_all_its_lines(lines: str, expected: str) -> None:
    one = only(read(f"DESCRIPTION:{lines}", *TIME))

    assert (one.description, one.span.start.wall % 1440) == (expected, 600)


def test_a_line_that_is_not_a_property_is_told() -> None:
    found = read(*TIME, "garbage", "DESCRIPTION:x")

    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B207", 10, '"Course" (UID 1@example.org)')
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (
            "DTSTART;TZID=tzone://Microsoft/Utc:20260302T100000",
            "DTEND;TZID=tzone://Microsoft/Utc:20260302T120000",
        ),
        ('DTSTART;TZID="(UTC+00:00) X";VALUE=DATE-TIME:20260302T100000', "DURATION:PT2H"),
        ("dtstart;tzid=Europe/Zurich:20260302t100000", "dtend;Tzid=europe/zurich:20260302T120000"),
        ("DTSTART ; TZID = Europe/Zurich : 20260302T100000", "DURATION:P0DT2H0M0S"),
        ("DTSTART:20260302T100000,", "DTEND:20260302T120000;"),
        ("DTSTART:20260302T1000", "DTEND:20260302T1200"),
        ("DTSTART:20260302T100000", "DTEND:20260302T120000", "DURATION:PT2H"),
        (*TIME, "EXDATE:", "RDATE;TZID=tzone://Microsoft/Utc:", "SEQUENCE:", "STATUS:"),
        (*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;", "EXDATE:20260309T100000,", "RDATE:20260312T100000;"),
        (*TIME, "rrule:freq=weekly;byday=mo, tu;until=20260330t235959z"),
        (*TIME, *TIME),
        (*TIME, 'ATTENDEE;CN="lost quote:mailto:a@example.org', "X-LIC_ERROR;A=b:c", "NOTE:unknown"),
    ],
    ids=[
        "colon-in-zone",
        "quoted-colon",
        "lower-case",
        "spaces",
        "trailing-separators",
        "without-seconds",
        "end-and-length",
        "empty",
        "trailing-separators-of-lists",
        "lower-case-rule",
        "same-lines-twice",
        "other-properties",
    ],
)
def test_what_clients_write_is_read(lines: tuple[str, ...]) -> None:
    one = only(read(*lines))
    length = one.span.minutes if one.span.end is None else one.span.end.wall - one.span.start.wall

    assert (one.span.start.wall % 1440, length) == (600, 120)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("DTSTART:2026-03-02T13:00:00Z", TIME[1]), ("DTSTART", 8)),
        (("DTSTART:20260302T130000+0100", TIME[1]), ("DTSTART", 8)),
        (("DTSTART;TZID=Europe/Zurich:20260302T130000+0100", TIME[1]), ("DTSTART", 8)),
        (("DTSTART;TZID=Europe/Zurich:20260302T130000Z", TIME[1]), ("DTSTART", 8)),
        (("DTSTART:20260302T100000,20260303T100000", TIME[1]), ("DTSTART", 8)),
        (("DTSTART;VALUE=DATE:20260302T100000", TIME[1]), ("DTSTART", 8)),
        (("DTSTART;VALUE=DATE-TIME:20260302", TIME[1]), ("DTSTART", 8)),
        (("DTSTART:20260302T250000", TIME[1]), ("DTSTART", 8)),
        (("DTSTART:20260302T240001", TIME[1]), ("DTSTART", 8)),
        (("DTSTART:٢٠٢٦٠٣٠٢", TIME[1]), ("DTSTART", 8)),
        ((*TIME, "DTSTART:20260303T100000"), ("DTSTART", 10)),
        ((*TIME, "DURATION:PT1H"), ("DURATION", 10)),
        ((TIME[0], "DURATION:1H"), ("DURATION", 9)),
        ((TIME[0], "DURATION:P"), ("DURATION", 9)),
        ((TIME[0], "DURATION:PT1H30"), ("DURATION", 9)),
        ((TIME[0], "DURATION:P99999999D"), ("DURATION", 9)),
        ((*TIME, "SEQUENCE:two"), ("SEQUENCE", 10)),
        ((*TIME, "EXDATE:20260303T100000,tomorrow"), ("EXDATE", 10)),
        ((*TIME, "RDATE;VALUE=PERIOD:20260303T100000/soon"), ("RDATE", 10)),
        ((*TIME, "RECURRENCE-ID:"), ("RECURRENCE-ID", 10)),
        ((*TIME, "RRULE:"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=FORTNIGHTLY;COUNT=3"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;COUNT=4"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=0"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;INTERVAL=0"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;INTERVAL=1.5"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MON"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=2MO"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;WKST=1"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=MONTHLY;COUNT=3;BYMONTHDAY=0"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=YEARLY;COUNT=3;BYMONTH=5L"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=YEARLY;COUNT=3;BYEASTER=1"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=WEEKLY;COUNT=3;X-SKIP=2"), ("RRULE", 10)),
        ((*TIME, "RRULE:RSCALE=CHINESE;FREQ=YEARLY;COUNT=3"), ("RRULE", 10)),
        ((*TIME, "RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD;COUNT=3"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=DAILY;COUNT=3;BYSECOND=0,30"), ("RRULE", 10)),
        ((*TIME, "RRULE:FREQ=DAILY;UNTIL=soon"), ("RRULE", 10)),
        ((*TIME, "EXRULE:FREQ=DAILY;COUNT=3;BYFOO=1"), ("EXRULE", 10)),
    ],
    ids=lambda value: value[-1] if isinstance(value[-1], str) else "",
)
def test_what_cannot_be_read_is_told_with_the_title_and_the_uid(
    lines: tuple[str, ...], place: tuple[str, int]
) -> None:
    found = read(*lines)
    key, line = place

    assert found.events == ()
    assert [(finding.code, finding.path, finding.line) for finding in found.findings] == [
        ("B206", f'{key} of "Course" (UID 1@example.org)', line)
    ]


def test_all_faults_of_an_event_are_told() -> None:
    found = read("DTSTART:today", "DTEND:later", "RRULE:FREQ=WEEKLY;COUNT=0")

    assert [(finding.code, finding.line) for finding in found.findings] == [
        ("B206", 8),
        ("B206", 9),
        ("B206", 10),
    ]


def test_the_rscale_that_rules_have_anyway_is_read() -> None:
    (rule,) = only(read(*TIME, "RRULE:RSCALE=GREGORIAN;FREQ=WEEKLY;SKIP=OMIT;COUNT=3")).rules

    assert rule == only(read(*TIME, "RRULE:FREQ=WEEKLY;COUNT=3")).rules[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VALARM\nEND:VEVENT\nEND:VCALENDAR\n", 3),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nBEGIN:VEVENT\nEND:VEVENT\nEND:VCALENDAR\n", 2),
        ("BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR\n", 1),
        ("BEGIN:VEVENT\nEND:VEVENT\n", 1),
        ("<html>\n<title>Sign in: calendar</title>\n", 1),
    ],
    ids=["part", "event", "calendar", "without-calendar", "page"],
)
def test_a_component_without_its_end_is_an_error(text: str, line: int) -> None:
    found = read_feed(Source("team.ics", text.encode()))

    assert [(finding.code, finding.line, finding.severity) for finding in found.findings] == [
        ("B205", line, "error")
    ]


def test_lines_outside_of_the_calendar_are_told() -> None:
    source = feed(event(*TIME))
    found = read_feed(source._replace(text=b"Warning: deprecated\r\n" + source.text))

    assert ([(finding.code, finding.line) for finding in found.findings], len(found.events)) == (
        [("B207", 1)],
        1,
    )


@pytest.mark.parametrize(
    "lines",
    [
        ("STATUS:CANCELLED",),
        ("STATUS:CANCELED",),
        ("status:canceled",),
        ("STATUS:CONFIRMED", "STATUS:Cancelled"),
    ],
)
def test_a_status_of_each_spelling_is_a_cancellation(lines: tuple[str, ...]) -> None:
    assert only(read(*TIME, *lines)).is_canceled


@pytest.mark.parametrize("method", ["CANCEL", "cancel"])
def test_the_method_cancel_cancels_the_events_of_its_calendar(method: str) -> None:
    canceled = feed(f"METHOD:{method}\n", event(*TIME)).text
    found = read_feed(Source("team.ics", canceled + feed(event(*TIME, uid="2")).text))

    assert [one.is_canceled for one in found.events] == [True, False]


@pytest.mark.parametrize(
    "title", ["Canceled: Algebra", "CANCELLED: Algebra", "Abgesagt: Algebra", "Annulé : Algebra"]
)
@pytest.mark.parametrize("mark", ["TRANSP:TRANSPARENT", "X-MICROSOFT-CDO-BUSYSTATUS:FREE"])
def test_a_title_that_says_canceled_and_a_free_time_are_a_cancellation_that_is_told(
    title: str, mark: str
) -> None:
    found = read(*TIME, mark, title=title)

    assert [one.is_canceled for one in found.events] == [True]
    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B206", 7, f'SUMMARY of "{title}"')
    ]


@pytest.mark.parametrize(
    ("title", "mark"),
    [
        ("Canceled: Algebra", "TRANSP:OPAQUE"),
        ("Algebra", "TRANSP:TRANSPARENT"),
        ("Cancel culture", "TRANSP:TRANSPARENT"),
    ],
)
def test_other_events_are_not_canceled(title: str, mark: str) -> None:
    assert not only(read(*TIME, mark, title=title)).is_canceled


def test_the_canceled_event_of_outlook_keeps_no_seats_in_silence() -> None:
    before = imported(world("canceled-before.ics"))
    after = imported(world("canceled-after.ics")._replace(file="canceled-before.ics"), *written(before))

    assert (codes(before), [file.dates for file in before.files]) == ([], [10])
    assert ("B206", 9) in codes(after)
    assert "B208" in [code for code, _ in codes(after)]
    assert after.files == ()


def test_a_reply_is_not_a_calendar_of_what_takes_place() -> None:
    found = read_feed(feed("METHOD:COUNTER\n", event(*TIME)))

    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B207", 5, "METHOD")
    ]


def test_an_unknown_zone_of_the_calendar_is_told() -> None:
    found = read_feed(feed("X-WR-TIMEZONE:Mars/Base\n", event(*TIME)))

    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B207", 5, "X-WR-TIMEZONE")
    ]


@pytest.mark.parametrize(
    "lines", ["METHOD:PUBLISH\nMETHOD:CANCEL\n", "X-WR-TIMEZONE:UTC\nX-WR-TIMEZONE:Europe/Zurich\n"]
)
def test_what_a_calendar_says_twice_of_all_its_events_is_reported(lines: str) -> None:
    found = read_feed(feed(lines, event(*TIME)))

    assert [(finding.code, finding.line, "line 5 " in finding.message) for finding in found.findings] == [
        ("B207", 6, True)
    ]


def test_events_without_uid_and_with_one_uid_are_all_kept() -> None:
    nameless = "BEGIN:VEVENT\nDTSTART:20260302T100000\nDURATION:PT1H\nEND:VEVENT\n"
    found = read_feed(feed(event(*TIME), event(*TIME), nameless, nameless))

    assert [one.uid for one in found.events] == ["1@example.org", "1@example.org", "", ""]


def test_what_the_calendar_says_of_itself_and_of_events_is_read() -> None:
    found = read_feed(
        feed(
            "X-WR-RELCALID:abc\n",
            event(*TIME, r"CATEGORIES:Lab\, wet,Exam", "categories:Two", "TRANSP:transparent"),
        )
    )
    one = only(found)

    assert (found.program, found.calendar_id) == ("-//example//EN", "abc")
    assert (one.categories, one.is_free) == (("Lab, wet", "Exam", "Two"), True)


def test_the_quirks_of_exchange_are_read_or_told_with_title_and_uid() -> None:
    found = read_feed(world("exchange-quirks.ics"))
    numbers = [one.uid.removeprefix("ex") for one in found.events]

    assert numbers == [str(n) for n in (*range(1, 20), 22, 23, 24, 24)]
    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B206", 75, 'SUMMARY of "Canceled: outlook style"'),
        ("B206", 141, 'DTSTART of "iso" (UID ex20)'),
        ("B206", 142, 'DTEND of "iso" (UID ex20)'),
        ("B206", 147, 'DTSTART of "offset" (UID ex21)'),
        ("B206", 148, 'DTEND of "offset" (UID ex21)'),
    ]
    assert [one.uid for one in found.events if one.is_canceled] == ["ex9", "ex10"]
    assert [one.description for one in found.events if one.uid == "ex13"] == [
        "line one\nline two without colon\nseats: 30"
    ]


def test_a_long_text_of_raw_lines_of_a_few_megabytes_is_read() -> None:
    one = only(read("DESCRIPTION:x", *("raw text: y",) * 400_000, *TIME))

    assert one.description.count("\n") == 400_000
