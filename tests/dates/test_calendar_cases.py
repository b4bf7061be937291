"""The cases of tests/cases/calendars.yaml: whole projects, with the instants that must come of them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.dates.moments import named
from berth.findings import Problem
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.renku import read_payloads

from tests.cases import text
from tests.saying import document, lines, resource_class

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "calendars.yaml").read_text("utf-8"))


def project(case: dict[str, Any]) -> Pipeline:
    """The course of a case with its calendars, in a file for each kind."""
    spec = {"timeZone": "Europe/Zurich", "clusters": [{"name": "prod"}], **case.get("site", {})}
    shared = [document("Site", "uni", spec), resource_class(renkuId=5)]
    shared += [document("Calendar", name, spec) for name, spec in case.get("calendars", {}).items()]
    course = _imported(case["renku"]) if "renku" in case else _source("course", [_course(case)])
    return Pipeline(sources=[course, _source("shared", shared)])


def _imported(recurrence: dict[str, Any]) -> Source:
    seats = {"placeholder_count": 25, "scale_down_behavior": "none"}
    payload = {"name": "course", "resource_class_id": 5, "recurrence": recurrence, "provisioning": seats}
    ((course,), _) = read_payloads([Source("export.json", json.dumps(payload).encode())], {5: "small"})
    return _source("course", [course.document("course", "small", named("UTC"))])


def _course(case: dict[str, Any]) -> dict[str, Any]:
    seats = {"placeholderCount": 25, "scaleDownBehavior": "none"}
    spec = {"resourceClass": "small", "recurrence": case["recurrence"], "provisioning": seats}
    return document("CapacityReservation", "course", spec)


def _source(name: str, documents: list[dict[str, Any]]) -> Source:
    return Source(f"reservations/{name}.yaml", yaml.safe_dump_all(documents, sort_keys=False).encode())


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_every_case_has_the_expected_occurrences_and_findings(case: dict[str, Any]) -> None:
    pipeline = project(case)
    (item,) = pipeline.items()
    happens = {
        occurrence.id: f"{text(occurrence.start)} to {text(occurrence.end)}"
        for occurrence in item.expansion.occurrences
    }

    assert {key.removeprefix("course/"): span for key, span in happens.items()} == case["happens"]
    assert {one.id.removeprefix("course/"): one.reason for one in item.expansion.skipped} == case.get(
        "skipped", {}
    )
    assert lines(problem for problem in pipeline.problems if isinstance(problem, Problem)) == case.get(
        "findings", []
    )
