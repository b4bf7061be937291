"""The dates of events: an imported reservation has exactly the instants of its event."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count, islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import cases
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


ZONES = {
    "Europe/Zurich": "Europe/Zurich",
    "Eastern Standard Time": "America/New_York",
    "/example.org/Pacific/Auckland": "Pacific/Auckland",
    "": "Europe/Zurich",
    "UTC": "UTC",
}


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
    )
    changes = [
        event(
            written_time("RECURRENCE-ID", one, zone),
            written_time("DTSTART", to, zone),
            written_time("DTEND", to + minutes, zone),
        )
        for one, to in moved.items()
    ]
    happening = [moved.get(one, one) for one in starts if one not in excluded]
    found = imported(feed(main, *changes))
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


def test_times_without_a_zone_are_in_that_of_the_option() -> None:
    lines = ("DTSTART:20260202T090000", "DURATION:PT1H")

    assert utc_windows(*lines, zone="UTC") == "02-02 09:00 to 02-02 10:00"
