"""Hours, dates, counts and leads that are nearly always typos."""

from datetime import UTC, datetime

import pytest
import yaml
from berth.checks.typos import check_dates_are_ahead
from berth.findings import Problem
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.saying import Value, finding, lines, reservation, resource_class, site, weekly

OWN = ("B029", "B080", "B082", "B084")
NOW = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
SITE = site()
SPARE = {"scaleDownBehavior": "none"}


def read(*documents: Value) -> Pipeline:
    sources = [
        Source(f"{name}.yaml", yaml.safe_dump(document).encode())
        for name, document in zip("abcd", documents, strict=False)
    ]
    return Pipeline(sources=sources)


def told(course: Value, *others: Value, now: int | None = NOW) -> list[str]:
    """What the checks of this module say about a reservation, in a site that limits nothing."""
    pipeline = read(course, *(others or (SITE, resource_class())))
    pipeline.items(now=now)
    return lines(
        problem for problem in pipeline.problems if isinstance(problem, Problem) and problem.code in OWN
    )


def at(start: str, end: str, **more: object) -> Value:
    return {"dayOfWeek": 1, "startTime": start, "endTime": end, **more}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (at("09:00", "23:00"), []),
        (at("09:00", "23:01"), [finding("B080 spec.recurrence.schedule.0.endTime", "14 h 01", "endDay: 0")]),
        (at("09:00", "23:01", endDay=0), []),
        (at("19:00", "09:00"), []),
        (at("13:00", "09:00"), [finding("B080 spec.recurrence.schedule.0.endTime", "20 h 00", "endDay: 1")]),
        (at("13:00", "09:00", endDay=1), []),
        (at("00:00", "24:00"), []),
    ],
    ids=["14-hours", "longer", "said", "night", "swapped", "swapped-and-said", "whole-day"],
)
def test_a_window_longer_than_14_hours_must_state_its_end_day(line: Value, expected: list[str]) -> None:
    assert told(reservation(recurrence=weekly(line))) == expected


def test_every_entry_with_hours_is_checked() -> None:
    long = {"date": "2026-02-03", "startTime": "13:00", "endTime": "09:00"}
    move = {"date": "2026-02-09", "to": {"endTime": "08:00"}}
    moved = {"date": "2026-02-16", "startTime": "09:00", "to": {"endTime": "08:00"}}
    later = {"date": "2026-02-23", "to": {"startTime": "13:00", "endTime": "09:00"}}
    course = reservation(recurrence=weekly(extra=[long], moved=[move, moved, later]))

    assert told(course) == [
        "B080 spec.recurrence.extra.0.endTime",
        "B080 spec.recurrence.moved.0.to.endTime",
        "B080 spec.recurrence.moved.1.to.endTime",
        "B080 spec.recurrence.moved.2.to.endTime",
    ]


@pytest.mark.parametrize("more", [{"endTime": "23:00"}, {"endTime": "08:00", "endDay": 1}], ids=str)
def test_a_changed_end_that_is_near_or_has_an_end_day_has_no_finding(more: Value) -> None:
    assert told(reservation(recurrence=weekly(moved=[{"date": "2026-02-09", "to": more}]))) == []


def test_hours_of_listed_dates_are_checked() -> None:
    hours = {"date": "2026-02-03", "startTime": "13:00", "endTime": "09:00"}
    usual = {"startTime": "13:00", "endTime": "15:00"}
    dates = {"type": "dates", "dates": ["2026-02-02", hours], "schedule": [usual]}

    assert told(reservation(recurrence=dates)) == ["B080 spec.recurrence.dates.1.endTime"]


def test_a_changed_end_of_a_named_group_is_measured_from_its_start() -> None:
    groups = [at("09:00", "10:00", name="a"), at("21:00", "22:00", name="b")]
    ends = [{"date": "2026-02-09", "name": name, "to": {"endTime": "08:00"}} for name in ("a", "b")]

    assert told(reservation(recurrence=weekly(*groups, moved=ends))) == [
        finding("B080 spec.recurrence.moved.0.to.endTime", "23 h 00")
    ]


@pytest.mark.parametrize(("end", "count"), [("2026-03-07", 0), ("2026-03-06", 1)], ids=["days", "one-day"])
def test_a_window_of_type_once_may_last_for_days(end: str, count: int) -> None:
    once = {"type": "once", "startDate": "2026-03-06", "endDate": end}
    hours = {"startTime": "17:00", "endTime": "12:00"}
    assert len(told(reservation(recurrence={**once, "schedule": [hours]}))) == count


@pytest.mark.parametrize("class_sessions", [None, {"source": "jupyterhub", "namespaces": ["hub"]}])
def test_narrowed_sessions_of_a_class_without_sessions_are_reported(class_sessions: Value | None) -> None:
    course = reservation(sessions={"matchLabels": {"a": "b"}})
    told_of = told(course, SITE, resource_class(sessions=class_sessions))

    assert told_of == ([] if class_sessions else ["B029 spec.sessions"])


def test_counts_above_1000_need_a_ceiling() -> None:
    many = reservation(
        recurrence=weekly(at("09:00", "13:00", placeholderCount=1001), at("14:00", "15:00")),
        provisioning={"placeholderCount": 1000, **SPARE},
    )
    ceilings = [{"seats": {"small": 2000}}]
    limited = site({"name": "prod", "ceilings": ceilings})

    assert told(many) == [finding("B082 spec.recurrence.schedule.0.placeholderCount", "1,001", "small")]
    assert told(many, limited, resource_class()) == []


def test_counts_in_seat_lists_and_changed_dates_are_checked() -> None:
    seats = [{"resourceClass": "small", "placeholderCount": count} for count in (2000, 3000)]
    moved = [{"date": "2026-02-09", "to": {"seats": seats[1:]}}]
    many = reservation(
        resourceClass=None, recurrence=weekly(moved=moved), provisioning={"seats": seats[:1], **SPARE}
    )
    assert told(many) == [
        finding("B082 spec.provisioning.seats.0.placeholderCount", "2,000"),
        finding("B082 spec.recurrence.moved.0.to.seats.0.placeholderCount", "3,000"),
    ]


def test_a_last_date_more_than_18_months_away_is_reported_at_its_field() -> None:
    far = weekly(endDate="2027-08-31")
    moved = weekly(moved=[{"date": "2026-02-09", "to": {"date": "2062-02-09"}}])

    assert told(reservation(recurrence=weekly(endDate="2027-06-30"))) == []
    assert told(reservation(recurrence=far)) == [finding("B084 spec.recurrence.endDate", "2027-08-30")]
    assert told(reservation(recurrence=moved)) == [finding("B084 spec.recurrence", "2062-02-09")]
    assert told(reservation(recurrence=far), now=None) == []


@pytest.mark.parametrize(
    ("ends", "suspend", "expected"),
    [(-1, False, []), (0, False, ["B081 spec.recurrence"]), (0, True, [])],
    ids=["last-one-is-open", "over", "suspended"],
)
def test_a_reservation_without_future_dates_is_reported(
    ends: int, suspend: bool, expected: list[str]
) -> None:
    (item,) = read(reservation(suspend=suspend), SITE, resource_class()).items()
    now = item.expansion.occurrences[-1].end + ends

    assert lines(check_dates_are_ahead(item.reservation, item.expansion.occurrences, now)) == expected
