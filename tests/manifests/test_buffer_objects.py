"""Pools of a CapacityBuffer as they are rendered, and what the sweep and engines are told of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.manifests.cloudparts import (
    OURS,
    Object,
    mondays,
    objects,
    resource_class,
    site,
    sweep_environment,
    texts,
)

GATES = {"version": "1.14", "gates": {"CapacityBuffer": True}}
LABELS = {**OURS, "berth.dev/reservation": "exam", "berth.dev/resource-class": "bench"}


def rendered(folder: Path, **more: Any) -> dict[str, str]:
    seat = resource_class(cloudCapacity=[], nodeSelector={"pool": "users"})
    said = site(karpenter=GATES)
    said["spec"] |= more
    return texts(folder, said, seat, mondays("exam", backend={"type": "capacityBuffer"}))


def exam(folder: Path) -> dict[str, Object]:
    return objects(rendered(folder)["clusters/prod/reservations/exam.yaml"])


def test_a_class_is_a_buffer_that_is_empty_in_git_and_the_shape_of_its_seats(tmp_path: Path) -> None:
    found = exam(tmp_path)

    assert list(found) == [
        "ConfigMap/exam",
        "PodTemplate/exam-bench",
        "CapacityBuffer/exam-bench",
        "ServiceAccount/exam",
        "Role/exam",
        "RoleBinding/exam",
        "CronJob/exam",
    ]
    assert found["CapacityBuffer/exam-bench"] == {
        "apiVersion": "autoscaling.x-k8s.io/v1beta1",
        "kind": "CapacityBuffer",
        "metadata": {
            "name": "exam-bench",
            "namespace": "berth",
            "labels": LABELS,
            "annotations": {"berth.dev/title": "exam"},
        },
        "spec": {"podTemplateRef": {"name": "exam-bench"}, "replicas": 0},
    }


def test_its_pod_has_the_shape_of_a_placeholder(tmp_path: Path) -> None:
    buffer = exam(tmp_path)["PodTemplate/exam-bench"]["template"]
    seat = resource_class(cloudCapacity=[], nodeSelector={"pool": "users"})
    files = texts(tmp_path / "other", site(karpenter=GATES), seat, mondays("exam"))
    deployment = objects(files["clusters/prod/reservations/exam.yaml"])["Deployment/exam-bench"]
    placeholder = deployment["spec"]["template"]

    assert buffer["metadata"]["labels"] == placeholder["metadata"]["labels"]
    for key in ("nodeSelector", "priorityClassName", "securityContext"):
        assert buffer["spec"][key] == placeholder["spec"][key]
    assert [one["resources"] for one in buffer["spec"]["containers"]] == [
        object_["resources"] for object_ in placeholder["spec"]["containers"]
    ]


def test_its_timetable_says_what_holds_the_seats(tmp_path: Path) -> None:
    timetable = json.loads(exam(tmp_path)["ConfigMap/exam"]["data"]["timetable.json"])

    assert timetable["pools"]["bench"]["capacityBuffer"] is True


def test_only_its_own_buffers_may_be_scaled(tmp_path: Path) -> None:
    rules = exam(tmp_path)["Role/exam"]["rules"]

    assert [rule for rule in rules if rule["apiGroups"] == ["autoscaling.x-k8s.io"]] == [
        {
            "apiGroups": ["autoscaling.x-k8s.io"],
            "resources": ["capacitybuffers"],
            "resourceNames": ["exam-bench"],
            "verbs": ["get", "patch"],
        }
    ]
    assert not [rule for rule in rules if rule["apiGroups"] == ["apps"]]


def test_where_there_may_be_buffers_sweep_and_engine_know(tmp_path: Path) -> None:
    found = rendered(tmp_path)
    base = objects(found["clusters/prod/base.yaml"])
    application = objects(found["gitops/argocd/prod.yaml"])["Application/berth-uni.prod"]
    project = objects(found["gitops/argocd/project.yaml"])["AppProject/berth-uni"]

    assert {
        "apiGroups": ["autoscaling.x-k8s.io"],
        "resources": ["capacitybuffers"],
        "verbs": ["get", "list", "patch", "delete"],
    } in base["Role/berth-sweep"]["rules"]
    assert {"name": "BERTH_CAPACITY_BUFFERS", "value": "1"} in sweep_environment(base)
    assert application["spec"]["ignoreDifferences"][1:] == [
        {"group": "autoscaling.x-k8s.io", "kind": "CapacityBuffer", "jsonPointers": ["/spec/replicas"]}
    ]
    kinds = project["spec"]["namespaceResourceWhitelist"]
    assert {"group": "autoscaling.x-k8s.io", "kind": "CapacityBuffer"} in kinds
    assert {"group": "", "kind": "PodTemplate"} in kinds


def test_flux_leaves_the_number_alone(tmp_path: Path) -> None:
    found = rendered(tmp_path, engine="flux")
    kustomization = objects(found["gitops/flux/prod.yaml"])["Kustomization/berth-uni.prod"]

    assert kustomization["spec"]["ignore"][1:] == [
        {
            "paths": ["/spec/replicas"],
            "target": {
                "group": "autoscaling.x-k8s.io",
                "version": "v1beta1",
                "kind": "CapacityBuffer",
                "labelSelector": "berth.dev/site=uni",
            },
        }
    ]


@pytest.mark.parametrize("gates", [{}, {"CapacityBuffer": False}], ids=["gate-not-declared", "gate-off"])
def test_elsewhere_there_is_nothing_of_it(tmp_path: Path, gates: Object) -> None:
    seat = resource_class(cloudCapacity=[])
    found = texts(tmp_path, site(karpenter={"version": "1.14", "gates": gates}), seat, mondays())
    written = [text for path, text in found.items() if not path.endswith("runtime.yaml")]

    assert not [text for text in written if "autoscaling.x-k8s.io" in text or "CAPACITY_BUFFERS" in text]
