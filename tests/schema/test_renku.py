"""Reservations of Renku: what it takes and answers is read, what it refuses is refused, the rest is told."""

import json
from typing import Any

import pytest
from berth.dates.moments import named
from berth.findings import Finding, Problem
from berth.reading.source import Source
from berth.schema.renku import ID, Payload, read_payloads
from berth.schema.renkunames import name, slug

from tests.cases import tabled
from tests.saying import lines, payload

ULID = "01K9ZK4T8W3Q6M5N2R7V1X0Y9B"


def reading(*documents: object) -> tuple[list[Payload], list[Problem | Finding]]:
    text = "\n---\n".join(map(json.dumps, documents))
    return read_payloads([Source("a.json", text.encode())], {5: "small"})


def said(*documents: object) -> list[str]:
    return sorted(lines(one for one in reading(*documents)[1] if isinstance(one, Problem)))


def document(value: object) -> Any:
    """Return the document of one payload, in UTC."""
    ((found,), _) = reading(value)
    return found.document("intro", "small", named("UTC"))


def recurring(**fields: object) -> dict[str, Any]:
    return payload(recurrence={**payload()["recurrence"], **fields})


def entry(**fields: object) -> dict[str, Any]:
    return recurring(schedule=[{"day_of_week": 2, "start_time": "12:15", "end_time": "14:00", **fields}])


def test_the_body_of_a_post_is_read_as_a_document() -> None:
    assert document(payload()) == {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "CapacityReservation",
        "metadata": {"name": "intro"},
        "spec": {
            "title": "Intro",
            "resourceClass": "small",
            "recurrence": {
                "type": "weekly",
                "startDate": "2026-02-03",
                "endDate": "2026-02-28",
                "timeZone": "UTC",
                "schedule": [{"dayOfWeek": "tue", "startTime": "12:15", "endTime": "14:00"}],
            },
            "provisioning": {"placeholderCount": 35, "leadTimeMinutes": 30, "scaleDownBehavior": "none"},
        },
    }


def test_an_item_of_a_get_has_an_id_and_an_optional_template() -> None:
    template = "01JC3CB5426KC7P5STS5X3KSS9"
    without = document({**payload(), "id": ULID, "project_template_id": None})
    with_one = document({**payload(), "id": ULID, "project_template_id": template})

    assert with_one["metadata"]["annotations"] == {ID: ULID}
    assert "sessions" not in without["spec"]
    assert with_one["spec"]["sessions"] == {"projectTemplate": template}


def test_every_item_of_a_get_is_read_as_a_reservation() -> None:
    found, problems = reading([payload(name="B"), {**payload(name="A"), "id": ULID}], payload(name="C"))

    assert problems == []
    assert [one.name for one in found] == ["B", "A", "C"]


def test_an_empty_answer_is_reported() -> None:
    assert said([]) == ["B007"]


@pytest.mark.parametrize("kind", ["once", "daily", "weekly"])
def test_weekdays_are_kept_only_for_type_weekly(kind: str) -> None:
    (found,) = document(recurring(type=kind))["spec"]["recurrence"]["schedule"]

    assert found.get("dayOfWeek") == ("tue" if kind == "weekly" else None)


def test_seconds_of_times_are_cut_and_reported() -> None:
    value = entry(start_time="12:15:00", end_time="14:00:59")

    assert document(value)["spec"]["recurrence"]["schedule"][0]["endTime"] == "14:00"
    assert said(value) == ["B070 recurrence.schedule.0.end_time"]


def test_omitted_fields_of_the_payload_have_our_defaults() -> None:
    found = document(payload(provisioning={"placeholder_count": 35}))["spec"]["provisioning"]

    assert (found["leadTimeMinutes"], found["scaleDownBehavior"]) == (30, "maintain")


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown-keys": (
        {**payload(), "description": "x", "recurrence": {**payload()["recurrence"], "timezone": "UTC"}},
        ["B010 description @key", "B010 recurrence.timezone @key"],
    ),
    "our-own-spelling": (
        payload(provisioning={"placeholderCount": 35}),
        ["B010 provisioning.placeholderCount @key"],
    ),
    "no-times": (
        entry(start_time=1215, end_time="14"),
        ["B018 recurrence.schedule.0.end_time", "B018 recurrence.schedule.0.start_time"],
    ),
    "no-schedule": (recurring(schedule=[]), ["B012 recurrence.schedule"]),
    "faulty-entries": (
        recurring(type="often", schedule=["x", {"start_time": "12:00", "end_time": "12:00"}]),
        ["B013 recurrence.schedule.0", "B014 recurrence.type"],
    ),
    "unknown-class": (payload(resource_class_id=6), ["B072 resource_class_id"]),
    "unknown-class-of-a-faulty-payload": (payload(resource_class_id=6, name=None), ["B011"]),
    "no-class": (payload(resource_class_id="5", id="x"), ["B013 resource_class_id", "B019 id"]),
}


@pytest.mark.parametrize(("value", "problems"), TOLD.values(), ids=TOLD)
def test_faults_of_a_payload_are_reported(value: dict[str, Any], problems: list[str]) -> None:
    assert sorted(problems) == said(value)


def test_every_item_of_an_answer_is_checked_in_its_place() -> None:
    assert said([payload(), {"name": "x"}, "y"]) == [
        "B011 1",
        "B011 1",
        "B011 1",
        "B013 2",
    ]


@tabled("schema")
def test_a_name_is_the_slug_of_the_title(title: str, expected: str) -> None:
    assert expected == slug(title) == name(title, None)
    assert f"{expected}-d9cde2" == name(title, ULID)
