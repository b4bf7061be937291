"""What Karpenter is told of a cloud capacity, and of pools that are whole nodes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.manifests.cloudparts import (
    MACHINES,
    Object,
    capacity,
    mondays,
    nodes,
    objects,
    resource_class,
    site,
    texts,
)
from tests.manifests.parts import OURS

CLOUD = "clusters/prod/cloud/odcr.yaml"
HELD = {"nodes": "0", "schedule": "30 7 2,9 2 *", "duration": "2h30m", "reasons": ["Underutilized", "Empty"]}


def cloud_objects(folder: Path, *declared: Object) -> dict[str, Object]:
    return objects(texts(folder, *declared)[CLOUD])


@pytest.mark.parametrize(
    ("engine", "more"),
    [("argocd", {}), ("flux", {"kustomize.toolkit.fluxcd.io/substitute": "disabled"})],
    ids=["argocd", "flux-rewrites-nothing"],
)
def test_metadata_of_a_capacity_is_on_its_objects_and_not_on_nodes(
    tmp_path: Path, engine: str, more: dict[str, str]
) -> None:
    said = capacity()
    said["metadata"]["labels"] = {"example.org/team": "ml"}
    kept = {"argocd.argoproj.io/sync-options": "Prune=false"}
    said["metadata"]["annotations"] = {**kept, "berth.dev/ignore": "B158: soon"}
    found = cloud_objects(tmp_path / "with", site(engine=engine), said)
    without = cloud_objects(tmp_path / "without", site(engine=engine), capacity())

    for one in ("EC2NodeClass/uni.cloud.odcr", "NodePool/uni.cloud.odcr"):
        assert found[one]["metadata"] == {
            "name": "uni.cloud.odcr",
            "labels": {**OURS, "example.org/team": "ml"},
            "annotations": {**more, **kept},
        }
        assert found[one]["spec"] == without[one]["spec"]


def test_reservations_are_selected_by_ids_and_tags(tmp_path: Path) -> None:
    """Two entries with the same tags are one term; the order is that of the file."""
    tags = {"tags": {"course": "ml"}, **MACHINES}
    said = [
        {"id": "cr-0123456789abcdef0", **MACHINES},
        tags,
        {**tags, "instanceType": "m7i.8xlarge"},
        {"tags": {"course": "*"}, **MACHINES},
    ]
    found = cloud_objects(tmp_path, capacity(capacityTypes=["reserved"], reservations=said))

    assert found["EC2NodeClass/uni.cloud.odcr"]["spec"]["capacityReservationSelectorTerms"] == [
        {"id": "cr-0123456789abcdef0"},
        {"tags": {"course": "ml"}},
        {"tags": {"course": "*"}},
    ]


def test_selector_terms_of_the_node_class_are_kept_beside_those_of_reservations(tmp_path: Path) -> None:
    """A reservation that a term selects already is none more."""
    own = [{"tags": {"team": "ml"}, "ownerID": "123456789012"}, {"id": "cr-0123456789abcdef0"}]
    plain = capacity(reservations=[{"id": "cr-0123456789abcdef0", **MACHINES}, {"id": "cr-0b", **MACHINES}])
    plain["spec"]["nodeClass"] = {
        **plain["spec"]["nodeClass"],
        "capacityReservationSelectorTerms": own,
        "enclaveOptions": {"enabled": True},
    }
    spec = cloud_objects(tmp_path, plain)["EC2NodeClass/uni.cloud.odcr"]["spec"]

    assert spec["capacityReservationSelectorTerms"] == [*own, {"id": "cr-0b"}]
    assert spec["enclaveOptions"] == {"enabled": True}


def test_budgets_cover_the_windows_of_all_reservations_that_use_the_capacity(tmp_path: Path) -> None:
    """Those that touch are one; who names another capacity, is suspended or has whole nodes holds nothing."""
    after = {
        "type": "dates",
        "dates": ["2026-02-02"],
        "schedule": [{"startTime": "10:30", "endTime": "12:00"}],
    }
    elsewhere = mondays("other", resourceClass="desk", recurrence={**after, "dates": ["2026-03-02"]})
    suspended = mondays("gone", suspend=True, recurrence={**after, "dates": ["2026-04-02"]})
    found = cloud_objects(
        tmp_path,
        capacity(),
        resource_class(),
        resource_class("desk", cloudCapacity=[]),
        mondays(),
        mondays("second", recurrence=after),
        elsewhere,
        suspended,
        nodes(),
    )

    assert found["NodePool/uni.cloud.odcr"]["spec"]["disruption"]["budgets"] == [
        {"nodes": "10%"},
        {**HELD, "schedule": "30 7 2 2 *", "duration": "4h30m"},
        {**HELD, "schedule": "30 7 9 2 *"},
    ]


def test_other_reservations_change_only_the_budgets_of_the_node_pool(tmp_path: Path) -> None:
    """Karpenter replaces every node when anything else of the template changes."""
    before = cloud_objects(tmp_path / "a", capacity(), resource_class(), mondays())
    after = cloud_objects(tmp_path / "b", capacity(), resource_class(), mondays("renamed"), nodes())

    for key in ("EC2NodeClass/uni.cloud.odcr", "NodePool/uni.cloud.odcr"):
        for one in (before, after):
            one[key]["spec"].pop("disruption", None)
        assert before[key] == after[key]
    assert "berth.dev" not in json.dumps(before["NodePool/uni.cloud.odcr"]["spec"])


def placement(folder: Path, *clouds: str, **spec: Any) -> Object:
    """Of the pods of a Deployment."""
    declared = [capacity(name, weight=50 - i) for i, name in enumerate(clouds)]
    seat = resource_class(cloudCapacity=list(clouds), **spec)
    found = objects(texts(folder, *declared, seat, mondays())["clusters/prod/reservations/course.yaml"])
    pod: Object = found["Deployment/course-bench"]["spec"]["template"]["spec"]
    return pod


def test_placeholders_require_the_node_pools_of_their_class(tmp_path: Path) -> None:
    assert placement(tmp_path, "odcr", "spare")["affinity"] == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [led("uni.cloud.odcr", "uni.cloud.spare")]}]
            }
        }
    }


def led(*names: str) -> Object:
    return {"key": "karpenter.sh/nodepool", "operator": "In", "values": list(names)}


def test_the_affinity_of_the_class_is_kept(tmp_path: Path) -> None:
    """Terms are alternatives, so each is led."""
    arm = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}
    amd = {**arm, "values": ["amd64"]}
    wish = {"weight": 1, "preference": {"matchExpressions": [arm]}}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [arm]}, {"matchExpressions": [amd]}]}
    said = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": terms,
            "preferredDuringSchedulingIgnoredDuringExecution": [wish],
        }
    }

    assert placement(tmp_path, "odcr", affinity=said)["affinity"] == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [arm, led("uni.cloud.odcr")]},
                    {"matchExpressions": [amd, led("uni.cloud.odcr")]},
                ]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [wish],
        }
    }
