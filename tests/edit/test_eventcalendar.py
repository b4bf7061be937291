"""A Calendar of events: its dates, and how it is updated."""

from datetime import date
from typing import Any

import pytest
from berth.edit.calendarfeed import read_feed
from berth.edit.eventcalendar import import_closed_dates
from berth.edit.eventfilter import event_filter
from berth.edit.eventimport import ImportOptions, ImportResult
from berth.notation.refusal import CommandError
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.calendardocument import ClosedDates

from tests.edit.events import SITE, event, feed, results, world, written


def imported(source: Source, *files: Source, **options: Any) -> ImportResult:
    chosen = ImportOptions("", None, None, None, None, 0)._replace(**options)
    return import_closed_dates(read_feed(source), Pipeline(sources=sorted([SITE, *files])), "closed", chosen)


def dates(result: ImportResult) -> list[tuple[str, str, str, int, int]]:
    project = Pipeline(sources=sorted([SITE, *written(result)]))
    assert project.findings() == []
    found: tuple[ClosedDates, ...] = project.declared.calendars["closed"].dates
    return [
        (
            str(closed_dates.first),
            str(closed_dates.last),
            closed_dates.title,
            closed_dates.since,
            closed_dates.until,
        )
        for closed_dates in found
    ]


ALL_DAY, NIGHT = (0, 1440), 1440


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DTSTART;VALUE=DATE:20260406",), [("04-06", "04-06", *ALL_DAY)]),
        (("DTSTART;VALUE=DATE:20260403", "DTEND;VALUE=DATE:20260413"), [("04-03", "04-12", *ALL_DAY)]),
        (
            ("DTSTART;VALUE=DATE:20260801", "RRULE:FREQ=YEARLY;COUNT=1"),
            [("08-01", "08-01", *ALL_DAY)],
        ),
        (("DTSTART:20260216T120000Z", "DTEND:20260216T160000Z"), [("02-16", "02-16", 780, 1020)]),
        (
            ("DTSTART:20260216T130000", "DTEND:20260219T100000"),
            [("02-16", "02-16", 780, NIGHT), ("02-17", "02-18", *ALL_DAY), ("02-19", "02-19", 0, 600)],
        ),
        (
            ("DTSTART:20260216T220000", "DTEND:20260217T060000"),
            [("02-16", "02-16", 1320, NIGHT), ("02-17", "02-17", 0, 360)],
        ),
    ],
    ids=["day", "range", "rule", "hours", "days-with-hours", "night"],
)
def test_an_event_closes_its_dates(lines: tuple[str, ...], expected: list[tuple[str, str, int, int]]) -> None:
    found = dates(imported(feed(event(*lines, title="Break: one"))))

    assert found == [
        (f"2026-{first}", f"2026-{last}", "Break: one", since, until)
        for first, last, since, until in expected
    ]


def test_dates_that_berth_does_not_know_are_left_out() -> None:
    birthday = event("DTSTART;VALUE=DATE:16040512", "RRULE:FREQ=YEARLY")
    old = event("DTSTART;VALUE=DATE:19970512", uid="2")
    found = imported(feed(birthday, old), last=date(2001, 12, 31))

    assert [one[0] for one in dates(found)] == ["2000-05-12", "2001-05-12"]
    assert results(found) == ["closed", "outside"]


def test_events_without_uid_and_equal_ones_are_dates_too() -> None:
    day = "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260406\nSUMMARY:Easter Monday\nEND:VEVENT\n"
    other = day.replace("0406", "0501").replace("Easter Monday", "Labor Day")

    assert [one[0] for one in dates(imported(feed(day, other, day)))] == ["2026-04-06", "2026-05-01"]


def test_canceled_and_endless_events_are_left_out() -> None:
    canceled = event("DTSTART;VALUE=DATE:20260406", "STATUS:CANCELLED", uid="1")
    yearly = event("DTSTART;VALUE=DATE:20250801", "RRULE:FREQ=YEARLY", uid="2")
    found = imported(feed(canceled, yearly))
    assert ([finding.code for finding in found.findings], found.files) == (["B206"], ())

    until = imported(feed(canceled, yearly), last=date(2027, 12, 31))
    assert [one[0] for one in dates(until)] == ["2025-08-01", "2026-08-01", "2027-08-01"]


@pytest.mark.parametrize("mark", [(), ("TRANSP:TRANSPARENT",)], ids=["busy", "free"])
@pytest.mark.parametrize("title", ["Canceled: Easter Monday", "Abgesagt: Ostermontag"])
def test_an_event_whose_title_says_that_it_is_canceled_closes_no_dates(
    title: str, mark: tuple[str, ...]
) -> None:
    canceled = event("DTSTART;VALUE=DATE:20260406", *mark, title=title, uid="1")
    other = event("DTSTART;VALUE=DATE:20260501", title="Labor Day")
    found = imported(feed(canceled, other))

    assert [one[0] for one in dates(found)] == ["2026-05-01"]
    assert [(finding.code, finding.path.endswith(f'"{title}"')) for finding in found.findings] == [
        ("B206", True)
    ]
    assert results(found) == ["canceled" if mark else "left out", "closed"]


def test_a_canceled_date_of_a_series_closes_nothing() -> None:
    series = event("DTSTART;VALUE=DATE:20260406", "RRULE:FREQ=WEEKLY;COUNT=3")
    id_, start = "RECURRENCE-ID;VALUE=DATE:202604", "DTSTART;VALUE=DATE:202604"
    changes = (
        event(f"{id_}13", f"{start}13", "STATUS:CANCELLED"),
        event(f"{id_}20", f"{start}20", title="Canceled: Course"),
    )
    found = imported(feed(series, *changes))

    assert [one[0] for one in dates(found)] == ["2026-04-06"]
    assert [finding.code for finding in found.findings] == ["B207"]


def test_an_update_replaces_the_dates_and_keeps_the_rest() -> None:
    (before,) = written(imported(feed(event("DTSTART;VALUE=DATE:20260406"))))
    before = before._replace(text=before.text.replace(b"spec:\n", b"spec:\n  # shut\n  closes: true\n"))
    again = imported(feed(event("DTSTART;VALUE=DATE:20260406")), before)
    assert (again.files, results(again)) == ((), ["closed"])

    (after,) = imported(feed(event("DTSTART;VALUE=DATE:20260501")), before).files
    assert after.text == before.text.decode().replace("04-06", "05-01")


def test_a_calendar_that_a_person_wrote_is_refused() -> None:
    mine = Source(
        "reservations/mine.yaml",
        b"apiVersion: berth.dev/v1alpha1\nkind: Calendar\n"
        b"metadata: {name: closed}\nspec: {dates: [2026-01-02]}\n",
    )
    with pytest.raises(CommandError):
        imported(feed(event("DTSTART;VALUE=DATE:20260406")), mine)


def closed(result: ImportResult) -> list[str]:
    """Return the closed dates as text: the days, and the hours where they are not whole days."""
    return [
        f"{first[5:]}..{last[5:]}" + (f" {since}-{until}" if (since, until) != ALL_DAY else "")
        for first, last, _, since, until in dates(result)
    ]


BREAK = event("DTSTART;VALUE=DATE:20261221", "DTEND;VALUE=DATE:20270104", title="Winter break")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, ["12-21..01-03"]),
        ({"first": date(2027, 1, 1)}, ["01-01..01-03"]),
        ({"last": date(2026, 12, 31)}, ["12-21..12-31"]),
        ({"first": date(2026, 12, 24), "last": date(2026, 12, 26)}, ["12-24..12-26"]),
        ({"first": date(2027, 1, 3)}, ["01-03..01-03"]),
    ],
    ids=["none", "from", "until", "both", "last-day"],
)
def test_limits_clip_a_range(limits: dict[str, date], expected: list[str]) -> None:
    """K09: a range that began before --from closes its other days."""
    assert closed(imported(feed(BREAK), **limits)) == expected


@pytest.mark.parametrize("limits", [{"first": date(2027, 1, 4)}, {"last": date(2026, 12, 20)}])
def test_a_range_outside_of_the_limits_is_told(limits: dict[str, date]) -> None:
    result = imported(feed(BREAK), **limits)

    assert (result.files, results(result)) == ((), ["outside"])


def test_a_yearly_break_is_clipped_at_each_limit() -> None:
    yearly = event("DTSTART;VALUE=DATE:20201221", "DTEND;VALUE=DATE:20210104", "RRULE:FREQ=YEARLY")

    assert closed(imported(feed(yearly), first=date(2026, 1, 1), last=date(2026, 12, 31))) == [
        "01-01..01-03",
        "12-21..12-31",
    ]


def test_hours_are_clipped_by_days() -> None:
    night = event("DTSTART:20260216T220000", "DTEND:20260218T060000")

    assert closed(imported(feed(night), first=date(2026, 2, 17), last=date(2026, 2, 17))) == ["02-17..02-17"]


def test_an_academic_calendar_does_not_close_its_term() -> None:
    """K13: a teaching period and a deadline are told, and nothing closes on their days."""
    result = imported(world("academic-year.ics"), last=date(2026, 12, 31))

    assert closed(result) == [
        "04-03..04-12",
        "05-01..05-01",
        "05-25..05-25",
        "05-25..05-25",
        "06-04..06-04",
        "12-24..12-24 720-1440",
    ]
    assert [(finding.code, finding.line) for finding in result.findings] == [("B206", 4), ("B206", 16)]
    assert results(result) == ["left out", "closed", "left out", *["closed"] * 5]


def test_a_long_event_becomes_a_term_on_request() -> None:
    options = {"last": date(2026, 12, 31), "has_terms": True}
    result = imported(world("academic-year.ics"), **options)
    project = Pipeline(sources=sorted([SITE, *written(result)]))

    assert [
        (term.name, str(term.first), str(term.last)) for term in project.declared.calendars["closed"].terms
    ] == [("teaching-period-spring-semester-2026", "2026-02-16", "2026-05-29")]
    assert [finding.code for finding in result.findings] == ["B206"]
    assert imported(world("academic-year.ics"), *written(result), **options).files == ()
    without = imported(world("academic-year.ics"), *written(result), last=date(2026, 12, 31))
    assert without.files == ()


@pytest.mark.parametrize(
    "mark", ["TRANSP:TRANSPARENT", "X-MICROSOFT-CDO-BUSYSTATUS:FREE"], ids=["transparent", "outlook"]
)
def test_a_teaching_period_that_is_marked_as_free_is_a_term(mark: str) -> None:
    """Programs mark events of whole days as free, and a term says nothing about who is busy."""
    period = event("DTSTART;VALUE=DATE:20260216", "DTEND;VALUE=DATE:20260530", mark, uid="1", title="Term")
    source = feed(period, event("DTSTART;VALUE=DATE:20260501", uid="2"))
    with_terms, without = imported(source, has_terms=True), imported(source)

    assert (with_terms.findings, results(with_terms)) == ((), ["term", "closed"])
    assert [(finding.code, "--terms" in finding.fix) for finding in without.findings] == [("B206", True)]


def test_terms_of_one_name_have_their_dates_in_it() -> None:
    terms = [
        event(f"DTSTART;VALUE=DATE:2026{start}", f"DTEND;VALUE=DATE:2026{end}", uid=start, title="Term")
        for start, end in (("0201", "0401"), ("0901", "1201"))
    ]
    result = imported(feed(*terms), has_terms=True)
    project = Pipeline(sources=sorted([SITE, *written(result)]))

    assert [term.name for term in project.declared.calendars["closed"].terms] == [
        "term-2026-02-01",
        "term-2026-09-01",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("DTSTART;VALUE=DATE:20260701", "DTEND;VALUE=DATE:20260730"),
        ("DTSTART;VALUE=DATE:20260701", "RRULE:FREQ=DAILY;COUNT=29"),
        ("DTSTART:20260701T080000", "DTEND:20260730T180000"),
    ],
    ids=["range", "daily", "timed"],
)
def test_a_long_closure_is_told_however_it_is_written(lines: tuple[str, ...]) -> None:
    source = feed(event(*lines, title="Summer break"))
    chosen = imported(source, events=event_filter(["title:*break"], []))

    assert [(finding.code, finding.line) for finding in imported(source).findings] == [("B206", 5)]
    assert imported(source).files == ()
    assert (chosen.findings, results(chosen)) == ((), ["closed"])


def test_the_mark_free_tells_nothing_where_all_events_have_it() -> None:
    """Feeds of holidays mark all of them as free."""
    days = [event(f"DTSTART;VALUE=DATE:2026{day}", "TRANSP:TRANSPARENT", uid=day) for day in ("0406", "0501")]
    busy = event("DTSTART;VALUE=DATE:20260514", uid="3")

    assert closed(imported(feed(*days))) == ["04-06..04-06", "05-01..05-01"]
    assert closed(imported(feed(*days, busy))) == ["05-14..05-14"]
    assert len(closed(imported(feed(*days, busy), events=event_filter(["free", "busy"], [])))) == 3


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("DTSTART:20260525T000000", "DTEND:20260525T235900"), "05-25..05-25"),
        (("DTSTART:20260525T000000", "DTEND:20260525T235959"), "05-25..05-25"),
        (("DTSTART:20260525T000000", "DTEND:20260526T000000"), "05-25..05-25"),
        (("DTSTART:20260524T220000Z", "DTEND:20260525T220000Z"), "05-25..05-25"),
        (("DTSTART:20261224T120000", "DTEND:20261225T000000"), "12-24..12-24 720-1440"),
        (("DTSTART:20261224T120000", "DTEND:20261224T235900"), "12-24..12-24 720-1440"),
    ],
)
def test_days_and_halves_of_days_are_whole(lines: tuple[str, ...], expected: str) -> None:
    assert closed(imported(feed(event(*lines)))) == [expected]


def test_two_closed_days_with_one_uid_are_both_closed() -> None:
    days = [event(f"DTSTART;VALUE=DATE:{day}", title=day) for day in ("20260406", "20260501")]

    assert closed(imported(feed(*days))) == ["04-06..04-06", "05-01..05-01"]


def test_a_calendar_of_another_feed_is_not_replaced() -> None:
    (before,) = written(imported(feed(event("DTSTART;VALUE=DATE:20260406"))))
    other = feed(event("DTSTART;VALUE=DATE:20260501"), file="other.ics")
    with pytest.raises(CommandError):
        imported(other, before)

    assert closed(imported(other, before, feed="team.ics")) == ["05-01..05-01"]
    by_hand = before._replace(text=before.text.replace(b"imported-feed", b"feed"))
    with pytest.raises(CommandError):
        imported(other, by_hand)
