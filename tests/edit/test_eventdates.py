"""The dates of events: an imported reservation has exactly the instants of its event."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import count, islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from berth.reading.source import Source
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import cases
from tests.edit.events import codes, event, feed, imported, starts, windows, world, written

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
    assert [(wall.date(), wall.hour) for wall in walls] == [(day, 9) for day in dates]


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
    happening = [moved.get(start, start) for start in starts if start not in excluded]
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
    files = {file.file[13:-5]: Source(file.file, file.text.encode()) for file in found.files}
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
