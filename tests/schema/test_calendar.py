"""`Calendar`: dates and ranges, both ends inclusive."""

from datetime import date

from berth.schema.report import Origin
from berth.schema.values import Calendar

from tests.saying import document, read, site, told


def test_dates_and_ranges_come_out_as_ranges_with_their_title() -> None:
    dates = ["2026-05-01", {"from": "2026-04-03", "to": "2026-04-12", "title": "Easter"}]
    declared = read(site(), document("Calendar", "holidays", {"dates": dates}))

    assert declared.problems == []
    assert declared.calendars == {
        "holidays": Calendar(
            Origin("b.yaml", 0),
            "holidays",
            ((date(2026, 5, 1), date(2026, 5, 1), ""), (date(2026, 4, 3), date(2026, 4, 12), "Easter")),
        )
    }


def test_a_calendar_may_be_empty_but_must_say_so() -> None:
    assert read(site(), document("Calendar", "none", {"dates": []})).calendars["none"].dates == ()
    assert told(document("Calendar", "none", {}), site()) == ["a.yaml B011 spec"]


def test_every_faulty_date_is_told() -> None:
    dates = [
        20260501,
        "2026-02-30",
        {"from": "2026-04-12", "to": "2026-04-03"},
        {"from": "2026-04-12"},
        {"from": "x", "to": "2026-04-03", "title": 5},
        None,
    ]

    assert told(document("Calendar", "holidays", {"dates": dates}), site()) == [
        "a.yaml B011 spec.dates.3",
        "a.yaml B013 spec.dates.4.title",
        "a.yaml B013 spec.dates.5",
        "a.yaml B017 spec.dates.0",
        "a.yaml B017 spec.dates.1",
        "a.yaml B017 spec.dates.4.from",
        "a.yaml B024 spec.dates.2.to",
    ]
