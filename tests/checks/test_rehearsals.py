"""A rehearsal is compared with the date of the course that it is for."""

from typing import Any

import pytest
import yaml
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled
from tests.saying import Value, finding, lines, reservation, resource_class, site, told, weekly

DATE: Value = {"date": "2026-01-26", "startTime": "06:00", "endTime": "06:30"}
COUNT: Value = {"placeholderCount": 25, "scaleDownBehavior": "none"}
PROVISIONING: Value = {**COUNT, "leadTimeMinutes": 0, "endsWhenReady": True}
MONDAY: Value = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
WHERE = "spec.rehearses.date"


def rehearsal(date: Value = DATE, name: str = "course", **spec: Any) -> Value:
    rehearses = {"name": name, "date": spec.pop("day", "2026-02-02")}
    if "start" in spec:
        rehearses["startTime"] = spec.pop("start")
    made = {
        "rehearses": rehearses,
        "recurrence": {"type": "dates", "dates": [date]},
        "provisioning": PROVISIONING,
        **spec,
    }
    return reservation("try", **made)


def checked(*documents: Value) -> list[str]:
    every = [*documents, site(), resource_class()]
    sources = [Source(f"{i}.yaml", yaml.safe_dump(one).encode()) for i, one in enumerate(every)]
    pipeline = Pipeline(sources=sources)
    pipeline.items()
    found = [one for one in pipeline.problems if one.code not in {"B037", "B032"}]
    return lines(found)  # type: ignore[arg-type] # problems alone


def course(*schedule: Value, **recurrence: Any) -> Value:
    return reservation(recurrence=weekly(*(schedule or (MONDAY,)), **recurrence))


def test_a_rehearsal_of_a_date_has_no_finding() -> None:
    assert checked(course(), rehearsal()) == []


@tabled("checks")
def test_a_removed_date_of_a_rehearsal_is_an_error(recurrence: Value) -> None:
    assert checked(course(**recurrence), rehearsal()) == [
        finding(f"B130 {WHERE}", "course", "2026-02-02", "try")
    ]


def test_a_moved_date_keeps_its_rehearsal() -> None:
    assert checked(course(moved=[{"date": "2026-02-02", "to": {"date": "2026-02-04"}}]), rehearsal()) == []


@pytest.mark.parametrize("name", ["curse", "try"], ids=["unknown", "a-rehearsal"])
def test_an_unknown_course_of_a_rehearsal_is_an_error(name: str) -> None:
    assert checked(course(), rehearsal(name=name)) == [finding("B130 spec.rehearses.name", name)]


def test_a_course_in_a_faulty_document_counts_as_known() -> None:
    faulty = course(interval="two")

    assert [one for one in checked(faulty, rehearsal()) if "B130" in one] == []


def test_a_rehearsal_must_name_one_of_several_starts() -> None:
    two = course(MONDAY, {**MONDAY, "startTime": "14:00", "endTime": "15:00"})

    assert checked(two, rehearsal()) == [finding(f"B130 {WHERE}", "09:00, 14:00")]
    assert checked(two, rehearsal(start="14:00")) == []
    assert checked(two, rehearsal(start="15:00")) == [finding(f"B130 {WHERE}", "2026-02-02T15:00")]


@pytest.mark.parametrize(
    ("end", "expected"), [("08:30", []), ("08:31", ["B130 spec.recurrence"])], ids=["over", "not-over"]
)
def test_a_rehearsal_must_end_before_its_window_opens(end: str, expected: list[str]) -> None:
    date = {"date": "2026-02-02", "startTime": "08:00", "endTime": end}

    assert checked(course(), rehearsal(date)) == expected


def test_different_seats_are_a_warning() -> None:
    groups = course(MONDAY, {**MONDAY, "endTime": "14:00", "name": "extra-time", "placeholderCount": 5})

    assert "B132 spec.provisioning" in checked(groups, rehearsal())
    assert "B132 spec.provisioning" not in checked(
        groups, rehearsal(provisioning={**PROVISIONING, "placeholderCount": 30})
    )


def test_a_course_with_unknown_machine_dates_cannot_be_rehearsed() -> None:
    machines = reservation(recurrence={"type": "capacity", "cloudCapacity": "gpu"})

    assert finding(f"B130 {WHERE}", "machines") in checked(machines, rehearsal())


@tabled("checks")
def test_invalid_fields_of_a_rehearsal_are_reported(spec: Value, expected: list[str]) -> None:
    found = told(rehearsal(**spec), site(), resource_class())

    assert [one.removeprefix("a.yaml ") for one in found if "B011 spec:" not in one] == expected
