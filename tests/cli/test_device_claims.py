"""What commands say of seats with devices of which nobody knows how many a node has."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli import clouds, project

NOW = ("--now", "2026-01-01")
CLAIMS = "  resourceClaims: [{name: gpu, deviceClassName: gpu.example.com}]\n"
CLOUDY = clouds.SITE.replace("name: prod,", 'name: prod, kubernetes: "1.36",')
PLANNED = clouds.CLASSES.replace("  cloudCapacity: [general]\n", f"  cloudCapacity: [general]\n{CLAIMS}")
UNPLANNED = project.CLASSES.replace("4Gi}\n", f"4Gi}}\n{CLAIMS}", 1)


def notes(folder: Path, berth: Berth, classes: str, site: str = CLOUDY) -> dict[str, Any]:
    clouds.write(folder, classes=classes, site=site)
    code, out, _ = berth("plan", *NOW, "-o", "json")
    assert code == 0
    answer: dict[str, Any] = json.loads(out)
    return answer


@pytest.mark.parametrize("classes", [PLANNED, UNPLANNED], ids=["with-cloud", "without-cloud"])
def test_seats_with_devices_are_not_planned(folder: Path, berth: Berth, classes: str) -> None:
    """Whether a node has room for it is not known, so it has no machine, no cost and no missing lines."""
    answer = notes(folder, berth, classes)

    assert answer["peaks"] == answer["occurrences"] == answer["classes"] == []
    assert set(answer["total"]["machineHours"].values()) == {0}
    assert {item["name"]: item["reason"] for item in answer["notPlanned"]} == {
        "bench": "names no cloudCapacity",
        "small": "claims devices, and nothing says how many a node has",
    }
    assert "cloudCapacity: [general]" not in berth("plan", *NOW).out


def test_seats_with_devices_have_a_size_without_machines(folder: Path, berth: Berth) -> None:
    clouds.write(folder, classes=PLANNED, site=CLOUDY)
    size = json.loads(berth("size", "course", "--students", "30", *NOW, "-o", "json").out)

    assert (size["seats"], size["machines"], size["cost"]) == (29, [], None)


def test_a_cost_policy_over_seats_with_devices_gets_the_finding_b233(folder: Path, berth: Berth) -> None:
    policy = "  policies:\n    - {name: cheap, when: {costAbove: 1}, require: refuse}\n"
    clouds.write(folder, classes=PLANNED, site=CLOUDY + policy)
    answer = berth("validate", *NOW, "-o", "json")

    assert "B233" in {item["code"] for item in json.loads(answer.out)["items"]}


def test_an_unknown_cost_is_not_reported_beside_other_errors(folder: Path, berth: Berth) -> None:
    policy = "  policies:\n    - {name: cheap, when: {costAbove: 999999}, require: refuse}\n"
    wrong = project.NIGHT.replace("bench", "none-such")
    clouds.write(folder, site=CLOUDY + policy, night=wrong)
    answer = berth("validate", *NOW, "-o", "json")
    codes = {item["code"] for item in json.loads(answer.out)["items"]}

    assert "B061" in codes
    assert "B233" not in codes


def test_the_argocd_project_allows_resource_claims_if_seats_have_devices(folder: Path, berth: Berth) -> None:
    repository = "  repository: {url: https://git.example.org/a.git}\n"
    kinds = {}
    for name, classes in (("with", UNPLANNED), ("without", project.CLASSES)):
        project.write(folder, site=CLOUDY + repository, classes=classes)
        assert berth("render", *NOW).code == 0
        text = (folder / "rendered/gitops/argocd/project.yaml").read_text("utf-8")
        kinds[name] = {
            line.partition("kind: ")[2].rstrip("}") for line in text.split("\n") if "group: " in line
        }

    assert kinds["with"] - kinds["without"] == {"ResourceClaim", "ResourceClaimTemplate"}
