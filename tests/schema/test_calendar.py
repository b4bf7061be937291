"""`Calendar`: dates and ranges, both ends inclusive."""

from datetime import date

from berth.findings import Origin
from berth.schema.calendardocument import Calendar, ClosedDates, Term

from tests.cases import tabled
from tests.saying import Value, document, read, site, told, valid


def test_dates_and_ranges_come_out_as_ranges_with_their_title_and_hours() -> None:
    dates = [
        "2026-05-01",
        {"from": "2026-04-03", "to": "2026-04-12", "title": "Easter"},
        {"date": "2026-12-24", "from": "12:00", "title": "Christmas Eve"},
        {"date": "2026-12-31", "until": "12:00"},
    ]
    labour, eve, last = date(2026, 5, 1), date(2026, 12, 24), date(2026, 12, 31)

    assert read(site(), document("Calendar", "holidays", {"dates": dates})).calendars["holidays"].dates == (
        ClosedDates(labour, labour),
        ClosedDates(date(2026, 4, 3), date(2026, 4, 12), "Easter"),
        ClosedDates(eve, eve, "Christmas Eve", 720, 1440),
        ClosedDates(last, last, "", 0, 720),
    )


def test_terms_need_no_dates_and_belong_to_the_site() -> None:
    terms = [{"name": "spring-2026", "from": "2026-02-02", "to": "2026-05-15"}]
    declared = valid(site(), document("Calendar", "terms", {"terms": terms}))
    expected = Term.model_construct(name="spring-2026", first=date(2026, 2, 2), last=date(2026, 5, 15))

    assert declared.calendars["terms"] == Calendar(Origin("b.yaml", 0), "terms", (), (expected,))
    assert declared.terms == {"spring-2026": expected}


def test_a_calendar_may_close_the_site_or_be_named_by_it() -> None:
    closure = document("Calendar", "closure", {"dates": ["2026-12-24"], "closes": True})
    holidays = document("Calendar", "holidays", {"dates": ["2026-05-01"]})
    found = read(site(calendars=["holidays"]), closure, holidays).calendars

    assert [(calendar.closes, calendar.is_site_wide) for calendar in found.values()] == [
        (True, False),
        (False, True),
    ]


@tabled("schema")
def test_a_faulty_term_or_date_is_reported(spec: Value, expected: str) -> None:
    assert told(document("Calendar", "holidays", spec), site()) == [f"a.yaml {expected}"]


def test_a_calendar_may_be_empty_only_with_an_explicit_list() -> None:
    assert read(site(), document("Calendar", "none", {"dates": []})).calendars["none"].dates == ()
    assert told(document("Calendar", "none", {}), site()) == ["a.yaml B011 spec"]


def test_every_faulty_date_is_reported() -> None:
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
