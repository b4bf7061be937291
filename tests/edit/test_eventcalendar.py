"""A Calendar of events: its dates, and how it is updated."""

from datetime import date
from typing import Any

import pytest
from berth.edit.calendarfeed import read_feed
from berth.edit.eventcalendar import import_closed_dates
from berth.edit.eventimport import ImportOptions, ImportResult
from berth.edit.roundtrip import EditError
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.values import ClosedDates

from tests.edit.events import SITE, event, feed, results, written


def imported(source: Source, *files: Source, **options: Any) -> ImportResult:
    chosen = ImportOptions("", None, None, None, None, 0)._replace(**options)
    return import_closed_dates(read_feed(source), Pipeline(sources=sorted([SITE, *files])), "closed", chosen)


def dates(result: ImportResult) -> list[tuple[str, str, str, int, int]]:
    project = Pipeline(sources=sorted([SITE, *written(result)]))
    assert project.findings() == []
    found: tuple[ClosedDates, ...] = project.declared.calendars["closed"].dates
    return [(str(one.first), str(one.last), one.title, one.since, one.until) for one in found]


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
    assert ([one.code for one in found.findings], found.files) == (["B206"], ())

    until = imported(feed(canceled, yearly), last=date(2027, 12, 31))
    assert [one[0] for one in dates(until)] == ["2025-08-01", "2026-08-01", "2027-08-01"]


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
    with pytest.raises(EditError):
        imported(feed(event("DTSTART;VALUE=DATE:20260406")), mine)
