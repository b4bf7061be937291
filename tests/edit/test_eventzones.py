"""The zones of events: an import has the same instants, whatever zone a calendar names."""

import re
from datetime import UTC, datetime

import pytest
from berth.reading.source import Source

from tests.edit.events import codes, event, feed, imported, starts, windows, world, written


def utc_windows(*lines: str, zone: str | None = None, also: str = "") -> str:
    found = windows(written(imported(feed(also, event(*lines)), zone=zone)))
    texts = [
        [datetime.fromtimestamp(at, UTC).strftime("%m-%d %H:%M") for at in window[1:]] for window in found
    ]
    return ", ".join(" to ".join(text) for text in texts)


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


_ZONED = "DTSTART;TZID={}:20260202T090000"
_UTC = ("DTSTART:20260202T080000Z", "DURATION:PT1H")
_MONDAYS = ("DTSTART;TZID=Customized Time Zone:20260323T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (_UTC, "02-02 08:00 to 02-02 09:00"),
        (("DTSTART:20260202T090000", "DTEND:20260202T110000"), "02-02 08:00 to 02-02 10:00"),
        ((_ZONED.format("Asia/Tokyo"), "DURATION:PT90M"), "02-02 00:00 to 02-02 01:30"),
        ((_ZONED.format("Asia/Tokyo"), "DTEND:20260202T010000Z"), "02-02 00:00 to 02-02 01:00"),
        ((_ZONED.format("Tokyo Standard Time"), "DURATION:PT1H"), "02-02 00:00 to 02-02 01:00"),
        (("DTSTART;VALUE=DATE:20260202",), "02-01 23:00 to 02-02 23:00"),
        (("DTSTART;VALUE=DATE:20260202", "DTEND;VALUE=DATE:20260205"), "02-01 23:00 to 02-04 23:00"),
        (("DTSTART:20260202T220000Z", "DTEND:20260203T050000Z"), "02-02 22:00 to 02-03 05:00"),
        (("DTSTART:20260202T080030Z", "DTEND:20260202T100030Z"), "02-02 08:00 to 02-02 10:01"),
        (
            (*_UTC, "RDATE:20260205T090000Z", "RDATE;VALUE=PERIOD:20260207T100000Z/PT2H"),
            "02-02 08:00 to 02-02 09:00, 02-05 09:00 to 02-05 10:00, 02-07 10:00 to 02-07 12:00",
        ),
        (
            (*_UTC, "RRULE:FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20260203"),
            "02-02 08:00 to 02-02 09:00, 02-04 08:00 to 02-04 09:00",
        ),
        (
            (*_UTC, "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260203T000000Z,20260204T070000Z"),
            "02-02 08:00 to 02-02 09:00, 02-04 08:00 to 02-04 09:00",
        ),
        (
            (*_UTC, "RRULE:FREQ=DAILY;COUNT=3", "EXRULE:FREQ=DAILY;INTERVAL=2;COUNT=2"),
            "02-03 08:00 to 02-03 09:00",
        ),
        (
            (*_UTC, "RRULE:FREQ=DAILY;COUNT=2;BYHOUR=8,13"),
            "02-02 08:00 to 02-02 09:00, 02-02 13:00 to 02-02 14:00",
        ),
        (_MONDAYS, "03-23 08:00 to 03-23 09:00, 03-30 07:00 to 03-30 08:00"),
    ],
    ids=[
        "utc",
        "floating",
        "zone",
        "end-in-utc",
        "windows-zone",
        "one-day",
        "days",
        "overnight",
        "seconds",
        "added",
        "date-left-out",
        "midnight-left-out",
        "rule-left-out",
        "hours",
        "own-zone",
    ],
)
def test_an_event_is_at_its_instants(lines: tuple[str, ...], expected: str) -> None:
    assert utc_windows(*lines, also=ZURICH) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DTSTART:20271031T010000Z", "DTEND:20271031T013000Z"), "10-31 01:00 to 10-31 01:30"),
        (("DTSTART:20271031T003000Z", "DURATION:PT1H"), "10-31 00:30 to 10-31 01:30"),
        (("DTSTART;TZID=Europe/Zurich:20270328T013000", "DURATION:PT2H"), "03-28 00:30 to 03-28 02:30"),
    ],
    ids=["repeated-start", "repeated-end", "gap"],
)
def test_a_single_event_keeps_its_instants_where_clocks_change(lines: tuple[str, ...], expected: str) -> None:
    found = imported(feed(event(*lines)))

    assert (found.findings, utc_windows(*lines)) == ((), expected)


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (("DTSTART;TZID=Europe/Zurich:20271031T003000", "DTEND:20271031T013000Z"), 9),
        (("DTSTART;TZID=Europe/Zurich:20271031T013000", "DURATION:PT2H"), 9),
        (("DTSTART;TZID=Europe/Zurich:20270327T013000", "DURATION:PT2H", "RRULE:FREQ=DAILY;COUNT=3"), 9),
        (("DTSTART;TZID=Customized Time Zone:20271031T030000", "DURATION:PT1H"), None),
    ],
    ids=["end", "length", "rule", "other-hour"],
)
def test_an_instant_that_a_change_of_clocks_hides_is_told(lines: tuple[str, ...], line: int | None) -> None:
    found = imported(feed(event(*lines), ZURICH))

    assert codes(found) == ([("B207", line)] if line else [])


def test_a_repeated_hour_in_a_group_of_one_zone_is_told() -> None:
    last = event("DTSTART:20271031T010000Z", "DTEND:20271031T013000Z", uid="2")
    found = imported(feed(event("DTSTART:20271030T010000Z", "DTEND:20271030T013000Z"), last))

    assert codes(found) == [("B207", 14)]


def test_times_without_a_zone_are_in_that_of_the_option() -> None:
    lines = ("DTSTART:20260202T090000", "DURATION:PT1H")

    assert utc_windows(*lines, zone="UTC") == "02-02 09:00 to 02-02 10:00"


def test_the_zone_of_the_option_counts_more_than_that_of_the_calendar() -> None:
    source = feed("X-WR-TIMEZONE:America/New_York\n", event("DTSTART:20260202T090000", "DURATION:PT1H"))

    assert starts(written(imported(source))) == ["02-02 14:00"]
    assert starts(written(imported(source, zone="UTC"))) == ["02-02 09:00"]


def test_each_calendar_of_a_file_has_its_own_zone() -> None:
    assert starts(written(imported(world("two-calendars.ics")))) == ["03-02 09:00", "03-02 15:00"]


def test_each_calendar_of_a_file_has_its_own_vtimezones() -> None:
    lines = ("DTSTART;TZID=Customized Time Zone:20260202T090000", "DURATION:PT1H")
    other = ZURICH.replace("+0200", "-0400").replace("+0100", "-0500")
    parts = [
        feed(zones, event(*lines, uid=str(at), title=f"Course {at}")).text
        for at, zones in enumerate((ZURICH, other, ""))
    ]
    found = imported(Source("team.ics", b"".join(parts)))

    assert starts(written(found)) == ["02-02 08:00", "02-02 14:00"]
    assert [code for code, _ in codes(found)] == ["B206"]


@pytest.mark.parametrize("zone", ["Customized Time Zone", "EST", "UTC"])
def test_a_zone_that_is_defined_twice_with_other_rules_is_no_zone(zone: str) -> None:
    """Neither the first nor the last of them counts in silence."""
    zones = [one.replace("Customized Time Zone", zone) for one in (ZURICH, EASTERN)]
    lines = (f"DTSTART;TZID={zone}:20260202T090000", "DURATION:PT1H")
    for order in (zones, zones[::-1]):
        found = imported(feed(*order, event(*lines)))
        second = order[0].count("\n") + 5

        assert (codes(found)[0], [code for code, _ in codes(found)]) == (("B207", second), ["B207", "B206"])
        assert found.files == ()


def test_a_place_counts_more_than_two_vtimezones_that_differ() -> None:
    zones = [one.replace("Customized Time Zone", "Europe/Zurich") for one in (ZURICH, EASTERN)]
    found = imported(feed(*zones, event("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT1H")))

    assert ([code for code, _ in codes(found)], starts(written(found))) == (["B207"], ["02-02 08:00"])


def test_a_zone_that_is_defined_twice_alike_is_one() -> None:
    again = ZURICH.replace("BEGIN:STANDARD", "COMMENT:again\nBEGIN:STANDARD")
    lines = ("DTSTART;TZID=Customized Time Zone:20260202T090000", "DURATION:PT1H")
    found = imported(feed(ZURICH, again, event(*lines)))

    assert (codes(found), starts(written(found))) == ([], ["02-02 08:00"])


@pytest.mark.parametrize("key", ["TZOFFSETFROM:", "TZOFFSETTO:", "DTSTART:"])
def test_a_change_of_clocks_that_says_something_twice_cannot_be_read(key: str) -> None:
    line = next(line for line in ZURICH.splitlines() if line.startswith(key))
    twice = ZURICH.replace(line, f"{line}\n{line.replace('1', '2')}", 1)
    lines = ("DTSTART;TZID=Customized Time Zone:20260202T090000", "DURATION:PT1H")
    found = imported(feed(twice, event(*lines)))

    assert ([code for code, _ in codes(found)], found.files) == (["B206"], ())


def test_a_default_zone_may_be_one_that_the_calendar_defines() -> None:
    source = feed(
        f"X-WR-TIMEZONE:Customized Time Zone\n{ZURICH}", event("DTSTART:20260702T090000", "DURATION:PT1H")
    )

    assert starts(written(imported(source))) == ["07-02 07:00"]


@pytest.mark.parametrize(
    "zone", ["W. Europe Standard Time", "w. europe standard time", "Europe/Berlin", "/x/Europe/Berlin"]
)
def test_the_zone_of_a_calendar_may_have_each_name_that_a_tzid_has(zone: str) -> None:
    source = feed(f"X-WR-TIMEZONE:{zone}\n", event("DTSTART:20260202T090000", "DURATION:PT1H"))

    assert (codes(imported(source)), starts(written(imported(source)))) == ([], ["02-02 08:00"])


def test_zones_of_the_world_are_those_that_the_file_defines() -> None:
    found = imported(world("zones.ics"))
    files = {file.file[13:-5]: file for file in found.files}

    assert {name: starts([Source(file.file, file.text.encode())])[::7] for name, file in files.items()} == {
        "warsaw": ["03-02 09:00", "04-20 08:00"],
        "msutc": ["03-02 10:00"],
        "customny": ["03-02 15:00", "04-20 14:00"],
        "est": ["03-02 15:00", "04-20 14:00"],
        "weurope": ["09-17 11:00"],
        "slashvienna": ["04-14 15:15"],
    }
    assert [(finding.code, finding.line, finding.path) for finding in found.findings] == [
        ("B206", 95, 'DTSTART of "pdt"'),
        ("B206", 101, 'DTSTART of "gmtplus"'),
        ("B206", 113, 'DTSTART of "utcplus"'),
        ("B206", 119, 'DTSTART of "mez"'),
    ]
    zones = {name: re.findall("timeZone: (.*)", file.text) for name, file in files.items()}
    assert (zones["warsaw"], zones["customny"], zones["est"]) == (
        [],
        ["America/New_York"],
        ["America/New_York"],
    )
    assert "dates:" not in "".join(file.text for file in found.files)


EASTERN = (
    ZURICH.replace("+0200", "-0400")
    .replace("+0100", "-0500")
    .replace("BYDAY=-1SU;BYMONTH=10", "BYDAY=1SU;BYMONTH=11")
    .replace("BYDAY=-1SU", "BYDAY=2SU")
)


@pytest.mark.parametrize("zone", ["EST", "est", "Etc/GMT+5", "HST", "GMT", "Etc/UTC", "UTC"])
def test_the_vtimezone_of_a_zone_of_fixed_offset_counts(zone: str) -> None:
    defined = EASTERN.replace("Customized Time Zone", zone)
    source = feed(defined, event(f"DTSTART;TZID={zone}:20260601T100000", "DURATION:PT1H"))

    assert (codes(imported(source)), starts(written(imported(source)))) == ([], ["06-01 14:00"])


@pytest.mark.parametrize(
    ("zone", "findings", "start"),
    [
        ("EST", [("B207", 8)], "06-01 15:00"),
        ("Etc/GMT+5", [("B207", 8)], "06-01 15:00"),
        ("Dateline Standard Time", [("B207", 8)], "06-01 22:00"),
        ("GMT", [("B207", 8)], "06-01 10:00"),
        ("UTC", [], "06-01 10:00"),
        ("Etc/UTC", [], "06-01 10:00"),
        ("Asia/Tokyo", [], "06-01 01:00"),
        ("Singapore", [], "06-01 02:00"),
    ],
)
def test_a_zone_of_fixed_offset_that_the_file_does_not_define_is_told(
    zone: str, findings: list[tuple[str, int]], start: str
) -> None:
    times = (f"DTSTART;TZID={zone}:20260601T100000", "DURATION:PT1H")
    found = imported(feed(event(*times), event(*times, uid="2", title="Other")))

    assert (codes(found), starts(written(found))) == (findings, [start, start])


def test_a_vtimezone_that_contradicts_the_name_of_a_place_is_told() -> None:
    wrong = ZURICH.replace("Customized Time Zone", "Europe/Zurich").replace("+0200", "+0300")
    times = ("DTSTART;TZID=Europe/Zurich:20260601T100000", "DURATION:PT1H")
    found = imported(feed(wrong, event(*times)))

    assert (codes(found)[0][0], starts(written(found))) == ("B207", ["06-01 08:00"])
