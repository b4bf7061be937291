"""Pools that are whole nodes, as they are rendered, and what the sweep and engines are told of them."""

import json
from pathlib import Path

import yaml

from tests.manifests.cloudparts import (
    NODE_CLASS_REF,
    ON_DEMAND,
    OURS,
    Object,
    capacity,
    mondays,
    nodes,
    objects,
    resource_class,
    site,
    sweep_environment,
    texts,
)


def exam(folder: Path, *declared: Object) -> dict[str, Object]:
    return objects(texts(folder, *declared, nodes())["clusters/prod/reservations/exam.yaml"])


def test_whole_nodes_are_a_node_pool_that_has_none_in_git(tmp_path: Path) -> None:
    said = capacity(weight=10, limits={"cpu": "64", "nodes": "4"})
    seat = resource_class(
        nodeSelector={"node.kubernetes.io/instance-type": "m7i.4xlarge", "example.org/room": "a"}
    )
    said["spec"]["labels"] = {"example.org/room": "a"}
    found = exam(tmp_path, said, seat)

    assert list(found) == [
        "ConfigMap/exam",
        "NodePool/uni.exam-bench",
        "ServiceAccount/exam",
        "Role/exam",
        "RoleBinding/exam",
        "ClusterRole/berth-occurrence.uni.exam",
        "ClusterRoleBinding/berth-occurrence.uni.exam",
        "ClusterRole/berth-sweep.uni.exam",
        "ClusterRoleBinding/berth-sweep.uni.exam",
        "CronJob/exam",
    ]
    selected = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m7i.4xlarge"]}
    assert found["NodePool/uni.exam-bench"] == {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {
            "name": "uni.exam-bench",
            "labels": {**OURS, "berth.dev/reservation": "exam", "berth.dev/resource-class": "bench"},
            "annotations": {"berth.dev/title": "exam"},
        },
        "spec": {
            "replicas": 0,
            "limits": {"nodes": "4"},
            "disruption": {"consolidateAfter": "0s", "budgets": [{"nodes": "10%"}]},
            "template": {
                "metadata": {"labels": {"example.org/room": "a"}},
                "spec": {"nodeClassRef": NODE_CLASS_REF, "requirements": [ON_DEMAND, selected]},
            },
        },
    }


def test_its_timetable_names_the_node_pool(tmp_path: Path) -> None:
    found = objects(
        texts(tmp_path, capacity(), resource_class(), nodes())["clusters/prod/reservations/exam.yaml"]
    )
    timetable = json.loads(found["ConfigMap/exam"]["data"]["timetable.json"])

    assert timetable["pools"] == {
        "bench": {
            "deployment": "exam-bench",
            "behaviour": "none",
            "sessions": None,
            "nodePool": "uni.exam-bench",
        }
    }
    assert {json.dumps(load["seats"]) for load in timetable["occurrences"]} == {'{"bench": 3}'}


def test_only_its_own_node_pools_may_be_scaled(tmp_path: Path) -> None:
    found = objects(
        texts(tmp_path, capacity(), resource_class(), nodes())["clusters/prod/reservations/exam.yaml"]
    )
    rules = [
        {
            "apiGroups": ["karpenter.sh"],
            "resources": ["nodepools"],
            "resourceNames": ["uni.exam-bench"],
            "verbs": ["get"],
        },
        {
            "apiGroups": ["karpenter.sh"],
            "resources": ["nodepools/scale"],
            "resourceNames": ["uni.exam-bench"],
            "verbs": ["get", "patch"],
        },
    ]

    for name, account in (("berth-occurrence", "exam"), ("berth-sweep", "berth-sweep")):
        assert found[f"ClusterRole/{name}.uni.exam"]["rules"] == rules
        assert found[f"ClusterRoleBinding/{name}.uni.exam"]["subjects"] == [
            {"kind": "ServiceAccount", "name": account, "namespace": "berth"}
        ]


def test_where_there_may_be_whole_nodes_sweep_and_engine_know(tmp_path: Path) -> None:
    found = texts(tmp_path, capacity(), resource_class(), nodes())
    base = objects(found["clusters/prod/base.yaml"])
    application = objects(found["gitops/argocd/prod.yaml"])["Application/berth-uni.prod"]

    assert base["ClusterRole/berth-sweep-nodes.uni"]["rules"] == [
        {"apiGroups": ["karpenter.sh"], "resources": ["nodepools"], "verbs": ["list"]}
    ]
    assert {"name": "BERTH_NODE_POOLS", "value": "1"} in sweep_environment(base)
    assert application["spec"]["ignoreDifferences"][1:] == [
        {"group": "karpenter.sh", "kind": "NodePool", "jsonPointers": ["/spec/replicas"]}
    ]


def test_elsewhere_there_is_nothing_of_it(tmp_path: Path) -> None:
    """Neither in a cluster with Karpenter and no such gate, nor in one without."""
    found = texts(tmp_path, site(karpenter=None), resource_class(cloudCapacity=[]), mondays())

    assert not [path for path, text in found.items() if "karpenter.sh" in yaml_without_code(text)]


def yaml_without_code(text: str) -> str:
    """What is rendered, but for the runtime's source."""
    kept = [one for one in yaml.load_all(text, yaml.CSafeLoader) if not is_code(one)]
    return json.dumps(kept)


def is_code(one: Object) -> bool:
    return any(name.endswith(".py") for name in one.get("data", {}))


def test_flux_leaves_the_number_of_nodes_alone(tmp_path: Path) -> None:
    found = texts(tmp_path, site(engine="flux"), capacity(), resource_class(), nodes())
    kustomization = objects(found["gitops/flux/prod.yaml"])["Kustomization/berth-uni.prod"]

    assert kustomization["spec"]["ignore"][1:] == [
        {
            "paths": ["/spec/replicas"],
            "target": {
                "group": "karpenter.sh",
                "version": "v1",
                "kind": "NodePool",
                "labelSelector": "berth.dev/site=uni",
            },
        }
    ]


def test_the_project_of_argo_cd_allows_them_by_name(tmp_path: Path) -> None:
    found = objects(texts(tmp_path, capacity(), resource_class(), nodes())["gitops/argocd/project.yaml"])
    allowed = found["AppProject/berth-uni"]["spec"]["clusterResourceWhitelist"]

    assert [
        (object_["kind"], object_["name"]) for object_ in allowed if object_["name"] != "berth-uni-10"
    ] == [
        ("Namespace", "berth"),
        ("EC2NodeClass", "uni.cloud.*"),
        ("NodePool", "uni.*"),
        ("NodePool", "uni.cloud.*"),
        ("ClusterRole", "berth-occurrence.uni.*"),
        ("ClusterRole", "berth-sweep-nodes.uni"),
        ("ClusterRole", "berth-sweep.uni.*"),
        ("ClusterRoleBinding", "berth-occurrence.uni.*"),
        ("ClusterRoleBinding", "berth-sweep-nodes.uni"),
        ("ClusterRoleBinding", "berth-sweep.uni.*"),
    ]
