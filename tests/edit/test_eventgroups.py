"""Which events are one reservation, and how a later import recognizes it."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from berth.dates.zone import DAY, load
from berth.edit.datepattern import recurrence_of, with_weekly_rules
from berth.edit.eventdates import EventDates, Span
from berth.reading.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.edit.events import (
    NOW,
    codes,
    event,
    feed,
    imported,
    results,
    seats,
    text_of,
    windows,
    world,
    written,
)

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260202T090000", "DURATION:PT4H", "RRULE:FREQ=WEEKLY;COUNT=5")


def single(day: str, hours: str = "0900-1100", *lines: str, uid: str = "", title: str = "Lab") -> str:
    """Return an event of one date; its UID is its own unless it is given."""
    start, end = hours.split("-")
    zone = "TZID=Europe/Zurich"
    dates = (f"DTSTART;{zone}:{day}T{start}00", f"DTEND;{zone}:{day}T{end}00")
    return event(*dates, *lines, uid=uid or f"{day}{hours}", title=title)


def test_two_courses_with_one_uid_are_two_reservations() -> None:
    """K01: what loses is never dropped in silence."""
    result = imported(world("one-uid.ics"))
    again = imported(world("one-uid.ics"), *written(result), now=NOW)
    times = {start % 86_400 // 3600 for _, start, _ in windows(written(result))}

    assert (results(result), result.findings) == (["new", "new"], ())
    assert (times, len(windows(written(result)))) == ({11, 17}, 36)
    assert (results(again), again.files, again.findings) == (["unchanged", "unchanged"], (), ())


def test_two_courses_with_one_uid_are_one_reservation_by_uid() -> None:
    result = imported(world("one-uid.ics"), group="uid")

    assert (len(result.files), len(windows(written(result)))) == (1, 36)


def test_one_of_two_courses_with_one_uid_may_change() -> None:
    source = world("one-uid.ics")
    files = written(imported(source))
    later = source._replace(text=source.text.replace(b"T140000", b"T150000").replace(b"T154000", b"T164000"))
    result = imported(later, *files)

    assert (results(result), [file.changes for file in result.files]) == (
        ["unchanged", "updated"],
        [("dates",)],
    )
    assert result.findings == ()


def test_an_older_version_of_an_event_is_told() -> None:
    result = imported(feed(event(*WEEKLY, "SEQUENCE:1"), event(*WEEKLY, title="Old")))

    assert (codes(result), results(result)) == ([("B206", 13)], ["new", "not imported"])


def test_events_without_a_uid_are_known_by_their_title() -> None:
    events = [event(*WEEKLY, title=title).replace("UID:1@example.org\n", "") for title in ("A", "B")]
    first = imported(feed(*events))
    again = imported(feed(*events[::-1]), *written(first), now=NOW)

    assert (results(first), first.findings) == (["new", "new"], ())
    assert (again.files, again.findings) == ((), ())
    assert codes(imported(feed(*events), group="uid")) == [("B206", 5), ("B206", 11)]


def test_a_changed_date_belongs_to_the_course_whose_time_it_has() -> None:
    hours = ("08", "14")
    mains = [
        event(
            f"DTSTART:20260302T{hour}0000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3", title=f"At {hour}"
        )
        for hour in hours
    ]
    change = event("RECURRENCE-ID:20260309T140000", "DTSTART:20260310T140000", "DURATION:PT1H", title="At 14")
    ids = [one for one, *_ in windows(written(imported(feed(*mains, change))))]

    assert len(ids) == 6
    assert "at-14/2026-03-09T14:00" in ids


def test_dates_of_one_title_are_one_reservation_with_the_rules_that_they_follow() -> None:
    """K12: one event for each date, in UTC across the change of clocks."""
    result = imported(world("one-event-a-date.ics"), now=NOW)
    text = text_of(result).partition("  recurrence:\n")[2].partition("  provisioning:")[0]

    assert len(windows(written(result))) == 29
    assert text == (
        "    type: weekly\n    startDate: 2026-02-16\n    endDate: 2026-05-27\n"
        "    except:\n      - 2026-04-06\n"
        '    schedule:\n      - {daysOfWeek: [mon, wed], startTime: "10:15", endTime: "12:00"}\n'
    )


def test_an_export_with_new_uids_changes_nothing() -> None:
    source = world("one-event-a-date.ics")
    files = written(imported(source))
    again = source._replace(text=source.text.replace(b"UID:te-", b"UID:other-"))
    result = imported(again, *files, now=NOW)

    assert (result.files, results(result), result.findings) == ((), ["unchanged"], ())


@pytest.mark.parametrize("lines", [WEEKLY, WEEKLY[:2]], ids=["rule", "single"])
def test_an_event_with_a_new_uid_is_recognized_by_title_and_dates(lines: tuple[str, ...]) -> None:
    files = written(imported(feed(event(*lines))))
    result = imported(feed(event(*lines, uid="new")), *files, now=NOW)
    other = imported(feed(event(*lines, uid="new", title="Other")), *files, now=NOW)

    assert (result.files, results(result), result.findings) == ((), ["unchanged"], ())
    assert (results(other), codes(other)) == (["new"], [("B208", 10)])


def test_an_event_that_moved_and_has_a_new_uid_is_the_same() -> None:
    files = written(imported(feed(single("20260204"))))
    result = imported(feed(single("20260203")), *files, now=NOW)

    assert (results(result), result.findings) == (["updated"], ())
    assert [window[0] for window in windows(written(result))] == ["lab/2026-02-03T09:00"]


@pytest.mark.parametrize(
    ("before", "after", "now", "expected", "findings"),
    [
        (["20260204"], ["20260203", "20260210"], NOW, ["new"], ["B208"]),
        (["20260204"], ["20260203"], NOW + 60 * 86_400, ["over"], []),
        (["20260204"], ["20260505"], NOW + 60 * 86_400, ["new"], []),
        (["20260204"], ["20260204", "20260203"], NOW, ["unchanged", "new"], []),
    ],
    ids=["two-new", "both-over", "old-is-over", "not-gone"],
)
def test_a_title_alone_does_not_join_an_event_with_another(
    before: list[str], after: list[str], now: int, expected: list[str], findings: list[str]
) -> None:
    files = written(imported(feed(*(single(day) for day in before))))
    result = imported(feed(*(single(day) for day in after)), *files, now=now)

    assert (results(result), [finding.code for finding in result.findings]) == (expected, findings)


def test_a_date_that_is_new_joins_its_title() -> None:
    days = ["20260302", "20260309", "20260316", "20260323"]
    files = written(imported(feed(*(single(day) for day in days))))
    more = imported(feed(*(single(day) for day in [*days, "20260327"])), *files)
    one_left = imported(feed(single(days[1])), *files)

    assert [file.changes for file in more.files] == [("dates",)]
    assert [window[0][-16:] for window in windows(written(more))][-1] == "2026-03-27T09:00"
    assert (results(one_left), len(windows(written(one_left)))) == (["updated"], 1)


def test_single_dates_of_other_titles_stay_alone() -> None:
    events = [single("20260302", title="A"), single("20260303", title="B"), event(*WEEKLY, title="A")]

    assert results(imported(feed(*events))) == ["new", "new", "new"]
    assert results(imported(feed(*events), group="title")) == ["new", "new"]
    assert results(imported(feed(*(single(day) for day in ("20260302", "20260309"))), group="none")) == [
        "new",
        "new",
    ]


def test_reservations_of_single_events_that_exist_are_not_joined() -> None:
    """Files of earlier imports, one for each date, stay as they are."""
    events = [single(day) for day in ("20260302", "20260309")]
    files = written(imported(feed(*events), group="none"))
    result = imported(feed(*events, single("20260316"), single("20260323")), *files)

    assert results(result) == ["unchanged", "unchanged", "new"]


def test_seats_that_add_up_are_told_with_the_option_that_joins_them() -> None:
    """K10: the same title at the same times, in two rooms."""
    apart = imported(world("rooms.ics"))
    joined = imported(world("rooms.ics"), group="title")

    assert [
        (finding.code, "240 seats" in finding.message, "--group title" in finding.fix)
        for finding in apart.findings
    ] == [("B207", True, True)]
    assert imported(world("rooms.ics"), group="uid").findings == ()
    assert (list(seats(written(joined)).values()), joined.findings) == ([{"small": 120}], ())
    assert len(windows(written(joined))) == 14


def test_reservations_that_are_joined_later_are_told() -> None:
    files = written(imported(world("rooms.ics")))
    joined = imported(world("rooms.ics"), *files, group="title", now=NOW)
    (one,) = joined.files
    others = [file for file in files if file.file != one.file]

    assert (one.changes, [finding.code for finding in joined.findings]) == (("annotations",), ["B208"])
    assert "imported-title" in one.text
    assert "imported-uid" not in one.text
    again = imported(world("rooms.ics"), *written(joined), *others, now=NOW)
    assert (again.files, [finding.code for finding in again.findings]) == ((), ["B208"])


def test_single_dates_in_several_rooms_are_one_course_and_told() -> None:
    days = ("20260302", "20260309", "20260316")
    events = [
        single(day, "0900-1100", f"LOCATION:{room}", uid=f"{day}{room}") for day in days for room in "AB"
    ]
    result = imported(feed(*events))

    assert (codes(result), len(windows(written(result))), seats(written(result))) == (
        [("B207", 5)],
        3,
        {"lab": {"small": 25}},
    )
    assert imported(feed(*events), group="title").findings == ()


def test_a_date_of_a_group_may_have_other_seats() -> None:
    days = ("20260302", "20260309", "20260316", "20260320", "20260323")
    counts = (30, 30, 60, 90, 30)
    events = [
        single(day, "0900-1100", f"DESCRIPTION:seats: {count}")
        for day, count in zip(days, counts, strict=True)
    ]
    result = imported(feed(*events))
    text = text_of(result)

    assert "placeholderCount: 30\n" in text
    assert "moved:\n      - {date: 2026-03-16, to: {placeholderCount: 60}}\n" in text
    assert '- {date: 2026-03-20, startTime: "09:00", endTime: "11:00", placeholderCount: 90}\n' in text
    assert imported(feed(*events), *written(result)).files == ()


def test_a_group_is_not_changed_while_one_of_its_events_cannot_be_read() -> None:
    events = [single(day) for day in ("20260302", "20260309", "20260316")]
    files = written(imported(feed(*events)))
    unclear = single("20260323", "0900-1100", "DESCRIPTION:seats: many")
    result = imported(feed(*events[:2], unclear), *files, now=NOW)

    assert (result.files, sorted(results(result))) == ((), ["not imported", "not imported"])


def test_groups_of_several_zones_have_the_times_of_the_site() -> None:
    there = event("DTSTART;TZID=America/New_York:20260309T090000", "DURATION:PT2H", uid="ny", title="Lab")
    result = imported(feed(single("20260302"), single("20260304"), there))

    assert [start for _, start, _ in windows(written(result))][-1] == datetime(
        2026, 3, 9, 13, tzinfo=UTC
    ).timestamp()


def test_the_order_of_events_and_their_uids_do_not_matter() -> None:
    days = ["20260302", "20260309", "20260316", "20260325"]
    pairs = [(day, title) for day in days for title in ("A", "B", "C")]
    files = written(imported(feed(*(single(day, uid=day + title, title=title) for day, title in pairs))))
    random.Random(1).shuffle(pairs)
    again = imported(feed(*(single(day, uid=title + day, title=title) for day, title in pairs)), *files)

    assert (len(files), again.files) == (3, ())


@settings(max_examples=200)
@given(
    st.sets(
        st.tuples(st.integers(0, 90), st.sampled_from([540, 600, 840]), st.sampled_from([60, 120])),
        min_size=1,
    )
)
def test_rules_with_exceptions_have_exactly_the_dates(dates: set[tuple[int, int, int]]) -> None:
    zone = load("Europe/Zurich")
    assert zone is not None
    by_start = {(20_500 + day) * DAY + minute: length for day, minute, length in sorted(dates)}
    spans = tuple(Span(start, start + length) for start, length in sorted(by_start.items()))
    event_dates = with_weekly_rules(EventDates(zone, spans, frozenset(), {}, ()))

    assert tuple(event_dates.happening) == spans
    assert recurrence_of(event_dates, (("small", 1),), {}) is not None


@settings(max_examples=60)
@given(st.data())
def test_a_group_has_the_dates_of_its_events(data: st.DataObject) -> None:
    days = data.draw(st.sets(st.integers(0, 60), min_size=2, max_size=25))
    first = datetime(2026, 3, 2, tzinfo=UTC)
    texts = [(first + timedelta(days=day)).strftime("%Y%m%d") for day in sorted(days)]
    hours = [data.draw(st.sampled_from(["0900-1100", "0900-1200", "1400-1600"])) for _ in texts]
    source = feed(*(single(day, time) for day, time in zip(texts, hours, strict=True)))
    files: list[Source] = written(imported(source))

    assert len(files) == 1
    assert [window[0][-16:] for window in windows(files)] == [
        f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:00" for day, time in zip(texts, hours, strict=True)
    ]
    assert imported(source, *files).files == ()
