"""The dates of events: an imported reservation has exactly the instants of its event."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from berth.reading.source import Source
from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import cases
from tests.cases import tabled
from tests.edit.events import NOW, event, feed, imported, moment, starts, windows

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
def test_the_example_rules_of_rfc_5545_give_the_dates_of_the_rfc(case: cases.Case) -> None:
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
    found = windows(imported(feed(event(*lines)), first=date(2020, 1, 1), last=dates[-1]).sources)

    zone = ZoneInfo("America/New_York")
    walls = [datetime.fromtimestamp(start, zone) for _, start, _ in found]
    assert [(wall.date(), wall.hour) for wall in walls] == [(day, 9) for day in dates]


@pytest.mark.parametrize("frequency", ["HOURLY;INTERVAL=3;COUNT=4", "MINUTELY;COUNT=5", "SECONDLY;COUNT=6"])
def test_an_event_that_repeats_within_a_day_is_not_imported(frequency: str) -> None:
    found = imported(feed(event("DTSTART:20260202T090000", "DURATION:PT1H", f"RRULE:FREQ={frequency}")))

    assert (found.files, found.codes) == ([], [("B206", 9)])


@st.composite
def rules(draw: st.DrawFn) -> tuple[str, list[datetime]]:
    """A rule and its dates by dateutil, which the rules of RFC 5545 try above."""
    start = date(2026, 1, 1) + timedelta(days=draw(st.integers(0, 364)))
    frequency = draw(st.sampled_from(("DAILY", "WEEKLY", "MONTHLY")))
    days = tuple(sorted(draw(st.sets(st.integers(0, 6), max_size=3)) | {start.weekday()}))
    nth = 0
    if frequency == "MONTHLY":
        is_last = (start + timedelta(days=7)).month != start.month
        nth = draw(st.sampled_from((0, (start.day + 6) // 7, *([-1] if is_last else []))))
    interval, week_start, repeats = (draw(st.integers(*ends)) for ends in ((1, 4), (0, 6), (1, 25)))
    parts = [f"FREQ={frequency}", f"INTERVAL={interval}", f"COUNT={repeats}", f"WKST={WEEKDAYS[week_start]}"]
    if frequency == "WEEKLY" or draw(st.booleans()):
        parts.append("BYDAY=" + ",".join(f"{nth or ''}{WEEKDAYS[day]}" for day in days))
    text = ";".join(parts)
    return text, [*rrulestr(text, dtstart=datetime.combine(start, datetime.min.time()))]


class Sample(NamedTuple):
    rule: str
    days: list[datetime]
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
    rule, days = draw(rules())
    indexes = st.integers(0, len(days) - 1)
    excluded = draw(st.frozensets(indexes, max_size=3))
    moved = draw(st.dictionaries(indexes, st.integers(-3000, 3000), max_size=2))
    return Sample(
        rule,
        days,
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
    starts = [day + timedelta(minutes=sample.minute) for day in sample.days]
    excluded = [starts[i] for i in sample.excluded]
    moved = {starts[i]: starts[i] + timedelta(minutes=by) for i, by in sample.moved.items()}
    main = event(
        written_time("DTSTART", starts[0], zone),
        written_time("DTEND", starts[0] + minutes, zone),
        f"RRULE:{sample.rule}",
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
    found = imported(
        spelled(feed(main, *changes), sample.spelling), first=date(2025, 1, 1), last=date(2070, 1, 1)
    )
    assert found.findings == []

    info = ZoneInfo(ZONES[zone])
    expected = sorted(
        {
            tuple(int(wall.replace(tzinfo=info).timestamp()) for wall in (one, one + minutes))
            for one in happening
        }
    )
    assume(all(start < end for start, end in expected))  # docs/time.md says what a clock change then does
    assert sorted({(start, end) for _, start, end in windows(found.sources)}) == expected


@tabled("edit")
@pytest.mark.parametrize("key", ["RRULE", "EXRULE"])
def test_a_rule_without_dates_ends_and_an_rrule_gets_the_finding_b207(rule: str, key: str) -> None:
    """Where dateutil would look for dates for 8,000 years, many events would take minutes."""
    lines = ("DTSTART:20260302T090000", "DURATION:PT1H", f"{key}:{rule}")
    events = [event(*lines, uid=f"{n}", title=f"Course {n}") for n in range(3)]
    found = imported(feed(*events), last=date(2026, 12, 31), group="uid")

    assert [code for code, _ in found.codes] == ["B207"] * 3 * (key == "RRULE")
    assert starts(found) == ["03-02 08:00"] * 3


@pytest.mark.parametrize("until", ["99991231T235959Z", "99991231", "99991231T235959"])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Europe/Zurich"])
def test_an_until_in_the_year_9999_is_read_in_each_zone(until: str, zone: str) -> None:
    lines = (f"DTSTART;TZID={zone}:20260302T120000", "DURATION:PT1H", f"RRULE:FREQ=WEEKLY;UNTIL={until}")
    found = imported(feed(event(*lines)), last=date(2026, 3, 20))

    assert len(starts(found)) == 3


@tabled("edit")
def test_dates_outside_of_the_supported_years_are_left_out(lines: list[str]) -> None:
    change = event("RECURRENCE-ID:20260302T120000", "DTSTART:99991231T120000Z", "DTEND:99991231T235959Z")
    rule = "RRULE:FREQ=WEEKLY;COUNT=3"
    course = event("DTSTART:20260302T120000", "DURATION:PT1H", rule, uid="2", title="Other")
    found = imported(feed(event(*lines), course, change.replace("UID:1@example.org", "UID:2")))

    assert (found.codes, starts(found)) == ([], ["03-09 11:00", "03-16 11:00"])


CHICAGO = (
    "DTSTART;TZID=America/Chicago:20260602T190000",
    "DTEND;TZID=America/Chicago:20260602T210000",
    "RRULE:FREQ=WEEKLY;BYDAY=TU,WE,TH;COUNT=12",
)


@pytest.mark.parametrize("first", [None, date(2026, 6, 10), date(2026, 6, 11)])
def test_an_exdate_at_midnight_utc_is_a_time_for_an_event_in_another_zone(first: date | None) -> None:
    """Also where the date that it leaves out is before the first that is imported."""
    found = imported(feed(event(*CHICAGO, "EXDATE:20260611T000000Z")), first=first)

    assert found.codes == []
    assert [start for start in starts(found) if "06-10" <= start < "06-18"] == [
        *(["06-10 00:00"] if first is None else []),  # Tuesday the 9th
        "06-12 00:00",
        "06-17 00:00",
    ]


@tabled("edit")
@pytest.mark.parametrize("key", ["EXDATE", "RECURRENCE-ID"])
def test_a_date_or_a_local_midnight_names_the_whole_date(value: str, key: str) -> None:
    change = event(f"RECURRENCE-ID{value}", "DTSTART:20260613T000000Z", "DURATION:PT2H")
    source = feed(event(*CHICAGO, f"EXDATE{value}")) if key == "EXDATE" else feed(event(*CHICAGO), change)
    found = imported(source)

    assert "06-12 00:00" not in starts(found)
    assert (found.codes, len(starts(found))) == ([], 11 if key == "EXDATE" else 12)


WEEKLY = event("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
TUESDAY = ("DTSTART:20260310T160000", "DURATION:PT1H")
SECOND = "RECURRENCE-ID:20260309T090000"


@pytest.mark.parametrize(
    ("parts", "expected", "codes"),
    [
        ([event(SECOND, *TUESDAY)], ["03-02 08:00", "03-10 15:00", "03-16 08:00"], []),
        ([event(SECOND, *TUESDAY, "STATUS:CANCELLED")], ["03-02 08:00", "03-16 08:00"], []),
        ([event(SECOND, *TUESDAY, title="Canceled: Course")], ["03-02 08:00", "03-16 08:00"], []),
        (
            [event(SECOND, *TUESDAY), event(SECOND, "DTSTART:20260311T160000", "DURATION:PT1H")],
            ["03-02 08:00", "03-10 15:00", "03-16 08:00"],
            ["B207"],
        ),
        (
            [
                event(SECOND, "DTSTART:20260311T160000", "DURATION:PT1H"),
                event(SECOND, *TUESDAY, "SEQUENCE:1"),
            ],
            ["03-02 08:00", "03-10 15:00", "03-16 08:00"],
            [],
        ),
        (
            [event("RECURRENCE-ID:20260304T090000", *TUESDAY)],
            ["03-02 08:00", "03-09 08:00", "03-10 15:00", "03-16 08:00"],
            ["B207"],
        ),
        (
            [event(SECOND, "DTSTART;TZID=Mars/Base:20260310T160000")],
            ["03-02 08:00", "03-09 08:00", "03-16 08:00"],
            ["B206"],
        ),
        (
            [event(SECOND, TUESDAY[0], "DTEND:20260310T160000")],
            ["03-02 08:00", "03-09 08:00", "03-16 08:00"],
            ["B207"],
        ),
        ([event("RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T090000", *TUESDAY)], [], ["B206"]),
    ],
    ids=[
        "moved",
        "canceled",
        "says-canceled",
        "twice",
        "sequence",
        "stray",
        "zone",
        "no-length",
        "following",
    ],
)
def test_a_recurrence_id_changes_its_date_or_gets_a_finding(
    parts: list[str], expected: list[str], codes: list[str]
) -> None:
    """A part that cannot be read costs itself, and is told."""
    found = imported(feed(WEEKLY, *parts))

    assert (starts(found), [code for code, _ in found.codes]) == (expected, codes)


@pytest.mark.parametrize("id_", [";VALUE=DATE:20260309", ":20260309T000000"])
def test_a_recurrence_id_of_a_date_with_two_times_gets_the_finding_b207(id_: str) -> None:
    twice = ("DTSTART:20260302T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;BYDAY=MO;BYHOUR=9,14;COUNT=8")
    found = imported(
        feed(event(*twice), event(f"RECURRENCE-ID{id_}", "DTSTART:20260309T160000", "DURATION:PT1H"))
    )

    assert (found.codes, len(starts(found))) == ([("B207", 14)], 8)
    assert "09:00 and 14:00" in found.findings[0].message


def test_changed_dates_without_their_event_are_imported() -> None:
    alone = [
        event(f"RECURRENCE-ID:2026020{day}T080000Z", f"DTSTART:2026020{day}T090000Z", "DURATION:PT1H")
        for day in (2, 5)
    ]

    assert starts(imported(feed(*alone))) == ["02-02 09:00", "02-05 09:00"]


def test_an_exdate_at_another_time_gets_a_finding_with_the_time_of_the_event() -> None:
    found = imported(feed(WEEKLY.replace("END:", "EXDATE:20260309T101500\nEXDATE:20260401T090000\nEND:")))

    assert (found.codes, "09:00" in found.findings[0].message) == ([("B207", 10)], True)


@pytest.mark.parametrize("value", [":20260311T090000", ";VALUE=DATE:20260311", ":20260311T080000Z"])
def test_an_exdate_on_another_day_gets_a_finding_between_the_first_and_the_last_date(value: str) -> None:
    """Before and after them, it may be of dates that the event has no more."""
    outside = "EXDATE:20260225T090000,20260323T090000\n"
    found = imported(feed(WEEKLY.replace("END:", f"{outside}EXDATE{value}\nEND:")))

    assert (found.codes, "2026-03-11" in found.findings[0].message) == ([("B207", 10)], True)
    assert starts(found) == ["03-02 08:00", "03-09 08:00", "03-16 08:00"]
    assert imported(feed(WEEKLY.replace("END:", f"{outside}END:"))).codes == []


def test_a_whole_day_that_is_changed_to_hours_uses_the_zone_of_the_change() -> None:
    days = event("DTSTART;VALUE=DATE:20260302", "RRULE:FREQ=WEEKLY;COUNT=3")
    hours = ("DTSTART;TZID=America/New_York:20260309T100000", "DURATION:PT1H")
    found = imported(feed(days, event("RECURRENCE-ID;VALUE=DATE:20260309", *hours)))

    assert (found.codes, starts(found)) == ([], ["03-01 23:00", "03-09 14:00", "03-15 23:00"])


def test_an_import_reads_at_most_300000_dates() -> None:
    old = ("DTSTART:19700101T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY")
    events = [event(*old, uid=str(n), title=f"Course {n}") for n in range(20)]
    found = imported(feed(*events, WEEKLY), last=date(2026, 2, 1))

    assert {code for code, _ in found.codes} == {"B206"}
    assert 10 < found.results.count("new") < 15
    assert "300,000 dates" in found.findings[-1].message


@pytest.mark.parametrize(
    "text", ["a" * 300_000, "seats 30 small " * 20_000, "<a <b " * 50_000, "x\nraw text: y" * 50_000]
)
def test_a_long_description_is_read_quickly(text: str) -> None:
    """A quadratic reading of it would take minutes."""
    found = imported(feed(WEEKLY.replace("END:", f"DESCRIPTION:{text}\nseats: 7\nEND:")))

    assert "placeholderCount: 7" in found.text


def test_an_import_has_the_dates_of_the_next_two_years_by_default() -> None:
    endless = event("DTSTART:20250106T090000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY")
    found = imported(feed(endless))
    dates = [start for _, start, _ in windows(found.sources)]
    later = imported(feed(endless), *found.sources, now=NOW + 60 * 86_400)

    assert (moment(dates[0]), len(dates)) == ("01-05 08:00", 104)
    assert "2027-12-27; for later ones, give --until" in found.outcomes[0].reason
    assert (later.files, later.results) == ([], ["unchanged"])
