"""Every pod that we render is one that Pod Security *restricted* and kube-linter's default checks let
pass.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

RENDERED = Path(__file__).parents[1] / "rendered"


def objects() -> Iterator[dict[str, Any]]:
    for file in sorted(RENDERED.rglob("*.yaml")):
        yield from yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)


def pods() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(name, annotations of the object, pod spec) of everything that makes pods."""
    for one in objects():
        name = f"{one['kind']}/{one['metadata']['name']}"
        notes = one["metadata"].get("annotations", {})
        if one["kind"] == "Deployment":
            yield name, notes, one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield name, notes, one["spec"]["jobTemplate"]["spec"]["template"]["spec"]


PODS = list(pods())


@pytest.fixture(params=PODS, ids=[name.replace("/", "-").lower() for name, _, _ in PODS])
def pod(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any], dict[str, Any]]:
    found: tuple[str, dict[str, Any], dict[str, Any]] = request.param
    return found


def test_pods_run_as_nobody_and_share_nothing_with_their_host(
    pod: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    _, _, spec = pod
    context = spec["securityContext"]

    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] > 0
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccount"} & set(spec)
    assert {key for volume in spec.get("volumes", []) for key in volume} <= {"name", "configMap"}


def test_containers_cannot_gain_anything(pod: tuple[str, dict[str, Any], dict[str, Any]]) -> None:
    _, _, spec = pod
    for container in spec["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert ":" in container["image"]
        assert not container["image"].endswith(":latest")


@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_a_missing_request_or_limit_is_explained(
    pod: tuple[str, dict[str, Any], dict[str, Any]], resource: str
) -> None:
    _, notes, spec = pod
    for container in spec["containers"]:
        resources = container["resources"]
        set_ = all(resource in resources.get(kind, {}) for kind in ("requests", "limits"))
        assert set_ or notes[f"ignore-check.kube-linter.io/unset-{resource}-requirements"]


def test_placeholders_hold_no_token_and_occurrences_have_an_account_of_the_namespace() -> None:
    accounts = {
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in objects()
        if one["kind"] == "ServiceAccount"
    }
    for name, _, spec in PODS:
        if name.startswith("Deployment"):
            assert spec["automountServiceAccountToken"] is False
        else:
            assert ("berth", spec["serviceAccountName"]) in accounts


def test_every_selector_matches_its_pods() -> None:
    for one in objects():
        if one["kind"] == "Deployment":
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()
