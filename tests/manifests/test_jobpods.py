"""What a site adds to the pods of Berth's Jobs and to placeholders, and an existing PriorityClass."""

from pathlib import Path
from typing import Any

import pytest

from tests.manifests.cloudparts import Object, mondays, objects, resource_class, site, texts
from tests.saying import Value

SEAT: Value = {"cloudCapacity": [], "requests": {"cpu": "1"}}
DEFAULTS = {
    "sweep": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "256Mi"}},
    "scaler": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
    "occurrence": {"requests": {"cpu": "1m", "memory": "12Mi"}, "limits": {"memory": "32Mi"}},
}


def rendered(
    folder: Path, cluster: Value, /, seat: Value | None = None, backend: Value | None = None, **spec: Any
) -> dict[str, Object]:
    """All objects of a cluster with a course."""
    said = site(**cluster)
    said["spec"] |= spec
    course = mondays("course", **({"backend": backend} if backend else {}))
    found = texts(folder, said, resource_class(**SEAT, **(seat or {})), course)
    return {
        name: object_
        for path, text in found.items()
        if path.startswith("clusters/")
        for name, object_ in objects(text).items()
    }


def job_pods(found: dict[str, Object]) -> list[Object]:
    names = ("CronJob/course", "CronJob/berth-sweep")
    return [found[name]["spec"]["jobTemplate"]["spec"]["template"] for name in names]


def resources(found: dict[str, Object]) -> dict[str, Value]:
    containers = [
        container
        for pod in job_pods(found)
        for container in (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])
    ]
    return {container["name"]: container["resources"] for container in containers}


def with_change(**changes: Value) -> dict[str, Value]:
    """The defaults with other requests and limits in each container."""
    return {
        name: {kind: {**amounts, **changes.get(kind, {})} for kind, amounts in one.items()}
        for name, one in DEFAULTS.items()
    }


def test_site_resources_change_only_the_amounts_that_they_name(tmp_path: Path) -> None:
    assert resources(rendered(tmp_path / "a", {})) == DEFAULTS
    limited = rendered(tmp_path / "b", {}, runtime={"resources": {"limits": {"cpu": "200m"}}})
    assert resources(limited) == with_change(limits={"cpu": "200m"})


def test_resources_of_a_cluster_override_those_of_the_site_by_key(tmp_path: Path) -> None:
    own = {"runtime": {"resources": {"requests": {"cpu": "20m"}}}}
    above = {"resources": {"limits": {"cpu": "200m"}, "requests": {"cpu": "50m", "memory": "8Mi"}}}

    assert resources(rendered(tmp_path, own, runtime=above)) == with_change(
        requests={"cpu": "20m", "memory": "8Mi"}, limits={"cpu": "200m"}
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # A limit below the request of a container lowers that; a request above a limit raises it.
        ({"limits": {"memory": "16Mi"}}, {"requests": "16Mi", "limits": "16Mi"}),
        ({"requests": {"memory": "1Gi"}}, {"requests": "1Gi", "limits": "1Gi"}),
        ({"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}, {"requests": "1Gi", "limits": "2Gi"}),
    ],
)
def test_default_resources_adapt_to_conflicting_amounts(
    tmp_path: Path, said: Value, expected: dict[str, str]
) -> None:
    found = resources(rendered(tmp_path, {}, runtime={"resources": said}))["scaler"]

    assert {kind: amounts["memory"] for kind, amounts in found.items()} == expected


def test_job_pods_meet_the_minimum_requests_of_autopilot(tmp_path: Path) -> None:
    """At least 50m and 52Mi for a pod, and at least 1 GiB for each cpu, or it raises one of them."""
    found = resources(rendered(tmp_path, {"platform": "gke-autopilot", "autoscaler": "none"}))

    for name in ("scaler", "sweep"):
        assert found[name]["requests"] == {"cpu": "50m", "memory": "64Mi"}
    assert found["occurrence"] == DEFAULTS["occurrence"]


def test_a_cluster_overrides_the_additions_of_the_site(tmp_path: Path) -> None:
    own = {"runtime": {"podLabels": {"team": "b"}, "priorityClassName": "own"}}
    found = rendered(tmp_path, own, runtime={"podLabels": {"team": "a"}, "podAnnotations": {"x": "y"}})

    for pod in job_pods(found):
        assert pod["metadata"]["labels"]["team"] == "b"
        assert pod["metadata"]["annotations"]["x"] == "y"
        assert pod["spec"]["priorityClassName"] == "own"


def test_the_pod_template_of_a_buffer_has_the_pod_annotations_of_its_class(tmp_path: Path) -> None:
    gates = {"karpenter": {"version": "1.14", "gates": {"CapacityBuffer": True}}}
    found = rendered(tmp_path, gates, {"podAnnotations": {"a": "b"}}, {"type": "capacityBuffer"})

    assert found["PodTemplate/course-bench"]["template"]["metadata"]["annotations"] == {"a": "b"}


def test_placeholders_may_use_an_existing_priority_class(tmp_path: Path) -> None:
    existing = {"priority": {"className": "hub-user-placeholder-priority", "value": -10}}
    for name, place in (("cluster", (existing, {})), ("site", ({}, existing))):
        cluster, spec = place
        found = rendered(tmp_path / name, cluster, **spec)
        pod = found["Deployment/course-bench"]["spec"]["template"]["spec"]

        assert pod["priorityClassName"] == "hub-user-placeholder-priority"
        assert not [one for one in found if one.startswith("PriorityClass/")]


def test_a_cluster_with_its_own_priority_has_its_own_priority_class(tmp_path: Path) -> None:
    found = rendered(tmp_path, {"priority": -5}, priority={"className": "hub", "value": -10})

    assert found["PriorityClass/berth-uni-5"]["value"] == -5
    assert found["Deployment/course-bench"]["spec"]["template"]["spec"]["priorityClassName"] == "berth-uni-5"


def test_argo_cd_may_create_only_the_rendered_cluster_objects(tmp_path: Path) -> None:
    theirs = {"namespace": {"name": "jhub", "create": False}, "priority": {"className": "a", "value": -10}}
    files = {
        name: texts(tmp_path / name, site(**cluster), resource_class(**SEAT), mondays("course"))
        for name, cluster in (("own", {}), ("theirs", theirs))
    }
    kinds = {}
    for name, file in files.items():
        (project,) = (
            object_
            for path, text in file.items()
            if path.startswith("gitops/")
            for key, object_ in objects(text).items()
            if key.startswith("AppProject/")
        )
        kinds[name] = {one["kind"] for one in project["spec"]["clusterResourceWhitelist"]}

    assert kinds["own"] - kinds["theirs"] == {"Namespace", "PriorityClass"}
