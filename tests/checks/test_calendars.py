"""Calendars and terms that are unknown or of another year, courses that are there twice, and zones."""

from collections.abc import Iterable

import pytest
import yaml
from berth.findings import Problem
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled
from tests.saying import Value, document, finding, lines, reservation, resource_class, site, weekly

OWN = ("B056", "B057", "B058", "B060", "B061", "B240")
COURSE = {"matchLabels": {"course": "statistics"}}


def told(*documents: Value) -> list[str]:
    """What the checks of this module say about a project with a file for each document."""
    files = zip("abcdef", documents, strict=False)
    sources = [Source(f"{name}.yaml", yaml.safe_dump(one).encode()) for name, one in files]
    pipeline = Pipeline(sources=sources)
    pipeline.items()
    found = [problem for problem in pipeline.problems if isinstance(problem, Problem) and problem.code in OWN]
    return lines(found, files=True)


def calendar(name: str, *dates: object, **spec: object) -> Value:
    return document("Calendar", name, {"dates": list(dates), **spec})


def term(name: str) -> Value:
    return {"name": name, "from": "2026-02-02", "to": "2026-05-15"}


def within(*names: str) -> Value:
    dates = {"startDate": None, "endDate": None}
    return reservation(recurrence=weekly(within=list(names), **dates))


ZONED = site(timeZone="Europe/Zurich")


def test_an_unknown_term_is_reported_with_the_nearest_name() -> None:
    terms = calendar("terms", terms=[term("spring-2026"), term("autumn-2026")])

    assert told(within("spring-2026"), resource_class(), terms, ZONED) == []
    assert told(within("autumn-2026", "sprin-2026"), resource_class(), terms, ZONED) == [
        finding("a.yaml B061 spec.recurrence.within.1", "sprin-2026", "spring-2026")
    ]


def test_a_term_of_a_faulty_calendar_is_known() -> None:
    faulty = calendar("terms", "2026-02-30", terms=[term("spring-2026")])

    assert told(within("spring-2026"), resource_class(), faulty, ZONED) == []


def test_a_term_used_twice_in_the_site_is_reported() -> None:
    first, second = calendar("first", terms=[term("spring")]), calendar("second", terms=[term("spring")])

    assert told(first, second, ZONED) == [
        finding("a.yaml B060 spec.terms.0.name", "spring", "b.yaml"),
        finding("b.yaml B060 spec.terms.0.name", "spring", "a.yaml"),
    ]


def test_an_unknown_calendar_of_the_site_is_reported_in_the_site_file() -> None:
    everyone = site(timeZone="UTC", calendars=["holidays", "holiday"])

    assert told(everyone, calendar("holidays")) == [
        finding("a.yaml B061 spec.calendars.1", "holiday", "holidays")
    ]


@tabled("checks")
def test_a_calendar_without_dates_in_the_time_of_the_course_is_reported(
    dates: Iterable[object], expected: list[str]
) -> None:
    course = reservation(recurrence=weekly(calendars=["holidays"]))

    assert told(course, resource_class(), calendar("holidays", *dates), ZONED) == expected


def test_a_calendar_of_another_time_is_reported_with_dates_and_terms() -> None:
    times = [{"startTime": "09:00", "endTime": "13:00"}]
    dated = {"type": "dates", "dates": ["2027-01-05", "2026-03-02"], "schedule": times}
    old, terms = calendar("old", "2025-12-24"), [term("spring")]
    both = calendar("old", "2025-12-24", terms=terms)
    course = within("spring")
    course["spec"]["recurrence"]["calendars"] = ["old"]

    assert told(reservation(recurrence={**dated, "calendars": ["old"]}), resource_class(), old, ZONED) == [
        finding("a.yaml B056 spec.recurrence.calendars.0", "2026-03-02", "2027-01-05", "2025-12-24")
    ]
    assert told(course, resource_class(), both, ZONED) == [
        finding("a.yaml B056 spec.recurrence.calendars.0", "2026-02-02", "2026-05-15")
    ]


@tabled("checks")
def test_site_calendars_that_end_before_a_reservation_are_reported(
    old: str, new: str, texts: list[str]
) -> None:
    later = reservation("other", recurrence=weekly(startDate="2026-03-02", endDate="2026-04-27"))
    both = document("Calendar", "old", {"dates": [old]}), document("Calendar", "new", {"dates": [new]})
    everyone = site(timeZone="UTC", calendars=["old", "new"])

    assert told(everyone, reservation(), later, resource_class(), *both) == [
        finding("a.yaml B056 spec.calendars", text) for text in texts
    ]


def monday(start: str, end: str, name: str = "copy", **spec: object) -> Value:
    entry = {"dayOfWeek": 1, "startTime": start, "endTime": end}
    return reservation(name, recurrence=weekly(entry), sessions=COURSE, **spec)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (monday("12:00", "14:00"), ["b.yaml B057 spec.recurrence"]),
        (monday("12:00", "14:00", "apple"), ["a.yaml B057 spec.recurrence"]),
        (monday("13:00", "14:00"), []),
        (monday("12:00", "14:00", suspend=True), []),
        (monday("12:00", "14:00", resourceClass="other"), []),
        (reservation("copy"), []),
    ],
    ids=["later-name", "earlier-name", "touches", "suspended", "another-class", "another-course"],
)
def test_a_duplicate_course_is_reported_at_the_later_name(other: Value, expected: list[str]) -> None:
    course = monday("09:00", "13:00", "banana")

    assert told(course, other, ZONED, resource_class(), resource_class("other")) == expected


def test_a_duplicate_course_is_reported_even_with_ceilings() -> None:
    ceiling = {"name": "prod", "ceilings": [{"seats": {"small": 100}}]}
    limited = site(ceiling, timeZone="Europe/Zurich")

    assert told(monday("09:00", "13:00"), monday("09:00", "13:00", "more"), resource_class(), limited) == [
        "b.yaml B057 spec.recurrence"
    ]


def test_courses_without_a_session_selector_are_no_duplicates() -> None:
    assert told(reservation("one"), reservation("other"), resource_class(), ZONED) == []


def test_the_default_time_zone_utc_is_noted_once() -> None:
    own = reservation("own", recurrence=weekly(timeZone="Europe/Zurich"))

    silent = site(timeZone=None)

    assert told(reservation(), reservation("second"), resource_class(), silent) == ["d.yaml B058 spec"]
    assert told(own, resource_class(), silent) == []
    assert told(reservation(), resource_class(), site(timeZone="UTC")) == []


def in_zone(zone: str, *dates: str, **recurrence: object) -> Value:
    times = {"startTime": "04:00", "endTime": "07:00"}
    return reservation(
        recurrence={"type": "dates", "timeZone": zone, "dates": [*dates], "schedule": [times], **recurrence}
    )


SUMMER, WINTER = ("2026-07-18", "2026-07-25"), ("2026-01-17", "2026-01-24")
OF_COURSE, OF_SITE = "a.yaml B240 spec.recurrence.timeZone", "c.yaml B240 spec.timeZone"


@tabled("checks")
def test_a_fixed_offset_as_time_zone_is_reported(zone: str, dates: list[str], texts: list[str]) -> None:
    course = in_zone(zone, *dates)
    default = in_zone("", *dates)
    del default["spec"]["recurrence"]["timeZone"]

    assert told(course, resource_class(), ZONED) == [finding(OF_COURSE, *texts)]
    assert told(default, resource_class(), site(timeZone=zone)) == [finding(OF_SITE, *texts)]


def test_a_fixed_offset_of_the_site_is_reported_once_with_the_first_date() -> None:
    courses = [reservation(name, recurrence=weekly(endDate="2026-04-28")) for name in ("one", "other")]

    assert told(*courses, site(timeZone="EST"), resource_class()) == [
        finding(OF_SITE, "On Mon 2026-03-09 09:00, clocks in America/New_York show 10:00.")
    ]
    assert told(site(timeZone="EST")) == [finding("a.yaml B240 spec.timeZone", "America/New_York")]


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Zulu", "Europe/Zurich", "Africa/Abidjan", "Asia/Tokyo"])
def test_utc_and_places_are_no_offsets(zone: str) -> None:
    assert told(in_zone(zone, *SUMMER), resource_class(), ZONED) == []


def test_a_weekly_rule_in_utc_across_a_clock_change_is_reported() -> None:
    rule = weekly(startDate="2026-03-23", endDate="2026-04-13", timeZone="UTC")
    moved = {"moved": [{"date": "2026-04-06", "to": {"date": "2026-03-25"}}]}
    before = weekly(endDate="2026-03-28", timeZone="UTC")

    assert told(reservation(recurrence=rule), resource_class(), ZONED) == [
        finding(
            OF_COURSE, "show 10:00 on Mon 2026-03-23", "11:00 on Mon 2026-03-30", "timeZone: Europe/Zurich"
        )
    ]
    assert told(reservation(recurrence=before), resource_class(), ZONED) == []
    assert (
        told(reservation(recurrence={**rule, **moved}), resource_class(), site(timeZone="Asia/Tokyo")) == []
    )
    assert told(in_zone("UTC", *WINTER, *SUMMER), resource_class(), ZONED) == []
