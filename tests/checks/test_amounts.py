"""Amounts of seats that can be read, and that nobody means."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cases import tabled
from tests.saying import Value, finding, resource_class, run, site
from tests.saying import reservation as course

FOLDER = Path(__file__).parents[1] / "cases" / "world"
CASES = yaml.safe_load((FOLDER / "amounts.yaml").read_text("utf-8"))
ZERO = {"cpu": "0", "memory": "0Gi"}


def found(folder: Path, requests: Value, *backends: Value) -> list[str]:
    """Findings about the class, with courses of these backends; without their columns."""
    documents = {
        "site": site({"name": "prod", "koordinator": {}, "autoscaler": "karpenter"}, timeZone="UTC"),
        "class": resource_class(requests=requests),
        **{f"course{i}": course(f"course{i}", backend=backend) for i, backend in enumerate(backends)},
    }
    files = {f"{name}.json": json.dumps(document) for name, document in documents.items()}
    return [one for one in run(folder, files) if one.startswith("class.json")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_seat_of_an_unlikely_size_gets_a_finding_with_the_probable_size(
    tmp_path: Path, case: Value
) -> None:
    (problem,) = found(tmp_path, case["requests"], {"type": "placeholder"})

    code, path = problem.split()[1:]
    assert (code.partition("[")[2], path) == (f"{case['code']}]", case["path"])
    assert problem == finding(str(problem), case["meant"])


@tabled("checks")
def test_a_seat_that_requests_nothing_is_reported(
    backends: list[str], codes: list[str], tmp_path: Path
) -> None:
    """Slots have a finding for it: what they hold may also be their overhead."""
    problems = found(tmp_path, ZERO, *({"type": backend} for backend in backends))

    assert (
        sorted(problem.partition("[")[2].partition("]")[0] for problem in problems if "requests" in problem)
        == codes
    )
