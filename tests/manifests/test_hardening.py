"""Every pod that we render is one that Pod Security *restricted* lets pass."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

RENDERED = Path(__file__).parents[2] / "rendered"


def objects() -> Iterator[dict[str, Any]]:
    for file in sorted(RENDERED.rglob("*.yaml")):
        yield from yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)


def pods(found: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, pod spec) of everything that makes pods."""
    for one in found:
        name = f"{one['kind']}/{one['metadata']['name']}"
        if one["kind"] == "Deployment":
            yield name, one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield name, one["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Also those that run beside."""
    return [*spec.get("initContainers", []), *spec["containers"]]


PODS = list(pods(objects()))


@pytest.fixture(params=PODS, ids=[name.replace("/", "-").lower() for name, _ in PODS])
def pod(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    param: tuple[str, dict[str, Any]] = request.param
    return param


def test_pods_run_as_non_root_and_share_nothing_with_their_host(pod: tuple[str, dict[str, Any]]) -> None:
    _, spec = pod
    context = spec["securityContext"]

    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] > 0
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccount"} & set(spec)
    volumes = [key for volume in spec.get("volumes", []) for key in volume if key != "name"]
    assert set(volumes) <= {
        "configMap",
        "emptyDir",
        "projected",
        "secret",
    }  # of those that *restricted* lets pass


def test_containers_have_no_capabilities_and_a_read_only_root_filesystem(
    pod: tuple[str, dict[str, Any]],
) -> None:
    _, spec = pod
    for container in containers(spec):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert ":" in container["image"]
        assert not container["image"].endswith(":latest")


def test_placeholders_have_no_token_and_jobs_use_our_service_accounts() -> None:
    accounts = {
        (object_["metadata"]["namespace"], object_["metadata"]["name"])
        for object_ in objects()
        if object_["kind"] == "ServiceAccount"
    }
    for name, spec in PODS:
        if name.startswith("Deployment"):
            assert spec["automountServiceAccountToken"] is False
        else:
            assert ("berth", spec["serviceAccountName"]) in accounts


def test_the_tested_pods_include_every_container() -> None:
    found = {container["name"] for _, spec in PODS for container in containers(spec)}

    assert found == {"placeholder", "occurrence", "scaler", "sweep"}
    assert any("secret" in volume for _, spec in PODS for volume in spec.get("volumes", []))


def test_writable_volumes_are_limited_to_1_mi_and_others_are_read_only() -> None:
    for name, spec in PODS:
        written = {volume["name"] for volume in spec.get("volumes", []) if "emptyDir" in volume}
        for volume in spec.get("volumes", []):
            assert volume.get("emptyDir", {"sizeLimit": "1Mi"}) == {"sizeLimit": "1Mi"}, name
        for container in containers(spec):
            for mount in container.get("volumeMounts", []):
                assert mount.get("readOnly", False) == (mount["name"] not in written), name


def test_every_selector_matches_its_own_pods_and_no_pods_of_our_jobs() -> None:
    """A Deployment would count the pod of a Job that it selects as one of its own."""
    of_jobs = [
        object_["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
        for object_ in objects()
        if object_["kind"] == "CronJob"
    ]
    for object_ in objects():
        if object_["kind"] == "Deployment":
            selected = object_["spec"]["selector"]["matchLabels"].items()

            assert selected <= object_["spec"]["template"]["metadata"]["labels"].items()
            assert not [labels for labels in of_jobs if selected <= labels.items()]
