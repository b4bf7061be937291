"""Names that lead nowhere, and what is not said where they lead."""

from collections.abc import Iterable
from typing import Any

import pytest
import yaml
from berth.checks import references
from berth.findings import Problem
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.saying import (
    Value,
    document,
    finding,
    lines,
    read,
    reservation,
    resource_class,
    site,
    valid,
    weekly,
)

TIMES = {"startTime": "09:00", "endTime": "13:00"}
TWO = ({"name": "prod"}, {"name": "hub"})
TEMPLATE, RENKU = "01JC3CB5426KC7P5STS5X3KSS8", {"url": "https://renkulab.io"}
MAINTAIN = {"placeholderCount": 25, "scaleDownBehavior": "maintain"}


def told(*documents: object) -> list[str]:
    """All that the checks of references say, with files."""
    declared = valid(*documents)
    problems: list[Problem] = [
        *references.check_names_in_classes(project_of(declared)),
        *references.check_capacities_of_classes(declared),
        *references.check_renku_ids(declared),
        *references.check_names_in_ceilings(project_of(declared)),
    ]
    for one in declared.reservations:
        problems += references.check_names_in_reservation(one, declared)
    return _lined(problems)


def _lined(problems: Iterable[Problem]) -> list[str]:
    return lines(problems, files=True)


def seats(*names: str) -> list[Value]:
    return [{"resourceClass": name, "placeholderCount": 1} for name in names]


def test_known_references_have_no_finding() -> None:
    holidays = document("Calendar", "holidays", {"dates": []})
    course = reservation(recurrence=weekly(calendars=["holidays"]))
    ceiling = {"name": "prod", "ceilings": [{"seats": {"small": 9}}]}

    assert told(course, resource_class(cluster="prod"), holidays, site(ceiling)) == []


def test_an_unknown_class_is_reported_with_the_nearest_name() -> None:
    classes = [resource_class("small"), resource_class("huge")]

    assert told(reservation(resourceClass="smal"), *classes, site()) == [
        finding("a.yaml B061 spec.resourceClass", "small")
    ]
    assert told(reservation(resourceClass="x"), *classes, site()) == [
        finding("a.yaml B061 spec.resourceClass", "x")
    ]
    assert told(reservation(), site()) == [finding("a.yaml B061 spec.resourceClass", "small")]


def test_unknown_classes_are_reported_at_every_place() -> None:
    when = weekly(
        {"dayOfWeek": 1, **TIMES},
        {"dayOfWeek": 2, **TIMES, "seats": seats("small", "b")},
        extra=[{"date": "2026-03-02", **TIMES, "seats": seats("c")}],
        moved=[{"date": "2026-02-02", "to": {"seats": seats("small", "d")}}],
    )
    course = reservation(resourceClass=None, provisioning={"seats": seats("a", "small")}, recurrence=when)

    assert told(course, resource_class(), site()) == [
        finding("a.yaml B061 spec.provisioning.seats.0.resourceClass", "a"),
        finding("a.yaml B061 spec.recurrence.schedule.1.seats.1.resourceClass", "b"),
        finding("a.yaml B061 spec.recurrence.extra.0.seats.0.resourceClass", "c"),
        finding("a.yaml B061 spec.recurrence.moved.0.to.seats.1.resourceClass", "d"),
    ]


def test_an_unknown_class_of_a_listed_date_is_reported_at_the_date() -> None:
    dates = ["2026-03-02", {"date": "2026-03-03", **TIMES, "seats": seats("b")}]
    when = {"type": "dates", "dates": dates, "schedule": [TIMES]}
    course = reservation(resourceClass=None, provisioning={"seats": seats("small")}, recurrence=when)

    assert told(course, resource_class(), site()) == [
        finding("a.yaml B061 spec.recurrence.dates.1.seats.0.resourceClass", "b")
    ]


def test_an_unknown_calendar_is_reported() -> None:
    holidays = document("Calendar", "university-holidays", {"dates": []})
    course = reservation(recurrence=weekly(calendars=["holidays", "university-holiday"]))

    assert told(course, resource_class(), holidays, site()) == [
        finding("a.yaml B061 spec.recurrence.calendars.0", "holidays"),
        finding("a.yaml B061 spec.recurrence.calendars.1", "university-holidays"),
    ]


def test_a_class_needs_a_cluster_if_there_are_several() -> None:
    assert told(resource_class(), resource_class("b", cluster="prood"), site(*TWO)) == [
        finding("a.yaml B011 spec", "2"),
        finding("b.yaml B061 spec.cluster", "prood", "prod"),
    ]
    assert told(resource_class(cluster="x"), site()) == [finding("a.yaml B061 spec.cluster", "x")]


def test_a_renku_id_used_by_several_classes_is_reported() -> None:
    classes = [resource_class(name, renkuId=5) for name in ("a", "b", "c")]

    assert told(*classes, resource_class("d", renkuId=6), resource_class("e"), site()) == [
        finding("a.yaml B060 spec.renkuId", "class b", "5"),
        finding("b.yaml B060 spec.renkuId", "5"),
        finding("c.yaml B060 spec.renkuId", "5"),
    ]


def test_a_ceiling_must_name_a_class_of_its_cluster() -> None:
    prod = {"name": "prod", "ceilings": [{"seats": {"small": 1, "smal": 1, "student": 1, "lost": 1}}]}
    classes = [
        resource_class(cluster="prod"),
        resource_class("student", cluster="hub"),
        resource_class("lost", cluster="elsewhere"),
    ]

    assert told(site(prod, {"name": "hub"}), *classes) == [
        finding("d.yaml B061 spec.cluster", "elsewhere"),
        finding("a.yaml B061 spec.clusters.0.ceilings.0.seats.smal @key", "small"),
        finding("a.yaml B016 spec.clusters.0.ceilings.0.seats.student @key", "student", "hub"),
    ]


def test_counting_sessions_needs_a_class_with_sessions() -> None:
    course = reservation(provisioning=MAINTAIN)

    assert told(course, resource_class(sessions=None), site()) == [
        finding("a.yaml B068 spec.provisioning.scaleDownBehavior", "small")
    ]
    assert told(reservation(), resource_class(sessions=None), site()) == []


def test_an_entry_that_counts_sessions_is_reported_at_its_field() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    counting = weekly(entry, {**entry, "dayOfWeek": 2, "scaleDownBehavior": "reduce"})

    assert told(reservation(recurrence=counting), resource_class(sessions=None), site()) == [
        finding("a.yaml B068 spec.recurrence.schedule.1.scaleDownBehavior", "small", "reduce")
    ]


EVERY = "a.yaml B032 spec.sessions"


def test_a_reservation_that_narrows_no_sessions_gets_a_note() -> None:
    course = reservation(resourceClass=None, provisioning={"seats": seats("small", "huge")})

    assert told(course, resource_class(), resource_class("huge"), site()) == [EVERY]


@tabled("checks")
def test_any_narrowing_of_sessions_is_sufficient(sessions: dict[str, Any]) -> None:
    course = reservation(provisioning=MAINTAIN, sessions=sessions)

    assert told(course, in_renku(namespaces=["hub"]), site(renku=RENKU)) == []


def in_renku(name: str = "small", **sessions: object) -> Value:
    found = {"source": "renku", "namespaces": ["renku"], **sessions}
    return resource_class(name, renkuId=len(name), sessions=found)


@pytest.mark.parametrize("provisioning", [MAINTAIN, None], ids=["maintain", "none"])
def test_a_project_template_needs_a_source_that_can_recognize_it(provisioning: Value | None) -> None:
    """Whoever counts no sessions still takes them from others."""
    more: dict[str, Any] = {"provisioning": provisioning} if provisioning else {}
    kinds: dict[str, dict[str, Any]] = {
        "amalthea": {"source": "custom", "group": "amalthea.dev", "version": "v2", "resource": "sessions"},
        "custom": {"source": "custom", "group": "example.org", "version": "v1", "resource": "sessions"},
        "pods": {"source": "pods", "selector": {"matchLabels": {"app": "session"}}},
    }
    at = "a.yaml B074 spec.sessions.projectTemplate"
    course = reservation(sessions={"projectTemplate": TEMPLATE}, **more)
    assert told(course, in_renku(), site()) == [finding(at, "renku.url", "small")]
    assert told(course, in_renku(**kinds["amalthea"]), site(renku=RENKU)) == []
    for kind in ("custom", "pods"):
        assert told(course, in_renku(**kinds[kind]), site(renku=RENKU)) == [
            finding(at, "small", "renku.io/project_id")
        ]


def test_each_of_several_classes_is_reported_separately() -> None:
    provisioning = {"seats": seats("small", "hub", "idle"), "scaleDownBehavior": "none"}
    course = reservation(
        resourceClass=None, provisioning=provisioning, sessions={"projectTemplate": TEMPLATE}
    )

    assert told(course, in_renku(), resource_class("hub"), resource_class("idle", sessions=None), site()) == [
        "a.yaml B035 spec.sessions.projectTemplate",
        "a.yaml B074 spec.sessions.projectTemplate",
    ]


def test_a_session_namespace_that_the_class_does_not_have_is_reported() -> None:
    course = reservation(provisioning=MAINTAIN, sessions={"namespaces": ["hub", "hbu"]})

    assert told(course, resource_class(), site()) == [
        finding("a.yaml B035 spec.sessions.namespaces.1", "hbu", "hub")
    ]


def test_namespaces_of_a_class_with_namespace_labels_are_not_checked() -> None:
    course = reservation(provisioning=MAINTAIN, sessions={"namespaces": ["ada"]})
    sessions = {"source": "pods", "namespaces": {"matchLabels": {"home": "yes"}}}

    assert told(course, resource_class(sessions=sessions), site()) == []


def test_the_field_earlier_does_not_narrow_sessions() -> None:
    course = reservation(
        resourceClass=None, provisioning={"seats": seats("small", "huge")}, sessions={"earlier": "ignore"}
    )

    assert told(course, resource_class(), resource_class("huge"), site()) == [EVERY]


def test_session_checks_are_skipped_for_unknown_or_faulty_classes() -> None:
    course = reservation(resourceClass=None, provisioning={"seats": seats("small", "x")})
    assert told(course, resource_class(sessions=None), site()) == [
        finding("a.yaml B061 spec.provisioning.seats.1.resourceClass", "x")
    ]

    declared = read(reservation(provisioning=MAINTAIN), resource_class(requests={}), site())
    assert list(references.check_names_in_reservation(declared.reservations[0], declared)) == []


def test_unknown_names_in_a_faulty_reservation_are_reported() -> None:
    names = {"calendars": ["holiday"], "within": ["sprin"], "startDate": None, "endDate": None}
    faulty = reservation(
        resourceClass="smal", recurrence=weekly(**names), provisioning={"leadTimeMinutes": 5}
    )
    listed = reservation("other", resourceClass=None, provisioning={"seats": seats("smal", "small", "_")})
    terms = [{"name": "spring", "from": "2026-02-02", "to": "2026-05-15"}]
    calendar = document("Calendar", "holidays", {"dates": ["2026-04-06"], "terms": terms})
    known = read(faulty, listed, calendar, resource_class(), site())

    assert {problem.file for problem in known.problems} == {"a.yaml", "b.yaml"}
    assert _lined(references.check_names_in_faulty(known)) == [
        finding("a.yaml B061 spec.resourceClass", "smal", "small"),
        finding("a.yaml B061 spec.recurrence.calendars.0", "holiday", "holidays"),
        finding("a.yaml B061 spec.recurrence.within.0", "sprin", "spring"),
        finding("b.yaml B061 spec.provisioning.seats.0.resourceClass", "smal", "small"),
    ]


def found(*documents: Value) -> list[str]:
    """All that a run says, with a file for each document."""
    files = zip("abcdef", documents, strict=False)
    pipeline = Pipeline(sources=[Source(f"{name}.yaml", yaml.safe_dump(one).encode()) for name, one in files])
    pipeline.items()
    return _lined(problem for problem in pipeline.problems if isinstance(problem, Problem))


def overlapping(**recurrence: object) -> Value:
    """Two entries that overlap on one day, which is a holiday."""
    both = [{"dayOfWeek": 1, **TIMES}, {"dayOfWeek": 1, "startTime": "12:00", "endTime": "14:00"}]
    extra = [{"date": "2026-02-10", **TIMES}]
    return reservation(recurrence=weekly(*both, endDate="2026-02-06", extra=extra, **recurrence))


HOLIDAY = document("Calendar", "holidays", {"dates": ["2026-02-02"]})
BAD_SITE = {**site(calendars=["holidays"]), "spec": {"clusters": [], "calendars": ["holidays"]}}


@pytest.mark.parametrize(
    ("course", "others", "problems"),
    [
        (overlapping(), [site()], ["a.yaml B031 spec.recurrence.schedule.1"]),
        (overlapping(), [site(calendars=["holidays"]), HOLIDAY], []),
        (overlapping(), [BAD_SITE, HOLIDAY], ["c.yaml B012 spec.clusters"]),
        (overlapping(), [HOLIDAY], ["reservations B064"]),
        (
            overlapping(calendars=["holidays"]),
            [site(), {**HOLIDAY, "spec": {"dates": 5}}],
            ["d.yaml B013 spec.dates"],
        ),
        (
            overlapping(calendars=["x"]),
            [site()],
            ["a.yaml B061 spec.recurrence.calendars.0"],
        ),
        (
            reservation(recurrence=weekly(endDate="2026-02-01", startDate="2026-02-01")),
            [BAD_SITE, HOLIDAY],
            ["c.yaml B012 spec.clusters", "a.yaml B042 spec.recurrence"],
        ),
    ],
)
def test_dates_are_checked_without_a_site_and_overlaps_if_all_holidays_are_known(
    course: Value, others: list[Value], problems: list[str]
) -> None:
    assert found(course, resource_class(), *others) == problems


def test_unknown_names_are_reported_beside_other_faults() -> None:
    small, faulty = (
        resource_class(cloudCapacity=["x"]),
        resource_class("faulty", cloudCapacity=["y"], renkuId=-1),
    )

    assert found(small, faulty, BAD_SITE) == [
        "b.yaml B012 spec.renkuId",
        "c.yaml B012 spec.clusters",
        "b.yaml B061 spec.cloudCapacity.0",
        "c.yaml B061 spec.calendars.0",
        "a.yaml B061 spec.cloudCapacity.0",
    ]
