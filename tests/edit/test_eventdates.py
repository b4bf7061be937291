"""The dates of events: an imported reservation has exactly the instants of its event."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count, islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from berth.reading.source import Source
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import cases
from tests.console import ROOT
from tests.edit.events import codes, event, feed, imported, windows, written

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
LATER = 28  # years after which weekdays and leap years are the same; Berth has no dates before 2000


def later(text: str) -> date:
    day = date.fromisoformat(text)
    return day.replace(year=day.year + LATER)


def expanded(items: list[str]) -> Iterator[date]:
    for item in items:
        first, _, last = item.partition("..")
        day = later(first)
        while day <= later(last or first):
            yield day
            day += timedelta(days=1)


def compact(day: date) -> str:
    return day.strftime("%Y%m%d")


@pytest.mark.parametrize("case", cases.read("eventrules"), ids=lambda case: case["rule"])
def test_the_rules_of_rfc_5545_have_its_dates(case: cases.Case) -> None:
    start, rule, dates = later(case["start"]), case["rule"], list(expanded(case["dates"]))
    for year in ("1997", "2000"):
        rule = rule.replace(f"UNTIL={year}", f"UNTIL={int(year) + LATER}")
    lines = [
        f"DTSTART;TZID=America/New_York:{compact(start)}T090000",
        "DURATION:PT1H",
        f"RRULE:{rule}",
        *(
            [f"EXDATE;TZID=America/New_York:{compact(later(case['without']))}T090000"]
            if "without" in case
            else []
        ),
    ]
    found = windows(written(imported(feed(event(*lines)), last=dates[-1])))

    zone = ZoneInfo("America/New_York")
    walls = [datetime.fromtimestamp(start, zone) for _, start, _ in found]
    assert [(one.date(), one.hour) for one in walls] == [(day, 9) for day in dates]


@pytest.mark.parametrize("frequency", ["HOURLY;INTERVAL=3;COUNT=4", "MINUTELY;COUNT=5", "SECONDLY;COUNT=6"])
def test_an_event_that_repeats_within_a_day_is_not_imported(frequency: str) -> None:
    found = imported(feed(event("DTSTART:20260202T090000", "DURATION:PT1H", f"RRULE:FREQ={frequency}")))

    assert (found.files, codes(found)) == ((), [("B206", 10)])


class Rule(NamedTuple):
    """A rule whose dates can be found by looking at each day."""

    frequency: str
    interval: int
    days: tuple[int, ...]  # weekdays, 0 for Monday
    nth: int  # of the weekday in the month; 0: each
    start_of_week: int
    repeats: int

    def text(self) -> str:
        days = ",".join(f"{self.nth or ''}{WEEKDAYS[day]}" for day in self.days)
        parts = [f"FREQ={self.frequency}", f"INTERVAL={self.interval}", f"COUNT={self.repeats}"]
        parts += [f"BYDAY={days}"] if days else []
        return ";".join([*parts, f"WKST={WEEKDAYS[self.start_of_week]}"])

    def has(self, day: date, start: date) -> bool:
        weekday = day.weekday()
        if self.frequency == "DAILY":
            return (day - start).days % self.interval == 0 and (not self.days or weekday in self.days)
        if self.frequency == "WEEKLY":
            begin = start - timedelta(days=(start.weekday() - self.start_of_week) % 7)
            return (day - begin).days // 7 % self.interval == 0 and weekday in self.days
        months = 12 * (day.year - start.year) + day.month - start.month
        if months % self.interval:
            return False
        return (weekday in self.days and self.is_nth(day)) if self.days else day.day == start.day

    def is_nth(self, day: date) -> bool:
        if self.nth < 0:
            return (day + timedelta(days=7)).month != day.month
        return self.nth in (0, (day.day + 6) // 7)

    def dates(self, start: date) -> list[date]:
        every = (start + timedelta(days=n) for n in count())
        return [*islice((day for day in every if self.has(day, start)), self.repeats)]


@st.composite
def rules(draw: st.DrawFn) -> tuple[Rule, date]:
    start = date(2026, 1, 1) + timedelta(days=draw(st.integers(0, 364)))
    frequency = draw(st.sampled_from(("DAILY", "WEEKLY", "MONTHLY")))
    days = tuple(sorted(draw(st.sets(st.integers(0, 6), max_size=3)) | {start.weekday()}))
    nth = 0
    if frequency == "MONTHLY":
        is_last = (start + timedelta(days=7)).month != start.month
        nth = draw(st.sampled_from((0, (start.day + 6) // 7, *([-1] if is_last else []))))
    if frequency != "WEEKLY" and draw(st.booleans()):
        days, nth = (), 0
    rule = Rule(
        frequency, draw(st.integers(1, 4)), days, nth, draw(st.integers(0, 6)), draw(st.integers(1, 25))
    )
    return rule, start


class Sample(NamedTuple):
    rule: Rule
    start: date
    minute: int
    length: int
    zone: str  # the TZID
    excluded: frozenset[int]
    moved: dict[int, int]  # minutes by index
    spelling: str


SPELLINGS = ("usual", "lower", "trailing", "folded")
ZONES = {
    "Europe/Zurich": "Europe/Zurich",
    "Eastern Standard Time": "America/New_York",
    "/example.org/Pacific/Auckland": "Pacific/Auckland",
    "": "Europe/Zurich",
    "UTC": "UTC",
    "tzone://Microsoft/Utc": "UTC",
}


def spelled(source: Source, spelling: str) -> Source:
    """Return a feed with names and values of lower case, separators at ends, or folds in characters."""
    lines = source.text.split(b"\r\n")
    if spelling == "lower":
        lines = [line if b"SUMMARY" in line else line.lower() for line in lines]
    if spelling == "trailing":
        ends = {b"EXDATE": b",", b"RRULE": b";", b"DTSTART": b";"}
        lines = [line + ends.get(re.split(b"[;:]", line)[0], b"") for line in lines]
    if spelling == "folded":
        lines = [b"\r\n ".join(line[at : at + 7] for at in range(0, len(line), 7)) for line in lines]
    return source._replace(text=b"\r\n".join(lines))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    rule, start = draw(rules())
    indexes = st.integers(0, rule.repeats - 1)
    excluded = draw(st.frozensets(indexes, max_size=3))
    moved = draw(st.dictionaries(indexes, st.integers(-3000, 3000), max_size=2))
    return Sample(
        rule,
        start,
        draw(st.integers(0, 1439)),
        draw(st.integers(15, 3000)),
        draw(st.sampled_from(sorted(ZONES))),
        excluded - moved.keys(),
        moved,
        draw(st.sampled_from(SPELLINGS)),
    )


def written_time(key: str, wall: datetime, zone: str) -> str:
    text = wall.strftime("%Y%m%dT%H%M%S")
    if zone in ("", "UTC"):
        return f"{key}:{text}{'Z' if zone else ''}"
    return f"{key};TZID={zone}:{text}"


@settings(max_examples=80)
@given(samples())
def test_an_import_has_the_instants_of_the_event(sample: Sample) -> None:
    zone, minutes = sample.zone, timedelta(minutes=sample.length)
    starts = [
        datetime.combine(day, datetime.min.time()) + timedelta(minutes=sample.minute)
        for day in sample.rule.dates(sample.start)
    ]
    excluded = [starts[i] for i in sample.excluded if i < len(starts)]
    moved = {
        starts[i]: starts[i] + timedelta(minutes=by) for i, by in sample.moved.items() if i < len(starts)
    }
    main = event(
        written_time("DTSTART", starts[0], zone),
        written_time("DTEND", starts[0] + minutes, zone),
        f"RRULE:{sample.rule.text()}",
        *(written_time("EXDATE", one, zone) for one in excluded),
        title="Übung 🎓",
    )
    changes = [
        event(
            written_time("RECURRENCE-ID", one, zone),
            written_time("DTSTART", to, zone),
            written_time("DTEND", to + minutes, zone),
            title="Übung 🎓",
        )
        for one, to in moved.items()
    ]
    happening = [moved.get(one, one) for one in starts if one not in excluded]
    found = imported(spelled(feed(main, *changes), sample.spelling))
    assert found.findings == ()

    info = ZoneInfo(ZONES[zone])
    expected = sorted(
        {
            tuple(int(wall.replace(tzinfo=info).timestamp()) for wall in (one, one + minutes))
            for one in happening
        }
    )
    assume(all(start < end for start, end in expected))  # docs/time.md says what a clock change then does
    assert sorted({(start, end) for _, start, end in windows(written(found))}) == expected


def utc_windows(*lines: str, zone: str | None = None, also: str = "") -> str:
    found = windows(written(imported(feed(also, event(*lines)), zone=zone)))
    texts = [[datetime.fromtimestamp(at, UTC).strftime("%m-%d %H:%M") for at in one[1:]] for one in found]
    return ", ".join(" to ".join(one) for one in texts)


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


def starts(files: list[Source]) -> list[str]:
    return [datetime.fromtimestamp(start, UTC).strftime("%m-%d %H:%M") for _, start, _ in windows(files)]


def world(name: str) -> Source:
    return Source(name, (ROOT / "tests" / "cases" / "world" / name).read_bytes())


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
    files = {one.file[13:-5]: one for one in found.files}

    assert {name: starts([Source(one.file, one.text.encode())])[::7] for name, one in files.items()} == {
        "warsaw": ["03-02 09:00", "04-20 08:00"],
        "msutc": ["03-02 10:00"],
        "customny": ["03-02 15:00", "04-20 14:00"],
        "est": ["03-02 15:00", "04-20 14:00"],
        "weurope": ["09-17 11:00"],
        "slashvienna": ["04-14 15:15"],
    }
    assert [(one.code, one.line, one.path) for one in found.findings] == [
        ("B206", 95, 'DTSTART of "pdt"'),
        ("B206", 101, 'DTSTART of "gmtplus"'),
        ("B206", 113, 'DTSTART of "utcplus"'),
        ("B206", 119, 'DTSTART of "mez"'),
    ]
    zones = {name: re.findall("timeZone: (.*)", one.text) for name, one in files.items()}
    assert (zones["warsaw"], zones["customny"], zones["est"]) == (
        [],
        ["America/New_York"],
        ["America/New_York"],
    )
    assert "dates:" not in "".join(one.text for one in found.files)


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


CHICAGO = (
    "DTSTART;TZID=America/Chicago:20260602T190000",
    "DTEND;TZID=America/Chicago:20260602T210000",
    "RRULE:FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=12",
)


@pytest.mark.parametrize(
    "first", [None, date(2026, 6, 10), date(2026, 6, 11)], ids=["all", "before", "after"]
)
def test_a_midnight_in_utc_is_a_time_for_an_event_of_another_zone(first: date | None) -> None:
    found = imported(feed(event(*CHICAGO, "EXDATE:20260611T000000Z")), first=first)

    assert codes(found) == []
    assert [one for one in starts(written(found)) if "06-10" <= one < "06-18"] == [
        *(["06-10 00:00"] if first is None else []),  # Tuesday the 9th
        "06-12 00:00",
        "06-17 00:00",
    ]


@pytest.mark.parametrize(
    "value",
    [
        ";VALUE=DATE:20260611",
        ":20260611T000000",
        ";TZID=America/Chicago:20260611T000000",
        ":20260611T050000Z",
    ],
)
def test_a_date_and_a_midnight_of_the_event_mean_the_whole_date(value: str) -> None:
    found = imported(feed(event(*CHICAGO, f"EXDATE{value}")))

    assert codes(found) == []
    assert "06-12 00:00" not in starts(written(found))
    assert len(starts(written(found))) == 11


@pytest.mark.parametrize(
    ("id_", "moved", "left"),
    [
        (":20260611T000000Z", "06-13 00:00", "06-12 00:00"),
        (";VALUE=DATE:20260610", "06-13 00:00", "06-12 00:00"),
        (";TZID=America/Chicago:20260610T000000", "06-13 00:00", "06-12 00:00"),
    ],
)
@pytest.mark.parametrize("first", [None, date(2026, 6, 11)], ids=["all", "from"])
def test_a_changed_date_is_found_by_its_original_date(
    id_: str, moved: str, left: str, first: date | None
) -> None:
    change = event(f"RECURRENCE-ID{id_}", "DTSTART:20260613T000000Z", "DURATION:PT2H")
    found = imported(feed(event(*CHICAGO), change), first=first)
    dates = starts(written(found))

    assert codes(found) == []
    assert (moved in dates, left in dates, "06-11 00:00" in dates) == (True, True, False)
    assert len(dates) == (12 if first is None else 8)


def test_a_date_that_is_moved_out_of_the_limits_is_left_out() -> None:
    change = event("RECURRENCE-ID:20260612T000000Z", "DTSTART:20260610T150000Z", "DURATION:PT2H")
    found = imported(feed(event(*CHICAGO), change), first=date(2026, 6, 11))

    assert (codes(found), starts(written(found))[0]) == ([], "06-17 00:00")


@pytest.mark.parametrize("value", [";VALUE=DATE:20260204", ":20260204T000000", ":20260203T230000Z"])
def test_a_date_without_a_time_is_added_at_the_time_of_the_event(value: str) -> None:
    found = imported(
        feed(event("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT1H", f"RDATE{value}"))
    )

    assert starts(written(found)) == ["02-02 08:00", "02-04 08:00"]
    assert codes(found) == ([] if "VALUE" in value else [("B207", 10)])


def test_a_midnight_in_utc_is_added_as_it_is() -> None:
    found = imported(
        feed(event("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT1H", "RDATE:20260205T000000Z"))
    )

    assert (codes(found), starts(written(found))) == ([], ["02-02 08:00", "02-05 00:00"])


@pytest.mark.parametrize(
    "line", ["EXDATE:20260304T090000Z", "EXDATE:20260302T100000Z", "EXDATE;VALUE=DATE:20260304"]
)
def test_a_left_out_date_that_the_event_does_not_have_is_told(line: str) -> None:
    found = imported(
        feed(event("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3", line))
    )

    assert (codes(found), len(starts(written(found)))) == ([("B207", 11)], 3)


def test_a_left_out_time_that_a_date_does_not_have_names_its_time() -> None:
    """A midnight of another zone, and the end of a date, are such times."""
    weekly = ("DTSTART;TZID=Europe/Zurich:20260302T091500", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
    found = imported(feed(event(*weekly, "EXDATE;TZID=Europe/Zurich:20260309T101500")))

    assert (codes(found), "09:15" in found.findings[0].message) == ([("B207", 11)], True)


def test_a_date_that_is_left_out_and_changed_is_told() -> None:
    weekly = ("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")
    change = event("RECURRENCE-ID:20260309T090000Z", "DTSTART:20260310T090000Z", "DURATION:PT1H")
    found = imported(feed(event(*weekly, "EXDATE:20260309T090000Z"), change))

    assert (codes(found), starts(written(found))) == ([("B207", 16)], ["03-02 09:00", "03-10 09:00"])


def test_a_change_of_a_date_that_the_event_does_not_have_is_told() -> None:
    weekly = ("DTSTART:20260302T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=2")
    change = event("RECURRENCE-ID:20260304T090000Z", "DTSTART:20260305T090000Z", "DURATION:PT1H")
    found = imported(feed(event(*weekly), change))

    assert (codes(found), starts(written(found))) == (
        [("B207", 15)],
        ["03-02 09:00", "03-05 09:00", "03-09 09:00"],
    )


TWICE_A_DAY = ("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;BYDAY=MO;BYHOUR=9,14;COUNT=8")


@pytest.mark.parametrize("id_", [";VALUE=DATE:20260309", ":20260309T000000"])
def test_a_changed_date_with_two_times_asks_which(id_: str) -> None:
    change = event(f"RECURRENCE-ID{id_}", "DTSTART:20260309T160000", "DURATION:PT1H")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert (codes(found), found.files) == ([("B206", 15)], ())
    assert [("09:00" in one.message, "14:00" in one.message) for one in found.findings] == [(True, True)]


def test_a_changed_time_of_a_date_with_two_is_moved_alone() -> None:
    change = event("RECURRENCE-ID:20260309T140000", "DTSTART:20260309T160000", "DURATION:PT1H")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert codes(found) == []
    assert [one for one in starts(written(found)) if one < "03-16"] == [
        "03-02 08:00",
        "03-02 13:00",
        "03-09 08:00",
        "03-09 15:00",
    ]


def test_a_canceled_date_with_two_times_is_left_out_whole() -> None:
    change = event("RECURRENCE-ID;VALUE=DATE:20260309", "DTSTART:20260309T090000", "STATUS:CANCELED")
    found = imported(feed(event(*TWICE_A_DAY), change))

    assert (codes(found), len(starts(written(found)))) == ([], 6)


def test_two_changes_of_one_date_are_told() -> None:
    changes = [
        event(f"RECURRENCE-ID{id_}", f"DTSTART:202603{day}T160000", "DURATION:PT1H")
        for id_, day in ((":20260309T090000", 10), (";TZID=Europe/Zurich:20260309T090000", 11))
    ]
    found = imported(
        feed(event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3"), *changes)
    )

    assert (codes(found), found.files) == ([("B206", 22)], ())


@pytest.mark.parametrize(
    ("rule", "findings"),
    [
        ("RRULE:FREQ=WEEKLY;COUNT=3", []),
        ("RRULE:FREQ=WEEKLY;COUNT=9", [("B207", 18)]),
        ("RDATE:20260401T090000", [("B207", 18)]),
    ],
)
def test_what_a_changed_date_says_of_other_dates_is_told(rule: str, findings: list[tuple[str, int]]) -> None:
    change = event("RECURRENCE-ID:20260309T090000", "DTSTART:20260309T160000", "DURATION:PT1H", rule)
    found = imported(
        feed(event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3"), change)
    )

    assert (codes(found), len(starts(written(found)))) == (findings, 3)


def test_the_change_of_all_following_dates_of_an_event_that_is_not_there_is_told() -> None:
    change = event(
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T090000", "DTSTART:20260309T160000", "DURATION:PT1H"
    )

    assert codes(imported(feed(change))) == [("B206", 8)]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=300;BYHOUR=9",
        "FREQ=YEARLY;BYDAY=MO;BYWEEKNO=1;BYMONTH=6",
        "FREQ=WEEKLY;UNTIL=20200101T000000Z",
    ],
)
@pytest.mark.parametrize("key", ["RRULE", "EXRULE"])
def test_a_rule_that_never_happens_ends_and_is_told(rule: str, key: str) -> None:
    """Where dateutil would look for dates for 8,000 years, many events would take minutes."""
    lines = ("DTSTART:20260302T090000", "DURATION:PT1H", f"{key}:{rule}")
    events = [event(*lines, uid=f"{n}", title=f"Course {n}") for n in range(3)]
    found = imported(feed(*events), last=date(2026, 12, 31))

    assert [code for code, _ in codes(found)] == ["B207"] * 3 * (key == "RRULE")
    assert starts(written(found)) == ["03-02 08:00"] * 3


def test_an_all_day_event_until_the_midnight_of_its_last_date_has_it() -> None:
    lines = (
        "DTSTART;VALUE=DATE:20260722",
        "RRULE:FREQ=YEARLY;BYMONTHDAY=22;BYMONTH=7;UNTIL=20260721T220000Z",
    )
    found = imported(feed(event(*lines)))

    assert (codes(found), starts(written(found))) == ([], ["07-21 22:00"])
    assert [code for code, _ in codes(imported(feed(event(*lines)), zone="UTC"))] == ["B207"]


def test_events_of_exchange_have_their_dates() -> None:
    found = imported(world("exchange-quirks.ics"))
    files = {one.file[13:-5]: Source(one.file, one.text.encode()) for one in found.files}
    mondays = ["03-02 09:00", "03-09 09:00", "03-16 09:00", "03-23 09:00", "03-30 08:00"]

    assert {name: starts([file]) for name, file in files.items() if not name.startswith("reservation")} == {
        "allday-exchange": ["02-28 23:00", "03-01 23:00", "03-03 23:00", "03-04 23:00", "03-05 23:00"],
        "allday-exdate-tz": ["02-28 23:00", "03-01 23:00", "03-03 23:00", "03-04 23:00"],
        "until-before": ["07-21 22:00"],
        "byyearday-spaces": ["09-15 05:00", "10-26 05:00"],
        "trailing-semicolon": mondays,
        "lower": mondays,
        "empty-exdate": mondays[:3],
        "trailing-comma": ["03-02 09:00", "03-16 09:00"],
        "raw": ["03-02 09:00"],
        "bysetpos": ["03-02 09:00", "03-31 08:00", "04-30 08:00", "05-29 08:00"],
        "period": ["03-02 09:00", "03-04 13:00", "03-05 13:00"],
        "weeks": ["03-02 09:00"],
        "noseconds": ["03-02 12:00"],
        "datewithoutvalue": ["03-01 23:00"],
        "24h": ["03-02 12:00"],
        "evolution": ["03-02 09:00", "03-09 10:00", "03-16 09:00"],
    }
    assert {name for name in files if name.startswith("reservation")} == {
        "reservation-c87eab",
        "reservation-cd573c",
    }


@pytest.mark.parametrize("until", ["99991231T235959Z", "99991231", "99991231T235959"])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Europe/Zurich"])
def test_an_end_in_the_last_year_is_read_in_each_zone(until: str, zone: str) -> None:
    lines = (f"DTSTART;TZID={zone}:20260302T120000", "DURATION:PT1H", f"RRULE:FREQ=WEEKLY;UNTIL={until}")
    found = imported(feed(event(*lines)), last=date(2026, 3, 20))

    assert len(starts(written(found))) == 3


@pytest.mark.parametrize(
    "lines",
    [
        ("DTSTART;TZID=Europe/Zurich:99991231T230000", "DTEND:99991231T235959Z"),
        ("DTSTART:99991231T240000", "DURATION:P3000D", "RDATE:99991231"),
        ("DTSTART:00010101T000000", "DURATION:P3000D", "RDATE;TZID=Asia/Tokyo:00010101T000000"),
        ("DTSTART;VALUE=DATE:21500101", "RRULE:FREQ=YEARLY;COUNT=3"),
        ("DTSTART:00010101T000000", "DTEND:99991231T235959Z", "RRULE:FREQ=YEARLY;COUNT=3"),
    ],
)
def test_dates_of_years_that_berth_does_not_have_are_left_out(lines: tuple[str, ...]) -> None:
    change = event("RECURRENCE-ID:20260302T120000", "DTSTART:99991231T120000Z", "DTEND:99991231T235959Z")
    rule = "RRULE:FREQ=WEEKLY;COUNT=3"
    course = event("DTSTART:20260302T120000", "DURATION:PT1H", rule, uid="2", title="Other")
    found = imported(feed(event(*lines), course, change.replace("UID:1@example.org", "UID:2")))

    assert (codes(found), starts(written(found))) == ([], ["03-09 11:00", "03-16 11:00"])
