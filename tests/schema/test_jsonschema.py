"""The JSON Schema: whatever `validate` accepts passes it, and what an editor can see does not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from berth import cli
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source, read
from berth.schema.describe import json_schema
from jsonschema import Draft7Validator

from tests import generate
from tests.cases import tabled
from tests.schema.clouds import WHOLE as CLOUDS

ROOT = Path(__file__).parents[2]
SCHEMA = Draft7Validator(json_schema())


def documents(folder: Path) -> list[tuple[str, Any]]:
    """Every document of ours below reservations/, with its file."""
    found = []
    for source in read(f"{folder}/reservations", "reservations")[0]:
        values, _ = parse(source)
        found += [(source.file, value.value) for value in values if isinstance(value.value, dict)]
    return found


def test_the_json_schema_is_a_valid_schema() -> None:
    Draft7Validator.check_schema(json_schema())


def every_part(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from every_part(inner)


def test_descriptions_state_the_bounds_of_their_field() -> None:
    parts = [part for part in every_part(json_schema()) if isinstance(part.get("maximum"), int)]
    named = [(part, re.search(r"\b(\d+) to (\d+)\b", part.get("description", ""))) for part in parts]
    found = [
        (part["minimum"], part["maximum"], *map(int, bounds.groups())) for part, bounds in named if bounds
    ]

    assert (0, 180, 0, 180) in found
    assert [each for each in found if each[:2] != each[2:]] == []


@pytest.mark.parametrize("seed", range(12))
def test_documents_that_validate_accepts_pass_the_schema(seed: int, tmp_path: Path) -> None:
    generate.project(tmp_path, seed, 60)
    pipeline = Pipeline(str(tmp_path))
    pipeline.items()
    faulty = {finding.file for finding in pipeline.findings() if finding.severity == "error"}
    good = [(file, value) for file, value in documents(tmp_path) if file not in faulty]
    assert len(good) > 30
    assert {file: message(value) for file, value in good} == {file: "" for file, _ in good}


def test_the_examples_pass_the_schema() -> None:
    found = documents(ROOT)
    assert len(found) > 10
    assert [message(value) for _, value in found] == [""] * len(found)


def message(value: Any) -> str:
    return "; ".join(f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(value))


GOOD = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course}
x-note: ours
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-03-01
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}
    except: [2026-02-09, {from: 2026-02-16, to: 2026-02-20}]
  provisioning: {placeholderCount: 25, leadTimeMinutes: 30, scaleDownBehavior: none}
"""


def of(text: str) -> Any:
    (one,), faults = parse(Source("a.yaml", text.encode()))
    assert not faults
    return one.value


@tabled("schema")
def test_faults_that_an_editor_can_detect_are_shown_at_their_place(
    before: str, after: str, where: str
) -> None:
    assert message(of(GOOD)) == ""
    assert before in GOOD
    assert {error.json_path for error in SCHEMA.iter_errors(of(GOOD.replace(before, after)))} == {where}


def test_an_engine_accepts_only_its_own_options() -> None:
    """And weekdays are good in any letters."""
    site = of(
        "apiVersion: berth.dev/v1alpha1\nkind: Site\nmetadata: {name: a}\nspec:\n"
        "  engine: {type: flux, sourceName: fleet}\n  clusters: [{name: a, engine: argocd}]\n"
    )

    assert message(site) == ""
    site["spec"]["engine"] = {"type": "argocd", "sourceName": "fleet"}
    assert message(site) != ""
    assert message(of(GOOD.replace("dayOfWeek: mon", "dayOfWeek: Monday"))) == ""
    assert message(of(GOOD.replace("dayOfWeek: mon", "dayOfWeek: TUE"))) == ""


def test_the_schema_knows_recurrences_of_type_capacity() -> None:
    course = of(GOOD)
    course["spec"]["recurrence"] = {"type": "capacity", "cloudCapacity": "gpu"}

    assert message(course) == ""
    course["spec"]["recurrence"]["cloudCapacity"] = ["gpu"]
    assert message(course) != ""


def test_a_field_has_its_description() -> None:
    """What an editor shows beside a key."""
    spec = json_schema()["allOf"][-1]["then"]["properties"]["spec"]["properties"]
    count = spec["provisioning"]["properties"]["placeholderCount"]
    assert count["description"] == "seats of `resourceClass`. Default: none: then write `seats`"


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


def test_cloud_capacities_pass_the_schema() -> None:
    assert [message(one) for one in CLOUDS] == [""] * len(CLOUDS)
    cloud = CLOUDS[2]
    assert message({**cloud, "spec": {**cloud["spec"], "weight": 101}}) != ""
